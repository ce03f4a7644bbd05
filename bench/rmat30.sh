#!/usr/bin/env bash
# R-MAT 30 on one machine: generate, verify, then ten iterations of PageRank and a validated BFS, from disk and from
# memory, beside raw O_DIRECT reads. Prints a table. Scale 30 takes a machine with 128 GiB, 16 cores, 64 GB of disk.
#
#     bench/rmat30.sh                               scale 30, on the default device
#     SCALE=20 MEMORY=1GiB bench/rmat30.sh          tries it here
#     DEVICE=gpu bench/rmat30.sh                    runs on the GPU
#
# SCALE is the graph's, MEMORY the formatter's budget and that of `verify`, STREAM_BUFFER the page buffer of runs from
# disk. IN_MEMORY=0 leaves out the runs from memory, RUN_MEMORY is their budget, DEVICE is that of `topostream run`.
# TOPOSTREAM names an existing binary. The store is kept in BENCH_DIR/rmat-SCALE and used again if it is there.
source "$(dirname "$0")/common.sh"

scale=${SCALE:-30}
default_memory=96GiB default_stream=8GiB
if [ "$scale" -lt 28 ]; then default_memory=4GiB default_stream=64MiB; fi
memory=${MEMORY:-$default_memory}
stream=${STREAM_BUFFER:-$default_stream}
device=${DEVICE:-cpu}
topostream=${TOPOSTREAM:-}
if [ -z "$topostream" ]; then
    cargo build --release
    topostream=$built/topostream
fi
store=$dir/rmat-$scale
log=$dir/rmat-$scale.log
: > "$log"

now() { date +%s%N; }
# Prints a line of the table: what, nanoseconds, bytes, edges.
line() {
    awk -v what="$1" -v ns="$2" -v bytes="$3" -v edges="$4" 'BEGIN {
        printf "%-34s %9.2f s %9.2f GB %7.2f GB/s %9.1f M edges/s\n",
            what, ns / 1e9, bytes / 1e9, bytes / ns, edges * 1e3 / ns }'
}
# The first value of a field in the last report.
field() { grep -m1 "\"$1\":" "$dir/report.json" | tr -dc '0-9'; }
# The value of a field of the report's totals.
total() { sed -n '/"total"/,$p' "$dir/report.json" | grep -m1 "\"$1\":" | tr -dc '0-9'; }
# Reads the store's pages with O_DIRECT, four parts at a time.
raw_read() {
    local pages=$store/pages.0 parts=4 block=$((16 << 20)) blocks
    blocks=$(((page_bytes + block * parts - 1) / (block * parts)))
    local jobs=()
    for ((part = 0; part < parts; part++)); do
        dd if="$pages" of=/dev/null bs=$block iflag=direct skip=$((part * blocks)) count=$blocks 2> /dev/null &
        jobs+=($!)
    done
    wait "${jobs[@]}"
}
# Runs an algorithm and prints its line: name, arguments.
run() {
    local name=$1
    shift
    "$topostream" run "$@" --device "$device" --json > "$dir/report.json" 2>> "$log"
    line "$name" "$(field wall_ns)" "$(total disk_bytes)" "$(total edges)"
}

edges=$((16 << scale))
if [ ! -e "$store/graph.json" ]; then
    begin=$(now)
    "$topostream" generate rmat --scale "$scale" --store "$store" --encoding packed --order degree-groups \
        --memory "$memory" >> "$log" 2>&1
    line "generate and format" $(($(now) - begin)) "$(du -sB1 "$store" | cut -f1)" "$edges"
fi
page_bytes=$(stat -c %s "$store/pages.0")
begin=$(now)
"$topostream" verify "$store" --memory "$memory" >> "$log" 2>&1
line "verify" $(($(now) - begin)) "$page_bytes" "$edges"
begin=$(now)
raw_read
line "raw O_DIRECT read" $(($(now) - begin)) "$page_bytes" 0
run "PageRank, 10 iterations, disk" pagerank "$store" --iterations 10 --buffer "$stream"
run "BFS, validated, disk" bfs "$store" --source max-degree --parents --validate --buffer "$stream"
if [ "${IN_MEMORY:-1}" = 1 ]; then
    # Every page stays in the buffer, or on the GPU, after the first iteration has read it.
    run "PageRank, 10 iterations, memory" pagerank "$store" --iterations 10 --memory "${RUN_MEMORY:-$memory}"
    run "BFS, validated, memory" bfs "$store" --source max-degree --parents --validate \
        --memory "${RUN_MEMORY:-$memory}"
fi
