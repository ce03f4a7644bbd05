"""The backend for NetworkX: its functions over stores, and over graphs of NetworkX that are converted for a call.

NetworkX finds it by the entry point ``networkx.backends``. A function is here only if its definition is NetworkX's;
:func:`can_run` says why a call is left to NetworkX. ``docs/networkx.md`` has the list.
"""

from __future__ import annotations

import inspect
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

import networkx as nx
import numpy as np

from .graph import Graph, from_edges
from .result import Result
from .session import Session

__all__ = ["Converted", "can_run", "convert_from_nx", "convert_to_nx", "should_run"]

NAME: Final = "topostream"
Node = Any
"""A node: any hashable object; of a store, an original id."""
Reason = bool | str
"""True, or why not."""


class Converted:
    """A graph of NetworkX as a temporary store, which is deleted with this object. Nodes keep their objects."""

    __networkx_backend__ = NAME

    def __init__(self, graph: Any, attribute: str | None, default: Any) -> None:
        self.nodes: list[Node] = list(graph)
        self.index: dict[Node, int] = dict(zip(self.nodes, range(len(self.nodes)), strict=True))
        self.directed: bool = graph.is_directed()
        self.multigraph: bool = graph.is_multigraph()
        source, dest, weights = _edges_of(graph, self.index, attribute, default)
        self.edges = len(source)
        self.loops = bool(np.any(source == dest))
        self.store: Graph | None = None if not self.nodes else _store(self, source, dest, weights)

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


def _config() -> Mapping[str, Any]:
    found = getattr(nx.config.backends, NAME, None)
    names = ("memory", "device", "folder", "min_edges")
    return {name: getattr(found, name, None) for name in names}


def _edges_of(graph: Any, index: Mapping[Node, int], attribute: str | None, default: Any) -> tuple[Any, Any, Any]:
    """Sources, destinations and weights; an undirected edge once. Weights of 1 are none."""
    if graph.is_multigraph() or attribute is not None:
        listed = list(graph.edges(data=attribute, default=default)) if attribute else list(graph.edges())
        source = np.fromiter((index[edge[0]] for edge in listed), np.int64, len(listed))
        dest = np.fromiter((index[edge[1]] for edge in listed), np.int64, len(listed))
        return source, dest, _weights([edge[2] for edge in listed] if attribute else [])
    lists = graph._adj.values()
    lengths = np.fromiter(map(len, lists), np.int64, len(index))
    source = np.repeat(np.arange(len(index)), lengths)
    dest = np.fromiter(map(index.__getitem__, chain.from_iterable(lists)), np.int64, len(source))
    if not graph.is_directed():
        once = source <= dest
        source, dest = source[once], dest[once]
    return source, dest, None


def _weights(weights: list[Any]) -> Any:
    """Weights as an array, if there are any but 1.

    Raises:
        NotImplementedError: the store has no type for them.
    """
    if all(weight == 1 for weight in weights):
        return None
    array = np.asarray(weights)
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise NotImplementedError("weights are not numbers")
    if array.dtype.kind == "f" and np.all(array == np.floor(array)) and np.all(np.abs(array) < 2**53):
        array = array.astype(np.int64)
    if array.dtype.kind == "f":
        raise NotImplementedError("weights are not whole numbers, and stores have single precision")
    if array.min() < 0 or array.max() >= 2**31:
        raise NotImplementedError("weights are negative, or 2^31 or more")
    return array.astype(np.uint32)


def _store(graph: Converted, source: Any, dest: Any, weights: Any) -> Graph:
    folder = tempfile.TemporaryDirectory(prefix="topostream-", dir=_config()["folder"])
    arrays = (source, dest) if weights is None else (source, dest, weights)
    kind: dict[str, Any] = {"in_edges": True} if graph.directed else {"symmetrize": True}
    made = from_edges(arrays, f"{folder.name}/store", ids=len(graph.nodes), order="natural", **kind)
    weakref.finalize(graph, folder.cleanup)
    return made


