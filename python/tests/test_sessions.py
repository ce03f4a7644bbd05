"""Sessions: memory, interrupts, threads, forks, progress."""

import multiprocessing
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import SMALL

import topostream as ts


def test_results_in_every_form(graph: ts.Graph, tmp_path: Path) -> None:
    with graph.session(**SMALL) as session:
        result = session.bfs(source=int(graph.ids[3]))
    levels = result["level"]
    assert not levels.flags.writeable and levels is result["level"]
    base = levels
    while isinstance(base.base, np.ndarray):
        base = base.base
    assert base.base is not None, "NumPy reads the engine's memory"
    frame = result.to_pandas()
    assert frame.index.tolist() == graph.ids.tolist() and frame["level"].tolist() == levels.tolist()
    assert result.to_arrow()["level"].to_pylist() == [None if level < 0 else level for level in levels.tolist()]
    assert result.to_polars()["vertex"].to_list() == graph.ids.tolist()
    for name in ("levels.parquet", "levels.csv", "levels.arrow", "levels.npy"):
        assert name in result.write(tmp_path / name)
    assert pl.read_parquet(tmp_path / "levels.parquet").equals(result.to_polars())
    assert pd.read_csv(tmp_path / "levels.csv")["level"].tolist() == levels.tolist()
    assert np.load(tmp_path / "levels.npy")["level"].tolist() == levels.tolist()
    assert result.report["algorithm"] == "bfs" and result.summary["reached"] == int((levels >= 0).sum())
    assert "<table>" in result._repr_html_() and "bfs" in str(result.report)
    with pytest.raises(ts.TopostreamError, match="levels.xyz"):
        result.write(tmp_path / "levels.xyz")
    with pytest.raises(KeyError):
        result["rank"]


def test_results_are_part_of_the_memory(tmp_path: Path) -> None:
    graph = ts.generate_rmat(20, tmp_path / "store", memory="512MiB")
    with graph.session(memory="110MiB", device="cpu", threads=1) as session:
        kept = [session.degrees()]
        with pytest.raises(ts.BudgetError, match="the budget is"):
            for _ in range(20):
                kept.append(session.degrees())
        assert len(kept) > 1, "the first results fit"
        kept.clear()
        session.degrees()


def test_a_closed_session_and_unknown_options_are_errors(graph: ts.Graph) -> None:
    with pytest.raises(ts.ParameterError, match="--no-such-option"):
        graph.session(no_such_option=3)
    with pytest.raises(ts.DeviceError, match="99"):
        graph.session(device="99").pagerank()
    session = graph.session(**SMALL)
    with pytest.raises(ts.ParameterError, match="no algorithm"):
        session.run("no-such-algorithm")
    with pytest.raises(ts.ParameterError, match="damping"):
        session.pagerank(damping=7.0)
    session.close()
    with pytest.raises(ValueError, match="closed"):
        session.pagerank()
    with pytest.raises(ts.StoreError, match="not a graph store"):
        ts.open("/no/such/store")


def test_progress_is_shown_and_ends_a_run_if_it_fails(wide: ts.Graph) -> None:
    seen: list[Any] = []
    with wide.session(**SMALL) as session:
        session.pagerank(iterations=300, sums="single", progress=lambda *now: seen.append(now))
        assert seen and all(len(now) == 6 for now in seen)

        def fails(*_: object) -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            session.pagerank(iterations=1_000_000, progress=fails)
        assert len(session.pagerank(iterations=1)["rank"]) == wide.vertices, "the session goes on"
        session.pagerank(iterations=2, progress=True)


def test_the_interpreter_is_free_while_a_run_computes(wide: ts.Graph) -> None:
    counted, done = [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    with wide.session(**SMALL) as session:
        before = counted[0]
        seconds = session.pagerank(iterations=200).report.seconds
        while_running = counted[0] - before
    done.set()
    thread.join()
    assert while_running > 50 * seconds, f"{while_running} in {seconds} s"


def test_threads_share_a_session(graph: ts.Graph) -> None:
    with graph.session(**SMALL) as session:
        expected = session.pagerank(iterations=20)["rank"]
        found: list[Any] = []
        run = lambda: found.append(session.pagerank(iterations=20)["rank"])  # noqa: E731
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 4 and all((ranks == expected).all() for ranks in found)


def _in_a_fork(path: str, queue: Any) -> None:
    try:
        with ts.open(path).session(**SMALL) as session:
            session.degrees()
        queue.put("ran")
    except RuntimeError as error:
        queue.put(str(error))


@pytest.mark.parametrize(("method", "expected"), [("fork", "forked"), ("spawn", "ran")])
def test_a_forked_process_is_refused_and_a_spawned_one_runs(graph: ts.Graph, method: str, expected: str) -> None:
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=_in_a_fork, args=(str(graph.path), queue))
    process.start()
    found = queue.get(timeout=60)
    process.join()
    assert expected in found


@pytest.mark.parametrize("work", ["run", "generate"])
def test_an_interrupt_ends_work_within_a_second_and_leaves_nothing(wide: ts.Graph, tmp_path: Path, work: str) -> None:
    code = {
        "run": f"ts.open({str(wide.path)!r}).session(memory='512MiB', device='cpu').pagerank(iterations=10**8)",
        "generate": f"ts.generate_rmat(24, {str(tmp_path / 'new')!r}, memory='512MiB')",
    }[work]
    program = textwrap.dedent(f"""
        import topostream as ts
        print("begun", flush=True)
        try:
            {code}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - begun < 1.0
    assert process.wait(10) == 0
    assert list(tmp_path.glob("new*")) == []


def test_a_plan_predicts_once_the_machine_is_calibrated(
    graph: ts.Graph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TOPOSTREAM_CALIBRATION", str(tmp_path / "rates.json"))
    plan = lambda: graph.plan("bfs", source=int(graph.ids[0]), **SMALL)  # noqa: E731
    with pytest.raises(ts.TopostreamError, match="calibrate"):
        plan()
    assert ts.calibrate(folder=tmp_path, scale=10, **SMALL)["disk_bytes_per_s"] > 0
    rows = plan()
    assert rows and all(row["fits"] and row["prediction"]["total_ns"] > 0 for row in rows)
    assert not any(row["fits"] for row in graph.plan("degrees", memory="1MiB", device="cpu"))


def test_notebooks_show_graphs_results_and_reports(graph: ts.Graph) -> None:
    with graph.session(**SMALL) as session:
        result = session.bfs(source=int(graph.ids[3]))
    for shown, expected in ((graph, "300"), (result, "level"), (result.report, "supersteps")):
        assert expected in shown._repr_html_() and "<td>" in shown._repr_html_()
    assert ts.devices()["cpu"]["threads"] > 0
