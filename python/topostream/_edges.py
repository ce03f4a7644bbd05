"""Edges in memory, in the many forms that Python has for them, as what the native module takes.

A tuple of arrays or lists is columns, a list of tuples is edges. What can be read both ways is refused: two or three
lists of two or three numbers, arrays of 2 or 3 rows and 2 or 3 columns. What is no number as it stands (masked, null,
byte-swapped) is converted or refused here: the native module reads memory as it is.
"""

from __future__ import annotations

import importlib.util
import numbers
import sys
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import DependencyError, InputError

Column = Any
"""A contiguous array of numbers in the machine's byte order, or a list of strings."""
NAMES = ("source", "dest", "weight")


@dataclass
class Edges:
    """Edges as the native module takes them."""

    table: Any
    """Names and columns, or an object with an Arrow stream."""
    is_held: bool = True
    """Whether all of it is in memory: otherwise batches are made as they are asked for."""
    vertices: list[int] | list[str] | None = None
    """All vertices, where some have no edge and their ids are not all numbers below a limit."""
    has_direction: bool = False
    """Whether the input itself says if it is directed: hints that it looks otherwise are not for it."""


def taken(edges: Any, options: dict[str, Any]) -> Edges:
    """What the native module takes. Adds options that follow from the kind of the edges.

    Raises:
        InputError: they are not edges, or may be read in more than one way.
    """
    for of_kind in (_of_graph, _of_table, _of_matrix, _of_array, _of_sequence):
        found = of_kind(edges, options)
        if found is not None:
            return found
    raise InputError(
        "expected two or three arrays, a list of tuples, an array of two or three columns, a sparse matrix, a graph of "
        f"NetworkX or igraph, or a table with __arrow_c_stream__, found {described(edges)}"
        + ("; topostream.format reads files" if isinstance(edges, str) or hasattr(edges, "__fspath__") else "")
    )


def described(found: Any) -> str:
    """What is found: for arrays with their type and shape."""
    if isinstance(found, _Texts):
        return "strings"
    name = type(found).__name__
    dtype, shape = getattr(found, "dtype", None), getattr(found, "shape", None)
    if dtype is not None and isinstance(shape, tuple):
        return f"{name} of {dtype}, shape {shape}"
    if isinstance(found, list | tuple) and found:
        return f"{name} of {len(found)} items, the first of type {type(found[0]).__name__}"
    return f"{name} of {dtype}" if dtype is not None else name


def _module(of: Any) -> str:
    return type(of).__module__.partition(".")[0]


# ---- graphs of other packages


def _of_graph(edges: Any, options: dict[str, Any]) -> Edges | None:
    networkx, igraph = (sys.modules.get(name) for name in ("networkx", "igraph"))
    if networkx is not None and isinstance(edges, networkx.Graph):
        return _of_networkx(edges, options)
    if igraph is not None and isinstance(edges, igraph.Graph):
        return _of_igraph(edges, options)
    return None


def _attribute(options: dict[str, Any]) -> str | None:
    """The attribute of edges with their weights; the option is no longer a column's name."""
    attribute = options.pop("weight", "weight")
    return None if options.get("weight_type") == "ignore" else attribute


def _of_networkx(graph: Any, options: dict[str, Any]) -> Edges:
    asked = "weight" in options
    attribute = _attribute(options)
    listed = list(graph.edges(data=attribute, default=None)) if attribute is not None else list(graph.edges())
    source, dest = ([edge[end] for edge in listed] for end in (0, 1))
    weights = [edge[2] for edge in listed] if attribute is not None else []
    if all(weight is None for weight in weights):
        if asked and listed and attribute is not None:
            raise InputError(f"expected edges with an attribute {attribute!r}, found none")
        weights = []
    # Edges without the attribute weigh 1, as in NetworkX.
    weights = [1 if weight is None else weight for weight in weights]
    return _of_nodes(list(graph), (source, dest, weights), graph.is_directed(), options)


def _of_igraph(graph: Any, options: dict[str, Any]) -> Edges:
    asked = "weight" in options
    attribute = _attribute(options)
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    weights: list[Any] = []
    if attribute is not None and attribute in graph.es.attributes():
        weights = list(graph.es[attribute])
    elif attribute is not None and asked:
        raise InputError(f"expected edges with an attribute {attribute!r}, found {graph.es.attributes()}")
    if "name" not in graph.vs.attributes():
        return _of_nodes(list(range(graph.vcount())), (ends[:, 0], ends[:, 1], weights), graph.is_directed(), options)
    names = list(graph.vs["name"])
    if len(set(names)) < len(names):
        raise InputError("vertices have the same name: expected different ones, in the attribute 'name'")
    source, dest = ([names[vertex] for vertex in ends[:, end].tolist()] for end in (0, 1))
    return _of_nodes(names, (source, dest, weights), graph.is_directed(), options)


