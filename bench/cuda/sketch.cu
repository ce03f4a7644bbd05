// AsynGraph's sketch on one GPU (Y. Zhang et al., "AsynGraph: Maximizing Data
// Parallelism for Efficient Iterative Graph Processing on GPUs", ACM TACO 2020): the ways of `topostream-bench sketch`.
//
//     nvcc -O3 -std=c++17 -arch=native -Xcompiler -pthread -o sketch bench/cuda/sketch.cu
//     sketch --rmat SCALE | --powerlaw VERTICES --alpha A | --grid SIDE | --list FILE    [--symmetric] [--by-degree]
//            [--main-memory] [--only sssp,components,pagerank,adsorption] [--hubs 0.025,...] [--times 1,4,...]
//            [--runs N] [--tolerance T] [--name NAME]
//
// Ways: `rounds` passes on the values of the round before, `now` those that are current when a list is visited.
// `sketch` visits paths between hubs several times a round, forwards and backwards, while the lists of all other edges
// are visited once, by a stream of its own; `changed` visits only edges of paths that have a new value to pass on.
//
// Everything is in device memory. With --main-memory, the edges of lists are in main memory and read over the bus each
// time; the paths of a sketch are in device memory, and `kept` is `now` with as many edges of the first lists there.
//
// Every list, and every edge of a path in each direction, keeps the value that it has passed on last. A vertex whose
// value differs is due: nothing is lost between reading a value and passing it on, and no clock is needed.
//
// Every figure is in a line of JSON. Counters are those of a run of its own; times are medians of runs without them,
// from the clearing of arrays to the last round, the ways in turns. Answers are checked on the host: distances by
// Dijkstra's algorithm, components by union-find, sums by their residual. A wrong answer ends the program.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <cuda_runtime.h>

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void fail(const std::string& what) {
    fprintf(stderr, "error: %s\n", what.c_str());
    exit(1);
}

const u32 UNREACHED = 0xffffffffu;
// The longest path.
const u32 PATH_EDGES_MAX = 16;
// The edges of a part of a list, which a warp visits; parts of at most SHORT_MAX edges get fewer lanes.
const u32 PART_EDGES = 1024;
const u32 SHORT_MAX = 64;
// Lanes for a short and a long part. Where threads run one after another, for a test on a CPU, both are 1.
#ifndef SHORT_LANES
#define SHORT_LANES 8
#define LONG_LANES 32
#endif
const int BLOCK = 256;
// The most times a round that paths are visited.
const int TIMES_MAX = 64;
// After so long no further runs of a work are timed.
const double TIMED_MS_MAX = 40e3;
// PageRank's probability of following an edge.
const double DAMPING = 0.85;
// Adsorption's probability of taking the label at a seed, and of going on; one of SEED_OF vertices is a seed.
const double INJECT = 0.25, KEPT = 0.70;
const u32 SEED_OF = 100;
// Spreads vertices over all labels; odd, so that no label occurs twice.
const u32 SCATTER = 0x9e3779b1u;

static double now_ms() {
    auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(since).count();
}

// ---- Graphs on the host ----

struct Edge {
    u32 source, dest, weight;
};

// Lists without loops, sorted by dest, with a weight for each edge.
struct Graph {
    std::string name;
    bool symmetric = false;
    std::vector<u64> offsets = {0};
    std::vector<u32> dests, weights;
    u32 vertices() const { return (u32)(offsets.size() - 1); }
    u64 edges() const { return dests.size(); }
    u32 degree(u32 vertex) const { return (u32)(offsets[vertex + 1] - offsets[vertex]); }
};

// Calls `body` with ranges of 0..count, by all cores.
template <typename Body> static void in_parallel(u64 count, Body body) {
    const u64 part = 4096;
    std::atomic<u64> next(0);
    auto work = [&] {
        for (u64 begin; (begin = next.fetch_add(part)) < count;) body(begin, std::min(begin + part, count));
    };
    std::vector<std::thread> threads;
    for (u32 more = 1; more < std::max(1u, std::thread::hardware_concurrency()); more++) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
}

static u64 hash(u64 word) {
    word += 0x9e3779b97f4a7c15ull;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ word >> 27) * 0x94d049bb133111ebull;
    return word ^ word >> 31;
}

// From 1 to 255, equal for both directions of an edge.
static u32 weight_of(u32 source, u32 dest) {
    return 1 + (u32)(hash((u64)std::min(source, dest) << 32 | std::max(source, dest)) % 255);
}

// Sorts edges into lists. Loops are left out; of repeated edges one with the least weight is kept.
static Graph build(const std::vector<Edge>& edges, u32 vertices, bool symmetric) {
    std::vector<std::atomic<u64>> next(vertices);
    in_parallel(vertices, [&](u64 begin, u64 end) {
        for (u64 vertex = begin; vertex < end; vertex++) next[vertex].store(0);
    });
    in_parallel(edges.size(), [&](u64 begin, u64 end) {
        for (u64 at = begin; at < end; at++) {
            if (edges[at].source == edges[at].dest) continue;
            next[edges[at].source].fetch_add(1, std::memory_order_relaxed);
            if (symmetric) next[edges[at].dest].fetch_add(1, std::memory_order_relaxed);
        }
    });
    std::vector<u64> begins(1, 0), counts(vertices);
    for (u32 vertex = 0; vertex < vertices; vertex++) {
        begins.push_back(begins.back() + next[vertex].load());
        next[vertex].store(begins[vertex]);
    }
    // The dest in the high half, the weight in the low half.
    std::unique_ptr<u64[]> words(new u64[begins.back() + 1]);
    in_parallel(edges.size(), [&](u64 begin, u64 end) {
        for (u64 at = begin; at < end; at++) {
            Edge edge = edges[at];
            if (edge.source == edge.dest) continue;
            words[next[edge.source].fetch_add(1, std::memory_order_relaxed)] = (u64)edge.dest << 32 | edge.weight;
            if (!symmetric) continue;
            words[next[edge.dest].fetch_add(1, std::memory_order_relaxed)] = (u64)edge.source << 32 | edge.weight;
        }
    });
    in_parallel(vertices, [&](u64 begin, u64 end) {
        for (u64 vertex = begin; vertex < end; vertex++) {
            u64 *first = words.get() + begins[vertex], *last = words.get() + begins[vertex + 1];
            std::sort(first, last);
            counts[vertex] = std::unique(first, last, [](u64 a, u64 b) { return a >> 32 == b >> 32; }) - first;
        }
    });
    Graph graph;
    graph.symmetric = symmetric;
    for (u32 vertex = 0; vertex < vertices; vertex++) graph.offsets.push_back(graph.offsets.back() + counts[vertex]);
    graph.dests.resize(graph.offsets.back());
    graph.weights.resize(graph.offsets.back());
    in_parallel(vertices, [&](u64 begin, u64 end) {
        for (u64 vertex = begin; vertex < end; vertex++) {
            for (u64 at = 0; at < counts[vertex]; at++) {
                u64 word = words[begins[vertex] + at];
                graph.dests[graph.offsets[vertex] + at] = (u32)(word >> 32);
                graph.weights[graph.offsets[vertex] + at] = (u32)word;
            }
        }
    });
    return graph;
}

