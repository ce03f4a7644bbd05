"""Numbers that a store has without a run. ``nx.density``, ``nx.number_of_nodes``, ``nx.number_of_edges`` and
``nx.is_directed`` ask the graph itself."""

from __future__ import annotations

from ..graph import Graph
from ._mapped import COUNTS


def is_empty(G: Graph) -> bool:
    """Whether a graph has no edges."""
    return int(G.edges) == 0


def number_of_selfloops(G: Graph) -> int:
    """The number of edges from a node to itself. The first call reads all edges."""
    return G._loop_count()


COUNTS.update({"is_empty": is_empty, "number_of_selfloops": number_of_selfloops})
