// The CUDA baseline: simple but fair PageRank and breadth-first search over plain arrays in GPU memory.
//
//     nvcc -O3 -std=c++17 -arch=native -o baseline bench/cuda/baseline.cu
//     baseline --walls                                  the machine's bounds: copies, reads over PCIe
//     baseline GRAPH [--runs N] [--sources 1,2,3]       GRAPH in the format of `topostream-bench export`
//
// It is not part of the product: topostream-bench runs it if nvcc is found, and compares its figures with topostream's.
// Every figure is a line of JSON. Times are those of CUDA events, medians after a warm-up; a search is timed from the
// clearing of its arrays to its last level. Answers are checked on the GPU before a figure is printed.
//
// A graph file, little-endian: u64 vertices, u64 edges, u64 out_offsets[vertices + 1], u32 dests[edges], then, if there
// are in-lists, u64 in_offsets[vertices + 1], u32 sources[edges].
//
// Work is distributed by degree: a thread, 8 lanes or a warp for each list, a block for each 4096 edges of a long one.
// Bottom-up search: Beamer et al., "Direction-Optimizing Breadth-First Search", SC 2012.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

typedef unsigned long long u64;
typedef unsigned int u32;

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void fail(const char* what) {
    fprintf(stderr, "error: %s\n", what);
    exit(1);
}

const float DAMPING = 0.85f;
const u32 UNREACHED = 0xffffffffu;
// Lists shorter than this: a thread each.
const u32 THREAD_MAX = 8;
// Lists shorter than this: 8 lanes each.
const u32 LANES_MAX = 64;
// Lists shorter than this: a warp each. Longer ones are split into chunks.
const u32 WARP_MAX = 2048;
const u32 CHUNK = 4096;
const int BLOCK = 256;
// Beamer's alpha and beta.
const u64 ALPHA = 14;
const u64 BETA = 24;

static int multiprocessors = 1;

// Number of blocks for this many threads in grid-stride loops, limited to what fills the device.
static int blocks_for(u64 threads) {
    u64 wanted = (threads + BLOCK - 1) / BLOCK;
    return (int)std::max<u64>(1, std::min<u64>(wanted, (u64)multiprocessors * 32));
}

template <typename T> static T* device_array(u64 count) {
    T* array = nullptr;
    CHECK(cudaMalloc(&array, std::max<u64>(count, 1) * sizeof(T)));
    return array;
}

template <typename T> static T* device_copy(const std::vector<T>& values) {
    T* array = device_array<T>(values.size());
    CHECK(cudaMemcpy(array, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return array;
}

// ---- Time ----

struct Timer {
    cudaEvent_t begin, end;
    Timer() {
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
    }
    ~Timer() {
        cudaEventDestroy(begin);
        cudaEventDestroy(end);
    }
    void start() { CHECK(cudaEventRecord(begin)); }
    double stop_ms() {
        float ms = 0;
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaGetLastError());
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        return ms;
    }
};

struct Spread {
    double median, min, max;
    int runs;
};

static Spread spread(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    size_t middle = values.size() / 2;
    double median = values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    return Spread{median, values.front(), values.back(), (int)values.size()};
}

// Runs `work` once to warm up, then `runs` times.
template <typename Work> static Spread measured(int runs, Work work) {
    Timer timer;
    std::vector<double> times;
    for (int run = -1; run < runs; run++) {
        timer.start();
        work();
        double ms = timer.stop_ms();
        if (run >= 0) times.push_back(ms);
    }
    return spread(times);
}

static void print_time(const char* name, Spread ms) {
    printf("{\"name\":\"%s\",\"ms\":%.6f,\"min_ms\":%.6f,\"max_ms\":%.6f,\"runs\":%d", name, ms.median, ms.min, ms.max,
           ms.runs);
}

static void print_bytes(const char* name, Spread ms, double bytes) {
    print_time(name, ms);
    printf(",\"gb_per_s\":%.4f}\n", bytes / ms.median / 1e6);
    fflush(stdout);
}

static void print_edges(const char* name, Spread ms, double edges) {
    print_time(name, ms);
    printf(",\"gedges_per_s\":%.4f}\n", edges / ms.median / 1e6);
    fflush(stdout);
}

// ---- The machine's bounds ----

__global__ void read_in_place(const uint4* words, u64 count, u32* sink) {
    u32 sum = 0;
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < count; at += step) {
        uint4 word = words[at];
        sum += word.x ^ word.y ^ word.z ^ word.w;
    }
    if (sum == 0x12345678u) *sink = sum;
}

