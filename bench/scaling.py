#!/usr/bin/env python3
"""The tables of docs/scaling.md: `topostream plan` for graphs of 10^12 edges on 64 machines, and for graphs that have
been measured. Nothing is run but plans; four small stores are generated as samples of lists and pages.

bench/scaling.py --json bench/results/scaling.json

`topostream` on the path, or TOPOSTREAM. Rates are those of two cores in results/billion.json and results/buffered.json,
times eight where a machine has 16. Stores are kept in --dir and used again if they are there.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

EXPECTATION = "plans agree within a fifth with what was measured: bytes that cross, and times of one machine"
RESULTS = Path(__file__).parent / "results"
# Bytes of pages an edge on disk: extrapolated from results/sizes.json. Lists in 64 groups take more.
WIDE = ["--graph", "rmat:36:16", "--memory", "16TiB", "--tune", "buffer=16GiB"]
DENSE = ["--graph", "rmat:32:256", "--memory", "1TiB", "--tune", "buffer=16GiB"]
EACH = {"wide": (WIDE, "2.7", "6.4"), "dense": (DENSE, "1.9", "2.1")}
WORKS = {
    "pull": ["pagerank", "both", "--iterations", "10"],
    "push": ["pagerank", "out", "--iterations", "10", "--shards", "64"],
    "BFS": ["bfs", "out", "--source", "max-degree", "--shards", "64"],
}
NETWORKS = {"10 Gbit": "10Gbit", "25 Gbit": "25Gbit", "100 Gbit": "100Gbit"}


def results(name):
    return json.loads((RESULTS / name).read_text())


def rows(name, table=0):
    """The rows of a table of results, by the names of its columns; of measured cells the median."""
    found = results(name)["tables"][table]
    cells = [[cell if isinstance(cell, str) else cell["median"] for cell in row] for row in found["rows"]]
    return [dict(zip(found["columns"], row, strict=True)) for row in cells]


def number(value):
    return {"median": value, "min": value, "max": value, "runs": 1}


def topostream(*words):
    program = os.environ.get("TOPOSTREAM", "topostream")
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=True)
    return done.stdout


def measured_rates():
    """Rates of two cores: work over the time of two threads, with the file that each is from."""
    pagerank, bfs = (report for _, report in results("billion.json")["reports"])
    vertices = 1 << 26
    total, search = pagerank["total"], bfs["total"]
    pull = rows("buffered.json")[0]["M edges/s"] * 1e6
    of = "billion.json: R-MAT 26"
    return {
        "push": (total["edges"] / (total["compute_ns"] / 2e9), "M edges/s", of),
        "pull": (pull, "M edges/s", "buffered.json: kron22 in memory, larger graphs are slower"),
        "top-down": (search["edges"] / (search["compute_ns"] / 2e9), "M edges/s", of),
        "vertex phase": (len(pagerank["steps"]) * vertices / (total["vertex_ns"] / 1e9), "M vertices/s", of),
        "census": (len(bfs["steps"]) * vertices / (search["vertex_ns"] / 1e9), "M vertices/s", of),
        "first values": (vertices / (pagerank["initialise_ns"] / 1e9), "M vertices/s", of),
        "checks": (total["disk_bytes"] / (total["check_ns"] / 2e9), "MB/s", of),
        "merge": (10e9, "MB/s", "assumed, for a machine"),
    }


def write_rates(rates, folder, disk):
    """A file of rates, with disks of so many bytes a second in all."""
    search = rates["top-down"][0]
    kernels = {"vertices": 1 << 26, "push": rates["push"][0], "pull": rates["pull"][0]}
    kernels |= dict.fromkeys(("top_down", "bottom_up", "weighted", "labels"), search)
    kernels |= {f"{name}_lists": 1e12 for name in ("top_down", "weighted", "bottom_up")}
    kernels |= {"vertex_phase": rates["vertex phase"][0], "census": rates["census"][0]}
    kernels |= {"initialise": rates["first values"][0]}
    device = {"name": "cpu, 2 threads", "threads": 2, "kernels": [kernels], "bus": None}
    device |= {"check_bytes_per_s": rates["checks"][0], "merge_bytes_per_s": rates["merge"][0]}
    device |= {"superstep_ns": 1e5, "exchange_ns": 1e5}
    machine = {"version": 2, "machine": "on paper", "disk_bytes_per_s": disk, "concurrent_bus_share": 1.0}
    path = folder / f"rates-{disk:.0f}.json"
    path.write_text(json.dumps(machine | {"devices": [device]}))
    return path


class Planner:
    """Plans over samples of lists with 16 and 256 edges a vertex."""

    def __init__(self, folder, rates):
        self.folder, self.rates = folder, rates
        for factor, scale in ((16, 20), (256, 16)):
            for lists, more in (("out", []), ("both", ["--in-edges"])):
                store = folder / f"sample-{factor}-{lists}"
                if not (store / "graph.json").exists():
                    words = ["--scale", scale, "--edge-factor", factor, "--store", store, "--quiet", *more]
                    topostream("generate", "rmat", *words)

    def plan(self, work, factor, disk, *words, threads=16):
        """Seconds of a superstep by part, bytes, and which part takes longest."""
        algorithm, lists, *options = work
        store = self.folder / f"sample-{factor}-{lists}"
        calibration = ["--tune", f"calibration={write_rates(self.rates, self.folder, disk)}"]
        device = ["--device", "cpu", "--threads", threads, "--json"]
        row = json.loads(topostream("plan", algorithm, store, *options, *words, *calibration, *device))[0]
        terms, of, steps = row["prediction"]["terms"], row.get("machines"), row["supersteps"]["count"]
        if of is None:
            return {"s": row["prediction"]["total_ns"] / 1e9 / steps, "run": row["prediction"]["total_ns"] / 1e9}
        kernel = terms["kernel_ns"] / of["count"]
        parts = {"network": of["network_ns"], "merge": of["merge_ns"], "vertex phase": of["vertex_ns"]}
        parts["ssd" if of["pages_ns"] > 1.01 * kernel else "kernel"] = of["pages_ns"]
        return {
            "s": of["total_ns"] / 1e9 / steps,
            "run": of["total_ns"] / 1e9,
            "bound": max(parts, key=parts.get),
            "pages": of["pages_bytes"] / 1e9,
            "sent": of["received_bytes"] / 1e9 / steps,
        }


def network_limit():
    """Machines above which the network takes longer than the disks: E / V * b * w / (4 * d)."""
    columns = ["edges a vertex", "b", *NETWORKS]
    found = []
    for edges, size in ((16, 2.7), (100, 2.0), (256, 1.9)):
        limits = [edges * size * float(name.split()[0]) / 8 / (4 * 3) for name in NETWORKS]
        found.append([str(edges), str(size), *map(number, limits)])
    return {"title": "Machines that the network binds, one SSD of 3 GB/s", "columns": columns, "rows": found}


def rates_table(rates):
    found = [[name, number(rate / 1e6), unit, of] for name, (rate, unit, of) in rates.items()]
    return {"title": "Rates of two cores", "columns": ["rate", "figure", "unit", "from"], "rows": found}


def on_64(planner):
    """Two graphs of 2^40 edges on 64 machines: seconds of a superstep, and bytes of a machine."""
    seconds, sizes = [], []
    for graph, (words, plain, grouped) in EACH.items():
        for name, work in WORKS.items():
            for network, option in NETWORKS.items():
                size = plain if name == "pull" else grouped
                words_of = [*words, "--bytes-per-edge", size, "--machines", 64, "--network", option]
                factor = 16 if graph == "wide" else 256
                one, eight = (planner.plan(work, factor, disk, *words_of) for disk in (3e9, 24e9))
                row = [f"{graph}, {name}", network]
                seconds.append([*row, number(one["s"]), one["bound"], number(eight["s"]), eight["bound"]])
            sizes.append([f"{graph}, {name}", number(one["pages"]), number(one["sent"])])
    columns = ["work", "network", "1 SSD s", "1 SSD bound by", "8 SSDs s", "8 SSDs bound by"]
    return [
        {"title": "Seconds a superstep on 64 machines", "columns": columns, "rows": seconds},
        {"title": "Bytes of a machine", "columns": ["work", "GB of pages", "GB sent a superstep"], "rows": sizes},
    ]


def strong_and_weak(planner):
    """Pull on 25 Gbit with one SSD each: the dense graph, and 2^34 edges a machine."""
    found, of_eight, of_one = [], None, None
    for more in (0, 3, 4, 5, 6):
        count = 1 << more
        on = ["--bytes-per-edge", "1.9", "--machines", count, "--network", "25Gbit"]
        weak = ["--graph", f"rmat:{26 + more}:256", "--memory", "1TiB", "--tune", "buffer=16GiB"]
        grown = planner.plan(WORKS["pull"], 256, 3e9, *weak, *on)
        of_one = of_one or grown["s"]
        row = [str(count), "", "", ""]
        if count >= 8:
            fixed = planner.plan(WORKS["pull"], 256, 3e9, *DENSE, *on)
            of_eight = of_eight or fixed["s"]
            row[1:] = number(fixed["s"]), number(of_eight / fixed["s"]), fixed["bound"]
        found.append([*row, number(grown["s"]), number(of_one / grown["s"])])
    columns = ["machines", "strong s", "times as fast as 8", "bound by", "weak s", "of one machine's speed"]
    return {"title": "More machines", "columns": columns, "rows": found}


def crossing(planner):
    """Bytes that devices of one machine write and read, without what a device reads of its own values."""
    replicate, shard = "devices-replicate-4-26.json", "devices-shard-4-26.json"
    told = {(row["work"], row["devices"], row["sums"][:5]): row["told MB a superstep"] for row in rows(replicate)}
    sharded = {row["work"]: row["told MB a superstep"] for row in rows(shard) if row["store"] == "store in shards"}
    vertices = 1 << 26
    # Of what is gathered, each device's values are written once and read by all others; sums are written for one owner.
    gathered = {2: 1 / 2, 4: 3 / 4}
    works = [("PageRank push, replicate", n, told["PageRank push", str(n), "exact"] / 2, None) for n in (2, 4)]
    works += [("PageRank push, shard", 4, sharded["PageRank push"] * gathered[4], "push")]
    for n in (2, 4):
        works.append(("PageRank pull, replicate", n, told["PageRank pull", str(n), "exact"] * gathered[n], "pull"))
    works += [("BFS top-down, shard", 4, sharded["BFS top-down"] * gathered[4], "BFS")]
    found = []
    for name, devices, crosses, work in works:
        predicted = 8 * vertices * (devices - 1) / 1e6
        if work is not None:
            on = ["--graph", "rmat:26:16", "--bytes-per-edge", "2", "--memory", "64GiB"]
            on += ["--machines", devices, "--network", "100Gbit"]
            one = [word for word in WORKS[work] if word not in ("--shards", "64")]
            predicted = planner.plan(one, 16, 3e9, *on)["sent"] * devices * 1e3
        found.append([name, str(devices), number(crosses), number(predicted), number(round(predicted / crosses, 6))])
    columns = ["work", "devices", "crosses, as measured, MB", "predicted MB", "predicted of measured"]
    return {"title": "What crosses in a superstep of R-MAT 26", "columns": columns, "rows": found}


def times(planner):
    """Times of one machine, with the rates of its disk as measured."""
    disk = {row["algorithm"]: row["s"] for row in rows("rmat-30.json", 1) if row["pages from"] == "disk"}
    cores = {row["what"]: row["s"] for row in rows("billion.json")}
    on30 = ["--graph", "rmat:30:16", "--bytes-per-edge", "2.30", "--memory", "64GiB", "--tune", "buffer=8GiB"]
    on26 = ["--graph", "rmat:26:16", "--bytes-per-edge", "2.01", "--memory", "2GiB", "--tune", "buffer=256MiB"]
    push, search = (["pagerank", "out", "--iterations", "10"], ["bfs", "out", "--source", "max-degree"])
    runs = [
        ("R-MAT 30, ten iterations by push", push, on30, 1.86e9, 16, disk["pagerank"]),
        ("R-MAT 30, BFS", search, on30, 1.86e9, 16, disk["bfs"]),
        ("R-MAT 26, ten iterations by push, two cores", push, on26, 1.67e9, 2, cores["PageRank, ten iterations"]),
        ("R-MAT 26, BFS, two cores", search, on26, 1.67e9, 2, cores["BFS"]),
    ]
    found = []
    for name, work, on, rate, threads, seconds in runs:
        predicted = planner.plan(work, 16, rate, *on, threads=threads)["run"]
        found.append([name, number(seconds), number(predicted), number(predicted / seconds)])
    columns = ["run", "measured s", "predicted s", "predicted of measured"]
    return {"title": "Times of one machine", "columns": columns, "rows": found}


def shown(cell):
    return cell if isinstance(cell, str) else f"{cell['median']:.4g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("BENCH_DIR", "target/bench")))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.dir.mkdir(parents=True, exist_ok=True)
    rates = measured_rates()
    planner = Planner(arguments.dir, rates)
    tables = [network_limit(), rates_table(rates), *on_64(planner), strong_and_weak(planner)]
    tables += [crossing(planner), times(planner)]
    for table in tables:
        print(table["title"], *(" | ".join(map(shown, row)) for row in [table["columns"], *table["rows"]]), sep="\n")
    outcome = {
        "name": "scaling",
        "expectation": EXPECTATION,
        "machine": "on paper: plans by the rates of the second table",
        "command": "bench/scaling.py --json bench/results/scaling.json",
        "version": topostream("--version").splitlines()[:2],
        "verified": [],
        "notes": ["nothing was run on several machines"],
        "tables": tables,
        "claims": [],
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(outcome, indent=2) + "\n")


if __name__ == "__main__":
    main()
