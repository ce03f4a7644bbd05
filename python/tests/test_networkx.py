"""The backend of NetworkX: its functions beside NetworkX's own, what it refuses, and what it converts."""

from collections.abc import Iterator
from typing import Any

import networkx as nx
import pytest

import topostream as ts
from topostream import networkx as backend
from topostream.networkx import _mapped

PLAIN = nx.relabel_nodes(nx.gnp_random_graph(120, 0.05, seed=1), lambda node: f"n{node}")
DIRECTED = nx.gnp_random_graph(120, 0.03, seed=2, directed=True)
WEIGHTED = nx.DiGraph()
WEIGHTED.add_weighted_edges_from((a, b, (a * 7 + b) % 9) for a, b in DIRECTED.edges)
ONE, OTHER = "n3", "n77"
BOTH: dict[str, list[tuple[Any, ...]]] = {
    "pagerank": [()],
    "katz_centrality": [(0.02,)],
    "eigenvector_centrality": [()],
    "hits": [()],
    "betweenness_centrality": [()],
    "degree_centrality": [()],
    "core_number": [()],
    "single_source_shortest_path_length": [("one",), ("one", 2)],
    "single_source_dijkstra_path_length": [("one",), ("one", 2)],
    "single_source_bellman_ford_path_length": [("one",)],
    "dijkstra_path_length": [("one", "other")],
    "bellman_ford_path_length": [("one", "other")],
    "shortest_path_length": [("one",), ("one", "other")],
    "has_path": [("one", "other")],
    "descendants": [("one",)],
    "ancestors": [("one",)],
    "descendants_at_distance": [("one", 2)],
}
UNDIRECTED: dict[str, list[tuple[Any, ...]]] = {
    "connected_components": [()],
    "number_connected_components": [()],
    "is_connected": [()],
    "node_connected_component": [("one",)],
    "triangles": [(), ("one",)],
    "clustering": [(), ("one",)],
    "average_clustering": [()],
    "transitivity": [()],
}
ONE_WAY: dict[str, list[tuple[Any, ...]]] = {
    "weakly_connected_components": [()],
    "number_weakly_connected_components": [()],
    "is_weakly_connected": [()],
    "strongly_connected_components": [()],
    "number_strongly_connected_components": [()],
    "is_strongly_connected": [()],
    "in_degree_centrality": [()],
    "out_degree_centrality": [()],
}
# NetworkX stops when a value changes by less than 1e-6.
TOLERANCES = {"pagerank": 1e-5, "hits": 1e-7, "katz_centrality": 1e-6, "eigenvector_centrality": 1e-5}
OF_STORES = {"ego_graph", "k_core"}
CASES = [
    *((graph, name, args) for graph in (PLAIN, DIRECTED) for name, calls in BOTH.items() for args in calls),
    *((PLAIN, name, args) for name, calls in UNDIRECTED.items() for args in calls),
    *((DIRECTED, name, args) for name, calls in ONE_WAY.items() for args in calls),
]


@pytest.fixture(autouse=True)
def configured() -> Iterator[None]:
    ignored = {*nx.config.warnings_to_ignore, "cache"}
    with nx.config.backends.topostream(memory="256MiB", device="cpu"), nx.config(warnings_to_ignore=ignored):
        yield


def close(found: Any, expected: Any, tolerance: float) -> bool:
    """Whether results are the same: sets of nodes in any order, numbers nearly."""
    if isinstance(expected, tuple):
        return all(close(one, other, tolerance) for one, other in zip(found, expected, strict=True))
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and found == pytest.approx(expected, abs=tolerance)
    if isinstance(expected, Iterator):
        return sorted(map(sorted, found)) == sorted(map(sorted, expected))
    return bool(found == (pytest.approx(expected) if isinstance(expected, float) else expected))


@pytest.mark.parametrize(("graph", "name", "args"), CASES)
def test_answers_are_those_of_networkx(graph: Any, name: str, args: tuple[Any, ...]) -> None:
    nodes = {"one": ONE, "other": OTHER} if graph is PLAIN else {"one": 3, "other": 77}
    given = [nodes.get(value, value) for value in args]
    function = getattr(nx, name)
    found = function(graph, *given, backend="topostream")
    assert close(found, function(graph, *given, backend="networkx"), TOLERANCES.get(name, 1e-9))


def test_every_function_has_a_case() -> None:
    assert set(backend.__all__) >= set(_mapped.FUNCTIONS)
    assert {name for _, name, _ in CASES} | # NetworkX stops when a value changes by less than 1e-6.
