"""The options of commands as types of keyword arguments.

Written by ``python -m topostream._generate``.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Literal, TypedDict

Without = Literal[
    "host-import",
    "transfer-queue",
    "float-atomics",
    "wide-integers",
    "subgroups",
    "device-loop",
    "whole-copies",
    "pipeline-cache",
]


class SessionOptions(TypedDict, total=False):
    """Options of sessions.

    memory: main memory of a run, as a hard limit [default: half of the available memory of the machine or
        container].
    threads: worker threads [default: one for each core].
    device: devices: auto (a GPU if there is one), cpu, gpu, all (every GPU), or an adapter by number or name
        (see ``topostream devices``); may be repeated or separated by commas, and several share the run.
    device_memory: GPU memory of a run, as a hard limit [default: nine tenths of the adapter's memory].
    buffer: page buffer size, within ``memory`` [default: memory that the algorithm does not need, at most the
        whole graph].
    fetcher: how pages are read: ``"auto"``: io_uring if the system allows it, otherwise threads; ``"uring"``:
        io_uring, or an error; ``"threads"``: blocking reads on threads: works everywhere.
    whole_pages: read whole pages, also where reading parts of them is predicted to be faster.
    all_pages: visit every page in every superstep, also those without an active vertex: a baseline for
        measurements.
    strategy: how several devices share a run: replicate (performance), shard (scalability), auto.
    assignment: which pages go to which device: modulo, contiguous, auto.
    shares: the share of the work of each device, such as 2,1 for one that is twice as fast; of several ranks,
        for the devices of all ranks in order [default: by measured rates, or equal].
    device_cache: page cache size, within ``device_memory``; 0 for none [default: memory that the algorithm does
        not need, at most the whole graph].
    distribution: how the work of a batch is distributed over threads: auto, vertex, warp:2 to warp:32, hybrid,
        segments.
    batch_pages: maximum number of pages in one launch.
    launches: maximum number of launches in flight: one runs, the others wait.
    cache_policy: which pages the page cache keeps in traversals: ``"fixed"``: the first ones; the GPU reads the
        others in place; ``"lru"``: the most recently used ones: every page that is visited is copied.
    transfer: how pages that are not in its cache reach the GPU: ``"auto"``: in place where that is faster by
        measurements, else by copies; ``"in-place"``: kernels read pages directly in main memory; ``"copy"``:
        pages are copied to GPU memory first.
    without: disable a fast path; one or several: results are the same: ``"host-import"``: reading main memory;
        instead, pages are copied to staging buffers; ``"transfer-queue"``: a separate queue for copies;
        instead, copies use the queue of the kernels; ``"float-atomics"``: native atomic addition of floats;
        instead, a compare-exchange loop; ``"wide-integers"``: 64-bit integers; instead, two words with a carry;
        ``"subgroups"``: sums over subgroups; instead, over workgroup memory; ``"device-loop"``: supersteps that
        the GPU runs by itself; instead, the host starts each of them; ``"whole-copies"``: with strategy shard,
        values of all vertices that fit in device memory; instead, only those that the GPU's edges read, if the
        store has mirrors; ``"pipeline-cache"``: compiled kernels in the user's cache folder; instead, every
        process compiles them.
    """

    memory: int | str
    threads: int
    device: str | int | Sequence[str | int]
    device_memory: int | str
    buffer: int | str
    fetcher: Literal["auto", "uring", "threads"]
    whole_pages: bool
    all_pages: bool
    strategy: str
    assignment: str
    shares: float | Sequence[float]
    device_cache: int | str
    distribution: str
    batch_pages: int
    launches: int
    cache_policy: Literal["fixed", "lru"]
    transfer: Literal["auto", "in-place", "copy"]
    without: Without | Sequence[Without]


class StoreOptions(TypedDict, total=False):
    """Options of every function that makes a store.

    memory: main memory for making the store, as a hard limit [default: half of the available memory of the
        machine or container].
    page_size: the size of a page: a power of two from 64KiB to 64MiB [default: 1MiB].
    encoding: encoding of neighbours: ``"vertex-id"``: 32-bit vertex ids; ``"packed"``: compressed: bit-packed
        gaps, about half the bytes.
    in_edges: store in-lists too: pull PageRank and bottom-up BFS read them.
    symmetrize: add the reverse of every edge; the graph becomes undirected.
    remove_duplicates: keep one of several edges with the same ends (the one with the smallest weight).
    repeated: merge edges with the same ends into one, with the sum, smallest, largest or first of their
        weights. With ``symmetrize``, both directions are merged: ``"sum"``: the sum of all weights; one that
        the type of the weights does not hold is an error; ``"min"``: the smallest; ``"max"``: the largest;
        ``"first"``: the weight of the first edge in the input; for weights of 32 bits only.
    remove_self_loops: drop edges from a vertex to itself.
    order: how the store numbers vertices; results always have original ids: ``"auto"``: by degree-groups if a
        sample of lists shows that it makes a packed store smaller, otherwise natural; also chooses how dense
        lists and lists of close neighbours are packed; ``"natural"``: by original id; ``"degree"``: by
        descending degree; ``"degree-groups"``: by descending power of two of the degree, by original id within
        each: small packed stores; ``"bfs"``: breadth-first from the vertex of highest degree: for road networks
        and meshes; needs the neighbours of all vertices in memory, 8 bytes an edge and 32 a vertex;
        ``"out-first"``: vertices with out-edges first.
    order_file: number vertices in the order of a file: original ids, one a line, or raw little-endian ids
        (.u32, .u64). Vertices that it does not list follow, by original id.
    shards: group out-lists by destination range, one partition per device: 1 to 256.
    balance: with ``shards``: quantity to balance: ``"both"``: vertices and edges: no shard has much more than
        twice its share of either; ``"edges"``: edges into them; ``"vertices"``: vertices; ``"bytes"``: bytes of
        edges on disk, as estimated.
    shard_weights: with ``shards``: a weight for each, where machines or devices differ, such as 1,1,2 [default:
        equal].
    mirrors: note for each vertex which of 32 ranges its edges lead to, in 4 bytes: devices and machines that
        share a run then send each other only the values that they read.
    ids: which ids become vertices: auto, keep (0 to the largest), compact (only those that occur), or a number
        (all below it).
    stripe: another directory to stripe pages over, best on another SSD; one or several.
    temporary: where temporary files go [default: the store's own directory].
    overwrite: replace the store that is there, once the new one is complete; a folder with other files is still
        refused.
    """

    memory: int | str
    page_size: int | str
    encoding: Literal["vertex-id", "packed"]
    in_edges: bool
    symmetrize: bool
    remove_duplicates: bool
    repeated: Literal["sum", "min", "max", "first"]
    remove_self_loops: bool
    order: Literal["auto", "natural", "degree", "degree-groups", "bfs", "out-first"]
    order_file: str | PathLike[str]
    shards: int
    balance: Literal["both", "edges", "vertices", "bytes"]
    shard_weights: float | Sequence[float]
    mirrors: bool
    ids: str | int
    stripe: str | PathLike[str] | Sequence[str | PathLike[str]]
    temporary: str | PathLike[str]
    overwrite: bool


class FormatOptions(StoreOptions, total=False):
    """Options of the input.

    kind: the input's format [default: recognised by name and content].
    weight_type: the type of the weights: auto (u32 or f32, by the input), u32, f32, u64, f64 (64 bits, exact),
        or ignore.
    source: the column of sources [default: by the names of the columns, such as source, from_id or person1; of
        two columns the first].
    dest: the column of destinations [default: by the names of the columns, such as target, to_id or person2; of
        two columns the second].
    weight: the column of weights, or the attribute in braces [default: weight or w; without a header the third
        of three].
    columns: source, destination and weight by their numbers from 1, such as 2,5 or 2,5,7.
    separator: the separator of columns: one or more characters, tab or space [default: recognised].
    quotes: whether double quotes enclose cells: double (line breaks within are allowed), or none (quotes are
        characters) [default: recognised].
    comment: the character that begins comments, or none [default: # and %, unless such lines look like rows].
    header: the first row is the names of the columns [default: recognised].
    no_header: the first row is an edge.
    names: ids are names, even if all of them are integers.
    vertices: a table of all vertices, its first column the ids: vertices without edges, and for names the
        order. Edges may then join only these.
    where: read only table rows that meet a condition, such as "year >= 2020": a column, one of = != < <= > >=,
        and a number, a time (2020-01-31T12:00) or 'text'. May be repeated: rows must meet all conditions.
    bipartite: keep the ids of the two columns apart: each gets the name of its column before it, as in
        ``user:7``.
    directed: read the edges as they are listed, each in its direction, even if the input says that the graph is
        undirected.
    """

    kind: str
    weight_type: str
    source: str
    dest: str
    weight: str
    columns: str
    separator: str
    quotes: str
    comment: str
    header: bool
    no_header: bool
    names: bool
    vertices: str | PathLike[str]
    where: str | Sequence[str]
    bipartite: bool
    directed: bool


class ComponentsOptions(TypedDict, total=False):
    """Options of components of edges.

    memory: main memory, as a hard limit [default: half of the available memory of the machine or container].
    temporary: where temporary files go [default: the output's folder, or the system's].
    kind: the input's format [default: recognised by name and content].
    weight_type: the type of the weights: auto (u32 or f32, by the input), u32, f32, u64, f64 (64 bits, exact),
        or ignore.
    source: the column of sources [default: by the names of the columns, such as source, from_id or person1; of
        two columns the first].
    dest: the column of destinations [default: by the names of the columns, such as target, to_id or person2; of
        two columns the second].
    weight: the column of weights, or the attribute in braces [default: weight or w; without a header the third
        of three].
    columns: source, destination and weight by their numbers from 1, such as 2,5 or 2,5,7.
    separator: the separator of columns: one or more characters, tab or space [default: recognised].
    quotes: whether double quotes enclose cells: double (line breaks within are allowed), or none (quotes are
        characters) [default: recognised].
    comment: the character that begins comments, or none [default: # and %, unless such lines look like rows].
    header: the first row is the names of the columns [default: recognised].
    no_header: the first row is an edge.
    names: ids are names, even if all of them are integers.
    vertices: a table of all vertices, its first column the ids: vertices without edges, and for names the
        order. Edges may then join only these.
    where: read only table rows that meet a condition, such as "year >= 2020": a column, one of = != < <= > >=,
        and a number, a time (2020-01-31T12:00) or 'text'. May be repeated: rows must meet all conditions.
    bipartite: keep the ids of the two columns apart: each gets the name of its column before it, as in
        ``user:7``.
    directed: read the edges as they are listed, each in its direction, even if the input says that the graph is
        undirected.
    """

    memory: int | str
    temporary: str | PathLike[str]
    kind: str
    weight_type: str
    source: str
    dest: str
    weight: str
    columns: str
    separator: str
    quotes: str
    comment: str
    header: bool
    no_header: bool
    names: bool
    vertices: str | PathLike[str]
    where: str | Sequence[str]
    bipartite: bool
    directed: bool


class RmatOptions(StoreOptions, total=False):
    """Options of R-MAT graphs.

    vertices: number of vertices, instead of a power of two.
    edge_factor: edges per vertex.
    edges: number of edges, instead of so many per vertex.
    like: probabilities of the quadrants of the adjacency matrix, as a program has them by default:
        ``"graph500"``: 0.57, 0.19, 0.19; ``"parmat"``: 0.45, 0.22, 0.22; ``"gtgraph"``: 0.45, 0.15, 0.15;
        ``"ligra"``: 0.5, 0.1, 0.1.
    a: probability that an edge falls in the upper left quadrant [default: as ``like`` has it].
    b: probability of the upper right quadrant [default: as ``like`` has it].
    c: probability of the lower left quadrant; the lower right one has the rest [default: as ``like`` has it].
    no_scramble: do not permute ids: vertices of high degree come first.
    seed: random seed.
    random_weights: give edges random weights, such as u32:1:255 or f32:0:1.
    """

    vertices: int
    edge_factor: int
    edges: int
    like: Literal["graph500", "parmat", "gtgraph", "ligra"]
    a: float
    b: float
    c: float
    no_scramble: bool
    seed: int
    random_weights: str


class UniformOptions(StoreOptions, total=False):
    """Options of uniform graphs.

    seed: random seed.
    random_weights: give edges random weights, such as u32:1:255 or f32:0:1.
    """

    seed: int
    random_weights: str


class GridOptions(StoreOptions, total=False):
    """Options of grids.

    diagonals: probability that a cell has a diagonal.
    seed: random seed.
    random_weights: give edges random weights, such as u32:1:255 or f32:0:1.
    """

    diagonals: float
    seed: int
    random_weights: str


class ExtractOptions(StoreOptions, total=False):
    """Options of parts of graphs.

    device: with ``ego``: the devices that find the vertices, as for ``topostream run``; one or several.
    """

    device: str | int | Sequence[str | int]


class ReformatOptions(StoreOptions, total=False):
    """Options of copies.

    drop_weights: leave out the weights.
    weight_type: convert the weights: u32, f32, u64 or f64. Integers that do not fit are refused, what f32
        rounds is counted.
    """

    drop_weights: bool
    weight_type: str
