"""Comparisons of numbers with some that were chosen among them: a mask of the greatest, of what a clip leaves alone."""

import numpy as np
import pytest
from onnx import helper

import pipeline
from little_onnx import constant, save

CHOICES = {'greatest': [helper.make_node('ReduceMax', ['a'], ['m'], axes=[1], keepdims=1)],
           'clipped': [helper.make_node('Clip', ['a', 'low', 'high'], ['m'])],
           'relu': [helper.make_node('Relu', ['a'], ['m'])],
           'greater': [helper.make_node('Max', ['a', 'b'], ['m'])]}


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
@pytest.mark.parametrize('choice', CHOICES)
def test_equal_numbers_are_equal(choice, mode, tmp_path):
    rng = np.random.default_rng(5)
    weights = [constant('v', rng.normal(0, .5, (8, 8)).astype(np.float32)), constant('w', rng.normal(0, .5, (8, 8)).astype(np.float32)),
               constant('low', np.float32(-1)), constant('high', np.float32(1))]
    nodes = [helper.make_node('MatMul', ['x', 'v'], ['a']), helper.make_node('MatMul', ['x', 'w'], ['b']), *CHOICES[choice],
             helper.make_node('Equal', ['a', 'm'], ['e']), helper.make_node('Cast', ['e'], ['c'], to=1), helper.make_node('Mul', ['c', 'a'], ['y'])]
    save(tmp_path / 'net.onnx', nodes, {'x': (16, 8)}, ('c', 'y'), weights)
    np.save(tmp_path / 'x.npy', rng.normal(0, 1, (30, 16, 8)).astype(np.float32))
    pipeline.run('model_calibrate', tmp_path / 'net.onnx', '--dataset', tmp_path / 'x.npy', '-o', tmp_path / 't.yaml')
    pipeline.deploy(tmp_path / 'net.onnx', tmp_path / 'p.rshift', mode=mode, table=tmp_path / 't.yaml')
    pipeline.deploy(tmp_path / 'net.onnx', tmp_path / 'f.rshift', mode='f32')
    sample = {'x': np.load(tmp_path / 'x.npy')[0]}
    ours, goal = (pipeline.infer(tmp_path / name, sample, tmp_path)['c'] for name in ('p.rshift', 'f.rshift'))
    assert goal.any() and not goal.all()
    assert (ours == goal).mean() > .9  # neighbours within a step are equal in 8 bits
