"""Sessions: memory, interrupts, threads, forks, progress."""

import errno
import html
import io
import json
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import tqdm.auto

import topostream as ts
from conftest import SMALL
from topostream._progress import StageProgress
from topostream.graph import temporary_folder


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
    assert frame.index.tolist() == graph.ids.tolist() and frame["level"].fillna(-1).tolist() == levels.tolist()
    assert result.to_arrow()["level"].to_pylist() == [None if level < 0 else level for level in levels.tolist()]
    assert result.to_polars()["vertex"].to_list() == graph.ids.tolist()
    for name in ("levels.parquet", "levels.csv", "levels.arrow", "levels.npy"):
        assert name in result.write(tmp_path / name)
    signed = pl.read_parquet(tmp_path / "levels.parquet").cast({"level": pl.Int64})
    assert signed.equals(result.to_polars())
    assert pd.read_csv(tmp_path / "levels.csv")["level"].tolist() == levels.tolist()
    assert np.load(tmp_path / "levels.npy")["level"].tolist() == levels.tolist()
    assert result.report["algorithm"] == "bfs" and result.summary["reached"] == int((levels >= 0).sum())
    assert "<table>" in result._repr_html_() and "bfs" in str(result.report)
    with pytest.raises(ts.TopostreamError, match="levels.xyz"):
        result.write(tmp_path / "levels.xyz")
    with pytest.raises(KeyError, match="the columns level, found 'rank'") as error:
        result["rank"]
    assert isinstance(error.value, ts.TopostreamError)
    with pytest.raises(ts.ColumnError, match="'rank'"):
        result.top(3, column="rank")
    assert "level" in result and "rank" not in result and result.get("rank", 5) == 5
    assert list(result.keys()) == list(result) == ["level"] and len(list(result.items())) == len(result) == 1


def test_frames_agree_on_ids_and_on_what_is_missing() -> None:
    """Of numbers and strings for ids; levels, distances, vertices."""
    for ends in (([3, 5, 9], [5, 6, 8]), (["c", "e", "i"], ["e", "f", "h"])):
        graph = ts.from_edges((*ends, [2, 3, 4]))
        ids = graph.ids.tolist()
        with graph.session(**SMALL) as session:
            found = session.bfs(source=ends[0][0], parents=True), session.sssp(source=ends[0][0])
        for result in found:
            frames = result.to_polars(), pl.DataFrame(result), pl.DataFrame(result.to_arrow())
            assert frames[0].equals(frames[1]) and frames[0].equals(frames[2])
            frame = result.to_pandas()
            assert frame.index.tolist() == frames[0]["vertex"].to_list() == ids
            for name in result:
                present = [None if pd.isna(value) else value for value in frame[name].tolist()]
                assert present == frames[0][name].to_list()
                assert [value is None for value in present] == [id_ in ends[0][2:] + ends[1][2:] for id_ in ids], name
        level = found[0].to_polars()["level"]
        assert (level - 5).drop_nulls().to_list() == [-5, -4, -3], "levels are signed"
        assert str(found[0].to_pandas()["level"].dtype) == "Int64"
        assert found[1]["distance"].dtype == np.float64 or (found[1]["distance"] == -1).sum() == 2


def test_a_result_is_no_array_of_names(graph: ts.Graph) -> None:
    with graph.session(**SMALL) as session:
        result = session.degrees()
    for call in (lambda: pd.DataFrame(result), lambda: np.asarray(result)):
        with pytest.raises(ts.InputError, match=r"to_pandas\(\)"):
            call()


def test_what_has_not_converged_says_so(graph: ts.Graph) -> None:
    with graph.session(**SMALL) as session:
        with pytest.warns(ts.ConvergenceWarning, match="pagerank has not converged after 3 iterations") as caught:
            result = session.pagerank(max_iterations=3)
        assert result.converged is False and caught[0].filename == __file__
        assert "max_iterations=30" in str(caught[0].message)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert session.pagerank().converged is True
            assert session.pagerank(iterations=3).converged is None
            assert session.degrees().converged is None


