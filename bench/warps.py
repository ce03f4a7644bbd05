#!/usr/bin/env python3
"""Virtual warps of 2 to 32 lanes against equal numbers of edges (warp segmentation) and lists binned by length, for the
eight algorithms of Khorasani et al. (PACT 2015), all pages in the memory of a GPU.

bench/warps.py --device gpu --json bench/results/warps.json
bench/warps.py --device 0 --scale 12 --runs 1 --memory 2GiB           tries it here

Needs the Python package. R-MAT with in-lists and weights, in natural order; a session for each algorithm and
distribution (`--tune distribution`), whose first run reads the pages. The others are timed: the whole run, and
its kernels over edges. Distributions with a name leave supersteps to launches of the host. `auto` lets the GPU run them
over tables of its own, in which lists are binned by length; `auto, launches` is the host's choice. Answers of all
distributions have to be the same, or for sums close.
"""

import argparse
import json
import os
import platform
import statistics
from pathlib import Path

import numpy as np

import topostream as ts

EXPECTATION = "equal numbers of edges take less time than any virtual warp on R-MAT, binned lists less than both"
WARPS = ["warp:2", "warp:4", "warp:8", "warp:16", "warp:32"]
WAYS = ["vertex", *WARPS, "hybrid", "segments", "auto, launches", "auto"]
COLUMNS = [
    "algorithm",
    *(f"{way} ms" for way in WAYS),
    "segments' speed of the best warp's",
    "auto's speed of the best warp's",
]
# The algorithm, its options and the column of its answer.
WORK = {
    "bfs": ({"source": "max-degree", "top_down": True}, "level"),
    "components": ({}, "component"),
    "circuit": ({"source": {1: 1.0, 2: 0.0}, "iterations": 10}, "voltage"),
    "heat": ({"source": {1: 1.0}, "iterations": 10}, "temperature"),
    "neural-network": ({"iterations": 10}, "value"),
    "pagerank": ({"iterations": 10}, "rank"),
    "sssp": ({"source": "max-degree"}, "distance"),
    "widest": ({"source": "max-degree"}, "width"),
}


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "runs": len(values)}


def measure(graph, name, way, arguments):
    """Milliseconds of runs, and of their kernels; the answer."""
    options, column = WORK[name]
    named, _, launched = way.partition(", ")
    tuned = {"distribution": named} | ({"without": "device-loop"} if launched else {})
    with graph.session(device=arguments.device, memory=arguments.memory, **tuned) as session:
        session.run(name, **options)
        runs = [session.run(name, **options) for _ in range(arguments.runs)]
        whole = [1e3 * run.report.seconds for run in runs]
        kernels = [run.report["total"]["compute_ns"] / 1e6 for run in runs]
        return whole, kernels, runs[-1][column].copy()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("BENCH_DIR", "target/bench")))
    parser.add_argument("--memory", default="16GiB")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--algorithm", type=lambda text: text.split(","), default=list(WORK), help=",".join(WORK))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    store = arguments.dir / f"warps-{arguments.scale}"
    arguments.dir.mkdir(parents=True, exist_ok=True)
    if not store.exists():
        ts.generate_rmat(arguments.scale, store, in_edges=True, random_weights="u32:1:255", order="natural")
    graph, tables = ts.open(store), {"Runs": [], "Kernels over edges": []}
    for name in arguments.algorithm:
        cells, first = {title: {} for title in tables}, None
        for way in WAYS:
            whole, kernels, values = measure(graph, name, way, arguments)
            exact = values.dtype.kind in "ui"
            first = values if first is None else first
            if not (
                np.array_equal(values, first)
                if exact
                else np.allclose(values, first, rtol=1e-3, atol=0, equal_nan=True)
            ):
                raise SystemExit(f"{name}: {way} has another answer than {WAYS[0]}")
            for title, found in zip(tables, (whole, kernels), strict=True):
                cells[title][way] = spread(found)
        for title, rows in tables.items():
            medians = {way: cell["median"] for way, cell in cells[title].items()}
            best = min(medians[way] for way in WARPS)
            faster = [f"{best / max(medians[way], 1e-6):.2f}" for way in ("segments", "auto")]
            rows.append([name, *cells[title].values(), *faster])
            print(title, name, *(f"{way} {ms:.2f}" for way, ms in medians.items()), *faster, sep="  ", flush=True)
        outcome = {
            "name": "warps",
            "expectation": EXPECTATION,
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "command": f"bench/warps.py --scale {arguments.scale} --device {arguments.device} --runs {arguments.runs}",
            "verified": ["all distributions of an algorithm have the same answer, sums within one part in a thousand"],
            "notes": ["R-MAT, edge factor 16, in-lists, weights of 1 to 255, natural order, all pages on the device"],
            "tables": [{"title": title, "columns": COLUMNS, "rows": rows} for title, rows in tables.items()],
            "claims": [],
        }
        if arguments.json:
            arguments.json.write_text(json.dumps(outcome, indent=2) + "\n")


if __name__ == "__main__":
    main()
