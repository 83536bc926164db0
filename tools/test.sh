#!/usr/bin/env bash
# Builds the release preset and runs every test: the C++ suites through CTest, then the end-to-end suite
# (pytest) that drives the built programs and compares them with ONNX Runtime.
#
#   tools/test.sh
#
# Takes up to 40 minutes on 2 cores, of which 10 are compiling; about half of that when ccache is warm.
# The last line is `N passed, N failed, N skipped`; the lines above it name what was skipped and why.
# Real models and photographs are looked for in $RSHIFT_SHARED (default ../shared).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

case "${1:-}" in
  '') ;;
  -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "error: unknown argument '$1'; see tools/test.sh --help" >&2; exit 2 ;;
esac

results=build/test-results
export OMP_WAIT_POLICY=passive  # threads that spin at barriers slow everything on a shared machine
python=build/venv/bin/python

echo "test: 1/4 packages and Python oracles (3 minutes the first time)"
tools/setup.sh --with-oracles || exit 1
rm -rf "$results"
mkdir -p "$results/gtest"

echo "test: 2/4 compiling everything (10 minutes the first time)"
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake --preset release "${launcher[@]}" >/dev/null && cmake --build --preset release || exit 1

echo "test: 3/4 C++ suites (5 minutes)"
GTEST_OUTPUT="xml:$PWD/$results/gtest/" ctest --test-dir build/release --label-exclude "benchmark|oracle" \
  --parallel "$(nproc)" --no-tests=error --output-on-failure --output-junit "$PWD/$results/ctest.xml"
ctest_status=$?

echo "test: 4/4 end-to-end suite (20 minutes)"
pytest_status=0
oracles=absent
if "$python" -c 'import cv2, numpy, onnx, onnxruntime, pytest' 2>/dev/null; then
  oracles=present
  # A folder of its own: in /tmp pytest deletes all but the last three runs', though one be at work.
  "$python" -m pytest tests/e2e -q -p no:cacheprovider --basetemp="$results/tmp" \
    -o tmp_path_retention_policy=failed --junitxml="$results/pytest.xml"
  pytest_status=$?
fi

echo
python3 tools/test_totals.py "$results" "$oracles"
totals_status=$?
[ $ctest_status -eq 0 ] && [ $pytest_status -eq 0 ] && [ $totals_status -eq 0 ]
