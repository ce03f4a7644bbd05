#!/usr/bin/env bash
# Measures AsynGraph's sketch, on one CPU thread beside the engine into sketch.json, and in CUDA into sketch-gpu.json.
#
#     bench/sketch.sh                              everything: hours on a CPU, a quarter of an hour on an H200
#     bench/sketch.sh --gpu rmat-22 grid-1000      only in CUDA, only these graphs (rmat-20 is the sweep)
#     bench/sketch.sh --quick                      tiny graphs: a functional check
#     LISTS="uk.txt luxembourg.mtx:undirected" bench/sketch.sh --cpu luxembourg.mtx
#
# --main-memory measures, in CUDA only, with the edges of lists in main memory, which a GPU reads over the bus.
#
# Graphs: rmat-24 in CUDA only; rmat-22 and rmat-22-undirected by degree (ORDER=natural: by original id), power laws of
# ten million vertices powerlaw-1.8, powerlaw-2.0 and powerlaw-2.2, grid-1000, edge lists of LISTS; rmat-20 with several
# shares of hubs and times a round. Edge lists get weights if they have none.
#
# Every part (a graph and a work on the CPU, a graph on a GPU) has PART_TIMEOUT seconds, and is kept in BENCH_DIR/sketch
# when it has ended: a second call measures what is missing. Results are written after every part, into RESULTS
# (default bench/results). RUNS, RESIDUAL_RUNS (sums on the CPU) and GPU_RUNS are the numbers of measurements.
#
# WORKS are the works on the CPU (default all), TIMES how many times a round the sketch is processed (default 1,4).
#
# TOPOSTREAM_BENCH, TOPOSTREAM and SKETCH name existing binaries. Without cargo or the first two nothing is measured on
# the CPU, without nvcc (NVCC names one) or the third nothing in CUDA.
source "$(dirname "$0")/common.sh"

on_cpu=1 on_gpu=1 quick="" main_memory=() only=()
for argument in "$@"; do
    case $argument in
        --cpu) on_gpu="" ;;
        --gpu) on_cpu="" ;;
        --quick) quick=1 ;;
        --main-memory) main_memory=(--main-memory) on_cpu="" ;;
        -*)
            echo "unknown option: $argument" >&2
            exit 2
            ;;
        *) only+=("$argument") ;;
    esac
done
results=${RESULTS:-bench/results}
part_timeout=${PART_TIMEOUT:-300}
times=${TIMES:-1,4}
order=${ORDER:-degree}
runs=${RUNS:-3} residual_runs=${RESIDUAL_RUNS:-1} gpu_runs=${GPU_RUNS:-5}
scale=22 large_scale=24 sweep_scale=20 vertices=10000000 side=1000
sweep_hubs=0.005,0.01,0.025,0.05 sweep_times=1,2,4,8
if [ -n "$quick" ]; then
    scale=12 large_scale=13 sweep_scale=10 vertices=10000 side=30 runs=1 gpu_runs=1
fi
parts=$dir/sketch${quick:+-quick}
mkdir -p "$parts" "$results"
command="bench/sketch.sh $*"
failed=0

if [ -n "$on_cpu" ]; then
    if [ -n "${TOPOSTREAM_BENCH:-}" ] && [ -n "${TOPOSTREAM:-}" ] || command -v cargo > /dev/null; then
        find_bench
        topostream=${TOPOSTREAM:-}
        if [ -z "$topostream" ]; then
            cargo build --release
            topostream=$built/topostream
        fi
    else
        echo "no cargo: nothing is measured on the CPU" >&2
        on_cpu=""
    fi
fi
if [ -n "$on_gpu" ]; then
    program=${SKETCH:-}
    nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null || true)}
    if [ -n "$program" ]; then
        :
    elif [ -n "$nvcc" ]; then
        program=$dir/sketch-gpu
        if [ bench/cuda/sketch.cu -nt "$program" ]; then
            "$nvcc" -O3 -std=c++17 -arch=native -Xcompiler -pthread -o "$program" bench/cuda/sketch.cu
        fi
    else
        echo "no nvcc: nothing is measured in CUDA" >&2
        on_gpu=""
    fi
fi

# Runs a part within its time; one that fails does not end the others.
limited() {
    local code=0
    timeout --foreground -k 10 "$part_timeout" "$@" || code=$?
    case $code in 130 | 143) exit "$code" ;; esac
    if [ "$code" != 0 ]; then
        failed=1
        case $code in
            124) echo "longer than $part_timeout s: ${*##*/}" >&2 ;;
            *) echo "failed with $code: ${*##*/}" >&2 ;;
        esac
    fi
    return "$code"
}

