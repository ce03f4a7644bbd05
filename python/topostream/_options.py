"""Keyword arguments as options of the command line."""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

Vertex = int | str
"""A vertex by its original id: a number, or a name."""

Described = TypeVar("Described", bound=Callable[..., Any])


def takes(*options: type) -> Callable[[Described], Described]:
    """Lists the options of these types in a docstring."""

    def described(of: Described) -> Described:
        lists = [inspect.getdoc(one) or "" for one in options]
        of.__doc__ = "\n\n".join([inspect.getdoc(of) or "", *lists])
        return of

    return described


def words(options: Mapping[str, object]) -> list[str]:
    """Options as words of a command line: ``max_iterations=5`` is ``--max-iterations=5``.

    ``None`` and ``False`` are left out, ``True`` is a flag, and sequences are repeated options.
    """
    found: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        key = name.rstrip("_").replace("_", "-")
        option = f"--{key}" if len(key) > 1 else f"-{key}"
        if value is True:
            found.append(option)
        else:
            found.extend(f"{option}={word(one)}" for one in _each(value))
    return found


def word(value: Any) -> str:
    """A value as the command line takes it."""
    return str(os.fspath(value)) if isinstance(value, os.PathLike) else str(value)


def _each(value: Any) -> Iterable[Any]:
    if isinstance(value, str | bytes | os.PathLike) or not isinstance(value, Iterable):
        return (value,)
    return value


def call(options: Mapping[str, object]) -> str:
    """Options as they stand in a call, for reports: ``iterations=5, weights=True``. Long values are cut."""
    given = {name: repr(value) for name, value in options.items() if value is not None and value is not False}
    return ", ".join(f"{name}={text if len(text) <= 60 else text[:59] + '…'}" for name, text in given.items())
