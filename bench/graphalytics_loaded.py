#!/usr/bin/env python3
"""LDBC Graphalytics' six algorithms over graphs that are loaded already: what engines publish that leave out reading.

bench/graphalytics_loaded.py --scale 22,24,26 --device 0,cpu --json bench/results/graphalytics-loaded.json
bench/graphalytics_loaded.py --scale 16 --device cpu --memory 4GiB --runs 3           tries it here

graph500-N as bench/graphalytics.py has it, made by the generator into a store, without a file. A session of the
Python package runs each algorithm several times: the first run reads the pages from disk, the others have them in
memory, a GPU's where they fit there. Shortest paths are not among them: graph500-N has no weights. Every run of an
algorithm must have the same answer, and all devices that of the last one, which is a CPU where several are named: it
has another algorithm for most. LCC runs once more, not --runs times. `topostream` on the path, or TOPOSTREAM.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
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


def measure(graph, scale, name, device, arguments, answers):
    """A row: the first run of a session, and later ones."""
    algorithm, options, column, published = WORK[name]
    with graph.session(device=device, memory=arguments.memory) as session:
        seconds, first = [], None
        for _ in range(1 + (1 if name == "LCC" else arguments.runs)):
            run = session.run(algorithm, **options)
            seconds.append(run.report.seconds)
            values = run[column].copy()
            if first is not None and not same(name, values, first):
                raise SystemExit(f"{name}: two runs have different answers")
            first, steps = values, run.report.supersteps
            del run
    if name in answers and not same(name, first, answers[name]):
        raise SystemExit(f"{name}, {device}: the answer is not that of {arguments.device[-1]}")
    checked = arguments.device[-1] if name in answers else "runs agree"
    answers.setdefault(name, first)
    loaded = spread(seconds[1:])
    size = graph.vertices + graph.edges // 2
    compared = scale == 26 and published
    row = [f"graph500-{scale}", name, device, f"{seconds[0]:.3f}", loaded]
    row += [f"{size / loaded['median'] / 1e6:.0f}", str(steps), checked]
    row += [str(published), f"{published / loaded['median']:.1f}"] if compared else ["", ""]
    print(*(f"{cell['median']:.3f}" if isinstance(cell, dict) else cell for cell in row), sep="  ", flush=True)
    return row


def outcome(rows, graphs):
    return {
        "name": "graphalytics-loaded",
        "expectation": EXPECTATION,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "command": " ".join(["bench/graphalytics_loaded.py", *(Path(word).name for word in sys.argv[1:])]),
        "verified": ["every run has the same answer; those that name a device have its answer"],
        "notes": ["NeuG: 64 threads, kernels only, as published; M EVPS: vertices and edges, each edge once"],
        "tables": [
            {"title": "Loaded", "columns": COLUMNS, "rows": rows},
            {"title": "Graphs", "columns": ["graph", "vertices", "edges", "made in s"], "rows": graphs},
        ],
        "claims": [],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--scale", type=lambda text: [int(word) for word in text.split(",")], required=True)
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("BENCH_DIR", "target/bench")))
    parser.add_argument("--memory", default="96GiB")
    parser.add_argument("--device", type=listed, default=["gpu", "cpu"])
    parser.add_argument("--algorithm", type=listed, default=list(WORK), help=",".join(WORK))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--discard", action="store_true", help="remove each store after its runs")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.dir.mkdir(parents=True, exist_ok=True)
    rows, graphs = [], []
    for scale in arguments.scale:
        store = arguments.dir / f"graph500-{scale}.loaded"
        made = make(store, scale, arguments.memory) if not store.exists() else None
        graph, answers = ts.open(store), {}
        size = [str(graph.vertices), str(graph.edges // 2)]
        graphs.append([f"graph500-{scale}", *size, f"{made:.1f}" if made else ""])
        print(*graphs[-1], sep="  ", flush=True)
        for name in arguments.algorithm:
            for device in reversed(arguments.device):
                rows.append(measure(graph, scale, name, device, arguments, answers))
            if arguments.json:
                arguments.json.write_text(json.dumps(outcome(rows, graphs), indent=2) + "\n")
        del graph
        if arguments.discard:
            shutil.rmtree(store)


if __name__ == "__main__":
    main()