class _View:
    """What functions need of a graph: its store, a session, its nodes in the order of results."""

    def __init__(self, graph: Graph | Converted) -> None:
        store = graph if isinstance(graph, Graph) else graph.store
        assert store is not None, "the null graph has no store"
        self.store = store
        self.directed = store.directed
        self.index = graph.index if isinstance(graph, Converted) else None
        self.order: list[Node] = store.ids.tolist()
        if isinstance(graph, Converted):
            self.order = [graph.nodes[number] for number in self.order]
        given = {name: _config()[name] for name in ("memory", "device")}
        options = {name: value for name, value in given.items() if value is not None}
        self.session = Session(store, **options)

    def id(self, node: Node) -> Any:
        """The store's id of a node."""
        if self.index is not None:
            return self.index[node]
        return node

    def has(self, node: Node) -> bool:
        try:
            if self.index is not None:
                return node in self.index
            return bool(np.any(self.store.ids == node))
        except TypeError:
            return False

    def by_node(self, values: Any) -> dict[Node, Any]:
        return dict(zip(self.order, values.tolist(), strict=True))

    def where(self, chosen: Any) -> Iterator[Node]:
        """The nodes for which a column of booleans is true."""
        return (self.order[number] for number in np.flatnonzero(chosen).tolist())

    def parts(self, result: Result) -> list[set[Node]]:
        """The sets of nodes with the same component."""
        labels = result.numbers("component")
        order = np.argsort(labels, kind="stable")
        bounds = np.flatnonzero(np.diff(labels[order])) + 1
        return [{self.order[number] for number in part.tolist()} for part in np.split(order, bounds)]


_views: weakref.WeakKeyDictionary[Any, _View] = weakref.WeakKeyDictionary()


def _view(graph: Any) -> _View:
    """The open view of a graph; views keep sessions open as long as the graph lives."""
    key = graph
    found = _views.get(key)
    if found is None:
        found = _views[key] = _View(graph)
    return found


Check = Callable[[Any, Mapping[str, Any]], Reason]
_checks: dict[str, tuple[inspect.Signature, Check]] = {}


def _always(graph: Any, given: Mapping[str, Any]) -> Reason:
    return True


def _mapped(check: Check = _always) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds a function to the backend, with what says whether it can run. The null graph is left to NetworkX."""

    def take(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        _checks[name] = (inspect.signature(function), check)

        def call(G: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N803 - NetworkX's name
            if isinstance(G, Converted) and not G.nodes:
                null = nx.DiGraph() if G.directed else nx.Graph()
                return getattr(nx, name).orig_func(null, *args, **kwargs)
            return function(G, *args, **kwargs)

        call.__name__, call.__doc__ = name, function.__doc__
        __all__.append(name)
        return call

    return take


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Reason:
    """Whether a call can run here, or why not."""
    if name not in _checks:
        return "it is not mapped"
    signature, check = _checks[name]
    try:
        given = signature.bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    given.apply_defaults()
    return check(given.arguments["G"], given.arguments)


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Reason:
    """Whether a call that can run is worth a conversion, or why not."""
    graph = args[0] if args else kwargs.get("G")
    if graph is None or getattr(graph, "__networkx_backend__", None) == NAME:
        return True
    cache = getattr(graph, "__networkx_cache__", None)
    if cache and cache.get("backends", {}).get(NAME):
        return True
    least = _config()["min_edges"] or 0
    edges = graph.number_of_edges()
    return True if edges >= least else f"a conversion pays from {least} edges on, and the graph has {edges}"


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
    if preserve_edge_attrs or preserve_node_attrs or (edge_attrs is not None and len(edge_attrs) > 1):
        raise NotImplementedError("stores have no attributes but one weight of each edge")
    attribute, default = next(iter(edge_attrs.items())) if edge_attrs else (None, None)
    return Converted(graph, attribute, default)


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """A graph as one of NetworkX, with all of it in memory; anything else as it is."""
    if not isinstance(result, Graph | Converted):
        return result
    graph = nx.DiGraph() if result.is_directed() else nx.Graph()
    if isinstance(result, Converted) and result.store is None:
        return graph
    view = _view(result)
    graph.add_nodes_from(result.nodes if isinstance(result, Converted) else view.order)
    source, dest, weight = view.store.edge_arrays()
    ends = ((view.order[a], view.order[b]) for a, b in zip(source.tolist(), dest.tolist(), strict=True))
    if weight is None:
        graph.add_edges_from(ends)
    else:
        graph.add_weighted_edges_from((a, b, w) for (a, b), w in zip(ends, weight.tolist(), strict=True))
    return graph


OTHERWISE: Final = {
    "test_condensation_mapping_and_members": "expects components in the order in which NetworkX finds them",
}
"""Tests of NetworkX that ask for more than its documentation promises, and why they fail here."""


def on_start_tests(items: Iterable[Any]) -> None:
    """Marks tests of NetworkX that fail here: it calls this before it runs them."""
    import pytest

    for item in items:
        reason = OTHERWISE.get(item.name)
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason))


# ---- checks


def _attribute(given: Mapping[str, Any], name: str = "weight") -> Reason:
    weight = given.get(name)
    return True if weight is None or isinstance(weight, str) else f"`{name}` is a function"


def _unweighted(graph: Any, given: Mapping[str, Any]) -> Reason:
    """Only the graph's own weights, if there are any, tell whether they matter."""
    if given.get("weight") is None:
        return True
    if isinstance(graph, Graph):
        return "the algorithm ignores weights, and the store has some" if graph.weights else True
    if isinstance(graph, Converted):
        return True
    weight = given["weight"]
    if not isinstance(weight, str):
        return "`weight` is a function"
    plain = all(found == 1 for _, _, found in graph.edges(data=weight, default=1))
    return True if plain else "the algorithm ignores weights, and edges have some"


