"""Uses an installed wheel: the first thing that a new environment can do."""

import sys

import topostream as ts

graph = ts.from_edges(([30, 30, 3352, 1412], [1412, 3352, 1412, 30]))
with graph.session(memory="256MiB", device="cpu") as session:
    best, rank = session.pagerank(iterations=10).top(1)[0]
assert best == 1412 and abs(rank - 0.397) < 1e-3, (best, rank)
print(f"topostream {ts.__version__} works in Python {sys.version.split()[0]}")
