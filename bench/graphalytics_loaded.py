#!/usr/bin/env python3
"""LDBC Graphalytics' six algorithms over graphs that are loaded already: what engines publish that leave out reading.

bench/graphalytics_loaded.py --scale 26 --device 0 --json bench/results/graphalytics-loaded-26.json
bench/graphalytics_loaded.py --scale 16 --device cpu --memory 4GiB --runs 3           tries it here

graph500-N as bench/graphalytics.py has it, made by the generator into a store, without a file. A session of the
Python package runs each algorithm several times: the first run reads the pages from disk, the others have them in
memory, a GPU's where they fit there. Shortest paths are not among them: graph500-N has no weights. Every run of an
algorithm must have the same answer, and answers that are listed in CHECKED that of a CPU, which has another algorithm
for most. `topostream` on the path, or TOPOSTREAM.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np

import topostream as ts

EXPECTATION = "with all pages in an H200's memory, every algorithm takes less time than NeuG's kernels on 64 threads"
COLUMNS = [
    "graph",
    "algorithm",
    "device",
    "first run s",
    "loaded s",
    "M EVPS",
    "supersteps",
    "checked",
    "NeuG s",
    "faster",
]
# The algorithm, its options and the column of its answer; seconds that NeuG publishes for graph500-26.
WORK = {
    "BFS": ("bfs", {"source": "max-degree"}, "level", 0.542),
    "WCC": ("components", {}, "component", 0.467),
    "PR": ("pagerank", {"iterations": 10}, "rank", 6.05),
    "CDLP": ("communities", {"max_iterations": 10}, "community", 10.6),
    "LCC": ("clustering", {}, "coefficient", 360),
    "k-core": ("kcore", {}, "core", None),
}
CHECKED = ["BFS", "WCC", "PR"]


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "runs": len(values)}


def make(store, scale, memory):
    """Makes the graph's store; returns seconds."""
    words = ["--symmetrize", "--remove-duplicates", "--remove-self-loops", "--ids", "compact", "--order", "natural"]
    command = [os.environ.get("TOPOSTREAM", "topostream"), "generate", "rmat", "--scale", str(scale), *words]
    start = time.perf_counter()
    subprocess.run([*command, "--store", store, "--memory", memory, "--quiet"], check=True)
    return time.perf_counter() - start


def same(name, values, expected):
    """Sums of floats depend on the order of threads."""
    return (
        np.allclose(values, expected, rtol=1e-5, atol=0) if name in ("PR", "LCC") else np.array_equal(values, expected)
    )


def measure(graph, name, arguments, expected):
    """A row: the first run of a session, and later ones."""
    algorithm, options, column, published = WORK[name]
    with graph.session(device=arguments.device, memory=arguments.memory) as session:
        seconds, first = [], None
        for _ in range(arguments.runs + 1):
            run = session.run(algorithm, **options)
            seconds.append(run.report.seconds)
            values = run[column].copy()
            if first is not None and not same(name, values, first):
                raise SystemExit(f"{name}: two runs have different answers")
            first, steps = values, run.report.supersteps
            del run
    if expected is not None and not same(name, first, expected):
        raise SystemExit(f"{name}: the answer is not the CPU's")
    loaded = spread(seconds[1:])
    size = graph.vertices + graph.edges // 2
    compared = arguments.scale == 26 and published
    row = [f"graph500-{arguments.scale}", name, arguments.device, f"{seconds[0]:.3f}", loaded]
    row += [f"{size / loaded['median'] / 1e6:.0f}", str(steps), "CPU" if expected is not None else "runs agree"]
    row += [str(published), f"{published / loaded['median']:.1f}"] if compared else ["", ""]
    print(*(f"{cell['median']:.3f}" if isinstance(cell, dict) else cell for cell in row), sep="  ", flush=True)
    return row


def reference(graph, name, arguments):
    """The answer of a CPU."""
    algorithm, options, column, _ = WORK[name]
    with graph.session(device="cpu", memory=arguments.memory) as session:
        return session.run(algorithm, **options)[column].copy()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, required=True)
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("BENCH_DIR", "target/bench")))
    parser.add_argument("--memory", default="96GiB")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--algorithm", type=lambda text: text.split(","), default=list(WORK), help=",".join(WORK))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    store = arguments.dir / f"graph500-{arguments.scale}.loaded"
    arguments.dir.mkdir(parents=True, exist_ok=True)
    made = make(store, arguments.scale, arguments.memory) if not store.exists() else None
    graph, rows = ts.open(store), []
    graphs = [
        [f"graph500-{arguments.scale}", str(graph.vertices), str(graph.edges // 2), f"{made:.1f}" if made else ""]
    ]
    print(*graphs[0], sep="  ", flush=True)
    for name in arguments.algorithm:
        checked = arguments.device != "cpu" and name in CHECKED
        rows.append(measure(graph, name, arguments, reference(graph, name, arguments) if checked else None))
        outcome = {
            "name": "graphalytics-loaded",
            "expectation": EXPECTATION,
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "command": f"bench/graphalytics_loaded.py --scale {arguments.scale} --device {arguments.device} "
            f"--runs {arguments.runs}",
            "verified": ["every run has the same answer; those marked CPU are the CPU's"],
            "notes": ["NeuG: 64 threads, kernels only, as published; M EVPS: vertices and edges, each edge once"],
            "tables": [
                {"title": "Loaded", "columns": COLUMNS, "rows": rows},
                {"title": "Graphs", "columns": ["graph", "vertices", "edges", "made in s"], "rows": graphs},
            ],
            "claims": [],
        }
        if arguments.json:
            arguments.json.write_text(json.dumps(outcome, indent=2) + "\n")


if __name__ == "__main__":
    main()
