"""GraphX beside a process and two ranks: the same graph, the same machine, the same answers.

    python -m venv /tmp/spark && /tmp/spark/bin/pip install pyspark numpy       # Spark needs Java 17
    /tmp/spark/bin/python bench/graphx.py --scale 20 --json bench/results/graphx.json

GraphX is part of Spark, which pyspark contains. It keeps the graph in memory; ours is a store on disk, of which a
quarter is cached at most. Answers are compared; a wrong one ends the benchmark with an error.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyspark

HERE = Path(__file__).resolve().parent
LAUNCHER = "mpirun --allow-run-as-root --oversubscribe --bind-to none --mca pml ob1 --mca btl tcp,self"


def graphx(edges: Path, folder: Path, arguments: argparse.Namespace) -> dict[str, float]:
    """The seconds of GraphX, and its peak memory in MiB; its answers are in `folder`."""
    spark = Path(pyspark.__file__).parent
    settings = f"{edges} {folder} {arguments.iterations} {os.cpu_count()}"
    command = [spark / "bin/spark-shell", "--master", "local[*]", "--driver-memory", arguments.heap]
    command += ["--conf", "spark.ui.enabled=false", "-i", HERE / "graphx/graphx.scala"]
    environment = {**os.environ, "GRAPHX": settings, "SPARK_HOME": str(spark), "SPARK_LOCAL_DIRS": str(folder)}
    ended = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    lines = [line.split() for line in ended.stdout.splitlines()]
    found = {words[1]: float(words[2]) for words in lines if words[:1] == ["TIME"]}
    found["peak"] = next((float(words[1]) / 1024 for words in lines if words[:1] == ["PEAK"]), 0.0)
    if len(found) < 4:
        sys.exit(f"GraphX: {ended.stdout[-2000:]}{ended.stderr[-4000:]}")
    return found


def ours(edges: Path, folder: Path, ranks: int, arguments: argparse.Namespace) -> dict[str, float]:
    """The seconds of the program, or of as many ranks; its answers are in `folder`."""
    store = folder / f"store-{ranks}"
    begun = time.perf_counter()
    formatted = [arguments.built / "topostream", "format", edges, store, "--in-edges", "--memory", arguments.memory]
    subprocess.run(formatted, check=True, capture_output=True)
    found = {"load": time.perf_counter() - begun, "peak": 0.0}
    program = [arguments.built / "topostream"]
    if ranks > 1:
        program = [*LAUNCHER.split(), "-n", str(ranks), arguments.built / "topostream-mpi"]
    threads = max(1, (os.cpu_count() or 1) // ranks)
    for work, words in WORK.items():
        options = [store, "--device", "cpu", "--threads", str(threads), "--json", "--output", folder / f"{work}.npy"]
        options += ["--memory", arguments.memory]
        if work == "pagerank":
            options += ["--iterations", str(arguments.iterations)]
        ended = subprocess.run([*program, "run", *words, *options], check=True, capture_output=True, text=True)
        report = json.loads(ended.stdout)
        peaks = [rank["peak_memory_bytes"] for rank in report.get("ranks", [])] or [report["peak_memory_bytes"]]
        found[work] = report["wall_ns"] / 1e9
        found["peak"] = max(found["peak"], sum(peaks) / (1 << 20))
        (folder / f"{work}.npy").rename(folder / f"{work}-{ranks}.npy")
    return found


WORK = {"pagerank": ["pagerank", "--dangling", "ignore"], "components": ["components"]}


def of_graphx(folder: Path, name: str) -> np.ndarray:
    """A column of GraphX, in the order of its vertices, which are those with edges."""
    pairs = np.concatenate([np.loadtxt(part, delimiter=",", ndmin=2) for part in (folder / name).glob("part-*")])
    return pairs[np.argsort(pairs[:, 0])]


def check(folder: Path, ranks: int) -> None:
    """Ends the benchmark if answers differ."""
    theirs, labels = of_graphx(folder, "ranks"), of_graphx(folder, "components")
    for work, found, expected in (("pagerank", "rank", theirs), ("components", "component", labels)):
        rows = np.load(folder / f"{work}-{ranks}.npy")
        rows = np.sort(rows, order="vertex")
        rows = rows[np.isin(rows["vertex"], expected[:, 0].astype(np.uint64))]
        if not np.array_equal(rows["vertex"], expected[:, 0]):
            sys.exit(f"{ranks} ranks: {work}: other vertices")
        one, other = rows[found].astype(float), expected[:, 1]
        if work == "pagerank":
            # GraphX begins with 1 for each vertex, ours with a share of 1; both lose what reaches sinks.
            distance = np.abs(one / one.sum() - other / other.sum()).sum()
            if distance > 1e-4:
                sys.exit(f"{ranks} ranks: PageRank differs by {distance}")
        elif not len(np.unique(np.column_stack([one, other]), axis=0)) == len(np.unique(one)) == len(np.unique(other)):
            sys.exit(f"{ranks} ranks: another partition into components")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--heap", default="16g", help="the memory of Spark's process")
    parser.add_argument("--memory", default="256MiB", help="that of each of our processes")
    parser.add_argument("--built", type=Path, default=Path("target/release"), help="the folder of the programs")
    parser.add_argument("--json", type=Path, help="a file for the outcome")
    arguments = parser.parse_args()
    systems: dict[str, list[dict[str, float]]] = {"GraphX": [], "one process": [], "two ranks": []}
    with tempfile.TemporaryDirectory() as made:
        edges = Path(made) / "edges.txt"
        generate = ["generate", "rmat", "--scale", str(arguments.scale), "--edges-file", edges]
        subprocess.run([arguments.built / "topostream", *generate], check=True, capture_output=True)
        count = sum(1 for _ in edges.open("rb"))
        for _ in range(arguments.runs):
            with tempfile.TemporaryDirectory() as run:
                folder = Path(run)
                systems["GraphX"].append(graphx(edges, folder, arguments))
                for ranks, name in ((1, "one process"), (2, "two ranks")):
                    systems[name].append(ours(edges, folder, ranks, arguments))
                    check(folder, ranks)
    columns = {"load": "load s", "pagerank": "pagerank s", "components": "components s", "peak": "peak MiB"}
    spread = lambda of: {"median": statistics.median(of), "min": min(of), "max": max(of), "runs": len(of)}  # noqa: E731
    rows = [[name, *(spread([run[key] for run in runs]) for key in columns)] for name, runs in systems.items()]
    cpu = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name"))
    outcome: dict[str, Any] = {
        "name": "graphx",
        "expectation": "ten times as fast as GraphX at a tenth of its memory",
        "verified": ["PageRank: L1 distance of at most 1e-4; components: the same partition"],
        "notes": [
            f"R-MAT {arguments.scale}, {count:,} edges; {arguments.iterations} iterations of PageRank; Spark "
            f"{pyspark.__version__} in one process with a heap of {arguments.heap}; ours with {arguments.memory} each",
            "loading: from an edge list as text; GraphX keeps the graph in memory, ours is a store on disk",
        ],
        "tables": [{"title": "GraphX", "columns": ["system", *columns.values()], "rows": rows}],
        "machine": {
            "cores": os.cpu_count(),
            "cpu": cpu.split(": ")[1],
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "kernel": f"linux {platform.release()}",
            "version": f"Spark {pyspark.__version__}",
        },
        "command": " ".join(["bench/graphx.py", *sys.argv[1:]]),
    }
    for row in rows:
        print(row[0], *(f"{cell['median']:.4g} ({cell['min']:.4g}–{cell['max']:.4g})" for cell in row[1:]), sep=" | ")
    if arguments.json:
        arguments.json.write_text(json.dumps(outcome, indent=2) + "\n")


if __name__ == "__main__":
    main()
