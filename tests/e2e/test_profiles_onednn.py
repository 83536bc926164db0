"""Profile onednn: functions and residual sums behind a convolution are its post-operations.

No byte lies between the accumulator and the function. Expected integers: numpy, from the weights of the
model and the scales that the program shows.
"""

import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline

F32 = np.float32
SHAPE = (1, 6, 24, 24)


def model(nodes, constants, path):
    graph = helper.make_graph(
        nodes, 'tail', [helper.make_tensor_value_info('x', TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, (1, None, SHAPE[2], SHAPE[3]))],
        [numpy_helper.from_array(v, k) for k, v in constants.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
    onnx.save(onnx.shape_inference.infer_shapes(made), path)


def weights(rng, shape):
    return rng.normal(0, 0.4, shape).astype(F32)


def deployed(nodes, constants, folder, mode, profile=('--profile', 'onednn')):
    """(program, {tensor: (type, scale, zero)}, commands)."""
    rng = np.random.default_rng(5)
    path, data = folder / 'm.onnx', folder / 'data.npy'
    model(nodes, constants, path)
    np.save(data, rng.normal(0, 1, (16, *SHAPE[1:])).astype(F32))
    table = pipeline.calibrate(path, data, folder / 't.yaml', samples=16, extra=['--method', 'minmax'])
    pipeline.deploy(path, folder / 'm.rshift', mode=mode, table=table,
                    extra=profile)
    text = pipeline.run('model_tool', 'disasm', folder / 'm.rshift')
    found = re.findall(r'([\w.]+):([su]8)\[[\dx]+\]\S*\{([^,]+),(-?\d+)\}', text)
    return folder / 'm.rshift', {n: (t, F32(s), int(z)) for n, t, s, z in found}, text


def to_bytes(values, kind, zero):
    """values + zero in float32, to even, saturated."""
    lo = 0 if kind == 'u8' else -128
    return np.rint(np.clip(values + F32(zero), lo, lo + 255)).astype(np.int64)


def quantize(x, quant):
    kind, scale, zero = quant
    lo = 0 if kind == 'u8' else -128
    return np.clip(np.rint(x / scale) + zero, lo, lo + 255).astype(np.int64)


def accumulate(q, zero, w, scale_x):
    """(accumulators, S_x S_w) of a convolution with pads that keep the size; channels first."""
    largest = np.abs(w).max((1, 2, 3))
    scale_w = (largest.astype(np.float64) / 127).astype(F32)
    qw = np.clip(np.rint(w / scale_w[:, None, None, None]), -127, 127).astype(np.int64)
    pad = w.shape[2] // 2
    x = np.pad(q - zero, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    acc = np.einsum('nchwij,ocij->nohw', windows, qw)
    return acc, F32(scale_x) * scale_w


def convolve(q, zero, w, bias, scale_x):
    """(acc + bias_f, S_x S_w)."""
    acc, unit = accumulate(q, zero, w, scale_x)
    bias_f = (bias / unit).astype(F32) if bias is not None else np.zeros(len(w), F32)
    return acc.astype(F32) + bias_f[:, None, None], unit[:, None, None]


def exact(function, f):
    return function(f.astype(np.float64)).astype(F32)


FUNCTIONS = {
    'Tanh': ({}, lambda f: exact(np.tanh, f)),
    'Sigmoid': ({}, lambda f: exact(lambda v: 1 / (1 + np.exp(-v)), f)),
    'Elu': ({'alpha': 0.7}, lambda f: np.where(f > 0, f, F32(0.7) * exact(np.expm1, f))),
    'Abs': ({}, None),
    'LeakyRelu': ({'alpha': 0.125}, None),
}


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
@pytest.mark.parametrize('name', FUNCTIONS)
def test_function(name, mode, tmp_path, report):
    rng = np.random.default_rng(7)
    attributes, function = FUNCTIONS[name]
    w, b = weights(rng, (9, 6, 3, 3)), rng.normal(0, 0.5, 9).astype(F32)
    nodes = [helper.make_node('Conv', ['x', 'w', 'b'], ['c'], pads=[1, 1, 1, 1]),
             helper.make_node(name, ['c'], ['y'], **attributes)]
    program, quants, text = deployed(nodes, {'w': w, 'b': b}, tmp_path, mode)
    assert ' table ' not in text and ' leaky_relu ' not in text and ' c:' not in text
    assert re.search(r' conv .*dst=y:.* list=', text), text
    x = np.random.default_rng(9).normal(0, 1, SHAPE).astype(F32)
    kind, scale_x, zero_x = next(quants[n] for n in quants if n.startswith('x'))
    kind_y, scale_y, zero_y = quants['y']
    acc, unit = convolve(quantize(x, (kind, scale_x, zero_x)), zero_x, w, b, scale_x)
    if function is None:  # homogeneous: the output scale divides already
        f = acc * (unit / scale_y)
        f = np.abs(f) if name == 'Abs' else np.where(f > 0, f, F32(0.125) * f)
    else:
        f = function(acc * unit) * (F32(1) / scale_y)
    wanted = to_bytes(f.astype(F32), kind_y, zero_y)
    actual = pipeline.infer(program, {'x': x}, tmp_path)['y']
    difference = np.abs(np.rint(actual / scale_y).astype(np.int64) + zero_y - wanted)
    report(f'onednn tail {name:9} {mode:10}: {wanted.size} bytes, {int((difference > 0).sum())} differ')
    assert (difference == 0).all()


def test_residual_sum(tmp_path):
    """A second convolution, plus the first one's result, Relu: one command with src2."""
    rng = np.random.default_rng(8)
    w, v = weights(rng, (5, 6, 3, 3)), weights(rng, (5, 5, 1, 1))
    nodes = [helper.make_node('Conv', ['x', 'w'], ['c'], pads=[1, 1, 1, 1]),
             helper.make_node('Relu', ['c'], ['a']), helper.make_node('Conv', ['a', 'v'], ['d']),
             helper.make_node('Add', ['d', 'a'], ['s']), helper.make_node('Relu', ['s'], ['y'])]
    program, quants, text = deployed(nodes, {'w': w, 'v': v}, tmp_path, 'symmetric')
    assert ' add' not in text and re.search(r' conv .*dst=y:u8.* src2=a:u8.* list=', text), text
    x = np.random.default_rng(9).normal(0, 1, SHAPE).astype(F32)
    kind, scale_x, zero_x = next(quants[n] for n in quants if n.startswith('x'))
    acc, unit = convolve(quantize(x, (kind, scale_x, zero_x)), zero_x, w, None, scale_x)
    (_, scale_a, _), (_, scale_y, zero_y) = quants['a'], quants['y']
    a = to_bytes(acc * (unit / scale_a), 'u8', 0)
    acc, unit = convolve(a, 0, v, None, scale_a)
    f = acc * (unit / scale_y)
    ratio = np.float64(scale_a / scale_y)
    f = (ratio * a + f.astype(np.float64)).astype(F32)  # an fma: the product has 32 bits at most
    wanted = to_bytes(f, 'u8', zero_y)
    actual = pipeline.infer(program, {'x': x}, tmp_path)['y']
    assert (np.rint(actual / scale_y).astype(np.int64) == wanted).all()


def test_what_is_read_twice_keeps_its_byte(tmp_path):
    rng = np.random.default_rng(8)
    nodes = [helper.make_node('Conv', ['x', 'w'], ['c'], pads=[1, 1, 1, 1]),
             helper.make_node('Tanh', ['c'], ['t']), helper.make_node('Add', ['c', 't'], ['y'])]
    _, _, text = deployed(nodes, {'w': weights(rng, (6, 6, 3, 3))}, tmp_path, 'symmetric')
    assert re.search(r' table .*dst=t:', text) and ' add' in text and re.search(r'dst=c:', text)
