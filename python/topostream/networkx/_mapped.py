"""The register of mapped functions, and the checks that say whether a call can run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import networkx as nx

from .. import _native
from ..errors import TopostreamError
from ..graph import Graph
from ._fallback import NAME, falling_back
from ._graph import Converted, config

VERSION = tuple(int(part) for part in nx.__version__.split(".")[:2])
"""NetworkX's, major and minor."""
Reason = bool | str
"""True, or why not."""
Function = Callable[..., Any]
Check = Callable[[Any, Mapping[str, Any]], Reason]
"""Takes the graph, of this backend or any other, and the arguments of a call by name."""

Work = Callable[[Any, Mapping[str, Any]], tuple[int, str]]
"""What NetworkX does for a call, as a number, and what it is the number of."""

FUNCTIONS: dict[str, Function] = {}
"""The mapped functions by NetworkX's names."""
COUNTS: dict[str, Function] = {}
"""Functions that say how many there are of something, of stores alone."""
_checks: dict[str, tuple[inspect.Signature, Check]] = {}
_passes: set[str] = set()
"""The functions for which NetworkX passes over the edges at most once."""
_factors: dict[str, float] = {}
"""From how many times ``min_edges`` edges on a conversion pays, if not from once as many."""
_works: dict[str, Work] = {}
"""What decides instead of the number of edges."""


def always(graph: Any, given: Mapping[str, Any]) -> Reason:
    """Every call can run."""
    return True


def mapped(
    check: Check = always, *, is_one_pass: bool = False, factor: float = 1, work: Work | None = None
) -> Callable[[Function], Function]:
    """Adds a function to the backend, with what says whether it can run. The null graph is left to NetworkX.

    ``is_one_pass``: NetworkX takes no longer than a conversion, which passes over all edges too. Otherwise a conversion
    pays from ``factor`` times ``min_edges`` edges on, or of ``work``: see ``docs/networkx.md``.
    """

    def take(function: Function) -> Function:
        name = function.__name__
        _checks[name] = (inspect.signature(function), check)
        _factors[name] = factor
        if work is not None:
            _works[name] = work
        if is_one_pass:
            _passes.add(name)

        def call(G: Any, *args: Any, **kwargs: Any) -> Any:
            if len(G) == 0:
                null = nx.DiGraph() if G.is_directed() else nx.Graph()
                original = getattr(nx, name, None) or getattr(nx.community, name)
                return original.orig_func(null, *args, **kwargs)
            if isinstance(G, Graph):
                return function(G, *args, **kwargs)
            with falling_back(name, name):
                return function(G, *args, **kwargs)

        call.__name__, call.__doc__ = name, function.__doc__
        FUNCTIONS[name] = call
        return call

    return take


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Reason:
    """Whether a call can run here, or why not."""
    if name in COUNTS:
        is_store = isinstance(args[0] if args else kwargs.get("G"), Graph)
        return True if is_store else "it is for stores: NetworkX has the number of a graph in memory"
    if name not in _checks:
        return "it is not mapped"
    signature, check = _checks[name]
    try:
        given = signature.bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    given.apply_defaults()
    try:
        return check(given.arguments["G"], given.arguments)
    except TopostreamError:
        # Of a store that is damaged.
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Reason:
    """Whether a call that can run is worth a conversion, or why not."""
    graph = args[0] if args else kwargs.get("G")
    if graph is None or getattr(graph, "__networkx_backend__", None) == NAME:
        return True
    forked = _native.forked()
    if forked is not None:
        return forked
    cache = getattr(graph, "__networkx_cache__", None)
    if cache and cache.get("backends", {}).get(NAME):
        return True
    if name in _passes:
        return "a conversion takes longer than the function"
    try:
        return _pays(name, graph, args, kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _pays(name: str, graph: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Reason:
    """Whether the graph is large enough for a conversion, or how large it is."""
    least = int((config()["min_edges"] or 0) * _factors.get(name, 1))
    found, unit = graph.number_of_edges(), "edges"
    if name in _works:
        given = _checks[name][0].bind(*args, **kwargs)
        given.apply_defaults()
        found, unit = _works[name](graph, given.arguments)
    return True if found >= least else f"a conversion pays from {least} {unit} on, and the graph has {found}"


def attribute(given: Mapping[str, Any], name: str = "weight") -> Reason:
    """The weight is the name of an attribute, or none."""
    weight = given.get(name)
    return True if weight is None or isinstance(weight, str) else f"`{name}` is a function"


def unweighted(graph: Any, given: Mapping[str, Any]) -> Reason:
    """Only the graph's own weights, if there are any, tell whether they matter."""
    if given.get("weight") is None:
        return True
    if isinstance(graph, Converted) and graph.has_all:
        graph = graph.original() or graph
    store = graph.store if isinstance(graph, Converted) else graph
    if store is None or isinstance(store, Graph):
        return "the algorithm ignores weights, and the store has some" if store and store.weights else True
    weight = given["weight"]
    if not isinstance(weight, str):
        return "`weight` is a function"
    plain = all(found == 1 for _, _, found in graph.edges(data=weight, default=1))
    return True if plain else "the algorithm ignores weights, and edges have some"


def none(*names: str) -> Check:
    """None of these arguments is given."""

    def check(graph: Any, given: Mapping[str, Any]) -> Reason:
        found = [name for name in names if given.get(name) is not None]
        return f"`{found[0]}` is not supported" if found else True

    return check


def each(*checks: Check) -> Check:
    """All of these checks; the reason is that of the first one that fails."""

    def check(graph: Any, given: Mapping[str, Any]) -> Reason:
        return next((found for one in checks if (found := one(graph, given)) is not True), True)

    return check


def simple(graph: Any, given: Mapping[str, Any]) -> Reason:
    """Undirected, and without repeated edges."""
    return "the graph is directed" if graph.is_directed() else not_multigraph(graph, given)


def no_loops(graph: Any, given: Mapping[str, Any]) -> Reason:
    """No edge leads from a node to itself. All edges of a store are read for that once."""
    if isinstance(graph, Graph):
        loops = graph._kinds_of_edges[0]
    else:
        loops = graph.loops if isinstance(graph, Converted) else nx.number_of_selfloops(graph)
    return "the graph has loops" if loops else True


def not_multigraph(graph: Any, given: Mapping[str, Any]) -> Reason:
    """No edge is repeated. All edges of a store are read for that once."""
    return "the graph is a multigraph" if graph.is_multigraph() else True
