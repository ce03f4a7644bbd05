"""Stores that are replaced, and a look at what is in one."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import topostream as ts
from conftest import SMALL

OLD = [(0, 1), (1, 2), (2, 0)]
NEW = [(10, 11), (11, 12), (12, 10), (12, 11)]


def pairs(graph: ts.Graph) -> list[tuple[Any, ...]]:
    return sorted(graph.edges())


def csv(folder: Path, edges: list[tuple[int, int]], prefix: str = "") -> Path:
    path = folder / "edges.csv"
    path.write_text("source,dest\n" + "".join(f"{prefix}{a},{prefix}{b}\n" for a, b in edges))
    return path


# Ways to make a store of the edges NEW, over one that is there or not.
WAYS: dict[str, Callable[..., ts.Graph]] = {
    "arrays": lambda folder, store, **options: ts.from_edges(tuple(zip(*NEW, strict=True)), store, **options),
    "a stream": lambda folder, store, **options: ts.from_edges(
        pa.RecordBatchReader.from_batches(
            pa.schema({"source": pa.int64(), "dest": pa.int64()}),
            [pa.record_batch({"source": [a for a, _ in NEW], "dest": [b for _, b in NEW]})],
        ),
        store,
        **options,
    ),
    "text": lambda folder, store, **options: ts.format(csv(folder, NEW), store, **options),
    "large ids": lambda folder, store, **options: ts.format(
        csv(folder, [(a + 2**40, b + 2**40) for a, b in NEW]), store, **options
    ),
    "names": lambda folder, store, **options: ts.format(csv(folder, NEW, "n"), store, **options),
    "a part": lambda folder, store, **options: ts.from_edges(NEW + OLD).subgraph([10, 11, 12], store=store, **options),
    "another store": lambda folder, store, **options: ts.from_edges(NEW).reformat(store, **options),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("old", [{}, {"in_edges": True, "encoding": "vertex-id"}])
def test_a_store_is_replaced_where_that_is_asked_for(way: str, old: dict[str, Any], tmp_path: Path) -> None:
    """It is complete afterwards, and has nothing of the old one."""
    store, fresh = tmp_path / "store", tmp_path / "fresh"
    ts.from_edges(OLD, store, **old)
    with pytest.raises(ts.ParameterError, match=f"^{re.escape(str(store))}: there is a store already") as error:
        WAYS[way](tmp_path, store)
    assert "overwrite=True" in str(error.value) and "edges" not in str(error.value)
    assert pairs(ts.open(store)) == OLD
    replaced = WAYS[way](tmp_path, store, overwrite=True)
    assert pairs(replaced) == pairs(WAYS[way](tmp_path, fresh))
    replaced.verify()
    names = [sorted(str(path.relative_to(of)) for path in of.rglob("*")) for of in (store, fresh)]
    assert names[0] == names[1]


def test_a_store_stays_if_the_new_one_fails(tmp_path: Path) -> None:
    store = tmp_path / "store"
    ts.from_edges(OLD, store)
    (tmp_path / "bad.txt").write_text("1 2\n3 x\n")
    with pytest.raises(ts.InputError, match=r"bad.txt:2"):
        ts.format(tmp_path / "bad.txt", store, overwrite=True)
    graph = ts.open(store)
    graph.verify()
    assert pairs(graph) == OLD


def test_a_store_becomes_another_one_of_itself(tmp_path: Path) -> None:
    graph = ts.from_edges([("a", "b"), ("b", "c")], tmp_path / "store")
    other = graph.reformat(graph.path, in_edges=True, overwrite=True)
    other.verify()
    assert pairs(other) == [("a", "b"), ("b", "c")] and "in" in [path.name for path in graph.path.iterdir()]


def test_a_damaged_store_is_replaced(tmp_path: Path) -> None:
    store = tmp_path / "store"
    ts.from_edges(OLD, store, in_edges=True)
    manifest = store / "graph.json"
    manifest.write_text(manifest.read_text()[:150])
    ts.from_edges(NEW, store, overwrite=True).verify()
    assert pairs(ts.open(store)) == NEW


@pytest.mark.parametrize("name", ["notes.txt", "in/mine", "graph.json"])
def test_what_is_not_ours_is_not_replaced(name: str, tmp_path: Path) -> None:
    store = tmp_path / "store"
    if name != "graph.json":
        ts.from_edges(OLD, store)
    mine = store / name
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("{}")
    before = sorted(store.rglob("*"))
    with pytest.raises(ts.ParameterError, match=name.partition("/")[0]):
        ts.from_edges(NEW, store, overwrite=True)
    assert sorted(store.rglob("*")) == before and mine.read_text() == "{}"


def test_stripes_of_the_old_store_go_with_it(tmp_path: Path) -> None:
    store, disk, other = tmp_path / "store", tmp_path / "disk", tmp_path / "other"
    options: dict[str, Any] = {"page_size": "64KiB", "in_edges": True, "encoding": "vertex-id"}
    ends = np.random.default_rng(1).integers(5000, size=(2, 100_000))
    ts.from_edges(tuple(ends), store, stripe=disk, **options)
    assert (disk / "pages.1").is_file()
    (disk / "mine").write_text("kept")
    ts.from_edges(tuple(ends), other, stripe=tmp_path / "else", **options)
    ts.from_edges(tuple(ends), store, stripe=disk, overwrite=True, **options).verify()
    ts.from_edges(NEW, store, overwrite=True)
    assert [path.name for path in disk.rglob("*") if path.is_file()] == ["mine"]
    # A manifest that names a folder of another store does not have it removed.
    (store / "graph.json").write_text((other / "graph.json").read_text().replace('"tag"', '"tag" ', 1))
    for mark in (tmp_path / "else").glob(".topostream-stripe.*"):
        mark.unlink()

    def kept() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in (tmp_path / "else").rglob("*") if path.is_file()}

    before = kept()
    assert (tmp_path / "else" / "pages.1") in before
    ts.from_edges(NEW, store, overwrite=True)
    assert kept() == before


REPLACED = "which has replaced it"


@pytest.mark.parametrize("ids", [int, lambda number: number * 10**6 + 7, lambda number: f"v{number}"])
def test_values_are_never_paired_with_ids_of_another_store(ids: Callable[[int], Any], tmp_path: Path) -> None:
    """The store is replaced after the run: ids are those of the run, or an error says so."""
    store = tmp_path / "store"

    def made(factor: int, **options: Any) -> ts.Graph:
        return ts.from_edges([(ids(factor * a), ids(factor * b)) for a, b in OLD], store, **options)

    with made(1).session(**SMALL) as session:
        results = [session.degrees() for _ in range(5)]
    expected = [ids(number) for number in range(3)]
    held, fresh = made(1, overwrite=True), made(3, overwrite=True)
    forms: list[Callable[[ts.Result], Any]] = [
        lambda result: result.ids.tolist(),
        lambda result: sorted(id_ for id_, _ in result.top(3)),
        lambda result: result.to_pandas().index.tolist(),
        lambda result: result.to_arrow()["vertex"].to_pylist(),
        lambda result: pd.read_csv(result.write(tmp_path / "a.csv") and tmp_path / "a.csv")["vertex"].tolist(),
    ]
    for form, result in zip(forms, results, strict=True):
        try:
            assert form(result) == expected
        except ts.StoreError as error:
            assert REPLACED in str(error) and ids is not int
    calls: list[Callable[[], Any]] = [
        held.edge_arrays,
        held.is_multigraph,
        held.edges,
        lambda: held.neighbors(ids(0)),
        lambda: held.degree(ids(0)),
        lambda: held.session(**SMALL),
    ]
    for call in [*calls, lambda: held.ids]:
        with pytest.raises(ts.StoreError, match=REPLACED):
            call()
    assert pairs(fresh) == sorted((ids(3 * a), ids(3 * b)) for a, b in OLD)


def test_ids_that_were_read_stay(tmp_path: Path) -> None:
    graph = ts.from_edges([("a", "b")], tmp_path / "store")
    with graph.session(**SMALL) as session:
        result = session.degrees()
    assert result.ids.tolist() == ["a", "b"]
    ts.from_edges([("c", "d")], tmp_path / "store", overwrite=True)
    assert result.ids.tolist() == ["a", "b"] and result.top(1, "out_degree") == [("a", 1)]


def test_results_graphs_and_reports_are_pickled(tmp_path: Path) -> None:
    graph = ts.from_edges([("a", "b"), ("b", "c"), ("d", "a")], tmp_path / "store")
    with graph.session(**SMALL) as session:
        results = [session.bfs(source="a", parents=True), session.pagerank(iterations=3), session.components()]
    for result in results:
        again = pickle.loads(pickle.dumps(result))
        assert again.graph.path == graph.path and again.to_polars().equals(result.to_polars())
        assert again.to_pandas().equals(result.to_pandas()) and list(again) == list(result)
        assert again.write(tmp_path / "b.parquet") and str(again.report) == str(result.report)
        assert again.report.to_html() == result.report.to_html() and again.summary == result.summary
    report = pickle.loads(pickle.dumps(results[0].report))
    assert report.fields == results[0].report.fields
    assert pairs(pickle.loads(pickle.dumps(graph))) == pairs(graph)
    assert pickle.loads(pickle.dumps(graph.edges)) == 3
    kept = pickle.dumps(results[0])
    ts.from_edges([("a", "b")], graph.path, overwrite=True)
    with pytest.raises(ts.StoreError, match="replaced"):
        pickle.loads(kept)


# ---- a look


def weighed(directed: bool, names: bool) -> tuple[ts.Graph, Any]:
    """A graph with loops and repeated edges, and the same in NetworkX."""
    random = np.random.default_rng(3)
    label = (lambda number: f"v{number}") if names else lambda number: int(number) * 5 + 2
    rows = [(label(a), label(b), int(w)) for a, b, w in random.integers((12, 12, 9), size=(60, 3)).tolist()]
    other: Any = nx.MultiDiGraph() if directed else nx.MultiGraph()
    other.add_weighted_edges_from(rows)
    return ts.from_edges(rows, symmetrize=not directed), other


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_neighbours_and_degrees_are_those_of_networkx(directed: bool, names: bool) -> None:
    graph, other = weighed(directed, names)
    stores = [graph, graph.reformat(graph.path.with_name("in"), in_edges=True)] if directed else [graph]
    for store in stores:
        for node in other:
            out = sorted(end for _, end in other.edges(node))
            assert sorted(store.neighbors(node)) == out and store.degree(node) == len(out)
            into = sorted(end for end, _ in other.in_edges(node)) if directed else out
            assert sorted(store.neighbors(node, "in")) == into and store.degree(node, "in") == len(into)
            both = sorted(out + into) if directed else out
            assert sorted(store.neighbors(node, direction="both")) == both
        for call in (store.neighbors, store.degree):
            with pytest.raises(ts.ParameterError, match="vertex 99.*no vertex|vertex 99: expected an id"):
                call(99)
            with pytest.raises(ts.ParameterError, match="direction up: expected out, in or both"):
                call(next(iter(other)), "up")


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_edges_are_those_for_which_a_condition_holds(directed: bool, names: bool) -> None:
    graph, _ = weighed(directed, names)
    source, dest, weight = graph.edge_arrays()
    rows = sorted(zip(graph.ids[source].tolist(), graph.ids[dest].tolist(), weight.tolist(), strict=True))
    assert sorted(graph.edges()) == rows and graph.edges == len(graph.edge_arrays()[0]) * (1 if directed else 2) - (
        0 if directed else sum(a == b for a, b, _ in rows)
    )
    one = rows[7][0]
    for where, holds in (
        ("weight > 5", lambda a, b, w: w > 5),
        ("weight>=5.5", lambda a, b, w: w > 5),
        ("weight != 3 and weight <= 6", lambda a, b, w: w != 3 and w <= 6),
        (["weight < 4", "weight = 2"], lambda a, b, w: w == 2),
        (f"source == {one}", lambda a, b, w: a == one),
        (f"dest == '{one}' and weight > 1", lambda a, b, w: b == one and w > 1),
        (f'source != "{one}"', lambda a, b, w: a != one),
        ("source == none" if names else "source == 1", lambda a, b, w: False),
    ):
        assert sorted(graph.edges(where)) == [row for row in rows if holds(*row)], where
    for limit in (0, 1, 5, 1000):
        assert len(graph.edges("weight > 5", limit=limit)) == min(limit, len([row for row in rows if row[2] > 5]))
    if not names:
        assert sorted(graph.edges("source > 20")) == [row for row in rows if row[0] > 20]
        assert sorted(graph.edges(f"source == {one}.0")) == [row for row in rows if row[0] == one]


def test_values_of_a_look_are_those_of_python() -> None:
    for of, kind in ((np.float32, float), (np.float64, float), (np.uint32, int)):
        graph = ts.from_edges(([1], [2], np.array([0.1 if kind is float else 7], of)))
        [(source, dest, weight)] = graph.edges("weight == 0.1" if kind is float else "weight == 7")
        assert (type(source), type(dest), type(weight)) == (int, int, kind)
    assert ts.from_edges([("a", "b")]).edges() == [("a", "b")]
    graph = ts.from_edges([(2**63 + 5, 7)])
    assert graph.neighbors(2**63 + 5) == [7] and graph.neighbors(7, "in") == [2**63 + 5]
    assert graph.edges(f"source == {2**63 + 5}") == [(2**63 + 5, 7)]


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("wight > 5", "one of the columns source, dest, weight"),
        ("weight", "a column, an operator and a value"),
        ("weight ~ 5", "a column, an operator and a value"),
        ("weight > five", "a number"),
        ("weight > nan", "a number"),
        ("weight > 5 or weight < 2", "expected `and`"),
        ("weight > 5 and", "a column, an operator and a value"),
        (["weight > 5", ""], "a column, an operator and a value"),
    ],
)
def test_conditions_that_are_not_valid_are_refused(where: Any, text: str) -> None:
    with pytest.raises(ts.ParameterError, match=f"where .*{text}"):
        ts.from_edges([(1, 2, 3)]).edges(where)


def test_conditions_that_the_graph_has_nothing_for_are_refused() -> None:
    with pytest.raises(ts.ParameterError, match="edges have no weights"):
        ts.from_edges([(1, 2)]).edges("weight > 5")
    with pytest.raises(ts.ParameterError, match="names, which have no order"):
        ts.from_edges([("a", "b")]).edges("source < b")
    with pytest.raises(ts.ParameterError, match="limit -1"):
        ts.from_edges([(1, 2)]).edges(limit=-1)
