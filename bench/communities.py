#!/usr/bin/env python3
"""Communities beside other programs: time and modularity, in one run, over the same graphs.

bench/communities.py GRAPH...                    edge lists: `u v` a line, ids from 0
bench/communities.py --copies 24 GRAPH           many copies, one in 50 edges between them
bench/communities.py --rmat 16,18 --lfr 0.3,0.5  generated graphs
bench/communities.py --json bench/results/communities.json --runs 3
bench/communities.py --store DIR --threads 16,2 --iterations 1,2,3 --memory 16GiB --device cpu,gpu   ours, of any size

Each graph is undirected, without loops and repeated edges. Programs: `topostream` on the path (or TOPOSTREAM), from a
store, as a process of its own; of PyPI those that are installed: networkit (ParallelLeiden, PLM), leidenalg (two
iterations, its default), igraph (community_leiden, two iterations, modularity). Ours and ParallelLeiden take three.
Times are for communities alone, of a graph that is loaded; topostream's are of the run as it reports it, reading the
store included. The modularity of every answer is computed by this file. LFR: NetworkX's generator, with normalized
mutual information to what was planted.
"""

import argparse
import hashlib
import itertools
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

# Blocks of 512 bytes from and to disks.
BLOCKS = ["ru_inblock", "ru_oublock"]
PARTS = ["moving", "refining", "levels", "transfer", "compiling"]
STORE_COLUMNS = ["store", "stored edges", "device", "threads", "memory", "resolutions", "iterations", "s", "M edges/s"]
STORE_COLUMNS += ["modularity", "communities", "levels on disk", "GB read", "GB written", "peak MiB"]
STORE_COLUMNS += [f"{part} s" for part in PARTS]
COLUMNS = ["graph", "edges", "program", "s", "M edges/s", "modularity", "NMI", "communities", "peak MiB"]


def canonical(source, dest):
    """Each edge once, without loops."""
    low, high = np.minimum(source, dest), np.maximum(source, dest)
    keep = low != high
    pairs = np.unique(low[keep] << 32 | high[keep])
    return np.stack([pairs >> 32, pairs & 0xFFFFFFFF], 1)