static void walls(int runs) {
    const u64 bytes = 1ull << 30;
    char *a = device_array<char>(bytes), *b = device_array<char>(bytes), *host = nullptr;
    u32* sink = device_array<u32>(1);
    CHECK(cudaMemset(a, 1, bytes));
    CHECK(cudaMallocHost(&host, bytes));
    memset(host, 1, bytes);
    // Bytes copied; device memory transfers twice as many.
    auto copy = [&](void* to, const void* from, cudaMemcpyKind kind) {
        return measured(runs, [&] { CHECK(cudaMemcpyAsync(to, from, bytes, kind)); });
    };
    print_bytes("wall_copy_device", copy(b, a, cudaMemcpyDeviceToDevice), bytes);
    print_bytes("wall_copy_to_device", copy(a, host, cudaMemcpyHostToDevice), bytes);
    print_bytes("wall_copy_to_host", copy(host, a, cudaMemcpyDeviceToHost), bytes);
    auto read = [&] { read_in_place<<<multiprocessors * 16, BLOCK>>>((const uint4*)host, bytes / 16, sink); };
    print_bytes("wall_read_host_in_place", measured(runs, read), bytes);
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(sink));
}

// ---- Graphs ----

// Lists in GPU memory, binned by the number of threads for each. Passed to kernels by value.
struct Lists {
    u64* offsets;
    u32* neighbours;
    // By degree: a thread each, 8 lanes each, a warp each.
    u32* bins[3];
    u64 bin_counts[3];
    // Vertex in the high half, chunk number in the low half.
    u64* chunks;
    u64 chunk_count;
};

struct Graph {
    u64 vertices, edges;
    Lists out, in;
    bool has_in;
    // The source of every edge, parallel to out.neighbours.
    u32* sources;
    std::vector<u32> out_degrees;
};

static void read_exactly(FILE* file, void* to, u64 bytes) {
    if (fread(to, 1, bytes, file) != bytes) fail("the graph file is too short");
}

// Streams an array from the file to the GPU through a pinned buffer.
static void read_to_device(FILE* file, void* to, u64 bytes) {
    const u64 part = 64ull << 20;
    char* buffer = nullptr;
    CHECK(cudaMallocHost(&buffer, part));
    for (u64 at = 0; at < bytes; at += part) {
        u64 now = std::min(part, bytes - at);
        read_exactly(file, buffer, now);
        CHECK(cudaMemcpy((char*)to + at, buffer, now, cudaMemcpyHostToDevice));
    }
    CHECK(cudaFreeHost(buffer));
}

static Lists read_lists(FILE* file, u64 vertices, u64 edges, std::vector<u32>& degrees) {
    Lists lists = {};
    std::vector<u64> offsets(vertices + 1);
    read_exactly(file, offsets.data(), (vertices + 1) * sizeof(u64));
    if (offsets[0] != 0 || offsets[vertices] != edges) fail("the offsets of the graph file are wrong");
    lists.offsets = device_copy(offsets);
    lists.neighbours = device_array<u32>(edges);
    read_to_device(file, lists.neighbours, edges * sizeof(u32));
    std::vector<u32> bins[3];
    std::vector<u64> chunks;
    for (u64 vertex = 0; vertex < vertices; vertex++) {
        u64 degree = offsets[vertex + 1] - offsets[vertex];
        degrees[vertex] = (u32)degree;
        if (degree == 0) continue;
        if (degree < WARP_MAX) {
            bins[degree < THREAD_MAX ? 0 : degree < LANES_MAX ? 1 : 2].push_back((u32)vertex);
        } else {
            for (u64 chunk = 0; chunk * CHUNK < degree; chunk++) chunks.push_back(vertex << 32 | chunk);
        }
    }
    for (int bin = 0; bin < 3; bin++) {
        lists.bins[bin] = device_copy(bins[bin]);
        lists.bin_counts[bin] = bins[bin].size();
    }
    lists.chunks = device_copy(chunks);
    lists.chunk_count = chunks.size();
    return lists;
}

__global__ void write_sources(const u64* offsets, u64 vertices, u32* sources) {
    u64 warps = (u64)gridDim.x * blockDim.x / 32, lane = threadIdx.x % 32;
    for (u64 vertex = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32; vertex < vertices; vertex += warps) {
        u64 end = offsets[vertex + 1];
        for (u64 edge = offsets[vertex] + lane; edge < end; edge += 32) sources[edge] = (u32)vertex;
    }
}

static Graph read_graph(const char* path) {
    FILE* file = fopen(path, "rb");
    if (!file) fail("the graph file cannot be opened");
    Graph graph = {};
    u64 header[2];
    read_exactly(file, header, sizeof header);
    graph.vertices = header[0];
    graph.edges = header[1];
    if (graph.vertices == 0 || graph.vertices >= UNREACHED) fail("the number of vertices is out of range");
    graph.out_degrees.resize(graph.vertices);
    graph.out = read_lists(file, graph.vertices, graph.edges, graph.out_degrees);
    int more = fgetc(file);
    graph.has_in = more != EOF;
    if (graph.has_in) {
        ungetc(more, file);
        std::vector<u32> in_degrees(graph.vertices);
        graph.in = read_lists(file, graph.vertices, graph.edges, in_degrees);
    }
    fclose(file);
    graph.sources = device_array<u32>(graph.edges);
    write_sources<<<blocks_for(graph.vertices * 32), BLOCK>>>(graph.out.offsets, graph.vertices, graph.sources);
    CHECK(cudaDeviceSynchronize());
    return graph;
}

