"""Answers, beside NetworkX and SciPy, which share no code with the engine."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph as csgraph

import topostream as ts
from conftest import SMALL
from topostream import _generate, _native


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


def test_paths_are_those_of_networkx(edges: tuple[np.ndarray, np.ndarray]) -> None:
    weights = np.random.default_rng(6).integers(0, 9, len(edges[0])).astype(np.uint32)
    graph = ts.from_edges((*edges, weights))
    reference = nx.MultiDiGraph()
    rows = zip(*(column.tolist() for column in (*edges, weights)), strict=True)
    reference.add_weighted_edges_from(rows)
    source = int(graph.ids[7])
    distances = nx.single_source_dijkstra_path_length(reference, source)
    with graph.session(**SMALL) as session:
        found = session.sssp(source=source, parents=True)
        levels = session.bfs(source=source, parents=True)
        near = session.sssp(source=source, cutoff=10)["distance"]
        target = max(distances, key=distances.__getitem__)
        assert session.path(source, target) == found.path(target)
        assert session.path(source, target, weighted=False) == levels.path(target)
        assert session.sssp(source=source, target=target).summary["path"]["value"] == distances[target]
        with pytest.raises(ts.ParameterError, match="no vertex"):
            session.path(source, 1 << 40)
        with pytest.raises(ts.ColumnError, match="parents=True"):
            session.sssp(source=source).path(target)
    for vertex in graph.ids.tolist():
        path = found.path(vertex)
        assert (path is None) == (vertex not in distances)
        if path is None:
            continue
        assert (path.vertices[0], path.vertices[-1], path.distance) == (source, vertex, distances[vertex])
        assert path.values == [distances[one] for one in path.vertices]
        for one, other in nx.utils.pairwise(path.vertices):
            lightest = min(edge["weight"] for edge in reference[one][other].values())
            assert distances[one] + lightest == distances[other]
    expected = {vertex: distance for vertex, distance in distances.items() if distance <= 10}
    within = zip(graph.ids.tolist(), near.tolist(), strict=True)
    assert {vertex: value for vertex, value in within if value >= 0} == expected


def test_components_partition_as_scipy_does(graph: ts.Graph) -> None:
    count, labels = csgraph.connected_components(graph.to_scipy(), connection="weak")
    with graph.session(**SMALL) as session:
        found = session.components().numbers("component")
    assert len(np.unique(found)) == count
    assert len(set(zip(found.tolist(), labels.tolist(), strict=True))) == count


CATALOGUE = {entry["name"]: entry for entry in json.loads(_native.catalogue())["algorithms"]}


@pytest.fixture(scope="module")
def of_every_kind(edges: tuple[np.ndarray, np.ndarray]) -> dict[str, ts.Graph]:
    """A graph that is directed and one that is not, with weights."""
    weights = np.random.default_rng(5).integers(1, 100, len(edges[0])).astype(np.uint32)
    return {
        "directed": ts.from_edges((*edges, weights), in_edges=True),
        "undirected": ts.from_edges((*edges, weights), symmetrize=True, remove_duplicates=True, remove_self_loops=True),
    }


@pytest.mark.filterwarnings("ignore::topostream.ConvergenceWarning")
@pytest.mark.parametrize("name", CATALOGUE)
def test_every_algorithm_is_a_method_that_runs(of_every_kind: dict[str, ts.Graph], name: str, tmp_path: Path) -> None:
    graph = of_every_kind["undirected" if name in ("clustering", "communities") else "directed"]
    source = int(graph.ids[0])
    (tmp_path / "vertices.txt").write_text(f"{source}\n")
    values = {"path": tmp_path / "vertices.txt", "vertex": source, "integer": 2, "text": f"{source}=1"}
    needed = (option for option in CATALOGUE[name]["options"] if option["required"])
    given = {_generate.name_of(option): values[option["type"]] for option in needed}
    with graph.session(**SMALL) as session:
        result = getattr(session, name.replace("-", "_"))(**given)
    assert 1 <= len(result) <= 3, "memory is reserved for three columns"
    for column in result:
        values = result[column]
        assert len(values) == graph.vertices
        assert values.dtype in (np.float64, np.int64)
    assert f").{name.replace('-', '_')}(" in result.report["origin"]["command"]


def test_what_a_graph_lacks_is_said(graph: ts.Graph) -> None:
    with graph.session(**SMALL) as session, pytest.raises(ts.ParameterError, match="weights"):
        session.sssp(source=int(graph.ids[0]))


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
