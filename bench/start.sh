#!/usr/bin/env bash
# Processes beyond their runs, on the CPU and on a GPU, into bench/results/start.json.
#
#     bench/start.sh                                   R-MAT 24 and 26, CPU and GPU
#     bench/start.sh --scale 20,22 --device cpu        small graphs, no GPU
#
# Options are those of `topostream-bench start --help`. TOPOSTREAM_BENCH names an existing binary, with `topostream` in
# the same folder. Stores are kept in BENCH_DIR, on the disk to measure.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${BENCH_DIR:-target/bench}
mkdir -p "$dir"

bench=${TOPOSTREAM_BENCH:-}
if [ -z "$bench" ]; then
    cargo build --release -p topostream -p topostream-bench
    bench=${CARGO_TARGET_DIR:-target}/release/topostream-bench
fi
[ $# -gt 0 ] || set -- --scale 24,26 --device cpu,gpu --json bench/results/start.json
exec "$bench" start --dir "$dir" "$@"
