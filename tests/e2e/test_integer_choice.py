"""Weights and biases that samples choose, where outputs are constants and where one operator becomes two products."""

import numpy as np
import pytest
from onnx import helper

import oracle
import pipeline
from little_onnx import constant, save

WAYS = [('--bias-correction', 'full'), ('--bias-correction', 'regression'), ('--weight-rounding', 'gptq'), ('--weight-clipping', 'mse'), ('--auto',)]


def calibrated(tmp_path, shape):
    rng = np.random.default_rng(3)
    np.save(tmp_path / 'x.npy', rng.normal(0, 1, (16, *shape)).astype(np.float32))
    pipeline.run('model_calibrate', tmp_path / 'net.onnx', '--dataset', tmp_path / 'x.npy', '-o', tmp_path / 't.yaml')


def check(tmp_path, way):
    report = pipeline.run('model_deploy', tmp_path / 'net.onnx', '--calibration', tmp_path / 't.yaml', *way, '-o', tmp_path / 'p.rshift')
    assert 'not done' not in report
    pipeline.deploy(tmp_path / 'net.onnx', tmp_path / 'f.rshift', mode='f32')
    sample = {'x': np.load(tmp_path / 'x.npy')[0]}
    ours, goal = (pipeline.infer(tmp_path / name, sample, tmp_path) for name in ('p.rshift', 'f.rshift'))
    assert oracle.sqnr(ours['y'], goal['y']) > 25
    return ours


@pytest.mark.parametrize('way', [(), *WAYS])
def test_an_output_may_be_a_constant(way, tmp_path):
    rng = np.random.default_rng(5)
    weights = [constant('w', rng.normal(0, .3, (16, 16)).astype(np.float32)), constant('k', np.arange(4, dtype=np.float32)), constant('one', np.float32(1))]
    save(tmp_path / 'net.onnx', [helper.make_node('Add', ['k', 'one'], ['c']), helper.make_node('MatMul', ['x', 'w'], ['y'])],
         {'x': (8, 16)}, ('y', 'c'), weights)
    calibrated(tmp_path, (8, 16))
    assert (check(tmp_path, way)['c'] == np.arange(1, 5)).all()


@pytest.mark.parametrize('way', [(), *WAYS])
def test_an_antialiased_resize_is_two_products_of_one_name(way, tmp_path):
    sizes = constant('sizes', np.array([1, 3, 4, 36], np.int64))
    save(tmp_path / 'net.onnx', [helper.make_node('Resize', ['x', '', '', 'sizes'], ['y'], mode='cubic', antialias=1,
                                                  coordinate_transformation_mode='align_corners')], {'x': (1, 3, 8, 12)}, ('y',), [sizes], opset=18)
    calibrated(tmp_path, (3, 8, 12))
    check(tmp_path, way)
