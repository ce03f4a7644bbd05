#!/usr/bin/env bash
# What a GPU gives, into bench/results/gpu-*.json: about 8 minutes and 50 GB of disk on an H200 with a 3 GB/s SSD.
#
#     bench/gpu.sh                                     everything, R-MAT 24 and 26
#     bench/gpu.sh --scale 24 --only vram,bus          some of it
#     bench/gpu.sh --quick --device 0                  small graphs, on whatever `topostream devices` calls 0
#
# Options are those of `topostream-bench gpu --help`. TOPOSTREAM_BENCH names an existing binary; with nvcc on
# the path (or NVCC set) the CUDA baseline is built and measured too. Stores are kept in BENCH_DIR, on the disk to
# measure.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${BENCH_DIR:-target/bench}
mkdir -p "$dir"

bench=${TOPOSTREAM_BENCH:-}
if [ -z "$bench" ]; then
    cargo build --release -p topostream-bench
    bench=${CARGO_TARGET_DIR:-target}/release/topostream-bench
fi

baseline=()
nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)}
if [ -n "$nvcc" ]; then
    if [ bench/cuda/baseline.cu -nt "$dir/baseline" ]; then
        "$nvcc" -O3 -std=c++17 -arch=native -o "$dir/baseline" bench/cuda/baseline.cu
    fi
    baseline=(--baseline "$dir/baseline")
else
    echo "no nvcc: no comparison with CUDA" >&2
fi

exec "$bench" gpu --dir "$dir" "${baseline[@]}" "$@"
