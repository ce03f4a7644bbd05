#!/usr/bin/env python3
"""Bytes an edge of R-MAT stores: by scale and order of vertices, and with lists in groups.

bench/sizes.py --json bench/results/sizes.json
bench/sizes.py --scales 16 --groups 1,4                tries it here

`topostream` on the path, or TOPOSTREAM. Each store is verified and removed. Sizes are those of the generator's seed 1
and the same on every machine.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path

EXPECTATION = (
    "at most 1.75, 1.9 and 2.05 bytes an edge by degree groups at scales 22, 24 and 26, in natural order 2.25, 2.45 "
    "and 2.6"
)
ORDERS = {
    "plain, natural order": ["--encoding", "vertex-id", "--order", "natural"],
    "natural order": ["--order", "natural"],
    "--order auto": ["--order", "auto"],
}


def topostream(*words):
    program = os.environ.get("TOPOSTREAM", "topostream")
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=True)
    return done.stdout


def number(value):
    return {"median": value, "min": value, "max": value, "runs": 1}


def sizes(folder, scale, factor, memory, *options):
    """Makes and verifies a store; returns the bytes an edge of its pages, and of all of its files."""
    store, edges = folder / "sizes", factor << scale
    words = ["--scale", scale, "--edge-factor", factor, "--memory", memory, "--store", store, "--overwrite"]
    topostream("generate", "rmat", *words, *options, "--quiet")
    topostream("verify", store, "--memory", memory, "--quiet")
    found = [(path.name, path.stat().st_size) for path in store.rglob("*") if path.is_file()]
    shutil.rmtree(store)
    pages = sum(size for name, size in found if name.startswith("pages."))
    return pages / edges, sum(size for _, size in found) / edges


def by_order(arguments):
    found = []
    for scale in arguments.scales:
        for order, options in ORDERS.items():
            if order.startswith("plain") and scale > arguments.plain:
                continue
            pages, files = sizes(arguments.dir, scale, 16, arguments.memory, *options)
            print(f"R-MAT {scale}, {order}: {pages:.3f}, all files {files:.3f}", flush=True)
            found.append([f"R-MAT {scale}", order, number(pages), number(files)])
    return {"title": "Bytes an edge", "columns": ["graph", "order", "pages", "all files"], "rows": found}


def by_groups(arguments):
    found = []
    for name, scale, factor in (("R-MAT 20, 16 edges a vertex", 20, 16), ("R-MAT 16, 256 edges a vertex", 16, 256)):
        row = [name]
        for count in arguments.groups:
            options = ["--page-size", "64KiB", "--shards", count]
            row.append(number(sizes(arguments.dir, scale, factor, arguments.memory, *options)[0]))
            print(f"{name}, {count} groups: {row[-1]['median']:.3f}", flush=True)
        found.append(row)
    columns = ["graph", *(f"K = {count}" for count in arguments.groups)]
    return {"title": "Bytes of pages an edge, lists in K groups, pages of 64 KiB", "columns": columns, "rows": found}


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scales", type=numbers, default=[20, 22, 24, 26])
    parser.add_argument("--plain", type=int, default=22, help="the largest scale of plain stores")
    parser.add_argument("--groups", type=numbers, default=[1, 4, 16, 64])
    parser.add_argument("--memory", default="2GiB")
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("BENCH_DIR", "target/bench")))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.dir.mkdir(parents=True, exist_ok=True)
    tables = [by_order(arguments), by_groups(arguments)]
    outcome = {
        "name": "sizes",
        "expectation": EXPECTATION,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "version": topostream("--version").splitlines()[:2],
        "command": "bench/sizes.py --json bench/results/sizes.json",
        "verified": ["every page of every store"],
        "notes": ["packed unless named plain, pages of 1 MiB, out-lists only, the generator's seed 1"],
        "tables": tables,
        "claims": [],
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(outcome, indent=2) + "\n")


if __name__ == "__main__":
    main()