def _none(*names: str) -> Check:
    def check(graph: Any, given: Mapping[str, Any]) -> Reason:
        found = [name for name in names if given.get(name) is not None]
        return f"`{found[0]}` is not supported" if found else True

    return check


def _all(*checks: Check) -> Check:
    def check(graph: Any, given: Mapping[str, Any]) -> Reason:
        return next((found for one in checks if (found := one(graph, given)) is not True), True)

    return check


def _simple(graph: Any, given: Mapping[str, Any]) -> Reason:
    """Undirected, and without repeated edges."""
    if graph.is_directed():
        return "the graph is directed"
    return "the graph is a multigraph" if graph.is_multigraph() else True


def _no_loops(graph: Any, given: Mapping[str, Any]) -> Reason:
    if isinstance(graph, Graph | Converted):
        return True
    return "the graph has loops" if nx.number_of_selfloops(graph) else True


def _pagerank_fits(graph: Any, given: Mapping[str, Any]) -> Reason:
    starts = given["personalization"]
    if starts is not None:
        chosen = [node for node, value in starts.items() if value]
        if len({starts[node] for node in chosen}) != 1:
            return "`personalization` has different values: walks restart at any of the nodes alike"
        if given["weight"] is not None and _unweighted(graph, given) is not True:
            return "`personalization` of a graph with weights"
    if not 0 <= given["alpha"] <= 1:
        return "`alpha` is not between 0 and 1"
    if given["tol"] < 1e-9:
        return "`tol` is below 1e-9: sums have 63 bits, and base ranks are in single precision"
    return _attribute(given)


# ---- links


@_mapped(_all(_none("nstart", "dangling"), _pagerank_fits))
def pagerank(
    G: Any,  # noqa: N803
    alpha: float = 0.85,
    personalization: Mapping[Node, float] | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Any = None,
    weight: str | None = "weight",
    dangling: Any = None,
) -> dict[Node, float]:
    """PageRank; ``tol`` is at least 1e-7 over all nodes."""
    view = _view(G)
    tolerance = max(len(view.order) * tol, 1e-7)
    options: dict[str, Any] = {"damping": alpha, "tolerance": min(tolerance, 1.0), "max_iterations": max_iter}
    if personalization is not None:
        seeds = [node for node, value in personalization.items() if value and view.has(node)]
        if not seeds:
            raise ZeroDivisionError
        result = view.session.run("personalized-pagerank", source=[view.id(node) for node in seeds], **options)
    elif weight is not None and view.store.weights is not None:
        result = view.session.run("pagerank", weights=True, **options)
    else:
        result = view.session.run("pagerank", **options)
    _converged(result, max_iter)
    ranks = result["rank"]
    return view.by_node(ranks / ranks.sum())


def _converged(result: Result, limit: int) -> None:
    if not result.summary["convergence"]["converged"]:
        raise nx.PowerIterationFailedConvergence(limit)


@_mapped(_all(_none("nstart"), _unweighted))
def eigenvector_centrality(
    G: Any,  # noqa: N803
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Any = None,
    weight: str | None = None,
) -> dict[Node, float]:
    """Eigenvector centrality."""
    view = _view(G)
    result = view.session.run("eigenvector", tolerance=tol, max_iterations=max_iter)
    _converged(result, max_iter)
    return view.by_node(result["centrality"])


