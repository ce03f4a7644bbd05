"""The native module: see python/src."""

from collections.abc import Callable
from os import PathLike
from typing import Any, final

__all__ = [
    "ColumnData",
    "RunResult",
    "RunSession",
    "__version__",
    "call",
    "catalogue",
    "edges",
    "from_edges",
    "ids",
    "manifest",
    "report_html",
]

__version__: str

def catalogue() -> str: ...
def call(words: list[str], progress: Callable[..., Any] | None = None) -> str: ...
def report_html(report: str) -> str: ...
def from_edges(
    table: object, store: str, words: list[str], progress: Callable[..., Any] | None = None
) -> str: ...
def manifest(path: str) -> str: ...
def ids(path: str) -> ColumnData | list[str]: ...
def edges(path: str) -> tuple[ColumnData, ColumnData, ColumnData | None]: ...

@final
class ColumnData:
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

@final
class RunSession:
    def __new__(cls, store: str, words: list[str]) -> RunSession: ...
    def run(
        self, algorithm: str, words: list[str], progress: Callable[..., Any] | None = None
    ) -> RunResult: ...

@final
class RunResult:
    @property
    def json(self) -> str: ...
    @property
    def text(self) -> str: ...
    def columns(self) -> list[tuple[str, str]]: ...
    def column(self, name: str) -> ColumnData: ...
    def write(self, path: str | PathLike[str], format: str | None = None) -> str: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
