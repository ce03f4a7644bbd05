"""Connected, weakly connected and strongly connected components."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._graph import Node, open_view
from ._mapped import mapped


def _components(G: Any, algorithm: str) -> list[set[Node]]:
    view = open_view(G)
    return view.parts(view.run(algorithm))


def _count(G: Any, algorithm: str) -> int:
    """The number of components, of which no set is made."""
    return int(open_view(G).run(algorithm).summary["groups"]["count"])


@mapped(is_one_pass=True)
def connected_components(G: Any) -> Iterator[set[Node]]:
    """The connected components of an undirected graph, as sets of nodes."""
    return iter(_components(G, "components"))


@mapped(is_one_pass=True)
def number_connected_components(G: Any) -> int:
    """The number of connected components."""
    return _count(G, "components")


@mapped(is_one_pass=True)
def is_connected(G: Any) -> bool:
    """Whether an undirected graph is connected."""
    return _count(G, "components") == 1


@mapped(is_one_pass=True)
def node_connected_component(G: Any, n: Node) -> set[Node]:
    """The component of a node."""
    view = open_view(G)
    if not view.has(n):
        raise KeyError(n)
    levels = view.run("bfs", source=view.id(n))["level"]
    return set(view.where(levels >= 0))


@mapped(is_one_pass=True)
def weakly_connected_components(G: Any) -> Iterator[set[Node]]:
    """The weakly connected components of a directed graph, as sets of nodes."""
    return iter(_components(G, "components"))


@mapped(is_one_pass=True)
def number_weakly_connected_components(G: Any) -> int:
    """The number of weakly connected components."""
    return _count(G, "components")


@mapped(is_one_pass=True)
def is_weakly_connected(G: Any) -> bool:
    """Whether a directed graph is weakly connected."""
    return _count(G, "components") == 1


@mapped(is_one_pass=True)
def strongly_connected_components(G: Any) -> Iterator[set[Node]]:
    """The strongly connected components of a directed graph, as sets of nodes, in no particular order."""
    return iter(_components(G, "scc"))


@mapped(is_one_pass=True)
def number_strongly_connected_components(G: Any) -> int:
    """The number of strongly connected components."""
    return _count(G, "scc")


@mapped(is_one_pass=True)
def attracting_components(G: Any) -> Iterator[set[Node]]:
    """The strongly connected components of a directed graph that no edge leaves, as sets of nodes."""
    view = open_view(G)
    result = view.run("scc")
    left = view.left(result)
    groups = result.numbers("component")
    parts = zip(view.parts(result), np.unique(groups), strict=True)
    return iter([part for part, group in parts if not left[group]])


@mapped(is_one_pass=True)
def number_attracting_components(G: Any) -> int:
    """The number of strongly connected components that no edge leaves."""
    view = open_view(G)
    result = view.run("scc")
    groups = np.unique(result.numbers("component"))
    return int((view.left(result)[groups] == 0).sum())


@mapped(is_one_pass=True)
def is_attracting_component(G: Any) -> bool:
    """Whether a directed graph is one attracting component: strongly connected."""
    return _count(G, "scc") == 1


@mapped(is_one_pass=True)
def is_strongly_connected(G: Any) -> bool:
    """Whether every node of a directed graph reaches every other."""
    return _count(G, "scc") == 1
