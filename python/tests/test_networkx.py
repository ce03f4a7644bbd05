"""The backend of NetworkX: its functions beside NetworkX's own, what it refuses, and what it converts."""

import concurrent.futures
import contextlib
import gc
import multiprocessing
import os
import subprocess
import sys
import tempfile
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest

import topostream as ts
from topostream import networkx as backend
from topostream.networkx import _graph, _mapped

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
    "single_source_shortest_path_length": [("one",), ("one", 2), ("one", 0.5), ("one", -1)],
    "single_target_shortest_path_length": [("other",), ("other", 2)],
    "single_source_dijkstra_path_length": [("one",), ("one", 2)],
    "single_source_bellman_ford_path_length": [("one",)],
    "dijkstra_path_length": [("one", "other")],
    "bellman_ford_path_length": [("one", "other")],
    "shortest_path_length": [("one",), ("one", "other")],
    "has_path": [("one", "other")],
    "descendants": [("one",)],
    "ancestors": [("one",)],
    "descendants_at_distance": [("one", 2)],
    "ego_graph": [("one",), ("one", 2), ("one", 1.5), ("one", 0), ("one", float("inf")), ("one", 1, False, True)],
    "k_core": [(), (2,), (99,)],
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
    "attracting_components": [()],
    "number_attracting_components": [()],
    "is_attracting_component": [()],
    "in_degree_centrality": [()],
    "out_degree_centrality": [()],
}
# NetworkX stops when a value changes by less than 1e-6.
TOLERANCES = {"pagerank": 1e-5, "hits": 1e-7, "katz_centrality": 1e-6, "eigenvector_centrality": 1e-5}
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
    if isinstance(expected, nx.Graph):
        return bool(nx.utils.graphs_equal(found, expected)) and type(found) is type(expected)
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
    # Their answers are not NetworkX's own: test_communities.py.
    communities = {"louvain_communities", "leiden_communities"}
    assert {name for _, name, _ in CASES} == set(_mapped.FUNCTIONS) - communities


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


def test_ranks_far_from_the_seeds_are_not_zero() -> None:
    """`tol` is multiplied by the number of nodes, so that of a large graph it says little."""
    path = nx.path_graph(40, create_using=nx.DiGraph)
    exact = nx.pagerank(path, personalization={0: 1}, tol=1e-14, max_iter=1000, backend="networkx")
    for graph in (path, ts.from_edges(path, in_edges=True)):
        for tol in (1e-6, 0.1):
            found = nx.pagerank(graph, personalization={0: 1}, tol=tol, backend="topostream")
            assert min(found.values()) > 0
            assert found == pytest.approx(exact, rel=1e-3)


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


class Coloured(nx.DiGraph):
    """A class of a user's own."""


def test_parts_of_a_graph_in_memory_keep_its_attributes() -> None:
    """Also where the conversion is kept, and serves functions that read weights."""
    graph = Coloured(WEIGHTED, name="all")
    graph.nodes[3]["colour"] = "red"
    graph.edges[next(iter(graph.edges))]["kind"] = "new"
    for name, args in (("ego_graph", (3, 2)), ("k_core", (2,))):
        found = getattr(nx, name)(graph, *args, backend="topostream")
        expected = getattr(nx, name)(graph, *args, backend="networkx")
        assert close(found, expected, 0) and found.graph == expected.graph and isinstance(found, Coloured)
        found.add_edge(-1, -2)
    assert -1 not in graph
    [kept] = graph.__networkx_cache__["backends"]["topostream"].values()
    assert kept.store.weights is None
    for function in (nx.single_source_dijkstra_path_length, nx.shortest_path_length):
        found = function(graph, 3, weight="weight", backend="topostream")
        assert found == function(graph, 3, weight="weight", backend="networkx")
        assert found != function(graph, 3, weight=None, backend="networkx")
    found = nx.pagerank(graph, backend="topostream")
    assert close(found, nx.pagerank(graph, backend="networkx"), 1e-5)
    reason = backend.can_run("hits", (kept,), {})
    assert isinstance(reason, str) and "ignores weights" in reason


