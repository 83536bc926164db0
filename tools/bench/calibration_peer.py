"""One peer of `bench_peers.py --calibration`, in a process of its own: a line of JSON with what the images took.

    calibration_peer.py run | pool | entropy  MODEL THREADS RECIPE IMAGE...

run: pictures one after the other, the session has THREADS threads. pool: THREADS threads, each with pictures of its own and
a session of one thread. entropy: ONNX Runtime's own entropy calibrator. Imports are not counted, the making of sessions is
apart.
"""

import concurrent.futures
import json
import pathlib
import resource
import sys
import tempfile
import time

import cv2
import numpy as np
import onnxruntime


def read(path, recipe):
    """As configs/preprocess has it for both networks: short side 256, the middle 224x224."""
    image = cv2.imread(path)
    scale = 256 / min(image.shape[:2])
    size = [round(side * scale) for side in image.shape[:2]]
    image = cv2.resize(image, size[::-1], interpolation=cv2.INTER_LINEAR)
    top, left = (size[0] - 224) // 2, (size[1] - 224) // 2
    image = image[top:top + 224, left:left + 224, ::-1 if recipe['color'] == 'RGB' else 1].astype(np.float32)
    image = (image - np.float32(recipe['mean'])) * np.float32(recipe['scale'])
    return np.ascontiguousarray(image.transpose(2, 0, 1))[None]


def session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    return onnxruntime.InferenceSession(model, options, providers=['CPUExecutionProvider'])


def run_images(net, recipe, paths):
    name = net.get_inputs()[0].name
    for path in paths:
        net.run(None, {name: read(path, recipe)})


def run(model, threads, recipe, paths):
    net = session(model, threads)
    return lambda: run_images(net, recipe, paths)


def pool(model, threads, recipe, paths):
    nets = [session(model, 1) for _ in range(threads)]
    executor = concurrent.futures.ThreadPoolExecutor(threads)
    return lambda: list(executor.map(run_images, nets, [recipe] * threads, [paths[i::threads] for i in range(threads)]))


def entropy(model, _threads, recipe, paths):
    from onnxruntime.quantization import calibrate

    class Reader(calibrate.CalibrationDataReader):
        def __init__(self):
            self.left = iter(paths)

        def get_next(self):
            path = next(self.left, None)
            return None if path is None else {calibrator.infer_session.get_inputs()[0].name: read(path, recipe)}

    folder = tempfile.TemporaryDirectory()
    calibrator = calibrate.create_calibrator(model, augmented_model_path=str(pathlib.Path(folder.name) / 'augmented.onnx'),
                                             calibrate_method=calibrate.CalibrationMethod.Entropy)

    def work():
        with folder:
            calibrator.collect_data(Reader())
            calibrator.compute_data()
    return work


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    kind, model, threads, recipe, *paths = sys.argv[1:]
    cv2.setNumThreads(1)
    start = time.monotonic()
    work = {'run': run, 'pool': pool, 'entropy': entropy}[kind](model, int(threads), json.loads(recipe), paths)
    cpu, begin = cpu_seconds(), time.monotonic()
    work()
    end = time.monotonic()
    print(json.dumps({'seconds': end - begin, 'cpu': cpu_seconds() - cpu, 'whole': end - start}))


if __name__ == '__main__':
    main()
