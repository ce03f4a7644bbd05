"""Runs over a graph."""

from __future__ import annotations

import atexit
import inspect
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Unpack

from . import _native
from ._algorithms import Algorithms
from ._arguments import SessionOptions
from ._options import Vertex, call, takes, words
from ._progress import RunProgress, Watcher, closed, watcher
from ._warnings import warn
from .errors import ConvergenceWarning, SessionError
from .graph import Graph
from .result import Path, Result

# Runs that Ctrl-C has ended may still be ending by themselves.
atexit.register(_native.settle)


@takes(SessionOptions)
class Session(Algorithms):
    """A graph that is open for runs; every algorithm of the catalogue is a method.

    It keeps pages, devices and compiled kernels from one run to the next, until it is closed: use it in a ``with``
    statement. Several threads may use one session: their runs follow each other. A session cannot be used in a process
    that was forked after work was done: start processes with the methods "spawn" or "forkserver".

    Sizes are numbers of bytes, or written ``"2GiB"``, ``"512MB"``. Results that are alive are part of ``memory``.

    Raises:
        ParameterError: an option does not exist, or its value is not valid.
        StoreError: the store is damaged, or another one has replaced it.
    """

    def __init__(self, graph: Graph, **options: Unpack[SessionOptions]) -> None:
        self._graph = graph
        self._options: Mapping[str, Any] = options
        self._native: _native.RunSession | None = _native.RunSession(
            str(graph.path), graph._fingerprint, words(options)
        )

    @classmethod
    def _over(cls, graph: Graph, native: _native.RunSession, options: Mapping[str, Any]) -> Session:
        """A session that shares an open engine."""
        session = cls.__new__(cls)
        session._graph, session._options, session._native = graph, options, native
        return session

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    def close(self) -> None:
        """Frees pages and devices. Results stay."""
        self._native = None

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, algorithm: str, *, progress: bool | Watcher = False, **options: Any) -> Result:
        """Runs an algorithm by its name in the catalogue, with its options as keyword arguments.

        Raises:
            ParameterError: there is no such algorithm, an option is not valid, or the graph lacks what it needs.
            BudgetError: the run does not fit in the session's memory.
            DeviceError: there is no such device, or it has failed.
            StoreError: a page is damaged.
            SessionError: the session is closed.

        Warns:
            ConvergenceWarning: it has stopped before its values converged: see :attr:`Result.converged`.
        """
        result = self._run_quietly(algorithm, progress, options)
        if result.converged is False:
            warn(_not_converged(algorithm, result.summary["convergence"]), ConvergenceWarning)
        return result

    def path(
        self, source: Vertex, target: Vertex, *, weighted: bool | None = None, progress: bool | Watcher = False
    ) -> Path | None:
        """A shortest path between two vertices; ``None`` if there is none.

        Its length is the sum of weights if the graph has any, otherwise the number of edges; ``weighted`` says which.
        For paths from one source to many, :meth:`sssp` or :meth:`bfs` with ``parents=True`` is asked once, and
        :meth:`Result.path` for each.

        Raises:
            ParameterError: the graph has no such vertex, or no weights.
        """
        weighted = self._graph.weights is not None if weighted is None else weighted
        self._graph._vertex(target)
        name = "sssp" if weighted else "bfs"
        return self.run(name, source=source, parents=True, progress=progress).path(target)

    def _run_quietly(self, algorithm: str, progress: bool | Watcher, options: Mapping[str, Any]) -> Result:
        """A run without a warning."""
        if self._native is None:
            raise SessionError("the session is closed")
        name = algorithm.replace("_", "-")
        given = words(options, name)
        watch = watcher(progress, RunProgress)
        try:
            called = f"session({call(self._options)}).{algorithm.replace('-', '_')}({call(options)})"
            native = self._native.run(name, given, called, watch)
        finally:
            closed(watch)
        return Result(self._graph, native)

    def _run(self, algorithm: str, given: dict[str, Any]) -> Result:
        # Options that have their defaults are not given: some exclude each other.
        method = getattr(Algorithms, algorithm.replace("-", "_"))
        defaults = {name: parameter.default for name, parameter in inspect.signature(method).parameters.items()}
        options = {name: value for name, value in given.items() if name != "self" and value is not defaults[name]}
        return self.run(algorithm, **options)

    def __repr__(self) -> str:
        return f"<topostream.Session over {self._graph!r}{', closed' if self._native is None else ''}>"


def _not_converged(algorithm: str, found: Mapping[str, Any]) -> str:
    iterations, residual, tolerance = found["iterations"], found["residual"], found["tolerance"]
    taken = inspect.signature(getattr(Algorithms, algorithm.replace("-", "_"))).parameters
    ways = [f"max_iterations={10 * iterations} allows more"] if "max_iterations" in taken else []
    ways += ["a larger tolerance needs fewer"] if "tolerance" in taken else []
    return (
        f"{algorithm} has not converged after {iterations:,} iterations: the last one changed {residual:.2e}, more "
        f"than {tolerance:g}" + (f"; {', '.join(ways)}" if ways else "")
    )
