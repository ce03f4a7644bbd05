# shellcheck shell=bash
# Sourced by the scripts in this folder, which then run in the repository's root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dir=${BENCH_DIR:-target/bench}
built=${CARGO_TARGET_DIR:-target}/release
mkdir -p "$dir"

# Sets `bench` to TOPOSTREAM_BENCH. Without it, builds the benchmarks and the packages of further `-p` arguments.
find_bench() {
    bench=${TOPOSTREAM_BENCH:-}
    if [ -z "$bench" ]; then
        cargo build --release -p topostream-bench "$@"
        bench=$built/topostream-bench
    fi
}
