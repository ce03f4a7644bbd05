#!/usr/bin/env bash
# Measures the time of processes beyond their runs, on the CPU and on a GPU, into bench/results/start.json.
#
#     bench/start.sh                                   R-MAT 24 and 26, CPU and GPU
#     bench/start.sh --scale 20,22 --device cpu        small graphs, no GPU
#
# Options are those of `topostream-bench start --help`. TOPOSTREAM_BENCH names an existing binary, with `topostream` in
# the same folder. Stores are kept in BENCH_DIR, on the disk to measure.
source "$(dirname "$0")/common.sh"
find_bench -p topostream
[ $# -gt 0 ] || set -- --scale 24,26 --device cpu,gpu --json bench/results/start.json
exec "$bench" start --dir "$dir" "$@"
