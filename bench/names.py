"""Inputs and comparisons of bench/names.sh: `make`, or one of the other ways to number the ends of edges.

names.py make FOLDER EDGES NAMES_LOG2     ints.parquet and strings.parquet: R-MAT, Snappy, row groups of 2^20
names.py duckdb|pandas|networkx FILE      numbers the ends of a file's edges and prints the number of names
"""

import sys

ROWS = 1 << 20


def rmat(random, rows, scale):
    """Ends of R-MAT edges (0.57, 0.19, 0.19, 0.05)."""
    import numpy

    source, dest = numpy.zeros(rows, numpy.uint64), numpy.zeros(rows, numpy.uint64)
    for _ in range(scale):
        draw = random.random(rows, dtype=numpy.float32)
        source = source << numpy.uint64(1) | (draw >= 0.76).astype(numpy.uint64)
        low = (draw >= 0.57) & (draw < 0.76) | (draw >= 0.95)
        dest = dest << numpy.uint64(1) | low.astype(numpy.uint64)

    # A permutation: hubs are anywhere among the ids.
    def scatter(ids):
        return ids * numpy.uint64(0x9E3779B1) & numpy.uint64((1 << scale) - 1)

    return scatter(source), scatter(dest)


def make(folder, edges, scale):
    import numpy
    import pyarrow
    import pyarrow.compute as compute
    import pyarrow.parquet as parquet

    random = numpy.random.default_rng(1)
    # 20 bytes each.
    digits = compute.utf8_lpad(
        pyarrow.array(numpy.arange(1 << scale, dtype=numpy.int64) * 1000003).cast(pyarrow.string()), 15, "0"
    )
    names = compute.binary_join_element_wise("name-", digits, "")
    columns = ["source", "target"]
    of = {"ints": pyarrow.int64(), "strings": pyarrow.string()}
    writers = {
        name: parquet.ParquetWriter(f"{folder}/{name}.parquet", pyarrow.schema([(c, kind) for c in columns]))
        for name, kind in of.items()
    }
    for start in range(0, edges, ROWS):
        ends = [pyarrow.array(ids.astype(numpy.int64)) for ids in rmat(random, min(ROWS, edges - start), scale)]
        writers["ints"].write_table(pyarrow.table(ends, columns))
        writers["strings"].write_table(pyarrow.table([names.take(ids) for ids in ends], columns))
    for writer in writers.values():
        writer.close()


def with_duckdb(path):
    import os

    import duckdb

    folder = os.path.dirname(path)
    base = duckdb.connect(f"{folder}/duck.db")
    base.execute(f"SET memory_limit = '1GB'; SET threads = 2; SET temp_directory = '{folder}/duck.tmp'")
    base.execute("SET preserve_insertion_order = false")
    base.execute(
        f"""CREATE TABLE ids AS SELECT name, dense_rank() OVER (ORDER BY name) - 1 AS id FROM (
            SELECT source AS name FROM '{path}' UNION SELECT target FROM '{path}')"""
    )
    base.execute(
        f"""COPY (SELECT s.id AS source, t.id AS target FROM '{path}' AS e
            JOIN ids AS s ON e.source = s.name JOIN ids AS t ON e.target = t.name)
            TO '{folder}/duck.parquet' (FORMAT parquet)"""
    )
    return base.execute("SELECT count(*) FROM ids").fetchone()[0]


def with_pandas(path):
    import pandas

    edges = pandas.read_parquet(path)
    numbers, names = pandas.factorize(pandas.concat([edges["source"], edges["target"]], ignore_index=True))
    return len(names)


def with_networkx(path):
    import networkx
    import pandas

    graph = networkx.from_pandas_edgelist(pandas.read_parquet(path), create_using=networkx.DiGraph)
    return graph.number_of_nodes()


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        print(globals()[f"with_{sys.argv[1]}"](sys.argv[2]), "names")