def _katz_fits(graph: Any, given: Mapping[str, Any]) -> Reason:
    if not isinstance(given["beta"], int | float):
        return "`beta` differs between nodes"
    return True if given["normalized"] else "`normalized` is false: values are scaled to a norm of 1"


@_mapped(_all(_none("nstart"), _katz_fits, _unweighted))
def katz_centrality(
    G: Any,  # noqa: N803
    alpha: float = 0.1,
    beta: float = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    nstart: Any = None,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Node, float]:
    """Katz centrality."""
    view = _view(G)
    result = view.session.run("katz", alpha=alpha, beta=beta, tolerance=tol, max_iterations=max_iter)
    _converged(result, max_iter)
    return view.by_node(result["centrality"])


# ---- distances


def _source(view: _View, source: Node) -> Any:
    if not view.has(source):
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return view.id(source)


@_mapped()
def single_source_shortest_path_length(
    G: Any,  # noqa: N803
    source: Node,
    cutoff: float | None = None,
) -> dict[Node, int]:
    """Hops from a node, nearest first."""
    view = _view(G)
    levels = view.session.run("bfs", source=_source(view, source))["level"]
    reached = levels >= 0 if cutoff is None else (levels >= 0) & (levels <= cutoff)
    return _nearest_first(view, levels, reached)


def _nearest_first(view: _View, distances: Any, reached: Any) -> dict[Node, Any]:
    found = np.flatnonzero(reached)
    found = found[np.argsort(distances[found], kind="stable")]
    numbers = distances[found].tolist()
    return {view.order[vertex]: number for vertex, number in zip(found.tolist(), numbers, strict=True)}


def _lengths_fit(graph: Any, given: Mapping[str, Any]) -> Reason:
    if isinstance(graph, Graph) and graph.weights == "f32":
        return "the store has weights in single precision"
    return _attribute(given)


@_mapped(_lengths_fit)
def single_source_dijkstra_path_length(
    G: Any,  # noqa: N803
    source: Node,
    cutoff: float | None = None,
    weight: str | None = "weight",
) -> dict[Node, int]:
    """Distances from a node by whole weights, nearest first."""
    view = _view(G)
    start = _source(view, source)
    if weight is None or view.store.weights is None:
        distances = view.session.run("bfs", source=start)["level"]
    else:
        distances = view.session.run("sssp", source=start)["distance"]
    reached = distances >= 0 if cutoff is None else (distances >= 0) & (distances <= cutoff)
    return _nearest_first(view, distances, reached)


@_mapped(_lengths_fit)
def single_source_bellman_ford_path_length(
    G: Any,  # noqa: N803
    source: Node,
    weight: str | None = "weight",
) -> dict[Node, int]:
    """Distances from a node by whole weights that are not negative, nearest first."""
    found: dict[Node, int] = single_source_dijkstra_path_length(G, source, None, weight)
    return found


def _within(view: _View, source: Node, direction: str) -> set[Node]:
    if not view.has(source):
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    options: dict[str, Any] = {"source": view.id(source), "hops": 2**32 - 2, "direction": direction}
    levels = view.session.run("neighbourhood", **options)["level"]
    return set(view.where(levels > 0))


@_mapped()
def descendants(G: Any, source: Node) -> set[Node]:  # noqa: N803
    """The nodes that can be reached from one."""
    return _within(_view(G), source, "out")


@_mapped()
def ancestors(G: Any, source: Node) -> set[Node]:  # noqa: N803
    """The nodes from which one can be reached."""
    view = _view(G)
    return _within(view, source, "in" if view.directed else "out")


@_mapped()
def descendants_at_distance(G: Any, source: Node, distance: int) -> set[Node]:  # noqa: N803
    """The nodes at this number of hops from one."""
    view = _view(G)
    if not view.has(source):
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    levels = view.session.run("bfs", source=view.id(source))["level"]
    return set(view.where(levels == distance))


# ---- components


def _components(G: Any, algorithm: str) -> list[set[Node]]:  # noqa: N803
    view = _view(G)
    return view.parts(view.session.run(algorithm))


@_mapped()
def connected_components(G: Any) -> Iterator[set[Node]]:  # noqa: N803
    """The connected components of an undirected graph, as sets of nodes."""
    yield from _components(G, "components")