def rmat(scale, seed=1):
    random, count = np.random.default_rng(seed), 16 << scale
    source, dest = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for _ in range(scale):
        draw = random.random(count)
        source = 2 * source + (draw >= 0.76)
        dest = 2 * dest + (((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95))
    scatter = random.permutation(1 << scale)
    return canonical(scatter[source], scatter[dest])


def copies(edges, count, seed=1):
    """Several copies of a graph, one in 50 of whose edges leads to another copy."""
    random, vertices = np.random.default_rng(seed), int(edges.max()) + 1
    copy = np.repeat(np.arange(count), len(edges))
    to = np.where(random.random(len(copy)) < 0.02, random.integers(count, size=len(copy)), copy)
    source, dest = (np.tile(edges[:, side], count) for side in (0, 1))
    return canonical(source + vertices * copy, dest + vertices * to)


def lfr(mu, seed=10):
    import networkx as nx

    graph = nx.LFR_benchmark_graph(
        5000, 2.5, 1.5, mu, average_degree=15, max_degree=100, min_community=20, max_community=200, seed=seed
    )
    planted = np.array([min(graph.nodes[vertex]["community"]) for vertex in range(5000)])
    edges = np.array([(a, b) for a, b in graph.edges() if a != b])
    return canonical(edges[:, 0], edges[:, 1]), planted


def modularity(edges, labels):
    degrees = np.bincount(edges.ravel(), minlength=len(labels)).astype(float)
    total = degrees.sum()
    inside = 2.0 * (labels[edges[:, 0]] == labels[edges[:, 1]]).sum()
    sums = np.bincount(np.unique(labels, return_inverse=True)[1], weights=degrees)
    return inside / total - ((sums / total) ** 2).sum()


def information(found, planted):
    """Normalized mutual information, by the arithmetic mean of entropies."""
    found, planted = (np.unique(labels, return_inverse=True)[1] for labels in (found, planted))
    joint = np.zeros((found.max() + 1, planted.max() + 1))
    np.add.at(joint, (found, planted), 1 / len(found))
    by = [joint.sum(1), joint.sum(0)]
    entropy = [-(share[share > 0] * np.log(share[share > 0])).sum() for share in by]
    both = joint > 0
    mutual = (joint[both] * np.log(joint[both] / np.outer(*by)[both])).sum()
    return 2 * mutual / sum(entropy)


def of_topostream(edges, vertices, folder, algorithm, words):
    """Runs the program; the store is made before."""
    program = os.environ.get("TOPOSTREAM", "topostream")
    store = folder / "store"
    if not store.exists():
        listed, ids = folder / "edges.bin", folder / "vertices.txt"
        edges.astype("<u4").tofile(listed)
        np.savetxt(ids, np.arange(vertices), fmt="%d")
        make = [program, "format", listed, store, "--kind", "raw-u32", "--symmetrize", "--vertices", ids, "--quiet"]
        subprocess.run([str(word) for word in make], check=True)

    def run(seed):
        answer = folder / "answer.csv"
        command = [program, "run", algorithm, store, "--device", "cpu", "--seed", seed, *words, "--json"]
        done = subprocess.run(
            [str(word) for word in [*command, "--output", answer]], check=True, capture_output=True, text=True
        )
        report = json.loads(done.stdout)
        report = report.get("report", report)
        rows = np.loadtxt(answer, delimiter=",", skiprows=1, dtype=np.int64)
        labels = np.empty(vertices, np.int64)
        labels[rows[:, 0]] = rows[:, 1]
        return report["wall_ns"] / 1e9, labels, report["peak_memory_bytes"]

    return run


def programs(edges, vertices, folder, limit):
    """Functions from a seed to seconds, labels, and peak memory where it is known."""
    yield "topostream leiden", of_topostream(edges, vertices, folder, "leiden", [])
    yield "topostream leiden, one iteration", of_topostream(edges, vertices, folder, "leiden", ["--iterations", 1])
    yield "topostream louvain", of_topostream(edges, vertices, folder, "louvain", [])

    def timed(work, labels_of):
        start = time.perf_counter()
        found = work()
        return time.perf_counter() - start, np.asarray(labels_of(found)), None

    try:
        import networkit as nk

        graph = nk.Graph(vertices)
        graph.addEdges((edges[:, 0].astype(np.uint64), edges[:, 1].astype(np.uint64)))
        labels_of = lambda found: found.getPartition().getVector()  # noqa: E731

        def networkit(make):
            def run(seed):
                nk.setSeed(seed + 1, True)
                return timed(lambda: make().run(), labels_of)

            return run

        yield "networkit ParallelLeiden", networkit(lambda: nk.community.ParallelLeiden(graph))
        yield "networkit PLM", networkit(lambda: nk.community.PLM(graph))
    except ImportError:
        print("no networkit", file=sys.stderr)
    if len(edges) > limit:
        return
    try:
        import igraph

        of = igraph.Graph(n=vertices, edges=edges)

        def of_igraph(seed):
            import random

            random.seed(seed)
            igraph.set_random_number_generator(random)
            work = lambda: of.community_leiden("modularity", n_iterations=2)  # noqa: E731
            return timed(work, lambda found: found.membership)

        yield "igraph community_leiden", of_igraph
        import leidenalg

        def of_leidenalg(seed):
            kind = leidenalg.ModularityVertexPartition
            return timed(lambda: leidenalg.find_partition(of, kind, seed=seed), lambda found: found.membership)

        yield "leidenalg", of_leidenalg
    except ImportError as error:
        print(error, file=sys.stderr)


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "runs": len(values)}


def measure(name, edges, planted, arguments):
    rows, vertices = [], int(edges.max()) + 1
    with tempfile.TemporaryDirectory(dir=arguments.dir) as folder:
        for program, run in programs(edges, vertices, Path(folder), arguments.limit):
            seconds, qualities, near, counts, peak = [], [], [], [], None
            for seed in range(arguments.runs):
                took, labels, peak = run(seed)
                seconds.append(took)
                qualities.append(modularity(edges, labels))
                counts.append(len(np.unique(labels)))
                if planted is not None:
                    near.append(information(labels, planted))
            rate = [2 * len(edges) / took / 1e6 for took in seconds]
            mib = "" if peak is None else f"{peak / 2**20:.0f}"
            row = [name, str(len(edges)), program, spread(seconds), spread(rate), spread(qualities)]
            row += [spread(near) if near else "", str(int(statistics.median(counts))), mib]
            rows.append(row)
            said = " ".join(f"{spread(values)['median']:.5g}" for values in (seconds, qualities, near) if values)
            print(f"{name}: {program}: {said}", file=sys.stderr, flush=True)
    return rows