// A permutation of the numbers of `bits` bits.
static u32 permuted(u32 id, u32 bits) {
    u32 mask = (u32)((1ull << bits) - 1), shift = std::max(1u, (bits + 1) / 2);
    for (u32 round = 1; round <= 3; round++) {
        id = (id * SCATTER + (u32)hash(round)) & mask;
        id ^= id >> shift;
    }
    return id;
}

static Graph rmat(u32 scale, bool symmetric) {
    // Quadrants of 0.57, 0.19, 0.19 and 0.05.
    const u32 a = (u32)(0.57 * 4294967296.0), ab = (u32)(0.76 * 4294967296.0), abc = (u32)(0.95 * 4294967296.0);
    std::vector<Edge> edges(16ull << scale);
    in_parallel(edges.size(), [&](u64 begin, u64 end) {
        for (u64 at = begin; at < end; at++) {
            u32 source = 0, dest = 0;
            u64 draw = 0;
            for (u32 level = 0; level < scale; level++) {
                draw = level % 2 == 0 ? hash(at << 5 | level) : draw >> 32;
                u32 quadrant = (u32)draw;
                source = source << 1 | (quadrant >= ab);
                dest = dest << 1 | ((quadrant >= a && quadrant < ab) || quadrant >= abc);
            }
            source = permuted(source, scale);
            dest = permuted(dest, scale);
            edges[at] = Edge{source, dest, weight_of(source, dest)};
        }
    });
    return build(edges, 1u << scale, symmetric);
}

// Out-degrees by a zeta distribution up to 100,000, dests from all vertices.
static Graph power_law(u32 vertices, double alpha, bool symmetric) {
    std::vector<double> chances(100000);
    double sum = 0;
    for (u64 degree = 1; degree <= chances.size(); degree++) chances[degree - 1] = sum += std::pow(degree, -alpha);
    std::vector<u64> begins(vertices + 1ull, 0);
    in_parallel(vertices, [&](u64 begin, u64 end) {
        for (u64 vertex = begin; vertex < end; vertex++) {
            double draw = sum * ((hash(~vertex) >> 11) * 0x1p-53);
            u64 below = std::upper_bound(chances.begin(), chances.end(), draw) - chances.begin();
            begins[vertex + 1] = std::min<u64>(below + 1, chances.size());
        }
    });
    for (u32 vertex = 0; vertex < vertices; vertex++) begins[vertex + 1] += begins[vertex];
    std::vector<Edge> edges(begins[vertices]);
    in_parallel(vertices, [&](u64 begin, u64 end) {
        for (u64 vertex = begin; vertex < end; vertex++) {
            for (u64 at = begins[vertex]; at < begins[vertex + 1]; at++) {
                u32 dest = (u32)((hash(at) >> 32) * vertices >> 32);
                edges[at] = Edge{(u32)vertex, dest, weight_of((u32)vertex, dest)};
            }
        }
    });
    return build(edges, vertices, symmetric);
}

static Graph grid(u32 side) {
    std::vector<Edge> edges;
    for (u32 row = 0; row < side; row++) {
        for (u32 column = 0; column < side; column++) {
            u32 at = row * side + column;
            if (column + 1 < side) edges.push_back(Edge{at, at + 1, weight_of(at, at + 1)});
            if (row + 1 < side) edges.push_back(Edge{at, at + side, weight_of(at, at + side)});
        }
    }
    return build(edges, side * side, true);
}

// Lines of two ids and possibly a weight; # and % begin comments. The size line of Matrix Market is skipped.
static Graph read_list(const char* path, bool symmetric) {
    FILE* file = fopen(path, "r");
    if (!file) fail(std::string("cannot open ") + path);
    std::vector<Edge> edges;
    char line[512];
    u64 largest = 0, number = 0;
    bool sizes = false;
    while (fgets(line, sizeof line, file)) {
        if (number++ == 0) sizes = strncmp(line, "%%MatrixMarket", 14) == 0;
        char *at = line + strspn(line, " \t\r\n"), *end = nullptr;
        if (*at == 0 || *at == '#' || *at == '%') continue;
        if (sizes) {
            sizes = false;
            continue;
        }
        u64 values[3] = {};
        int found = 0;
        for (; found < 3; found++, at = end) {
            values[found] = strtoull(at, &end, 10);
            if (end == at) break;
        }
        at += strspn(at, " \t\r\n");
        bool is_edge = found >= 2 && std::max(values[0], values[1]) < UNREACHED;
        bool weighs = found < 3 || (values[2] >= 1 && values[2] < 1u << 24);
        if (*at != 0 || !is_edge || !weighs) fail(std::string(path) + ": not an edge: " + line);
        u32 source = (u32)values[0], dest = (u32)values[1];
        largest = std::max(largest, std::max(values[0], values[1]));
        edges.push_back(Edge{source, dest, found == 3 ? (u32)values[2] : weight_of(source, dest)});
    }
    fclose(file);
    return build(edges, (u32)largest + 1, symmetric);
}

// The same graph with vertices in descending order of degree.
static Graph by_degree(const Graph& graph) {
    std::vector<u32> order(graph.vertices()), rank(graph.vertices());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return graph.degree(a) > graph.degree(b); });
    for (u32 at = 0; at < graph.vertices(); at++) rank[order[at]] = at;
    std::vector<Edge> edges(graph.edges());
    in_parallel(graph.vertices(), [&](u64 begin, u64 end) {
        for (u64 vertex = begin; vertex < end; vertex++) {
            for (u64 edge = graph.offsets[vertex]; edge < graph.offsets[vertex + 1]; edge++) {
                edges[edge] = Edge{rank[vertex], rank[graph.dests[edge]], graph.weights[edge]};
            }
        }
    });
    Graph sorted = build(edges, graph.vertices(), false);
    sorted.symmetric = graph.symmetric;
    return sorted;
}

