"""Components of edges without a store, compared with NetworkX's."""

from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import topostream as ts

RANDOM = np.random.default_rng(3)
SOURCE, DEST = (RANDOM.integers(0, 900, 500) << 33 for _ in range(2))
SCORES = RANDOM.random(500)


def expected(pairs: list[tuple[int, int]], ids: set[int]) -> dict[int, int]:
    graph = nx.Graph(pairs)
    graph.add_nodes_from(ids)
    return {one: min(group) for group in nx.connected_components(graph) for one in group}


def found(table: pa.Table, column: str = "component") -> dict[int, int]:
    return dict(zip(table["vertex"].to_pylist(), table[column].to_pylist(), strict=True))


def test_edges_in_memory_and_in_files(tmp_path: Path) -> None:
    pairs = list(zip(SOURCE.tolist(), DEST.tolist(), strict=True))
    ids = {end for pair in pairs for end in pair}
    path = tmp_path / "edges.parquet"
    table = pa.table({"source": SOURCE, "dest": DEST, "score": SCORES})
    pq.write_table(table, path)
    for edges in (table, table.to_pandas(), path, [path]):
        assert found(ts.components(edges, weight_type="ignore")) == expected(pairs, ids)
    several = ts.components(path, threshold=[0.5, 0.9], weight="score")
    for threshold in (0.5, 0.9):
        kept = [pair for pair, score in zip(pairs, SCORES, strict=True) if score >= threshold]
        assert found(several, f"component_{threshold}") == expected(kept, ids)
    summary = ts.components(table, tmp_path / "labels.csv", weight_type="ignore")
    groups = summary["columns"]["component"]["groups"]
    assert groups["count"] == len(set(expected(pairs, ids).values())) and summary["edges"] == 500
    assert pd.read_csv(tmp_path / "labels.csv").shape == (len(ids), 2)


def test_a_later_batch_is_added_to_an_earlier_answer(tmp_path: Path) -> None:
    names = [("a", "b"), ("x", "y"), ("c", "x"), ("b", "c")]
    first = ts.components(pd.DataFrame(names[:2], columns=["one", "other"]), source="one", dest="other")
    assert found(first) == {"a": "a", "b": "a", "x": "x", "y": "x"}
    rest = pd.DataFrame(names[2:], columns=["one", "other"])
    ts.components(rest, tmp_path / "labels.parquet", source="one", dest="other", labels=first)
    assert found(pq.read_table(tmp_path / "labels.parquet")) == dict.fromkeys("abcxy", "a")
    graph = nx.Graph([(1, 2), (5, 4)])
    graph.add_node(9)
    assert found(ts.components(graph)) == {1: 1, 2: 1, 4: 4, 5: 4, 9: 9}


def test_errors_name_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ts.InputError, match="weights are required"):
        ts.components(([1, 2, 3], [4, 5, 6]), threshold=0.5)
    with pytest.raises(ts.FileError, match="none.csv"):
        ts.components(tmp_path / "none.csv")
    with pytest.raises(ts.BudgetError):
        ts.components(([1, 2, 3], [4, 5, 6]), memory="1MiB")
