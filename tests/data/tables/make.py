"""Writes the small files of this folder: one graph, as each of the usual programs writes it.

    pip install pyarrow polars pandas duckdb networkx
    python tests/data/tables/make.py

The graph has 300 edges between 40 people and as many weights. `edges.csv` is the oracle: the tests compare every other
file with it.
"""

import pathlib
import uuid

import duckdb
import networkx
import pandas
import polars
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

FOLDER = pathlib.Path(__file__).parent
NAMES = [f"person {n:02}" for n in range(37)] + ["", "ä ö", 'a "quote", and a comma']
# A small linear congruential generator: the same everywhere.
state = 7


def draw(below):
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    return (state >> 33) % below


EDGES = [(draw(40), draw(40), draw(1000)) for _ in range(300)]
SOURCE, DEST, WEIGHT = ([edge[at] for edge in EDGES] for at in range(3))


def table(kind):
    """The graph with ids of an Arrow type, and columns beside them."""
    if kind == "uuid":
        ids = [uuid.UUID(int=n * 0x0123456789ABCDEF0123456789 + 1).bytes for n in range(40)]
        column = lambda ends: pa.array([ids[n] for n in ends], pa.uuid())
    elif kind == "binary":
        column = lambda ends: pa.array([bytes([255, n]) for n in ends], pa.binary())
    elif isinstance(kind, pa.DataType) and pa.types.is_integer(kind):
        column = lambda ends: pa.array(ends, kind)
    else:
        column = lambda ends: pa.array([NAMES[n] for n in ends], pa.string()).cast(kind)
    nested = pa.array([{"k": n, "l": [n, n]} for n in range(len(EDGES))])
    return pa.table({
        "when": pa.array(range(len(EDGES)), pa.timestamp("ms")),
        "from": column(SOURCE),
        "nested": nested,
        "to": column(DEST),
        "weight": pa.array(WEIGHT, pa.int64()),
    })


def main():
    names = pandas.DataFrame({
        "from": [NAMES[n] for n in SOURCE], "to": [NAMES[n] for n in DEST], "weight": WEIGHT,
    })
    # An empty cell is no name in CSV.
    plain = names[(names["from"] != "") & (names["to"] != "")]
    plain.to_csv(FOLDER / "pandas.csv", index=False)
    pandas.DataFrame(EDGES, columns=["from", "to", "weight"]).to_csv(FOLDER / "edges.csv", index=False)
    strings = table(pa.string())
    for codec in ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]:
        pq.write_table(strings, FOLDER / f"pyarrow-{codec}.parquet", compression=codec, row_group_size=90)
    pq.write_table(strings, FOLDER / "pyarrow-v2-plain.parquet", data_page_version="2.0", use_dictionary=False,
                   row_group_size=64, data_page_size=256)
    pq.write_table(strings, FOLDER / "pyarrow-delta.parquet", use_dictionary=False,
                   column_encoding={"from": "DELTA_BYTE_ARRAY", "to": "DELTA_LENGTH_BYTE_ARRAY"})
    pq.write_table(strings, FOLDER / "pyarrow-checksums.parquet", compression="none", write_page_checksum=True,
                   row_group_size=90)
    pq.write_table(table(pa.dictionary(pa.int32(), pa.string())), FOLDER / "pyarrow-dictionary.parquet")
    pq.write_table(table(pa.large_string()), FOLDER / "pyarrow-large.parquet")
    pq.write_table(table("uuid"), FOLDER / "pyarrow-uuid.parquet")
    pq.write_table(table("binary"), FOLDER / "pyarrow-binary.parquet")
    for width in [pa.int8(), pa.uint16(), pa.int32(), pa.uint64()]:
        pq.write_table(table(width), FOLDER / f"pyarrow-{width}.parquet")
    feather.write_feather(strings, FOLDER / "pyarrow.feather", compression="lz4")
    feather.write_feather(table(pa.string_view()), FOLDER / "pyarrow-view.arrow", compression="zstd")
    with pa.ipc.new_stream(FOLDER / "pyarrow-stream.arrows", strings.schema) as stream:
        stream.write_table(strings, max_chunksize=100)
    names.to_parquet(FOLDER / "pandas.parquet")
    frame = polars.DataFrame(names.to_dict("list"))
    frame.write_parquet(FOLDER / "polars.parquet")
    frame.write_ipc(FOLDER / "polars.arrow")
    database = duckdb.connect()
    database.register("names", names)
    database.execute(f"COPY names TO '{FOLDER}/duckdb.parquet' (FORMAT parquet)")
    database.execute(f"COPY (SELECT 'x' || \"from\" AS \"from\", 'x' || \"to\" AS \"to\", weight FROM names)"
                     f" TO '{FOLDER}/duckdb.csv' (DELIMITER ';')")
    karate()


def karate():
    """Zachary's club with names for its members, and NetworkX's answers by name."""
    graph = networkx.karate_club_graph()
    name = lambda n: {0: "Mr Hi", 33: "John A"}.get(n, f"member {n}")
    graph = networkx.relabel_nodes(graph, {n: name(n) for n in graph})
    networkx.write_edgelist(graph, FOLDER / "networkx-karate.tsv", delimiter="\t", data=False)
    plain = networkx.Graph(graph.edges())
    ranks = networkx.pagerank(plain, tol=1e-12, max_iter=1000)
    levels = networkx.single_source_shortest_path_length(plain, "Mr Hi")
    rows = [(n, ranks[n], levels[n]) for n in plain]
    answers = pandas.DataFrame(rows, columns=["name", "rank", "level"])
    answers.to_csv(FOLDER / "networkx-karate-answers.csv", index=False)


main()
