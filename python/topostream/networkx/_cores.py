"""Degrees, cores, triangles and clustering."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._graph import Node, View, open_view
from ._mapped import each, mapped, no_loops, none, not_multigraph, simple


@mapped(each(no_loops, not_multigraph))
def core_number(G: Any) -> dict[Node, int]:
    """The largest k such that a node is in the k-core."""
    view = open_view(G)
    return view.by_node(view.run("kcore")["core"])


@mapped(each(none("core_number"), no_loops, not_multigraph))
def k_core(G: Any, k: int | None = None, core_number: Any = None) -> Any:
    """The k-core, by default that of the largest k, as a graph of NetworkX."""
    view = open_view(G)
    cores = view.run("kcore")["core"]
    return view.part(view.where(cores >= (cores.max() if k is None else k)))


def _of(view: View, values: Any, nodes: Any) -> Any:
    """The values of all nodes, of some, or of one."""
    found = view.by_node(values)
    if nodes is None:
        return found
    if view.has(nodes):
        return found[nodes]
    return {node: found[node] for node in nodes if node in found}


@mapped(simple)
def triangles(G: Any, nodes: Any = None) -> Any:
    """The number of triangles of each node."""
    view = open_view(G)
    return _of(view, view.run("clustering")["triangles"], nodes)


@mapped(each(simple, none("weight")), factor=0.08)
def clustering(G: Any, nodes: Any = None, weight: str | None = None) -> Any:
    """The share of the pairs of a node's neighbours that have an edge between them."""
    view = open_view(G)
    return _of(view, view.run("clustering")["coefficient"], nodes)


@mapped(each(simple, none("weight", "nodes")), factor=0.08)
def average_clustering(
    G: Any,
    nodes: Any = None,
    weight: str | None = None,
    count_zeros: bool = True,
) -> float:
    """The mean of the clustering coefficients."""
    view = open_view(G)
    values = view.run("clustering")["coefficient"]
    chosen = values if count_zeros else values[values > 0]
    return float(np.mean(chosen)) if len(chosen) else float(sum(chosen) / len(chosen.tolist()))


@mapped(each(simple, no_loops), factor=0.08)
def transitivity(G: Any) -> float:
    """The share of paths of two edges whose ends have an edge between them."""
    view = open_view(G)
    triangles = view.run("clustering")["triangles"]
    degrees = view.run("degrees")["degree"]
    paths = int((degrees * (degrees - 1)).sum())
    return 2 * int(triangles.sum()) / paths if paths and triangles.any() else 0


def _degrees(G: Any, *names: str) -> dict[Node, float]:
    view = open_view(G)
    vertices = view.vertices
    if vertices <= 1:
        return dict.fromkeys(view.order, 1)
    found = view.run("degrees")
    return view.by_node(sum(found[name] for name in names) * (1.0 / (vertices - 1.0)))


@mapped(no_loops, is_one_pass=True)
def degree_centrality(G: Any) -> dict[Node, float]:
    """The share of the other nodes that a node has an edge with."""
    return _degrees(G, *(("out_degree", "in_degree") if G.is_directed() else ("degree",)))


@mapped(is_one_pass=True)
def in_degree_centrality(G: Any) -> dict[Node, float]:
    """The share of the other nodes that have an edge to a node."""
    return _degrees(G, "in_degree")


@mapped(is_one_pass=True)
def out_degree_centrality(G: Any) -> dict[Node, float]:
    """The share of the other nodes that a node has an edge to."""
    return _degrees(G, "out_degree")
