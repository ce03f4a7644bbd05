#!/usr/bin/env bash
# Measures several devices that share a run, into bench/results/devices-*.json.
#
#     bench/devices.sh --scale 26                              all GPUs, everything
#     bench/devices.sh --scale 26 replicate shard              some experiments
#     bench/devices.sh --device 0,1 --scale 24                 these two
#     bench/devices.sh --device cpu,cpu --scale 16 --page-size 64KiB     functional check
#
# Options are those of `topostream-bench devices --help`. The machine is calibrated first, once: the rates are kept in
# BENCH_DIR (remove rates-*.json to measure again). TOPOSTREAM_BENCH and TOPOSTREAM name existing binaries. NO_RATES=1
# skips the cost model, CALIBRATE holds further options of `topostream calibrate`.
source "$(dirname "$0")/common.sh"
find_bench

rates=()
if [ -z "${NO_RATES:-}" ]; then
    device=all
    arguments=("$@")
    for ((at = 0; at < $#; at++)); do
        case ${arguments[at]} in
            --device) device=${arguments[at + 1]} ;;
            --device=*) device=${arguments[at]#--device=} ;;
        esac
    done
    file=$dir/rates-${device//[^a-zA-Z0-9]/-}.json
    if [ ! -e "$file" ]; then
        topostream=${TOPOSTREAM:-}
        if [ -z "$topostream" ]; then
            cargo build --release
            topostream=$built/topostream
        fi
        # Words of CALIBRATE are options.
        # shellcheck disable=SC2086
        "$topostream" calibrate --dir "$dir" --device "$device" --output "$file" ${CALIBRATE:-}
    fi
    rates=(--rates "$file")
fi

exec "$bench" devices --dir "$dir" "${rates[@]}" "$@"