// ---- Upper bounds: only the random accesses, in the graph's order ----

__global__ void gather(const u32* indices, u64 count, const float* values, float* sink) {
    float sum = 0;
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < count; at += step) sum += values[indices[at]];
    if (sum == -1.0f) *sink = sum;
}

__global__ void add_f32(const u32* indices, u64 count, float* values) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < count; at += step) {
        atomicAdd(values + indices[at], 1.0f);
    }
}

__global__ void add_f32_by_exchange(const u32* indices, u64 count, float* values) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < count; at += step) {
        u32* word = (u32*)values + indices[at];
        u32 found = *(volatile u32*)word, expected;
        do {
            expected = found;
            found = atomicCAS(word, expected, __float_as_uint(__uint_as_float(expected) + 1.0f));
        } while (found != expected);
    }
}

__global__ void add_u64(const u32* indices, u64 count, u64* values) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < count; at += step) {
        atomicAdd(values + indices[at], 0x9e3779b9ull);
    }
}

// 64 bits in two words: the old value of the low word shows whether to carry.
__global__ void add_u64_in_halves(const u32* indices, u64 count, u32* values) {
    const u32 low = 0x9e3779b9u;
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < count; at += step) {
        u32* word = values + 2ull * indices[at];
        u32 old = atomicAdd(word, low);
        if (old + low < old) atomicAdd(word + 1, 1u);
    }
}

static void upper_bounds(const Graph& graph, int runs) {
    u64 edges = graph.edges;
    const u32* dests = graph.out.neighbours;
    float* values = device_array<float>(2 * graph.vertices);
    int blocks = blocks_for(edges);
    CHECK(cudaMemset(values, 0, 2 * graph.vertices * sizeof(float)));
    print_edges("gather_out", measured(runs, [&] { gather<<<blocks, BLOCK>>>(dests, edges, values, values); }), edges);
    if (graph.has_in) {
        const u32* sources = graph.in.neighbours;
        auto gather_in = [&] { gather<<<blocks, BLOCK>>>(sources, edges, values, values); };
        print_edges("gather_in", measured(runs, gather_in), edges);
    }
    print_edges("atomic_f32", measured(runs, [&] { add_f32<<<blocks, BLOCK>>>(dests, edges, values); }), edges);
    CHECK(cudaMemset(values, 0, 2 * graph.vertices * sizeof(float)));
    auto by_exchange = [&] { add_f32_by_exchange<<<blocks, BLOCK>>>(dests, edges, values); };
    print_edges("atomic_f32_by_exchange", measured(runs, by_exchange), edges);
    print_edges("atomic_u64", measured(runs, [&] { add_u64<<<blocks, BLOCK>>>(dests, edges, (u64*)values); }), edges);
    auto in_halves = [&] { add_u64_in_halves<<<blocks, BLOCK>>>(dests, edges, (u32*)values); };
    print_edges("atomic_u64_in_halves", measured(runs, in_halves), edges);
    CHECK(cudaFree(values));
}

// ---- PageRank ----

struct PageRankState {
    float *ranks, *shares, *sums;
    // The rank of vertices without out-edges.
    double* dangling;
};

__device__ double sum_over_warp(double value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

__device__ float sum_over_lanes(float value, int lanes) {
    for (int offset = lanes / 2; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset, lanes);
    return value;
}

__global__ void pagerank_begin(PageRankState state, u64 vertices) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 vertex = (u64)blockIdx.x * blockDim.x + threadIdx.x; vertex < vertices; vertex += step) {
        state.ranks[vertex] = 1.0f / vertices;
    }
}

// The rank that each vertex passes along each out-edge; resets sums.
__global__ void pagerank_shares(PageRankState state, const u64* out_offsets, u64 vertices) {
    double dangling = 0;
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 vertex = (u64)blockIdx.x * blockDim.x + threadIdx.x; vertex < vertices; vertex += step) {
        float degree = (float)(out_offsets[vertex + 1] - out_offsets[vertex]), rank = state.ranks[vertex];
        if (degree == 0) dangling += rank;
        state.shares[vertex] = degree == 0 ? 0 : rank / degree;
        state.sums[vertex] = 0;
    }
    dangling = sum_over_warp(dangling);
    if (threadIdx.x % 32 == 0 && dangling != 0) atomicAdd(state.dangling, dangling);
}

__global__ void pagerank_apply(PageRankState state, u64 vertices) {
    float base = (float)((1 - DAMPING + DAMPING * *state.dangling) / vertices);
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 vertex = (u64)blockIdx.x * blockDim.x + threadIdx.x; vertex < vertices; vertex += step) {
        state.ranks[vertex] = base + DAMPING * state.sums[vertex];
    }
}

