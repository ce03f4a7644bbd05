"""Graphs: stores on disk."""

from __future__ import annotations

import contextlib
import html
import json
import logging
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from . import _native
from ._arguments import (
    ExtractOptions,
    FormatOptions,
    GridOptions,
    ReformatOptions,
    RmatOptions,
    SessionOptions,
    StoreOptions,
    UniformOptions,
)
from ._edges import taken, write_vertices
from ._options import Vertex, takes, word, words
from ._progress import StageProgress, Watcher, closed, watcher
from ._texts import in_python
from ._warnings import warn
from .errors import FileError, HintWarning, InputError, ParameterError

if TYPE_CHECKING:
    import pyarrow
    import scipy.sparse

    from .session import Session

Ids = np.ndarray[Any, Any]
"""Original ids, one for each vertex: ``uint64``, or ``object`` with strings."""


class Graph:
    """A graph on disk, in a store: a folder that :func:`format` or :func:`from_edges` makes.

    Nothing but the store's metadata is read until something is asked for. Functions of NetworkX take it as it is: see
    :mod:`topostream.networkx`.
    """

    __networkx_backend__ = "topostream"

    def __init__(self, path: str | os.PathLike[str], *, _folder: Any = None, _fingerprint: int | None = None) -> None:
        # The current folder may change.
        self._path = Path(word(path)).absolute()
        # A temporary store is deleted with the graph.
        self._folder = _folder
        # What is read later must be of the same store, and not of one that has replaced it.
        manifest, self._fingerprint = _native.manifest(str(self._path), _fingerprint)
        self._manifest: dict[str, Any] = json.loads(manifest)
        self._ids: Ids | None = None
        self._kinds: tuple[bool, bool] | None = None
        self._loops: int | None = None

    @classmethod
    def _at(cls, path: str, fingerprint: int) -> Graph:
        """The store with this fingerprint, for what was pickled.

        Raises:
            StoreError: there is another one, or none.
        """
        return cls(path, _fingerprint=fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        # The original keeps a temporary folder.
        return Graph._at, (str(self._path), self._fingerprint)

    @property
    def path(self) -> Path:
        """The store's folder."""
        return self._path

    @property
    def vertices(self) -> int:
        """The number of vertices."""
        return int(self._manifest["vertices"])

    @property
    def edges(self) -> EdgeCount:
        """The number of edges as they are stored: an undirected edge counts twice, a loop once.

        Called, it lists edges: ``g.edges(where="weight > 5", limit=10)``, see :class:`EdgeCount`.
        """
        return EdgeCount._of(self, int(self._manifest["edges"]))

    def neighbors(self, vertex: Vertex, direction: Literal["out", "in", "both"] = "out") -> list[Any]:
        """The ids of the neighbours of a vertex, in the order of :attr:`ids`; a repeated edge repeats them.

        Only pages with its list are read. ``"in"`` reads all pages of a directed graph without in-lists
        (``in_edges=True``). In undirected graphs all directions are the same.

        Raises:
            ParameterError: the graph has no such vertex.
        """
        found: list[Any] = _native.neighbours(str(self._path), self._fingerprint, word(vertex), direction)
        return found

    def degree(self, vertex: Vertex, direction: Literal["out", "in", "both"] = "out") -> int:
        """The number of edges of a vertex: the length of :meth:`neighbors`, where a loop counts once."""
        return _native.degree(str(self._path), self._fingerprint, word(vertex), direction)

    @property
    def directed(self) -> bool:
        """Whether the graph is directed."""
        return bool(self._manifest["directed"])

    def is_directed(self) -> bool:
        """Whether the graph is directed, as NetworkX asks for it."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Whether edges are repeated, as NetworkX asks for it. The first call reads all edges until one is."""
        return self._kinds_of_edges[1]

    @property
    def _kinds_of_edges(self) -> tuple[bool, bool]:
        """Whether there are edges from a vertex to itself, and whether edges are repeated."""
        if self._kinds is None:
            self._kinds = _native.kinds_of_edges(str(self._path), self._fingerprint)
        return self._kinds

    def number_of_nodes(self) -> int:
        """The number of vertices, as NetworkX asks for it."""
        return self.vertices

    order = number_of_nodes

    def number_of_edges(self) -> int:
        """The number of edges, as NetworkX counts them: an undirected edge once. Of undirected graphs, the first call
        reads all edges, for loops are stored once."""
        return int(self.edges) if self.directed else (int(self.edges) + self._loop_count()) // 2

    def size(self, weight: None = None) -> int:
        """The number of edges, as NetworkX asks for it.

        Raises:
            ParameterError: a weight is asked for: ``g.edge_arrays()[2].sum()`` is the sum of them.
        """
        if weight is not None:
            raise ParameterError(f"weight: expected None, found {weight!r}; g.edge_arrays()[2].sum() adds weights up")
        return self.number_of_edges()

    def _loop_count(self) -> int:
        """The number of edges from a vertex to itself."""
        if self._loops is None:
            self._loops = _native.loops(str(self._path), self._fingerprint)
        return self._loops

    def __len__(self) -> int:
        return self.vertices

    @property
    def weights(self) -> str | None:
        """The type of the weights, ``"u32"`` or ``"f32"``, if edges have any."""
        found = self._manifest["weights"]
        return None if found is None else str(found)

    @property
    def ids(self) -> Ids:
        """The original id of each vertex: numbers (``uint64``), or strings (``object``).

        Raises:
            StoreError: another store has replaced this one.
        """
        return self._ids_by(lambda: _native.ids(str(self._path), self._fingerprint))

    def _ids_by(self, read: Callable[[], Any]) -> Ids:
        """The ids, which are read once."""
        if self._ids is None:
            found = read()
            self._ids = np.asarray(found) if not isinstance(found, list) else _strings(found)
        return self._ids

    def _vertex(self, vertex: Vertex) -> int:
        """The place of a vertex among :attr:`ids`."""
        ids = self.ids
        found = np.flatnonzero(ids == (str(vertex) if ids.dtype == object else vertex))
        if len(found) == 0:
            raise ParameterError(f"the graph has no vertex {vertex!r}")
        return int(found[0])

    def info(self) -> dict[str, Any]:
        """Sizes, degrees and layout, as ``topostream info --json`` prints them."""
        found: dict[str, Any] = json.loads(_native.call(["info", "--json", "--", str(self._path)]))
        return found

    @takes(SessionOptions)
    def session(self, **options: Unpack[SessionOptions]) -> Session:
        """Opens the graph for runs. Pages, devices and kernels are kept from one run to the next.

        Sizes are numbers of bytes, or written ``"2GiB"``, ``"512MB"``.

        Raises:
            ParameterError: an option does not exist, or its value is not valid.
            StoreError: the store is damaged.
        """
        from .session import Session

        return Session(self, **options)

    def plan(self, algorithm: str, **options: Any) -> list[dict[str, Any]]:
        """Predicts the memory and the time of a run, by strategy and devices, as ``topostream plan`` does.

        Options are those of the algorithm and of sessions.

        Returns:
            A row for each strategy: its ``devices``, whether it ``fits`` in the memory, whether a run would select it
            (``auto``), the number of ``supersteps`` that the times are for, and the ``prediction``, in nanoseconds and
            bytes.

        Raises:
            ParameterError: an option is not valid, or the graph lacks what the algorithm needs.
            TopostreamError: this machine is not calibrated: see :func:`calibrate`.
        """
        name = algorithm.replace("_", "-")
        found = _native.call(["plan", name, "--json", *words(options, name, tunes=True), "--", str(self._path)])
        plan: list[dict[str, Any]] = json.loads(found)
        return plan

    @takes(ExtractOptions, StoreOptions)
    def ego(
        self,
        vertex: Vertex,
        *,
        hops: int = 1,
        direction: Literal["out", "in", "both"] = "out",
        store: str | os.PathLike[str] | None = None,
        **options: Unpack[ExtractOptions],
    ) -> Graph:
        """The graph of all vertices within some hops of one, and of the edges among them.

        Without ``store``, it is a temporary store, which is deleted with the returned graph.

        Raises:
            ParameterError: the graph has no such vertex.
        """
        return self._extract({"ego": vertex, "hops": hops, "direction": direction, **options}, store)

    @takes(StoreOptions)
    def subgraph(
        self,
        vertices: Iterable[Vertex],
        *,
        store: str | os.PathLike[str] | None = None,
        **options: Unpack[StoreOptions],
    ) -> Graph:
        """The graph of some vertices and of the edges among them. Temporary without ``store``, as for :meth:`ego`.

        Raises:
            InputError: the graph lacks one of the vertices.
        """
        lines = [_line(vertex) for vertex in vertices]
        with tempfile.NamedTemporaryFile("wb", suffix=".txt") as file:
            file.writelines(lines)
            file.flush()
            try:
                return self._extract({"vertices": file.name, **options}, store)
            except InputError as error:
                # The file is ours: its lines are the items.
                line = re.compile(re.escape(file.name) + r":(\d+)")
                raise InputError(line.sub(lambda at: f"vertices: item {int(at[1]) - 1}", str(error))) from None

    def _extract(self, options: Mapping[str, object], store: str | os.PathLike[str] | None) -> Graph:
        folder, path = _target(store)
        _said(_native.call(["extract", *words(options), "--", str(self._path), path]))
        return Graph(path, _folder=folder)

    @takes(ReformatOptions, StoreOptions)
    def reformat(
        self,
        store: str | os.PathLike[str],
        *,
        progress: bool | Watcher = False,
        **options: Unpack[ReformatOptions],
    ) -> Graph:
        """Makes another store of the graph: with in-lists, without weights, in another order or encoding.

        Raises:
            BudgetError: the memory does not suffice.
        """
        return _made(["reformat", *words(options), "--", str(self._path), word(store)], store, progress)

    def verify(self, *, progress: bool | Watcher = False) -> None:
        """Reads every page of the store and checks it.

        Raises:
            StoreError: a page or a file is damaged; the text names it.
        """
        with watched(progress) as watch:
            _native.call(["verify", "--", str(self._path)], watch)

    def edge_arrays(self) -> tuple[Any, Any, Any | None]:
        """All edges as arrays: sources and destinations by vertex number (``int64``), and weights, if there are any.

        An undirected edge is there once. A vertex number is an index of :attr:`ids`. The arrays take 16 bytes an edge,
        20 with weights.
        """
        source, dest, weight = _native.edges(str(self._path), self._fingerprint)
        return np.asarray(source), np.asarray(dest), None if weight is None else np.asarray(weight)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """The adjacency matrix, rows and columns in the order of :attr:`ids`; ones where edges have no weights.

        Repeated edges are added up.
        """
        import scipy.sparse

        source, dest, weight = self.edge_arrays()
        values = np.ones(len(source), np.int64) if weight is None else weight
        if not self.directed:
            other = source != dest
            source, dest = np.concatenate([source, dest[other]]), np.concatenate([dest, source[other]])
            values = np.concatenate([values, values[other]])
        shape = (self.vertices, self.vertices)
        return scipy.sparse.coo_array((values, (source, dest)), shape=shape).tocsr()

    def to_arrow(self) -> pyarrow.Table:
        """All edges as a table of original ids: source, dest, and weight, if there are any; undirected ones once."""
        import pyarrow

        source, dest, weight = self.edge_arrays()
        columns = {"source": self.ids[source], "dest": self.ids[dest]}
        if weight is not None:
            columns["weight"] = weight
        return pyarrow.table(columns)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weights = f", weights {self.weights}" if self.weights else ""
        sizes = f"{self.vertices:,} vertices, {self.edges:,} edges"
        return f"<topostream.Graph {str(self._path)!r}: {sizes}, {kind}{weights}>"

    def _repr_html_(self) -> str:
        rows = [
            ("vertices", f"{self.vertices:,}"),
            ("edges", f"{self.edges:,}"),
            ("kind", "directed" if self.directed else "undirected"),
            ("weights", self.weights or "none"),
            ("store", str(self._path)),
        ]
        return table_html(("graph", ""), rows)


class EdgeCount(int):
    """The number of edges of a graph as they are stored. It is called for a look at them."""

    _graph: Graph

    @classmethod
    def _of(cls, graph: Graph, count: int) -> EdgeCount:
        made = cls(count)
        made._graph = graph
        return made

    def __call__(
        self, where: str | Iterable[str] | None = None, *, limit: int | None = None
    ) -> list[tuple[Any, Any] | tuple[Any, Any, Any]]:
        """The edges as tuples of ids, source and destination, with their weights if there are any.

        Args:
            where: a condition, such as ``"weight > 5"`` or ``"source == 30"``, several of them joined by ``and``, or a
                list of conditions: a column (``source``, ``dest``, ``weight``), one of ``==``, ``!=``, ``<``, ``<=``,
                ``>``, ``>=``, and a value, which may be quoted. Of a directed graph, only pages of a named source are
                read.
            limit: the most edges that are returned: reading ends with them.

        An undirected edge is listed once, from the vertex that comes first in :attr:`Graph.ids`.

        Raises:
            ParameterError: a condition is not valid, or the graph has no weights.
        """
        if limit is not None and limit < 0:
            raise ParameterError(f"limit {limit}: expected a number of edges, from 0 on")
        graph = self._graph
        found = _native.edges_where(str(graph.path), graph._fingerprint, _conditions(where), limit)
        return list(zip(*(column for column in found if column is not None), strict=True))

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)


