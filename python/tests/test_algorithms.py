"""Answers, beside NetworkX and SciPy, which share no code with the engine."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph as csgraph
from conftest import SMALL

import topostream as ts


def test_ranks_are_those_of_networkx(graph: ts.Graph, reference: nx.DiGraph) -> None:
    expected = nx.pagerank(reference, tol=1e-12, max_iter=500)
    with graph.session(**SMALL) as session:
        result = session.pagerank(tolerance=1e-7)
    found = result.to_dict()
    assert found.keys() == expected.keys()
    assert max(abs(found[vertex] - expected[vertex]) for vertex in expected) < 1e-6
    best = max(expected, key=expected.__getitem__)
    assert result.top(1)[0][0] == best


def test_levels_and_parents_are_those_of_a_search(graph: ts.Graph, reference: nx.DiGraph) -> None:
    source = int(graph.ids[7])
    expected = nx.single_source_shortest_path_length(reference, source)
    with graph.session(**SMALL) as session:
        result = session.bfs(source=source, parents=True)
    levels = result.to_dict("level")
    assert {vertex: level for vertex, level in levels.items() if level >= 0} == expected
    parents = result.to_dict("parent")
    for vertex, level in expected.items():
        if vertex != source:
            assert reference.has_edge(parents[vertex], vertex)
            assert expected[parents[vertex]] == level - 1
    assert all(parents[vertex] == -1 for vertex in levels if vertex not in expected)


def test_distances_are_those_of_scipy(edges: tuple[np.ndarray, np.ndarray]) -> None:
    weights = np.random.default_rng(5).integers(1, 100, len(edges[0])).astype(np.uint32)
    graph = ts.from_edges((*edges, weights))
    # SciPy adds repeated edges up: the lightest counts.
    table: dict[tuple[int, int], int] = {}
    for *ends, weight in zip(*(graph.edge_arrays()), strict=True):
        key = (int(ends[0]), int(ends[1]))
        table[key] = min(int(weight), table.get(key, 1 << 40))
    rows, columns = np.array(list(table)).T
    shape = (graph.vertices, graph.vertices)
    matrix = sp.csr_array((list(table.values()), (rows, columns)), shape=shape)
    with graph.session(**SMALL) as session:
        found = session.sssp(source=int(graph.ids[0]))["distance"]
    expected = csgraph.dijkstra(matrix, indices=0)
    known = np.isfinite(expected)
    assert known.sum() > 100
    np.testing.assert_array_equal(np.asarray(found, float)[known], expected[known])


def test_components_partition_as_scipy_does(graph: ts.Graph) -> None:
    count, labels = csgraph.connected_components(graph.to_scipy(), connection="weak")
    with graph.session(**SMALL) as session:
        found = session.components().numbers("component")
    assert len(np.unique(found)) == count
    assert len(set(zip(found.tolist(), labels.tolist(), strict=True))) == count


def test_every_algorithm_is_a_method_that_runs_or_says_why(graph: ts.Graph) -> None:
    source = int(graph.ids[0])
    with graph.session(**SMALL) as session:
        of_source = {"source": source}
        options = {"bfs": of_source, "personalized_pagerank": of_source, "neighbourhood": {**of_source, "hops": 2}}
        for name in (*options, "degrees", "scc", "hits", "katz", "radius", "delta_pagerank", "betweenness"):
            result = getattr(session, name)(**options.get(name, of_source if name == "betweenness" else {}))
            assert all(len(result[column]) == graph.vertices for column in result), name
        with pytest.raises(ts.ParameterError, match="weights"):
            session.sssp(source=source)


def test_a_session_on_a_gpu_has_the_same_answer(graph: ts.Graph) -> None:
    if not ts.devices()["adapters"]:
        pytest.skip("no adapter")
    levels, ranks = [], []
    for device in ("cpu", "0"):
        with graph.session(memory="512MiB", device=device) as session:
            levels.append(session.bfs(source="max-degree")["level"])
            ranks.append(session.pagerank(iterations=5)["rank"])
    np.testing.assert_array_equal(*levels)
    np.testing.assert_allclose(*ranks, rtol=1e-5)