def of_store(store, device, threads, memory, resolutions, iterations, runs, answers):
    """A row of a store: bytes are those of the process from and to disks, the system's cache left out."""
    program = os.environ.get("TOPOSTREAM", "topostream")
    seconds, qualities, parts, last = [], [], [], {}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for seed in range(runs):
        with tempfile.NamedTemporaryFile(suffix=".npy") as answer:
            command = [program, "run", "leiden", store, "--device", device, "--seed", seed, "--iterations", iterations]
            command += ["--threads", threads, *(["--memory", memory] if memory else []), "--resolution", resolutions]
            command += ["--json", "--output", answer.name]
            done = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)
            digest = hashlib.sha256(Path(answer.name).read_bytes()).hexdigest()
        key = (str(store), resolutions, iterations, seed)
        if answers.setdefault(key, digest) != digest:
            raise SystemExit(
                f"{key}: another answer on {device} with {threads} threads and memory {memory or 'enough'}"
            )
        last = json.loads(done.stdout)
        seconds.append(last["wall_ns"] / 1e9)
        figures = last["answer"]["figures"]
        rows = last["answer"].get("table", {"rows": [["", [0, figures.get("modularity")]]]})["rows"]
        qualities.append(rows[0][1][1])
        parts.append([figures.get(f"{part}_s", 0.0) for part in PARTS])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    gigabytes = [f"{512 * (getattr(after, of) - getattr(before, of)) / runs / 1e9:.2f}" for of in BLOCKS]
    edges = json.loads((Path(store) / "graph.json").read_text())["graph"]["edges"]
    row = [Path(store).name, str(edges), device, str(threads), memory or "", resolutions, str(iterations)]
    row += [spread(seconds), spread([edges / took / 1e6 for took in seconds]), spread(qualities)]
    row += [str(last["answer"].get("groups", {}).get("count", ""))]
    row += [str(last["answer"]["figures"].get("levels_on_disk", "")), *gigabytes]
    row += [f"{last['peak_memory_bytes'] / 2**20:.0f}"]
    return [*row, *(f"{statistics.median(times):.3f}" for times in zip(*parts, strict=True))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", type=Path, metavar="GRAPH")
    numbers = lambda kind: lambda text: [kind(word) for word in text.split(",") if word]  # noqa: E731
    parser.add_argument("--copies", type=int, default=1, help="of each graph: a larger one with the same lists")
    parser.add_argument("--rmat", type=numbers(int), default=[], metavar="SCALES")
    parser.add_argument("--lfr", type=numbers(float), default=[], metavar="MIXING")
    parser.add_argument("--store", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--threads", type=numbers(int), default=[os.cpu_count()], metavar="COUNTS")
    parser.add_argument("--iterations", type=numbers(int), default=[3], metavar="COUNTS")
    parser.add_argument("--device", type=numbers(str), default=["cpu"], metavar="NAMES")
    parser.add_argument("--resolutions", type=numbers(str), default=["1"], metavar="SETS", help="as 1,0.5+1+2")
    parser.add_argument("--memory", type=numbers(str), default=[], metavar="SIZES")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=int, default=2_000_000, help="more edges are left to the programs with threads")
    parser.add_argument("--dir", type=Path, help="where stores are made; on the disk to measure")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows, stores, answers = [], [], {}
    sets = [text.replace("+", ",") for text in arguments.resolutions]
    of = [arguments.store, arguments.device, arguments.threads, arguments.memory or [""], sets, arguments.iterations]
    for asked in itertools.product(*of):
        stores.append(of_store(*asked, arguments.runs, answers))
        print(*(row if isinstance(row, str) else row["median"] for row in stores[-1]), file=sys.stderr, flush=True)
    for path in arguments.graphs:
        listed = np.loadtxt(path, dtype=np.int64, comments=["#", "%"], usecols=(0, 1))
        name, edges = path.stem, canonical(listed[:, 0], listed[:, 1])
        if arguments.copies > 1:
            name, edges = f"{arguments.copies} copies of {name}", copies(edges, arguments.copies)
        rows += measure(name, edges, None, arguments)
    for scale in arguments.rmat:
        rows += measure(f"R-MAT {scale}", rmat(scale), None, arguments)
    for mu in arguments.lfr:
        edges, planted = lfr(mu)
        rows += measure(f"LFR {mu}", edges, planted, arguments)
    words = [Path(word).name if "/" in word else word for word in sys.argv[1:]]
    outcome = {
        "name": "communities",
        "expectation": "modularity at least that of leidenalg and ParallelLeiden less 0.5% on every graph, and NMI at "
        "least theirs less 0.01; more edges a second than any of them",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "command": " ".join(["bench/communities.py", *words]),
        "verified": [
            "the modularity of every answer is computed from its labels by the script; of stores, it is what the "
            "program recomputes at its end",
            "stores: the same bits on all devices, with any threads and memory",
        ],
        "notes": ["M edges/s are stored edges, each from both ends, over the time"],
        "tables": [
            table
            for table in (
                {"title": "Communities", "columns": COLUMNS, "rows": rows},
                {"title": "Stores", "columns": STORE_COLUMNS, "rows": stores},
            )
            if table["rows"]
        ],
        "claims": [],
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(outcome, indent=2) + "\n")


if __name__ == "__main__":
    main()
