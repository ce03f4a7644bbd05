"""One package on one graph, in a process of its own: `bench/python.py peers` starts it.

    python bench/python_peer.py PACKAGE FOLDER WORK…

The folder has source.npy, dest.npy and weight.npy, each undirected edge once, and source.txt with the vertices that
searches begin at. Prints a line of JSON for loading and for each kind of work, and keeps answers in the folder.
"""

import importlib
import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TOLERANCE = 1e-7
DAMPING = 0.85
Work = dict[str, Callable[[], Any]]


class Edges:
    """The graph's arrays."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source, self.dest, self.weight = (np.load(folder / f"{name}.npy") for name in ("source", "dest", "weight"))
        self.vertices = int(max(self.source.max(), self.dest.max())) + 1
        self.sources = [int(line) for line in (folder / "source.txt").read_text().split()]


def topostream(edges: Edges) -> Work:
    import topostream as ts

    arrays = (edges.source, edges.dest, edges.weight)
    graph = ts.from_edges(arrays, edges.folder / "store", symmetrize=True, ids=edges.vertices)
    session = graph.session(memory=os.environ.get("MEMORY", "4GiB"), device="cpu")
    order = np.argsort(graph.ids)
    first = edges.sources[0]
    return {
        "pagerank": lambda: session.pagerank(tolerance=TOLERANCE)["rank"][order],
        "bfs": lambda: session.bfs(source=first)["level"][order],
        "sssp": lambda: session.sssp(source=first)["distance"][order],
        "components": lambda: session.components()["component"][order],
        # The others add in double precision, too.
        "betweenness": lambda: session.betweenness(source=edges.sources, double=True)["betweenness"][order],
        "core numbers": lambda: session.kcore()["core"][order],
        "clustering": lambda: session.clustering()["coefficient"][order],
    }


def networkx(edges: Edges) -> Work:
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(edges.vertices))
    graph.add_weighted_edges_from(zip(edges.source.tolist(), edges.dest.tolist(), edges.weight.tolist(), strict=True))
    first = edges.sources[0]
    tolerance = TOLERANCE / edges.vertices

    def labels() -> Any:
        found = np.zeros(edges.vertices, np.int64)
        for number, part in enumerate(nx.connected_components(graph)):
            found[list(part)] = number
        return found

    def by_vertex(found: dict[int, Any], missing: float = -1) -> Any:
        values = np.full(edges.vertices, float(missing))
        values[list(found)] = list(found.values())
        return values

    return {
        "pagerank": lambda: by_vertex(nx.pagerank(graph, tol=tolerance, max_iter=1000, weight=None)),
        "bfs": lambda: by_vertex(nx.single_source_shortest_path_length(graph, first)),
        "sssp": lambda: by_vertex(nx.single_source_dijkstra_path_length(graph, first), np.inf),
        "components": labels,
        "betweenness": lambda: (
            by_vertex(nx.betweenness_centrality_subset(graph, edges.sources, list(graph), normalized=False)) * 2
        ),
        "core numbers": lambda: by_vertex(nx.core_number(graph)),
        "clustering": lambda: by_vertex(nx.clustering(graph)),
    }


def networkit(edges: Edges) -> Work:
    import networkit as nk

    ends = (edges.source.astype(np.uint64), edges.dest.astype(np.uint64))
    graph = nk.GraphFromCoo((edges.weight.astype(float), ends), n=edges.vertices, weighted=True, directed=False)
    # PageRank follows weights where there are any.
    plain = nk.graphtools.toUnweighted(graph)
    first = edges.sources[0]

    def ran(algorithm: Any) -> Any:
        return algorithm.run()

    def finite(distances: Any, missing: float) -> Any:
        values = np.asarray(distances)
        return np.where(values > 1e300, missing, values)

    def ranks() -> Any:
        # Its measure of change is another: far below what the tolerance asks for.
        return np.asarray(ran(nk.centrality.PageRank(plain, DAMPING, TOLERANCE / 100)).scores())

    return {
        "pagerank": ranks,
        "bfs": lambda: finite(ran(nk.distance.BFS(plain, first, False)).getDistances(), -1),
        "sssp": lambda: finite(ran(nk.distance.Dijkstra(graph, first, False)).getDistances(), np.inf),
        "components": lambda: np.asarray(ran(nk.components.ConnectedComponents(plain)).getPartition().getVector()),
        "core numbers": lambda: np.asarray(ran(nk.centrality.CoreDecomposition(plain)).scores()),
        "clustering": lambda: np.asarray(ran(nk.centrality.LocalClusteringCoefficient(plain, True)).scores()),
    }


def igraph(edges: Edges) -> Work:
    import igraph as ig

    graph = ig.Graph(n=edges.vertices, edges=np.column_stack([edges.source, edges.dest]))
    weights = edges.weight.tolist()
    first = edges.sources[0]

    def levels() -> Any:
        found = np.asarray(graph.distances(source=[first])[0], float)
        return np.where(np.isinf(found), -1, found)

    return {
        "pagerank": lambda: np.asarray(graph.pagerank(damping=DAMPING)),
        "bfs": levels,
        "sssp": lambda: np.asarray(graph.distances(source=[first], weights=weights)[0], float),
        "components": lambda: np.asarray(graph.connected_components().membership),
        "betweenness": lambda: np.asarray(graph.betweenness(sources=edges.sources)) * 2,
        "core numbers": lambda: np.asarray(graph.coreness()),
        "clustering": lambda: np.asarray(graph.transitivity_local_undirected(mode="zero")),
    }


def graph_tool(edges: Edges) -> Work:
    import graph_tool
    from graph_tool import centrality, clustering, topology

    graph = graph_tool.Graph(directed=False)
    graph.add_vertex(edges.vertices)
    weight = graph.new_edge_property("int32_t")
    graph.add_edge_list(np.column_stack([edges.source, edges.dest, edges.weight]), eprops=[weight])
    first = edges.sources[0]

    def levels() -> Any:
        found = topology.shortest_distance(graph, source=first).a
        return np.where(found > edges.vertices, -1, found)

    def distances() -> Any:
        found = topology.shortest_distance(graph, source=first, weights=weight).a
        return np.where(found == np.iinfo(found.dtype).max, np.inf, found)

    def betweenness() -> Any:
        pivots = np.asarray(edges.sources)
        return centrality.betweenness(graph, pivots=pivots, norm=False)[0].a * 2

    return {
        "pagerank": lambda: centrality.pagerank(graph, damping=DAMPING, epsilon=TOLERANCE).a,
        "bfs": levels,
        "sssp": distances,
        "components": lambda: topology.label_components(graph)[0].a,
        "betweenness": betweenness,
        "core numbers": lambda: topology.kcore_decomposition(graph).a,
        "clustering": lambda: clustering.local_clustering(graph).a,
    }


def graph_mate(edges: Edges) -> Work:
    import graph_mate as gm

    both = np.concatenate([edges.source, edges.dest]), np.concatenate([edges.dest, edges.source])
    graph = gm.DiGraph.from_numpy(np.column_stack(both).astype(np.uint32), gm.Layout.Sorted)
    return {
        "pagerank": lambda: np.asarray(
            graph.page_rank(max_iterations=1000, tolerance=TOLERANCE, damping_factor=DAMPING).scores()
        ),
        "components": lambda: np.asarray(graph.wcc().components()),
    }


def resident_bytes(of: str) -> int:
    """Resident memory of this process: now ("VmRSS"), or at most since `forget_peak` ("VmHWM")."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(of)).split()[1]) * 1024


def forget_peak() -> None:
    """Lets the peak of resident memory begin anew: reading the input takes more than the input."""
    Path("/proc/self/clear_refs").write_text("5")


def version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package.replace("_", "-"))
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(sys.modules[package], "__version__", "of an unknown version"))


def main(package: str, folder: Path, wanted: list[str]) -> None:
    importlib.import_module(package)
    edges = Edges(folder)
    forget_peak()
    before = resident_bytes("VmRSS")

    def say(**of: Any) -> None:
        bytes_of = {"peak_bytes": resident_bytes("VmHWM"), "arrays_bytes": before}
        print(json.dumps({"package": package, **of, **bytes_of}), flush=True)

    begun = time.perf_counter()
    work = globals()[package](edges)
    say(work="load", seconds=time.perf_counter() - begun, version=version_of(package))
    for name in wanted:
        if name not in work:
            continue
        print(json.dumps({"package": package, "begins": name}), flush=True)
        begun = time.perf_counter()
        answer = work[name]()
        seconds = time.perf_counter() - begun
        np.save(folder / f"{package}-{name}.npy", answer)
        say(work=name, seconds=seconds)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
