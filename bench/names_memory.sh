#!/bin/sh
# Formats edges between 50 million distinct names within 256 MiB and 1 GiB, and checks that the peak of main memory is
# at most 256 MiB more. Needs 12 GB of disk in the folder given, GNU time and some minutes.
#
#   bench/names_memory.sh FOLDER [PROGRAM] [NAMES]
set -eu
folder=$1
program=${2:-topostream}
names=${3:-50000000}
mkdir -p "$folder"
edges=$folder/edges.csv
# Two new names an edge.
awk -v names="$names" 'BEGIN {
    print "from,to"
    for (at = 1; at < names; at += 2) printf "name-%015.0f,name-%015.0f\n", at * 1000003, (at + 1) * 1000003
}' > "$edges"
for budget in 256 1024; do
    rm -rf "$folder/store"
    /usr/bin/time -f %M -o "$folder/peak" \
        "$program" format "$edges" "$folder/store" --memory "${budget}MiB" --order natural --temporary "$folder"
    peak=$(($(tail -n 1 "$folder/peak") / 1024))
    "$program" verify "$folder/store" --memory "${budget}MiB" || exit 1
    echo "budget $budget MiB: peak $peak MiB"
    [ "$peak" -le $((budget + 256)) ] || { echo "more than allowed"; exit 1; }
done
rm -rf "$folder/store" "$edges" "$folder/peak"
