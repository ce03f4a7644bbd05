"""Stores of edges in memory and in files."""

import re
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import duckdb
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import topostream as ts

SOURCE = np.array([30, 30, 3352, 1412, 7])
DEST = np.array([1412, 3352, 1412, 30, 7])
PAIRS = sorted(zip(SOURCE.tolist(), DEST.tolist(), strict=True))


def pairs(graph: ts.Graph) -> list[tuple[int, int]]:
    source, dest, _ = graph.edge_arrays()
    return sorted(zip(graph.ids[source].tolist(), graph.ids[dest].tolist(), strict=True))


@pytest.mark.parametrize("of", ["int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_arrays_of_every_width(of: str) -> None:
    graph = ts.from_edges((SOURCE.astype(of), DEST.astype(of)))
    assert pairs(graph) == PAIRS
    # A part of a larger array, and one that is read backwards.
    strided = np.repeat(SOURCE.astype(of), 2)[::2]
    assert pairs(ts.from_edges((strided, DEST.astype(of)[::-1][::-1]))) == PAIRS


@pytest.mark.parametrize("of", ["i2", "u4", "i8", "u8"])
def test_arrays_of_either_byte_order(of: str) -> None:
    """Also weights, columns of a structured array, and those of pandas."""
    swapped = SOURCE.astype(f">{of}"), DEST.astype(f">{of}")
    assert pairs(ts.from_edges(swapped)) == PAIRS
    for weight in (np.arange(5, dtype=">i4"), np.arange(5, dtype=">f4"), np.arange(5, dtype=">f8")):
        graph = ts.from_edges((*swapped, weight))
        source, _, found = graph.edge_arrays()
        assert found is not None and sorted(found.tolist()) == [0, 1, 2, 3, 4]
        assert graph.ids[source[found.tolist().index(2)]] == SOURCE[2]
    rows = np.array(list(zip(SOURCE, DEST, strict=True)), [("to_not", f">{of}"), ("from", f"<{of}")])
    rows.dtype.names = ("src", "dst")
    assert pairs(ts.from_edges(rows)) == PAIRS
    assert pairs(ts.from_edges(pd.DataFrame({"source": swapped[0], "target": swapped[1]}))) == PAIRS


def test_arrays_that_are_not_aligned() -> None:
    memory = np.frombuffer(b"x" + SOURCE.tobytes() + DEST.tobytes(), np.uint8)[1:]
    source, dest = memory[:40].view(np.int64), memory[40:].view(np.int64)
    assert not source.flags.aligned
    assert pairs(ts.from_edges((source, dest))) == PAIRS


LISTED = list(zip(SOURCE.tolist(), DEST.tolist(), strict=True))
WEIGHED = [(a, b, 0.5 * n) for n, (a, b) in enumerate(LISTED)]
EDGES = {
    "a list of tuples": LISTED,
    "a generator": (edge for edge in LISTED),
    "keys of a dictionary": dict.fromkeys(LISTED).keys(),
    "a list of lists": [list(edge) for edge in LISTED],
    "a tuple of lists": (SOURCE.tolist(), DEST.tolist()),
    "a list of arrays": [SOURCE, DEST],
    "tuples in a tuple": (tuple(SOURCE.tolist()), tuple(DEST.tolist())),
    "rows": np.stack([SOURCE, DEST], axis=1),
    "columns": np.stack([SOURCE, DEST]),
    "columns of Fortran": np.asfortranarray(np.stack([SOURCE, DEST])),
    "rows backwards": np.stack([SOURCE, DEST], axis=1)[::-1],
    "rows of objects": np.stack([SOURCE, DEST], axis=1).astype(object),
    "rows of whole floats": np.stack([SOURCE, DEST], axis=1).astype(float),
    "rows without a mask": np.ma.array(np.stack([SOURCE, DEST], axis=1)),
    "columns of objects": (SOURCE.astype(object), DEST.astype(object)),
    "nullable columns": (pd.Series(SOURCE, dtype="Int64"), pd.array(DEST, dtype="UInt16")),
    "columns of Polars": (pl.Series(SOURCE, dtype=pl.UInt64), pl.Series(DEST)),
    "columns of PyArrow": (pa.array(SOURCE), pa.chunked_array([DEST[:2], DEST[2:]])),
    "a lazy frame": pl.LazyFrame({"source": SOURCE, "target": DEST}),
    "rows of pandas that were chosen": pd.DataFrame({"a": [9, *SOURCE], "b": [9, *DEST]}).iloc[1:],
    "objects of pandas": pd.DataFrame({"a": SOURCE, "b": DEST}, dtype=object),
    "an index of pandas": pd.DataFrame({"source": SOURCE, "target": DEST, "n": 1}).set_index(["source", "target"]),
}


@pytest.mark.parametrize("form", EDGES)
def test_edges_in_every_form(form: str) -> None:
    assert pairs(ts.from_edges(EDGES[form])) == PAIRS


def test_weights_in_every_form() -> None:
    arrays = SOURCE, DEST, [0.0, 0.5, 1.0, 1.5, 2.0]
    for edges in (WEIGHED, arrays, np.array(WEIGHED), np.array(WEIGHED).T, (*arrays[:2], np.arange(5) / np.float16(2))):
        graph = ts.from_edges(edges)
        source, dest, weights = graph.edge_arrays()
        assert weights is not None
        found = zip(graph.ids[source].tolist(), graph.ids[dest].tolist(), weights.tolist(), strict=True)
        assert sorted(found) == sorted(WEIGHED)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_list_of_tuples_is_edges_and_a_tuple_of_lists_is_columns(count: int) -> None:
    """Also where they are as many as they are long."""
    listed = LISTED[:count]
    assert pairs(ts.from_edges(listed)) == sorted(listed)
    weighed = ts.from_edges(WEIGHED[:count])
    assert pairs(weighed) == sorted(listed) and weighed.weights == "f32"
    assert pairs(ts.from_edges(([one for one, _ in listed], [other for _, other in listed]))) == sorted(listed)


@pytest.mark.parametrize(
    "edges",
    [
        [[1, 2], [3, 4]],
        ((1, 2), (3, 4)),
        [np.array([1, 2, 3]), np.array([3, 4, 5])],
        np.array([[1, 2], [3, 4]]),
        np.array([[1, 2, 3], [3, 4, 5]]),
        np.array([[1, 2], [3, 4], [5, 6]]),
    ],
)
def test_what_may_be_edges_or_columns_is_refused(edges: object) -> None:
    with pytest.raises(ts.InputError, match="may "):
        ts.from_edges(edges)


NAMED = [("b", "a"), ("a", "ü x"), ("ü x", "b"), ("a\0", "b")]


@pytest.mark.parametrize(
    "edges",
    [
        NAMED,
        tuple(list(column) for column in zip(*NAMED, strict=True)),
        np.array(NAMED, object),
        pa.table({"source": [a for a, _ in NAMED], "target": [b for _, b in NAMED]}),
        pl.DataFrame(NAMED, schema=["source", "target"], orient="row").lazy(),
        tuple(pd.Series(column).astype("category") for column in zip(*NAMED, strict=True)),
        tuple(pa.array(column).dictionary_encode() for column in zip(*NAMED, strict=True)),
    ],
)
def test_ids_may_be_strings(edges: object) -> None:
    graph = ts.from_edges(edges)
    source, dest, _ = graph.edge_arrays()
    assert sorted(zip(graph.ids[source], graph.ids[dest], strict=True)) == sorted(NAMED)


def test_arrays_of_strings() -> None:
    for of in ("U", "S"):
        graph = ts.from_edges((np.array(["b", "a"], of), np.array(["a", "c"], of)))
        assert sorted(graph.ids) == ["a", "b", "c"]


def test_ids_of_64_bits() -> None:
    """Where there is no number for none, columns of ids are objects."""
    large = 2**63, 2**64 - 1, 2**63 + 5
    frame = pd.DataFrame({"a": [5, *large], "b": [*large, 6]}, dtype=object)
    for edges in ([(large[0], large[1]), (5, large[2])], (list(large), list(large)[::-1]), frame):
        assert set(large) <= set(ts.from_edges(edges).ids.tolist())
    graph = ts.from_edges([(large[0], large[1]), (5, 6)])
    with graph.session(memory="256MiB", device="cpu") as session:
        result = session.bfs(source=large[0], parents=True)
    parents = {large[0]: large[0], large[1]: large[0], 5: None, 6: None}
    assert result.to_dict("parent") == parents
    column = result.to_pandas()["parent"]
    assert {vertex: None if pd.isna(found) else int(found) for vertex, found in column.items()} == parents
    assert dict(result.to_polars()["vertex", "parent"].iter_rows()) == parents


def test_graphs_of_networkx() -> None:
    directed = nx.DiGraph(LISTED)
    graph = ts.from_edges(directed)
    assert pairs(graph) == PAIRS and graph.directed and graph.weights is None
    undirected = nx.Graph(LISTED)
    graph = ts.from_edges(undirected)
    assert not graph.directed and nx.utils.edges_equal(pairs(graph), list(undirected.edges))
    directed.add_node(99)
    assert sorted(ts.from_edges(directed).ids.tolist()) == [7, 30, 99, 1412, 3352], "vertices without edges stay"
    assert sorted(ts.from_edges(nx.path_graph(4)).ids.tolist()) == [0, 1, 2, 3]
    assert ts.from_edges(nx.empty_graph(5)).vertices == 5
    named = nx.relabel_nodes(nx.path_graph(4), {0: "a", 1: "#b", 2: 'c "d"', 3: "e,\tf"})
    named.add_node("vertex")
    named.edges["a", "#b"]["cost"] = 2
    graph = ts.from_edges(named, weight="cost")
    assert set(graph.ids) == set(named) and graph.weights == "u32"
    source, dest, weights = graph.edge_arrays()
    assert weights is not None
    for a, b, weight in zip(graph.ids[source], graph.ids[dest], weights.tolist(), strict=True):
        assert weight == named.edges[a, b].get("cost", 1)
    assert ts.from_edges(named, weight="cost", weight_type="ignore").weights is None
    assert ts.from_edges(nx.MultiDiGraph([(0, 1), (0, 1)])).edges == 2
    for wrong, message in (
        (nx.grid_2d_graph(2, 2), "convert_node_labels_to_integers"),
        (nx.Graph([(-1, 2)]), "names=True"),
        (nx.Graph([("a", 1)]), "str in row 0, int in row 1"),
        (nx.Graph([(1.5, 2)]), "float"),
        (nx.Graph([(True, "a")]), "row 0"),
    ):
        with pytest.raises(ts.InputError, match=message):
            ts.from_edges(wrong)
    with pytest.raises(ts.InputError, match="attribute 'price'"):
        ts.from_edges(named, weight="price")
    assert sorted(ts.from_edges(nx.Graph([(-1, 2)]), names=True).ids) == ["-1", "2"]


def test_graphs_of_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    plain = igraph.Graph(n=5, edges=[(0, 1), (1, 2)], directed=True)
    graph = ts.from_edges(plain)
    assert (graph.vertices, pairs(graph), graph.directed) == (5, [(0, 1), (1, 2)], True)
    named = igraph.Graph(n=4, edges=[(0, 1), (1, 2)])
    named.vs["name"] = ["a", "b", "c", "alone"]
    named.es["weight"] = [2, 3]
    graph = ts.from_edges(named)
    assert set(graph.ids) == {"a", "b", "c", "alone"} and (graph.directed, graph.weights) == (False, "u32")
    named.vs["name"] = ["a", "a", "c", "alone"]
    with pytest.raises(ts.InputError, match="same name"):
        ts.from_edges(named)


def test_tables_of_every_library() -> None:
    frame = pd.DataFrame({"source": SOURCE, "target": DEST})
    tables = [frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), duckdb.sql("select * from frame")]
    for table in tables:
        assert pairs(ts.from_edges(table)) == PAIRS, type(table)
    named = ts.from_edges(frame.rename(columns={"source": "x", "target": "y"}), source="x", dest="y")
    assert pairs(named) == PAIRS


def batches(count: int, rows: int, wait: float = 0.0) -> pa.RecordBatchReader:
    """Edges that are made as they are asked for."""

    def made() -> Iterator[pa.RecordBatch]:
        for number in range(count):
            time.sleep(wait)
            first = np.arange(number * rows, (number + 1) * rows)
            yield pa.record_batch({"source": first, "target": first * 7919 % (count * rows)})

    return pa.RecordBatchReader.from_batches(pa.schema({"source": pa.int64(), "target": pa.int64()}), made())


@pytest.mark.parametrize("in_edges", [False, True])
def test_a_stream_is_taken_within_the_memory(in_edges: bool, tmp_path: Path) -> None:
    """64 MB of edges: more than a quarter of the memory, so that they go to a temporary file."""
    ids = np.arange(4_000_000)
    expected = ts.from_edges((ids, ids * 7919 % len(ids)), in_edges=in_edges)
    seen: list[str] = []
    graph = ts.from_edges(
        batches(40, 100_000),
        memory="192MiB",
        in_edges=in_edges,
        temporary=tmp_path,
        progress=lambda stage, *_: seen.append(stage),
    )
    assert list(tmp_path.iterdir()) == []
    assert (graph.vertices, graph.edges) == (expected.vertices, expected.edges)
    for found, one in zip(graph.edge_arrays(), expected.edge_arrays(), strict=True):
        assert found is one or (found == one).all()


def test_the_interpreter_is_free_while_a_stream_is_made() -> None:
    counted, done = [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    assert ts.from_edges(batches(10, 10, wait=0.05)).edges == 100
    found = counted[0] - before
    done.set()
    thread.join()
    assert found > 50, found


def test_arrays_are_read_where_they_are() -> None:
    """256 MB of edges within 192 MiB: a copy would not fit in what the process may take beside them."""
    program = """if True:
    import numpy as np, pathlib, topostream as ts
    def peak():
        lines = pathlib.Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))
    ids = np.random.default_rng(1).integers(1 << 20, size=(2, 16_000_000))
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    ts.from_edges((ids[0], ids[1]), memory="192MiB")
    print(peak() - before)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 240 << 20, f"{int(done.stdout) >> 20} MiB"


def test_what_a_stream_raises_is_in_the_error(tmp_path: Path) -> None:
    def made() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"source": [1], "target": [2]})
        raise RuntimeError("the table is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"source": pa.int64(), "target": pa.int64()}), made())
    with pytest.raises(ts.InputError, match=r"edges in memory: .*the table is gone"):
        ts.from_edges(reader, tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


def test_names_and_weights() -> None:
    frame = pd.DataFrame({"src": ["b", "a", "ü"], "dst": ["a", "ü", "b"], "weight": [1.5, 2.0, 0.25]})
    graph = ts.from_edges(frame)
    assert sorted(graph.ids) == ["a", "b", "ü"] and graph.weights == "f32"
    source, dest, weight = graph.edge_arrays()
    assert weight is not None
    found = {(graph.ids[a], graph.ids[b]): w for a, b, w in zip(source, dest, weight.tolist(), strict=True)}
    assert found == {("b", "a"): 1.5, ("a", "ü"): 2.0, ("ü", "b"): 0.25}
    with graph.session(memory="256MiB", device="cpu") as session:
        parents = session.bfs(source="b", parents=True)["parent"]
    assert dict(zip(graph.ids, parents, strict=True)) == {"a": "b", "b": "b", "ü": "a"}


def test_sparse_matrices() -> None:
    matrix = sp.random_array((40, 40), density=0.05, rng=np.random.default_rng(2), dtype=np.float32)
    graph = ts.from_edges(matrix)
    assert graph.vertices == 40, "rows without entries are vertices"
    order = np.argsort(graph.ids)
    np.testing.assert_array_equal(graph.to_scipy().toarray()[np.ix_(order, order)], matrix.toarray())
    symmetric = ts.from_edges(sp.csr_matrix(sp.triu(matrix)), symmetrize=True)
    order = np.argsort(symmetric.ids)
    found = symmetric.to_scipy().toarray()[np.ix_(order, order)]
    np.testing.assert_array_equal(found, found.T)
    with pytest.raises(ts.InputError, match="2 rows and 3 columns"):
        ts.from_edges(sp.csr_matrix((2, 3)))
    flags = sp.coo_array((np.array([True, False]), ([0, 1], [1, 0])), shape=(2, 2))
    assert pairs(ts.from_edges(flags)) == [(0, 1)], "what is false is no edge"
    zeros = sp.coo_array((np.array([3, 0]), ([0, 1], [1, 0])), shape=(2, 2))
    assert ts.from_edges(zeros).edges == 2, "an entry of zero is one"


def test_files(tmp_path: Path) -> None:
    for part in range(2):
        table = pa.table({"from_user": SOURCE[part::2], "to_user": DEST[part::2]})
        pq.write_table(table, tmp_path / f"part-{part}.parquet")
    pattern = str(tmp_path / "part-*.parquet")
    graph = ts.format(pattern, tmp_path / "store", source="from_user", dest="to_user", memory="256MiB")
    assert pairs(graph) == PAIRS and graph.path == tmp_path / "store"
    assert ts.open(tmp_path / "store").vertices == graph.vertices
    assert graph.info()["manifest"]["edges"] == 5
    (tmp_path / "bad.txt").write_text("1 2\n3 x\n")
    with pytest.raises(ts.InputError, match=r"bad.txt:2"):
        ts.format(tmp_path / "bad.txt", tmp_path / "bad")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    with pytest.raises(ts.InputError, match=r"bad\.parquet"):
        ts.format(tmp_path / "bad.parquet", tmp_path / "bad")
    with pytest.raises(ts.FileError, match=r"none\.txt: open: No such file"):
        ts.format(tmp_path / "none.txt", tmp_path / "bad")
    assert not (tmp_path / "bad").exists()


def test_parts_of_a_graph(graph: ts.Graph) -> None:
    vertex = int(graph.ids[0])
    near = graph.ego(vertex, hops=1)
    source, dest, _ = graph.edge_arrays()
    expected = {vertex, *graph.ids[dest[source == 0]].tolist()}
    assert set(near.ids.tolist()) == expected
    some = graph.subgraph(expected)
    assert pairs(some) == pairs(near)
    folder = near.path.parent
    del near
    assert not folder.exists(), "temporary stores go with their graphs"


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (([1, -2], [3, 4]), r"an id from 0 on \(names=True takes ids as names\)"),
        (([1, 2], [3]), "one length, found 2, 1"),
        (([1.5], [2.5]), r"integers or strings, found ndarray of float64, shape \(1,\)"),
        ((np.ma.array(SOURCE, mask=[0, 0, 1, 0, 0]), DEST), "source: .* masked in row 2"),
        ((SOURCE, DEST, np.ma.array(SOURCE, mask=[0, 0, 0, 0, 1])), "weight: .* masked in row 4"),
        (np.ma.array(np.stack([SOURCE, DEST], axis=1), mask=np.eye(5, 2)), "source: .* masked in row 0"),
        ((pd.Series([1, None], dtype="Int64"), [1, 2]), "null in row 1"),
        ((pl.Series([None, 1]), [1, 2]), "null in row 0"),
        ((pa.array([1, None]), [1, 2]), "null in row 1"),
        (([1, None], [1, 2]), "None in row 1"),
        (([1, 2], [1, 2], [0.5, float("nan")]), "nan in row 1"),
        ((SOURCE > 30, DEST), r"ndarray of bool, shape \(5,\)"),
        ((SOURCE, DEST, SOURCE > 30), r"numbers, found ndarray of bool"),
        ((SOURCE.astype("M8[s]"), DEST), r"datetime64\[s\]"),
        ((SOURCE.astype(float), DEST), "float64.*astype"),
        ((SOURCE, DEST, SOURCE * 1j), "complex128"),
        ((SOURCE, DEST, ["a"] * 5), "numbers, found strings"),
        (([1, "a"], [2, 3]), "int in row 0, str in row 1"),
        (([2**64, 1], [1, 2]), r"2\^64 - 1, found 18446744073709551616"),
        (([2**63, -1], [1, 2]), "found -1 in row 1"),
        (np.full((4, 2), 0.5), "found 0.5 in row 0"),
        (np.array([[2.0**53, 1.0, 1.0]] * 4), "found 9007199254740992.0 in row 0"),
        (np.zeros((5, 5)), "coo_array"),
        (SOURCE, r"found ndarray of int64, shape \(5,\)"),
        (np.array(5), r"shape \(\)"),
        (sp.coo_array((3,)), r"the shape \(3,\)"),
        ([(1, 2), (3, 4, 5)], r"3 items in item 1, \(3, 4, 5\)"),
        ([(1, 2, 3, 4)], "2 or 3 items"),
        ([(1, 2, {"weight": 1})], "graph of NetworkX"),
        ([{1, 2}] * 4, "first of type set"),
        ({"a": ["b", "c"], "b": ["a", "c"]}, "found dict"),
        ((["a\ud800"], ["b"]), "valid Unicode in row 1"),
        (pd.DataFrame({"a": [1, "x"], "b": [3, 4]}), "ArrowInvalid"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "different names"),
        (nx.Graph(LISTED).edges, "pass the graph"),
        (pl.LazyFrame({"a": [1]}).select("b"), "ColumnNotFoundError"),
        (pl.Series([1, 2]), "edges in memory"),
        (pl.DataFrame([pl.Series(name, [1, 2], dtype=pl.Object) for name in "ab"]), "column a: .* Python objects"),
        (pl.DataFrame({"a": [True], "b": [False]}), "found Boolean"),
        (pd.DataFrame({"a": pd.period_range("2020", periods=2), "b": [1, 2]}), "found Date32"),
        (pd.DataFrame({"a": [1, 2], "b": [3, 2**64]}, dtype=object), r"column b: .* 2\^64 - 1"),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1, 2]}), "null"),
        (pa.table({"a": pa.array([True]), "b": [1]}), "found Boolean"),
        (duckdb.sql("select cast(a as int) a, 2 b from (values ('1'), ('q')) t(a)"), "ConversionException"),
        (type("Table", (), {"__arrow_c_stream__": lambda self, schema=None: 5})(), "TypeError"),
        (type("Table", (), {"__arrow_c_stream__": lambda self, schema=None: 1 / 0})(), "ZeroDivisionError"),
        ((np.array([[1]]), np.array([[2]])), r"one dimension, found ndarray of int64, shape \(1, 1\)"),
        (pd.DataFrame({"a": [1, None], "b": [2, 3]}), "integers"),
        (pa.table({"a": pa.array([1, None]), "b": pa.array([2, 3])}), "null"),
        (pa.table({"a": [1]}), "column"),
        ("edges.txt", "found str"),
    ],
)
def test_what_is_no_edge_is_refused(edges: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(ts.TopostreamError, match=message):
        ts.from_edges(edges, tmp_path / "store")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("none", [(np.array([], np.int64),) * 2, [], ([], []), np.zeros((0, 2), int), nx.Graph()])
def test_no_edges_are_a_graph(none: object) -> None:
    empty = ts.from_edges(none)
    assert (empty.vertices, empty.edges, list(empty.ids)) == (0, 0, [])


def test_hints_are_warnings(tmp_path: Path) -> None:
    """At the caller's line, in the words of Python. A graph of NetworkX has a direction of its own."""
    both = np.arange(200), np.roll(np.arange(200), 1)
    edges = np.concatenate(both), np.concatenate(both[::-1])
    np.savetxt(tmp_path / "edges.txt", np.stack(edges, axis=1), "%d")
    for made in (lambda: ts.from_edges(edges), lambda: ts.format(tmp_path / "edges.txt", tmp_path / "store")):
        with pytest.warns(ts.HintWarning, match="symmetrize=True makes it one") as caught:
            made()
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ts.from_edges(nx.DiGraph(zip(*(ends.tolist() for ends in edges), strict=True)))
        ts.from_edges(edges, symmetrize=True, remove_duplicates=True)


def test_messages_name_arguments(graph: ts.Graph, tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("a,b\nc,d\n" * 10)
    frame = pd.DataFrame({"a": [1], "b": ["x"]})
    for call, named in (
        (lambda: ts.from_edges(frame), "names=True, or bipartite=True"),
        (lambda: ts.from_edges(([1], [2], [2**40])), 'weight_type="u64"'),
        (lambda: ts.from_edges(([1], [2], [2**70])), "expected a weight from 0"),
        (lambda: ts.from_edges(([1], [2]), no_such_option=3), "no_such_option"),
        (lambda: graph.session(devise="cpu"), "'devise'"),
        (lambda: graph.session(memory="much"), "'memory'"),
        (lambda: graph.session(memory="256MiB", device="cpu").bfs(source=10**13), "source"),
    ):
        with pytest.raises(ts.TopostreamError, match=re.escape(named)) as error:
            call()
        assert "--" not in str(error.value)


def test_what_is_quoted_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "odd.txt").write_text("1 2\n3 --names\n")
    with pytest.raises(ts.InputError, match='found "3 --names"'):
        ts.format(tmp_path / "odd.txt", tmp_path / "store", names=False)


def test_copies_of_a_store_and_damage(graph: ts.Graph, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="topostream"):
        copy = graph.reformat(tmp_path / "copy", encoding="vertex-id", order="natural")
    assert pairs(copy) == pairs(graph) and copy.info()["manifest"]["encoding"] != graph.info()["manifest"]["encoding"]
    assert "copy" in caplog.text, "what the command prints is logged"
    copy.verify(progress=lambda *_: None)
    pages = tmp_path / "copy" / "pages.0"
    content = bytearray(pages.read_bytes())
    content[100] ^= 1
    pages.write_bytes(content)
    with pytest.raises(ts.StoreError, match=r"pages\.0"):
        copy.verify()


def test_pandas_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    frame = pd.DataFrame({"source": SOURCE, "target": DEST})
    assert pairs(ts.from_edges(frame)) == PAIRS
    assert sorted(ts.from_edges(pd.DataFrame({"source": ["a"], "target": ["b"]})).ids) == ["a", "b"]
    with pytest.raises(ts.InputError, match="column source: .*datetime64"):
        ts.from_edges(frame.astype({"source": "datetime64[s]"}))


def test_some_of_the_rows(tmp_path: Path) -> None:
    """Conditions on any column, beside pandas' own."""
    draw = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "source": draw.integers(0, 50, 900),
            "target": draw.integers(0, 50, 900),
            "year": draw.integers(2000, 2020, 900),
            "kind": draw.choice(["road", "rail"], 900),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 2000, 900), "h"),
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for where, meets in (
        ("year >= 2010", frame["year"] >= 2010),
        (["kind = road", "year < 2005"], (frame["kind"] == "road") & (frame["year"] < 2005)),
        (["when >= 2020-02-01", "when < 2020-03-01"], frame["when"].between("2020-02-01", "2020-02-29 23:59:59")),
    ):
        kept = frame[meets]
        expected = sorted(zip(kept["source"].tolist(), kept["target"].tolist(), strict=True))
        assert 0 < len(expected) < len(frame)
        assert pairs(ts.from_edges(frame, where=where)) == expected
        for file in ("t.csv", "t.parquet"):
            assert pairs(ts.format(tmp_path / file, tmp_path / f"{file}{len(expected)}", where=where)) == expected
    with pytest.raises(ts.InputError, match="`year`") as error:
        ts.from_edges(frame, where="yeer > 3")
    assert "--" not in str(error.value)


