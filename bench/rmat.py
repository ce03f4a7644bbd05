#!/usr/bin/env python3
r"""R-MAT graphs of any scale on one machine, from the generator to answers, into JSON: tables as GTS has for RMAT27 to
RMAT32 (Kim et al., SIGMOD 2016, figures 6, 8, 9 and 13).

bench/rmat.py --scale 30 --json bench/results/rmat-30.json         on the CPU
bench/rmat.py --scale 27,28,29 --device gpu --weights              shortest paths as well
bench/rmat.py --scale 31 --device gpu,0+1 --strategy replicate,shard
bench/rmat.py --scale 32 --memory 180GiB --stripe DISK2 --stripe DISK3 --device 0 --place "device memory"
bench/rmat.py --scale 26 --weights --device gpu --device-memory 6GiB --algorithm bfs,components,sssp \
    --place "disk/disk, all pages"                                 Graphie's comparison (PACT 2017, table III)
bench/rmat.py --scale 18 --memory 1GiB --buffer 64MiB              tries it here

Generates and formats (out-lists, packed by degree groups), verifies, reads the pages with O_DIRECT; then ten iterations
of PageRank, a search from the vertex of highest degree that Graph500's checks accept, components, betweenness from that
vertex and, with weights, shortest paths: from disk, with a page buffer that does not hold the graph; from main memory;
and on GPUs from device memory. A device such as 0+1 is two together, under each strategy. `topostream` on the path, or
TOPOSTREAM. Stores are kept in --dir, unless --discard removes each after its scale. Runs that fail are rows too: their
outcome says why. With --calibrate the machine is measured first, and each run is predicted before it (`plan`).
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

EXPECTATION = (
    "from disk, PageRank has 0.9 of the rate of raw reads in every scale; from device memory an iteration has the "
    "edges a second of R-MAT 26; formatting has as many edges a second in every scale"
)
PREPARED = ["graph", "what", "s", "GB", "GB/s", "M edges/s", "bytes an edge"]
RUNS = ["graph", "algorithm", "device", "strategy", "pages from", "s", "process s", "best superstep s", "supersteps"]
RUNS += ["predicted s", "GB read", "GB/s", "M edges/s", "planned GB", "outcome"]
BLOCK = 16 << 20
# Options of each algorithm.
ALGORITHMS = {
    "pagerank": ["--iterations", "10"],
    "bfs": ["--source", "max-degree", "--parents", "--validate"],
    "components": [],
    "betweenness": ["--source", "max-degree"],
    "sssp": ["--source", "max-degree"],
}


class FailedError(Exception):
    """What the program says when it fails."""


def topostream(*words):
    """Runs the program; returns what it prints."""
    program = os.environ.get("TOPOSTREAM", "topostream")
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
        raise FailedError(lines[0] if lines else f"exit code {done.returncode}")
    return done.stdout


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "runs": len(values)}


def stripes(store):
    """The files of a store's pages."""
    folders = json.loads((store / "graph.json").read_text())["graph"]["stripes"]
    return [store / folder / f"pages.{number}" for number, folder in enumerate(folders)]


