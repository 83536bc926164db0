"""Profile ascend from a calibrated float model: AscendQuant, convolution, AscendDequant, BiasAdd, AscendQuant.

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
def test_two_convolutions(variant, mode, tmp_path, report):
    """The first one's AscendQuant is part of its command; the second one's fp16 result goes out."""
    rng = np.random.default_rng(11)
    w, b = weights(rng, (16, 6, 3, 3)), rng.normal(0, 0.5, 16).astype(F32)
    v = weights(rng, (5, 16, 1, 1))
    nodes = [helper.make_node('Conv', ['x', 'w', 'b'], ['c'], pads=[1, 1, 1, 1]),
             helper.make_node('Relu', ['c'], ['t']), helper.make_node('Conv', ['t', 'v'], ['y'])]
    (tmp_path / 'few.yaml').write_text('types: {Conv: {mode: int8}}')
    extra = ['--profile', 'ascend', '--config', tmp_path / 'few.yaml'] + (['--variant', variant] if variant else [])
    program, quants, text = deployed(nodes, {'w': w, 'b': b, 'v': v}, tmp_path, mode, extra)
    assert 'conv_f32' not in text and 't:s8[' in text and ':f16[' in text
    quant_x, quant_t = quants['x__nhwc__q'], quants['t']
    x = np.random.default_rng(9).normal(0, 1, SHAPE).astype(F32)
    # A third of the inputs a hair beside or on the ties of x / S.
    steps = np.arange(x.size).reshape(x.shape) % 200 - 100
    x = np.where(np.arange(x.size).reshape(x.shape) % 3 == 0,
                 ((steps + F32(0.5)) * quant_x[1]).astype(F32), x)
    acc, unit = accumulate(ascend_quant(x, quant_x, variant), quant_x[2], w, quant_x[1])
    half = (acc.astype(F32) * unit[:, None, None]).astype(np.float16)
    half = np.maximum(half + b.astype(np.float16)[:, None, None], np.float16(0))
    acc, unit = accumulate(ascend_quant(half, quant_t, variant), quant_t[2], v, quant_t[1])
    wanted = (acc.astype(F32) * unit[:, None, None]).astype(np.float16).astype(F32)
    actual = pipeline.infer(program, {'x': x}, tmp_path)['y']
    report(f'ascend {variant or "round":9} {mode:10}: {wanted.size} fp16 results, {int((actual != wanted).sum())} differ')
    assert (actual == wanted).all()


def test_bias_that_no_half_holds_is_an_error(tmp_path):
    rng = np.random.default_rng(12)
    nodes = [helper.make_node('Conv', ['x', 'w', 'b'], ['y'], pads=[1, 1, 1, 1])]
    constants = {'w': weights(rng, (4, 6, 3, 3)), 'b': np.full(4, 1e5, F32)}
    few = tmp_path / 'few.yaml'
    few.write_text('types: {Conv: {mode: int8}}')
    with pytest.raises(AssertionError, match='no fp16 holds'):
        deployed(nodes, constants, tmp_path, 'symmetric', ['--profile', 'ascend', '--config', few])
