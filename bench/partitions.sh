#!/usr/bin/env bash
# Measures partitions of a graph's vertices: edges between parts, values that parts read of each other, and PageRank by
# pull with a device for each part, which is sent the values that it reads.
#
#     bench/partitions.sh roads.mtx                       2 and 4 parts
#     bench/partitions.sh roads.mtx --parts 4 --runs 3
#
# The graph is any input of `topostream format`, read as undirected. Parts are ranges of vertices in the order of the
# file, with equal numbers of edges, or those of METIS if gpmetis is on the path (Debian: metis). BENCH_DIR is the folder for stores. TOPOSTREAM names an existing binary; by default it is built.
set -euo pipefail
cd "$(dirname "$0")/.."

input=${1:?a graph} parts=2,4 runs=5
shift
while [ $# -gt 0 ]; do
    case $1 in
        --parts) parts=$2 ;;
        --runs) runs=$2 ;;
        *) echo "unknown option $1" >&2; exit 2 ;;
    esac
    shift 2
done
dir=$(mktemp -d "${BENCH_DIR:-/tmp}/partitions.XXXX")
trap 'rm -rf "$dir"' EXIT
if [ -z "${TOPOSTREAM:-}" ]; then
    cargo build --release --bin topostream
fi
topostream=${TOPOSTREAM:-${CARGO_TARGET_DIR:-target}/release/topostream}
layout=(--symmetrize --remove-duplicates --remove-self-loops --order natural --page-size 64KiB)
"$topostream" format "$input" "$dir/graph" "${layout[@]}" >"$dir/log" || { cat "$dir/log" >&2; exit 1; }

# METIS numbers vertices from 1, in ascending order of their ids.
if command -v gpmetis >/dev/null; then
    "$topostream" extract "$dir/graph" --all --output "$dir/edges.txt" >/dev/null
    python3 - "$dir/edges.txt" "$dir/graph.metis" <<'P'
import sys
lists = {}
for line in open(sys.argv[1]):
    if not line.startswith(("#", "%")):
        a, b = (int(word) for word in line.split()[:2])
        lists.setdefault(a, set()).add(b)
        lists.setdefault(b, set()).add(a)
number = {vertex: place for place, vertex in enumerate(sorted(lists), 1)}
with open(sys.argv[2], "w") as out:
    print(len(number), sum(map(len, lists.values())) // 2, file=out)
    for vertex in number:
        print(*(number[other] for other in sorted(lists[vertex])), file=out)
P
fi

# One line of the table: of reports, the median time of an iteration and the bytes that are sent and received in one.
line='
import json, statistics, sys
rule, count, figures = sys.argv[1], sys.argv[2], sys.argv[3]
modes = []
for mode in sys.stdin.read().split("\1"):
    reports = [json.loads(text) for text in mode.split("\0") if text.strip()]
    if reports:
        steps = len(reports[0]["steps"])
        modes.append((reports[0]["total"]["merged_bytes"] / steps, [one["wall_ns"] / steps / 1e6 for one in reports]))
(linked, _), (mirrored, ms) = modes
print(f"{rule:12} {count:>5} {figures} {linked / 1e3:>12.1f} {mirrored / 1e3:>13.1f} {mirrored / linked:>8.3f}"
      f" {statistics.median(ms):>8.2f} ({min(ms):.2f}-{max(ms):.2f})")
'
printf '%-12s %5s %9s %10s %12s %13s %8s %8s\n' rule parts 'cut' 'values' 'linked, kB' 'mirrored, kB' 'of them' 'ms'
for count in ${parts//,/ }; do
    metis=()
    if [ -e "$dir/graph.metis" ]; then
        gpmetis "$dir/graph.metis" "$count" >/dev/null
        metis=("--from $dir/graph.metis.part.$count")
    fi
    for rule in "" "${metis[@]}"; do
        # Words of a rule are options.
        # shellcheck disable=SC2086
        "$topostream" partition "$dir/graph" --parts "$count" $rule --output "$dir/order.txt" >"$dir/said"
        figures=$(sed -nE 's/^([0-9.]+%) of all edges.* read ([0-9,]+) values.*/\1 \2/p' "$dir/said")
        weights=$(sed -nE 's/.*--shard-weights ([0-9,.]+)$/\1/p' "$dir/said")
        rm -rf "$dir/parted"
        "$topostream" reformat "$dir/graph" "$dir/parted" --order-file "$dir/order.txt" --shards "$count" \
            --balance vertices --shard-weights "$weights" --page-size 64KiB >"$dir/log"
        devices=$(printf 'cpu,%.0s' $(seq "$count"))
        for mode in linked mirrored; do
            [ "$mode" = linked ] || "$topostream" mirrors "$dir/parted" >"$dir/log"
            for _ in $(seq "$runs"); do
                "$topostream" run pagerank "$dir/parted" --iterations 20 --traffic pull --tune strategy=shard \
                    --device "${devices%,}" --json
                printf '\0'
            done
            printf '\1'
        done | python3 -c "$line" "$([ -n "$rule" ] && echo METIS || echo ranges)" "$count" \
            "$(printf '%9s %10s' $figures)"
    done
done
