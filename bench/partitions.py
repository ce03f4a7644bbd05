#!/usr/bin/env python3
"""Partitions of a graph's vertices, into JSON: edges between parts, values that parts read of each other, and the bytes
and times of runs with a device for each part (Pan et al., IPDPS 2017, compare partitioners so).

bench/partitions.py roads.mtx --json bench/results/partitions-roads.json      2 and 4 parts, CPUs
bench/partitions.py roads.mtx --parts 2 --device 0,1                          GPUs, one for each part
bench/partitions.py roads.gr --parts 2 --works sssp                          a graph with weights
bench/partitions.py big.txt --parts 2 --rules ranges,modulo,big.part.2        a file that METIS has written before

The graph is any input of `topostream format`, read as undirected, in its own order of vertices. Rules: `ranges` with
equal numbers of edges, `modulo` (vertex v in part v mod K), `metis` (gpmetis has to be on the path; Debian: metis), or
a file of parts. Each partition is a store of its own, in shards that are the parts, run under `shard`. PageRank by pull
is run without mirrors and with; its ms are those of the median iteration but the first. Traversals go out from the
vertex of highest degree; their ms are those of the whole run, which reads the pages. Answers have to be the same in all
partitions. `topostream` on the path, or TOPOSTREAM.
"""

import argparse
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

EXPECTATION = (
    "v mod K cuts 1 - 1/K of the edges of any graph; METIS cuts less than ranges, and devices that are sent what they "
    "read exchange as much less. Messages of traversals have each activated vertex once, whatever the partition"
)
COLUMNS = ["parts", "rule", "edges between parts %", "values read by others", "work", "sent", "ms", "exchange ms", "MB"]
LAYOUT = ["--symmetrize", "--remove-duplicates", "--remove-self-loops", "--order", "natural", "--page-size", "64KiB"]
WORKS = {
    "pull": ["pagerank", "--iterations", "20", "--traffic", "pull"],
    "top-down": ["bfs", "--source", "max-degree", "--top-down"],
    "optimizing": ["bfs", "--source", "max-degree"],
    "sssp": ["sssp", "--source", "max-degree"],
    "components": ["components"],
}


def topostream(*words):
    """Runs the program; returns what it prints."""
    program = os.environ.get("TOPOSTREAM", "topostream")
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "runs": len(values)}