// ---- Sketches: paths between hubs, each edge on at most one ----

struct Sketch {
    double hubs, ms;
    // The first edge of each path; its vertices are one more.
    std::vector<u64> offsets = {0};
    std::vector<u32> vertices, weights;
    // All other edges.
    Graph cold;
    u64 paths() const { return offsets.size() - 1; }
    u64 edges() const { return weights.size() * (cold.symmetric ? 2 : 1); }
    double share() const { return (double)edges() / std::max<u64>(1, edges() + cold.edges()); }
    double path_edges() const { return (double)weights.size() / std::max<u64>(1, paths()); }
};

// A walk takes the first unused edge to a vertex that is not on it, until it reaches a hub. Edges of walks that do not
// reach one are not tried again.
struct Walks {
    enum Use : u8 { UNUSED, COLD, SKETCHED };
    const Graph& graph;
    std::vector<u32> twins;
    std::vector<u8> is_hub, uses;
    std::vector<u64> next, edges;
    std::vector<u32> path;

    explicit Walks(const Graph& graph)
        : graph(graph), is_hub(graph.vertices(), 0), uses(graph.edges(), UNUSED),
          next(graph.offsets.begin(), graph.offsets.end()) {
        if (!graph.symmetric) return;
        // The edges into a vertex come in the order of its list.
        twins.resize(graph.edges());
        for (u64 edge = 0; edge < graph.edges(); edge++) twins[edge] = (u32)next[graph.dests[edge]]++;
        next = graph.offsets;
    }

    void set(u64 edge, Use use) {
        uses[edge] = use;
        if (!twins.empty()) uses[twins[edge]] = use;
    }

    // The first unused edge of a vertex to one that is not on the path; UINT64_MAX if there is none.
    u64 unused(u32 vertex) {
        u64 end = graph.offsets[vertex + 1], &first = next[vertex];
        while (first < end && uses[first] != UNUSED) first++;
        for (u64 edge = first; edge < end; edge++) {
            if (uses[edge] != UNUSED) continue;
            if (std::find(path.begin(), path.end(), graph.dests[edge]) == path.end()) return edge;
        }
        return UINT64_MAX;
    }

    // Walks from a hub: `path` and `edges`, which is empty if no edge is left. Returns whether it reaches a hub.
    bool walk(u32 hub) {
        path.assign(1, hub);
        edges.clear();
        while (edges.size() < PATH_EDGES_MAX) {
            u64 edge = unused(path.back());
            if (edge == UINT64_MAX) break;
            set(edge, COLD);
            edges.push_back(edge);
            path.push_back(graph.dests[edge]);
            if (is_hub[path.back()]) return true;
        }
        return false;
    }
};

static Sketch find_sketch(const Graph& graph, double share) {
    double begin = now_ms();
    Sketch sketch;
    Walks walks(graph);
    std::vector<u32> hubs(graph.vertices());
    std::iota(hubs.begin(), hubs.end(), 0u);
    std::stable_sort(hubs.begin(), hubs.end(), [&](u32 a, u32 b) { return graph.degree(a) > graph.degree(b); });
    hubs.resize(std::max<u64>(1, (u64)(share * graph.vertices())));
    for (u32 hub : hubs) walks.is_hub[hub] = 1;
    for (u32 hub : hubs) {
        for (;;) {
            bool reached = walks.walk(hub);
            if (walks.edges.empty()) break;
            if (!reached) continue;
            for (u64 edge : walks.edges) {
                walks.set(edge, Walks::SKETCHED);
                sketch.weights.push_back(graph.weights[edge]);
            }
            sketch.vertices.insert(sketch.vertices.end(), walks.path.begin(), walks.path.end());
            sketch.offsets.push_back(sketch.weights.size());
        }
    }
    sketch.cold.symmetric = graph.symmetric;
    for (u32 vertex = 0; vertex < graph.vertices(); vertex++) {
        for (u64 edge = graph.offsets[vertex]; edge < graph.offsets[vertex + 1]; edge++) {
            if (walks.uses[edge] == Walks::SKETCHED) continue;
            sketch.cold.dests.push_back(graph.dests[edge]);
            sketch.cold.weights.push_back(graph.weights[edge]);
        }
        sketch.cold.offsets.push_back(sketch.cold.dests.size());
    }
    sketch.hubs = share;
    sketch.ms = now_ms() - begin;
    return sketch;
}

// ---- Device memory ----

static int multiprocessors = 1;

template <typename T> static T* device_array(u64 count) {
    T* array = nullptr;
    CHECK(cudaMalloc((void**)&array, std::max<u64>(count, 1) * sizeof(T)));
    return array;
}

