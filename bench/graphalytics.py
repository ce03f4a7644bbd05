#!/usr/bin/env python3
"""LDBC Graphalytics' six algorithms, and core numbers, on its graph500 graphs: from a Parquet file to checked answers.

python -m venv ldbc && ldbc/bin/pip install numpy pyarrow scipy
ldbc/bin/python bench/graphalytics.py --scale 22,24,26 --device cpu,gpu --discard --json bench/results/graphalytics.json
ldbc/bin/python bench/graphalytics.py --scale 16 --memory 4GiB                          tries it here

graph500-N is Graph500's Kronecker graph of scale N and edge factor 16, undirected, without self-loops, repeated edges
and vertices without edges; the program's generator makes it, with another seed than LDBC's. The Parquet file has each
edge once, by ascending source and target (int64), and a weight (f32, uniform in (0, 1]) that SSSP reads: graph500-N has
none. Then come `format` and each algorithm, a process each that writes its answer to a Parquet file. "from file s" is
the two together; `components FILE` needs no store. BFS and SSSP begin at a vertex of highest degree.

numpy and scipy check answers up to --check-scale (16 GB of memory at 22, four times as much at 24). A wrong answer ends
the benchmark. Commands that fail or exceed --limit are rows too: their outcome says why. `topostream` on the path, or
TOPOSTREAM.
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
from itertools import product, repeat
from pathlib import Path
from threading import Lock

import numpy as np
import pyarrow
from pyarrow import parquet
from scipy.sparse import coo_array, csgraph, csr_array

EXPECTATION = (
    "from Parquet on 16 cores, PageRank and WCC of graph500-26 take at most half of graphframes-rs's time, CDLP and "
    "k-core of graph500-24 at most a quarter; on a GPU, runs take less than NeuG's kernels on 64 threads, except LCC"
)
VERIFIED = [
    "the last run of each device and place is checked",
    "oracle: every value is that of numpy or scipy; fractions are within 1e-9 of it, ranks within 1e-6 (f32)",
    "--validate: Graph500's rules for levels and distances, and the same answer of all devices and places",
    "properties: ranks sum to 1; components are named by their smallest vertex, and are those of `components FILE`; "
    "labels are vertices; coefficients are within 0 and 1; more vertices than k are in the innermost core; and the "
    "same answer of all devices and places. Labels, coefficients and core numbers that are all wrong in the same way "
    "could pass",
]
NOTES = [
    "run s is the program's report, process s the command with opening of devices and the answer's file",
    "M EVPS: vertices and edges, each edge once, over run s; of format over process s",
    "place memory: a page buffer for all pages within --memory, or device memory; SSD: one for an eighth of them",
    "edges are in ascending order in the file, which costs format less than random order",
]
ENDS, ROWS, PATHS, BUFFER_MIN = ["source", "target"], 1 << 20, 16_000_000, 16 << 20
# Vertices and edges of LDBC's graph500-N.
LDBC = [{22: 2_396_657, 23: 4_610_222, 24: 8_870_942, 25: 17_062_472, 26: 32_804_978}]
LDBC += [{22: 64_155_735, 23: 129_333_677, 24: 260_379_520, 25: 523_602_831, 26: 1_051_922_853}]
# The command, and the column of its answer.
WORK = {
    "BFS": (["bfs", "--source", "max-degree"], "level"),
    "PR": (["pagerank", "--iterations", "10", "--damping", "0.85"], "rank"),
    "WCC": (["components"], "component"),
    "CDLP": (["communities", "--max-iterations", "10"], "community"),
    "LCC": (["clustering"], "coefficient"),
    "k-core": (["kcore"], "core"),
    "SSSP": (["sssp", "--source", "max-degree"], "distance"),
}
SEARCHES = ["BFS", "SSSP"]
# What holds for vertices in ascending order and their values.
PROPERTIES = {
    "PR": lambda _, ranks: abs(ranks.sum() - 1) < 1e-6 and ranks.min() > 0,
    "WCC": lambda ids, labels: (labels <= ids).all() and (labels[np.searchsorted(ids, labels)] == labels).all(),
    "CDLP": lambda ids, labels: np.isin(labels, ids).all(),
    "LCC": lambda _, shares: shares.min() >= 0 and shares.max() <= 1,
    "k-core": lambda _, cores: cores.min() >= 1 and (cores == cores.max()).sum() > cores.max(),
}
NEUG = ["NeuG", "64 threads", "kernel only", "graph500-26"]
FRAMES = ["graphframes-rs", "16 vCPU, 30 GB", "from Parquet"]
PEERS = [[*NEUG, *of] for of in [("BFS", "0.542"), ("WCC", "0.467"), ("PR", "6.05"), ("CDLP", "10.6"), ("LCC", "360")]]
PEERS += [[*FRAMES, "graph500-26", *of] for of in [("PR", "149"), ("WCC", "213")]]
PEERS += [[*FRAMES, "graph500-24", *of] for of in [("k-core", "288"), ("CDLP", "250")]]
RUNS = ["graph", "algorithm", "device", "place", "cores", "run s", "process s", "from file s", "M EVPS", "GB read"]
RUNS += ["verified", "outcome"]
PUBLISHED = ["system", "hardware", "counted", "graph", "algorithm", "s"]
GRAPHS = ["graph", "vertices", "LDBC's vertices", "edges", "LDBC's edges", "file GB", "made in s"]


class FailedError(Exception):
    """What the program says when it fails."""


def topostream(*words, limit=None, cores=None):
    """Runs the program, on some cores if told; returns what it prints, and seconds."""
    command = [os.environ.get("TOPOSTREAM", "topostream"), *map(str, words)]
    allowed = sorted(os.sched_getaffinity(0))
    if cores and cores < len(allowed):
        command = ["taskset", "--cpu-list", ",".join(map(str, allowed[:cores])), *command]
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise FailedError(f"killed at the limit of {limit:g} s") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.startswith("error:")]
        raise FailedError(lines[0] if lines else f"exit code {done.returncode}")
    return done.stdout, time.perf_counter() - start


def make(path, scale, memory):
    """Writes the graph's edges to a Parquet file, a row group at a time."""
    store, listed, partial = (path.with_suffix(f".{word}") for word in ("made", "listed.parquet", "partial"))
    words = ["--symmetrize", "--remove-duplicates", "--remove-self-loops", "--ids", "compact", "--order", "natural"]
    words += ["--store", store, "--overwrite", "--memory", memory, "--quiet"]
    topostream("generate", "rmat", "--scale", scale, *words)
    topostream("extract", store, "--all", "--output", listed, "--memory", memory, "--quiet")
    shutil.rmtree(store)
    random, integer = np.random.default_rng(scale), pyarrow.int64()
    schema = pyarrow.schema([("source", integer), ("target", integer), ("weight", pyarrow.float32())])
    with parquet.ParquetWriter(partial, schema, compression="zstd", use_dictionary=False) as writer:
        for batch in parquet.ParquetFile(listed).iter_batches(ROWS, columns=ENDS):
            weights = pyarrow.array(1 - random.random(len(batch), dtype=np.float32))
            writer.write_table(pyarrow.table([*(end.cast(integer) for end in batch.columns), weights], schema=schema))
    listed.unlink()
    partial.rename(path)


