"""Errors of the backend in calls that NetworkX can answer itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import networkx as nx

from .._warnings import warn
from ..errors import FallbackWarning

NAME: Final = "topostream"


def is_chosen(name: str | None) -> bool:
    """Whether NetworkX chooses this backend for a function by its configuration: it then has others to try."""
    priority = nx.config.backend_priority
    listed: list[str] = [*priority.algos, *priority.generators]
    if name is not None:
        listed = [*listed, *(priority.get(name, None) or [])]
    return NAME in listed or bool(nx.config.fallback_to_nx)


@contextmanager
def falling_back(name: str | None, call: str) -> Iterator[None]:
    """Turns an error into what makes NetworkX try the next backend, itself at last, with a warning.

    Not where the backend was named, or the graph is a store: the error is the answer then. Exceptions of NetworkX are
    answers too, unless they say that a call cannot be answered.

    Raises:
        NotImplementedError: NetworkX tries the next backend.
    """
    try:
        yield
    except NotImplementedError:
        raise
    except BaseException as error:
        # A panic of the engine is not an `Exception`; nor is Ctrl-C, which is no error.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        is_answer = isinstance(error, nx.NetworkXException) and not isinstance(error, nx.ExceededMaxIterations)
        if is_answer or not is_chosen(name):
            raise
        warn(f"{call} by topostream: {_text(error)}; NetworkX answers it", FallbackWarning)
        raise NotImplementedError(str(error)) from error


def _text(error: Any) -> str:
    # NetworkX's exceptions have themselves among their arguments.
    return f"{type(error).__name__}: {error.args[-1] if error.args else 'no text'}"