template <typename T> static T* device_copy(const std::vector<T>& values) {
    T* array = device_array<T>(values.size());
    CHECK(cudaMemcpy(array, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return array;
}

// A copy in main memory, which kernels read over the bus.
template <typename T> static T* host_copy(const std::vector<T>& values) {
    T* array = nullptr;
    CHECK(cudaMallocHost((void**)&array, std::max<u64>(values.size(), 1) * sizeof(T)));
    std::copy(values.begin(), values.end(), array);
    return array;
}

// Edges of lists, by their number.
struct Ends {
    u32 *dests, *weights;
};

// Lists in parts of at most PART_EDGES edges. Part p has the edges from begins[p] to begins[p + 1].
struct Lists {
    u32* part_vertices;
    u32* begins;
    // Those of parts that begin below `kept`, and the others.
    Ends near, far;
    u32 kept;
    u64 parts;
};

// Paths by length, in groups of 32, one for each thread of a warp: position `at` of path p is at
// bases[p / 32] + 32 at + p % 32. The weight of an edge is where its first vertex is.
struct Paths {
    u64* bases;
    u8* lengths;
    u32 *vertices, *weights;
    u64 count, positions;
    bool both_ways;
};

// The parts that begin below `kept` have their edges in device memory, the others in main memory.
static Lists device_lists(const Graph& graph, u64 kept = UNREACHED) {
    std::vector<u32> part_vertices, begins;
    for (u32 vertex = 0; vertex < graph.vertices(); vertex++) {
        for (u64 begin = graph.offsets[vertex]; begin < graph.offsets[vertex + 1]; begin += PART_EDGES) {
            part_vertices.push_back(vertex);
            begins.push_back((u32)begin);
        }
    }
    begins.push_back((u32)graph.edges());
    Ends near{}, far{};
    if (kept > 0) near = Ends{device_copy(graph.dests), device_copy(graph.weights)};
    if (kept < graph.edges()) far = Ends{host_copy(graph.dests), host_copy(graph.weights)};
    return Lists{device_copy(part_vertices), device_copy(begins), near, far, (u32)kept, part_vertices.size()};
}

static Paths device_paths(const Sketch& sketch) {
    u64 count = sketch.paths(), groups = (count + 31) / 32, positions = 0;
    auto length = [&](u64 path) { return (u32)(sketch.offsets[path + 1] - sketch.offsets[path]); };
    // Counting sort; paths of a length stay in order.
    std::vector<u64> next(PATH_EDGES_MAX + 2, 0), order(count), bases(groups);
    for (u64 path = 0; path < count; path++) next[length(path) + 1]++;
    for (u32 edges = 1; edges < next.size(); edges++) next[edges] += next[edges - 1];
    for (u64 path = 0; path < count; path++) order[next[length(path)]++] = path;
    for (u64 group = 0; group < groups; group++) {
        bases[group] = positions;
        positions += 32ull * (length(order[std::min(32 * group + 31, count - 1)]) + 1);
    }
    std::vector<u8> lengths(count);
    std::vector<u32> vertices(positions, 0), weights(positions, 0);
    for (u64 at = 0; at < count; at++) {
        u64 path = order[at], first = sketch.offsets[path];
        lengths[at] = (u8)length(path);
        for (u32 edge = 0; edge <= lengths[at]; edge++) {
            u64 place = bases[at / 32] + 32ull * edge + at % 32;
            vertices[place] = sketch.vertices[first + path + edge];
            if (edge < lengths[at]) weights[place] = sketch.weights[first + edge];
        }
    }
    return Paths{device_copy(bases),   device_copy(lengths), device_copy(vertices),
                 device_copy(weights), count,                positions,
                 sketch.cold.symmetric};
}

// ---- Rules ----

// Reads past the cache of the multiprocessor, which does not see what others write.
template <typename T> __device__ T current(const T* at) {
    return *(const volatile T*)at;
}

struct Distance {
    static constexpr bool WEIGHTED = true;
    static __device__ u32 offered(u32 value, u32 weight) {
        return value > UNREACHED - weight ? UNREACHED : value + weight;
    }
};

struct Label {
    static constexpr bool WEIGHTED = false;
    static __device__ u32 offered(u32 value, u32) { return value; }
};

// Values that only fall: the least offer wins.
template <typename Of> struct Monotone {
    typedef u32 Value;
    static constexpr bool WEIGHTED = Of::WEIGHTED, MONOTONE = true;
    // Fills `seen` before anything has been passed on.
    static constexpr int UNSEEN = 0xff;
    u32* values;

    __device__ bool is_due(u32 value, u32 seen) const { return value < seen; }
    __device__ u32 taken(u32 value, u32, u32) const { return value; }
    // Passes on what a vertex has to give; sets `after` to the dest's value, and returns whether it has changed.
    __device__ bool pass(u32 taken, u32 weight, u32 dest, u32& after) const {
        u32 offered = Of::offered(taken, weight), before = current(values + dest);
        if (offered < before) before = atomicMin(values + dest, offered);
        after = min(before, offered);
        return offered < before;
    }
};

// Values that are sums, `x = base + A x`: edge (u, v) passes on from[u] to[v] times its weight, or, without weights,
// from[u]. A list or an edge of a path may keep back `least`.
template <bool WEIGHS> struct Residual {
    typedef double Value;
    static constexpr bool WEIGHTED = WEIGHS, MONOTONE = false;
    static constexpr int UNSEEN = 0;
    double* values;
    const double *from, *to;
    double least;

    __device__ bool is_due(double value, double seen) const { return value - seen > least; }
    __device__ double taken(double value, double seen, u32 vertex) const { return (value - seen) * from[vertex]; }
    __device__ bool pass(double taken, u32 weight, u32 dest, double& after) const {
        double amount = WEIGHS ? taken * weight * to[dest] : taken;
        after = amount > 0 ? atomicAdd(values + dest, amount) + amount : current(values + dest);
        return amount > 0;
    }
};

// ---- Kernels ----

struct Counts {
    u64 updates, visits, backwards;
};

// What a round has done: the parts of lists by length, and whether each pass over the paths visited one.
struct Status {
    u32 parts[2];
    u32 visited[TIMES_MAX];
};

// A thread's counters, only in runs that count.
template <bool COUNTED> struct Tally {
    u64 updates = 0, visits = 0, backwards = 0;
    __device__ void add(bool updated, bool backward) {
        if (!COUNTED) return;
        updates += updated;
        visits += 1;
        backwards += backward;
    }
    __device__ void finish(Counts* counts) const {
        if (!COUNTED || visits == 0) return;
        atomicAdd(&counts->updates, updates);
        atomicAdd(&counts->visits, visits);
        atomicAdd(&counts->backwards, backwards);
    }
};

// Counts up by one for each thread; one atomic for threads of a warp with the same counter.
__device__ u32 next_place(u32* counter) {
    u32 peers = __match_any_sync(__activemask(), (u64)counter);
    u32 lane = threadIdx.x % 32, leader = __ffs(peers) - 1, place = 0;
    if (lane == leader) place = atomicAdd(counter, (u32)__popc(peers));
    place = __shfl_sync(peers, place, leader);
    return place + __popc(peers & ((1u << lane) - 1));
}

// Parts of lists to visit, short and long ones, with what they pass on if that is the values of the round before.
template <typename V> struct Queue {
    u32* parts[2];
    V* taken[2];
};

// Collects the parts whose vertices are due.
template <typename R, bool SNAPSHOT>
__global__ void collect(R rule, Lists lists, typename R::Value* seen, Queue<typename R::Value> queue, Status* status) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 part = (u64)blockIdx.x * blockDim.x + threadIdx.x; part < lists.parts; part += step) {
        u32 vertex = lists.part_vertices[part];
        typename R::Value value = current(rule.values + vertex), before = seen[part];
        if (!rule.is_due(value, before)) continue;
        u32 bin = lists.begins[part + 1] - lists.begins[part] > SHORT_MAX;
        u32 place = next_place(&status->parts[bin]);
        queue.parts[bin][place] = (u32)part;
        if (SNAPSHOT) {
            queue.taken[bin][place] = rule.taken(value, before, vertex);
            seen[part] = value;
        }
    }
}

