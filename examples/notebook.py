"""Rshift from Python, cell by cell: open it in an editor that knows `# %%`, or run it as a script.

    apt-get install dataset-fashion-mnist
    python3 examples/notebook.py
"""
# %% The bundled network, and photographs of clothes as it takes them.
import concurrent.futures
import gzip
import pathlib

import numpy as np
import rshift

MODEL = pathlib.Path(__file__).parent / 'fashion_mnist/model.onnx'
DATA = pathlib.Path('/usr/share/datasets/fashion-mnist')


def images(name, count):
    """The first images of an idx file, as configs/preprocess/fashion_mnist.yaml makes them."""
    with gzip.open(DATA / name) as file:
        pixels = np.frombuffer(file.read(16 + count * 784)[16:], np.uint8)
    return (pixels.reshape(count, 1, 28, 28) / np.float32(255) - np.float32(0.2860)) / np.float32(0.3530)


def labels(name, count):
    """Their classes."""
    with gzip.open(DATA / name) as file:
        return np.frombuffer(file.read(8 + count)[8:], np.uint8)


train = images('train-images-idx3-ubyte.gz', 200)
test, classes = images('t10k-images-idx3-ubyte.gz', 500), labels('t10k-labels-idx1-ubyte.gz', 500)

# %% Calibrate: the ranges of every tensor, from 100 of the samples. `table.save('net.table.yaml')` is what model_deploy takes.
table = rshift.calibrate(MODEL, train)

# %% The same on several machines: each measures a share (by Ray, Dask, Spark ...), bytes travel, any order merges to the same bytes.
with concurrent.futures.ThreadPoolExecutor() as machines:
    shares = list(machines.map(lambda i: rshift.collect(MODEL, train, shard=(i, 4)), range(4)))
assert rshift.calibrate(MODEL, statistics=rshift.merge(shares)) == table

# %% Deploy: an integer program, and what the comparison with the float network says.
integer = rshift.deploy(MODEL, table, test_data=train[:4])
floating = rshift.deploy(MODEL, mode='f32')
print(integer.summary)
print(f"{len(integer.program)} bytes, {len(floating.program)} in F32; the check: {integer.report['check']['grade']}")

# %% Run: NumPy in, NumPy out; real values, whatever the program computes in.
scores = {}
for name, deployment in (('int8', integer), ('f32', floating)):
    program = rshift.Program(deployment)
    scores[name] = np.concatenate([program.run(image[np.newaxis])[0] for image in test])
    print(f'{name}: {np.mean(scores[name].argmax(1) == classes):.1%} of {len(test)} right')
print(f"the same class: {np.mean(scores['int8'].argmax(1) == scores['f32'].argmax(1)):.1%}")
print(rshift.compare(scores['int8'], scores['f32']))

# %% The layers that lose most, alone, in dB.
for layer in sorted(integer.report['layers'], key=lambda layer: layer['alone']['sqnr_db'])[:3]:
    print(f"{layer['alone']['sqnr_db']:5.1f} dB  {layer['tensor']}")

# %% Code written for onnxruntime.
session = rshift.InferenceSession(integer)
best, = session.run(None, {session.get_inputs()[0].name: test[:1]})
print(f'{session.get_outputs()[0].name}: class {best.argmax()}')