TOLERANCES = {"pagerank": 1e-5, "hits": 1e-7, "katz_centrality": 1e-6, "eigenvector_centrality": 1e-5}
OF_STORES == set(_mapped.FUNCTIONS)


def test_weights_count_where_they_are_asked_for() -> None:
    for name in ("single_source_dijkstra_path_length", "pagerank"):
        for weight in ("weight", None):
            function = getattr(nx, name)
            args = (3,) if name != "pagerank" else ()
            found = function(WEIGHTED, *args, weight=weight, backend="topostream")
            assert close(found, function(WEIGHTED, *args, weight=weight, backend="networkx"), 1e-5), (name, weight)


def test_walks_restart_at_the_nodes_asked_for() -> None:
    for starts in ({3: 1.0}, {3: 2, 77: 2, 78: 0}):
        given: dict[str, Any] = {"personalization": starts}
        found = nx.pagerank(DIRECTED, **given, backend="topostream")
        assert close(found, nx.pagerank(DIRECTED, **given, backend="networkx"), 1e-5)


@pytest.mark.parametrize("graph", [PLAIN, DIRECTED])
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("k", [None, 10, 120])
def test_betweenness_has_double_precision(graph: Any, k: int | None, normalized: bool) -> None:
    given: dict[str, Any] = {"k": k, "normalized": normalized, "seed": 5}
    found = nx.betweenness_centrality(graph, **given, backend="topostream")
    assert found == pytest.approx(nx.betweenness_centrality(graph, **given, backend="networkx"), rel=1e-10, abs=1e-12)


def test_a_store_is_a_graph_of_networkx(graph: ts.Graph, reference: nx.DiGraph) -> None:
    """Without naming the backend, and without a conversion."""
    node = next(iter(reference))
    assert len(graph) == len(reference)
    assert close(nx.pagerank(graph), nx.pagerank(reference), 1e-5)
    assert nx.descendants(graph, node) == nx.descendants(reference, node)
    assert nx.shortest_path_length(graph, node) == nx.shortest_path_length(reference, node)
    components = nx.weakly_connected_components(graph)
    assert close(components, nx.weakly_connected_components(reference), 0)


def test_parts_of_a_store_are_graphs_in_memory(graph: ts.Graph, reference: nx.DiGraph) -> None:
    reference = nx.DiGraph(edge for edge in reference.edges)
    node = max(reference, key=reference.out_degree)
    for undirected in (False, True):
        found = nx.ego_graph(graph, node, radius=1, undirected=undirected)
        assert nx.utils.graphs_equal(found, nx.ego_graph(reference, node, radius=1, undirected=undirected))
    numbers = nx.convert_node_labels_to_integers(PLAIN)
    converted = backend.convert_from_nx(numbers)
    store = converted.store
    for k in (None, 2):
        assert nx.utils.graphs_equal(nx.k_core(store, k), nx.k_core(numbers, k))


def test_what_is_not_there_is_an_error_of_networkx() -> None:
    for name, args, error in (
        ("single_source_shortest_path_length", ("no",), nx.NodeNotFound),
        ("single_source_dijkstra_path_length", ("no",), nx.NodeNotFound),
        ("dijkstra_path_length", (ONE, "no"), nx.NetworkXNoPath),
        ("shortest_path_length", (ONE, "no"), nx.NodeNotFound),
        ("has_path", (ONE, "no"), nx.NodeNotFound),
        ("descendants", ("no",), nx.NetworkXError),
        ("ancestors", ("no",), nx.NetworkXError),
        ("node_connected_component", ("no",), KeyError),
    ):
        for used in ("networkx", "topostream"):
            with pytest.raises(error):
                getattr(nx, name)(PLAIN, *args, backend=used)
    apart = nx.Graph([(0, 1), (2, 3)])
    with pytest.raises(nx.NetworkXNoPath):
        nx.shortest_path_length(apart, 0, 2, backend="topostream")
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(DIRECTED, max_iter=1, backend="topostream")


