"""Exceptions and warnings. Their texts are those of the program, with its options as keyword arguments: they name the
file, the line or the page, what was expected and what was found."""

from __future__ import annotations

import os
from typing import Any

from ._texts import in_python


class TopostreamError(Exception):
    """The base of all exceptions of this package."""


class StoreError(TopostreamError):
    """A store is damaged, incomplete, or of another version of the format."""


class InputError(TopostreamError, ValueError):
    """The input of a store is not valid: a line of a file, a row of a table, an array of a wrong type."""


class FileError(TopostreamError, OSError):
    """The system refuses an operation: on a file, or to start a thread. ``errno`` and ``filename`` are those of an
    ``OSError``, where they are known."""

    def __init__(self, text: str = "", number: int | None = None, path: str | os.PathLike[str] | None = None) -> None:
        super().__init__(text)
        self.errno = number
        self.strerror = text if number is None else os.strerror(number)
        self.filename = None if path is None else os.fspath(path)

    def __str__(self) -> str:
        # The text names the file already.
        return str(self.args[0])

    def __reduce__(self) -> tuple[type[FileError], tuple[str, int | None, str | None]]:
        return type(self), (str(self), self.errno, self.filename)


class ParameterError(TopostreamError, ValueError):
    """An option is not valid, or an algorithm cannot run on this graph."""


class ColumnError(ParameterError, KeyError):
    """A result has no column of this name, or its values have no order."""

    def __str__(self) -> str:
        # KeyError would quote the text.
        return Exception.__str__(self)


class SessionError(TopostreamError, ValueError):
    """The session is closed."""


class BudgetError(TopostreamError, MemoryError):
    """The memory that was granted does not suffice. The text says how much is needed, and for what."""


class DeviceError(TopostreamError, RuntimeError):
    """A device does not exist, has failed, or has too little memory."""


class ForkError(TopostreamError, RuntimeError):
    """The process was forked from one that had used topostream."""


class DependencyError(TopostreamError, ImportError):
    """A package that an argument needs is not installed."""


class TopostreamWarning(UserWarning):
    """The base of all warnings of this package."""


class HintWarning(TopostreamWarning):
    """The input may be meant otherwise: it looks undirected, or bipartite. The text names the argument."""


class ConvergenceWarning(TopostreamWarning):
    """A run has stopped at its limit of iterations, before its values changed by less than the tolerance."""


class FallbackWarning(TopostreamWarning):
    """NetworkX answers a call itself, after an error of this backend."""


def of_program(name: str, text: str, *of_system: Any) -> Exception:
    """The exception of this name with a text of the program; of a ``FileError``, the error's number and the file."""
    kind = globals()[name]
    made: Exception = kind(in_python(text), *of_system) if kind is FileError else kind(in_python(text))
    return made
