"""Connected components of edges, without a store."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from . import _native
from ._arguments import ComponentsOptions
from ._edges import taken, write_vertices
from ._options import takes, word, words
from ._progress import Watcher
from .errors import DependencyError
from .graph import temporary_folder, watched

if TYPE_CHECKING:
    import pyarrow


@takes(ComponentsOptions)
def components(
    edges: Any,
    output: str | os.PathLike[str] | None = None,
    *,
    threshold: float | Iterable[float] | None = None,
    labels: Any = None,
    progress: bool | Watcher = False,
    **options: Unpack[ComponentsOptions],
) -> pyarrow.Table | dict[str, Any]:
    """Finds the connected components of edges, without making a store: records that are the same, by their pairs.

    Each component is named after its smallest id: the smallest number, or the first name, compared byte by byte.

    Args:
        edges: files as for :func:`format`, or edges in memory as for :func:`from_edges`.
        output: a file to write, by its ending: .parquet, .arrow, .csv, .npy or .txt. Without it the rows are returned.
        threshold: join vertices only by edges with at least this weight; several give a column each.
        labels: an earlier answer, a file or a table of PyArrow, to which the edges are added.
        progress: as for :func:`format`.

    Returns:
        A table with a row for each vertex: ``vertex`` and ``component``, or for each threshold a column such as
        ``component_0.95``. With ``output`` a dictionary: a summary.

    Raises:
        InputError: a line or a row is not valid; the text names it.
        BudgetError: the memory does not suffice.
        DependencyError: PyArrow is missing, and there is no ``output``.
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        given: dict[str, Any] = dict(options)
        kept = f"{folder}/components.arrow"
        given |= {"threshold": threshold, "labels": _file(labels, f"{folder}/labels.arrow"), "json": True}
        given["output"] = kept if output is None else output
        if output is None:
            _arrow()
        watch = stack.enter_context(watched(progress))
        summary: dict[str, Any] = json.loads(_said(edges, given, folder, watch))
        return summary if output is not None else _table(kept)


def _said(edges: Any, options: dict[str, Any], folder: str, watch: Watcher | None) -> str:
    """What the command prints about these edges."""
    files = _files(edges)
    if files is not None:
        return _native.call(["components", *words(options), "--", *files], watch)
    found = taken(edges, options)
    # Directions do not count.
    options.pop("symmetrize", None)
    if found.vertices:
        options["vertices"] = f"{folder}/vertices" + (".arrow" if isinstance(found.vertices[0], str) else ".txt")
        write_vertices(found.vertices, options["vertices"])
    return _native.components(found.table, found.is_held, words(options), watch)


def _files(edges: Any) -> list[str] | None:
    """The words of files, or none if these are edges in memory."""
    several = [edges] if isinstance(edges, str | os.PathLike) else edges
    if not isinstance(several, list | tuple) or not several:
        return None
    are_files = all(isinstance(one, str | os.PathLike) for one in several)
    return [word(one) for one in several] if are_files else None


def _file(labels: Any, path: str) -> str | os.PathLike[str] | None:
    """An earlier answer as a file."""
    if labels is None or isinstance(labels, str | os.PathLike):
        return labels
    arrow = _arrow()
    table = arrow.table(labels) if isinstance(labels, Mapping) or hasattr(labels, "__arrow_c_stream__") else labels
    with arrow.OSFile(path, "wb") as file, arrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return path


def _table(path: str) -> pyarrow.Table:
    arrow = _arrow()
    with arrow.OSFile(path, "rb") as file:
        return arrow.ipc.open_file(file).read_all()


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise DependencyError("components returns a table of PyArrow: `pip install pyarrow`, or give output=") from None
    return pyarrow
