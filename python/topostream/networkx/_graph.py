"""Graphs of NetworkX as temporary stores, and what the functions need of a graph: :class:`View`."""

from __future__ import annotations

import numbers
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np

from .. import _native
from .._options import words
from ..graph import Graph, _from_edges, temporary_folder
from ..result import Result
from ..session import Session
from ._fallback import NAME, falling_back

Node = Any
"""A node: any hashable object; of a store, an original id."""


class Converted:
    """A graph of NetworkX as a temporary store, which is deleted with this object. Nodes keep their objects."""

    __networkx_backend__ = NAME

    def __init__(self, graph: Any, attribute: str | None, default: Any, *, has_all: bool = False) -> None:
        # NetworkX keeps this object with the graph: a reference back would keep both alive.
        self.original = weakref.ref(graph)
        self.nodes: list[Node] = list(graph)
        self.index: dict[Node, int] = dict(zip(self.nodes, range(len(self.nodes)), strict=True))
        self.directed: bool = graph.is_directed()
        self.multigraph: bool = graph.is_multigraph()
        source, dest, weights = _edges_of(graph, self.index, attribute, default)
        self.edges = len(source)
        self.loops = bool(np.any(source == dest))
        self.store: Graph | None = None if not self.nodes else _store(self, source, dest, weights)
        # NetworkX passes a graph that was converted with all attributes to functions that read one of them.
        self.has_all = has_all
        self._weighted: dict[str, Converted] = {}
        # The nodes in the order of results.
        self.order: list[Node] = [] if self.store is None else [self.nodes[at] for at in self.store.ids.tolist()]

    def _converted(self) -> Any:
        """The graph that was converted.

        Raises:
            NotImplementedError: it is no longer there.
        """
        original = self.original()
        if original is None:
            raise NotImplementedError("the graph that was converted is gone, and its attributes with it")
        return original

    def part(self, nodes: Iterable[Node]) -> Any:
        """A part of the graph that was converted, with the attributes of its nodes and edges."""
        return self._converted().subgraph(nodes).copy()

    def weighted(self, attribute: str) -> Converted:
        """The graph with these weights."""
        if not self.has_all:
            return self
        if attribute not in self._weighted:
            self._weighted[attribute] = Converted(self._converted(), attribute, 1)
        return self._weighted[attribute]

    def is_directed(self) -> bool:
        """Whether the graph is directed."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Whether edges may be repeated."""
        return self.multigraph

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, node: object) -> bool:
        return node in self.index

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)


def config() -> Mapping[str, Any]:
    """What ``nx.config.backends.topostream`` has."""
    found = getattr(nx.config.backends, NAME, None)
    names = ("memory", "device", "folder", "min_edges")
    return {name: getattr(found, name, None) for name in names}


def _edges_of(graph: Any, index: Mapping[Node, int], attribute: str | None, default: Any) -> tuple[Any, Any, Any]:
    """Sources, destinations and weights; an undirected edge once. Weights of 1 are none."""
    if graph.is_multigraph():
        listed = list(graph.edges(data=attribute, default=default)) if attribute else list(graph.edges())
        source = np.fromiter((index[edge[0]] for edge in listed), np.int64, len(listed))
        dest = np.fromiter((index[edge[1]] for edge in listed), np.int64, len(listed))
        return source, dest, _weights([edge[2] for edge in listed] if attribute else [])
    lists = graph._adj.values()
    lengths = np.fromiter(map(len, lists), np.int64, len(index))
    source = np.repeat(np.arange(len(index)), lengths)
    dest = np.fromiter(map(index.__getitem__, chain.from_iterable(lists)), np.int64, len(source))
    weights = None
    if attribute is not None:
        weights = _weights([data.get(attribute, default) for of in lists for data in of.values()])
    if not graph.is_directed():
        once = source <= dest
        source, dest = source[once], dest[once]
        weights = None if weights is None else weights[once]
    return source, dest, weights


