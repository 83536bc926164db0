"""CPU time of model_calibrate beside what cannot be saved: JPEG decoding (OpenCV) and ONNX Runtime's
F32 inference of the same photographs, each on one thread.

    tools/bench/calibration_cost.py --model net.onnx --images photos/ --preprocess net.preprocess.yaml
                                    [--calibrate PROGRAM]... [--rounds 3] [--samples 100]

Rounds are interleaved and the least user time of each side counts: other programs only add. Needs
onnxruntime and opencv (the project's test environment, build/venv, has both).
"""
import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Runs in a process of its own, so that imports and loading can be subtracted: with 0 images it
# does everything but the work.
PEER = """
import sys, pathlib
import cv2, numpy as np, onnxruntime
model, count, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
cv2.setNumThreads(1)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
(feed,) = session.get_inputs()
size = [d if isinstance(d, int) and d > 0 else 1 for d in feed.shape]
for path in sorted(p for p in folder.iterdir() if p.suffix.lower() in (".jpg", ".jpeg"))[:count]:
    image = cv2.imread(str(path))
    scale = 1.15 * max(size[2:]) / min(image.shape[:2])  # short side, then centre crop
    image = cv2.resize(image, None, fx=scale, fy=scale)
    top, left = (image.shape[0] - size[2]) // 2, (image.shape[1] - size[3]) // 2
    image = image[top:top + size[2], left:left + size[3], ::-1].astype(np.float32)
    image = (image - np.float32([124, 116, 104])) * np.float32(1 / 58)
    session.run(None, {feed.name: np.ascontiguousarray(image.transpose(2, 0, 1))[None]})
"""


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--images", required=True)
    parser.add_argument("--preprocess", required=True)
    parser.add_argument("--calibrate", action="append",
                        help="several compare versions (default build/release/bin/model_calibrate)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=100)
    a = parser.parse_args()
    programs = a.calibrate or [str(ROOT / "build/release/bin/model_calibrate")]
    with tempfile.TemporaryDirectory() as folder:
        peer = [sys.executable, "-c", PEER, a.model]
        sides = {program: [program, a.model, "--dataset", a.images, "--preprocess", a.preprocess,
                           "--samples", str(a.samples), "--threads", "1",
                           "-o", f"{folder}/table.yaml"] for program in programs}
        sides["decode + ONNX Runtime, whole"] = peer + [str(a.samples), a.images]
        sides["decode + ONNX Runtime, start"] = peer + ["0", a.images]
        least = {}
        for _ in range(a.rounds):
            for name, command in sides.items():
                least[name] = min(least.get(name, 1e9), user_seconds(command))
    base = least["decode + ONNX Runtime, whole"] - least["decode + ONNX Runtime, start"]
    print(f"decode + ONNX Runtime F32: {base:.3f} CPU s")
    for program in programs:
        print(f"{program}: {least[program]:.3f} CPU s, {least[program] / base:.2f} times")


if __name__ == "__main__":
    main()