// Visits the collected parts of a bin, LANES lanes each.
template <typename R, int LANES, bool SNAPSHOT, bool COUNTED>
__global__ void expand(R rule, Lists lists, typename R::Value* seen, Queue<typename R::Value> queue, int bin,
                       const Status* status, Counts* counts) {
    typedef typename R::Value Value;
    Tally<COUNTED> tally;
    u32 count = status->parts[bin], lane = threadIdx.x % LANES;
    u32 mask = ~0u >> (32 - LANES) << (threadIdx.x % 32 - lane);
    u64 step = (u64)gridDim.x * blockDim.x / LANES;
    for (u64 at = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / LANES; at < count; at += step) {
        u32 part = queue.parts[bin][at];
        Value taken = Value();
        if (SNAPSHOT) {
            taken = queue.taken[bin][at];
        } else {
            // One lane reads the value: all pass on the same, and just that is noted.
            if (lane == 0) {
                u32 vertex = lists.part_vertices[part];
                Value value = current(rule.values + vertex);
                taken = rule.taken(value, seen[part], vertex);
                seen[part] = value;
            }
            taken = __shfl_sync(mask, taken, 0, LANES);
        }
        u32 begin = lists.begins[part], end = lists.begins[part + 1];
        Ends ends = begin < lists.kept ? lists.near : lists.far;
        for (u32 edge = begin + lane; edge < end; edge += LANES) {
            Value after;
            tally.add(rule.pass(taken, R::WEIGHTED ? ends.weights[edge] : 0, ends.dests[edge], after), false);
        }
    }
    tally.finish(counts);
}

// Whether a vertex of a path has something to pass on: of a path of edges in one direction also the last one if values
// are monotone, as in the paper, where any active vertex activates a path.
template <typename R>
__device__ bool is_active(const R& rule, const Paths& paths, const typename R::Value* forth,
                          const typename R::Value* back, u64 base, u32 edges) {
    for (u32 at = 0; at <= edges; at++) {
        u64 place = base + 32ull * at;
        typename R::Value value = current(rule.values + paths.vertices[place]);
        bool goes_on = at < edges || (R::MONOTONE && !paths.both_ways);
        if (goes_on && rule.is_due(value, forth[place])) return true;
        if (paths.both_ways && at > 0 && rule.is_due(value, back[place])) return true;
    }
    return false;
}

// A pass over the paths, a thread each: forwards, then backwards. `forth` and `back` have what the vertex at a position
// has passed on to the next and to the previous one. With CHANGED, only edges whose first vertex is due are visited.
template <typename R, bool CHANGED, bool COUNTED>
__global__ void visit_paths(R rule, Paths paths, typename R::Value* forth, typename R::Value* back, int pass,
                            Status* status, Counts* counts) {
    typedef typename R::Value Value;
    if (pass > 0 && status->visited[pass - 1] == 0) return;
    Tally<COUNTED> tally;
    bool any = false;
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 path = (u64)blockIdx.x * blockDim.x + threadIdx.x; path < paths.count; path += step) {
        u64 base = paths.bases[path / 32] + path % 32;
        u32 edges = paths.lengths[path];
        if (!CHANGED && !is_active(rule, paths, forth, back, base, edges)) continue;
        Value value = Value();
        // Whether `value` is that of the vertex that comes next.
        bool known = false;
        for (u32 at = 0; at < edges; at++) {
            u64 place = base + 32ull * at;
            u32 vertex = paths.vertices[place];
            if (!known) value = current(rule.values + vertex);
            known = !CHANGED || rule.is_due(value, forth[place]);
            if (!known) continue;
            Value taken = rule.taken(value, forth[place], vertex);
            forth[place] = value;
            u32 weight = R::WEIGHTED ? paths.weights[place] : 0;
            tally.add(rule.pass(taken, weight, paths.vertices[place + 32], value), false);
            any = true;
        }
        for (u32 at = paths.both_ways ? edges : 0; at > 0; at--) {
            u64 place = base + 32ull * at;
            u32 vertex = paths.vertices[place];
            if (!known) value = current(rule.values + vertex);
            known = !CHANGED || rule.is_due(value, back[place]);
            if (!known) continue;
            Value taken = rule.taken(value, back[place], vertex);
            back[place] = value;
            u32 weight = R::WEIGHTED ? paths.weights[place - 32] : 0;
            bool updated = rule.pass(taken, weight, paths.vertices[place - 32], value);
            tally.add(updated, true);
            // What has come from the next vertex cannot improve it: the path is not active because of its own visit.
            if (!CHANGED && R::MONOTONE && updated) forth[place - 32] = value;
            any = true;
        }
        // The paper visits edges in one direction twice too; the second visit finds only what others have brought.
        for (u32 at = CHANGED || paths.both_ways ? 0 : edges; at > 0; at--) {
            u64 place = base + 32ull * (at - 1);
            u32 vertex = paths.vertices[place];
            value = current(rule.values + vertex);
            Value taken = rule.taken(value, forth[place], vertex), after;
            forth[place] = value;
            u32 weight = R::WEIGHTED ? paths.weights[place] : 0;
            tally.add(rule.pass(taken, weight, paths.vertices[place + 32], after), true);
        }
        if (!CHANGED && R::MONOTONE && !paths.both_ways) {
            u64 last = base + 32ull * edges;
            forth[last] = current(rule.values + paths.vertices[last]);
        }
    }
    if (any) status->visited[pass] = 1;
    tally.finish(counts);
}

template <typename... P, typename... A>
static void launch(void (*kernel)(P...), u64 threads, cudaStream_t stream, A... arguments) {
    u64 most = (u64)multiprocessors * 32;
    int blocks = (int)std::max<u64>(1, std::min<u64>((threads + BLOCK - 1) / BLOCK, most));
    kernel<<<blocks, BLOCK, 0, stream>>>(arguments...);
    CHECK(cudaGetLastError());
}

// ---- Runs ----

struct DeviceSketch {
    double hubs;
    Lists cold;
    Paths paths;
    // All lists, with as many edges in device memory as the paths have; only where the others are in main memory.
    std::unique_ptr<Lists> kept;
};

struct Way {
    const char* name;
    bool snapshot, changed;
    const DeviceSketch* sketch;
    int times;
    const Lists* lists;
};