__global__ void push_edges(const u32* sources, const u32* dests, u64 edges, PageRankState state) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 edge = (u64)blockIdx.x * blockDim.x + threadIdx.x; edge < edges; edge += step) {
        atomicAdd(state.sums + dests[edge], state.shares[sources[edge]]);
    }
}

// Processes a part of a vertex's list: adds the vertex's share to the neighbours, or sums the neighbours' shares.
struct Push {
    static __device__ float part(PageRankState state, const u32* neighbours, u32 vertex, u64 begin, u64 end,
                                 u32 lanes) {
        float share = state.shares[vertex];
        for (u64 edge = begin; edge < end; edge += lanes) atomicAdd(state.sums + neighbours[edge], share);
        return 0;
    }
    static __device__ void store(PageRankState, u32, float, bool) {}
};

struct Pull {
    static __device__ float part(PageRankState state, const u32* neighbours, u32, u64 begin, u64 end, u32 lanes) {
        float sum = 0;
        for (u64 edge = begin; edge < end; edge += lanes) sum += state.shares[neighbours[edge]];
        return sum;
    }
    static __device__ void store(PageRankState state, u32 vertex, float sum, bool whole) {
        if (whole) state.sums[vertex] = sum;
        else atomicAdd(state.sums + vertex, sum);
    }
};

// LANES lanes for each list. All lanes of a warp take the same number of rounds, so that they can reduce together.
template <typename Part, int LANES>
__global__ void over_lists(Lists lists, const u32* vertices, u64 count, PageRankState state) {
    u64 groups = (u64)gridDim.x * blockDim.x / LANES, group = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    u64 first_of_warp = group - group % (32 / LANES);
    u32 lane = threadIdx.x % LANES;
    for (; first_of_warp < count; first_of_warp += groups, group += groups) {
        bool has = group < count;
        u32 vertex = has ? vertices[group] : vertices[0];
        u64 begin = lists.offsets[vertex], end = has ? lists.offsets[vertex + 1] : begin;
        float sum = sum_over_lanes(Part::part(state, lists.neighbours, vertex, begin + lane, end, LANES), LANES);
        if (has && lane == 0) Part::store(state, vertex, sum, true);
    }
}

// A block for each chunk of a long list.
template <typename Part> __global__ void over_chunks(Lists lists, PageRankState state) {
    for (u64 at = blockIdx.x; at < lists.chunk_count; at += gridDim.x) {
        u32 vertex = (u32)(lists.chunks[at] >> 32);
        u64 begin = lists.offsets[vertex] + (lists.chunks[at] & 0xffffffffull) * CHUNK;
        u64 end = min((u64)(begin + CHUNK), lists.offsets[vertex + 1]);
        float sum = Part::part(state, lists.neighbours, vertex, begin + threadIdx.x, end, blockDim.x);
        sum = sum_over_lanes(sum, 32);
        if (threadIdx.x % 32 == 0) Part::store(state, vertex, sum, false);
    }
}

template <typename Part> static void over_all(const Lists& lists, PageRankState state) {
    const u64 *counts = lists.bin_counts, few = counts[0], some = counts[1], many = counts[2];
    if (few > 0) over_lists<Part, 1><<<blocks_for(few), BLOCK>>>(lists, lists.bins[0], few, state);
    if (some > 0) over_lists<Part, 8><<<blocks_for(some * 8), BLOCK>>>(lists, lists.bins[1], some, state);
    if (many > 0) over_lists<Part, 32><<<blocks_for(many * 32), BLOCK>>>(lists, lists.bins[2], many, state);
    if (lists.chunk_count > 0) over_chunks<Part><<<blocks_for(lists.chunk_count * BLOCK), BLOCK>>>(lists, state);
}

// Repeats an iteration after a warm-up, from equal ranks; prints its time, and the time of its edges.
template <typename Edges>
static void pagerank(const char* name, const Graph& graph, PageRankState state, int runs, Edges edges) {
    int blocks = blocks_for(graph.vertices);
    Timer whole, part;
    std::vector<double> times, edge_times;
    pagerank_begin<<<blocks, BLOCK>>>(state, graph.vertices);
    for (int run = -1; run < runs; run++) {
        whole.start();
        CHECK(cudaMemsetAsync(state.dangling, 0, sizeof(double)));
        pagerank_shares<<<blocks, BLOCK>>>(state, graph.out.offsets, graph.vertices);
        CHECK(cudaEventRecord(part.begin));
        edges();
        CHECK(cudaEventRecord(part.end));
        pagerank_apply<<<blocks, BLOCK>>>(state, graph.vertices);
        double ms = whole.stop_ms();
        float edge_ms = 0;
        CHECK(cudaEventElapsedTime(&edge_ms, part.begin, part.end));
        if (run < 0) continue;
        times.push_back(ms);
        edge_times.push_back(edge_ms);
    }
    Spread ms = spread(times), edge_ms = spread(edge_times);
    print_time(name, ms);
    printf(",\"edges_ms\":%.6f,\"gedges_per_s\":%.4f}\n", edge_ms.median, graph.edges / ms.median / 1e6);
    fflush(stdout);
}

