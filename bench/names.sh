#!/bin/sh
# Numbering of ids within 1 GiB: `format` and `verify` of Parquet files of integers and of strings of 20 bytes, beside
# DuckDB, which only renumbers (dense_rank and two joins; 1 GB, two threads), pandas (factorize) and NetworkX (a
# DiGraph, up to 10 M edges), which hold everything in memory. Prints seconds, CPU seconds, M edges/s and peak memory.
# Needs GNU time and Python with pyarrow and numpy to make the inputs; those missing of duckdb, pandas and networkx
# are left out.
#
#   bench/names.sh FOLDER [--edges 33000000] [--scale 21] [--program topostream] [--only topostream,duckdb,pandas]
#   bench/names.sh FOLDER --edges 268435456 --scale 24       16.8 M ids; about 20 GB of disk, ten minutes
#
# PYTHON names the interpreter. Inputs are kept in FOLDER by their size; a run empties no caches.
set -eu
[ $# -gt 0 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2; }
folder=$1
shift
edges=33000000 scale=21 program=topostream only=topostream,duckdb,pandas,networkx memory=1GiB
while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || { echo "$1: expected a value" >&2; exit 2; }
    case $1 in
        --edges) edges=$2 ;;
        --scale) scale=$2 ;;
        --program) program=$2 ;;
        --only) only=$2 ;;
        *) echo "$1: expected --edges, --scale, --program or --only" >&2; exit 2 ;;
    esac
    shift 2
done
python=${PYTHON:-python3}
script=$(dirname "$0")/names.py
has() { "$python" -c "import $1" 2> /dev/null; }
for module in pyarrow numpy; do
    has $module || { echo "$python: no module $module, which makes the inputs (PYTHON names another)" >&2; exit 1; }
done
data=$folder/$edges-$scale
if [ ! -e "$data/made" ]; then
    mkdir -p "$data"
    "$python" "$script" make "$data" "$edges" "$scale"
    touch "$data/made"
fi

# Runs a command, and prints a row of the table.
row() {
    input=$1 what=$2
    shift 2
    if /usr/bin/time -f '%e %U %S %M' -o "$data/time" "$@" > "$data/log" 2>&1; then
        tail -n 1 "$data/time" | awk -v input="$input" -v what="$what" -v edges="$edges" '{
            printf "| %s | %s | %.1f | %.1f | %.1f | %.0f |\n", input, what, $1, $2 + $3, edges / $1 / 1e6, $4 / 1024
        }'
    else
        echo "| $input | $what | failed: $(tail -n 1 "$data/log") | | | |"
    fi
}

echo "$edges edges over 2^$scale ids at most"
echo "| ids | program | seconds | CPU seconds | M edges/s | peak MiB |"
echo "| --- | --- | --- | --- | --- | --- |"
for input in ints strings; do
    file=$data/$input.parquet
    for one in $(echo "$only" | tr , ' '); do
        case $one in
            topostream)
                rm -rf "$data/store"
                row $input "topostream format" "$program" format "$file" "$data/store" --memory $memory \
                    --temporary "$data"
                row $input "topostream verify" "$program" verify "$data/store" --memory $memory
                rm -rf "$data/store"
                ;;
            *)
                if [ "$one" = networkx ] && [ "$edges" -gt 10000000 ]; then
                    echo "| $input | networkx | does not fit: up to 10 M edges | | | |"
                elif has "$one"; then
                    row $input "$one" "$python" "$script" "$one" "$file"
                else
                    echo "| $input | $one | not measured: $python has no such module | | | |"
                fi
                rm -rf "$data"/duck.*
                ;;
        esac
    done
done