_CONDITION = re.compile(r"\s*(\w+)\s*(==|!=|<=|>=|=|<|>)\s*('[^']*'|\"[^\"]*\"|\S+)\s*")
_AND = re.compile(r"and\b|&&?")


def _conditions(where: str | Iterable[str] | None) -> list[tuple[str, str, str]]:
    """Conditions as columns, operators and values."""
    found = []
    for text in [where] if isinstance(where, str) else where or ():
        at = 0
        while True:
            one = _CONDITION.match(text, at)
            if one is None:
                raise ParameterError(f'where {text!r}: expected a column, an operator and a value, as in "weight > 5"')
            column, operator, value = one.groups()
            found.append((column, operator, value[1:-1] if value[0] in "'\"" else value))
            at = one.end()
            if at == len(text):
                break
            joined = _AND.match(text, at)
            if joined is None:
                raise ParameterError(f"where {text!r}: expected `and` before {text[at:]!r}")
            at = joined.end()
    return found


def _line(vertex: Vertex) -> bytes:
    """A vertex as a line of a file."""
    text = word(vertex)
    if "\n" in text or "\r" in text:
        raise ParameterError(f"the vertex {text!r} has a line break, which files of vertices cannot have")
    return text.encode() + b"\n"


def table_html(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A plain table for notebooks."""
    head = "".join(f"<th>{html.escape(text)}</th>" for text in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _strings(names: list[Any]) -> Ids:
    array = np.empty(len(names), object)
    array[:] = names
    return array


def _target(store: str | os.PathLike[str] | None) -> tuple[Any, str]:
    """A store's folder, and the temporary folder that it is in, if it is not given."""
    if store is not None:
        return None, word(store)
    folder = temporary_folder()
    return folder, str(Path(folder.name) / "store")


class TemporaryFolder:
    """A folder that is deleted with this object, or at the end of the process. A forked process has the object too: it
    leaves the folder to the process that has made it."""

    def __init__(self, parent: str | None) -> None:
        self.name = tempfile.mkdtemp(prefix="topostream-", dir=parent)
        self._end = weakref.finalize(self, _delete, self.name, os.getpid())

    def cleanup(self) -> None:
        """Deletes the folder, if that was not done before."""
        self._end()

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: object) -> None:
        self.cleanup()