// The sum of all ranks, and the maximum relative difference of two vectors of ranks.
__global__ void compare_ranks(const float* ranks, const float* others, u64 vertices, double* sum, u32* largest) {
    double own = 0;
    float apart = 0;
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 vertex = (u64)blockIdx.x * blockDim.x + threadIdx.x; vertex < vertices; vertex += step) {
        own += ranks[vertex];
        apart = fmaxf(apart, fabsf(ranks[vertex] - others[vertex]) / others[vertex]);
    }
    own = sum_over_warp(own);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
    // Non-negative floats have the order of their bits.
    atomicMax(largest, __float_as_uint(apart));
}

static void check_ranks(const char* name, const float* ranks, const float* others, u64 vertices) {
    double *sum = device_array<double>(1), found_sum = 0;
    u32* largest = device_array<u32>(1);
    float apart = 0;
    CHECK(cudaMemset(sum, 0, sizeof(double)));
    CHECK(cudaMemset(largest, 0, sizeof(u32)));
    compare_ranks<<<blocks_for(vertices), BLOCK>>>(ranks, others, vertices, sum, largest);
    CHECK(cudaMemcpy(&found_sum, sum, sizeof found_sum, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&apart, largest, sizeof apart, cudaMemcpyDeviceToHost));
    printf("{\"name\":\"check_%s\",\"sum\":%.9f,\"apart_max\":%.3e}\n", name, found_sum, apart);
    if (std::fabs(found_sum - 1) > 1e-2 || !(apart < 5e-2f)) fail("ranks are wrong");
    CHECK(cudaFree(sum));
    CHECK(cudaFree(largest));
}

static void all_pageranks(const Graph& graph, int runs) {
    PageRankState state = {};
    state.ranks = device_array<float>(graph.vertices);
    state.shares = device_array<float>(graph.vertices);
    state.sums = device_array<float>(graph.vertices);
    state.dangling = device_array<double>(1);
    float* first = device_array<float>(graph.vertices);
    int blocks = blocks_for(graph.edges);
    pagerank("pagerank_push_by_edge", graph, state, runs,
             [&] { push_edges<<<blocks, BLOCK>>>(graph.sources, graph.out.neighbours, graph.edges, state); });
    CHECK(cudaMemcpy(first, state.ranks, graph.vertices * sizeof(float), cudaMemcpyDeviceToDevice));
    pagerank("pagerank_push_by_list", graph, state, runs, [&] { over_all<Push>(graph.out, state); });
    check_ranks("push", state.ranks, first, graph.vertices);
    if (graph.has_in) {
        pagerank("pagerank_pull", graph, state, runs, [&] { over_all<Pull>(graph.in, state); });
        check_ranks("pull", state.ranks, first, graph.vertices);
    }
    CHECK(cudaFree(state.ranks));
    CHECK(cudaFree(state.shares));
    CHECK(cudaFree(state.sums));
    CHECK(cudaFree(state.dangling));
    CHECK(cudaFree(first));
}

// ---- Breadth-first search ----

// The results of a level, and the sizes of the next queue. Read back once a level.
struct Status {
    u64 vertices, edges;
    // 8 lanes each, a warp each, chunks.
    u32 counts[3];
    u32 unused;
};

struct Queue {
    u32* bins[2];
    u64* chunks;
    Status* status;
};

// The state of a search. Passed to kernels by value.
struct Search {
    const u64* out_offsets;
    const u32* dests;
    u32 *levels, *visited;
    // Bit sets, for bottom-up levels.
    u32 *frontier, *next_frontier;
    u64 vertices;
};

// Adds 1 to a counter for every active lane; returns a distinct number to each.
__device__ u32 take_number(u32* counter) {
    u32 here = __activemask(), lane = threadIdx.x % 32, first = __ffs(here) - 1, base = 0;
    if (lane == first) base = atomicAdd(counter, (u32)__popc(here));
    return __shfl_sync(here, base, first) + __popc(here & ((1u << lane) - 1));
}

__device__ void enqueue(Queue queue, u32 vertex, u64 degree) {
    if (degree == 0) return;
    if (degree < WARP_MAX) {
        if (degree < LANES_MAX) queue.bins[0][take_number(&queue.status->counts[0])] = vertex;
        else queue.bins[1][take_number(&queue.status->counts[1])] = vertex;
        return;
    }
    u32 chunks = (u32)((degree + CHUNK - 1) / CHUNK), first = atomicAdd(&queue.status->counts[2], chunks);
    for (u32 chunk = 0; chunk < chunks; chunk++) queue.chunks[first + chunk] = (u64)vertex << 32 | chunk;
}