def test_values_of_vertices_count_or_are_refused(graph: ts.Graph) -> None:
    first, second = graph.ids[:2].tolist()
    with graph.session(**SMALL) as session:
        asked = session.heat(source={first: 0.25, second: -2}, iterations=5)["temperature"]
        assert (asked[0], asked[1]) == (0.25, -2)
        texts = session.heat(source=[f"{first}=0.25", f"{second}=-2"], iterations=5)["temperature"]
        np.testing.assert_array_equal(asked, texts)
        assert session.circuit(source={first: 3.5}, iterations=2)["voltage"][0] == 3.5
        for run in (session.personalized_pagerank, session.adsorption, session.bfs):
            with pytest.raises(ts.ParameterError, match="source: expected vertices, found a dictionary"):
                run(source={first: 0.9})
        with pytest.raises(ts.ParameterError, match="a number for each vertex"):
            session.heat(source={first: "hot"})
        levels = session.bfs(source=np.array(first), parents=np.True_)
        assert levels["level"][0] == 0 and "parent" in levels


def test_every_error_is_one_of_the_package(graph: ts.Graph) -> None:
    with graph.session(**SMALL) as session:
        result = session.components()
    for call in (
        session.degrees,
        lambda: result.top(),
        lambda: result.top(-1),
        lambda: result.numbers("none"),
        lambda: ts.open("\udcff"),
        lambda: graph.subgraph(["a\nb"]),
        lambda: ts.from_edges(result),
        lambda: ts.from_edges(graph),
        lambda: graph.ego("\ud800"),
    ):
        with pytest.raises(ts.TopostreamError):
            call()
    for name in ts.__all__:
        found = getattr(ts, name)
        if isinstance(found, type) and issubclass(found, Exception):
            assert issubclass(found, ts.TopostreamWarning if name.endswith("Warning") else ts.TopostreamError)


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
    with pytest.raises(ts.ParameterError, match="'no_such_option'"):
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


PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[2] / "target")) / "debug" / "topostream"


@pytest.mark.skipif(not PROGRAM.is_file(), reason="the program is not built")
def test_errors_have_the_texts_of_the_program(wide: ts.Graph, tmp_path: Path) -> None:
    def said(*command: str | Path) -> str:
        done = subprocess.run([PROGRAM, *command], capture_output=True, text=True, check=False)
        assert done.returncode in (1, 2)
        # Drivers of GPUs may say something before.
        return done.stderr.split("\n\nUsage:")[0].rpartition("error: ")[2].strip()

    def raised(call: Callable[[], object]) -> str:
        with pytest.raises(ts.TopostreamError) as error:
            call()
        return str(error.value)

    path, text = wide.path, tmp_path / "edges.txt"
    text.write_text("1 2\n3 x\n")
    missing = said("info", "/no/such/store")
    assert raised(lambda: ts.open("/no/such/store")) == missing.replace("topostream format", "topostream.format()")
    in_words = said("format", text, tmp_path / "new")
    assert raised(lambda: ts.format(text, tmp_path / "new")) == in_words.replace("--names", "names=True")
    assert raised(lambda: wide.session(device="99").bfs(source=1)) == said(
        "run", "bfs", "--source=1", "--device=99", path
    )


def test_the_memory_that_an_error_names_is_enough(wide: ts.Graph) -> None:
    """Results are part of a session's memory, so that it needs more than the program."""
    with wide.session(memory="1MiB", device="cpu") as session, pytest.raises(ts.BudgetError) as error:
        session.degrees()
    assert "the budget is 1048576 bytes" in str(error.value) and f"results {24 * wide.vertices}" in str(error.value)
    needed = re.search(r"at least (\d+)MiB are needed", str(error.value))
    assert needed is not None
    with wide.session(memory=f"{needed[1]}MiB", device="cpu") as session:
        session.degrees()


def test_what_the_system_refuses_is_a_file_error(graph: ts.Graph) -> None:
    with graph.session(**SMALL) as session:
        result = session.degrees()
    for call in (lambda: result.write("/no/such/folder/degrees.csv"), lambda: graph.reformat("/proc/store")):
        with pytest.raises(ts.FileError, match=r"/no/such/folder|/proc"):
            call()
    assert issubclass(ts.FileError, OSError)


