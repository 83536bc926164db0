#!/usr/bin/env bash
# Installs what Rshift needs to build, to run the demo and to be tested, on Debian 12.
#
#   tools/setup.sh                  Debian packages (about 2 minutes the first time, else under a second)
#   tools/setup.sh --with-oracles   and what the tests need: PyTorch, Chromium, Open MPI, Slurm and the clang tools from Debian, the
#                                   other frameworks in build/venv by pip (about 3 minutes the first time)
#
# Works as root, and as a user through sudo. Without a Python package index the oracles are left
# out, which is not an error: the tests that need them are then skipped, and say so.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  g++ cmake ninja-build ccache python3 python3-venv
  libonnx-dev libprotobuf-dev protobuf-compiler libflatbuffers-dev flatbuffers-compiler libeigen3-dev libcli11-dev libyaml-cpp-dev
  libdnnl-dev libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev libzip-dev libarchive-dev zlib1g-dev libssl-dev libjpeg-dev
  libsndfile1-dev
  nlohmann-json3-dev libpugixml-dev libgtest-dev libgmock-dev libbenchmark-dev dataset-fashion-mnist pkg-config dpkg-dev
  python3-xstatic-dagre pybind11-dev python3-dev python3-numpy mkdocs parallel)
# Compared byte for byte: another version may round differently (the softmax of ONNX Runtime 1.32 does).
onnxruntime=onnxruntime==1.31.1
litert=ai-edge-litert==2.3.0
oracles=(numpy onnx "$onnxruntime" opencv-python-headless pytest)

usage() { sed -n '2,9s/^# \{0,1\}//p' "$0"; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  elif command -v sudo >/dev/null; then
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  else
    echo "error: packages are missing and there is no sudo; as root run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
}

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Runs apt-get, and waits while another one holds a lock: at most ten minutes. Its own
# DPkg::Lock::Timeout covers dpkg's lock only, not those of the lists and of the archives.
apt_get() {
  local tries=0 status errors
  errors=$(mktemp)
  while true; do
    status=0
    as_root apt-get -o DPkg::Lock::Timeout=600 -qq "$@" >/dev/null 2>"$errors" || status=$?
    if [ $status -eq 0 ] || ! grep -q 'Could not get lock' "$errors" || [ $tries -ge 120 ]; then
      break
    fi
    [ $tries -gt 0 ] || echo "setup: waiting for another apt-get to end"
    tries=$((tries + 1))
    sleep 5
  done
  cat "$errors" >&2
  rm -f "$errors"
  return $status
}

install_packages() {
  missing=()
  local p
  for p in "${packages[@]}"; do
    is_installed "$p" || missing+=("$p")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "setup: all ${#packages[@]} Debian packages are installed"
    return
  fi
  echo "setup: installing ${#missing[@]} Debian packages (about 2 minutes): ${missing[*]}"
  apt_get update
  apt_get install -y --no-install-recommends "${missing[@]}"
  echo "setup: Debian packages installed"
}

oracles_work() {
  [ -x build/venv/bin/python ] &&
    [ "$(build/venv/bin/python -c 'import cv2, numpy, onnx, onnxruntime, pytest
print("onnxruntime==" + onnxruntime.__version__)' 2>/dev/null)" = "$onnxruntime" ]
}

litert_works() {
  [ "$(build/venv/bin/python -c 'import ai_edge_litert.interpreter, importlib.metadata as m
print("ai-edge-litert==" + m.version("ai-edge-litert"))' 2>/dev/null)" = "$litert" ]
}

pip_install() {
  build/venv/bin/python -m pip install --quiet --disable-pip-version-check --retries 2 \
    --timeout 20 "$@"
}

install_oracles() {
  if oracles_work && litert_works; then
    echo "setup: the Python test oracles are installed in build/venv"
    return
  fi
  echo "setup: installing the Python test oracles in build/venv (about 1 minute):" \
    "${oracles[*]} $litert"
  mkdir -p build
  if ! oracles_work && ! { python3 -m venv build/venv && pip_install "${oracles[@]}" &&
      oracles_work; }; then
    echo "setup: no Python package index within reach: the end-to-end tests against ONNX Runtime" \
      "and LiteRT will be SKIPPED"
    return
  fi
  if pip_install "$litert" && litert_works; then
    echo "setup: Python test oracles installed"
  else
    echo "setup: $litert cannot be installed here: the tests against LiteRT will be SKIPPED"
  fi
}

with_oracles=0
for arg in "$@"; do
  case "$arg" in
    --with-oracles) with_oracles=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "error: unknown argument '$arg'; see tools/setup.sh --help" >&2; exit 2 ;;
  esac
done
# PyTorch's QNNPACK is the oracle of profile caffe2; clang compiles preset asan and holds the sources to their style; a
# browser opens the HTML report (390 MB, 40 seconds); with Open MPI model_calibrate runs as ranks of mpirun, with
# Slurm (3 MB, 17 seconds beside other work) as jobs of an array on one node.
[ "$with_oracles" -eq 0 ] || packages+=(
  python3-torch clang lld libomp-dev libclang-rt-14-dev clang-format-14 clang-tidy-14 chromium
  libopenmpi-dev openmpi-bin slurmctld slurmd slurm-client munge)
install_packages
[ "$with_oracles" -eq 0 ] || install_oracles
