#!/usr/bin/env python3
"""Ranks of topostream-mpi on one machine beside one process with as many threads: time, through the memory that they
share and by messages as between machines, the bytes of messages beside those of the schedule, and checkpoints.

bench/ranks.py --json bench/results/ranks-2.json            PageRank over R-MAT 22 on 1, 2, 4 and 8 ranks
bench/ranks.py --scale 16 --ranks 1,2 --runs 1              tries it here

TOPOSTREAM and TOPOSTREAM_MPI name the programs; by default they are those of target/release, built by

    cargo build --release -p topostream -p topostream-mpi --features topostream-mpi/mpi

MPIRUN has the launcher and its options. All ranks share all cores. The store is kept in --dir and used again if it is
there. Runs are from the system's page cache, in turns. Ratios are of the fastest runs: the cores of a virtual machine
can share one core of its host for a while, where a run takes up to twice as long, and medians would compare that.
"""

import argparse
import itertools
import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
from pathlib import Path

EXPECTATION = "ranks of one machine take at most 1.15 times the time of one process with as many threads"
LAUNCHER = (
    "mpirun --allow-run-as-root --oversubscribe --bind-to none --mca pml ob1 --mca btl tcp,self "
    "--mca btl_tcp_if_include lo"
)


def numbers(text):
    return [int(word) for word in text.split(",")]


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "runs": len(values)}


class Programs:
    """One process, and ranks."""

    def __init__(self):
        self.one = os.environ.get("TOPOSTREAM", "target/release/topostream")
        self.ranks = os.environ.get("TOPOSTREAM_MPI", "target/release/topostream-mpi")
        self.launcher = shlex.split(os.environ.get("MPIRUN", LAUNCHER))

    def topostream(self, *words):
        done = subprocess.run([self.one, *map(str, words)], capture_output=True, text=True, check=True)
        return done.stdout

    def reports(self, ranks, share, runs, words, before=lambda: None):
        """The reports of some runs; of no ranks, by one process."""
        command = [self.one]
        if ranks > 0:
            sharing = ["env", f"TOPOSTREAM_RANKS_SHARE_MEMORY={'on' if share else 'off'}"]
            command = [*self.launcher, "-n", str(ranks), *sharing, self.ranks]
        found = []
        for _ in range(runs):
            before()
            done = subprocess.run([*command, *map(str, words)], capture_output=True, text=True, check=True)
            found.append(json.loads(done.stdout))
        return found


def needed_bytes(strategy, traffic, ranks, vertices, outgoing):
    """What the schedule has cross in a superstep: 4 bytes of each gathered value for each other rank (pull: of vertices
    with out-edges), or 8 of each sum."""
    each = 4 * outgoing if traffic == "pull" else (8 if strategy == "replicate" else 4) * vertices
    return each * max(0, ranks - 1)


def check(first, report):
    """The ten largest ranks are those of one process."""
    listed = [of["answer"]["top"][0]["vertices"] for of in (first, report)]
    for one, other in zip(*listed, strict=True):
        if one["id"] != other["id"] or abs(one["value"] - other["value"]) > 1e-6 * one["value"]:
            raise SystemExit(f"one process: {one}, ranks: {other}")