def test_graphs_are_freed_with_their_last_reference(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that NetworkX has used, what is converted, and stores that functions make for themselves."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gc.disable()
    try:
        store = ts.from_edges(([0, 1, 2, 2], [1, 2, 0, 3]), in_edges=True)
        assert len(nx.ego_graph(store, 0, radius=2)) == 3 and len(nx.k_core(store, 1)) == 4
        nx.pagerank(store)
        kept = [path for path in tmp_path.iterdir() if path.is_dir()]
        assert kept == [store.path.parent], "ego_graph and k_core leave nothing"
        alive = weakref.ref(store)
        del store
        assert alive() is None
        graph = nx.Graph(PLAIN)
        nx.ego_graph(graph, ONE, backend="topostream")
        nx.pagerank(graph, backend="topostream")
        del graph
    finally:
        gc.enable()
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_one_session_has_the_memory_of_the_backend() -> None:
    first, second = (backend.convert_from_nx(graph) for graph in (DIRECTED, PLAIN))
    for graph in (first, second, first):
        nx.pagerank(graph)
        kept = _graph._sessions._graph
        assert kept is not None and kept() is graph.store
    native = _graph._sessions._native
    nx.pagerank(first)
    assert _graph._sessions._native is native, "the next call reads the same pages"
    del graph, first
    assert _graph._sessions._native is None


def test_threads_use_graphs_at_the_same_time() -> None:
    graphs = [backend.convert_from_nx(graph) for graph in (DIRECTED, PLAIN)] * 4
    expected = [nx.pagerank(graph) for graph in graphs]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(nx.pagerank, graphs))
    assert found == expected


def test_loops_and_repeated_edges_of_a_store_are_seen(tmp_path: Any) -> None:
    for undirected in (False, True):
        for encoding in ("packed", "vertex-id"):
            stores = {
                of: ts.from_edges(edges, symmetrize=undirected, in_edges=not undirected, encoding=encoding)
                for of, edges in {
                    "plain": ([0, 1, 2], [1, 2, 0]),
                    "loops": ([0, 1, 2, 2], [1, 2, 0, 2]),
                    "repeated": ([0, 1, 2, 0], [1, 2, 0, 1]),
                }.items()
            }
            assert {of: store.is_multigraph() for of, store in stores.items()} == {
                "plain": False,
                "loops": False,
                "repeated": True,
            }
            for name in ("core_number", "k_core", "degree_centrality"):
                assert backend.can_run(name, (stores["plain"],), {}) is True
                assert backend.can_run(name, (stores["loops"],), {}) == "the graph has loops"
            for name in ("core_number", "k_core", "betweenness_centrality", "katz_centrality"):
                assert backend.can_run(name, (stores["repeated"],), {}) == "the graph is a multigraph"
            with pytest.raises(nx.NetworkXNotImplemented, match="multigraph"):
                nx.core_number(stores["repeated"])
            multi = (nx.MultiGraph if undirected else nx.MultiDiGraph)([(0, 1), (1, 2), (2, 0), (0, 1)])
            for name in ("degree_centrality", "pagerank"):
                assert close(getattr(nx, name)(stores["repeated"]), getattr(nx, name)(multi), 1e-5)
    for name in ("triangles", "clustering", "average_clustering", "transitivity"):
        assert backend.can_run(name, (stores["repeated"],), {}) == "the graph is a multigraph"


def test_betweenness_is_computed_on_cpus_where_a_gpu_is_configured() -> None:
    if not ts.devices()["adapters"]:
        pytest.skip("no adapter")
    with nx.config.backends.topostream(device="0", memory="512MiB"):
        found = nx.betweenness_centrality(DIRECTED, backend="topostream")
        assert close(found, nx.betweenness_centrality(DIRECTED, backend="networkx"), 1e-10)
        assert close(nx.pagerank(DIRECTED, backend="topostream"), nx.pagerank(DIRECTED, backend="networkx"), 1e-5)


