#!/usr/bin/env bash
# Measures ranks of topostream-mpi on one machine beside one process with as many threads: time, and bytes between ranks.
#
#     bench/ranks.sh                      PageRank on R-MAT 22 in BENCH_DIR, 1, 2, 4 and 8 ranks that share all cores
#     bench/ranks.sh --scale 16 --ranks 1,2 --runs 1          functional check
#
# BENCH_DIR is the folder for stores. TOPOSTREAM and TOPOSTREAM_MPI name existing binaries; by default they are built.
# MPIRUN holds the launcher and its options. Each line is the median of --runs runs over a store in the page cache.
set -euo pipefail
cd "$(dirname "$0")/.."

scale=22 ranks=1,2,4,8 runs=5 iterations=20
while [ $# -gt 0 ]; do
    case $1 in
        --scale) scale=$2 ;;
        --ranks) ranks=$2 ;;
        --runs) runs=$2 ;;
        --iterations) iterations=$2 ;;
        *) echo "unknown option $1" >&2; exit 2 ;;
    esac
    shift 2
done
dir=${BENCH_DIR:-/tmp/topostream-bench}
mkdir -p "$dir"
built=${CARGO_TARGET_DIR:-target}/release
if [ -z "${TOPOSTREAM:-}" ] || [ -z "${TOPOSTREAM_MPI:-}" ]; then
    cargo build --release --bin topostream
    cargo build --release -p topostream-mpi --features mpi
fi
topostream=${TOPOSTREAM:-$built/topostream}
topostream_mpi=${TOPOSTREAM_MPI:-$built/topostream-mpi}
default="mpirun --allow-run-as-root --oversubscribe --bind-to none --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo"
read -ra mpirun <<<"${MPIRUN:-$default}"
cores=$(nproc)
store=$dir/ranks-$scale
[ -e "$store" ] || "$topostream" generate rmat --scale "$scale" --store "$store" --in-edges

# Median of `wall_ns` of some runs in ms, and the bytes between ranks in a superstep, of reports in JSON.
summary='
import json, statistics, sys
reports = [json.loads(text) for text in sys.stdin.read().split("\0") if text.strip()]
ms = statistics.median(report["wall_ns"] / 1e6 for report in reports)
network = reports[0]["total"].get("network_bytes", 0) / max(1, len(reports[0]["steps"]))
print(f"{ms:.1f} {network:.0f}")
'
printf '%-12s %6s %8s %10s %10s %22s\n' strategy ranks threads ms ratio 'network bytes a step'
for strategy in replicate shard; do
    for traffic in pull push; do
        common=(run pagerank "$store" --iterations "$iterations" --traffic "$traffic" --device cpu --strategy "$strategy" --json)
        one=
        for count in 0 ${ranks//,/ }; do
            threads=$((count > 0 ? (cores + count - 1) / count : cores))
            command=("$topostream")
            [ "$count" = 0 ] || command=("${mpirun[@]}" -n "$count" "$topostream_mpi")
            for _ in $(seq "$runs"); do
                "${command[@]}" "${common[@]}" --threads "$threads"
                printf '\0'
            done >"$dir/ranks.out"
            read -r ms bytes < <(python3 -c "$summary" <"$dir/ranks.out")
            one=${one:-$ms}
            ratio=$(python3 -c "print(f'{$ms / $one:.2f}')")
            name=$([ "$count" = 0 ] && echo 'one process' || echo "$count")
            printf '%-12s %6s %8s %10s %10s %22s\n' "$strategy $traffic" "$name" "$threads" "$ms" "$ratio" "$bytes"
        done
    done
done
