#!/usr/bin/env bash
# Runs the program of another system beside this system's own, and compares what they write, byte for byte.
#
#     tools/cross/scenario.sh FOLDER NATIVE COMMAND…
#     tools/cross/scenario.sh target/cross/arm target/debug/topostream qemu-aarch64 -L /usr/aarch64-linux-gnu PROGRAM
#
# Stores depend on their input and options alone, and so do results of PageRank and BFS (decision 0001). FOLDER is made
# anew; in it are inputs, and the products of both programs in `own` and `other`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1 native=$(realpath "$2")
shift 2
command=("$@")
rm -rf "$folder"
mkdir -p "$folder"/{own,other}
python3 "$here/inputs.py" "$folder/inputs" "$native"
cd "$folder"
passed=0

own() { (cd own && "$native" "$@"); }
other() { (cd other && "${command[@]}" "$@"); }
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
# Runs a command by both programs, quietly.
both() {
    own -q "$@" || fail "this system's: $*"
    other -q "$@" || fail "$*"
}
# Everything that both have written is equal, but for stores with stripes: their manifests have absolute paths.
same() {
    diff -r -x 'strip*' own other || fail "$* differ"
    passed=$((passed + 1))
    echo "equal: $*"
}

# The demonstration checks its own answers.
other demo --scale "${DEMO_SCALE:-14}" || fail demo

# Every kind of input, and every compression.
for input in inputs/*; do
    name=${input#*/}
    case $name in ldbc.[ve]) continue ;; esac
    both format "../$input" "$name.store" --in-edges --page-size 64KiB
done
own -q format - piped.store <inputs/edges.txt
other -q format - piped.store < <(cat inputs/edges.txt)
same "stores of $(ls own | wc -l) inputs"

# Layouts: both encodings, weights of 64 bits, shards, stripes, numberings, and a sort that spills.
both generate rmat --scale 15 --edges-file big.el
both format big.el big --in-edges --page-size 64KiB --memory 80MiB
both format big.el plain --encoding vertex-id --page-size 64KiB
both format ../inputs/fractions.txt doubles --weight-type f64 --symmetrize --repeated sum
both format big.el shards --shards 4 --mirrors --order bfs
both format big.el striped --page-size 64KiB --stripe stripe --stripe "stripe 2"
both reformat striped reformed --order degree
both split shards 'part{rank}'
same "stores of other layouts"

# Answers in every format of files.
for store in big plain shards; do
    for format in txt csv npy parquet arrow; do
        both run pagerank $store --iterations 20 --device cpu --memory 64MiB --output "$store.ranks.$format"
        both run bfs $store --source max-degree --device cpu --memory 64MiB --output "$store.levels.$format"
    done
    both verify $store
done
for store in names.csv large\ ids.csv weights.wel; do
    both run components "$store.store" --device cpu,cpu --output "$store.components.csv"
    both extract "$store.store" --all --output "$store.parquet"
    own -q run bfs "$store.store" --source max-degree --device cpu --output - >"own/$store.piped.txt"
    other -q run bfs "$store.store" --source max-degree --device cpu --output - >"other/$store.piped.txt"
done
both run sssp weights.wel.store --source max-degree --device cpu --output sssp.csv
both run pagerank striped --device cpu --memory 64MiB --output pagerank.csv
both verify striped
# The system says what memory is available, and what the process has used.
other run pagerank big --device cpu --tune buffer=1000TiB >budget.txt 2>&1 && fail "a buffer beyond all memory"
grep -qE 'half of the available memory: (this machine has|.* leaves) [0-9]+MiB' budget.txt || fail "$(cat budget.txt)"
other -q run pagerank big --device cpu --json >run.json
grep -q '"peak_memory_bytes": [1-9]' run.json || fail "no peak memory: $(head -c 1000 run.json)"
same "answers"

# Names of files with spaces and letters beyond ASCII. wine 8 cannot resolve paths beyond Windows' old limit of 260.
path="Zürich 東京/a folder"
mkdir -p "own/$path" "other/$path"
both format ../inputs/names.csv "$path/store 1"
both run pagerank "$path/store 1" --device cpu --output "$path/ränge.csv"
# An older file and an older store are replaced.
both run pagerank "$path/store 1" --device cpu --iterations 3 --output "$path/ränge.csv"
both format ../inputs/names.tsv "$path/store 1" --overwrite
both format ../inputs/names.csv "$path/striped 東京" --stripe "$path/stripe 2"
both verify "$path/striped 東京"
same "paths"

# A flipped byte is found by the program that did not write it.
cp -r own/big own/damaged
printf '\377' | dd of=own/damaged/pages.0 bs=1 seek=200000 conv=notrunc status=none
other verify ../own/damaged >damage.txt 2>&1 && fail "a damaged page was accepted"
grep -q checksum damage.txt || fail "no word of checksums: $(cat damage.txt)"
rm -r own/damaged

# Ended without warning, at moments spread over a command: a store is complete or absent, and the same command works.
killed=0
for tenths in 0 2 4 6 8 10 12 14 16 18 20; do
    rm -rf other/killed
    (cd other && exec "${command[@]}" -q format big.el killed --in-edges --page-size 64KiB --memory 80MiB) &
    sleep "$((tenths / 10)).$((tenths % 10))"
    kill -KILL $! 2>/dev/null && killed=$((killed + 1))
    wait $! 2>/dev/null || true
    [ -e other/killed/graph.json ] || other -q format big.el killed --in-edges --page-size 64KiB --memory 80MiB
    diff -r own/big other/killed || fail "after a kill and a re-run"
done
rm -r other/killed
echo "complete or absent: stores of $killed killed commands"

# A run with checkpoints, ended once each has one; the same command resumes.
resumes=0
long="run pagerank big --device cpu --iterations 300 --output long.csv"
# shellcheck disable=SC2086
own -q $long
until [ -e other/long.csv ]; do
    # shellcheck disable=SC2086
    (cd other && exec "${command[@]}" $long --checkpoint checkpoints --checkpoint-every 20 --resume) >resume.txt 2>&1 &
    process=$!
    while kill -0 $process 2>/dev/null && ! [ other/checkpoints/checkpoint.0 -nt resume.txt ]; do sleep 0.1; done
    [ $resumes -lt 3 ] && kill -KILL $process 2>/dev/null && resumes=$((resumes + 1))
    wait $process 2>/dev/null || [ $resumes -gt 0 ] || fail "$(cat resume.txt)"
done
[ $resumes -gt 0 ] || fail "no run was killed"
grep -q "goes on after" resume.txt || fail "the run began again: $(cat resume.txt)"
# wine keeps the folder, since a locked file is in it until the end.
[ ! -e other/checkpoints ] || rmdir other/checkpoints
same "a run that was killed $resumes times"
echo "$passed passed, 0 failed"
