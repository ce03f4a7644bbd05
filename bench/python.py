"""The Python package: what a run costs beside the program, how fast tables become stores, and other packages.

    python bench/python.py overhead --program target/release/topostream
    python bench/python.py from-edges
    python bench/python.py peers --scales 20,22 --python /other/python
    python bench/python.py networkx

The package has to be a release build: `python/wheel.sh`. `--python` adds an interpreter with other packages, and may be
given several times; each package runs in a process of its own, and those that are missing are left out. Answers are
compared with ours. A wrong one ends the benchmark with an error.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import topostream as ts

WORK = ["pagerank", "bfs", "sssp", "components", "core numbers", "betweenness", "clustering"]
PACKAGES = ["topostream", "networkit", "igraph", "graph_tool", "graph_mate", "networkx"]
SMALL: dict[str, Any] = {"memory": "2GiB", "device": "cpu"}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    found = work()
    return time.perf_counter() - begun, found


def spread(values: list[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "runs": len(values)}


def peak_bytes() -> int:
    """The most memory that was resident since the count was reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def machine() -> dict[str, Any]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    kernel = f"linux {platform.release()}"
    version = f"topostream {ts.__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
    return {"cores": os.cpu_count(), "cpu": cpu, "memory_bytes": memory, "kernel": kernel, "version": version}