def test_repeated_edges_are_combined() -> None:
    """As SciPy adds up entries, and as pandas groups rows."""
    draw = np.random.default_rng(9)
    source, dest, weight = (draw.integers(0, most, 2000).astype(np.uint32) for most in (30, 30, 100))
    rows = pd.DataFrame({"source": source, "dest": dest, "weight": weight})
    for repeated in ("sum", "min", "max", "first"):
        graph = ts.from_edges((source, dest, weight), repeated=repeated)
        expected = rows.groupby(["source", "dest"])["weight"].agg(repeated)
        found = graph.to_arrow().to_pandas().set_index(["source", "dest"])["weight"].sort_index()
        assert found.index.tolist() == expected.index.tolist() and found.tolist() == expected.tolist()
    matrix = sp.coo_array((weight.astype(np.int64), (source, dest)), shape=(30, 30)).tocsr()
    graph = ts.from_edges((source, dest, weight), repeated="sum", ids=30)
    assert (graph.to_scipy() != matrix).nnz == 0
    with pytest.raises(ts.InputError, match="u64"):
        ts.from_edges(([1, 1], [2, 2], np.full(2, 2**31, np.uint32)), repeated="sum")
    wide = ts.from_edges(([1, 1], [2, 2], np.full(2, 2**31, np.uint32)), repeated="sum", weight_type="u64")
    assert wide.to_arrow()["weight"].to_pylist() == [2**32]