def pagerank(programs, store, arguments):
    info = json.loads(programs.topostream("info", store, "--json"))
    vertices = info["manifest"]["vertices"]
    outgoing = vertices - info["degrees"][0]["empty"]
    cores, found = len(os.sched_getaffinity(0)), []
    ways = [(0, True)]
    for ranks in arguments.ranks:
        ways += [(ranks, True)] + ([(ranks, False)] if ranks > 1 else [])
    for strategy, traffic in itertools.product(arguments.strategies.split(","), ("pull", "push")):
        words = ["run", "pagerank", store, "--iterations", arguments.iterations, "--traffic", traffic]
        words += ["--device", "cpu", "--tune", f"strategy={strategy}", "--json", "--threads"]
        threads = [-(-cores // ranks) if ranks > 0 else cores for ranks, _ in ways]
        reports = [[] for _ in ways]
        for _ in range(arguments.runs):
            for number, (ranks, share) in enumerate(ways):
                reports[number] += programs.reports(ranks, share, 1, [*words, threads[number]])
                check(reports[0][0], reports[number][-1])
        one = min(report["wall_ns"] for report in reports[0])
        for number, (ranks, share) in enumerate(ways):
            ms = spread([report["wall_ns"] / 1e6 for report in reports[number]])
            total, steps = reports[number][0]["total"], max(1, len(reports[number][0]["steps"]))
            crossed = total.get("network_bytes", 0) / steps
            needed = needed_bytes(strategy, traffic, ranks, vertices, outgoing)
            name = "one process" if ranks == 0 else f"{ranks} rank{'s' * (ranks > 1)}"
            row = [f"{traffic}, {strategy}, {name}{'' if share else ', messages'}", str(threads[number]), ms]
            row += [f"{ms['min'] * 1e6 / one:.2f}", f"{crossed / 1e6:.1f}" if crossed else ""]
            row += [f"{crossed / needed:.3f}" if needed and crossed else ""]
            print(row[0], f"{ms['median']:.0f} ms", *row[3:], flush=True)
            found.append(row)
    columns = ["work", "threads", "ms", "of one process", "MB in messages a superstep", "of the schedule's bytes"]
    return {"title": f"PageRank, {arguments.iterations} iterations", "columns": columns, "rows": found}


def checkpoints(programs, store, arguments):
    """A checkpoint after every fifth superstep: the time of one, and its share of a minute."""
    folder, found = arguments.dir / "ranks.checkpoints", []
    words = ["run", "pagerank", store, "--iterations", arguments.iterations, "--device", "cpu", "--json"]
    words += ["--checkpoint", folder, "--checkpoint-every", "5"]
    for ranks in (0, 2):
        clear = lambda: shutil.rmtree(folder, ignore_errors=True)  # noqa: E731
        reports = programs.reports(ranks, True, arguments.runs, words, clear)
        written = [report["checkpoints"] for report in reports]
        ms = spread([one["ns"] / 1e6 / max(1, one["written"]) for one in written])
        size = written[0]["bytes"] / max(1, written[0]["written"]) / 1e6
        share = {key: value if key == "runs" else value / 600 for key, value in ms.items()}
        found.append(["one process" if ranks == 0 else f"{ranks} ranks", spread([size]), ms, share])
        print(f"checkpoint of {found[-1][0]}: {size:.1f} MB, {ms['median']:.1f} ms", flush=True)
        clear()
    columns = ["processes", "MB of a checkpoint", "ms", "% of the time at one a minute"]
    return {"title": "Checkpoints", "columns": columns, "rows": found}


def machine(programs):
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    version = ", ".join(programs.topostream("--version").splitlines()[:2])
    return {"cores": os.cpu_count(), "cpu": cpu, "memory_bytes": memory, "version": version}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--ranks", type=numbers, default=[1, 2, 4, 8])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--strategies", default="replicate,shard")
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("BENCH_DIR", "target/bench")))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.dir.mkdir(parents=True, exist_ok=True)
    programs, store = Programs(), arguments.dir / f"ranks-{arguments.scale}"
    if not (store / "graph.json").exists():
        programs.topostream("generate", "rmat", "--scale", arguments.scale, "--store", store, "--in-edges", "--quiet")
    tables = [pagerank(programs, store, arguments), checkpoints(programs, store, arguments)]
    ranks = ",".join(map(str, arguments.ranks))
    outcome = {
        "name": "ranks",
        "expectation": EXPECTATION,
        "machine": machine(programs),
        "command": f"bench/ranks.py --scale {arguments.scale} --ranks {ranks} --runs {arguments.runs} "
        f"--iterations {arguments.iterations} --strategies {arguments.strategies}",
        "verified": ["the ten largest ranks: those of one process to 1e-6"],
        "notes": ["R-MAT with in-lists, packed, by degree groups", "ratios are those of the fastest runs"],
        "tables": tables,
        "claims": [],
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(outcome, indent=2) + "\n")


if __name__ == "__main__":
    main()
