#!/usr/bin/env bash
# The profiles against the frameworks themselves (tests/e2e/test_profiles_*.py), as one CTest entry of
# `ctest -L numerics`. Exit code 77 (skipped) without the Python oracles of tools/setup.sh --with-oracles.
#
#   RSHIFT_BIN=build/release/bin tests/numerics/live_oracles.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

python=build/venv/bin/python
if ! "$python" -c 'import ai_edge_litert, numpy, onnx, onnxruntime, pytest' 2>/dev/null; then
  echo "skipped: the frameworks are not installed; run tools/setup.sh --with-oracles"
  exit 77
fi
export OMP_WAIT_POLICY=passive
exec "$python" -m pytest -q -p no:cacheprovider tests/e2e/test_profiles_*.py tests/e2e/test_requantize_tool.py