def _of_nodes(
    nodes: list[Any], columns: tuple[Any, Any, list[Any]], is_directed: bool, options: dict[str, Any]
) -> Edges:
    """The edges of a graph whose nodes are known, with and without edges."""
    source, dest, weights = columns
    try:
        ids = _column("node", nodes, "source")
    except InputError as error:
        raise InputError(
            f"{error}; networkx.convert_node_labels_to_integers(G, label_attribute='label') numbers nodes"
        ) from None
    table = [(name, _like(ids, name, column)) for name, column in (("source", source), ("dest", dest))]
    if len(weights):
        table.append(("weight", _column("weight", weights, "weight")))
    if not is_directed:
        options.setdefault("symmetrize", True)
    found = Edges(table, has_direction=True)
    if not {"ids", "vertices"} & options.keys():
        _keep_nodes(ids, table, found, options)
    return found


def _like(ids: Column, name: str, column: Any) -> Column:
    """A column of nodes in the type of all of them."""
    if not isinstance(ids, list):
        return np.ascontiguousarray(column, ids.dtype)
    return _column(name, column, "source") if len(column) else []


def _keep_nodes(ids: Column, table: list[tuple[str, Column]], found: Edges, options: dict[str, Any]) -> None:
    """Nodes without edges are vertices too."""
    listed = ids if isinstance(ids, list) else ids.tolist()
    if not isinstance(ids, list) and not options.get("names"):
        if listed and min(listed) < 0:
            raise InputError(f"expected nodes from 0 on (names=True takes ids as names), found {min(listed)}")
        if set(listed) == set(range(len(listed))):
            options["ids"] = len(listed)
            return
    ends = set[Any]().union(*(column if isinstance(column, list) else column.tolist() for _, column in table[:2]))
    if not ends.issuperset(listed):
        found.vertices = [str(vertex) for vertex in listed] if options.get("names") else listed


# ---- tables


def _of_table(edges: Any, options: dict[str, Any]) -> Edges | None:
    module = _module(edges)
    if module == "topostream":
        raise InputError(f"expected edges, found {described(edges)}; graphs and results have to_arrow(), a table")
    if module == "polars" and hasattr(edges, "collect") and not hasattr(edges, "__arrow_c_stream__"):
        try:
            edges = edges.collect()
        except Exception as error:
            raise _refused(edges, error) from error
    if module == "pandas" and type(edges).__name__ == "DataFrame":
        return _of_pandas(edges, options)
    if module == "polars" and type(edges).__name__ == "DataFrame":
        return _of_polars(edges)
    if module == "numpy" or not hasattr(edges, "__arrow_c_stream__"):
        # Relations of DuckDB had no stream in its first versions.
        return Edges(edges.arrow(), is_held=False) if hasattr(edges, "arrow") and hasattr(edges, "columns") else None
    return Edges(edges, is_held=_holds_all(edges))


def _holds_all(table: Any) -> bool:
    """Whether an object with an Arrow stream has all of it in memory: others make batches as they are asked for."""
    is_library = _module(table) in ("pandas", "polars", "pyarrow")
    return is_library and type(table).__name__ in ("DataFrame", "Table", "RecordBatch")


def _of_polars(frame: Any) -> Edges:
    for name, dtype in frame.schema.items():
        if str(dtype) == "Object":
            # Polars exports their addresses.
            raise InputError(
                f"column {name}: expected integers or strings, found Python objects; cast them, or drop it"
            )
    return Edges(frame)


def _of_pandas(frame: Any, options: dict[str, Any]) -> Edges:
    levels = [name for name in frame.index.names if name is not None]
    if levels and (len(frame.columns) < 2 or len(frame.index.names) > 1):
        # Such as the sums of groups: ends of edges are in the index.
        frame = frame.reset_index()
        levels = []
    named = [str(column) for column in frame.columns]
    if len(set(named)) < len(named):
        raise InputError(f"expected columns with different names, found {', '.join(named)}")
    if importlib.util.find_spec("pyarrow") is None:
        # Without PyArrow, pandas has no Arrow stream.
        return Edges([(str(name), _column(str(name), frame[name])) for name in frame.columns])
    import pyarrow

    swapped = {name: _native_order(frame[name].to_numpy()) for name in frame.columns if _is_swapped(frame[name].dtype)}
    frame = frame.assign(**swapped) if swapped else frame
    try:
        # The names of rows are a column only if somebody gave them.
        table = pyarrow.Table.from_pandas(frame, preserve_index=bool(levels))
    except Exception as error:
        large = _large(frame) if isinstance(error, OverflowError) else {}
        if not large:
            raise _refused(frame, error) from error
        return _of_pandas(frame.assign(**large), options)
    for place, field in enumerate(table.schema):
        storage = getattr(field.type, "storage_type", None)
        if storage is not None and pyarrow.types.is_integer(storage):
            # Periods are kept as numbers, and are no ids: as dates, they are refused where they are asked for.
            table = table.set_column(place, field.name, pyarrow.nulls(len(table), pyarrow.date32()))
    return Edges(table)


