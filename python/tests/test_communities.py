"""Leiden's and Louvain's communities: their quality by NetworkX's definition, and beside other programs."""

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest

import topostream as ts
from topostream import networkx as backend

SMALL: dict[str, Any] = {"memory": "512MiB", "device": "cpu"}


def stored(graph: Any, **options: Any) -> ts.Graph:
    """A store of a graph, with integer weights if it has any."""
    pairs = np.array(list(graph.edges())).T
    weights = [data.get("weight") for _, _, data in graph.edges(data=True)]
    arrays = (*pairs, np.array(weights, np.uint32)) if weights[0] is not None else tuple(pairs)
    return ts.from_edges(arrays, symmetrize=not graph.is_directed(), in_edges=graph.is_directed(), **options)


def parts(result: Any) -> list[set[int]]:
    """The sets of vertices with the same community."""
    found: dict[int, set[int]] = {}
    for vertex, community in zip(result.ids.tolist(), result["community"].tolist(), strict=True):
        found.setdefault(community, set()).add(vertex)
    return list(found.values())


def weighted(graph: Any, seed: int) -> Any:
    random = np.random.default_rng(seed)
    for _, _, data in graph.edges(data=True):
        data["weight"] = int(random.integers(1, 100))
    return graph


LOOPS = nx.gnp_random_graph(60, 0.1, seed=4)
LOOPS.add_edges_from((vertex, vertex) for vertex in range(0, 60, 3))
GRAPHS = {
    "karate": nx.Graph(nx.karate_club_graph().edges()),
    "directed": nx.gnp_random_graph(120, 0.04, seed=2, directed=True),
    "loops": LOOPS,
    "weights": weighted(nx.connected_caveman_graph(12, 8), 1),
    "directed weights": weighted(nx.gnp_random_graph(90, 0.06, seed=3, directed=True), 2),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("resolution", [0.7, 1.0, 2.0])
def test_the_quality_is_networkxs(name: str, resolution: float) -> None:
    graph = GRAPHS[name]
    weights = "weight" if "weights" in name else None
    with stored(graph).session(**SMALL) as session:
        result = session.leiden(resolution=resolution, weights=weights is not None)
    found = parts(result)
    expected = nx.community.modularity(graph, found, weight=weights, resolution=resolution)
    assert result.summary["figures"]["modularity"] == pytest.approx(expected, rel=1e-9)
    assert result.summary["groups"]["count"] == len(found)
    whole = graph.to_undirected()
    assert all(nx.is_connected(whole.subgraph(part)) for part in found)
    theirs = nx.community.louvain_communities(graph, weight=weights, resolution=resolution, seed=1)
    beside = nx.community.modularity(graph, theirs, weight=weights, resolution=resolution)
    assert expected >= beside - max(0.005 * abs(beside), 0.01 if graph.number_of_nodes() < 150 else 0.0)


def test_several_resolutions_are_columns() -> None:
    resolutions = [2.0, 0.5, 1.0]
    with stored(GRAPHS["directed"]).session(**SMALL) as session:
        together = session.leiden(resolution=resolutions)
        alone = [session.leiden(resolution=resolution) for resolution in resolutions]
    names = ["community_2", "community_0.5", "community_1"]
    assert list(together) == names
    for name, one, row in zip(names, alone, together.summary["table"]["rows"], strict=True):
        assert together[name].tolist() == one["community"].tolist()
        assert row == [name.split("_")[1], [one.summary["groups"]["count"], one.summary["figures"]["modularity"]]]


# LFR graphs of NetworkX's generator by their share of edges that leave communities: the generator's seed, and the
# normalized mutual information of leidenalg 0.10 with what was planted, the mean over five seeds. Networkit 11.2's
# ParallelLeiden has less.
PLANTED = {0.3: (10, 0.9417), 0.5: (11, 0.7495), 0.6: (12, 0.2983)}


@pytest.mark.parametrize("mixing", PLANTED)
def test_planted_communities_are_found(mixing: float) -> None:
    seed, beside = PLANTED[mixing]
    graph = nx.LFR_benchmark_graph(
        5000, 2.5, 1.5, mixing, average_degree=15, max_degree=100, min_community=20, max_community=200, seed=seed
    )
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    planted = np.array([min(graph.nodes[vertex]["community"]) for vertex in range(5000)])
    near = []
    with stored(graph).session(**SMALL) as session:
        for of in range(5):
            result = session.leiden(seed=of)
            labels = np.empty(5000, np.int64)
            labels[result.ids] = result["community"]
            near.append(information(labels, planted))
    assert np.mean(near) >= beside - 0.01, near


def information(found: np.ndarray, planted: np.ndarray) -> float:
    """Normalized mutual information, by the mean of the entropies."""
    found, planted = (np.unique(labels, return_inverse=True)[1] for labels in (found, planted))
    joint = np.zeros((found.max() + 1, planted.max() + 1))
    np.add.at(joint, (found, planted), 1 / len(found))
    by = [joint.sum(1), joint.sum(0)]
    entropies = [-(share[share > 0] * np.log(share[share > 0])).sum() for share in by]
    both = joint > 0
    mutual = (joint[both] * np.log(joint[both] / np.outer(*by)[both])).sum()
    return float(2 * mutual / sum(entropies))


def test_networkx_calls_it() -> None:
    graph = nx.connected_caveman_graph(10, 6)
    expected = [set(range(first, first + 6)) for first in range(0, 60, 6)]
    for name in ("louvain_communities", "leiden_communities"):
        function = getattr(nx.community, name)
        found = [function(graph, seed=seed, backend="topostream") for seed in (1, 1, 2)]
        assert found[0] == found[1]
        if name == "leiden_communities":
            assert all(sorted(parts, key=min) == expected for parts in found)
        best = nx.community.modularity(graph, expected)
        assert all(nx.community.modularity(graph, parts) > 0.95 * best for parts in found)
    assert nx.community.louvain_communities(nx.Graph(), backend="topostream") == []
    names = nx.relabel_nodes(graph, str)
    for seed in (None, np.random.RandomState(1), np.random.default_rng(1)):
        found = nx.community.louvain_communities(names, seed=seed, backend="topostream")
        assert set().union(*found) == set(names)
    assert backend.can_run("louvain_communities", (graph,), {"max_level": 2}) == "`max_level` is not supported"
    assert backend.can_run("louvain_communities", (graph,), {"threshold": 0.1}) == "`threshold` is not supported"


def test_another_seed_is_another_answer() -> None:
    graph = nx.gnp_random_graph(400, 0.03, seed=6)
    with stored(graph).session(**SMALL) as session:
        answers = [session.leiden(seed=seed)["community"].tolist() for seed in range(4)]
    assert all(one != other for one, other in pairwise(answers))