__device__ void add_found(Status* status, u64 vertices, u64 edges) {
    for (int offset = 16; offset > 0; offset /= 2) {
        vertices += __shfl_down_sync(0xffffffffu, vertices, offset);
        edges += __shfl_down_sync(0xffffffffu, edges, offset);
    }
    if (threadIdx.x % 32 == 0 && vertices > 0) {
        atomicAdd(&status->vertices, vertices);
        atomicAdd(&status->edges, edges);
    }
}

struct Found {
    u64 vertices, edges;
};

// Claims a vertex for a level unless it is claimed. Bits are never cleared, so that a stale set bit is still valid.
__device__ void claim(Search search, Queue queue, u32 vertex, u32 level, Found& found) {
    u32 *word = search.visited + vertex / 32, bit = 1u << vertex % 32;
    if (*word & bit || __ldcg(word) & bit || atomicOr(word, bit) & bit) return;
    search.levels[vertex] = level;
    u64 degree = search.out_offsets[vertex + 1] - search.out_offsets[vertex];
    found.vertices++;
    found.edges += degree;
    enqueue(queue, vertex, degree);
}

__global__ void plant(Search search, Queue queue, u32 source) {
    Found found = {};
    if (threadIdx.x == 0) claim(search, queue, source, 0, found);
    __syncwarp();
    add_found(queue.status, found.vertices, found.edges);
}

template <int LANES> __global__ void top_down(Search search, const u32* frontier, u32 count, Queue next, u32 level) {
    Found found = {};
    u64 groups = (u64)gridDim.x * blockDim.x / LANES;
    for (u64 group = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / LANES; group < count; group += groups) {
        u64 begin = search.out_offsets[frontier[group]], end = search.out_offsets[frontier[group] + 1];
        for (u64 edge = begin + threadIdx.x % LANES; edge < end; edge += LANES) {
            claim(search, next, search.dests[edge], level, found);
        }
    }
    __syncwarp();
    add_found(next.status, found.vertices, found.edges);
}

__global__ void top_down_chunks(Search search, const u64* chunks, u32 count, Queue next, u32 level) {
    Found found = {};
    for (u64 at = blockIdx.x; at < count; at += gridDim.x) {
        u32 vertex = (u32)(chunks[at] >> 32);
        u64 begin = search.out_offsets[vertex] + (chunks[at] & 0xffffffffull) * CHUNK;
        u64 end = min((u64)(begin + CHUNK), (u64)search.out_offsets[vertex + 1]);
        for (u64 edge = begin + threadIdx.x; edge < end; edge += blockDim.x) {
            claim(search, next, search.dests[edge], level, found);
        }
    }
    __syncwarp();
    add_found(next.status, found.vertices, found.edges);
}

__device__ bool is_set(const u32* bits, u32 vertex) { return bits[vertex / 32] >> vertex % 32 & 1; }

// In-neighbours that a lane checks alone before its warp helps.
const u32 ALONE = 16;

// A warp for 32 vertices: searches the in-neighbours of unvisited ones for a vertex of the frontier.
__global__ void bottom_up(Search search, const u64* __restrict__ in_offsets, const u32* __restrict__ sources, u32 level,
                          Status* status) {
    const u32* __restrict__ frontier = search.frontier;
    u64 words = (search.vertices + 31) / 32, warps = (u64)gridDim.x * blockDim.x / 32;
    u32 lane = threadIdx.x % 32;
    Found all = {};
    for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32; word < words; word += warps) {
        u32 visited = search.visited[word];
        u64 vertex = word * 32 + lane;
        bool open = vertex < search.vertices && !(visited >> lane & 1), found = false;
        u64 edge = open ? in_offsets[vertex] : 0, end = open ? in_offsets[vertex + 1] : 0;
        u64 alone = min(end, (u64)(edge + ALONE));
        for (; edge < alone && !found; edge++) found = is_set(frontier, sources[edge]);
        __syncwarp();
        for (u32 waiting = __ballot_sync(0xffffffffu, !found && edge < end); waiting != 0; waiting &= waiting - 1) {
            u32 of = __ffs(waiting) - 1;
            u64 from = __shfl_sync(0xffffffffu, edge, of), to = __shfl_sync(0xffffffffu, end, of);
            bool hit = false;
            for (; from < to && !hit; from += 32) {
                bool own = from + lane < to && is_set(frontier, sources[from + lane]);
                hit = __any_sync(0xffffffffu, own);
            }
            if (lane == of) found = hit;
        }
        u32 news = __ballot_sync(0xffffffffu, found);
        if (lane == 0) {
            search.next_frontier[word] = news;
            search.visited[word] = visited | news;
        }
        if (!found) continue;
        search.levels[vertex] = level;
        all.vertices++;
        all.edges += search.out_offsets[vertex + 1] - search.out_offsets[vertex];
    }
    __syncwarp();
    add_found(status, all.vertices, all.edges);
}

