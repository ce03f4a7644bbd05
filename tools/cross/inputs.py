"""Writes one small graph as every kind of input, for scenario.sh.

    python3 inputs.py FOLDER PROGRAM

PROGRAM is this system's topostream, which writes the kinds that it can write; the others are written here. The graph is
undirected, without self-loops and repeated edges, so that every kind can hold it.
"""

import bz2
import gzip
import io
import lzma
import os
import struct
import subprocess
import sys
import tarfile
import zipfile

VERTICES, EDGES = 1000, 6000
folder, program = sys.argv[1], os.path.abspath(sys.argv[2])
os.makedirs(folder, exist_ok=True)
os.chdir(folder)


def edges():
    """Distinct pairs of vertices with weights from 1 to 97: squares make degrees differ."""
    found, state = {}, 1
    while len(found) < EDGES:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        one, other = (state >> 33) % VERTICES, (state >> 13) % 1024
        pair = (min(one, other * other // 1049), max(one, other * other // 1049))
        if pair[0] != pair[1]:
            found.setdefault(pair, 1 + (state >> 40) % 97)
    return sorted((one, other, weight) for (one, other), weight in found.items())


def write(name, text):
    # Bytes, so that no line end is changed.
    with open(name, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def lines(rows, begin=""):
    return begin + "".join(" ".join(map(str, row)) + "\n" for row in rows)


graph = edges()
lists = [[] for _ in range(VERTICES)]
for one, other, weight in graph:
    lists[one].append((other, weight))
    lists[other].append((one, weight))
for own in lists:
    own.sort()
pairs = [edge[:2] for edge in graph]
both = sum(len(own) for own in lists)
offsets = [0]
for own in lists:
    offsets.append(offsets[-1] + len(own))
from_1 = [(one + 1, other + 1, weight) for one, other, weight in graph]
plain = lines(pairs, "# SNAP's comments\n# from\tto\n")

# Text, and every compression of it.
write("edges.txt", plain)
write("fractions.txt", lines((one, other, f"{weight / 7:.4f}") for one, other, weight in graph))
write("crlf.txt", plain.replace("\n", "\r\n"))
write("edges.gz.txt.gz", gzip.compress(plain.encode(), mtime=0))
write("edges.bz2.txt.bz2", bz2.compress(plain.encode()))
write("edges.xz.txt.xz", lzma.compress(plain.encode()))
subprocess.run(["zstd", "-qf", "edges.txt", "-o", "edges.zst.txt.zst"], check=True)
with zipfile.ZipFile("edges.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr(zipfile.ZipInfo("folder/edges.txt"), plain)
with tarfile.open("edges.tar.gz", "w:gz") as archive:
    member = tarfile.TarInfo("folder/edges.txt")
    member.size = len(plain)
    archive.addfile(member, io.BytesIO(plain.encode()))

# Tables: names beyond ASCII, quotes, semicolons and carriage returns.
name = "„{}“ Zürich 東京".format
write("names.csv", "from,to,weight\n" + "".join(f'"{name(a)}","{name(b)}",{w}\n' for a, b, w in graph))
write("names.tsv", "".join(f"v{a}\tw{b}\r\n" for a, b in pairs))
write("large ids.csv", "source;target\n" + "".join(f"{a * 2**54 + 1};{b * 2**54 + 1}\n" for a, b in pairs))

# Formats of other programs.
ends = "".join(f'<edge source="n{a}" target="n{b}"><data key="w">{w}</data></edge>\n' for a, b, w in graph)
key = '<key id="w" for="edge" attr.name="weight" attr.type="double"/>'
nodes = "".join(f'<node id="n{vertex}"/>' for vertex in range(VERTICES))
head = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
write("edges.graphml", f'{head}{key}<graph edgedefault="undirected">{nodes}\n{ends}</graph></graphml>\n')
banner = "%%MatrixMarket matrix coordinate integer symmetric\n"
write("edges.mtx", lines(((b, a, w) for a, b, w in from_1), f"{banner}{VERTICES} {VERTICES} {EDGES}\n"))
write("edges.gr", lines((("a", *edge) for edge in from_1), f"c roads\np sp {VERTICES} {EDGES}\n"))
write("edges.col", lines((("e", *edge[:2]) for edge in from_1), f"p edge {VERTICES} {EDGES}\n"))
rows = ([part for other, weight in own for part in (other + 1, weight)] for own in lists)
write("edges.graph", lines(rows, f"{VERTICES} {EDGES} 001\n"))
write("edges.net", lines(from_1, f"*Vertices {VERTICES}\n*Edges\n"))
flat = [other for own in lists for other, _ in own]
weights = [weight for own in lists for _, weight in own]
write("edges.adj", "AdjacencyGraph\n" + lines([number] for number in [VERTICES, both, *offsets[:-1], *flat]))
weighted = [VERTICES, both, *offsets[:-1], *flat, *weights]
write("weights.adj", "WeightedAdjacencyGraph\n" + lines([number] for number in weighted))
write("edges.el", lines(pairs))
write("weights.wel", lines(graph))

# Binary kinds.
header = struct.pack("<?qq", False, both, VERTICES) + struct.pack(f"<{VERTICES + 1}q", *offsets)
write("edges.sg", header + struct.pack(f"<{both}i", *flat))
write("weights.wsg", header + b"".join(struct.pack("<ii", *entry) for own in lists for entry in own))
write("edges.u32", b"".join(struct.pack("<II", *pair) for pair in pairs))
write("edges.u64", b"".join(struct.pack("<QQ", *(end * 2**54 + 1 for end in pair)) for pair in pairs))

# LDBC Graphalytics.
write("ldbc.v", lines([vertex] for vertex in range(VERTICES)))
write("ldbc.e", lines((a, b, f"{w / 8}") for a, b, w in graph))
facts = {
    "vertex-file": "ldbc.v",
    "edge-file": "ldbc.e",
    "meta.vertices": VERTICES,
    "meta.edges": EDGES,
    "directed": "false",
    "edge-properties.names": "weight",
    "edge-properties.types": "real",
}
write("ldbc.properties", "".join(f"graph.ldbc.{name} = {value}\n" for name, value in facts.items()))

# The program writes Parquet and Arrow.
for table in ["weights.parquet", "weights.arrow"]:
    store = "../inputs.store"
    if not os.path.exists(store):
        subprocess.run([program, "-q", "format", "weights.wel", store], check=True)
    subprocess.run([program, "-q", "extract", store, "--all", "--output", table], check=True)
