"""Communities by Louvain's and Leiden's algorithms."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from ._graph import Node, open_view
from ._mapped import Reason, attribute, each, mapped, none

# NetworkX's own: the gain below which a level is the last. Here rounds end by how much has moved.
THRESHOLD = 1e-7


def _fits(graph: Any, given: Mapping[str, Any]) -> Reason:
    if not 0 <= given["resolution"] <= 1000:
        return "`resolution` is not from 0 to 1000"
    if given.get("threshold", THRESHOLD) != THRESHOLD:
        return "`threshold` is not supported"
    return attribute(given)


def _seed(seed: Any) -> int:
    """A number from what NetworkX takes as a seed."""
    if seed is None:
        return random.getrandbits(32)
    if isinstance(seed, int):
        return seed & 0xFFFF_FFFF_FFFF_FFFF
    return int(seed.random() * (1 << 53))


def _communities(G: Any, algorithm: str, weight: str | None, resolution: float, seed: Any) -> list[set[Node]]:
    view = open_view(G, weight=weight)
    weights = weight is not None and view.store.weights is not None
    return view.parts(view.run(algorithm, weights=weights, resolution=float(resolution), seed=_seed(seed)))


@mapped(each(none("max_level"), _fits))
def louvain_communities(
    G: Any,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = THRESHOLD,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Node]]:
    """Communities by Louvain's algorithm. The same ``seed`` is the same answer, which is not NetworkX's own."""
    return _communities(G, "louvain", weight, resolution, seed)


@mapped(each(none("max_level"), _fits))
def leiden_communities(
    G: Any,
    weight: str | None = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Node]]:
    """Communities by Leiden's algorithm, which NetworkX leaves to backends. The same ``seed`` is the same answer."""
    return _communities(G, "leiden", weight, resolution, seed)
