#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs fuzz targets under libFuzzer, for FUZZ_SECONDS each, or for FUZZ_RUNS executions: one number for all
# targets, or TARGET=NUMBER for each. "make fuzz" calls this.
#
# A run begins with inputs made from seeds. It keeps inputs that reach new code in fuzz/TARGET, for the next
# run, and writes an input that fails to fuzz/TARGET-crash-HASH.
#
#     fuzz.sh TARGET...
: "${FUZZ_SECONDS=60}" "${FUZZ_RUNS=}"
: "${UBSAN_OPTIONS=print_stacktrace=1}"
export UBSAN_OPTIONS
failed=0
total=0

# read_log LOG: print executions, inputs kept and edges of a run, from the output of libFuzzer.
read_log()
{
    awk '
        /^stat::number_of_executed_units:/ { runs = $2 }
        /^#[0-9]+[ \t]/ {
            for (i = 2; i < NF; ++i) {
                if ($i == "cov:") edges = $(i + 1)
                if ($i == "corp:") { kept = $(i + 1); sub("/.*", "", kept) }
            }
        }
        END { print runs + 0, kept + 0, edges + 0 }
    ' "$1"
}

# limit TARGET: print libFuzzer's option for the length of the run.
limit()
{
    for word in $FUZZ_RUNS; do
        case $word in
            "$1="*) echo "-runs=${word#*=}" && return ;;
            *=*) ;;
            *) echo "-runs=$word" && return ;;
        esac
    done
    echo "-max_total_time=$FUZZ_SECONDS"
}

# longest TARGET: print the bytes of an input, at most. No input that is made from a seed is longer.
longest()
{
    case $1 in
    archive | delta) echo 5000 ;;
    image) echo 20000 ;;
    *) echo 2500 ;;
    esac
}

mkdir -p fuzz || exit 1
for target in "$@"; do
    corpus=fuzz/$target
    log=$corpus.log
    if ! test -d "$corpus"; then
        mkdir -p "$corpus.seeds" "$corpus" &&
            "./tests/fuzz/$target" --runs 100 --corpus "$corpus.seeds" || exit 1
    fi
    begun=$(date +%s)
    # -entropic=0: the default schedule of libFuzzer computes weights of all inputs again and again, which took
    # most of the time of the first thousands of executions.
    "./tests/fuzz/guided_$target" "$(limit "$target")" -max_len="$(longest "$target")" \
        -entropic=0 -len_control=0 -timeout=60 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$corpus-" "$corpus" "$corpus.seeds" >"$log" 2>&1
    status=$?
    read -r runs kept edges <<END
$(read_log "$log")
END
    echo "$target: $runs executions in $(($(date +%s) - begun)) s, $kept inputs kept, $edges edges"
    total=$((total + runs))
    if test $status -ne 0; then
        tail -n 60 "$log"
        echo "$target: failed; the whole output is in $log. To shrink the input to a test:"
        echo "    ./tests/fuzz/$target --shrink fuzz/$target-crash-..."
        failed=1
    fi
done
echo "$total executions in all"
exit $failed