def overhead(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Processes of the program beside sessions: what either takes beyond the time in its report."""
    program = str(arguments.program.resolve())
    store = folder / "store"
    scale = arguments.scale or 18
    graph = ts.generate_rmat(scale, store, in_edges=True)
    work: list[tuple[str, dict[str, Any], str]] = [
        ("bfs", {"source": "max-degree"}, "level"),
        ("pagerank", {"iterations": 10}, "rank"),
    ]
    rows = []
    for name, options, column in work:
        program_ms, session_ms, later_ms, copy_ms, run_ms = [], [], [], [], []
        words = [f"--{key}={value}" for key, value in options.items()]
        command = [program, "run", name, *words, "--memory=2GiB", "--device=cpu", "--json", str(store)]
        for round_number in range(arguments.runs + 1):
            seconds, printed = timed(lambda: subprocess.run(command, capture_output=True, check=True, text=True))
            report = json.loads(printed.stdout)
            graph = ts.open(store)
            begun = time.perf_counter()
            with graph.session(**SMALL) as session:
                first = session.run(name, **options)
                first_seconds = time.perf_counter() - begun
                later_seconds, later = timed(lambda: session.run(name, **options))
                copy_seconds, values = timed(lambda: later[column].copy())
            assert first.summary == report["answer"], "the package and the program have the same answer"
            assert len(values) == graph.vertices
            if round_number == 0:
                continue
            program_ms.append(1e3 * seconds - report["wall_ns"] / 1e6)
            session_ms.append(1e3 * (first_seconds - first.report.seconds))
            later_ms.append(1e3 * (later_seconds - later.report.seconds))
            copy_ms.append(1e3 * copy_seconds)
            run_ms.append(1e3 * first.report.seconds)
        more = [ours - its for ours, its in zip(session_ms, program_ms, strict=True)]
        rows.append([name, *map(spread, (run_ms, program_ms, session_ms, more, later_ms, copy_ms))])
    columns = ["work", "run ms", "program beyond it ms", "session beyond it ms", "session less program ms"]
    columns += ["later runs beyond theirs ms", "copy of a column ms"]
    return {
        "name": "python-overhead",
        "expectation": "a session with one run takes at most 20 ms more than the program, beside the copy of results",
        "verified": ["the summaries of both answers are equal"],
        "notes": ["the first round is not counted", "results are converted to arrays of 8 bytes a vertex in the run"],
        "tables": [{"title": f"R-MAT {scale}", "columns": columns, "rows": rows}],
    }


def rmat(scale: int, count: int) -> tuple[Any, Any]:
    """Edges of an R-MAT graph with Graph500's parameters and scrambled ids, as the generator has them: unsorted."""
    random = np.random.default_rng(1)
    names = random.permutation(np.uint32(1) << np.uint32(scale)).astype(np.uint32)
    source, dest = (np.empty(count, np.uint32) for _ in range(2))
    part = 1 << 20
    for first in range(0, count, part):
        rows, columns = (np.zeros(min(part, count - first), np.uint32) for _ in range(2))
        for _ in range(scale):
            drawn = random.random(len(rows), dtype=np.float32)
            rows = 2 * rows + (drawn >= 0.76)
            columns = 2 * columns + (((drawn >= 0.57) & (drawn < 0.76)) | (drawn >= 0.95))
        source[first : first + part], dest[first : first + part] = names[rows], names[columns]
    return source, dest


def from_edges(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Arrays of NumPy to a store."""
    count = arguments.edges
    scale = arguments.scale or 23
    vertices, rows, made = 1 << scale, [], rmat(scale, count)
    for of in (np.uint32, np.int64):
        pair = tuple(ends.astype(of) for ends in made)
        Path("/proc/self/clear_refs").write_text("5")
        before = peak_bytes()
        rates: list[float] = []
        for _ in range(arguments.runs):
            with tempfile.TemporaryDirectory(dir=folder) as parent:
                store = Path(parent) / "store"
                seconds, graph = timed(lambda: ts.from_edges(pair, store, memory="4GiB"))
                assert graph.edges == count
                if count <= 1 << 24:
                    source, dest, _ = graph.edge_arrays()
                    found = np.sort(graph.ids[source] * vertices + graph.ids[dest])
                    expected = np.sort(pair[0].astype(np.uint64) * vertices + pair[1].astype(np.uint64))
                    assert (found == expected).all(), "every edge is in the store"
            rates.append(count / seconds / 1e6)
        peak = {"median": (peak_bytes() - before) / (1 << 20), "runs": 1}
        rows.append([f"{count:,} pairs of {np.dtype(of)}", spread(rates), peak])
    return {
        "name": "python-from-edges",
        "expectation": "12 M edges/s at least",
        "verified": ["the number of edges; every edge where there are at most 2^24"],
        "notes": [f"R-MAT over {vertices:,} vertices in random order, memory of 4 GiB, a packed store with out-lists"],
        "tables": [{"title": "arrays", "columns": ["input", "M edges/s", "peak MiB beside the arrays"], "rows": rows}],
    }


def peers(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Other packages: the same graphs, the same answers, loading and computing apart."""
    rows: list[list[Any]] = []
    missing: list[str] = []
    versions: dict[str, str] = {}
    packages = arguments.only or PACKAGES
    for scale in map(int, arguments.scales.split(",")):
        place = folder / str(scale)
        place.mkdir()
        make_graph(scale, arguments.sources, place)
        lines, failed = beside_each_other(packages, arguments, place)
        wrong = [problem for line in lines if (problem := difference(place, line["package"], line["work"]))]
        if wrong:
            sys.exit("\n".join(wrong))
        versions.update({line["package"]: line["version"] for line in lines if line["work"] == "load"})
        edges = len(np.load(place / "source.npy"))
        missing += [f"R-MAT {scale}: {one}" for one in failed]
        rows += [[f"R-MAT {scale}, {edges:,} undirected edges", *row] for row in by_package(lines, packages)]
        for file in place.glob("*.npy"):
            file.unlink()
    return {
        "name": "python-peers",
        "expectation": "faster than NetworkX by two orders of magnitude, within a factor of two of the others",
        "verified": [
            "PageRank: L1 distance of at most 1e-4 to ours; betweenness and clustering: relative differences of at "
            "most 1e-4; levels, distances and core numbers: equal; components: the same partition"
        ],
        "notes": [
            f"{', '.join(' '.join(pair) for pair in versions.items())}; one run each, on all cores where a package "
            "uses them; peak: of the process, beside its input",
            "loading: from arrays of edges to the package's graph, ours to a store on disk; "
            f"betweenness of {arguments.sources} sources",
            *missing,
        ],
        "tables": [{"title": "Python packages", "columns": ["graph", "work", *packages], "rows": rows}],
    }


def beside_each_other(
    packages: list[str], arguments: argparse.Namespace, folder: Path
) -> tuple[list[dict[str, Any]], list[str]]:
    """The lines of all packages, and what has not ended."""
    lines: list[dict[str, Any]] = []
    failed: list[str] = []
    for package in packages:
        python = interpreter(package, arguments.python)
        if python is None:
            print(f"{package}: not found", file=sys.stderr)
            continue
        found, without = run_peer(python, package, folder, arguments.limit, arguments.total)
        lines += found
        failed += without
    return lines, failed


def backend(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """NetworkX beside its backend, from 10^4 to 10^7 edges: with the conversion of the graph, and once it is there."""
    import networkx as nx

    for key, value in {"memory": "2GiB", "device": "cpu", "folder": str(folder)}.items():
        setattr(nx.config.backends.topostream, key, value)
    nx.config.warnings_to_ignore.add("cache")
    rows = []
    for count in (size for power in (4, 5, 6, 7) for size in (10**power, 3 * 10**power) if size <= 10**7):
        source, dest = rmat(max(int(np.log2(count / 8)), 1), count)
        graph = nx.Graph()
        graph.add_edges_from(zip(source.tolist(), dest.tolist(), strict=True))
        graph.remove_edges_from(list(nx.selfloop_edges(graph)))
        hub = max(graph, key=graph.degree)
        for name, given in NETWORKX_WORK.items():
            if name == "core_number" and count > 3 * 10**6:
                continue
            words = {key: hub if value == "hub" else value for key, value in given.items()}
            rows.append([f"{graph.number_of_edges():,}", name, *beside(nx, graph, name, words, count, arguments.runs)])
    return {
        "name": "python-networkx",
        "expectation": "the backend pays from some 30,000 edges on, the conversion included",
        "verified": ["all answers are equal, ranks to 1e-5 of the largest"],
        "notes": [
            "undirected R-MAT graphs with 8 edges a vertex; one run of graphs of more than 10^6 edges",
            "core numbers of 10^7 edges take NetworkX more than ten minutes",
            f"NetworkX {nx.__version__}",
        ],
        "tables": [
            {
                "title": "nx.f(G, backend=...)",
                "columns": ["edges", "work", "networkx s", "topostream s", "times as fast", "converted before s"],
                "rows": rows,
            }
        ],
    }


NETWORKX_WORK: dict[str, dict[str, Any]] = {
    "pagerank": {},
    "number_connected_components": {},
    "single_source_shortest_path_length": {"source": "hub"},
    "single_source_dijkstra_path_length": {"source": "hub"},
    "core_number": {},
}


def beside(nx: Any, graph: Any, name: str, words: dict[str, Any], count: int, runs: int) -> list[Any]:
    """The seconds of NetworkX, of the backend with its conversion, their ratio, and of the backend after that."""
    function = getattr(nx, name)
    theirs, converted, ratios, cached = [], [], [], []
    for _ in range(runs if count <= 10**6 else 1):
        graph.__networkx_cache__.clear()
        seconds, expected = timed(lambda: function(graph, backend="networkx", **words))
        theirs.append(seconds)
        seconds, found = timed(lambda: function(graph, backend="topostream", **words))
        converted.append(seconds)
        ratios.append(theirs[-1] / seconds)
        cached.append(timed(lambda: function(graph, backend="topostream", **words))[0])
        if name == "pagerank":
            largest = max(expected.values())
            assert all(abs(found[node] - rank) <= 1e-5 * largest + 2e-6 for node, rank in expected.items()), name
        else:
            assert found == expected, name
    return [spread(theirs), spread(converted), spread(ratios), spread(cached)]


def by_package(lines: list[dict[str, Any]], packages: list[str]) -> list[list[Any]]:
    """A row for each kind of work, a column for each package."""
    found = {(line["work"], line["package"]): {"median": line["seconds"], "runs": 1} for line in lines}
    rows = [[f"{work}, s", *(found.get((work, package), "-") for package in packages)] for work in ["load", *WORK]]
    beside: dict[str, float] = {}
    for line in lines:
        peak = (line["peak_bytes"] - line["arrays_bytes"]) / (1 << 20)
        beside[line["package"]] = max(peak, beside.get(line["package"], 0))
    of = ({"median": beside[package], "runs": 1} if package in beside else "-" for package in packages)
    return [*rows, ["peak memory, MiB", *of]]


def make_graph(scale: int, sources: int, folder: Path) -> None:
    options: dict[str, Any] = {"remove_self_loops": True, "remove_duplicates": True, "symmetrize": True}
    made = ts.generate_rmat(scale, folder / "made", random_weights="u32:1:255", **options)
    source, dest, weight = made.edge_arrays()
    # Vertices without edges are left out: packages differ in what their rank is.
    present, numbered = np.unique(np.concatenate([source, dest]), return_inverse=True)
    source, dest = numbered[: len(source)], numbered[len(source) :]
    degrees = np.bincount(numbered, minlength=len(present))
    first = np.argsort(-degrees, kind="stable")[:sources]
    for name, values in (("source", source), ("dest", dest), ("weight", weight)):
        np.save(folder / f"{name}.npy", values)
    (folder / "source.txt").write_text("\n".join(map(str, first.tolist())))


def interpreter(package: str, others: list[str]) -> str | None:
    """The first interpreter that has a package."""
    for python in [sys.executable, *others]:
        if subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False).returncode == 0:
            return python
    return None


def run_peer(
    python: str, package: str, folder: Path, limit: float, total: float
) -> tuple[list[dict[str, Any]], list[str]]:
    """The lines that a package prints, and what took longer than the limit or failed: a new process does the rest.

    None is started for a package that has taken the total already.
    """
    begun = time.monotonic()
    lines: list[dict[str, Any]] = []
    failed: list[str] = []
    left = list(WORK)
    while left:
        found, now, why = attempt(python, package, folder, left, limit)
        lines += [line for line in found if line["work"] != "load" or not lines]
        if now is None:
            break
        failed.append(f"{package}: {now}: {why}")
        print(failed[-1], file=sys.stderr)
        if now == "load":
            break
        left = left[left.index(now) + 1 :]
        if left and time.monotonic() - begun > total:
            failed.append(f"{package}: {', '.join(left)}: not tried after {total:.0f} s")
            print(failed[-1], file=sys.stderr)
            break
    return lines, failed


def attempt(
    python: str, package: str, folder: Path, work: list[str], limit: float
) -> tuple[list[dict[str, Any]], str | None, str]:
    """The lines of one process, what it was doing when it ended early, and why it did."""
    script = str(Path(__file__).with_name("python_peer.py"))
    lines: list[dict[str, Any]] = []
    now: str | None = "load"
    late = threading.Event()
    with subprocess.Popen([python, script, package, str(folder), *work], stdout=subprocess.PIPE, text=True) as process:

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(limit, end)
        timer.start()
        assert process.stdout is not None
        for text in process.stdout:
            if not text.startswith('{"package"'):
                continue
            timer.cancel()
            timer = threading.Timer(limit, end)
            timer.start()
            line = json.loads(text)
            now = line.get("begins")
            if now is None:
                lines.append(line)
                print(text, end="", file=sys.stderr, flush=True)
        process.wait()
        timer.cancel()
    if process.returncode == 0:
        return lines, None, ""
    why = f"not done after {limit:.0f} s" if late.is_set() else f"ended with exit code {process.returncode}"
    return lines, now or "load", why


def difference(folder: Path, package: str, work: str) -> str | None:
    """What is wrong with an answer, beside ours."""
    ours_file = folder / f"topostream-{work}.npy"
    if work == "load" or package == "topostream" or not ours_file.exists():
        return None
    ours, its = (np.load(folder / f"{of}-{work}.npy").astype(float) for of in ("topostream", package))
    if work == "components":
        pairs = len(np.unique(np.column_stack([ours, its]), axis=0))
        same = pairs == len(np.unique(ours)) == len(np.unique(its))
        return None if same else f"{package}: another partition into components"
    ours, its = (np.where(np.isfinite(of), of, -1) for of in (ours, its))
    if work == "pagerank":
        distance = float(np.abs(ours - its).sum())
        return None if distance < 1e-4 else f"{package}: ranks differ by {distance}"
    tolerance = 1e-4 if work in ("betweenness", "clustering") else 0
    wrong = ~np.isclose(ours, its, rtol=tolerance, atol=tolerance)
    if not wrong.any():
        return None
    at = int(np.flatnonzero(wrong)[0])
    return f"{package}: {work}: {int(wrong.sum())} values differ, the first at {at}: ours {ours[at]}, its {its[at]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmark", choices=["overhead", "from-edges", "peers", "networkx"])
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()), help="where stores are made")
    parser.add_argument("--json", type=Path, help="a file for the outcome")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--scale", type=int, help="of the R-MAT graph; of from-edges: 2^SCALE vertices")
    parser.add_argument("--scales", default="20,22", help="of the R-MAT graphs of peers")
    parser.add_argument("--program", type=Path, default=Path("target/release/topostream"))
    parser.add_argument("--edges", type=int, default=100_000_000)
    parser.add_argument("--sources", type=int, default=4, help="sources of betweenness")
    parser.add_argument("--python", action="append", default=[], help="an interpreter with other packages")
    parser.add_argument("--only", action="append", choices=PACKAGES, help="packages to run")
    parser.add_argument("--limit", type=float, default=600, help="seconds for each kind of work of a package")
    parser.add_argument("--total", type=float, default=3600, help="seconds after which no more work of one is begun")
    arguments = parser.parse_args()
    benchmarks = {"overhead": overhead, "from-edges": from_edges, "peers": peers, "networkx": backend}
    benchmark = benchmarks[arguments.benchmark]
    with tempfile.TemporaryDirectory(dir=arguments.dir) as folder:
        found = benchmark(arguments, Path(folder))
    outcome = {**found, "machine": machine(), "command": " ".join(["bench/python.py", *sys.argv[1:]])}
    for table in outcome["tables"]:
        print(table["title"], *(" | ".join(map(shown, row)) for row in [table["columns"], *table["rows"]]), sep="\n")
    if arguments.json:
        arguments.json.write_text(json.dumps(outcome, indent=2) + "\n")


def shown(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    brackets = f" ({cell['min']:.4g}–{cell['max']:.4g})" if cell["runs"] > 1 else ""
    return f"{cell['median']:.4g}{brackets}"


if __name__ == "__main__":
    main()
