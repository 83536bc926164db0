#!/usr/bin/env bash
# Builds everything twice and runs every test: the C++ suites through CTest and the end-to-end suite (pytest,
# which drives the built programs and compares them with ONNX Runtime) on the release preset; the C++ suites
# and a short end-to-end pass again under the address and undefined-behaviour sanitizers (preset asan, of the
# folders that read files or run kernels); clang-format and clang-tidy with every finding an error.
#
#   tools/test.sh
#
# Takes up to 90 minutes on 2 cores, less when ccache is warm. The last line is
# `N passed, N failed, N skipped`; the lines above it name what was skipped and why.
# Real models and photographs are looked for in $RSHIFT_SHARED (default ../shared).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

case "${1:-}" in
  '') ;;
  -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "error: unknown argument '$1'; see tools/test.sh --help" >&2; exit 2 ;;
esac

results=build/test-results
export OMP_WAIT_POLICY=passive  # threads that spin at barriers slow everything on a shared machine
python=build/venv/bin/python
launcher=()
failed=0

step() { echo "test: $1 (after $((SECONDS / 60)) min)"; }

# build PRESET: configures and compiles it.
build() { cmake --preset "$1" "${launcher[@]}" >/dev/null && cmake --build --preset "$1"; }

# suites NAME PRESET JOBS [CTEST ARGUMENT...]: runs CTest on a preset; results go to $results/NAME.
suites() {
  local name=$1 preset=$2 jobs=$3
  shift 3
  mkdir -p "$results/$name/gtest"
  GTEST_OUTPUT="xml:$PWD/$results/$name/gtest/" ctest --test-dir "build/$preset" "$@" --parallel "$jobs" \
    --no-tests=error --output-on-failure --output-junit "$PWD/$results/$name/ctest.xml"
}

# end_to_end PRESET PART PYTEST ARGUMENT...: drives the programs of a preset; nothing without the oracles. The results
# of a part are a file of their own, empty until the part has ended.
end_to_end() {
  local preset=$1 part=$2
  shift 2
  [ "$oracles" = present ] || return 0
  mkdir -p "$results/$preset"
  : >"$results/$preset/pytest-$part.xml"
  # A folder of its own: in /tmp pytest deletes all but the last three runs', though one be at work.
  RSHIFT_BIN="$PWD/build/$preset/bin" "$python" -m pytest -q -p no:cacheprovider \
    --basetemp="$results/tmp-$preset-$part" -o tmp_path_retention_policy=failed \
    --junitxml="$results/$preset/pytest-$part.xml" "$@"
}

# Tests of arithmetic, plans and texts: the sanitized programs run that code in the end-to-end pass.
unsanitized="quantize/numerics;numerics;quantize;quantize/ranges;quantize/equalize;codegen;pipeline;target;conformance;bench"

# The second lane, beside the first part of the end-to-end suite; its second part ends it.
second_lane() {
  local status=0
  step "compiling the asan preset"
  if { cmake --preset asan "${launcher[@]}" "-DRSHIFT_SKIPPED_TEST_FOLDERS=$unsanitized" >/dev/null &&
    cmake --build --preset asan; } >"$results/asan-build.log" 2>&1; then
    step "C++ suites under the sanitizers"
    suites asan asan "$(nproc)" --label-exclude "benchmark|oracle|style" || status=1
    step "short end-to-end pass under the sanitizers"
    end_to_end asan sanitized tests/e2e -m sanitized || status=1
  else
    tail -50 "$results/asan-build.log"
    status=1
  fi
  step "clang-format and clang-tidy"
  suites style release 1 --label-regex style || status=1
  step "contributing: a newcomer's steps on a copy of the sources"
  suites contributing release 1 --label-regex contributing || status=1
  step "end-to-end suite, second part"
  end_to_end release 2 "${second_part[@]}" || status=1
  step "second lane done"
  return $status
}

step "1/4 packages (2 minutes the first time)"
tools/setup.sh || exit 1
rm -rf "$results"
mkdir -p "$results"
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  # Checkouts in different folders share its entries; it wants to be told that headers may be precompiled.
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
fi

step "2/4 compiling the release preset, fetching the Python oracles (20 minutes the first time)"
tools/setup.sh --with-oracles >"$results/setup.log" 2>&1 &
setup=$!
build release || exit 1
wait $setup || { cat "$results/setup.log"; exit 1; }
cat "$results/setup.log"
oracles=absent
if "$python" -c 'import cv2, numpy, onnx, onnxruntime, pytest' 2>/dev/null; then oracles=present; fi

step "3/4 C++ suites (3 minutes)"
suites release release "$(nproc)" --label-exclude "benchmark|oracle|style|contributing" || failed=1

step "4/4 end-to-end suite; beside it the sanitizers, clang-format, clang-tidy, contributing (40 minutes)"
first_part=(tests/e2e/test_[a-s]*.py)
second_part=(tests/e2e/test_[t-z]*.py)
touch "$results"/release/pytest-{1,2}.xml  # a part that is never begun has failed, too
second_lane >"$results/lane2.log" 2>&1 &
lane2=$!
trap 'kill $lane2 2>/dev/null' EXIT
end_to_end release 1 "${first_part[@]}" || failed=1
step "end-to-end suite, first part done"
wait $lane2 || failed=1
trap - EXIT
cat "$results/lane2.log"

echo
python3 tools/test_totals.py "$results" "$oracles" release asan style contributing || failed=1
step "done"
exit $failed
