"""Algorithms over graphs of simple shapes, of which some are long: processor seconds of the program.

    cargo build --release
    python3 bench/shapes.py target/release/topostream --json bench/results/shapes.json

Needs Python alone. Shapes have `--vertices` vertices, in the order of their ids and, marked *, shuffled. A run gets
`--threads` threads and is stopped after `--limit` seconds of processor time. Cells are seconds of the processor, of all
threads together. Where the program says before the run that it may take long, `said` has the first words of its note.
`--only bfs,scc` and `--shapes path,grid` run some of them.
"""

import argparse
import json
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Edges = Iterator[tuple[int, int]]

# The stores that algorithms need: options of `topostream format`, and whether edges have a weight of 1 to 9.
STORES = {
    "directed": (["--in-edges"], False),
    "undirected": (["--symmetrize"], False),
    "weighted": (["--symmetrize", "--weight-type", "u32"], True),
}

# The runs: a name, a store, and the words after `run`.
RUNS = [
    ("pagerank", "directed", "pagerank"),
    ("delta-pagerank", "directed", "delta-pagerank"),
    ("bfs", "undirected", "bfs --source 0"),
    ("sssp", "weighted", "sssp --source 0"),
    ("sssp --delta inf", "weighted", "sssp --source 0 --delta inf"),
    ("widest", "weighted", "widest --source 0"),
    ("components", "undirected", "components"),
    ("components, directed", "directed", "components"),
    ("scc", "directed", "scc"),
    ("kcore", "undirected", "kcore"),
    ("radius", "undirected", "radius --passes 1"),
    ("betweenness", "undirected", "betweenness --source 0"),
    ("neighbourhood", "directed", "neighbourhood --source 0 --direction both"),
    ("communities", "undirected", "communities"),
    ("clustering", "undirected", "clustering"),
    ("hits", "directed", "hits"),
    ("eigenvector", "undirected", "eigenvector"),
    ("katz", "undirected", "katz"),
    ("heat", "undirected", "heat --source 0"),
]


def grid(vertices: int) -> Edges:
    """A square of vertices, row by row."""
    side = int(vertices**0.5)
    for vertex in range(side * side):
        if vertex % side + 1 < side:
            yield vertex, vertex + 1
        if vertex + side < side * side:
            yield vertex, vertex + side


def caterpillar(vertices: int) -> Edges:
    """A path, and a leaf at each of its vertices."""
    spine = vertices // 2
    for vertex in range(spine):
        if vertex + 1 < spine:
            yield vertex, vertex + 1
        yield vertex, spine + vertex


SHAPES = {
    "path": lambda n: ((v, v + 1) for v in range(n - 1)),
    "cycle": lambda n: ((v, (v + 1) % n) for v in range(n)),
    "star": lambda n: ((0, v) for v in range(1, n)),
    "caterpillar": caterpillar,
    "grid": grid,
    "tree": lambda n: (((v - 1) // 2, v) for v in range(1, n)),
}


def write(path: Path, edges: Edges, vertices: int, shuffled: bool, weighted: bool) -> None:
    """Writes an edge list. Vertex 0 stays where it is, so that searches begin at the same place."""
    names = list(range(1, vertices))
    chance = random.Random(7)
    if shuffled:
        chance.shuffle(names)
    names.insert(0, 0)
    with path.open("w") as file:
        for source, dest in edges:
            weight = f" {chance.randint(1, 9)}" if weighted else ""
            file.write(f"{names[source]} {names[dest]}{weight}\n")


def run(command: list[Any], limit: int) -> tuple[float, int, str]:
    """The processor seconds of a command, its exit status and what it said on stderr."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=limited
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, done.returncode, done.stderr


def measured(command: list[Any], arguments: argparse.Namespace) -> Any:
    """A cell: the median of some runs, or what is known of a run that was stopped."""
    found = []
    for _ in range(arguments.runs):
        seconds, status, said = run(command, arguments.limit)
        note = " (said)" if "note: no vertex has more than" in said else ""
        if status < 0:
            return f"> {arguments.limit}{note}"
        if status != 0:
            sys.exit(f"{command}: {said}")
        found.append(seconds)
        if seconds > arguments.limit / 4:
            break
    median = statistics.median(found)
    return {"median": median, "min": min(found), "max": max(found), "runs": len(found)}


def text(cell: Any) -> str:
    return cell if isinstance(cell, str) else f"{cell['median']:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--vertices", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--dir", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    only = arguments.only.split(",") if arguments.only else [name for name, _, _ in RUNS]
    runs = [one for one in RUNS if one[0] in only]
    columns = [(shape, shuffled) for shape in arguments.shapes.split(",") for shuffled in (False, True)]
    cells: dict[str, list[Any]] = {name: [] for name, _, _ in runs}
    for shape, shuffled in columns:
        with tempfile.TemporaryDirectory(dir=arguments.dir) as folder:
            for kind in dict.fromkeys(store for _, store, _ in runs):
                options, weighted = STORES[kind]
                edges, store = Path(folder, f"{kind}.txt"), Path(folder, kind)
                write(edges, SHAPES[shape](arguments.vertices), arguments.vertices, shuffled, weighted)
                status = run([arguments.program, "format", edges, store, "--quiet", *options], 600)
                if status[1] != 0:
                    sys.exit(status[2])
                edges.unlink()
            for name, kind, words in runs:
                algorithm, *rest = words.split()
                command = [arguments.program, "run", algorithm, Path(folder, kind), *rest, "--device", "cpu"]
                command += ["--threads", arguments.threads, "--memory", "2GiB"]
                cells[name].append(measured(command, arguments))
                print(f"{shape}{'*' if shuffled else ''}: {name}: {text(cells[name][-1])}", flush=True)
    names = ["run"] + [shape + ("*" if shuffled else "") for shape, shuffled in columns]
    print("| " + " | ".join(names) + " |\n|" + " --- |" * len(names))
    for name, row in cells.items():
        print("| " + " | ".join([name, *map(text, row)]) + " |")
    if arguments.json:
        outcome = {
            "name": "shapes",
            "expectation": "every run of 10^6 vertices within 10 s on two cores, or said before it",
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "notes": [
                f"{arguments.vertices} vertices, shuffled where marked *; {arguments.threads} threads; seconds of the"
                f" processor, at most {arguments.limit}; the median of {arguments.runs} runs",
            ],
            "tables": [
                {"title": "shapes", "columns": names, "rows": [[name, *row] for name, row in cells.items()]},
            ],
        }
        arguments.json.write_text(json.dumps(outcome, indent=2) + "\n")


if __name__ == "__main__":
    main()