@pytest.mark.parametrize(
    ("graph", "name", "given", "reason"),
    [
        (DIRECTED, "pagerank", {"nstart": {0: 1}}, "`nstart` is not supported"),
        (DIRECTED, "pagerank", {"dangling": {0: 1}}, "`dangling` is not supported"),
        (DIRECTED, "pagerank", {"personalization": {0: 1, 1: 2}}, "different values"),
        (DIRECTED, "pagerank", {"tol": 1e-12}, "`tol` is below 1e-9"),
        (WEIGHTED, "pagerank", {"personalization": {0: 1}}, "with weights"),
        (WEIGHTED, "hits", {}, "ignores weights"),
        (WEIGHTED, "eigenvector_centrality", {"weight": "weight"}, "ignores weights"),
        (DIRECTED, "hits", {"normalized": False}, "`normalized` is false"),
        (DIRECTED, "clustering", {}, "directed"),
        (nx.MultiGraph(PLAIN), "triangles", {}, "multigraph"),
        (nx.Graph([(0, 0), (0, 1)]), "core_number", {}, "has loops"),
        (WEIGHTED, "betweenness_centrality", {"weight": "weight"}, "`weight` is not supported"),
        (PLAIN, "betweenness_centrality", {"endpoints": True}, "`endpoints`"),
        (PLAIN, "single_source_dijkstra_path_length", {"source": ONE, "weight": len}, "`weight` is a function"),
        (PLAIN, "shortest_path_length", {}, "`source` is not given"),
        (PLAIN, "ego_graph", {"n": ONE}, "attributes"),
        (PLAIN, "ego_graph", {"n": ONE, "radius": float("inf")}, "`radius` is not a whole number"),
        (PLAIN, "diameter", {}, "not mapped"),
        (PLAIN, "pagerank", {"no": 1}, "unexpected keyword"),
    ],
)
def test_reasons_are_given(graph: Any, name: str, given: dict[str, Any], reason: str) -> None:
    found = backend.can_run(name, (graph,), given)
    assert isinstance(found, str)
    assert reason in found


def test_small_graphs_are_not_converted_by_themselves() -> None:
    graph = nx.DiGraph(DIRECTED)
    found = backend.should_run("pagerank", (graph,), {})
    assert isinstance(found, str)
    assert f"the graph has {graph.number_of_edges()}" in found
    with nx.config.backends.topostream(min_edges=10):
        assert backend.should_run("pagerank", (graph,), {}) is True
        assert backend.should_run("is_connected", (graph,), {}) == "a conversion takes longer than the function"
    nx.pagerank(graph, backend="topostream")
    assert backend.should_run("pagerank", (graph,), {}) is True
    assert backend.should_run("is_connected", (graph,), {}) is True
    assert backend.should_run("pagerank", (backend.convert_from_nx(DIRECTED),), {}) is True


def test_large_graphs_are_converted_without_naming_the_backend() -> None:
    """What `NETWORKX_BACKEND_PRIORITY=topostream` does: calls that are refused fall back."""
    graph = nx.Graph(PLAIN)
    with nx.config(backend_priority=["topostream"]), nx.config.backends.topostream(min_edges=10):
        assert close(nx.pagerank(graph), nx.pagerank(graph, backend="networkx"), 1e-5)
        assert graph.__networkx_cache__["backends"]["topostream"]
        assert nx.diameter(graph.subgraph(max(nx.connected_components(graph), key=len))) > 2
        assert sum(nx.pagerank(graph, dangling={ONE: 1}).values()) == pytest.approx(1)
        assert isinstance(nx.k_core(graph), nx.Graph)
    small = nx.Graph(PLAIN)
    with nx.config(backend_priority=["topostream"]):
        nx.pagerank(small)
    assert not small.__networkx_cache__


def test_conversions_are_kept_and_deleted(tmp_path: Any) -> None:
    graph = nx.Graph(PLAIN)
    with nx.config.backends.topostream(folder=str(tmp_path)):
        for _ in range(2):
            nx.pagerank(graph, backend="topostream")
            assert len(list(tmp_path.iterdir())) == 1
        graph.__networkx_cache__.clear()
        assert not list(tmp_path.iterdir())


def test_conversions_and_back() -> None:
    for graph in (PLAIN, DIRECTED, nx.empty_graph(3), nx.Graph(), nx.DiGraph([(0, 0), (0, 1)])):
        again = backend.convert_to_nx(backend.convert_from_nx(graph))
        assert nx.utils.graphs_equal(again, graph)
    weights = {"weight": 1}
    again = backend.convert_to_nx(backend.convert_from_nx(WEIGHTED, edge_attrs=weights))
    assert nx.utils.graphs_equal(again, WEIGHTED)


def test_weights_without_a_type_are_refused() -> None:
    for weight, text in ((0.5, "not whole"), (-1, "negative"), (2**31, "or more"), ("a", "not numbers")):
        graph = nx.Graph()
        graph.add_edge(0, 1, weight=weight)
        with pytest.raises(NotImplementedError, match=text):
            backend.convert_from_nx(graph, edge_attrs={"weight": 1})