def metis(store, count, folder):
    """The file of parts that gpmetis makes. It numbers vertices from 1, here in ascending order of their ids."""
    graph = folder / "graph.metis"
    if not graph.exists():
        topostream("extract", store, "--all", "--output", folder / "edges.txt")
        lists = {}
        with open(folder / "edges.txt") as edges:
            for line in edges:
                if not line.startswith(("#", "%")):
                    a, b = (int(word) for word in line.split()[:2])
                    lists.setdefault(a, set()).add(b)
                    lists.setdefault(b, set()).add(a)
        number = {vertex: place for place, vertex in enumerate(sorted(lists), 1)}
        with open(graph, "w") as out:
            print(len(number), sum(map(len, lists.values())) // 2, file=out)
            for vertex in number:
                print(*(number[other] for other in sorted(lists[vertex])), file=out)
    subprocess.run(["gpmetis", graph, str(count)], check=True, stdout=subprocess.DEVNULL)
    return folder / f"graph.metis.part.{count}"


def partition(store, count, rule, folder):
    """Makes the store of a partition; returns it and the partition's figures."""
    path = metis(store, count, folder) if rule == "metis" else rule
    words = ["--rule", rule] if rule in ("ranges", "modulo") else ["--from", path]
    said = topostream("partition", store, "--parts", count, *words, "--output", folder / "order.txt")
    cut, values = re.search(r"^([0-9.]+)% of all edges.* read ([0-9,]+) value", said, re.MULTILINE).groups()
    weights = re.search(r"--shard-weights ([0-9,.]+)$", said, re.MULTILINE)[1]
    parted = folder / "parted"
    shutil.rmtree(parted, ignore_errors=True)
    words = ["--order-file", folder / "order.txt", "--shards", count, "--balance", "vertices"]
    topostream("reformat", store, parted, *words, "--shard-weights", weights, "--page-size", "64KiB")
    return parted, float(cut), int(values.replace(",", ""))


def is_same(found, expected):
    """Whether two answers are the same, whatever the order of their vertices; ranks to four digits."""

    def values(path):
        with open(path) as lines:
            next(lines)
            rows = (line.rstrip("\n").split(",")[:2] for line in lines)
            return {vertex: float(value) if value else None for vertex, value in rows}

    found, expected = values(found), values(expected)
    close = lambda a, b: a == b or (None not in (a, b) and math.isclose(a, b, rel_tol=1e-4))  # noqa: E731
    return found.keys() == expected.keys() and all(close(found[vertex], expected[vertex]) for vertex in expected)


def run(store, work, devices, folder, runs):
    """Milliseconds, those of exchanges, and megabytes of a run; its answer is compared with the first one."""
    first, out, reports = folder / f"{work}.csv", folder / "answer.csv", []
    command = ["run", *WORKS[work][:1], store, *WORKS[work][1:], "--device", devices, "--tune", "strategy=shard"]
    for _ in range(runs):
        reports.append(json.loads(topostream(*command, "--json", "--output", out)))
    iterates = work == "pull"
    parts = [report["steps"][1:] if iterates else report["steps"] for report in reports]

    def each(key):
        return [(statistics.median if iterates else sum)(step[key] for step in steps) / 1e6 for steps in parts]

    if not first.exists():
        out.rename(first)
    elif not is_same(out, first):
        sys.exit(f"{work}: another answer than in the first partition")
    return [spread(each("wall_ns")), spread(each("merge_ns")), f"{each('merged_bytes')[0]:.3f}"]


def outcome(rows, graph, devices):
    words = [Path(word).name if "/" in word else word for word in sys.argv[1:]]
    return {
        "name": "partitions",
        "expectation": EXPECTATION,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "command": " ".join(["bench/partitions.py", *words]),
        "verified": ["levels, distances and components are the same in all partitions, ranks to four digits"],
        "notes": [f"devices: {devices}; pull: of an iteration, others: of the whole run"],
        "tables": [{"title": graph, "columns": COLUMNS, "rows": rows}],
        "claims": [],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("graph", type=Path)
    parser.add_argument("--parts", type=lambda text: [int(word) for word in text.split(",")], default=[2, 4])
    parser.add_argument("--rules", type=listed, help="ranges, modulo, metis, or files of parts")
    parser.add_argument("--works", type=listed, default=["pull", "top-down"], help=", ".join(WORKS))
    parser.add_argument("--device", help="as many as parts, separated by commas [default: CPUs]")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--dir", type=Path, default=os.environ.get("BENCH_DIR"), help="the folder for stores")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rules = arguments.rules or ["ranges", "modulo"] + (["metis"] if shutil.which("gpmetis") else [])
    rows = []
    with tempfile.TemporaryDirectory(prefix="partitions.", dir=arguments.dir) as name:
        folder = Path(name)
        topostream("format", arguments.graph, folder / "graph", *LAYOUT)
        for count in arguments.parts:
            devices = arguments.device or ",".join(["cpu"] * count)
            if len(devices.split(",")) != count:
                parser.error(f"--device {devices}: there are {count} parts")
            for rule in rules:
                store, cut, values = partition(folder / "graph", count, rule, folder)
                for sent in ["linked", "mirrored"]:
                    if sent == "mirrored":
                        topostream("mirrors", store)
                    for work in arguments.works:
                        # Messages go to all devices, with mirrors or without.
                        if sent == "mirrored" and work != "pull":
                            continue
                        figures = run(store, work, devices, folder, arguments.runs)
                        sent_by = sent if work == "pull" else "messages"
                        rows.append([str(count), Path(rule).name, f"{cut:g}", str(values), work, sent_by, *figures])
                        print(*rows[-1][:6], f"{figures[0]['median']:.2f} ms, {figures[2]} MB", file=sys.stderr)
    text = json.dumps(outcome(rows, arguments.graph.name, devices), indent=2) + "\n"
    if arguments.json:
        arguments.json.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