def _weights(weights: list[Any]) -> Any:
    """Weights as an array, if there are any but 1.

    Raises:
        NotImplementedError: the store has no type for them.
    """
    if weights.count(1) == len(weights):
        return None
    array = np.asarray(weights)
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise NotImplementedError("weights are not numbers")
    if array.dtype.kind == "f" and np.all(array == np.floor(array)) and np.all(np.abs(array) < 2**53):
        array = array.astype(np.int64)
    if array.dtype.kind == "f":
        raise NotImplementedError("weights are not whole numbers")
    if array.min() < 0 or array.max() >= 2**31:
        raise NotImplementedError("weights are negative, or 2^31 or more")
    return array.astype(np.uint32)


def _store(graph: Converted, source: Any, dest: Any, weights: Any) -> Graph:
    folder = temporary_folder(config()["folder"])
    arrays = (source, dest) if weights is None else (source, dest, weights)
    kind: dict[str, Any] = {"in_edges": True} if graph.directed else {"symmetrize": True}
    options = {"ids": len(graph.nodes), "order": "natural", **kind}
    made, _ = _from_edges(arrays, f"{folder.name}/store", False, options)
    # Also the object lives until then, and would delete its folder with itself.
    weakref.finalize(graph, folder.cleanup)
    return made


class View:
    """What functions need of a graph: its store, a session, its nodes in the order of results."""

    def __init__(self, graph: Graph | Converted, options: Mapping[str, Any]) -> None:
        store = graph if isinstance(graph, Graph) else graph.store
        assert store is not None, "the null graph has no store"
        self.graph = graph
        self.store = store
        self.directed = store.directed
        self.index = graph.index if isinstance(graph, Converted) else None
        self.vertices = store.vertices
        self.session = _sessions.open(store, options)

    def run(self, algorithm: str, **options: Any) -> Result:
        """A run without the package's own warnings: functions say by NetworkX's exceptions what did not converge."""
        return self.session._run_quietly(algorithm, False, options)

    @property
    def order(self) -> list[Node]:
        """The nodes in the order of results, as Python objects: for results that have them."""
        return _order(self.graph)

    @property
    def nodes(self) -> list[Node]:
        """The nodes in NetworkX's order."""
        return self.graph.nodes if isinstance(self.graph, Converted) else self.order

    def id(self, node: Node) -> Any:
        """The store's id of a node that the graph has."""
        if self.index is not None:
            return self.index[node]
        return node if isinstance(node, str) else int(node)

    def place(self, node: Node) -> int:
        """The place of a node that the graph has, in columns of results."""
        return int(np.flatnonzero(self._is(self.id(node)))[0])

    def has(self, node: Node) -> bool:
        """Whether the graph has a node. What cannot be hashed, such as a list of nodes, is none."""
        try:
            hash(node)
        except TypeError:
            return False
        if self.index is not None:
            return node in self.index
        return bool(np.any(self._is(node)))

    def _is(self, node: Node) -> Any:
        """Where the store's ids equal a node that can be hashed."""
        ids = self.store.ids
        if ids.dtype == object:
            return ids == node if isinstance(node, str) else np.zeros(len(ids), bool)
        # As dictionaries compare numbers: 3.0 is 3.
        number: Any = node if isinstance(node, numbers.Real) else -1
        is_id = 0 <= number < 2**64 and number == int(number)
        return ids == np.uint64(int(number)) if is_id else np.zeros(len(ids), bool)

    def by_node(self, values: Any) -> dict[Node, Any]:
        return dict(zip(self.order, values.tolist(), strict=True))

    def where(self, chosen: Any) -> Iterator[Node]:
        """The nodes for which a column of booleans is true."""
        order = self.order
        return (order[number] for number in np.flatnonzero(chosen).tolist())

    def left(self, result: Result) -> Any:
        """Of vertices that components are named after, whether an edge leads from their component to another."""
        return np.asarray(
            _native.groups_left(str(self.store.path), self.store._fingerprint, result.numbers("component"))
        )

    def parts(self, result: Result) -> list[set[Node]]:
        """The sets of nodes with the same value: of a component, or a community."""
        labels = result.numbers(next(iter(result)))
        order = np.argsort(labels, kind="stable")
        bounds = np.flatnonzero(np.diff(labels[order])) + 1
        nodes = self.order
        return [{nodes[number] for number in part.tolist()} for part in np.split(order, bounds)]

    def part(self, nodes: Iterable[Node]) -> Any:
        """The graph of some nodes and of the edges among them, as one of NetworkX."""
        if isinstance(self.graph, Converted):
            return self.graph.part(nodes)
        chosen = list(nodes)
        return convert_to_nx(self.store.subgraph(chosen)) if chosen else _empty(self.graph)


