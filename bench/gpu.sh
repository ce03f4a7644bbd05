#!/usr/bin/env bash
# Measures a GPU into bench/results/gpu-*.json: about 8 minutes and 50 GB of disk on an H200 with a 3 GB/s SSD.
#
#     bench/gpu.sh                                     everything, R-MAT 24 and 26
#     bench/gpu.sh --scale 24 --only vram,bus          some experiments
#     bench/gpu.sh --quick --device 0                  small graphs, on device 0 of `topostream devices`
#
# Options are those of `topostream-bench gpu --help`. TOPOSTREAM_BENCH names an existing binary; with nvcc on
# the path (or NVCC set) the CUDA baseline is built and measured too. Stores are kept in BENCH_DIR, on the disk to
# measure.
source "$(dirname "$0")/common.sh"
find_bench

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
