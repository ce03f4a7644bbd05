"""Stores of edges in memory and in files."""

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