def test_a_program_that_does_not_know_of_the_backend_uses_it_by_one_variable() -> None:
    program = """if True:
    import networkx as nx
    graph = nx.gnm_random_graph(20_000, 110_000, seed=1)
    small = nx.gnm_random_graph(200, 1_100, seed=1)
    print(len(nx.pagerank(graph)), len(nx.pagerank(small)), nx.diameter(nx.path_graph(5)))
    print([bool(of.__networkx_cache__.get("backends")) for of in (graph, small)])
    """
    for variable, expected in (("topostream", "[True, False]"), (None, "[False, False]")):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NETWORKX_")}
        if variable is not None:
            environment["NETWORKX_BACKEND_PRIORITY"] = variable
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == ["20000 200 4", expected], done.stderr


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
        ("single_target_shortest_path_length", ("no",), nx.NodeNotFound),
        ("ego_graph", ("no",), nx.NodeNotFound),
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
        (DIRECTED, "pagerank", {"alpha": 1.0}, "`alpha`"),
        (DIRECTED, "pagerank", {"alpha": None}, "TypeError"),
        (DIRECTED, "pagerank", {"personalization": [0]}, "AttributeError"),
        (DIRECTED, "katz_centrality", {"tol": 1e-8}, "`tol`"),
        (DIRECTED, "eigenvector_centrality", {"tol": 1e-8}, "`tol`"),
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
        (PLAIN, "ego_graph", {"n": ONE, "distance": "weight"}, "`distance` is not supported"),
        (PLAIN, "ego_graph", {"n": ONE, "radius": "far"}, "`radius` is not a number"),
        (PLAIN, "k_core", {"core_number": {}}, "`core_number` is not supported"),
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
    with nx.config.backends.topostream(min_edges=graph.number_of_edges() // 2):
        assert backend.should_run("pagerank", (graph,), {}) is True
        assert "pays from" in str(backend.should_run("dijkstra_path_length", (graph, 1, 2), {}))
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
        assert close(nx.k_core(graph), nx.k_core(graph, backend="networkx"), 0)
    small = nx.Graph(PLAIN)
    with nx.config(backend_priority=["topostream"]):
        nx.pagerank(small)
    assert not small.__networkx_cache__


@contextlib.contextmanager
def chosen() -> Iterator[None]:
    """As by `NETWORKX_BACKEND_PRIORITY`. NetworkX 3.4 does not restore its configuration by itself."""
    priority = nx.config.backend_priority
    before = list(priority.algos)
    priority.algos = ["topostream"]
    try:
        with nx.config.backends.topostream(min_edges=10):
            yield
    finally:
        priority.algos = before


def test_what_ends_in_an_error_is_answered_by_networkx(recwarn: pytest.WarningsRecorder) -> None:
    """Where the backend is chosen by the configuration. Power iteration takes long on a path; NetworkX's `hits` asks
    SciPy for singular vectors."""
    path = nx.power(nx.path_graph(80), 2)
    with chosen():
        assert close(nx.pagerank(DIRECTED, alpha=1.0), nx.pagerank(DIRECTED, alpha=1.0, backend="networkx"), 1e-5)
        found = nx.katz_centrality(DIRECTED, 0.02, tol=1e-8)
        assert close(found, nx.katz_centrality(DIRECTED, 0.02, tol=1e-8, backend="networkx"), 1e-7)
        assert not any(issubclass(one.category, ts.TopostreamWarning) for one in recwarn), "these are not tried"
        with pytest.warns(ts.FallbackWarning, match="hits by topostream: .*converge.*; NetworkX answers it") as caught:
            found = nx.hits(path)
        assert caught[0].filename == __file__
    assert close(found, nx.hits(path, backend="networkx"), 1e-6)


@pytest.mark.parametrize(
    ("settings", "error"), [({"memory": "1MiB"}, ts.BudgetError), ({"folder": "/no/such/folder"}, ts.FileError)]
)
def test_a_machine_without_room_leaves_calls_to_networkx(settings: dict[str, str], error: type[Exception]) -> None:
    names = ("pagerank", "core_number", "connected_components", "strongly_connected_components")
    with nx.config.backends.topostream(**settings):
        for name in names:
            graph = nx.Graph(PLAIN) if name in ("core_number", "connected_components") else nx.DiGraph(DIRECTED)
            _mapped._passes.discard(name)
            function, expected = getattr(nx, name), getattr(nx, name)(graph, backend="networkx")
            with chosen(), pytest.warns(ts.FallbackWarning, match=error.__name__):
                assert close(function(graph), expected, 1e-5)
            with pytest.raises(error):
                function(graph.copy(), backend="topostream")


def _ranked_in_a_fork(graph: Any, queue: Any) -> None:
    with chosen(), warnings.catch_warnings():
        # It is not tried: neither of a graph that was converted before the fork, nor of a new one.
        warnings.simplefilter("error", ts.TopostreamWarning)
        reasons = [backend.should_run("pagerank", (of,), {}) for of in (graph, nx.DiGraph(DIRECTED))]
        found = [sum(nx.pagerank(of).values()) for of in (graph, nx.DiGraph(DIRECTED))]
        gc.collect()
        queue.put((reasons, found))


def test_a_forked_process_is_answered_by_networkx() -> None:
    graph = nx.DiGraph(DIRECTED)
    nx.pagerank(graph, backend="topostream")
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_ranked_in_a_fork, args=(graph, queue))
    process.start()
    reasons, found = queue.get(timeout=60)
    process.join()
    assert all("was used in process" in str(reason) for reason in reasons) and found == pytest.approx([1, 1])


def test_a_forked_process_leaves_the_stores_of_its_parent() -> None:
    """Where it ends as programs do, or deletes the graph that it has from its parent."""
    for end in ("sys.exit()", "del graph; os._exit(0)"):
        program = f"""if True:
        import os, sys, topostream as ts
        graph = ts.from_edges([(0, 1), (1, 2)])
        if (child := os.fork()) == 0:
            {end}
        os.waitpid(child, 0)
        graph.verify()
        print(graph.path.is_dir())
        """
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert done.stdout == "True\n", done.stderr