// The vertices of a level as a bit set.
__global__ void level_to_bits(Search search, u32 level) {
    u64 words = (search.vertices + 31) / 32, warps = (u64)gridDim.x * blockDim.x / 32;
    for (u64 word = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32; word < words; word += warps) {
        u64 vertex = word * 32 + threadIdx.x % 32;
        u32 bits = __ballot_sync(0xffffffffu, vertex < search.vertices && search.levels[vertex] == level);
        if (threadIdx.x % 32 == 0) search.frontier[word] = bits;
    }
}

__global__ void bits_to_queue(Search search, Queue queue) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 vertex = (u64)blockIdx.x * blockDim.x + threadIdx.x; vertex < search.vertices; vertex += step) {
        if (is_set(search.frontier, (u32)vertex)) {
            enqueue(queue, (u32)vertex, search.out_offsets[vertex + 1] - search.out_offsets[vertex]);
        }
    }
}

// Counts edges that skip a level, and vertices with a parent.
__global__ void check_edges(Search search, const u32* sources, u64 edges, u32* parents, u64* wrong) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 edge = (u64)blockIdx.x * blockDim.x + threadIdx.x; edge < edges; edge += step) {
        u32 from = search.levels[sources[edge]], dest = search.dests[edge], to = search.levels[dest];
        if (from == UNREACHED) continue;
        if (to == UNREACHED || to > from + 1) atomicAdd(wrong, 1ull);
        if (to == from + 1 && !is_set(parents, dest)) atomicOr(parents + dest / 32, 1u << dest % 32);
    }
}

__global__ void count_bits(const u32* bits, u64 words, u64* count) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 word = (u64)blockIdx.x * blockDim.x + threadIdx.x; word < words; word += step) {
        if (bits[word] != 0) atomicAdd(count, (u64)__popc(bits[word]));
    }
}

struct Searcher {
    const Graph& graph;
    Search search;
    Queue queues[2];
    Status* host_status;

    explicit Searcher(const Graph& graph) : graph(graph), search(), queues(), host_status(nullptr) {
        u64 words = (graph.vertices + 31) / 32;
        search.out_offsets = graph.out.offsets;
        search.dests = graph.out.neighbours;
        search.vertices = graph.vertices;
        search.levels = device_array<u32>(graph.vertices);
        search.visited = device_array<u32>(words);
        search.frontier = device_array<u32>(words);
        search.next_frontier = device_array<u32>(words);
        for (Queue& queue : queues) {
            for (u32*& bin : queue.bins) bin = device_array<u32>(graph.vertices);
            queue.chunks = device_array<u64>(graph.out.chunk_count);
            queue.status = device_array<Status>(1);
        }
        CHECK(cudaMallocHost(&host_status, sizeof(Status)));
    }

    Status read(const Queue& queue) {
        CHECK(cudaMemcpyAsync(host_status, queue.status, sizeof(Status), cudaMemcpyDeviceToHost));
        CHECK(cudaStreamSynchronize(0));
        return *host_status;
    }

    void expand(const Queue& queue, const Status& status, const Queue& next, u32 level) {
        u32 few = status.counts[0], many = status.counts[1], chunks = status.counts[2];
        if (few > 0) top_down<8><<<blocks_for(few * 8ull), BLOCK>>>(search, queue.bins[0], few, next, level);
        if (many > 0) top_down<32><<<blocks_for(many * 32ull), BLOCK>>>(search, queue.bins[1], many, next, level);
        if (chunks > 0) {
            top_down_chunks<<<blocks_for(chunks * (u64)BLOCK), BLOCK>>>(search, queue.chunks, chunks, next, level);
        }
    }

    // Runs a search; returns the numbers of vertices and edges reached, and of levels.
    Found run(u32 source, bool optimize, u32& levels) {
        u64 words = (graph.vertices + 31) / 32;
        CHECK(cudaMemsetAsync(search.levels, 0xff, graph.vertices * sizeof(u32)));
        CHECK(cudaMemsetAsync(search.visited, 0, words * sizeof(u32)));
        int now = 0;
        CHECK(cudaMemsetAsync(queues[now].status, 0, sizeof(Status)));
        plant<<<1, 32>>>(search, queues[now], source);
        Status status = read(queues[now]);
        Found all = {};
        bool up = false;
        for (levels = 0; status.vertices > 0; levels++) {
            all.vertices += status.vertices;
            all.edges += status.edges;
            bool was_up = up;
            u64 unexplored = graph.edges - all.edges;
            if (!up) up = optimize && status.edges > unexplored / ALPHA;
            else up = status.vertices > graph.vertices / BETA;
            Queue& next = queues[1 - now];
            if (up && !was_up) level_to_bits<<<blocks_for(words * 32), BLOCK>>>(search, levels);
            if (!up && was_up) {
                CHECK(cudaMemsetAsync(queues[now].status, 0, sizeof(Status)));
                bits_to_queue<<<blocks_for(graph.vertices), BLOCK>>>(search, queues[now]);
                status = read(queues[now]);
            }
            CHECK(cudaMemsetAsync(next.status, 0, sizeof(Status)));
            if (up) {
                bottom_up<<<blocks_for(words * 32), BLOCK>>>(search, graph.in.offsets, graph.in.neighbours, levels + 1,
                                                             next.status);
                std::swap(search.frontier, search.next_frontier);
            } else {
                expand(queues[now], status, next, levels + 1);
            }
            now = 1 - now;
            status = read(queues[now]);
        }
        return all;
    }

