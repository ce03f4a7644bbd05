"""Reports of runs."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from . import _native
from .errors import TopostreamError

SHOWN_BYTES = 1 << 30
"""Notebooks show the degrees of stores of at most this many bytes."""


class Report(Mapping[str, Any]):
    """What a run did: supersteps, times, bytes, and what it waited for.

    A mapping of the fields of ``topostream run --json``: times in nanoseconds, sizes in bytes.
    """

    def __init__(self, native: _native.Report) -> None:
        self._native = native
        self._fields: dict[str, Any] = json.loads(native.json)

    def __reduce__(self) -> tuple[Any, ...]:
        path, fingerprint = self._native.store
        return _restored, (os.fspath(path), fingerprint, self._native.text, self._native.json)

    def __getitem__(self, field: str) -> Any:
        return self._fields[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    @property
    def fields(self) -> dict[str, Any]:
        """All fields."""
        return self._fields

    @property
    def seconds(self) -> float:
        """The time of the run, in seconds."""
        return float(self._fields["wall_ns"]) / 1e9

    @property
    def supersteps(self) -> int:
        """The number of supersteps."""
        return int(self._fields["supersteps"])

    @property
    def edges_per_second(self) -> float:
        """Visited edges per second."""
        return float(self._fields["total"]["edges"]) / max(self.seconds, 1e-9)

    def __str__(self) -> str:
        return self._native.text

    def __repr__(self) -> str:
        return f"<topostream.Report: {self._fields['algorithm']} in {self.seconds:.3f} s on {self._fields['device']}>"

    def to_html(self, *, degrees: bool = True) -> str:
        """The page of ``topostream report``, as an element for a notebook or another page.

        With ``degrees`` it shows the degrees of the store, which are read once: all pages of a packed store.

        Raises:
            StoreError: a page of the store is damaged.
            FileError: the store has been deleted.
        """
        return self._native.html(degrees)

    def _repr_html_(self) -> str:
        # A notebook shows a result without being asked: it does not read a large store for that.
        if self._fields["origin"]["store"]["disk_bytes"] <= SHOWN_BYTES:
            with contextlib.suppress(TopostreamError):
                return self.to_html()
        return self.to_html(degrees=False)


def _restored(path: str, fingerprint: int, text: str, fields: str) -> Report:
    """A report that was pickled."""
    return Report(_native.Report.restored(path, fingerprint, text, fields))