// Arrays of one work, for all ways.
template <typename R> struct Solver {
    typedef typename R::Value Value;
    R rule;
    u32 vertices;
    Lists all;
    Value *initial, *seen, *forth, *back;
    Queue<Value> queue;
    u64 seen_count = 0;
    Status *status, *host_status;
    Counts* counts;
    // Paths, and lists. The lists' stream comes first: its blocks are scheduled among those of a pass over paths.
    cudaStream_t path_stream, list_stream;
    cudaEvent_t begun, ended;

    Solver(R rule, const std::vector<Value>& from, Lists all, const std::vector<DeviceSketch>& sketches)
        : rule(rule), vertices((u32)from.size()), all(all) {
        u64 parts = all.parts, positions = 0;
        for (const DeviceSketch& sketch : sketches) {
            parts = std::max(parts, sketch.cold.parts);
            positions = std::max(positions, sketch.paths.positions);
        }
        this->rule.values = device_array<Value>(vertices);
        initial = device_copy(from);
        seen = device_array<Value>(parts);
        forth = device_array<Value>(positions);
        back = device_array<Value>(positions);
        for (int bin = 0; bin < 2; bin++) {
            queue.parts[bin] = device_array<u32>(parts);
            queue.taken[bin] = device_array<Value>(parts);
        }
        status = device_array<Status>(1);
        counts = device_array<Counts>(1);
        CHECK(cudaMallocHost((void**)&host_status, sizeof(Status)));
        int least = 0, greatest = 0;
        CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
        CHECK(cudaStreamCreateWithPriority(&path_stream, cudaStreamNonBlocking, least));
        CHECK(cudaStreamCreateWithPriority(&list_stream, cudaStreamNonBlocking, greatest));
        CHECK(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&ended, cudaEventDisableTiming));
        // Copies from pageable memory are not ordered before the work of these streams.
        CHECK(cudaDeviceSynchronize());
    }

    ~Solver() {
        void* arrays[] = {rule.values, initial, seen, forth, back, queue.parts[0], queue.parts[1], queue.taken[0],
                          queue.taken[1], status, counts};
        for (void* array : arrays) CHECK(cudaFree(array));
        CHECK(cudaFreeHost(host_status));
        CHECK(cudaStreamDestroy(path_stream));
        CHECK(cudaStreamDestroy(list_stream));
        CHECK(cudaEventDestroy(begun));
        CHECK(cudaEventDestroy(ended));
    }

    template <bool SNAPSHOT, bool COUNTED> void visit_lists(const Lists& lists) {
        launch(collect<R, SNAPSHOT>, lists.parts, list_stream, rule, lists, seen, queue, status);
        launch(expand<R, LONG_LANES, SNAPSHOT, COUNTED>, lists.parts * LONG_LANES, list_stream, rule, lists, seen,
               queue, 1, status, counts);
        launch(expand<R, SHORT_LANES, SNAPSHOT, COUNTED>, lists.parts * SHORT_LANES, list_stream, rule, lists, seen,
               queue, 0, status, counts);
    }

    // Runs rounds until there is nothing to visit; returns their number.
    template <bool COUNTED> u64 run(const Way& way) {
        const Lists& lists = *way.lists;
        CHECK(cudaMemcpyAsync(rule.values, initial, vertices * sizeof(Value), cudaMemcpyDeviceToDevice, path_stream));
        CHECK(cudaMemsetAsync(seen, R::UNSEEN, lists.parts * sizeof(Value), path_stream));
        if (way.sketch) {
            const Paths& paths = way.sketch->paths;
            CHECK(cudaMemsetAsync(forth, R::UNSEEN, paths.positions * sizeof(Value), path_stream));
            if (paths.both_ways) CHECK(cudaMemsetAsync(back, R::UNSEEN, paths.positions * sizeof(Value), path_stream));
        }
        if (COUNTED) CHECK(cudaMemsetAsync(counts, 0, sizeof(Counts), path_stream));
        for (u64 rounds = 0;; rounds++) {
            CHECK(cudaMemsetAsync(status, 0, sizeof(Status), path_stream));
            CHECK(cudaEventRecord(begun, path_stream));
            CHECK(cudaStreamWaitEvent(list_stream, begun, 0));
            if (way.snapshot) visit_lists<true, COUNTED>(lists);
            else visit_lists<false, COUNTED>(lists);
            for (int pass = 0; pass < (way.sketch ? way.times : 0); pass++) {
                const Paths& paths = way.sketch->paths;
                auto kernel = way.changed ? visit_paths<R, true, COUNTED> : visit_paths<R, false, COUNTED>;
                launch(kernel, paths.count, path_stream, rule, paths, forth, back, pass, status, counts);
            }
            CHECK(cudaEventRecord(ended, list_stream));
            CHECK(cudaStreamWaitEvent(path_stream, ended, 0));
            CHECK(cudaMemcpyAsync(host_status, status, sizeof(Status), cudaMemcpyDeviceToHost, path_stream));
            CHECK(cudaStreamSynchronize(path_stream));
            if (host_status->parts[0] + host_status->parts[1] == 0 && host_status->visited[0] == 0) return rounds;
        }
    }

    std::vector<Value> answer() const {
        std::vector<Value> values(vertices);
        CHECK(cudaMemcpy(values.data(), rule.values, vertices * sizeof(Value), cudaMemcpyDeviceToHost));
        return values;
    }
};

struct Options {
    std::vector<double> hubs = {0.025};
    std::vector<int> times = {1, 4};
    int runs = 5;
    double tolerance = 1e-3;
    std::vector<std::string> only = {"sssp", "components", "pagerank", "adsorption"};
};

struct Study {
    const Graph& graph;
    const Options& options;
    Lists all;
    std::vector<DeviceSketch> sketches;
};

