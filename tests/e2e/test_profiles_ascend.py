"""Profile ascend from a float model: AscendQuant, convolution, AscendDequant, BiasAdd, AscendQuant.

AscendQuant multiplies by 1 / S and adds the offset before it rounds; QDQ models, whose QuantizeLinear
divides, are in test_profiles_formulas.py.
"""

import numpy as np
import pytest
from onnx import helper

import pipeline
from frameworks.arithmetic_others import ROUND
from test_profiles_onednn import F32, SHAPE, accumulate, deployed, weights

ROUNDINGS = {None: 'even', 'away': 'away', 'floor': 'floor', 'ceil': 'ceil', 'truncate': 'truncate',
             'fp16': 'even'}


def ascend_quant(x, quant, variant):
    _, scale, zero = quant
    factor = F32(1 / np.float64(scale))
    factor = F32(np.float16(factor)) if variant == 'fp16' else factor
    v = (x.astype(F32) * factor + F32(zero)).astype(F32)
    return np.clip(ROUND[ROUNDINGS[variant]](np.clip(v, -1000, 1000)), -128, 127).astype(np.int64)


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
@pytest.mark.parametrize('variant', ROUNDINGS)
def test_convolution(variant, mode, tmp_path, report):
    rng = np.random.default_rng(11)
    w, b = weights(rng, (16, 6, 3, 3)), rng.normal(0, 0.5, 16).astype(F32)
    nodes = [helper.make_node('Conv', ['x', 'w', 'b'], ['c'], pads=[1, 1, 1, 1]),
             helper.make_node('Relu', ['c'], ['y'])]
    extra = ['--profile', 'ascend'] + (['--variant', variant] if variant else [])
    program, quants, text = deployed(nodes, {'w': w, 'b': b}, tmp_path, mode, extra)
    assert 'y:u8' not in text and 'conv_f32' not in text
    quant_x, quant_y = quants['x__q'], quants['y']
    x = np.random.default_rng(9).normal(0, 1, SHAPE).astype(F32)
    # A third of the inputs a hair beside or on the ties of x / S.
    steps = np.arange(x.size).reshape(x.shape) % 200 - 100
    x = np.where(np.arange(x.size).reshape(x.shape) % 3 == 0,
                 ((steps + F32(0.5)) * quant_x[1]).astype(F32), x)
    q = ascend_quant(x, quant_x, variant)
    acc, unit = accumulate(q, quant_x[2], w, quant_x[1])
    half = (acc.astype(F32) * unit[:, None, None]).astype(np.float16)
    half = np.maximum(half + b.astype(np.float16)[:, None, None], np.float16(0))
    wanted = ascend_quant(half, quant_y, variant)
    actual = pipeline.infer(program, {'x': x}, tmp_path)['y']
    got = np.rint(actual / quant_y[1]).astype(np.int64) + quant_y[2]
    report(f'ascend {variant or "round":9} {mode:10}: {wanted.size} bytes, {int((got != wanted).sum())} differ')
    assert (got == wanted).all()


def test_bias_that_no_half_holds_is_an_error(tmp_path):
    rng = np.random.default_rng(12)
    nodes = [helper.make_node('Conv', ['x', 'w', 'b'], ['y'], pads=[1, 1, 1, 1])]
    constants = {'w': weights(rng, (4, 6, 3, 3)), 'b': np.full(4, 1e5, F32)}
    with pytest.raises(AssertionError, match='no fp16 holds'):
        deployed(nodes, constants, tmp_path, 'symmetric', ['--profile', 'ascend'])
