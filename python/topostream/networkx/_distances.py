"""Lengths of shortest paths, and what can be reached."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np

from ..graph import Graph
from ._graph import Node, View, open_view
from ._mapped import VERSION, Reason, attribute, each, mapped, none


def _source(view: View, source: Node) -> Any:
    if not view.has(source):
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return view.id(source)


@mapped(is_one_pass=True)
def single_source_shortest_path_length(
    G: Any,
    source: Node,
    cutoff: float | None = None,
) -> dict[Node, int]:
    """Hops from a node, nearest first."""
    view = open_view(G)
    levels = view.run("bfs", source=_source(view, source))["level"]
    reached = (levels >= 0) & (levels <= _hops(view, cutoff))
    return _nearest_first(view, levels, reached)


def _nearest_first(view: View, distances: Any, reached: Any) -> dict[Node, Any]:
    found = np.flatnonzero(reached)
    found = found[np.argsort(distances[found], kind="stable")]
    numbers = distances[found].tolist()
    order = view.order
    return {order[vertex]: number for vertex, number in zip(found.tolist(), numbers, strict=True)}


def _lengths_fit(graph: Any, given: Mapping[str, Any]) -> Reason:
    if isinstance(graph, Graph) and graph.weights == "f32":
        return "the store has weights in single precision"
    return attribute(given)


@mapped(_lengths_fit, factor=3)
def single_source_dijkstra_path_length(
    G: Any,
    source: Node,
    cutoff: float | None = None,
    weight: str | None = "weight",
) -> dict[Node, int]:
    """Distances from a node by whole weights, nearest first."""
    view = open_view(G, weight=weight)
    distances = _distances(view, source, weight)
    reached = distances >= 0 if cutoff is None else (distances >= 0) & (distances <= cutoff)
    return _nearest_first(view, distances, reached)


@mapped(_lengths_fit, factor=3)
def single_source_bellman_ford_path_length(
    G: Any,
    source: Node,
    weight: str | None = "weight",
) -> dict[Node, int]:
    """Distances from a node by whole weights that are not negative, nearest first."""
    found: dict[Node, int] = single_source_dijkstra_path_length(G, source, None, weight)
    return found


def _within(view: View, source: Node, direction: str) -> set[Node]:
    if not view.has(source):
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return set(view.where(_levels(view, source, _hops(view, None), direction) > 0))


@mapped(is_one_pass=True)
def single_target_shortest_path_length(G: Any, target: Node, cutoff: float | None = None) -> Any:
    """Hops to a node, nearest first."""
    view = open_view(G)
    if not view.has(target):
        raise nx.NodeNotFound(f"Target {target} is not in G")
    levels = _levels(view, target, _hops(view, cutoff), "in" if view.directed else "out")
    found = _nearest_first(view, levels, levels >= 0)
    return found if VERSION >= (3, 5) else iter(found.items())


def _hops(view: View, cutoff: float | None) -> int:
    """The hops up to which NetworkX searches: no path is longer than there are nodes."""
    vertices = view.vertices
    return vertices if cutoff is None else math.ceil(min(max(cutoff, 0), vertices))


def _levels(view: View, node: Node, hops: int, direction: str) -> Any:
    """Hops from a node, or to it; -1 of nodes that are further away."""
    options: dict[str, Any] = {"source": view.id(node), "hops": hops, "direction": direction}
    return view.run("neighbourhood", **options)["level"]


@mapped(is_one_pass=True)
def descendants(G: Any, source: Node) -> set[Node]:
    """The nodes that can be reached from one."""
    return _within(open_view(G), source, "out")


@mapped(is_one_pass=True)
def ancestors(G: Any, source: Node) -> set[Node]:
    """The nodes from which one can be reached."""
    view = open_view(G)
    return _within(view, source, "in" if view.directed else "out")


@mapped(is_one_pass=True)
def descendants_at_distance(G: Any, source: Node, distance: int) -> set[Node]:
    """The nodes at this number of hops from one."""
    view = open_view(G)
    if not view.has(source):
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    levels = view.run("bfs", source=view.id(source))["level"]
    return set(view.where(levels == distance))


def _target(view: View, source: Node, target: Node, values: Any) -> int:
    """The value of one node, which must be reachable: to a node that is not there, there is no path."""
    value = values[view.place(target)] if view.has(target) else -1
    if value < 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return int(value)


def _distances(view: View, source: Node, weight: str | None) -> Any:
    start = _source(view, source)
    if weight is None or view.store.weights is None:
        return view.run("bfs", source=start)["level"]
    return view.run("sssp", source=start)["distance"]


@mapped(_lengths_fit, factor=3)
def dijkstra_path_length(G: Any, source: Node, target: Node, weight: str | None = "weight") -> int:
    """The distance from one node to another by whole weights."""
    view = open_view(G, weight=weight)
    return _target(view, source, target, _distances(view, source, weight))


@mapped(_lengths_fit, factor=3)
def bellman_ford_path_length(G: Any, source: Node, target: Node, weight: str | None = "weight") -> int:
    """The distance from one node to another by whole weights that are not negative."""
    found: int = dijkstra_path_length(G, source, target, weight)
    return found


def _one_source(graph: Any, given: Mapping[str, Any]) -> Reason:
    if given["source"] is None:
        return "`source` is not given: lengths between all pairs, or to one target, are not mapped"
    if given["method"] not in ("dijkstra", "bellman-ford"):
        return "`method` is not one of NetworkX's"
    return _lengths_fit(graph, given)


@mapped(_one_source, is_one_pass=True)
def shortest_path_length(
    G: Any,
    source: Node = None,
    target: Node = None,
    weight: str | None = None,
    method: str = "dijkstra",
) -> Any:
    """The distance from a node to another, or to all that can be reached."""
    view = open_view(G, weight=weight)
    values = _distances(view, source, weight)
    if target is None:
        return _nearest_first(view, values, values >= 0)
    if weight is None and not view.has(target):
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return _target(view, source, target, values)


@mapped(is_one_pass=True)
def has_path(G: Any, source: Node, target: Node) -> bool:
    """Whether a path leads from one node to another."""
    view = open_view(G)
    values = _distances(view, source, None)
    if not view.has(target):
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return bool(values[view.place(target)] >= 0)


def _ego_fits(graph: Any, given: Mapping[str, Any]) -> Reason:
    return True if isinstance(given["radius"], int | float) else "`radius` is not a number"


@mapped(each(none("distance"), _ego_fits), is_one_pass=True)
def ego_graph(
    G: Any,
    n: Node,
    radius: float = 1,
    center: bool = True,
    undirected: bool = False,
    distance: str | None = None,
) -> Any:
    """The graph of the nodes within some hops of one, as a graph of NetworkX."""
    view = open_view(G)
    if not view.has(n):
        raise nx.NodeNotFound(f"Source {n} not in G")
    direction = "both" if undirected and view.directed else "out"
    levels = _levels(view, n, _hops(view, radius), direction)
    return view.part(node for node in view.where(levels >= 0) if center or node != n)