def test_a_file_error_has_the_number_of_the_system(graph: ts.Graph, tmp_path: Path) -> None:
    with graph.session(**SMALL) as session:
        result = session.degrees()
    with pytest.raises(ts.FileError) as error:
        result.write("/no/such/folder/degrees.csv")
    found = error.value
    assert found.errno == errno.ENOENT and "/no/such/folder" in str(found.filename)
    again = pickle.loads(pickle.dumps(found))
    assert (again.errno, again.filename, str(again)) == (found.errno, found.filename, str(found))
    with pytest.raises(ts.FileError) as error:
        ts.format(tmp_path / "missing.csv", tmp_path / "store")
    assert error.value.errno == errno.ENOENT and error.value.filename == str(tmp_path / "missing.csv")
    with pytest.raises(ts.FileError) as error:
        temporary_folder("/no/such/folder")
    assert error.value.errno == errno.ENOENT and error.value.filename == "/no/such/folder"


def test_the_best_are_numbers_and_strings_of_python(graph: ts.Graph) -> None:
    named = ts.from_edges([("a", "b"), ("a", "c")])
    for of in (graph, named):
        with of.session(**SMALL) as session:
            for result, kind in ((session.degrees(), int), (session.pagerank(iterations=2), float)):
                best = result.top(3)
                assert [type(value) for _, value in best] == [kind] * 3
                assert {type(id_) for id_, _ in best} == {str if of is named else int}
                json.dumps(best)