@_mapped()
def number_connected_components(G: Any) -> int:  # noqa: N803
    """The number of connected components."""
    return len(_components(G, "components"))


@_mapped()
def is_connected(G: Any) -> bool:  # noqa: N803
    """Whether an undirected graph is connected."""
    return len(_components(G, "components")) == 1


@_mapped()
def node_connected_component(G: Any, n: Node) -> set[Node]:  # noqa: N803
    """The component of a node."""
    view = _view(G)
    if not view.has(n):
        raise KeyError(n)
    levels = view.session.run("bfs", source=view.id(n))["level"]
    return set(view.where(levels >= 0))


@_mapped()
def weakly_connected_components(G: Any) -> Iterator[set[Node]]:  # noqa: N803
    """The weakly connected components of a directed graph, as sets of nodes."""
    yield from _components(G, "components")


@_mapped()
def number_weakly_connected_components(G: Any) -> int:  # noqa: N803
    """The number of weakly connected components."""
    return len(_components(G, "components"))


@_mapped()
def is_weakly_connected(G: Any) -> bool:  # noqa: N803
    """Whether a directed graph is weakly connected."""
    return len(_components(G, "components")) == 1


@_mapped()
def strongly_connected_components(G: Any) -> Iterator[set[Node]]:  # noqa: N803
    """The strongly connected components of a directed graph, as sets of nodes, in no particular order."""
    yield from _components(G, "scc")


@_mapped()
def number_strongly_connected_components(G: Any) -> int:  # noqa: N803
    """The number of strongly connected components."""
    return len(_components(G, "scc"))


@_mapped()
def is_strongly_connected(G: Any) -> bool:  # noqa: N803
    """Whether every node of a directed graph reaches every other."""
    return len(_components(G, "scc")) == 1


# ---- cores and triangles


@_mapped(_no_loops)
def core_number(G: Any) -> dict[Node, int]:  # noqa: N803
    """The largest k such that a node is in the k-core."""
    view = _view(G)
    return view.by_node(view.session.run("kcore")["core"])


def _of(view: _View, values: Any, nodes: Any) -> Any:
    """The values of all nodes, of some, or of one."""
    found = view.by_node(values)
    if nodes is None:
        return found
    if view.has(nodes):
        return found[nodes]
    return {node: found[node] for node in nodes if node in found}


@_mapped(_simple)
def triangles(G: Any, nodes: Any = None) -> Any:  # noqa: N803
    """The number of triangles of each node."""
    view = _view(G)
    return _of(view, view.session.run("clustering")["triangles"], nodes)


@_mapped(_all(_simple, _none("weight")))
def clustering(G: Any, nodes: Any = None, weight: str | None = None) -> Any:  # noqa: N803
    """The share of the pairs of a node's neighbours that have an edge between them."""
    view = _view(G)
    return _of(view, view.session.run("clustering")["coefficient"], nodes)


@_mapped(_all(_simple, _none("weight", "nodes")))
def average_clustering(
    G: Any,  # noqa: N803
    nodes: Any = None,
    weight: str | None = None,
    count_zeros: bool = True,
) -> float:
    """The mean of the clustering coefficients."""
    view = _view(G)
    values = view.session.run("clustering")["coefficient"]
    chosen = values if count_zeros else values[values > 0]
    return float(np.mean(chosen)) if len(chosen) else float(sum(chosen) / len(chosen.tolist()))


# ---- degrees


def _degrees(G: Any, *names: str) -> dict[Node, float]:  # noqa: N803
    view = _view(G)
    vertices = len(view.order)
    if vertices <= 1:
        return dict.fromkeys(view.order, 1)
    found = view.session.run("degrees")
    return view.by_node(sum(found[name] for name in names) * (1.0 / (vertices - 1.0)))


@_mapped(_no_loops)
def degree_centrality(G: Any) -> dict[Node, float]:  # noqa: N803
    """The share of the other nodes that a node has an edge with."""
    return _degrees(G, *(("out_degree", "in_degree") if G.is_directed() else ("degree",)))


@_mapped()
def in_degree_centrality(G: Any) -> dict[Node, float]:  # noqa: N803
    """The share of the other nodes that have an edge to a node."""
    return _degrees(G, "in_degree")


@_mapped()
def out_degree_centrality(G: Any) -> dict[Node, float]:  # noqa: N803
    """The share of the other nodes that a node has an edge to."""
    return _degrees(G, "out_degree")
