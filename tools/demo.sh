#!/usr/bin/env bash
# The whole pipeline on the bundled Fashion-MNIST model: calibrate on 500 training images, deploy as f32,
# symmetric INT8 and asymmetric INT8, run the 10,000 test images through each, and print one table.
#
#   tools/demo.sh                    prints the table
#   tools/demo.sh --update-readme    and writes it into README.md (times are this machine's: run it on a quiet one)
#
# Takes about 15 minutes on 2 cores the first time (packages and compiling), about 1 minute after that.
# Everything it makes is in build/; the numbers are also written to build/demo/result.json.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  '') after=() ;;
  --update-readme) after=(--update README.md) ;;
  -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "error: unknown argument '$1'; see tools/demo.sh --help" >&2; exit 2 ;;
esac

model=examples/fashion_mnist/model.onnx
preprocess=configs/preprocess/fashion_mnist.yaml
data=/usr/share/datasets/fashion-mnist
bin=build/release/bin
out=build/demo

echo "demo: 1/4 packages (2 minutes the first time)"
tools/setup.sh

echo "demo: 2/4 compiling the tools (10 minutes the first time)"
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake --preset release "${launcher[@]}" >/dev/null
cmake --build --preset release --target model_calibrate model_deploy model_runner

echo "demo: 3/4 calibrating on 500 training images and deploying (10 seconds)"
rm -rf "$out"
mkdir -p "$out"
"$bin/model_calibrate" "$model" --dataset "$data/train-images-idx3-ubyte.gz" --samples 500 \
  --preprocess "$preprocess" -o "$out/table.yaml"
"$bin/model_deploy" "$model" --mode f32 --preprocess "$preprocess" -o "$out/f32.rshift"
for mode in symmetric asymmetric; do
  "$bin/model_deploy" "$model" --calibration "$out/table.yaml" --mode "$mode" -o "$out/$mode.rshift"
done

echo "demo: 4/4 running 10,000 test images through each program, on one thread (10 seconds)"
for mode in f32 symmetric asymmetric; do
  "$bin/model_runner" "$out/$mode.rshift" --dataset "$data/t10k-images-idx3-ubyte.gz" \
    --labels "$data/t10k-labels-idx1-ubyte.gz" --threads 1 --json --output "$out/$mode.npz" >"$out/$mode.json"
done

echo
python3 tools/demo_table.py "$out" "${after[@]}"
