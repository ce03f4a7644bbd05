"""Results of runs."""

from __future__ import annotations

import os
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from . import _native
from ._options import Vertex
from .errors import ColumnError, InputError, ParameterError
from .graph import Graph, Ids, table_html
from .report import Report

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Path(NamedTuple):
    """A path from the source of a search to a vertex."""

    vertices: list[Any]
    """The original ids of its vertices, from the source on."""
    values: list[Any]
    """The distance of each of them, or its level."""

    @property
    def distance(self) -> Any:
        """The distance of the last vertex, or its level."""
        return self.values[-1]


class Result:
    """The result of a run: columns with a value for each vertex, in the order of :attr:`ids`.

    ``result["rank"]`` is an array of NumPy over the engine's own memory, read-only:

    - numbers are ``float64``; a distance to a vertex that cannot be reached is ``inf``,
    - counts and levels are ``int64``, -1 where there is none,
    - vertices, such as parents and the names of components, are original ids, ``int64``, -1 where there is none; of
      strings, and of a store with ids from 2^63 on, ``object``, with ``None``.

    It can be pickled, with its values; the store must still be there when it is read again. It has the methods of a
    mapping. Tables have the ids too, and say what is missing: :meth:`to_pandas`,
    :meth:`to_polars` or ``polars.DataFrame(result)``, :meth:`to_arrow`.
    """

    def __init__(self, graph: Graph, native: _native.RunResult) -> None:
        self._graph = graph
        self._native = native
        self._kinds: dict[str, str] = dict(native.columns())
        self._columns: dict[str, Any] = {}
        self._report: Report | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        path, fingerprint = self._native.report.store
        report = self.report
        texts = self._native.report.text, self._native.report.json
        columns = [(name, kind, self.numbers(name)) for name, kind in self._kinds.items()]
        return _restored, ((os.fspath(path), fingerprint), report["algorithm"], texts, columns)

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @property
    def ids(self) -> Ids:
        """The original id of each vertex.

        Raises:
            StoreError: another store has replaced that of the run.
        """
        return self._graph._ids_by(self._native.ids)

    @property
    def report(self) -> Report:
        """What the run did."""
        if self._report is None:
            self._report = Report(self._native.report)
        return self._report

    @property
    def summary(self) -> dict[str, Any]:
        """The summary of the answer: the field ``answer`` of ``topostream run --json``."""
        found: dict[str, Any] = self.report["answer"]
        return found

    @property
    def converged(self) -> bool | None:
        """Whether the run has ended because its values changed by less than its tolerance.

        ``None`` if it has none: a number of iterations was asked for, or the algorithm ends by itself.
        """
        found: bool | None = self.summary.get("convergence", {}).get("converged")
        return found

    def __getitem__(self, name: str) -> Any:
        if name not in self._columns:
            values = self.numbers(name)
            if self._kinds[name] == "vertex":
                values = self._of_vertices(values)
            self._columns[name] = values
        return self._columns[name]

    def numbers(self, name: str) -> Any:
        """A column as it is in memory: vertices are indices of :attr:`ids`.

        Raises:
            ColumnError: there is no such column.
        """
        if name not in self._kinds:
            raise ColumnError(f"expected one of the columns {', '.join(self)}, found {name!r}")
        return np.asarray(self._native.column(name))

    def _of_vertices(self, vertices: Any) -> Any:
        ids = self.ids
        if ids.dtype == object or ids.size and ids.max() >= 2**63:
            found = ids.astype(object)[vertices]
            found[vertices < 0] = None
            return found
        found = ids[vertices].astype(np.int64)
        found[vertices < 0] = -1
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def __contains__(self, name: object) -> bool:
        return name in self._kinds

    def keys(self) -> KeysView[str]:
        """The names of the columns."""
        return self._kinds.keys()

    def values(self) -> ValuesView[Any]:
        """The columns."""
        return {name: self[name] for name in self}.values()

    def items(self) -> ItemsView[str, Any]:
        """The columns with their names."""
        return {name: self[name] for name in self}.items()

    def get(self, name: str, default: Any = None) -> Any:
        """A column, or something else if there is no such column."""
        return self[name] if name in self._kinds else default

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        # `numpy.asarray` and `pandas.DataFrame` would take the names of columns for rows.
        raise InputError(
            f"a result has ids and columns: result[{next(iter(self))!r}] is an array, result.to_pandas() a frame of "
            "pandas, polars.DataFrame(result) one of Polars"
        )

    def top(self, count: int = 10, column: str | None = None) -> list[tuple[Any, Any]]:
        """The vertices with the largest values of a column (the first, by default), largest first, as ``(id, value)``:
        numbers and strings of Python.

        Vertices without a value are left out. Of equal values, the vertex that comes first in :attr:`ids` is first.
        """
        if count < 0:
            raise ParameterError(f"count {count}: expected a number of vertices, from 0 on")
        name = column or next(iter(self))
        values = self[name]
        if self._kinds[name] == "vertex":
            raise ColumnError(f"{name}: values are vertices, which have no order")
        known = np.flatnonzero(np.isfinite(values) if values.dtype.kind == "f" else values >= 0)
        count = min(count, len(known))
        if count == 0:
            return []
        least = np.partition(values[known], len(known) - count)[len(known) - count]
        candidates = known[values[known] >= least]
        best = candidates[np.argsort(-values[candidates], kind="stable")][:count]
        return list(zip(self.ids[best].tolist(), values[best].tolist(), strict=True))

    def path(self, target: Vertex) -> Path | None:
        """A path from the source of a search to a vertex, by the parents that it has kept; ``None`` if there is none.

        Raises:
            ColumnError: the search has kept no parents: it takes ``parents=True``.
            ParameterError: the graph has no such vertex.
        """
        if "parent" not in self:
            raise ColumnError("path: the result has no parents: search with parents=True")
        parents, values = self.numbers("parent"), self.numbers(next(iter(self)))
        at = self._graph._vertex(target)
        if parents[at] < 0:
            return None
        found = [at]
        while (parent := int(parents[found[-1]])) != found[-1]:
            found.append(parent)
        found.reverse()
        return Path(self.ids[found].tolist(), values[found].tolist())

    def to_dict(self, column: str | None = None) -> dict[Any, Any]:
        """A column (the first, by default) by original id."""
        values = self[column or next(iter(self))]
        return dict(zip(self.ids.tolist(), values.tolist(), strict=True))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The columns, with the ids in the column ``vertex``: the Arrow PyCapsule interface."""
        return self._native.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """The ids and all columns; null where there is no value."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """All columns, with the ids as index.

        Numbers are ``float64``, ``NaN`` where there is none; counts, levels and ids are nullable integers, ``Int64``
        and ``UInt64``; ids that are strings are ``None`` where there is none.
        """
        import pandas

        return pandas.DataFrame(
            {name: self._series(name) for name in self}, index=pandas.Index(self.ids, name="vertex")
        )

    def _series(self, name: str) -> Any:
        """A column for pandas, with its own values for what is missing."""
        import pandas

        kind = self._kinds[name]
        values = self.numbers(name)
        if kind == "number":
            return np.where(np.isfinite(values), values, np.nan)
        missing = values < 0
        if kind == "integer":
            return pandas.arrays.IntegerArray(np.where(missing, np.int64(0), values), missing)
        ids = self.ids
        if ids.dtype == object:
            return self[name]
        return pandas.arrays.IntegerArray(np.where(missing, np.uint64(0), ids[values]), missing)

    def to_polars(self) -> polars.DataFrame:
        """The ids and all columns; null where there is no value."""
        import polars

        return polars.DataFrame(self)

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> str:  # noqa: A002
        """Writes the ids and all columns to a file, which appears when it is complete.

        The format is that of the file's name: ``.txt``, ``.csv``, ``.npy``, ``.parquet`` or ``.arrow``. Returns a line
        that says what was written.

        Raises:
            FileError: the file cannot be written.
        """
        return self._native.write(os.fspath(path), format).rstrip("\n")

    def __repr__(self) -> str:
        return f"<topostream.Result: {', '.join(self)} of {self._graph.vertices:,} vertices; {self.report!r}>"

    def _repr_html_(self) -> str:
        shown = range(min(10, self._graph.vertices))
        columns = [(name, self[name]) for name in self]
        rows = [(str(self.ids[vertex]), *(str(values[vertex]) for _, values in columns)) for vertex in shown]
        if self._graph.vertices > len(shown):
            rows.append(("…", *("…" for _ in columns)))
        return table_html(("vertex", *(name for name, _ in columns)), rows) + self.report._repr_html_()


def _restored(store: tuple[str, int], algorithm: str, texts: tuple[str, str], columns: list[Any]) -> Result:
    """A result that was pickled."""
    graph = Graph._at(*store)
    return Result(graph, _native.RunResult.restored(store, algorithm, texts, columns))
