"""Stores of edges in memory and in files."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
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
        (([1, -2], [3, 4]), "an id from 0 on"),
        (([1, 2], [3]), "one length, found 2, 1"),
        (([1.5], [2.5]), "integers"),
        ((np.array([[1]]), np.array([[2]])), "one dimension"),
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


def test_no_edges_are_a_graph() -> None:
    empty = ts.from_edges((np.array([], np.int64), np.array([], np.int64)))
    assert (empty.vertices, empty.edges, list(empty.ids)) == (0, 0, [])


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
    with pytest.raises(ts.InputError, match="column source"):
        ts.from_edges(pd.DataFrame({"source": ["a"], "target": ["b"]}))
