#!/usr/bin/env bash
# The tables of docs/scaling.md: `topostream plan` for graphs of 10^12 edges on 64 machines, and for graphs that have
# been measured. Nothing is run but plans; two small stores are generated as samples of lists and pages.
#
#     bench/scaling.sh
#
# TOPOSTREAM names an existing binary. RATES is a file of rates in place of bench/scaling/sixteen-cores.json. The stores
# are kept in BENCH_DIR and used again if they are there.
source "$(dirname "$0")/common.sh"

topostream=${TOPOSTREAM:-}
if [ -z "$topostream" ]; then
    cargo build --release
    topostream=$built/topostream
fi
rates=${RATES:-bench/scaling/sixteen-cores.json}
threads=16
mkdir -p "$dir"
for factor in 16 256; do
    for lists in out both; do
        store=$dir/sample-$factor-$lists
        scale=20
        if [ "$factor" = 256 ]; then scale=16; fi
        in_edges=()
        if [ "$lists" = both ]; then in_edges=(--in-edges); fi
        [ -e "$store/graph.json" ] || "$topostream" generate rmat --scale "$scale" --edge-factor "$factor" \
            --store "$store" --quiet "${in_edges[@]}"
    done
done

# A file of rates with disks of so many bytes a second in all.
disks() {
    sed "s/\"disk_bytes_per_s\": [^,]*/\"disk_bytes_per_s\": $1/" "$rates" > "$dir/rates-$1.json"
    echo "$dir/rates-$1.json"
}
# Prints a line: what, then the arguments of `plan`.
plan() {
    local what=$1
    shift
    "$topostream" plan "$@" --device cpu --threads "$threads" --json | python3 -c '
import json, sys
row = json.load(sys.stdin)[0]
one, of = row["prediction"], row.get("machines")
if of is None:
    terms = one["terms"]
    of = {"count": 1, "pages_ns": max(terms[name + "_ns"] for name in ("ssd", "bus", "kernel")),
          "vertex_ns": terms["vertex_ns"], "merge_ns": 0, "network_ns": 0, "total_ns": one["total_ns"],
          "pages_bytes": 0, "received_bytes": 0}
steps = row["supersteps"]["count"]
cells = ["%.2f" % (of[name + "_ns"] / 1e9 / steps) for name in ("pages", "vertex", "merge", "network", "total")]
sizes = ["%.4g" % (size / 1e9) for size in (of["pages_bytes"], of["received_bytes"] / steps)]
memory = one["memory"]["main_bytes"] / 2**30
print("| %s | %d | %s | %.0f |" % (sys.argv[1], of["count"], " | ".join(cells + sizes), memory))
' "$what"
}

echo "| what | machines | pages s | vertex s | merge s | network s | superstep s | GB of pages | GB sent | GiB of values |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
# Lists in 64 groups take more bytes.
# shellcheck disable=SC2034  # used by name below
wide=(--graph rmat:36:16 --memory 16TiB --tune buffer=16GiB --bytes-per-edge)
# shellcheck disable=SC2034
dense=(--graph rmat:32:256 --memory 1TiB --tune buffer=16GiB --bytes-per-edge)
declare -A plain=([wide]=2.7 [dense]=1.9) grouped=([wide]=6.4 [dense]=2.1)
one=$(disks 3e9) eight=$(disks 24e9)
for network in 10Gbit 25Gbit 100Gbit; do
    for disk in "$one" "$eight"; do
        ssds=$([ "$disk" = "$one" ] && echo "1 SSD" || echo "8 SSDs")
        on=(--tune calibration="$disk" --machines 64 --network $network)
        for graph in wide dense; do
            sample=$dir/sample-$([ $graph = wide ] && echo 16 || echo 256)
            declare -n size=$graph
            about="$network, $ssds"
            plan "$graph, pull, $about" pagerank "$sample-both" --iterations 10 \
                "${size[@]}" "${plain[$graph]}" "${on[@]}"
            plan "$graph, push, $about" pagerank "$sample-out" --iterations 10 \
                "${size[@]}" "${grouped[$graph]}" "${on[@]}" --shards 64
            plan "$graph, BFS, $about" bfs "$sample-out" --source max-degree \
                "${size[@]}" "${grouped[$graph]}" "${on[@]}" --shards 64
        done
    done
done
echo "strong: the dense graph on more machines, pull, 25Gbit, 1 SSD"
for machines in 8 16 32 64; do
    plan "$machines" pagerank "$dir/sample-256-both" --iterations 10 "${dense[@]}" 1.9 --tune calibration="$one" \
        --machines "$machines" --network 25Gbit
done
echo "weak: 2^34 edges a machine, 256 a vertex, pull, 25Gbit, 1 SSD"
for more in 0 1 2 3 4 5 6; do
    plan "$((1 << more))" pagerank "$dir/sample-256-both" --iterations 10 --graph rmat:$((26 + more)):256 \
        --bytes-per-edge 1.9 --memory 1TiB --tune buffer=16GiB --tune calibration="$one" --machines $((1 << more)) \
        --network 25Gbit
done
echo "measured: R-MAT 26 on devices of one machine, R-MAT 30 from one SSD"
on26=(--graph rmat:26:16 --bytes-per-edge 2 --memory 64GiB --tune calibration="$one" --network 100Gbit)
for machines in 2 4; do
    plan "R-MAT 26, pull" pagerank "$dir/sample-16-both" --iterations 10 "${on26[@]}" --machines "$machines"
    plan "R-MAT 26, push" pagerank "$dir/sample-16-out" --iterations 10 "${on26[@]}" --machines "$machines"
    plan "R-MAT 26, BFS top-down" bfs "$dir/sample-16-out" --source max-degree "${on26[@]}" --machines "$machines"
done
on30=(--graph rmat:30:16 --bytes-per-edge 2.27 --memory 64GiB --tune buffer=8GiB --tune calibration="$(disks 2.06e9)")
plan "R-MAT 30, push" pagerank "$dir/sample-16-out" --iterations 10 "${on30[@]}"
plan "R-MAT 30, BFS" bfs "$dir/sample-16-out" --source max-degree "${on30[@]}"
threads=2
on26=(--graph rmat:26:16 --bytes-per-edge 1.98 --memory 2GiB --tune buffer=256MiB --tune calibration="$(disks 1.67e9)")
plan "R-MAT 26, push, 2 threads" pagerank "$dir/sample-16-out" --iterations 10 "${on26[@]}"
plan "R-MAT 26, BFS, 2 threads" bfs "$dir/sample-16-out" --source max-degree "${on26[@]}"
