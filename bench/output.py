#!/usr/bin/env python3
"""Files of results: rows a second to Parquet, Arrow and CSV, as `topostream run` says after each.

bench/output.py --json bench/results/output.json
bench/output.py --scale 16 --runs 1                    tries it here

R-MAT of edge factor 4 in natural order, unpacked. `topostream` on the path, or TOPOSTREAM. Files are read back with
pyarrow, if it is there: the number of rows and the ids have to be right.
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
from pathlib import Path

EXPECTATION = "20 M rows a second to Parquet, bound by encoding"
FILES = [
    ("Parquet", "parquet", ["pagerank", "--iterations", "1"], "id, rank"),
    ("Parquet", "parquet", ["degrees"], "id, out-degree, in-degree"),
    ("Arrow IPC", "arrow", ["pagerank", "--iterations", "1"], "id, rank"),
    ("CSV", "csv", ["pagerank", "--iterations", "1"], "id, rank"),
]


def topostream(*words):
    """Runs the program; returns what it prints, also on standard error."""
    program = os.environ.get("TOPOSTREAM", "topostream")
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def rate(text):
    """Millions of rows a second in what a run prints."""
    number, unit = re.search(r"([\d.,]+) ?([kMG]?) rows/s", text).groups()
    return float(number.replace(",", "")) * {"": 1e-6, "k": 1e-3, "M": 1, "G": 1e3}[unit]


def check(path, kind, rows):
    """Reads a file back; returns whether that was possible."""
    try:
        from pyarrow import csv, feather, parquet
    except ImportError:
        return False
    read = {"parquet": parquet.read_table, "arrow": feather.read_table, "csv": csv.read_csv}[kind]
    ids = read(path).column(0).to_pylist() if rows <= 1 << 20 else None
    found = len(ids) if ids else read(path).num_rows
    if found != rows or (ids and ids != list(range(rows))):
        raise SystemExit(f"{path.name}: {found} rows, expected {rows} with all ids")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=23)
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("BENCH_DIR", "target/bench")))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    store, rows, checked = arguments.dir / f"output-{arguments.scale}", [], True
    arguments.dir.mkdir(parents=True, exist_ok=True)
    words = ["--scale", arguments.scale, "--edge-factor", 4, "--order", "natural", "--encoding", "vertex-id"]
    topostream("generate", "rmat", *words, "--store", store, "--overwrite", "--quiet")
    for name, kind, (algorithm, *options), columns in FILES:
        path, rates = arguments.dir / f"output.{kind}", []
        for _ in range(arguments.runs):
            rates.append(rate(topostream("run", algorithm, store, *options, "--device", "cpu", "--output", path)))
        checked &= check(path, kind, 1 << arguments.scale)
        path.unlink()
        spread = {"median": statistics.median(rates), "min": min(rates), "max": max(rates), "runs": len(rates)}
        rows.append([name, columns, spread])
        print(
            name, columns, f"{spread['median']:.1f} M rows/s ({spread['min']:.1f} to {spread['max']:.1f})", flush=True
        )
    outcome = {
        "name": "output",
        "expectation": EXPECTATION,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "command": f"bench/output.py --scale {arguments.scale} --runs {arguments.runs}",
        "verified": ["files have the right number of rows"] if checked else [],
        "notes": ["rates are of encoding and writing, without the run"],
        "tables": [{"title": "Files", "columns": ["file", "columns", "M rows/s"], "rows": rows}],
        "claims": [],
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(outcome, indent=2) + "\n")


if __name__ == "__main__":
    main()