def _order(graph: Graph | Converted) -> list[Node]:
    """The nodes in the order of results. A store is asked for them once."""
    if isinstance(graph, Converted):
        return graph.order
    found: list[Node] | None = graph.__dict__.get("_networkx_order")
    if found is None:
        found = graph.__dict__["_networkx_order"] = graph.ids.tolist()
    return found


class _Sessions:
    """The session of the graph that was used last: the backend's memory is that of one session.

    It ends with the graph, or when another graph is used. A run that another thread has begun keeps its own to its end.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._graph: weakref.ref[Graph] | None = None
        self._options: Mapping[str, Any] = {}
        self._native: Any = None

    def open(self, graph: Graph, options: Mapping[str, Any]) -> Session:
        with self._lock:
            native = self._native
            if native is None or self._graph is None or self._graph() is not graph or self._options != options:
                # The memory of the last one is free before the next one asks for its own.
                self._graph = self._native = native = None
                native = _native.RunSession(str(graph.path), graph._fingerprint, words(options))
                self._graph, self._options, self._native = weakref.ref(graph, self._forget), options, native
            return Session._over(graph, native, options)

    def _forget(self, graph: weakref.ref[Graph]) -> None:
        # Not under the lock: objects are collected at any time, also while this thread holds it.
        if self._graph is graph:
            self._native = None


_sessions = _Sessions()


def open_view(graph: Any, *, weight: str | None = None, device: str | None = None) -> View:
    """What a function needs of a graph, with these weights. ``device`` is for what only that one can compute."""
    if weight is not None and isinstance(graph, Converted):
        graph = graph.weighted(weight)
    given = {**config(), **({} if device is None else {"device": device})}
    options = {name: given[name] for name in ("memory", "device") if given[name] is not None}
    return View(graph, options)


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: Mapping[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    name: str | None = None,
    **_ignored: Any,
) -> Converted | Graph:
    """Makes a temporary store of a graph of NetworkX.

    Raises:
        NotImplementedError: more than one attribute is asked for, or weights that stores do not have.
    """
    if isinstance(graph, Graph | Converted):
        return graph
    if edge_attrs is not None and len(edge_attrs) > 1:
        raise NotImplementedError("stores have no attributes but one weight of each edge")
    attribute, default = next(iter(edge_attrs.items())) if edge_attrs else (None, None)
    with falling_back(name, "the conversion"):
        return Converted(graph, attribute, default, has_all=preserve_edge_attrs)


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """A graph as one of NetworkX, with all of it in memory; anything else as it is."""
    if not isinstance(result, Graph | Converted):
        return result
    graph = _empty(result)
    store = result if isinstance(result, Graph) else result.store
    if store is None:
        return graph
    order = _order(result)
    graph.add_nodes_from(result.nodes if isinstance(result, Converted) else order)
    source, dest, weight = store.edge_arrays()
    ends = ((order[a], order[b]) for a, b in zip(source.tolist(), dest.tolist(), strict=True))
    if weight is None:
        graph.add_edges_from(ends)
    else:
        graph.add_weighted_edges_from((a, b, w) for (a, b), w in zip(ends, weight.tolist(), strict=True))
    return graph


def _empty(graph: Graph | Converted) -> Any:
    return nx.DiGraph() if graph.is_directed() else nx.Graph()
