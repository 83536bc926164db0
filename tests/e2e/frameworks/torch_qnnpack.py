"""PyTorch's qnnpack engine as an oracle, in a process of the Python that has torch.

RSHIFT_TORCH_PYTHON names that Python; default: the tests' own, then /usr/bin/python3.
"""

import dataclasses
import functools
import os
import pathlib
import subprocess
import sys

import numpy as np

from frameworks.fixed_point import I64
from frameworks.qdq_builder import to_nchw, to_nhwc

WORKER = pathlib.Path(__file__).with_name('torch_worker.py')


@functools.cache
def python():
    """A Python whose torch has the engine, or None."""
    probe = 'import torch; assert "qnnpack" in torch.backends.quantized.supported_engines'
    named = os.environ.get('RSHIFT_TORCH_PYTHON')
    for program in [named] if named else [sys.executable, '/usr/bin/python3']:
        try:
            if subprocess.run([program, '-c', probe], capture_output=True, timeout=120,
                              check=False).returncode == 0:
                return program
        except OSError:
            continue
    return None


def _unsigned(values, quant):
    """u8 integers of the same reals: s8 ones are moved by 128, zero points with them."""
    shift = 128 if quant.type == 's8' else 0
    return (values.astype(I64) + shift).astype(np.uint8), quant.zero + shift


def takes(case):
    """QNNPACK pads alike on both sides."""
    if case.op in ('add', 'fc'):
        return True
    top, left, bottom, right = case.pads()
    return top == bottom and left == right


def adapted(case):
    """The case in numbers that PyTorch hands on to QNNPACK unchanged.

    The bias passes through float32 and is quantized again, so it is kept small; the scale is
    (S_w S_x) * (1 / S_y) there and (S_x S_w) / S_y in QNNPACK and Caffe2: equal for powers of two.
    """
    case = dataclasses.replace(case, activation=None)  # these operators have no bounds
    if case.weights is None:
        return case
    y = case.output_quant
    scale = (float(2.0 ** np.round(np.log2(y.scale[0]))),)
    bias = None if case.bias is None else np.clip(case.bias, -2**20, 2**20)
    return dataclasses.replace(case, bias=bias, output_quant=dataclasses.replace(y, scale=scale))


def _arrays(case):
    arrays = {'op': case.op, 'y_s': case.output_quant.scales[0]}
    for i, (x, q) in enumerate(zip(case.inputs, case.input_quants)):
        values, zero = _unsigned(x, q)
        arrays.update({f'x{i}': to_nchw(values), f'x{i}_s': q.scales[0], f'x{i}_z': zero})
    arrays['y_z'] = case.output_quant.zero + (128 if case.output_quant.type == 's8' else 0)
    if case.weights is None:
        return arrays
    w, zero = _unsigned(case.weights, case.weight_quant)
    w, zero = (w.astype(I64) - 128).astype(np.int8), zero - 128
    if case.op == 'depthwise':
        w = w.transpose(3, 0, 1, 2)
    elif case.op == 'conv':
        w = w.transpose(0, 3, 1, 2)
    unit = case.input_quants[0].scales[0] * case.weight_quant.scales
    channels = w.shape[1] * case.groups if case.op == 'deconv' else w.shape[0]
    bias = np.zeros(channels) if case.bias is None else case.bias
    arrays.update({'w': np.ascontiguousarray(w), 'w_s': case.weight_quant.scales, 'w_z': zero,
                   'bias': (bias * np.broadcast_to(unit, channels)).astype(np.float32)})
    if case.op == 'deconv':
        arrays.update({'groups': np.array(case.groups), 'output_pad': np.array(case.output_pad)})
    elif case.op != 'fc':
        groups = case.inputs[0].shape[3] // w.shape[1]
        arrays['groups'] = np.array(groups)
    if case.op != 'fc':
        arrays.update({'stride': np.array(case.stride), 'pads': np.array(case.pads()[:2]),
                       'dilation': np.array(case.dilation)})
    return arrays


def run(cases, folder):
    """(bytes of each case in its own type, NHWC; version)."""
    source, target = folder / 'torch_in.npz', folder / 'torch_out.npz'
    arrays = {f'{i}_{k}': v for i, case in enumerate(cases) for k, v in _arrays(case).items()}
    np.savez(source, count=len(cases), **arrays)
    done = subprocess.run([python(), str(WORKER), str(source), str(target)], capture_output=True,
                          text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    with np.load(target) as outputs:
        results = []
        for i, case in enumerate(cases):
            shift = 128 if case.output_quant.type == 's8' else 0
            y = to_nhwc(outputs[f'{i}_y']).astype(I64) - shift
            results.append(y.astype(case.output_quant.dtype))
        return results, str(outputs['version'])