def raw_read(paths):
    """Reads files with O_DIRECT, four parts of each at a time."""
    parts = 4

    def part(path, number):
        blocks = -(-path.stat().st_size // (BLOCK * parts))
        words = ["dd", f"if={path}", "of=/dev/null", f"bs={BLOCK}", "iflag=direct"]
        words += [f"skip={number * blocks}", f"count={blocks}"]
        subprocess.run(words, check=True, stderr=subprocess.DEVNULL)

    with ThreadPoolExecutor(parts * len(paths)) as pool:
        list(pool.map(part, paths * parts, [number for number in range(parts) for _ in paths]))


def prepare(name, scale, weights, arguments):
    """Makes a store unless it is there; returns it, its number of edges, and rows."""
    store, rows, edges = arguments.dir / name, [], 16 << scale

    def row(what, seconds, size, of_edges=edges):
        print(f"{name}: {what}: {seconds:.2f} s", file=sys.stderr, flush=True)
        rate = f"{of_edges / seconds / 1e6:.1f}" if of_edges else ""
        each = f"{size / edges:.2f}" if what == "generate and format" else ""
        rows.append([name, what, f"{seconds:.2f}", f"{size / 1e9:.1f}", f"{size / seconds / 1e9:.2f}", rate, each])

    if not (store / "graph.json").exists():
        words = ["generate", "rmat", "--scale", scale, "--store", store, "--encoding", "packed"]
        words += ["--order", "degree-groups", "--memory", arguments.memory, "--quiet"]
        words += ["--random-weights", "u32:1:255"] if weights else []
        words += [word for folder in arguments.stripe for word in ("--stripe", folder.absolute() / name)]
        seconds = timed(lambda: topostream(*words))
        files = [path for path in store.rglob("*") if path.is_file()] + stripes(store)[1:]
        row("generate and format", seconds, sum(path.stat().st_size for path in files))
    pages = stripes(store)
    size = sum(path.stat().st_size for path in pages)
    row("verify", timed(lambda: topostream("verify", store, "--memory", arguments.memory, "--quiet")), size)
    of_each = " a stripe" if len(pages) > 1 else ""
    row(f"raw O_DIRECT read, four readers{of_each}", timed(lambda: raw_read(pages)), size, None)
    return store, edges, rows


def calibrate(store, arguments):
    """Measures the devices, and the disk by a store."""
    devices = {word for device in arguments.device for word in device.split("+")}
    words = [word for device in sorted(devices) for word in ("--device", device)]
    topostream("calibrate", "--store", store, "--dir", arguments.dir, *words, "--output", arguments.rates, "--quiet")


def places(device, arguments):
    """Where pages come from, with options of a run."""
    on_gpu = [] if device == "cpu" else ["--tune", "device-cache=0"]
    from_disk = ["--tune", f"buffer={arguments.buffer}", *on_gpu]
    # As an engine without active partitions (Graphie's baseline).
    wanted = {"disk": from_disk, "disk, all pages": [*from_disk, "--tune", "all-pages"], "main memory": on_gpu}
    if device != "cpu":
        wanted["device memory"] = []
    return {place: words for place, words in wanted.items() if place in arguments.place}


def predicted(command, devices, strategy, rates):
    """The seconds that `plan` predicts for a run; nothing if it cannot, or knows nothing of visits to all pages."""
    try:
        rows = json.loads(topostream("plan", *command[1:], "--tune", f"calibration={rates}", "--json"))
    except FailedError:
        return ""
    wanted = [row["prediction"] for row in rows if len(row["devices"]) == devices]
    wanted = [of["total_ns"] for of in wanted if strategy in ("", of["strategy"])]
    return f"{min(wanted) / 1e9:.3f}" if wanted and "all-pages" not in command else ""


def run(store, algorithm, device, strategy, place, words, arguments):
    """A row of a run, the median of several by time."""
    devices = [word for one in device.split("+") for word in ("--device", one)]
    command = ["run", algorithm, store, *ALGORITHMS[algorithm], *devices, "--memory", arguments.memory, *words]
    command += ["--tune", f"strategy={strategy}"] if strategy else []
    command += ["--device-memory", arguments.device_memory] if arguments.device_memory else []
    row = [store.name, algorithm, device, strategy, place]
    reports, processes, expected = [], [], ""
    try:
        if arguments.rates:
            expected = predicted(command, len(devices) // 2, strategy, arguments.rates)
        for _ in range(arguments.runs):
            start = time.perf_counter()
            reports.append(json.loads(topostream(*command, "--json")))
            processes.append(time.perf_counter() - start)
    except FailedError as error:
        print(f"{' '.join(row)}: {error}", file=sys.stderr, flush=True)
        return [*row, *([""] * 9), str(error)]
    report = sorted(reports, key=lambda report: report["wall_ns"])[len(reports) // 2]
    total, seconds = report["total"], [report["wall_ns"] / 1e9 for report in reports]
    steps = [step["wall_ns"] / 1e9 for step in report["steps"] if step["edges"]]
    middle = statistics.median(seconds)
    print(f"{' '.join(row)}: {middle:.3f} s", file=sys.stderr, flush=True)
    return [
        *row,
        median(seconds),
        median(processes),
        f"{min(steps):.3f}" if steps else "",
        str(report["supersteps"]),
        expected,
        f"{total['disk_bytes'] / 1e9:.1f}",
        f"{total['disk_bytes'] / middle / 1e9:.2f}",
        f"{total['edges'] / middle / 1e6:.0f}",
        f"{report['planned_bytes'] / 1e9:.2f}",
        "checked" if algorithm == "bfs" else "",
    ]


def outcome(prepared, runs):
    """What is written."""
    words = [Path(word).name if word.startswith("/") else word for word in sys.argv[1:]]
    words = [f'"{word}"' if " " in word else word for word in words]
    return {
        "name": "rmat",
        "expectation": EXPECTATION,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "command": " ".join(["bench/rmat.py", *words]),
        "verified": ["searches pass Graph500's checks; every page of a store is verified before the runs"],
        "notes": [
            "M edges/s are edges looked at over the time of the run; process s is the whole command, with checks and "
            "the opening of devices"
        ],
        "tables": [
            {"title": "Stores", "columns": PREPARED, "rows": prepared},
            {"title": "Runs", "columns": RUNS, "rows": runs},
        ],
        "claims": [],
    }


def write(prepared, runs, arguments):
    """Writes what has been measured so far."""
    if arguments.json:
        arguments.json.write_text(json.dumps(outcome(prepared, runs), indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--scale", type=lambda text: [int(word) for word in text.split(",")], required=True)
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("BENCH_DIR", "target/bench")))
    parser.add_argument("--stripe", type=Path, action="append", default=[], help="another folder for pages; repeated")
    parser.add_argument("--memory", default="96GiB", help="of formatting, verify and runs")
    parser.add_argument("--buffer", default="8GiB", help="the page buffer of runs from disk")
    parser.add_argument("--device", type=listed, default=["cpu"], metavar="NAMES", help="as cpu,0,0+1")
    parser.add_argument("--strategy", type=listed, default=["replicate", "shard"], help="of several devices")
    parser.add_argument("--place", type=lambda text: text.split("/"), default=["disk", "main memory", "device memory"])
    parser.add_argument("--device-memory", help="of each GPU")
    parser.add_argument("--algorithm", type=listed, default=list(ALGORITHMS))
    parser.add_argument("--weights", action="store_true", help="shortest paths, over a store of its own")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--calibrate", action="store_true", help="predict each run by rates of this machine")
    parser.add_argument("--discard", action="store_true", help="remove each store after its runs")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.dir.mkdir(parents=True, exist_ok=True)
    prepared, runs, arguments.rates = [], [], None
    for scale in arguments.scale:
        for weighted in [False, True][: 1 + arguments.weights]:
            name = f"rmat-{scale}-weights" if weighted else f"rmat-{scale}"
            store, _, rows = prepare(name, scale, weighted, arguments)
            prepared += rows
            if arguments.calibrate and not arguments.rates:
                arguments.rates = arguments.dir / "rates.json"
                arguments.rates.unlink(missing_ok=True)
                seconds = timed(lambda: calibrate(store, arguments))
                prepared.append([name, "calibrate", f"{seconds:.2f}", *([""] * 4)])
            for device in arguments.device:
                for strategy in arguments.strategy if "+" in device else [""]:
                    for place, words in places(device, arguments).items():
                        for algorithm in arguments.algorithm:
                            if (algorithm == "sssp") == weighted:
                                runs.append(run(store, algorithm, device, strategy, place, words, arguments))
                                # What has been measured stays if a later run is cut off.
                                write(prepared, runs, arguments)
            write(prepared, runs, arguments)
            if arguments.discard:
                for folder in {path.parent for path in stripes(store)}:
                    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
