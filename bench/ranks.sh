#!/usr/bin/env bash
# Measures ranks of topostream-mpi on one machine beside one process with as many threads: time, through the memory that
# they share and by messages as between machines, the bytes of messages beside those of the schedule, and what a
# checkpoint costs.
#
#     bench/ranks.sh                      PageRank on R-MAT 22 in BENCH_DIR, 1, 2, 4 and 8 ranks that share all cores
#     bench/ranks.sh --scale 16 --ranks 1,2 --runs 1          functional check
#
# BENCH_DIR is the folder for stores. TOPOSTREAM and TOPOSTREAM_MPI name existing binaries; by default they are built.
# MPIRUN holds the launcher and its options. Each line is the median of --runs runs over a store in the page cache.
set -euo pipefail
cd "$(dirname "$0")/.."

scale=22 ranks=1,2,4,8 runs=5 iterations=20 strategies=replicate,shard
while [ $# -gt 0 ]; do
    case $1 in
        --scale) scale=$2 ;;
        --ranks) ranks=$2 ;;
        --runs) runs=$2 ;;
        --iterations) iterations=$2 ;;
        --strategies) strategies=$2 ;;
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
default="mpirun --allow-run-as-root --oversubscribe --bind-to none"
default+=" --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo"
read -ra mpirun <<<"${MPIRUN:-$default}"
cores=$(nproc)
store=$dir/ranks-$scale
[ -e "$store" ] || "$topostream" generate rmat --scale "$scale" --store "$store" --in-edges

# Medians and spread of `wall_ns` in ms, the bytes between ranks in a superstep, and what the schedule needs: 4 bytes of
# each gathered value for each other rank (pull: of vertices with out-edges), or 8 of each sum.
summary='
import json, statistics, sys
strategy, traffic, ranks, vertices, outgoing = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
reports = [json.loads(text) for text in sys.stdin.read().split("\0") if text.strip()]
ms = [report["wall_ns"] / 1e6 for report in reports]
network = reports[0]["total"].get("network_bytes", 0) / max(1, len(reports[0]["steps"]))
needed = {"pull": 4 * outgoing, "push": (8 if strategy == "replicate" else 4) * vertices}[traffic] * max(0, ranks - 1)
share = f"{network / needed:.3f}" if needed else "-"
print(f"{statistics.median(ms):.1f} {min(ms):.0f}-{max(ms):.0f} {network:.0f} {share}")
'
read -r vertices outgoing < <("$topostream" info "$store" --json | python3 -c '
import json, sys
info = json.load(sys.stdin)
vertices = info["manifest"]["vertices"]
print(vertices, vertices - info["degrees"][0]["empty"])
')
printf '%-16s %14s %8s %10s %14s %8s %14s %12s\n' strategy ranks threads ms spread ratio 'bytes a step' 'of schedule'
for strategy in ${strategies//,/ }; do
    for traffic in pull push; do
        common=(run pagerank "$store" --iterations "$iterations" --traffic "$traffic")
        common+=(--device cpu --tune strategy="$strategy" --json)
        one=
        ways=(0)
        for count in ${ranks//,/ }; do
            ways+=("$count")
            [ "$count" = 1 ] || ways+=("$count,messages")
        done
        # One process again at the end: machines change.
        ways+=(0)
        for way in "${ways[@]}"; do
            count=${way%,*}
            threads=$((count > 0 ? (cores + count - 1) / count : cores))
            command=("$topostream")
            shared=$([ "$way" = "$count" ] && echo on || echo off)
            environment=(env TOPOSTREAM_RANKS_SHARE_MEMORY="$shared")
            [ "$count" = 0 ] || command=("${mpirun[@]}" -n "$count" "${environment[@]}" "$topostream_mpi")
            for _ in $(seq "$runs"); do
                "${command[@]}" "${common[@]}" --threads "$threads"
                printf '\0'
            done >"$dir/ranks.out"
            of=("$strategy" "$traffic" "$count" "$vertices" "$outgoing")
            read -r ms spread bytes share < <(python3 -c "$summary" "${of[@]}" <"$dir/ranks.out")
            one=${one:-$ms}
            ratio=$(python3 -c "print(f'{$ms / $one:.2f}')")
            name=$([ "$count" = 0 ] && echo 'one process' || echo "${way/,/, }")
            row=("$strategy $traffic" "$name" "$threads" "$ms" "$spread" "$ratio" "$bytes" "$share")
            printf '%-16s %14s %8s %10s %14s %8s %14s %12s\n' "${row[@]}"
        done
    done
done

# A checkpoint after every fifth superstep: the time of one, and its share of a minute.
cost='
import json, statistics, sys
found = [json.loads(text)["checkpoints"] for text in sys.stdin.read().split("\0") if text.strip()]
ms = [one["ns"] / 1e6 / max(1, one["written"]) for one in found]
size = found[0]["bytes"] // max(1, found[0]["written"])
print(f"{size} bytes, {statistics.median(ms):.1f} ms ({min(ms):.0f}-{max(ms):.0f}), "
      f"{statistics.median(ms) / 600:.2f}% of the time at one a minute")
'
for count in 0 2; do
    command=("$topostream")
    [ "$count" = 0 ] || command=("${mpirun[@]}" -n "$count" "$topostream_mpi")
    for _ in $(seq "$runs"); do
        rm -rf "$dir/ranks.checkpoints"
        "${command[@]}" run pagerank "$store" --iterations "$iterations" --device cpu --json \
            --checkpoint "$dir/ranks.checkpoints" --checkpoint-every 5
        printf '\0'
    done >"$dir/ranks.out"
    name=$([ "$count" = 0 ] && echo 'one process' || echo "$count ranks")
    echo "checkpoint of $name: $(python3 -c "$cost" <"$dir/ranks.out")"
done
rm -rf "$dir/ranks.out" "$dir/ranks.checkpoints"