def _large(frame: Any) -> dict[Any, Any]:
    """Columns of objects that are integers of 64 bits, which PyArrow takes for signed ones."""
    names = [name for name in frame.columns if frame[name].dtype == object]
    values = {name: frame[name].tolist() for name in names}
    return {
        name: _of_numbers(str(name), of)
        for name, of in values.items()
        if all(isinstance(value, numbers.Integral) for value in of)
    }


def _is_swapped(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and not dtype.isnative


def _refused(edges: Any, error: Exception) -> InputError:
    lines = str(error.args[0] if error.args else error).splitlines()
    return InputError(f"{described(edges)}: {lines[0] if lines else 'no text'} ({type(error).__name__})")


def _of_matrix(edges: Any, options: dict[str, Any]) -> Edges | None:
    """A sparse matrix of SciPy. Entries that are stored are edges, also those of zero; of booleans, those that are
    true."""
    if not hasattr(edges, "tocoo"):
        return None
    shape = tuple(edges.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        found = f"{shape[0]} rows and {shape[1]} columns" if len(shape) == 2 else f"the shape {shape}"
        raise InputError(f"expected a square matrix, found {found}")
    matrix = edges.tocoo()
    # Rows without entries are vertices too.
    options.setdefault("ids", shape[0])
    rows, columns = matrix.coords if hasattr(matrix, "coords") else (matrix.row, matrix.col)
    data = matrix.data
    if isinstance(data, np.ma.MaskedArray):
        present = ~np.ma.getmaskarray(data)
        rows, columns, data = rows[present], columns[present], data.data[present]
    if data.dtype == bool:
        return _of_columns((rows, columns) if data.all() else (rows[data], columns[data]))
    return _of_columns((rows, columns, data))


# ---- arrays and sequences


def _of_array(edges: Any, options: dict[str, Any]) -> Edges | None:
    if isinstance(edges, np.ndarray):
        array = edges
    elif isinstance(edges, list | tuple) or not (hasattr(edges, "__array__") and hasattr(edges, "shape")):
        return None
    else:
        try:
            array = np.asarray(edges)
        except Exception as error:
            raise _refused(edges, error) from error
    if array.dtype.names is not None and array.ndim == 1:
        return Edges([(name, _column(name, array[name])) for name in array.dtype.names])
    if isinstance(array, np.matrix):
        array = np.asarray(array)
    if array.ndim != 2:
        raise InputError(
            "expected an array of shape (n, 2) or (2, n), or with weights of (n, 3) or (3, n), found "
            f"{described(array)}"
        )
    rows, columns = array.shape
    by_row, by_column = columns in (2, 3), rows in (2, 3)
    if by_row and by_column:
        raise InputError(
            f"an array of shape {array.shape} may have an edge in each row or in each column: pass tuple(array.T) if "
            "its rows are edges, tuple(array) if its rows are sources, destinations and weights"
        )
    if not by_row and not by_column:
        hint = "; scipy.sparse.coo_array(matrix) makes edges of a matrix" if rows == columns else ""
        raise InputError(f"expected an array of 2 or 3 columns, or of 2 or 3 rows, found {described(array)}{hint}")
    return _of_columns(tuple(array.T) if by_row else tuple(array), is_shared=True)


def _of_sequence(edges: Any, options: dict[str, Any]) -> Edges | None:
    if _module(edges) == "networkx":
        # The edges of an undirected graph have no direction, which a list of them does not say.
        raise InputError(f"expected edges, found {described(edges)}: pass the graph, or a list of tuples")
    if isinstance(edges, str | bytes | bytearray | Mapping) or not isinstance(edges, Iterable):
        return None
    is_tuple = isinstance(edges, tuple)
    items = edges if isinstance(edges, list | tuple) else list(edges)
    if len(items) == 0:
        return _of_columns(([], []))
    if is_tuple and len(items) in (2, 3) and all(map(_is_column, items)):
        if not all(isinstance(item, tuple) for item in items):
            return _of_columns(items)
    elif not is_tuple and all(isinstance(item, tuple) for item in items):
        return _of_rows(items)
    if not all(map(_is_column, items)):
        return None
    return _of_lists(items)


def _of_lists(items: Any) -> Edges:
    """Lists in a list, or tuples in a tuple: columns or edges, where their number says which."""
    lengths = {len(item) for item in items}
    by_row, by_column = lengths <= {2, 3} and len(lengths) == 1, len(items) in (2, 3)
    if by_row and by_column:
        length = len(items[0])
        raise InputError(
            f"{len(items)} sequences of {length} items may be edges, or columns: pass a list of tuples for edges, "
            "[(1, 2), (3, 4)], and a tuple of lists or arrays for columns, ([1, 3], [2, 4])"
        )
    if by_column:
        return _of_columns(items)
    return _of_rows(items)


def _is_column(item: Any) -> bool:
    # Sets have no order: they would be edges of any direction.
    if isinstance(item, str | bytes | bytearray | Mapping | Set):
        return False
    try:
        len(item)
    except TypeError:
        return False
    return isinstance(item, Iterable)


def _of_rows(rows: Any) -> Edges:
    """Edges, each with its ends and perhaps a weight."""
    length = len(rows[0])
    for number, row in enumerate(rows):
        if len(row) not in (2, 3) or len(row) != length:
            found = f"{len(row)} items in item {number}, {row!r}"
            expected = "2 or 3 items" if length not in (2, 3) else f"{length} items, as item 0 has"
            raise InputError(f"expected edges of {expected}, found {found}")
    return _of_columns([list(column) for column in zip(*rows, strict=True)])


def _of_columns(columns: Any, *, is_shared: bool = False) -> Edges:
    """Sources, destinations and weights. ``is_shared``: they are of one array, so that ids may be whole floats."""
    found = [
        (name, _column(name, column, "whole" if is_shared and name != "weight" else name))
        for name, column in zip(NAMES, columns, strict=False)
    ]
    if len({len(column) for _, column in found}) > 1:
        lengths = ", ".join(str(len(column)) for _, column in found)
        raise InputError(f"expected arrays of one length, found {lengths}")
    return Edges(found)


# ---- columns


def _column(name: str, column: Any, role: str | None = None) -> Column:
    """A column as the native module takes it.

    ``role``: ``source``, ``dest`` and ``weight`` have ids and weights, ``whole`` ids that may be floats; without, it is
    a column of a table that has either.

    Raises:
        InputError: a value is missing, or is neither.
    """
    is_list = isinstance(column, list | tuple | range)
    array = _of_list(name, list(column), role) if is_list else _unmasked(name, column)
    if array.ndim != 1:
        raise InputError(f"column {name}: expected an array of one dimension, found {described(array)}")
    if array.dtype.kind == "O":
        array = _of_objects(name, array.tolist(), role)
    kind = array.dtype.kind
    is_id = role in ("source", "dest", "whole")
    if kind in "UT" and role != "weight":
        return [str(text) for text in array.tolist()]
    if kind == "S" and role != "weight":
        try:
            return [text.decode() for text in array.tolist()]
        except UnicodeDecodeError as error:
            raise InputError(f"column {name}: expected strings in UTF-8, found {error.object!r}") from None
    if role == "whole" and kind == "f":
        array = _whole(name, array)
    elif kind not in "iuf" or is_id and kind == "f":
        expected = "an array of numbers" if role == "weight" else "an array of integers or strings"
        hint = "; astype('int64') makes integers of whole numbers" if kind == "f" else ""
        raise InputError(f"column {name}: expected {expected}, found {described(array)}{hint}")
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        array = array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    array = np.ascontiguousarray(_native_order(array))
    return array if array.flags.aligned else array.copy()


def _native_order(array: Any) -> Any:
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _unmasked(name: str, column: Any) -> Any:
    """A column of a library as an array. Values that are masked or null are errors."""
    missing: Any = None
    if isinstance(column, np.ma.MaskedArray):
        missing, column = np.ma.getmaskarray(column), column.data
    elif hasattr(column, "isna"):
        missing = np.asarray(column.isna())
    elif hasattr(column, "null_count"):
        count = column.null_count
        if count() if callable(count) else count:
            is_null = column.is_null()
            missing = np.asarray(is_null.to_numpy(zero_copy_only=False) if _module(column) == "pyarrow" else is_null)
    if missing is not None and missing.any():
        row = int(np.argwhere(missing)[0][0])
        what = "masked" if missing is not None and isinstance(column, np.ndarray) else "null"
        raise InputError(f"column {name}: expected a value in every row, found one that is {what} in row {row}")
    try:
        if _module(column) == "pyarrow" and hasattr(column.type, "value_type") and hasattr(column.type, "index_type"):
            column = column.cast(column.type.value_type)
        return np.asarray(column)
    except Exception as error:
        raise InputError(f"column {name}: {described(column)}: {error}") from error


def _of_list(name: str, values: list[Any], role: str | None) -> Any:
    """A list as an array: NumPy would make strings or floats of values of several types."""
    if not values:
        return np.zeros(0, np.int64)
    try:
        array = np.asarray(values)
    except Exception:
        # Lists of several lengths, numbers of more than 64 bits.
        return _of_objects(name, values, role)
    return array if array.dtype.kind in "iuMm" or array.ndim != 1 else _of_objects(name, values, role)


def _of_objects(name: str, values: list[Any], role: str | None) -> Any:
    """An array of values of any type: all integers, all numbers, or all strings."""
    if not values:
        return np.zeros(0, np.int64)
    for row, value in enumerate(values):
        if _is_missing(value):
            raise InputError(f"column {name}: expected a value in every row, found {value!r} in row {row}")
    if all(isinstance(value, str) for value in values):
        texts = np.empty(len(values), object)
        texts[:] = values
        return _Texts(texts)
    first = next((row for row, value in enumerate(values) if not _is_number(value)), None)
    if first is None:
        return _of_numbers(name, values, role)
    expected, found = ("numbers" if role == "weight" else "integers or strings"), type(values[first]).__name__
    if role != "weight" and any(isinstance(value, str) for value in values):
        other = next(row for row, value in enumerate(values) if isinstance(value, str) != isinstance(values[0], str))
        types = f"{type(values[0]).__name__} in row 0, {type(values[other]).__name__} in row {other}"
        raise InputError(f"column {name}: expected {expected}, found {types}; str(value) makes strings")
    hint = "; a graph of NetworkX is taken with its weights" if isinstance(values[first], dict) else ""
    raise InputError(f"column {name}: expected {expected}, found {found} in row {first}{hint}")


class _Texts:
    """Strings as they are: arrays of strings of NumPy cut zero bytes off."""

    ndim = 1

    def __init__(self, texts: Any) -> None:
        self._texts = texts
        self.dtype, self.shape = np.dtype("U"), texts.shape

    def tolist(self) -> list[str]:
        found: list[str] = self._texts.tolist()
        return found


def _is_missing(value: Any) -> bool:
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, numbers.Real) and value != value


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def _of_numbers(name: str, values: list[Any], role: str | None = None) -> Any:
    if not all(isinstance(value, numbers.Integral) for value in values):
        try:
            return np.array([float(value) for value in values])
        except OverflowError as error:
            raise InputError(f"column {name}: {error}") from None
    least, largest = min(values), max(values)
    if least >= -(2**63) and largest < 2**63:
        return np.array([int(value) for value in values], np.int64)
    if least >= 0 and largest < 2**64:
        return np.array([int(value) for value in values], np.uint64)
    row = next(row for row, value in enumerate(values) if not 0 <= value < 2**64)
    kind, hint = ("a weight", "; float(value) makes weights of f64") if role == "weight" else ("an id", "")
    raise InputError(f"column {name}: expected {kind} from 0 to 2^64 - 1, found {values[row]} in row {row}{hint}")


def _whole(name: str, array: Any) -> Any:
    """Ids of an array of floats, which has weights too."""
    exact = 2.0 ** (np.finfo(array.dtype).nmant + 1)
    wrong = np.flatnonzero(~((array == np.floor(array)) & (array >= 0) & (array < min(exact, 2.0**63))))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"column {name}: expected ids that are integers, or whole numbers which {array.dtype} has exactly, found "
            f"{array[row]} in row {row}"
        )
    return array.astype(np.int64)


def write_vertices(vertices: list[int] | list[str], path: str) -> None:
    """Writes the vertices of a graph to a file for the option ``vertices``: numbers as lines, strings for Arrow."""
    if not isinstance(vertices[0], str):
        with open(path, "w") as file:
            file.writelines(f"{vertex}\n" for vertex in vertices)
        return
    try:
        import pyarrow
        import pyarrow.feather
    except ImportError as error:
        raise DependencyError("vertices without edges whose ids are strings need PyArrow") from error
    table = pyarrow.table({"vertex": pyarrow.array(vertices, pyarrow.string())})
    pyarrow.feather.write_feather(table, path, compression="uncompressed")