    // Levels differ by at most one along an edge, and all vertices except the source have a parent one level up.
    void check(const Found& found) {
        u64 words = (graph.vertices + 31) / 32, host[2] = {};
        u64* counts = device_array<u64>(2);
        CHECK(cudaMemset(counts, 0, 2 * sizeof(u64)));
        CHECK(cudaMemset(search.next_frontier, 0, words * sizeof(u32)));
        check_edges<<<blocks_for(graph.edges), BLOCK>>>(search, graph.sources, graph.edges, search.next_frontier,
                                                        counts);
        count_bits<<<blocks_for(words), BLOCK>>>(search.next_frontier, words, counts + 1);
        CHECK(cudaMemcpy(host, counts, sizeof host, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(counts));
        if (host[0] != 0 || host[1] + 1 != found.vertices) {
            fprintf(stderr, "%llu edges skip a level; %llu of %llu vertices have a parent\n", host[0], host[1],
                    found.vertices);
            fail("levels are wrong");
        }
    }

    void measure(const char* name, bool optimize, u32 hub, const std::vector<u32>& sources, int runs) {
        u32 levels = 0;
        Found found = {};
        Spread ms = measured(runs, [&] { found = run(hub, optimize, levels); });
        check(found);
        print_time(name, ms);
        printf(",\"source\":%u,\"reached\":%llu,\"levels\":%u,\"teps\":%.4e}\n", hub, found.vertices, levels,
               found.edges / ms.median * 1e3);
        double inverse = 0, total_ms = 0;
        for (u32 source : sources) {
            Timer timer;
            timer.start();
            found = run(source, optimize, levels);
            double ms = timer.stop_ms();
            check(found);
            inverse += ms / 1e3 / found.edges;
            total_ms += ms;
        }
        if (!sources.empty()) {
            printf("{\"name\":\"%s_harmonic\",\"sources\":%zu,\"mean_ms\":%.6f,\"teps\":%.4e}\n", name, sources.size(),
                   total_ms / sources.size(), sources.size() / inverse);
        }
        fflush(stdout);
    }
};

static std::vector<u32> numbers(const char* text) {
    std::vector<u32> found;
    for (const char* at = text; *at;) {
        char* end = nullptr;
        found.push_back((u32)strtoul(at, &end, 10));
        if (end == at) fail("--sources takes numbers with commas between them");
        at = *end == ',' ? end + 1 : end;
    }
    return found;
}

int main(int count, char** arguments) {
    const char* path = nullptr;
    bool only_walls = false;
    int runs = 5;
    std::vector<u32> sources;
    for (int at = 1; at < count; at++) {
        std::string argument = arguments[at];
        bool more = at + 1 < count;
        if (argument == "--walls") only_walls = true;
        else if (argument == "--runs" && more) runs = std::max(1, atoi(arguments[++at]));
        else if (argument == "--sources" && more) sources = numbers(arguments[++at]);
        else if (argument[0] != '-' && !path) path = arguments[at];
        else fail("usage: baseline --walls | baseline GRAPH [--runs N] [--sources 1,2,3]");
    }
    if (!path && !only_walls) fail("usage: baseline --walls | baseline GRAPH [--runs N] [--sources 1,2,3]");
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    multiprocessors = device.multiProcessorCount;
    printf("{\"name\":\"device\",\"device\":\"%s\",\"multiprocessors\":%d}\n", device.name, multiprocessors);
    walls(runs);
    if (!path) return 0;
    Graph graph = read_graph(path);
    printf("{\"name\":\"graph\",\"vertices\":%llu,\"edges\":%llu}\n", graph.vertices, graph.edges);
    fflush(stdout);
    const std::vector<u32>& degrees = graph.out_degrees;
    u32 hub = (u32)(std::max_element(degrees.begin(), degrees.end()) - degrees.begin());
    if (degrees[hub] == 0) fail("the graph has no edge");
    for (u32 source : sources) {
        if (source >= graph.vertices || degrees[source] == 0) fail("a source has no out-edges");
    }
    upper_bounds(graph, runs);
    all_pageranks(graph, runs);
    Searcher searcher(graph);
    searcher.measure("bfs_top_down", false, hub, sources, runs);
    if (graph.has_in) searcher.measure("bfs_direction_optimizing", true, hub, sources, runs);
    return 0;
}
