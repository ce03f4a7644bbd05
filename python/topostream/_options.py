"""Keyword arguments as options of the command line."""

import functools
import inspect
import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from . import _native
from .errors import ParameterError

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


def words(options: Mapping[str, object], algorithm: str | None = None, *, tunes: bool = False) -> list[str]:
    """Options as words of a command line: ``max_iterations=5`` is ``--max-iterations=5``.

    ``None`` and ``False`` are left out, ``True`` is a flag, and sequences are repeated options. A dictionary is for
    options of an algorithm whose vertices have values. Of a command that ``tunes``, settings are words of ``--tune``:
    ``strategy="shard"`` is ``--tune=strategy=shard``.

    Raises:
        ParameterError: another option has a dictionary, or a value has no text.
    """
    found: list[str] = []
    for name, value in options.items():
        if isinstance(value, np.ndarray | np.bool_) and value.ndim == 0:
            value = value.item()
        if value is None or value is False:
            continue
        key = name.rstrip("_").replace("_", "-")
        dashes = "-" if len(key) == 1 else "--tune=" if tunes and key in _settings() else "--"
        option = dashes + key
        if value is True:
            found.append(option)
        elif isinstance(value, Mapping):
            found.extend(f"{option}={text}" for text in _pairs(key, value, algorithm))
        else:
            found.extend(f"{option}={word(one)}" for one in _each(value))
    return found


def word(value: Any) -> str:
    """A value as the command line takes it.

    Raises:
        ParameterError: it is a text that is not valid Unicode.
    """
    text = str(os.fspath(value)) if isinstance(value, os.PathLike) else str(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"{text!r}: expected valid Unicode") from None
    return text


def _pairs(option: str, values: Mapping[Any, Any], algorithm: str | None) -> list[str]:
    """Vertices with their values."""
    name = option.replace("-", "_")
    if option not in _valued().get(algorithm or "", ()):
        raise ParameterError(f"{name}: expected vertices, found a dictionary: their values would have no effect")
    try:
        return [f"{word(vertex)}={float(value)!r}" for vertex, value in values.items()]
    except (TypeError, ValueError):
        raise ParameterError(f"{name}: expected a number for each vertex, found {dict(values)!r:.200}") from None


@functools.cache
def _settings() -> frozenset[str]:
    """The keys of ``--tune``."""
    return frozenset(option["long"] for option in json.loads(_native.catalogue())["tuning"])


@functools.cache
def _valued() -> dict[str, frozenset[str]]:
    """Of each algorithm, the options that give vertices a value."""
    return {
        entry["name"]: frozenset(
            option["long"] for option in entry["options"] if option["long"] and "=" in (option["value_name"] or "")
        )
        for entry in json.loads(_native.catalogue())["algorithms"]
    }


def _each(value: Any) -> Iterable[Any]:
    if isinstance(value, str | bytes | os.PathLike) or not isinstance(value, Iterable):
        return (value,)
    return value


def call(options: Mapping[str, object]) -> str:
    """Options as they stand in a call, for reports: ``iterations=5, weights=True``. Long values are cut."""
    given = {name: repr(value) for name, value in options.items() if value is not None and value is not False}
    return ", ".join(f"{name}={text if len(text) <= 60 else text[:59] + '…'}" for name, text in given.items())