// Runs every way once with counters, then for times. `check` returns the residual, or a negative number.
template <typename R, typename Check>
static void measure(const Study& study, const char* work, R rule, const std::vector<typename R::Value>& initial,
                    Check check) {
    std::vector<Way> ways = {{"rounds", true, false, nullptr, 0, &study.all},
                             {"now", false, false, nullptr, 0, &study.all}};
    for (const DeviceSketch& sketch : study.sketches) {
        for (int times : study.options.times) {
            ways.push_back({"sketch", false, false, &sketch, times, &sketch.cold});
            ways.push_back({"changed", false, true, &sketch, times, &sketch.cold});
        }
        if (sketch.kept) ways.push_back({"kept", false, false, nullptr, 0, sketch.kept.get()});
    }
    Solver<R> solver(rule, initial, study.all, study.sketches);
    std::vector<Counts> counts(ways.size());
    std::vector<u64> rounds(ways.size());
    std::vector<double> residuals(ways.size());
    std::vector<std::vector<double>> times(ways.size());
    for (size_t at = 0; at < ways.size(); at++) {
        rounds[at] = solver.template run<true>(ways[at]);
        CHECK(cudaMemcpy(&counts[at], solver.counts, sizeof(Counts), cudaMemcpyDeviceToHost));
        fprintf(stderr, "%s %s: %llu visits in %llu rounds\n", work, ways[at].name, counts[at].visits, rounds[at]);
        residuals[at] = check(solver.answer(), std::string(work) + ", " + ways[at].name);
    }
    // The first time is a warm-up.
    double started = now_ms();
    for (int run = -1; run < study.options.runs; run++) {
        if (run > 0 && now_ms() - started > TIMED_MS_MAX) break;
        for (size_t at = 0; at < ways.size(); at++) {
            double begin = now_ms();
            solver.template run<false>(ways[at]);
            if (run >= 0) times[at].push_back(now_ms() - begin);
        }
    }
    for (size_t at = 0; at < ways.size(); at++) {
        std::vector<double>& ms = times[at];
        std::sort(ms.begin(), ms.end());
        const Way& way = ways[at];
        const Counts& done = counts[at];
        printf("{\"kind\":\"way\",\"graph\":\"%s\",\"work\":\"%s\",\"way\":\"%s\"", study.graph.name.c_str(), work,
               way.name);
        if (way.sketch) printf(",\"hubs\":%g,\"times\":%d", way.sketch->hubs, way.times);
        printf(",\"rounds\":%llu,\"updates\":%llu,\"visits\":%llu,\"visits_per_edge\":%.6f,\"backward_share\":%.6f",
               rounds[at], done.updates, done.visits, (double)done.visits / study.graph.edges(),
               (double)done.backwards / std::max<u64>(1, done.visits));
        printf(",\"ms\":{\"median\":%.6f,\"min\":%.6f,\"max\":%.6f,\"runs\":%zu}",
               (ms[(ms.size() - 1) / 2] + ms[ms.size() / 2]) / 2, ms.front(), ms.back(), ms.size());
        if (residuals[at] >= 0) printf(",\"residual\":%.3e", residuals[at]);
        printf("}\n");
        fflush(stdout);
    }
}

// ---- Works, and their answers by other methods ----

// Dijkstra's algorithm; a bucket for each distance, in a ring as long as the heaviest edge.
static std::vector<u32> dijkstra(const Graph& graph, u32 source) {
    u32 ring = *std::max_element(graph.weights.begin(), graph.weights.end()) + 1;
    std::vector<std::vector<u32>> buckets(ring);
    std::vector<u32> distances(graph.vertices(), UNREACHED);
    distances[source] = 0;
    buckets[0].push_back(source);
    u64 left = 1;
    for (u32 distance = 0; left > 0; distance++) {
        std::vector<u32> bucket;
        bucket.swap(buckets[distance % ring]);
        left -= bucket.size();
        for (u32 vertex : bucket) {
            if (distances[vertex] != distance) continue;
            for (u64 edge = graph.offsets[vertex]; edge < graph.offsets[vertex + 1]; edge++) {
                u32 dest = graph.dests[edge], offered = distance + graph.weights[edge];
                if (offered >= distances[dest]) continue;
                distances[dest] = offered;
                buckets[offered % ring].push_back(dest);
                left++;
            }
        }
    }
    return distances;
}

// The least label of each vertex's component, by union-find.
static std::vector<u32> least_labels(const Graph& graph) {
    std::vector<u32> parents(graph.vertices()), labels(graph.vertices());
    std::iota(parents.begin(), parents.end(), 0u);
    auto root = [&](u32 vertex) {
        while (parents[vertex] != vertex) vertex = parents[vertex] = parents[parents[vertex]];
        return vertex;
    };
    for (u32 vertex = 0; vertex < graph.vertices(); vertex++) {
        for (u64 edge = graph.offsets[vertex]; edge < graph.offsets[vertex + 1]; edge++) {
            u32 a = root(vertex), b = root(graph.dests[edge]);
            parents[std::max(a, b)] = std::min(a, b);
        }
    }
    for (u32 vertex = 0; vertex < graph.vertices(); vertex++) labels[vertex] = vertex * SCATTER;
    for (u32 vertex = 0; vertex < graph.vertices(); vertex++) {
        u32& least = labels[root(vertex)];
        least = std::min(least, vertex * SCATTER);
    }
    for (u32 vertex = 0; vertex < graph.vertices(); vertex++) labels[vertex] = labels[root(vertex)];
    return labels;
}

template <typename Of>
static void fall(const Study& study, const char* work, const std::vector<u32>& initial,
                 const std::vector<u32>& expected) {
    measure(study, work, Monotone<Of>{nullptr}, initial, [&](const std::vector<u32>& values, const std::string& what) {
        for (u32 vertex = 0; vertex < values.size(); vertex++) {
            if (values[vertex] == expected[vertex]) continue;
            fail(what + ": vertex " + std::to_string(vertex) + " has " + std::to_string(values[vertex]) + ", not " +
                 std::to_string(expected[vertex]));
        }
        return -1.0;
    });
}

static void sssp(const Study& study) {
    const Graph& graph = study.graph;
    u32 source = 0;
    for (u32 vertex = 1; vertex < graph.vertices(); vertex++) {
        if (graph.degree(vertex) > graph.degree(source)) source = vertex;
    }
    std::vector<u32> initial(graph.vertices(), UNREACHED);
    initial[source] = 0;
    fall<Distance>(study, "sssp", initial, dijkstra(graph, source));
}

static void components(const Study& study) {
    std::vector<u32> initial(study.graph.vertices());
    for (u32 vertex = 0; vertex < initial.size(); vertex++) initial[vertex] = vertex * SCATTER;
    fall<Label>(study, "components", initial, least_labels(study.graph));
}

template <bool WEIGHS>
static void sums(const Study& study, const char* work, const std::vector<double>& base, const std::vector<double>& from,
                 const std::vector<double>& to, double least) {
    const Graph& graph = study.graph;
    double *device_from = device_copy(from), *device_to = device_copy(to);
    // The distance of values from what they would be after another step, as a share of their sum. The bound: every
    // edge may lack what its source has kept back.
    auto residual = [&](const std::vector<double>& values, const std::string& what) {
        std::vector<double> next = base;
        double kept = 0, distance = 0, sum = 0;
        for (u32 vertex = 0; vertex < graph.vertices(); vertex++) {
            for (u64 edge = graph.offsets[vertex]; edge < graph.offsets[vertex + 1]; edge++) {
                u32 dest = graph.dests[edge];
                double share = from[vertex] * (WEIGHS ? graph.weights[edge] * to[dest] : 1.0);
                next[dest] += values[vertex] * share;
                kept += least * share;
            }
        }
        for (u32 vertex = 0; vertex < graph.vertices(); vertex++) {
            distance += std::fabs(next[vertex] - values[vertex]);
            sum += values[vertex];
        }
        if (!(distance <= kept + 1e-9 * sum)) {
            fail(what + ": values are " + std::to_string(distance) + " from the next, which may be " +
                 std::to_string(kept));
        }
        return distance / sum;
    };
    measure(study, work, Residual<WEIGHS>{nullptr, device_from, device_to, least}, base, residual);
    CHECK(cudaFree(device_from));
    CHECK(cudaFree(device_to));
}