def test_a_full_temporary_folder_leaves_calls_to_networkx() -> None:
    """Files may not become larger than a page."""
    program = """if True:
    import resource, warnings, networkx as nx
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    graph = nx.gnm_random_graph(5_000, 120_000, seed=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = nx.pagerank(graph)
    print(len(found), [one.category.__name__ for one in caught if "topostream" in str(one.message)])
    """
    environment = {**os.environ, "NETWORKX_BACKEND_PRIORITY": "topostream"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "5000 ['FallbackWarning']\n", done.stdout + done.stderr


def test_an_error_that_nobody_expects_leaves_calls_to_networkx(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a panic, which is not an `Exception`; Ctrl-C is no error."""
    panic = type("PanicException", (BaseException,), {})

    def fails(error: type[BaseException]) -> Any:
        def run(*_: object, **__: object) -> Any:
            raise error("a defect")

        return run

    expected = nx.pagerank(DIRECTED, backend="networkx")
    for error in (panic, RuntimeError, MemoryError):
        monkeypatch.setattr(_graph.View, "run", fails(error))
        with chosen(), pytest.warns(ts.FallbackWarning, match="a defect"):
            assert nx.pagerank(nx.DiGraph(DIRECTED)) == pytest.approx(expected)
    monkeypatch.setattr(_graph.View, "run", fails(KeyboardInterrupt))
    with chosen(), pytest.raises(KeyboardInterrupt):
        nx.pagerank(nx.DiGraph(DIRECTED))


def test_work_decides_where_edges_do_not() -> None:
    """Betweenness searches from every node; of some functions, NetworkX takes long on small graphs."""
    graph = nx.gnm_random_graph(2000, 16_000, seed=1)
    found = {name: backend.should_run(name, (graph,), {}) for name in _mapped.FUNCTIONS}
    chosen = ["average_clustering", "betweenness_centrality", "clustering", "katz_centrality", "transitivity"]
    assert sorted(name for name, reason in found.items() if reason is True) == chosen
    reason = backend.should_run("betweenness_centrality", (graph,), {"k": 20})
    assert reason == "a conversion pays from 400000 sources times edges on, and the graph has 320000"
    assert "unexpected" in str(backend.should_run("betweenness_centrality", (graph,), {"no": 1}))
    small = nx.gnm_random_graph(100, 800, seed=1)
    assert not any(backend.should_run(name, (small,), {}) is True for name in _mapped.FUNCTIONS)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("edges", [[], [(0, 1)], [(0, 1), (1, 2), (2, 2), (0, 0), (0, 3)]])
def test_numbers_of_a_store_are_those_of_networkx(directed: bool, edges: list[tuple[int, int]]) -> None:
    graph = nx.DiGraph(edges) if directed else nx.Graph(edges)
    graph.add_nodes_from(range(5))
    store = ts.from_edges(graph)
    names = ("density", "number_of_nodes", "number_of_edges", "is_directed", "is_empty", "number_of_selfloops")
    for name in names:
        assert getattr(nx, name)(store) == getattr(nx, name)(graph), name
    assert (store.order(), store.size(), len(store)) == (graph.order(), graph.size(), len(graph))
    assert backend.can_run("is_empty", (graph,), {}) is not True
    with pytest.raises(ts.ParameterError, match="weight"):
        store.size(weight="weight")


def test_some_nodes_of_a_store_with_names() -> None:
    store = ts.from_edges(PLAIN)
    nodes = [*list(PLAIN)[:50], "none", 7]
    for name in ("triangles", "clustering"):
        function = getattr(nx, name)
        some = [node for node in nodes if node in PLAIN]
        assert close(function(store, nodes), function(PLAIN, some, backend="networkx"), 1e-12)
        assert function(store, ONE) == pytest.approx(function(PLAIN, ONE, backend="networkx"))
        assert close(function(store, iter(some)), function(PLAIN, some, backend="networkx"), 1e-12)
    for node in ("none", 7, ("n1", "n2"), 3.5, tuple(PLAIN)):
        with pytest.raises(nx.NodeNotFound):
            nx.single_source_shortest_path_length(store, node)


def test_nodes_of_a_store_compare_as_in_a_dictionary(graph: ts.Graph, reference: nx.DiGraph) -> None:
    node = next(iter(reference))
    expected = nx.descendants(reference, node)
    for same in (float(node), np.int64(node), np.float64(node)):
        assert nx.descendants(graph, same) == expected
    for other in (node + 0.5, str(node), -1, 2**64, float("nan"), (node,), tuple(reference)):
        with pytest.raises(nx.NetworkXError):
            nx.descendants(graph, other)


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
