"""Results of bench/sketch.sh, in the format of `topostream-bench`.

sketch.py merge RESULT [--command TEXT] PART.json...    parts of `topostream-bench sketch`, without repeated rows
sketch.py gpu RESULT [--command TEXT] PART.jsonl...     lines of bench/cuda/sketch.cu
sketch.py weights LIST FILE                             an edge list with weights from 1 to 255 if it has none
"""

import contextlib
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXPECTATION = (
    "on a GPU, where lists of a round are visited side by side and values are seen at once already, a sketch has no "
    "fewer visits than `now`, and takes longer; against `rounds` it has fewer updates on power laws"
)
VERIFIED = [
    "shortest paths: every distance by Dijkstra's algorithm; components: the least label of each by union-find",
    "ranks and adsorption: the residual, in the table, from the lists and the values alone",
]
NOTES = [
    "everything in device memory, but the edges of lists where main memory is named (`kept`: those of the first lists "
    "are in device memory, as many as the paths have); loops and repeated edges left out; an update is a changed "
    "value, or an edge along "
    "which a residual was passed on; counters are those of a run of their own, times are from the clearing of arrays "
    "to the last round; lists are visited by a stream of their own while passes over the paths run in another",
]
# By title: the columns, and how many of them name a row.
SKETCHES = ["graph", "hubs", "share of the edges", "edges of a path", "ms to find", "M paths"]
WAYS = [
    *["graph", "work", "way", "hubs", "times", "rounds", "M updates", "M visits", "visits an edge", "backwards"],
    *["ms", "residual"],
]
KEYS = {"Sketches": 2, "Ways": 5}


def unique(values):
    return list(dict.fromkeys(values))


def rows_by_key(title, rows):
    """The rows, of those with the same names the first."""
    found = {}
    for row in rows:
        found.setdefault(tuple(map(str, row[: KEYS[title]])), row)
    return list(found.values())


def write(path, outcome):
    """Replaces a file at once: an interruption leaves the old one."""
    partial = Path(f"{path}.new")
    partial.write_text(json.dumps(outcome, indent=2, ensure_ascii=False) + "\n")
    partial.replace(path)


def merge(path, command, files):
    parts = [json.loads(Path(file).read_text()) for file in files]
    outcome = parts[0] | {"command": command}
    for part in parts[1:]:
        if part["machine"] != outcome["machine"]:
            print(f"{path}: parts of several machines or versions; the first is named", file=sys.stderr)
            break
    for name in ("verified", "notes"):
        outcome[name] = unique(line for part in parts for line in part[name])
    for name in ("claims", "reports"):
        outcome[name] = [entry for part in parts for entry in part[name]]
    tables = [table for part in parts for table in part["tables"]]
    outcome["tables"] = []
    for title in unique(table["title"] for table in tables):
        some = [table for table in tables if table["title"] == title]
        if any(table["columns"] != some[0]["columns"] for table in some):
            sys.exit(f"{path}: parts have different columns: {title}")
        rows = rows_by_key(title, [row for table in some for row in table["rows"]])
        outcome["tables"].append({"title": title, "columns": some[0]["columns"], "rows": rows})
    write(path, outcome)


def machine():
    """The machine, as `topostream-bench` describes it."""

    def field(file, name):
        match = re.search(rf"^{name}\s*: (.*)$", Path(file).read_text(), re.MULTILINE)
        return match[1].strip() if match else ""

    package = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    version = f"topostream {package[1]}" if package else "topostream"
    git = ["git", "describe", "--always", "--dirty", "--abbrev=40"]
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        version += ", git " + subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    memory = field("/proc/meminfo", "MemTotal").split()
    return {
        "cores": len(os.sched_getaffinity(0)),
        "cpu": field("/proc/cpuinfo", "model name") or platform.machine(),
        "memory_bytes": int(memory[0]) << 10 if memory else 0,
        "kernel": f"linux {platform.release()}",
        "version": os.environ.get("TOPOSTREAM_VERSION", version),
    }


def percent(share):
    return f"{100 * share:.1f}%"


def lines_of(file):
    """The lines of a file; a last line that is not complete is left out."""
    for line in Path(file).read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def sketch_row(line):
    return [
        line["graph"],
        percent(line["hubs"]),
        percent(line["share"]),
        f"{line['path_edges']:.2f}",
        f"{line['ms']:.0f}",
        f"{line['paths'] / 1e6:.3f}",
    ]


def way_row(line):
    return [
        line["graph"],
        line["work"],
        line["way"],
        percent(line["hubs"]) if "hubs" in line else "",
        str(line.get("times", "")),
        str(line["rounds"]),
        f"{line['updates'] / 1e6:.3f}",
        f"{line['visits'] / 1e6:.3f}",
        f"{line['visits_per_edge']:.2f}",
        percent(line["backward_share"]),
        line["ms"],
        f"{line['residual']:.1e}".replace("e-0", "e-") if "residual" in line else "",
    ]


def gpu(path, command, files):
    lines = [line for file in files for line in lines_of(file)]

    def of(kind):
        return [line for line in lines if line["kind"] == kind]

    graphs = [
        f"{line['graph']}: {line['vertices']} vertices, {line['edges']} edges"
        + (", in both directions" if line["symmetric"] else "")
        + (", vertices by degree" if line["by_degree"] else "")
        for line in of("graph")
    ]
    sketches = rows_by_key("Sketches", map(sketch_row, of("sketch")))
    ways = rows_by_key("Ways", map(way_row, of("way")))
    outcome = {
        "name": "sketch-gpu",
        "expectation": EXPECTATION,
        "machine": machine(),
        "command": command,
        "verified": VERIFIED,
        "notes": unique([*NOTES, *(f"ran on {line['device']}" for line in of("device")), *graphs]),
        "tables": [
            {"title": "Sketches", "columns": SKETCHES, "rows": sketches},
            {"title": "Ways", "columns": WAYS, "rows": ways},
        ],
        "claims": [],
        "reports": [],
    }
    write(path, outcome)


def weights(path, to):
    """Adds a third column, equal for both directions of an edge. The size line of Matrix Market is left out."""
    partial = Path(f"{to}.new")
    with open(path) as source, partial.open("w") as dest:
        sizes = False
        for number, line in enumerate(source):
            if number == 0:
                sizes = line.startswith("%%MatrixMarket")
            words = line.split()
            if not words or words[0][0] in "#%":
                continue
            if sizes:
                sizes = False
                continue
            if len(words) == 2:
                low, high = sorted(map(int, words))
                word = ((low << 32 | high) + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9 % 2**64
                word = (word ^ word >> 31) * 0x94D049BB133111EB % 2**64
                words.append(str(1 + (word >> 32) % 255))
            dest.write(" ".join(words[:3]) + "\n")
    partial.replace(to)


def main(work, *words):
    if work == "weights":
        return weights(*words)
    words, command = list(words), "bench/sketch.sh"
    if "--command" in words:
        at = words.index("--command")
        # A path of a machine has no place in a result.
        command = " ".join(word.rsplit("/", 1)[-1] if word.startswith("/") else word for word in words[at + 1].split())
        del words[at : at + 2]
    return {"merge": merge, "gpu": gpu}[work](words[0], command, words[1:])


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