def sizes(path, scale):
    """Returns the numbers of vertices and edges of a file."""
    present, file = np.zeros(1 << scale, bool), parquet.ParquetFile(path)
    for batch in file.iter_batches(ROWS, columns=ENDS):
        for end in batch.columns:
            present[end.to_numpy()] = True
    return int(present.sum()), file.metadata.num_rows


def answer(path, column):
    """Returns the vertices of an answer in ascending order, and their values, -1 where there is none."""
    columns = parquet.read_table(path, columns=["vertex", column]).columns
    signed = [of.cast(pyarrow.int64()) if pyarrow.types.is_uint64(of.type) else of for of in columns]
    vertices, values = (of.fill_null(-1).to_numpy() for of in signed)
    order = np.argsort(vertices)
    return vertices[order], values[order]


class Oracles:
    """Answers by numpy and scipy, with a value for each vertex in ascending order."""

    def __init__(self, path):
        source, target, weight = (column.to_numpy() for column in parquet.read_table(path).columns)
        number = np.zeros(max(source.max(), target.max()) + 1, np.int32)
        number[source] = number[target] = 1
        self.ids = np.flatnonzero(number)
        number[self.ids] = np.arange(len(self.ids))
        source, target, shape = number[source], number[target], (len(self.ids), len(self.ids))
        ends = (np.concatenate([source, target]), np.concatenate([target, source]))
        self.lists = coo_array((np.tile(weight.astype(np.float64), 2), ends), shape=shape).tocsr()
        # tocsr merges repeated edges.
        if self.lists.nnz != 2 * len(weight) or self.lists.diagonal().any():
            sys.exit(f"{path} has repeated edges or self-loops")
        self.ones = csr_array((np.ones(self.lists.nnz), self.lists.indices, self.lists.indptr), shape=shape)
        self.degrees = np.diff(self.lists.indptr).astype(np.int64)

    def bfs(self, source):
        levels, front, level = np.full(len(self.ids), -1), np.arange(len(self.ids)) == source, 0
        while front.any():
            levels[front] = level
            front, level = (self.ones @ front > 0) & (levels < 0), level + 1
        return levels

    def pr(self, _):
        ranks = np.full(len(self.ids), 1 / len(self.ids))
        for _ in range(10):
            ranks = 0.15 / len(self.ids) + 0.85 * (self.ones @ (ranks / self.degrees))
        return ranks

    def wcc(self, _):
        _, labels = csgraph.connected_components(self.lists, directed=False)
        _, first = np.unique(labels, return_index=True)
        return self.ids[first[labels]]

    def cdlp(self, _):
        """Sorts pairs of vertex and label, and keeps each vertex's most frequent one, the smallest of several."""
        labels, vertices = self.ids, np.repeat(np.arange(len(self.ids)) << 32, self.degrees)
        for _ in range(10):
            pairs = np.sort(vertices | labels[self.lists.indices])
            first = np.flatnonzero(np.diff(pairs, prepend=-1))
            counts, pairs = np.diff(first, append=len(pairs)), pairs[first]
            starts = np.flatnonzero(np.diff(pairs >> 32, prepend=-1))
            pairs = pairs[counts == np.maximum.reduceat(counts, starts)[pairs >> 32]]
            labels = pairs[np.flatnonzero(np.diff(pairs >> 32, prepend=-1))] & 0xFFFFFFFF
        return labels

    def lcc(self, _):
        """Counts triangles of vertices low, middle and high, in the order of degrees, by products of matrices."""
        n, lock, triangles = len(self.ids), Lock(), np.zeros(len(self.ids), np.int64)
        rank = np.argsort(np.argsort(self.degrees, kind="stable"))
        source, target = rank[np.repeat(np.arange(n), self.degrees)], rank[self.lists.indices]
        above = source < target
        up = csr_array((np.ones(above.sum(), np.int32), (source[above], target[above])), shape=(n, n))

        def count(paths, rows, with_high):
            closed = (paths[rows] @ up).multiply(up[rows])
            with lock:
                triangles[rows] += closed.sum(axis=1)
                triangles[:] += closed.sum(axis=0) if with_high else 0

        # Paths low, middle, high that end at a neighbour of their beginning; then paths middle, low, high.
        for paths, with_high in ((up, True), (up.T.tocsr(), False)):
            starts = np.flatnonzero(np.diff(np.cumsum(paths @ np.diff(up.indptr)) // PATHS, prepend=-1))
            pieces = [slice(*piece) for piece in zip(starts, [*starts[1:], n], strict=True)]
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(count, repeat(paths), pieces, repeat(with_high)))
        return 2 * triangles[rank] / np.maximum(self.degrees * (self.degrees - 1), 1)

    def kcore(self, _):
        degrees, cores, k = self.degrees.copy(), np.zeros(len(self.ids), np.int64), 0
        left = np.ones(len(self.ids), bool)
        while left.any():
            k = max(k, degrees[left].min())
            gone = np.flatnonzero(left & (degrees <= k))
            cores[gone], left[gone] = k, False
            degrees -= np.bincount(self.lists[gone].indices, minlength=len(degrees))
        return cores

    def sssp(self, source):
        return np.nan_to_num(csgraph.dijkstra(self.lists, indices=source), posinf=-1)


def median(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "runs": len(values)}


def shown(cell):
    return f"{cell['median']:.3f}" if isinstance(cell, dict) else str(cell)


class Bench:
    """The rows of all graphs; of the present graph the path, sizes and expected answers; the number of cores."""

    def __init__(self, arguments):
        self.arguments, self.runs, self.graphs = arguments, [], []

    def check(self, name, path):
        """Compares an answer with the oracle's, or with the first one; returns how it was checked."""
        ids, values = answer(path, WORK[name][1])
        source = int(np.argmax(values == 0)) if name in SEARCHES else None
        if (name, source) not in self.expected:
            sound = PROPERTIES.get(name, lambda *_: True)(ids, values)
            if self.oracles:
                sound = sound and np.array_equal(ids, self.oracles.ids)
                sound = sound and (source is None or self.oracles.degrees[source] == self.oracles.degrees.max())
            if not sound:
                sys.exit(f"{name}: other vertices than those of the file, another source, or impossible values")
            oracle = getattr(self.oracles, name.lower().replace("-", ""), lambda _: values)
            self.expected[name, source] = oracle(source)
        tolerance = {"PR": 1e-6, "LCC": 1e-9, "SSSP": 1e-9}.get(name, 0)
        expected = self.expected[name, source]
        wrong = ~np.isclose(values, expected, rtol=tolerance, atol=0)
        if wrong.any():
            at = int(np.argmax(wrong))
            sys.exit(f"{name}: {wrong.sum()} values are wrong: {values[at]} of {ids[at]}, expected {expected[at]}")
        return "oracle" if self.oracles else "--validate" if name in SEARCHES else "properties"

    def row(self, name, device, place, measure, format_s=0.0):
        """Adds the row of reports, seconds of processes and a check; returns the median process."""
        row, processes = [self.path.stem, name, device, place, str(self.cores)], None
        try:
            reports, processes, verified = measure()
            walls = [report.get("wall_ns", report.get("elapsed_ns")) / 1e9 for report in reports] or processes
            whole = f"{statistics.median(processes) + format_s:.2f}" if reports else ""
            row += [median(walls) if reports else "", median(processes), whole]
            read = [report["total"]["disk_bytes"] / 1e9 for report in reports if "total" in report]
            row += [f"{self.size / statistics.median(walls) / 1e6:.1f}", f"{max(read):.3f}" if read else ""]
            row += [verified, ""]
        except FailedError as error:
            row += [""] * 6 + [str(error)]
        self.runs.append(row)
        print(*map(shown, row), sep="  ", file=sys.stderr, flush=True)
        self.write()
        return processes and statistics.median(processes)

    def write(self):
        """Writes what has been measured so far, which stays if a later run is cut off."""
        if self.arguments.json:
            self.arguments.json.write_text(json.dumps(self.outcome(), indent=2) + "\n")

    def repeated(self, *words, runs=None):
        """Returns reports and seconds of all runs of a command."""
        words = [*words, "--memory", self.arguments.memory]
        runs = range(runs or self.arguments.runs)
        ended = [topostream(*words, limit=self.arguments.limit, cores=self.cores) for _ in runs]
        return [json.loads(text) for text, _ in ended if text], [seconds for _, seconds in ended]

    def algorithm(self, name, store, device, place):
        """Runs an algorithm over a store; components of the file in the place `file`."""
        found, (command, *options) = self.path.with_suffix(".answer.parquet"), WORK[name][0]
        words = ["run", command, store, *options, "--device", device]
        if place == "file":
            words = ["components", self.path, "--source", "source", "--dest", "target", "--weight-type", "ignore"]
        if place == "SSD":
            kinds = ["pages.*", "weights.*"][: 1 + (name == "SSSP")]
            pages_bytes = sum(file.stat().st_size for kind in kinds for file in store.glob(kind))
            words += ["--tune", f"buffer={max(pages_bytes // 8, BUFFER_MIN)}"]
            words += ["--tune", "device-cache=0"] if device != "cpu" else []
        words += ["--json", "--output", found]
        if name in SEARCHES and not self.oracles:
            self.repeated(*words, "--validate", runs=1)
            self.check(name, found)
        return *self.repeated(*words), self.check(name, found)

    def algorithms(self, weights, names):
        """Makes a store, and runs some algorithms over it."""
        store, options = self.path.with_suffix(".store"), ["--symmetrize", "--weight-type", weights, "--overwrite"]
        words = ["format", self.path, store, *options, "--quiet"]
        seconds = self.row(f"format, weights: {weights}", "", "file", lambda: (*self.repeated(*words), ""))
        if "WCC" in names:
            self.row("WCC", "", "file", lambda: self.algorithm("WCC", None, "", "file"))
        for name, device, place in product(names, self.arguments.device, self.arguments.place):
            if seconds:
                self.row(name, device, place, lambda: self.algorithm(name, store, device, place), seconds)
        shutil.rmtree(store, ignore_errors=True)

    def graph(self, scale):
        """Makes a graph, and measures everything over it."""
        arguments, start = self.arguments, time.perf_counter()
        self.path, made = arguments.dir / f"graph500-{scale}.parquet", ""
        if not self.path.exists():
            make(self.path, scale, arguments.memory)
            made = f"{time.perf_counter() - start:.1f}"
        counts, row = sizes(self.path, scale), [self.path.stem]
        for count, published in zip(counts, LDBC, strict=True):
            row += [
                str(count),
                f"{published[scale]} ({count / published[scale] - 1:+.3%})" if scale in published else "",
            ]
        self.graphs.append([*row, f"{self.path.stat().st_size / 1e9:.2f}", made])
        self.size, self.expected = sum(counts), {}
        self.oracles = Oracles(self.path) if scale <= arguments.check_scale else None
        for self.cores, weights in product(arguments.threads, ("ignore", "f32")):
            names = [name for name in arguments.algorithm if (name == "SSSP") == (weights == "f32")]
            if names:
                self.algorithms(weights, names)
        self.path.with_suffix(".answer.parquet").unlink(missing_ok=True)
        if arguments.discard:
            self.path.unlink()

    def outcome(self):
        """What is written."""
        words = [Path(word).name if "/" in word else word for word in sys.argv[1:]]
        return {
            "name": "graphalytics",
            "expectation": EXPECTATION,
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "command": " ".join(["bench/graphalytics.py", *words]),
            "verified": VERIFIED,
            "notes": NOTES,
            "tables": [
                {"title": "Runs", "columns": RUNS, "rows": self.runs},
                {"title": "Published, on other machines", "columns": PUBLISHED, "rows": PEERS},
                {"title": "Graphs", "columns": GRAPHS, "rows": self.graphs},
            ],
            "claims": [],
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = lambda kind: lambda text: [kind(word) for word in text.split(",")]  # noqa: E731
    parser.add_argument("--scale", type=listed(int), required=True, metavar="SCALES")
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("BENCH_DIR", "target/bench")))
    parser.add_argument("--memory", default="96GiB", help="of each command")
    parser.add_argument("--device", type=listed(str), default=["cpu"], metavar="NAMES", help="as cpu,gpu")
    parser.add_argument("--place", type=listed(str), default=["memory", "SSD"], metavar="PLACES")
    parser.add_argument("--algorithm", type=listed(str), default=list(WORK), metavar="NAMES", help=",".join(WORK))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=listed(int), default=[len(os.sched_getaffinity(0))], metavar="CORES")
    parser.add_argument("--limit", type=float, default=3600, metavar="SECONDS", help="of each command")
    parser.add_argument("--check-scale", type=int, default=22, help="the largest graph that numpy and scipy compute")
    parser.add_argument("--discard", action="store_true", help="remove each graph's file after its runs")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.dir.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments)
    for scale in arguments.scale:
        bench.graph(scale)
        bench.write()
    for table in bench.outcome()["tables"]:
        rows = [[shown(cell) for cell in row] for row in [table["columns"], *table["rows"]]]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        print(table["title"], *("  ".join(map(str.ljust, row, widths)) for row in rows), sep="\n")


if __name__ == "__main__":
    main()