def test_one_bar_is_made_for_a_run(wide: ts.Graph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Supersteps and stages follow each other in it: notebooks keep the place of every bar."""
    made: list[Any] = []

    class SeenEnoughError(Exception):
        """Ends the run: how many supersteps are shown depends on the machine's speed."""

    class Kept(tqdm.auto.tqdm):  # type: ignore[type-arg]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            made.append(self)
            self.texts: list[str] = []
            super().__init__(*args, file=io.StringIO(), **kwargs)

        def refresh(self, *args: Any, **kwargs: Any) -> Any:
            self.texts.append(str(self))
            super().refresh(*args, **kwargs)
            if len(self.shown()) > 2:
                raise SeenEnoughError

        def shown(self) -> set[str]:
            return {text.partition(":")[0] for text in self.texts}

    monkeypatch.setattr(tqdm.auto, "tqdm", Kept)
    with wide.session(**SMALL) as session, pytest.raises(SeenEnoughError):
        session.pagerank(iterations=10**8, sums="single", progress=True)
    [bar] = made
    assert len(bar.shown()) == 3 and all(re.fullmatch(r"superstep \d+", text) for text in bar.shown())
    watch = StageProgress()
    for stage, position, total, unit in (("read", 5, None, "edges"), ("sort", 1, 4, "bytes"), ("sort", 4, 4, "bytes")):
        watch(stage, position, total, unit)
    watch.close()
    assert len(made) == 2 and any(text.startswith("read: 5.00 edges [") for text in made[1].texts)
    assert made[1].texts[-1].startswith("sort: 100%") and "| 4.00/4.00 bytes [" in made[1].texts[-1]


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


def test_an_interrupt_ends_the_run_of_its_own_thread_alone(wide: ts.Graph) -> None:
    """The main thread waits for the turn of its run while another thread's run computes."""
    program = f"""if True:
    import signal, threading, time, topostream as ts
    session = ts.open({str(wide.path)!r}).session(memory="512MiB", device="cpu")
    found = []
    def run():
        found.append(session.pagerank(iterations=200)["rank"].sum())
    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.2)
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    try:
        session.degrees()
        print("not interrupted")
    except KeyboardInterrupt:
        print("interrupted", thread.is_alive())
    thread.join()
    print(len(found), len(session.degrees()["degree" if not session.graph.directed else "out_degree"]) > 0)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["interrupted True", "1 True"], done.stdout + done.stderr


def test_an_exception_of_progress_ends_its_own_run_alone(wide: ts.Graph) -> None:
    computes, found = threading.Event(), []

    def fails(*_: object) -> None:
        computes.set()
        if len(waiting) > 1:
            raise ZeroDivisionError

    def run(**options: Any) -> None:
        try:
            found.append(len(session.pagerank(**options)["rank"]))
        except BaseException as error:  # noqa: B036
            found.append(type(error))

    waiting: list[threading.Thread] = []
    with wide.session(**SMALL) as session:
        first = threading.Thread(target=run, kwargs={"iterations": 10**6, "progress": fails})
        first.start()
        computes.wait(30)
        second = threading.Thread(target=run, kwargs={"iterations": 2})
        second.start()
        time.sleep(0.2)
        waiting += [first, second]
        first.join(30)
        second.join(30)
    assert found == [ZeroDivisionError, wide.vertices]


def test_a_waiting_run_shows_no_progress_of_another(wide: ts.Graph) -> None:
    supersteps: list[int] = []
    with wide.session(**SMALL) as session:
        thread = threading.Thread(target=session.pagerank, kwargs={"iterations": 150, "sums": "single"})
        thread.start()
        time.sleep(0.2)
        session.pagerank(iterations=3, progress=lambda superstep, *_: supersteps.append(superstep))
        thread.join()
    assert all(superstep <= 3 for superstep in supersteps), supersteps


def _in_a_fork(path: str, queue: Any) -> None:
    try:
        with ts.open(path).session(**SMALL) as session:
            session.degrees()
        queue.put("ran")
    except RuntimeError as error:
        queue.put(f"{isinstance(error, ts.TopostreamError)} {error}")


@pytest.mark.parametrize(("method", "expected"), [("fork", "True topostream was used"), ("spawn", "ran")])
def test_a_forked_process_is_refused_and_a_spawned_one_runs(graph: ts.Graph, method: str, expected: str) -> None:
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=_in_a_fork, args=(str(graph.path), queue))
    process.start()
    found = queue.get(timeout=60)
    process.join()
    assert expected in found


FORMS = {
    "to_arrow": lambda result: result.to_arrow(),
    "to_polars": lambda result: result.to_polars(),
    "a stream": lambda result: pa.table(result),
    "write": lambda result: result.write(result.graph.path.with_name("never.csv")),
    "ids": lambda result: result.ids,
    "neighbors": lambda result: result.graph.neighbors(7),
}


def _formed_in_a_fork(form: str, result: ts.Result, reader: Any, queue: Any) -> None:
    try:
        queue.put(str(len(result["core"])))
        FORMS[form](result) if form in FORMS else reader.read_all()
    except Exception as error:
        queue.put(f"{type(error).__name__}: {error}")


@pytest.mark.parametrize("form", [*FORMS, "a reader from before"])
def test_a_result_in_a_forked_process_is_refused_or_there(graph: ts.Graph, form: str) -> None:
    """Values are in memory; what takes threads is refused, and does not wait for those of the parent."""
    with ts.open(graph.path).session(**SMALL) as session:
        result = session.kcore()
    reader = pa.RecordBatchReader.from_stream(result)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_formed_in_a_fork, args=(form, result, reader, queue))
    process.start()
    assert queue.get(timeout=60) == str(graph.vertices)
    try:
        found = queue.get(timeout=60)
    finally:
        process.kill()
    assert "topostream was used in process" in found
    assert found.startswith("ForkError" if form in FORMS else "Arrow")


def test_threads_that_the_system_refuses_are_an_error_of_the_package(graph: ts.Graph, tmp_path: Path) -> None:
    """Threads cannot have stacks of this size."""
    program = f"""if True:
    import errno, topostream as ts
    for call in (
        lambda: ts.open({str(graph.path)!r}).session(memory="512MiB", device="cpu").pagerank(iterations=2),
        lambda: ts.from_edges(([1, 2], [2, 3]), {str(tmp_path / "new")!r}),
    ):
        try:
            call()
            print("ran")
        except ts.FileError as error:
            print(error.errno == errno.EAGAIN, "refuses to start" in str(error))
    """
    environment = {**os.environ, "RUST_MIN_STACK": str(1 << 46)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["True True"] * 2, done.stdout + done.stderr
    assert not (tmp_path / "new").exists()


LONG_WORK = {
    "run": "ts.open(wide).session(memory='512MiB', device='cpu').pagerank(iterations=10**8)",
    "generate": "ts.generate_rmat(24, new, memory='512MiB')",
    "from_edges of arrays": "ts.from_edges((ids, ids[::-1].copy()), new, memory='512MiB')",
    "from_edges of a stream": """ts.from_edges(
        pa.RecordBatchReader.from_batches(pa.schema({'a': pa.int64(), 'b': pa.int64()}), slow()), new)""",
    "format": "ts.format(text, new, memory='512MiB')",
    "a conversion for NetworkX": "nx.pagerank(G, backend='topostream')",
}
# What is made before the work begins, where that takes long. All work would take several seconds on a fast machine: it
# must not have ended when the signal comes.
BEFORE = {
    "from_edges of arrays": "ids = np.random.default_rng(1).integers(1 << 40, size=30_000_000)",
    "format": """lines = ''.join(f'{a} {a * 7919 % 1000003}\\n' for a in range(2_000_000))
    open(text, 'w').writelines([lines] * 16)""",
    "a conversion for NetworkX": """nx.config.backends.topostream.folder = folder
    ids = np.random.default_rng(1).integers(1 << 16, size=(2, 400_000))
    G = nx.DiGraph(); G.add_edges_from(zip(*ids.tolist()))""",
}


@pytest.mark.parametrize("work", LONG_WORK)
def test_an_interrupt_ends_work_within_a_second_and_leaves_nothing(wide: ts.Graph, tmp_path: Path, work: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    program = f"""if True:
    import time, networkx as nx, numpy as np, pyarrow as pa, topostream as ts
    wide, new, text, folder = {str(wide.path)!r}, {str(folder / "new")!r}, {str(tmp_path / "text")!r}, {str(folder)!r}
    def slow():
        while True:
            time.sleep(0.1)
            yield pa.record_batch({{'a': [1, 2], 'b': [2, 3]}})
    {BEFORE.get(work, "")}
    try:
        print("begun", flush=True)
        {LONG_WORK[work]}
        print("done", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    time.sleep(0.05 if work == "a conversion for NetworkX" else 0.4)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    # Of a machine that does nothing else.
    share = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    assert time.monotonic() - begun < share
    assert process.wait(30) == 0
    (tmp_path / "text").unlink(missing_ok=True)
    assert list(folder.iterdir()) == []


def test_a_run_that_waits_for_a_pipe_can_be_interrupted(graph: ts.Graph, tmp_path: Path) -> None:
    """The session goes on with other runs."""
    pipe, other = tmp_path / "from.txt", tmp_path / "to.txt"
    os.mkfifo(pipe)
    other.write_text(f"{graph.ids[1]}\n")
    program = f"""if True:
    import os, signal, topostream as ts
    signal.signal(signal.SIGINT, signal.default_int_handler)
    session = ts.open({str(graph.path)!r}).session(memory="512MiB", device="cpu")
    try:
        print("begun", flush=True)
        session.cross_edges({str(pipe)!r}, {str(other)!r})
        print("ended", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(len(session.degrees()["out_degree"]), flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert process.stdout.readline() == f"{graph.vertices}\n"
    assert process.wait(30) == 0


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
    with graph.session(**SMALL) as session:
        page = session.pagerank(iterations=10).report.to_html()
    assert "of the" in page and "that “topostream calibrate” measured" in page and "had not measured" not in page
    assert not any(row["fits"] for row in graph.plan("degrees", memory="1MiB", device="cpu"))
    # Settings, which are words of --tune on the command line.
    settings: dict[str, Any] = {"strategy": "shard", "whole_pages": True, "shares": [2, 1]}
    rows = graph.plan("pagerank", memory="256MiB", device=["cpu", "cpu"], threads=2, **settings)
    assert [row["auto"] for row in rows[1:]] == [False, True]
    with pytest.raises(ts.ParameterError, match=r"'fast' for 'fetcher'\s.*auto, uring, threads"):
        graph.plan("degrees", fetcher="fast")


def test_the_page_of_a_report_is_the_page_of_the_program(
    graph: ts.Graph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TOPOSTREAM_CALIBRATION", str(tmp_path / "none.json"))
    with graph.session(**SMALL) as session:
        report = session.pagerank(iterations=10, weights=False).report
        silent = report.to_html(degrees=False)
        page = html.unescape(report.to_html())
    origin = report["origin"]
    assert origin["command"] == "session(memory='512MiB', device='cpu').pagerank(iterations=10)"
    assert origin["version"] == ts.__version__ and origin["store"]["vertices"] == graph.vertices
    for part in ("Roofline", "out-degree", "in-degree", str(graph.path), ts.__version__, origin["command"]):
        assert part in page, part
    assert "“topostream calibrate” had not measured the disk" in page
    assert "in-degree" not in silent and "Roofline" in silent
    assert "in-degree" in report._repr_html_()


def test_notebooks_show_graphs_results_and_reports(graph: ts.Graph) -> None:
    with graph.session(**SMALL) as session:
        result = session.bfs(source=int(graph.ids[3]))
    for shown, expected in ((graph, "300"), (result, "level"), (result.report, "supersteps")):
        assert expected in shown._repr_html_() and "<td>" in shown._repr_html_()
    assert ts.devices()["cpu"]["threads"] > 0
