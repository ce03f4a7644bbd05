"""Reports of runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from . import _native


class Report(Mapping[str, Any]):
    """What a run did: supersteps, times, bytes, and what it waited for.

    A mapping of the fields of ``topostream run --json``: times in nanoseconds, sizes in bytes.
    """

    def __init__(self, text: str, encoded: str) -> None:
        self._text = text
        self._encoded = encoded
        self._fields: dict[str, Any] = json.loads(encoded)

    @classmethod
    def _parse(cls, text: str, encoded: str) -> Report:
        return cls(text, encoded)

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
        return len(self._fields["steps"])

    @property
    def edges_per_second(self) -> float:
        """Visited edges per second."""
        return float(self._fields["total"]["edges"]) / max(self.seconds, 1e-9)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<topostream.Report: {self._fields['algorithm']} in {self.seconds:.3f} s on {self._fields['device']}>"

    def to_html(self) -> str:
        """The page of ``topostream report``, as an element for a notebook or another page."""
        return _native.report_html(self._encoded)

    def _repr_html_(self) -> str:
        return self.to_html()
