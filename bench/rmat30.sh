#!/usr/bin/env bash
# R-MAT 30 on one machine: generate, verify, then ten iterations of PageRank and a validated BFS, from disk, from main
# memory and, on a GPU, from device memory, beside raw O_DIRECT reads. Prints a table. Scale 30 takes a machine with
# 128 GiB, 16 cores, 64 GB of disk.
#
#     bench/rmat30.sh                               scale 30, on the default device
#     SCALE=20 MEMORY=1GiB bench/rmat30.sh          tries it here
#     DEVICE=gpu bench/rmat30.sh                    runs on the GPU
#
# SCALE is the graph's, MEMORY the formatter's budget and that of `verify`, STREAM_BUFFER the page buffer of runs from
# disk. IN_MEMORY=0 leaves out the runs from main memory, RUN_MEMORY is their budget, IN_DEVICE_MEMORY=0 those from
# device memory. DEVICE is that of `topostream run`. TOPOSTREAM names an existing binary. The store is kept in
# BENCH_DIR/rmat-SCALE and used again if it is there, reports are in BENCH_DIR/rmat-SCALE-reports.
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
reports=$dir/rmat-$scale-reports
mkdir -p "$reports"
: > "$log"

now() { date +%s%N; }
# Prints a line of the table: what, nanoseconds, bytes, edges.
line() {
    awk -v what="$1" -v ns="$2" -v bytes="$3" -v edges="$4" 'BEGIN {
        printf "%-34s %9.2f s %9.2f GB %7.2f GB/s %9.1f M edges/s\n",
            what, ns / 1e9, bytes / 1e9, bytes / ns, edges * 1e3 / ns }'
}
# The first value of a field in the last report.
field() { grep -m1 "\"$1\":" "$report" | tr -dc '0-9'; }
# The value of a field of the report's totals.
total() { sed -n '/"total"/,$p' "$report" | grep -m1 "\"$1\":" | tr -dc '0-9'; }
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
# Runs an algorithm and prints its line: name, arguments. Keeps its report; a run that fails does not end the others.
run() {
    local name=$1
    shift
    report=$reports/$(tr -dc 'A-Za-z0-9' <<< "$name").json
    if ! "$topostream" run "$@" --device "$device" --json > "$report" 2>> "$log"; then
        echo "$name: failed, see $log"
        return
    fi
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
# On a GPU a run keeps the pages that it has read in device memory, unless it is told to keep none.
on_gpu=()
if [ "$device" != cpu ]; then
    on_gpu=(--tune device-cache=0)
fi
# Both algorithms with pages in one place: its name, options.
both() {
    local where=$1
    shift
    run "PageRank, 10 iterations, $where" pagerank "$store" --iterations 10 "$@"
    run "BFS, validated, $where" bfs "$store" --source max-degree --parents --validate "$@"
}
both disk --tune buffer="$stream" "${on_gpu[@]}"
if [ "${IN_MEMORY:-1}" = 1 ]; then
    # The first iteration reads every page, later ones find it in the page buffer.
    both "main memory" --memory "${RUN_MEMORY:-$memory}" "${on_gpu[@]}"
fi
if [ "$device" != cpu ] && [ "${IN_DEVICE_MEMORY:-1}" = 1 ]; then
    both "device memory" --tune buffer="$stream"
fi