def _delete(folder: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def temporary_folder(parent: str | None = None) -> TemporaryFolder:
    """A temporary folder in another, or in the system's.

    Raises:
        FileError: the system refuses it.
    """
    try:
        return TemporaryFolder(parent)
    except OSError as error:
        place = parent or tempfile.gettempdir()
        raise FileError(f"{place}: make a temporary folder: {error.strerror}", error.errno, place) from error


LOG = logging.getLogger("topostream")
"""What commands print, at the level INFO, but hints, which are warnings."""
_HINT = re.compile(r"(?:hint|note|warning): ")


def _said(text: str) -> None:
    lines = text.splitlines()
    printed = "\n".join(line for line in lines if not _HINT.match(line))
    if printed:
        LOG.info("%s", in_python(printed))
    for line in lines:
        if _HINT.match(line):
            warn(in_python(_HINT.sub("", line, count=1)), HintWarning)


@contextlib.contextmanager
def watched(progress: bool | Watcher) -> Iterator[Watcher | None]:
    watch = watcher(progress, StageProgress)
    try:
        yield watch
    finally:
        closed(watch)


def _made(words: list[str], store: str | os.PathLike[str], progress: bool | Watcher) -> Graph:
    """The store that a command makes."""
    with watched(progress) as watch:
        _said(_native.call(words, watch))
    return Graph(store)


def open(path: str | os.PathLike[str]) -> Graph:  # noqa: A001 - as in `topostream.open`
    """Opens a store.

    Raises:
        StoreError: there is none, or it is damaged.
    """
    return Graph(path)


@takes(FormatOptions, StoreOptions)
def format(  # noqa: A001 - the name of the command
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    store: str | os.PathLike[str],
    *,
    progress: bool | Watcher = False,
    **options: Unpack[FormatOptions],
) -> Graph:
    """Makes a store of edge lists in files: text, CSV, Parquet, Arrow, Matrix Market and others.

    Args:
        inputs: files of one kind, folders of them, or patterns such as ``"part-*.csv"``.
        store: the folder to make.
        progress: show a bar; or a function that is called with the stage, the position, the total and the unit.

    Raises:
        InputError: a line or a row is not valid; the text names it.
        BudgetError: the memory does not suffice.
    """
    several = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    names = [word(one) for one in several]
    if not names:
        raise ParameterError("inputs: expected a file, a folder or a pattern, found none")
    return _made(["format", *words(options), "--", *names, word(store)], store, progress)


@takes(FormatOptions, StoreOptions)
def from_edges(
    edges: Any,
    store: str | os.PathLike[str] | None = None,
    *,
    progress: bool | Watcher = False,
    **options: Unpack[FormatOptions],
) -> Graph:
    """Makes a store of edges in memory.

    Args:
        edges: a tuple of arrays or lists: sources, destinations, perhaps weights; a list of tuples, an edge each; an
            array of two or three columns, or rows; a sparse matrix of SciPy, whose rows are sources; a graph of
            NetworkX or igraph; or a table: pandas, Polars, PyArrow, DuckDB, anything with ``__arrow_c_stream__``. Ids
            are integers or strings; arrays of numbers are read where they are. What can be read both as edges and as
            columns, such as two lists of two numbers, is refused. What makes batches as they are asked for, such as
            DuckDB, is read once, within ``memory`` and a temporary file.
        store: the folder to make. Without it the store is temporary, and deleted with the graph.
        progress: as for :func:`format`.

    Raises:
        InputError: an array or a column is of another type, or an id is negative, masked or null.
    """
    graph, said = _from_edges(edges, store, progress, dict(options))
    _said(said)
    return graph


def _from_edges(
    edges: Any, store: str | os.PathLike[str] | None, progress: bool | Watcher, options: dict[str, Any]
) -> tuple[Graph, str]:
    """The store of edges in memory, and what the command prints."""
    found = taken(edges, options)
    folder, path = _target(store)
    with watched(progress) as watch, contextlib.ExitStack() as files:
        if found.vertices:
            suffix = ".arrow" if isinstance(found.vertices[0], str) else ".txt"
            options["vertices"] = f"{files.enter_context(temporary_folder())}/vertices{suffix}"
            write_vertices(found.vertices, options["vertices"])
        said = _native.from_edges(found.table, found.is_held, path, words(options), watch)
    if found.has_direction:
        said = "\n".join(line for line in said.splitlines() if not _HINT.match(line))
    return Graph(path, _folder=folder), said


def _generate(
    kind: str, store: str | os.PathLike[str], progress: bool | Watcher, options: Mapping[str, object]
) -> Graph:
    return _made(["generate", kind, *words(options), "--store", word(store)], store, progress)


@takes(RmatOptions, StoreOptions)
def generate_rmat(
    scale: int,
    store: str | os.PathLike[str],
    *,
    progress: bool | Watcher = False,
    **options: Unpack[RmatOptions],
) -> Graph:
    """Makes a store of a random R-MAT graph of ``2**scale`` vertices, with Graph500's parameters by default.

    Raises:
        BudgetError: the memory does not suffice.
        FileError: the disk is full, or refuses an operation.
    """
    return _generate("rmat", store, progress, {"scale": scale, **options})


@takes(UniformOptions, StoreOptions)
def generate_uniform(
    vertices: int,
    edges: int,
    store: str | os.PathLike[str],
    *,
    progress: bool | Watcher = False,
    **options: Unpack[UniformOptions],
) -> Graph:
    """Makes a store of edges with uniformly random ends."""
    return _generate("uniform", store, progress, {"vertices": vertices, "edges": edges, **options})


@takes(GridOptions, StoreOptions)
def generate_grid(
    width: int,
    height: int,
    store: str | os.PathLike[str],
    *,
    progress: bool | Watcher = False,
    **options: Unpack[GridOptions],
) -> Graph:
    """Makes a store of a grid, as road networks are: low degrees, a large diameter."""
    return _generate("grid", store, progress, {"width": width, "height": height, **options})


@takes(SessionOptions)
def calibrate(
    *,
    folder: str | os.PathLike[str] = ".",
    scale: int | None = None,
    output: str | os.PathLike[str] | None = None,
    **options: Unpack[SessionOptions],
) -> dict[str, Any]:
    """Measures the disk and the devices of this machine, for :meth:`Graph.plan`, as ``topostream calibrate`` does.

    Args:
        folder: where temporary graphs are made, on the disk to measure.
        scale: the largest of them has ``2**scale`` vertices, 16 times as many edges, and takes 300 bytes a vertex; 20
            by default, with a GPU 24.
        output: the file to write, by default in the user's cache folder.

    Returns:
        The rates: bytes and edges per second, times in nanoseconds.
    """
    own = {"dir": folder, "scale": scale, "output": output}
    given = words({**own, **options}, tunes=True)
    found: dict[str, Any] = json.loads(_native.call(["calibrate", "--json", *given]))
    return found


def devices() -> dict[str, Any]:
    """The devices that can run algorithms, with their limits, as ``topostream devices --json`` prints them."""
    found: dict[str, Any] = json.loads(_native.call(["devices", "--json"]))
    return found
