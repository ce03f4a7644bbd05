"""Connected, weakly connected and strongly connected components."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._graph import Node, open_view
from ._mapped import mapped


def _components(G: Any, algorithm: str) -> list[set[Node]]:  # noqa: N803
    view = open_view(G)
    return view.parts(view.session.run(algorithm))


@mapped(is_one_pass=True)
def connected_components(G: Any) -> Iterator[set[Node]]:  # noqa: N803
    """The connected components of an undirected graph, as sets of nodes."""
    yield from _components(G, "components")


@mapped(is_one_pass=True)
def number_connected_components(G: Any) -> int:  # noqa: N803
    """The number of connected components."""
    return len(_components(G, "components"))


@mapped(is_one_pass=True)
def is_connected(G: Any) -> bool:  # noqa: N803
    """Whether an undirected graph is connected."""
    return len(_components(G, "components")) == 1


@mapped(is_one_pass=True)
def node_connected_component(G: Any, n: Node) -> set[Node]:  # noqa: N803
    """The component of a node."""
    view = open_view(G)
    if not view.has(n):
        raise KeyError(n)
    levels = view.session.run("bfs", source=view.id(n))["level"]
    return set(view.where(levels >= 0))


@mapped(is_one_pass=True)
def weakly_connected_components(G: Any) -> Iterator[set[Node]]:  # noqa: N803
    """The weakly connected components of a directed graph, as sets of nodes."""
    yield from _components(G, "components")


@mapped(is_one_pass=True)
def number_weakly_connected_components(G: Any) -> int:  # noqa: N803
    """The number of weakly connected components."""
    return len(_components(G, "components"))


@mapped(is_one_pass=True)
def is_weakly_connected(G: Any) -> bool:  # noqa: N803
    """Whether a directed graph is weakly connected."""
    return len(_components(G, "components")) == 1


@mapped(is_one_pass=True)
def strongly_connected_components(G: Any) -> Iterator[set[Node]]:  # noqa: N803
    """The strongly connected components of a directed graph, as sets of nodes, in no particular order."""
    yield from _components(G, "scc")


@mapped(is_one_pass=True)
def number_strongly_connected_components(G: Any) -> int:  # noqa: N803
    """The number of strongly connected components."""
    return len(_components(G, "scc"))


@mapped(is_one_pass=True)
def is_strongly_connected(G: Any) -> bool:  # noqa: N803
    """Whether every node of a directed graph reaches every other."""
    return len(_components(G, "scc")) == 1
