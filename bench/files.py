"""Files of edges: from Parquet and text to a store, and to components without one.

    python -m venv files && files/bin/pip install numpy pyarrow scipy
    files/bin/python bench/files.py target/release/topostream --folder files.d --json bench/results/files.json
    files/bin/python bench/files.py target/release/topostream --folder files.26 --scale 26 --only components \\
        --json bench/results/files-26.json      # a billion edges: a file of 8.7 GB, made in half an hour

R-MAT (0.57, 0.19, 0.19, 0.05) of edge factor 16 in random order and random numbers: `ints.parquet` has int64 ids in
row groups of a million, compressed by Zstandard; `edges.txt` the same as text; `strings.parquet` a quarter of them with
ids such as `user-123456`. Files are made where they are missing. scipy reads them by pyarrow. Every number of
components is compared with scipy's.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROWS = 1_000_000
EXPECTATION = (
    "two cores make a store of 20 M edges/s from Parquet with integer ids, of 12 from text, of 4 with strings; they "
    "find components of 17 M edges/s (a billion in a minute) within 6 GiB"
)
# The name of a row, the command, the file, options.
WORK = {
    "format, Parquet": ("format", "ints.parquet", []),
    "format with in-lists, Parquet": ("format", "ints.parquet", ["--in-edges"]),
    "format, text": ("format", "edges.txt", []),
    "format, strings": ("format", "strings.parquet", []),
    "components, Parquet": ("components", "ints.parquet", []),
    "components, text": ("components", "edges.txt", []),
    "components, strings": ("components", "strings.parquet", []),
}


def make(folder: Path, scale: int, names: set[str]) -> None:
    """Makes the files that are missing."""
    import numpy
    import pyarrow
    import pyarrow.csv
    from pyarrow import compute, parquet

    folder.mkdir(parents=True, exist_ok=True)
    columns, path, edges = ["source", "dest"], folder / "ints.parquet", 16 << scale
    if not path.exists():
        random = numpy.random.default_rng(7)
        number = random.permutation(1 << scale).astype(numpy.int64)
        schema = pyarrow.schema([(column, pyarrow.int64()) for column in columns])
        with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            for start in range(0, edges, ROWS):
                rows = min(ROWS, edges - start)
                source, dest = (
                    numpy.zeros(rows, numpy.int64),
                    numpy.zeros(rows, numpy.int64),
                )
                for _ in range(scale):
                    draw = random.random(rows, dtype=numpy.float32)
                    source = 2 * source + (draw >= 0.76)
                    dest = 2 * dest + (((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95))
                writer.write_table(
                    pyarrow.table([number[source], number[dest]], columns),
                    row_group_size=ROWS,
                )
    file = parquet.ParquetFile(path)
    if "edges.txt" in names and not (folder / "edges.txt").exists():
        options = pyarrow.csv.WriteOptions(include_header=False, delimiter=" ")
        with (folder / "edges.txt").open("wb") as text:
            for group in range(file.num_row_groups):
                pyarrow.csv.write_csv(file.read_row_group(group), text, options)
    if "strings.parquet" in names and not (folder / "strings.parquet").exists():
        schema = pyarrow.schema([(column, pyarrow.string()) for column in columns])
        with parquet.ParquetWriter(folder / "strings.parquet", schema, compression="zstd") as writer:
            for group in range(file.num_row_groups // 4):
                ends = [column.cast(pyarrow.string()) for column in file.read_row_group(group)]
                ends = [compute.binary_join_element_wise("user-", column, "") for column in ends]
                writer.write_table(pyarrow.table(ends, columns), row_group_size=ROWS)


def peer(path: Path) -> None:
    """Prints the number of components by scipy, of a Parquet file with integers."""
    import numpy
    from pyarrow import parquet
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    table = parquet.read_table(path)
    source, dest = (table.column(column).to_numpy() for column in ("source", "dest"))
    vertices = int(max(source.max(), dest.max())) + 1
    present = numpy.zeros(vertices, bool)
    present[source] = present[dest] = True
    graph = coo_array(
        (numpy.ones(len(source), numpy.int8), (source, dest)),
        shape=(vertices, vertices),
    ).tocsr()
    found, _ = connected_components(graph, directed=False)
    print(int(found) - int(vertices - present.sum()))


def timed(command: list[Any]) -> tuple[float, float, str]:
    """Seconds, MiB at most, and what is printed."""
    begun = time.perf_counter()
    child = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    text = child.stdout.read().decode() if child.stdout else ""
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{command}: ended with {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - begun, usage.ru_maxrss / 1024, text


def spread(values: list[float]) -> dict[str, float]:
    return {
        "median": statistics.median(values),
        "min": min(values),
        "max": max(values),
        "runs": len(values),
    }


def row(name: str, edges: int, runs: list[tuple[float, float, str]]) -> list[Any]:
    seconds = [run[0] for run in runs]
    rates = spread([edges / second / 1e6 for second in seconds])
    return [name, spread(seconds), rates, spread([run[1] for run in runs])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="topostream; with --peer, a file")
    parser.add_argument("--folder", type=Path, help="where the files are, and stores go")
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--memory", default="6GiB")
    parser.add_argument("--only", help="only rows whose names contain this")
    parser.add_argument("--before", help="an earlier program, which alternates with it")
    parser.add_argument("--json", type=Path, help="a file for the outcome")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        return peer(Path(arguments.program))
    if arguments.folder is None:
        parser.error("--folder is missing")
    # Text and strings of a billion edges would fill a disk.
    large = arguments.scale > 24
    work = {name: of for name, of in WORK.items() if (arguments.only or "") in name}
    work = {name: of for name, of in work.items() if not large or of[1] == "ints.parquet"}
    make(arguments.folder, arguments.scale, {of[1] for of in work.values()})
    rows, edges = [], 16 << arguments.scale
    for name, (command, file, options) in work.items():
        path, store = arguments.folder / file, arguments.folder / "store"
        count = -(-edges // ROWS) // 4 * ROWS if file == "strings.parquet" else edges
        ended: dict[str, list[tuple[float, float, str]]] = {}
        for _ in range(arguments.runs):
            for label, program in (
                (f"{name}, before", arguments.before),
                (name, arguments.program),
            ):
                if program is None:
                    continue
                subprocess.run(["rm", "-rf", store], check=True)
                answer = [store] if command == "format" else ["--json", "-o", arguments.folder / "labels.parquet"]
                words = [
                    program,
                    command,
                    path,
                    *answer,
                    "--memory",
                    arguments.memory,
                    *options,
                ]
                ended.setdefault(label, []).append(timed(words))
            if name == "components, Parquet" and not large:
                ended.setdefault("scipy", []).append(timed([sys.executable, __file__, path, "--peer"]))
        if "scipy" in ended:
            found = {json.loads(run[2])["columns"]["component"]["groups"]["count"] for run in ended[name]}
            if found != {int(run[2]) for run in ended["scipy"]}:
                sys.exit(f"{name}: {found} components, and scipy finds {ended['scipy'][0][2]}")
        rows += [row(label, count, runs) for label, runs in ended.items()]
        print(
            *[f"{of[0]}: {of[1]['median']:.2f} s, {of[2]['median']:.1f} M edges/s" for of in rows[-len(ended) :]],
            sep="\n",
        )
    subprocess.run(["rm", "-rf", arguments.folder / "store"], check=True)
    outcome = {
        "name": "files",
        "expectation": EXPECTATION,
        "machine": {
            "cores": os.cpu_count(),
            "kernel": platform.release(),
            "memory": arguments.memory,
        },
        "command": " ".join(["bench/files.py", f"--scale {arguments.scale}", f"--runs {arguments.runs}"]),
        "verified": [] if large else ["components: as many as by scipy"],
        "notes": [],
        "tables": [
            {
                "title": f"R-MAT {arguments.scale}",
                "columns": ["work", "s", "M edges/s", "peak MiB"],
                "rows": rows,
            }
        ],
        "claims": [],
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(outcome, indent=2) + "\n")


if __name__ == "__main__":
    main()