wanted() {
    [ ${#only[@]} = 0 ] || [[ " ${only[*]} " == *" $1 "* ]]
}

# Makes a store: its name, arguments of the program.
make_store() {
    local store=$parts/stores/$1
    shift
    if [ -e "$store/graph.json" ]; then return 0; fi
    mkdir -p "$parts/stores"
    limited "$topostream" "$@" "$store" --remove-duplicates --remove-self-loops --overwrite >&2
}

# Measures a store on the CPU, a work and a share of hubs at a time: its name, works, shares, times a round.
on_store() {
    local name=$1 works=$2 hubs=$3 times=$4 work share file count
    for work in ${works//,/ }; do
        if [[ ",${WORKS:-$work}," != *",$work,"* ]]; then continue; fi
        count=$runs
        case $work in pagerank | adsorption) count=$residual_runs ;; esac
        for share in ${hubs//,/ }; do
            file=$parts/cpu-$name-$work-$share.json
            if [ -e "$file" ]; then continue; fi
            limited "$bench" sketch "$parts/stores/$name" --only "$work" --hubs "$share" --times "$times" \
                --runs "$count" --json "$file.new" > /dev/null || continue
            mv "$file.new" "$file"
            python3 bench/sketch.py merge "$results/sketch.json" --command "$command" "$parts"/cpu-*.json
        done
    done
}

# Measures a graph in CUDA: its name, shares of hubs, times a round, arguments of the program. Lines of a part that was
# interrupted are kept until it is measured again.
in_cuda() {
    local name=$1 hubs=$2 times=$3 file=$parts/gpu-$1${main_memory[*]}.jsonl ended=0
    shift 3
    if [ -e "$file" ]; then return 0; fi
    limited "$program" --name "$name" --hubs "$hubs" --times "$times" --runs "$gpu_runs" "$@" "${main_memory[@]}" \
        > "$file.partial" ||
        ended=$?
    if [ "$ended" = 0 ]; then mv "$file.partial" "$file"; fi
    python3 bench/sketch.py gpu "$results/sketch-gpu.json" --command "$command" "$parts"/gpu-*.jsonl*
}

# Measures a graph: its name, its name in the command line, shares, times, works, then arguments for its store, `--`,
# arguments of the CUDA program.
graph() {
    local name=$1 called=$2 hubs=$3 times=$4 works=$5 store=()
    shift 5
    if ! wanted "$called"; then return 0; fi
    while [ "$1" != -- ]; do
        store+=("$1")
        shift
    done
    shift
    if [ -n "$on_gpu" ]; then in_cuda "$name" "$hubs" "$times" "$@"; fi
    if [ -n "$on_cpu" ] && make_store "$name" "${store[@]}"; then
        on_store "$name" "$works" "$hubs" "$times"
    fi
}

all=sssp,components,pagerank,adsorption directed=sssp,pagerank,adsorption
weights=(--random-weights u32:1:255)
by=(--order "$order") by_degree=() suffix=""
if [ "$order" = degree ]; then by_degree=(--by-degree) suffix=-degree; fi

graph "rmat-$scale$suffix" rmat-22 0.025 "$times" $directed \
    generate rmat --scale $scale "${weights[@]}" "${by[@]}" --store -- --rmat $scale "${by_degree[@]}"
graph "rmat-$scale-undirected$suffix" rmat-22-undirected 0.025 "$times" $all \
    generate rmat --scale $scale "${weights[@]}" "${by[@]}" --symmetrize --store -- \
    --rmat $scale --symmetric "${by_degree[@]}"
if [ -n "$on_gpu" ] && wanted rmat-24; then
    in_cuda "rmat-$large_scale$suffix" 0.025 "$times" --rmat $large_scale "${by_degree[@]}"
fi
for alpha in 2.2 2.0 1.8; do
    graph "powerlaw-$alpha" powerlaw-$alpha 0.025 "$times" $directed \
        generate powerlaw --vertices $vertices --alpha $alpha "${weights[@]}" --order natural --store -- \
        --powerlaw $vertices --alpha $alpha
done
graph "grid-$side" grid-1000 0.025 "$times" $all \
    generate grid --width $side --height $side "${weights[@]}" --order natural --store -- --grid $side
for list in ${LISTS:-}; do
    file=${list%:undirected} symmetrize=() symmetric=() works=$directed
    if [ "$file" != "$list" ]; then symmetrize=(--symmetrize) symmetric=(--symmetric) works=$all; fi
    name=$(basename "$file")
    if ! wanted "$name"; then continue; fi
    weighted=$parts/$name.wel
    if [ ! -e "$weighted" ]; then python3 bench/sketch.py weights "$file" "$weighted"; fi
    # The store's name comes after the list.
    graph "$name" "$name" 0.025 "$times" $works \
        format --kind gap-text --order natural "${symmetrize[@]}" "$weighted" -- --list "$weighted" "${symmetric[@]}"
done
graph "rmat-$sweep_scale" rmat-20 $sweep_hubs $sweep_times $directed \
    generate rmat --scale $sweep_scale "${weights[@]}" --order natural --store -- --rmat $sweep_scale
exit $failed
