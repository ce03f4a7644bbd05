"""Centralities: PageRank, HITS, eigenvector, Katz and betweenness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np

from ..result import Result
from ._graph import Node, View, open_view
from ._mapped import VERSION, Reason, attribute, each, mapped, none, not_multigraph, unweighted


def _pagerank_fits(graph: Any, given: Mapping[str, Any]) -> Reason:
    starts = given["personalization"]
    if starts is not None:
        chosen = [node for node, value in starts.items() if value]
        if len({starts[node] for node in chosen}) != 1:
            return "`personalization` has different values: walks restart at any of the nodes alike"
        if given["weight"] is not None and unweighted(graph, given) is not True:
            return "`personalization` of a graph with weights"
    if not 0 <= given["alpha"] < 1:
        return "`alpha` is not at least 0 and below 1"
    if given["tol"] < 1e-9:
        return "`tol` is below 1e-9: sums have 63 bits, and base ranks are in single precision"
    return attribute(given)


@mapped(each(none("nstart", "dangling"), _pagerank_fits))
def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: Mapping[Node, float] | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Any = None,
    weight: str | None = "weight",
    dangling: Any = None,
) -> dict[Node, float]:
    """PageRank; ``tol`` is at least 1e-7 over all nodes."""
    view = open_view(G, weight=weight)
    asked = view.vertices * tol
    options: dict[str, Any] = {"damping": alpha, "tolerance": min(max(asked, 1e-7), 1.0), "max_iterations": max_iter}
    if personalization is not None:
        seeds = [node for node, value in personalization.items() if value and view.has(node)]
        if not seeds:
            raise ZeroDivisionError
        # Walks begin at the seeds, and reach the ends of a large graph long after the ranks there count for `tol`.
        options["tolerance"] = 1e-7
        result = view.run("personalized-pagerank", source=[view.id(node) for node in seeds], **options)
    elif weight is not None and view.store.weights is not None:
        result = view.run("pagerank", weights=True, **options)
    else:
        result = view.run("pagerank", **options)
    _converged(result, max_iter, asked)
    ranks = result["rank"]
    return view.by_node(ranks / ranks.sum())


def _converged(result: Result, limit: int, asked: float = 0.0) -> None:
    """Raises NetworkX's exception if neither our tolerance nor the one that was asked for is met."""
    if result.converged is False and result.summary["convergence"]["residual"] >= asked:
        raise nx.PowerIterationFailedConvergence(limit)


def _hits_fits(graph: Any, given: Mapping[str, Any]) -> Reason:
    if not given["normalized"]:
        return "`normalized` is false: values are scaled to a sum of 1"
    if given["max_iter"] < 1:
        return "`max_iter` is below 1"
    # NetworkX reads the weights of edges without asking.
    return unweighted(graph, {"weight": "weight"})


@mapped(each(none("nstart"), _hits_fits))
def hits(
    G: Any,
    max_iter: int = 100,
    tol: float = 1e-8,
    nstart: Any = None,
    normalized: bool = True,
) -> tuple[dict[Node, float], dict[Node, float]]:
    """Hubs and authorities; ``tol`` is at least 1e-7: sums are in single precision."""
    view = open_view(G)
    result = view.run("hits", tolerance=max(tol, 1e-7), max_iterations=max_iter)
    _converged(result, max_iter)
    return view.by_node(result["hub"]), view.by_node(result["authority"])


def _tolerance_fits(graph: Any, given: Mapping[str, Any]) -> Reason:
    return True if given["tol"] >= 1e-7 else "`tol` is below 1e-7: sums are in single precision"


@mapped(each(none("nstart"), _tolerance_fits, unweighted, not_multigraph), factor=0.2)
def eigenvector_centrality(
    G: Any,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Any = None,
    weight: str | None = None,
) -> dict[Node, float]:
    """Eigenvector centrality."""
    view = open_view(G)
    result = view.run("eigenvector", tolerance=tol, max_iterations=max_iter)
    _converged(result, max_iter)
    return view.by_node(result["centrality"])


def _katz_fits(graph: Any, given: Mapping[str, Any]) -> Reason:
    if not isinstance(given["beta"], int | float):
        return "`beta` differs between nodes"
    if given["alpha"] <= 0 or given["beta"] <= 0:
        return "`alpha` or `beta` is not above 0"
    return True if given["normalized"] else "`normalized` is false: values are scaled to a norm of 1"


@mapped(each(none("nstart"), _katz_fits, _tolerance_fits, unweighted, not_multigraph), factor=0.08)
def katz_centrality(
    G: Any,
    alpha: float = 0.1,
    beta: float = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    nstart: Any = None,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Node, float]:
    """Katz centrality."""
    view = open_view(G)
    result = view.run("katz", alpha=alpha, beta=beta, tolerance=tol, max_iterations=max_iter)
    _converged(result, max_iter)
    return view.by_node(result["centrality"])


# ---- paths


def _betweenness_fits(graph: Any, given: Mapping[str, Any]) -> Reason:
    if given["endpoints"]:
        return "`endpoints` is true: the ends of paths are not counted"
    if given["k"] is not None and not 1 <= given["k"] <= len(graph):
        return "`k` is not between 1 and the number of nodes"
    return not_multigraph(graph, given)


def _searches(graph: Any, given: Mapping[str, Any]) -> tuple[int, str]:
    """A search over all edges from each node, or from some."""
    sources = len(graph) if given["k"] is None else given["k"]
    return sources * graph.number_of_edges(), "sources times edges"


@mapped(each(none("weight"), _betweenness_fits), factor=4, work=_searches)
def betweenness_centrality(
    G: Any,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Node, float]:
    """The share of shortest paths that lead through a node, in double precision; with ``k``, from the nodes that
    NetworkX draws with the same seed."""
    # GPUs have no doubles.
    view = open_view(G, device="cpu")
    nodes = view.vertices
    if k is None or k == nodes:
        sampled = None
        values = view.run("betweenness", double=True)["betweenness"] * (1.0 if view.directed else 2.0)
    else:
        sampled = nx.utils.create_py_random_state(seed).sample(view.nodes, k)
        values = view.run("betweenness", double=True, source=[view.id(node) for node in sampled])["betweenness"]
    scaled = values * _scales(view, nodes, sampled, normalized)
    return view.by_node(scaled)


def _scales(view: View, nodes: int, sampled: list[Node] | None, normalized: bool) -> Any:
    """What sums over sources are multiplied by: one number, or one of each node.

    Since its version 3.5, NetworkX scales sampled nodes by one source less than the others.
    """
    if nodes < 2:
        return 1.0
    pairs = max(nodes - 2, 1) if normalized else 1
    whole = 1.0 / ((nodes - 1) * pairs) if normalized else (1.0 if view.directed else 0.5)
    if sampled is None:
        return whole
    count = len(sampled)
    if VERSION < (3, 5):
        return whole * nodes / count
    among = set(sampled)
    others, own = (nodes - 1) / count, (nodes - 1) / (count - 1) if count > 1 else float("nan")
    return np.array([whole * (own if node in among else others) for node in view.order])