// Ranks at vertices without out-edges are lost; times the number of vertices.
static void pagerank(const Study& study) {
    const Graph& graph = study.graph;
    std::vector<double> base(graph.vertices(), 1 - DAMPING), from(graph.vertices());
    for (u32 vertex = 0; vertex < from.size(); vertex++) from[vertex] = DAMPING / std::max(1u, graph.degree(vertex));
    sums<false>(study, "pagerank", base, from, {}, study.options.tolerance * (1 - DAMPING));
}

// INJECT at each seed, and KEPT of the weighted mean over in-neighbours.
static void adsorption(const Study& study) {
    const Graph& graph = study.graph;
    std::vector<double> base(graph.vertices(), 0), from(graph.vertices(), 1), to(graph.vertices(), 0);
    for (u32 vertex = 0; vertex < base.size(); vertex++) {
        if (vertex * SCATTER < UNREACHED / SEED_OF) base[vertex] = INJECT;
    }
    for (u64 edge = 0; edge < graph.edges(); edge++) to[graph.dests[edge]] += graph.weights[edge];
    for (double& sum : to) sum = sum > 0 ? KEPT / sum : 0;
    sums<true>(study, "adsorption", base, from, to, study.options.tolerance * INJECT);
}

// ---- The command line ----

static std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> found;
    for (size_t at = 0; at <= text.size();) {
        size_t comma = std::min(text.find(',', at), text.size());
        found.push_back(text.substr(at, comma - at));
        at = comma + 1;
    }
    return found;
}

static double number(const std::string& text, double least, double most) {
    char* end = nullptr;
    double value = strtod(text.c_str(), &end);
    if (text.empty() || *end != 0 || !(value >= least && value <= most)) fail("not a number in range: " + text);
    return value;
}

int main(int count, char** arguments) {
    Options options;
    std::string kind, of, name;
    double alpha = 2.0;
    bool symmetric = false, sorted = false, in_main_memory = false;
    for (int at = 1; at < count; at++) {
        std::string option = arguments[at];
        bool* flag = option == "--symmetric"     ? &symmetric
                     : option == "--by-degree"   ? &sorted
                     : option == "--main-memory" ? &in_main_memory
                                                 : nullptr;
        if (flag) {
            *flag = true;
            continue;
        }
        if (at + 1 == count) fail("unknown option, or no value: " + option);
        std::string value = arguments[++at];
        if (option == "--rmat" || option == "--powerlaw" || option == "--grid" || option == "--list") {
            kind = option.substr(2);
            of = value;
        } else if (option == "--alpha") alpha = number(value, 0, 64);
        else if (option == "--name") name = value;
        else if (option == "--only") options.only = words(value);
        else if (option == "--runs") options.runs = (int)number(value, 1, 1000);
        else if (option == "--tolerance") options.tolerance = number(value, 1e-12, 1);
        else if (option == "--hubs") {
            options.hubs.clear();
            for (const std::string& word : words(value)) options.hubs.push_back(number(word, 0, 1));
        } else if (option == "--times") {
            options.times.clear();
            for (const std::string& word : words(value)) options.times.push_back((int)number(word, 1, TIMES_MAX));
        } else fail("unknown option: " + option);
    }
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    multiprocessors = device.multiProcessorCount;
    printf("{\"kind\":\"device\",\"device\":\"%s\",\"multiprocessors\":%d}\n", device.name, multiprocessors);
    fflush(stdout);

    double begin = now_ms();
    Graph graph;
    if (kind == "rmat") graph = rmat((u32)number(of, 1, 27), symmetric);
    else if (kind == "powerlaw") graph = power_law((u32)number(of, 1, 1e9), alpha, symmetric);
    else if (kind == "grid") graph = grid((u32)number(of, 2, 30000));
    else if (kind == "list") graph = read_list(of.c_str(), symmetric);
    else fail("one of --rmat, --powerlaw, --grid and --list is needed");
    if (sorted) graph = by_degree(graph);
    if (graph.edges() == 0) fail("the graph has no edge");
    if (graph.edges() > UNREACHED - PART_EDGES) fail("the graph has more than 2^32 edges");
    if (name.empty()) name = kind == "list" ? of.substr(of.rfind('/') + 1) : kind + "-" + of;
    graph.name = name + " (" + std::to_string((graph.edges() + 500000) / 1000000) + " M edges" +
                 (in_main_memory ? ", in main memory)" : ")");
    printf("{\"kind\":\"graph\",\"graph\":\"%s\",\"vertices\":%u,\"edges\":%llu,\"symmetric\":%s,\"by_degree\":%s,"
           "\"seconds\":%.3f}\n",
           graph.name.c_str(), graph.vertices(), graph.edges(), graph.symmetric ? "true" : "false",
           sorted ? "true" : "false", (now_ms() - begin) / 1e3);
    fflush(stdout);

    u64 kept = in_main_memory ? 0 : UNREACHED;
    Study study{graph, options, device_lists(graph, kept), {}};
    for (double share : options.hubs) {
        Sketch sketch = find_sketch(graph, share);
        printf("{\"kind\":\"sketch\",\"graph\":\"%s\",\"hubs\":%g,\"share\":%.6f,\"path_edges\":%.6f,\"paths\":%llu,"
               "\"ms\":%.3f}\n",
               graph.name.c_str(), share, sketch.share(), sketch.path_edges(), sketch.paths(), sketch.ms);
        fflush(stdout);
        std::unique_ptr<Lists> all;
        u64 on_paths = graph.edges() - sketch.cold.edges();
        if (in_main_memory) all = std::make_unique<Lists>(device_lists(graph, on_paths));
        study.sketches.push_back(
            {share, device_lists(sketch.cold, kept), device_paths(sketch), std::move(all)});
    }
    for (const std::string& work : options.only) {
        if (work == "sssp") sssp(study);
        else if (work == "pagerank") pagerank(study);
        else if (work == "adsorption") adsorption(study);
        else if (work != "components") fail("unknown work: " + work);
        else if (graph.symmetric) components(study);
    }
    return 0;
}
