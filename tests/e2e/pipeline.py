"""Drives the built programs from tests: run, calibrate, deploy, infer."""

import collections
import json
import os
import pathlib
import re
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get('RSHIFT_BIN', ROOT / 'build/release/bin'))
PREPROCESS = ROOT / 'configs/preprocess'
EXAMPLE = ROOT / 'examples/fashion_mnist/model.onnx'
FASHION = pathlib.Path('/usr/share/datasets/fashion-mnist')
TRAIN_IMAGES = FASHION / 'train-images-idx3-ubyte.gz'
TEST_IMAGES = FASHION / 't10k-images-idx3-ubyte.gz'
TEST_LABELS = FASHION / 't10k-labels-idx1-ubyte.gz'
# Computing commands of the ISA table's float class whose names do not end in _f32.
FLOAT_OPCODES = ('argmax', 'where', 'cast', 'non_max_suppression', 'non_zero', 'unique')
INTEGER_MODES = ('symmetric', 'asymmetric')


def call(tool, *args, timeout=900):
    """Runs a program to its end, whatever its exit code."""
    return subprocess.run([str(BIN / tool), *map(str, args)], capture_output=True, text=True,
                          timeout=timeout, check=False)


def run(tool, *args, timeout=900):
    """Runs a program that must succeed; returns its stdout."""
    done = call(tool, *args, timeout=timeout)
    assert done.returncode == 0, (
        f"{tool} {' '.join(map(str, args))}\nexit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def fails(tool, *args):
    """Runs a program that must fail with exit code 1 and exactly one `error:` line; returns it."""
    done = call(tool, *args)
    assert done.returncode == 1, f'exit code {done.returncode}\n{done.stdout}\n{done.stderr}'
    lines = [line for line in done.stderr.splitlines() if line.startswith('error:')]
    assert len(lines) == 1, f'expected one error: line\n{done.stderr}'
    return lines[0]


def calibrate(model, dataset, table, *, preprocess=None, samples=100, extra=()):
    """Writes a calibration table; `dataset` is a path or a list of paths."""
    paths = dataset if isinstance(dataset, (list, tuple)) else [dataset]
    recipe = ['--preprocess', preprocess] if preprocess else []
    run('model_calibrate', model, '--dataset', *paths, '--samples', samples, *recipe, '-o', table,
        *extra)
    return table


def deploy(model, program, *, mode, table=None, preprocess=None, extra=()):
    """Compiles a model; an f32 program takes its preprocessing from a file, not from a table."""
    recipe = ['--calibration', table] if mode != 'f32' else (
        ['--preprocess', preprocess] if preprocess else [])
    # What the check says has tests of its own (test_check.py).
    quick = [] if '--check-samples' in extra else ['--no-check']
    run('model_deploy', model, *recipe, '--mode', mode, '-o', program, *quick, *extra)


def arrays_of(path):
    """The outputs in an .npz of model_runner, without the names of the samples."""
    with np.load(path) as arrays:
        return {name: array for name, array in arrays.items() if name != 'sample_names'}


def infer(program, inputs, folder, *extra):
    """Runs one sample: inputs {name: array}; returns the outputs {name: array}."""
    folder = pathlib.Path(folder)
    source, target = folder / 'in.npz', folder / 'out.npz'
    np.savez(source, **inputs)
    run('model_runner', program, '--input', source, '--output', target, *extra)
    return arrays_of(target)


def evaluate(program, dataset, labels, *extra, output=None):
    """Runs a labelled data set; returns the JSON summary."""
    stacked = ['--output', output] if output else []
    return json.loads(run('model_runner', program, '--dataset', dataset, '--labels', labels,
                          '--json', *stacked, *extra, timeout=1800))


def single(path):
    """The only array of an .npz, one row per sample."""
    outputs = arrays_of(path)
    assert len(outputs) == 1, list(outputs)
    array = next(iter(outputs.values()))
    return array.reshape(array.shape[0], -1)


def f32_commands(program):
    """The commands of a program that compute in floating point, as {opcode: count}."""
    lines = run('model_tool', 'disasm', program).splitlines()
    opcodes = [found[1] for line in lines if (found := re.match(r' *\d+ +(\w+) +dst=', line))]
    assert opcodes, f'{program}: no commands in the disassembly'
    return dict(sorted(collections.Counter(
        name for name in opcodes if name.endswith('_f32') or name in FLOAT_OPCODES).items()))


def undecided(program):
    """{output: tensor} for outputs that a final Softmax makes: the tensor it reads, under its ONNX name."""
    text = run('model_tool', 'disasm', program)
    outputs = dict(re.findall(r'^output (\S+) = ([^:\s]+):', text, re.MULTILINE))
    reads = dict(re.findall(r'softmax_f32 +dst=([^:\s]+):\S+ src=([^:\s]+):', text))
    plain = {name.split('__')[0]: source for name, source in reads.items()}
    return {public: plain[tensor.split('__')[0]].split('__')[0]
            for public, tensor in outputs.items() if tensor.split('__')[0] in plain}


def cosine(a, b):
    a, b = np.ravel(a).astype(np.float64), np.ravel(b).astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def deploy_all(case, shared, folder):
    """Calibrates a models.Case on its data set, deploys it in each of its modes: {mode: program}."""
    model = case.model(shared)
    table = folder / 'table.yaml'
    calibrate(model, case.calibration(shared), table, preprocess=case.preprocess,
              samples=case.samples, extra=case.shape)
    programs = {}
    for mode in case.modes:
        programs[mode] = folder / f'{mode}.rshift'
        deploy(model, programs[mode], mode=mode, table=table, preprocess=case.preprocess,
               extra=case.shape)
    return programs
