"""Resize of a constant, as vision transformers interpolate their table of positions: folded, equal to ONNX Runtime's."""

import numpy as np
import onnxruntime
import pytest
from onnx import helper

import little_onnx
import pipeline

SHAPE = (1, 3, 9, 7)


@pytest.mark.parametrize('mode', ['nearest', 'linear', 'cubic'])
@pytest.mark.parametrize('coordinate', ['half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric'])
def test_resize_of_a_constant(tmp_path, mode, coordinate):
    r = np.random.default_rng(5)
    attributes = dict(mode=mode, coordinate_transformation_mode=coordinate, cubic_coeff_a=-0.75)
    nodes = [helper.make_node('Resize', ['positions', '', '', 'sizes'], ['resized'], **attributes),
             helper.make_node('Add', ['x', 'resized'], ['y'])]
    constants = {'positions': r.normal(size=(1, 3, 4, 4)).astype(np.float32), 'sizes': np.array(SHAPE, np.int64)}
    model = little_onnx.save(tmp_path / 'net.onnx', nodes, {'x': list(SHAPE)}, ['y'], constants)
    x = r.normal(size=SHAPE).astype(np.float32)
    np.save(tmp_path / 'x.npy', x)
    program = tmp_path / 'net.rshift'
    pipeline.run('model_deploy', model, '--mode', 'f32', '-o', program)
    assert set(pipeline.f32_commands(program)) == {'binary_f32'}
    pipeline.run('model_runner', program, '--input', tmp_path / 'x.npy', '--output', tmp_path / 'y.npz')
    session = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])
    wanted = session.run(None, {'x': x})[0]
    np.testing.assert_allclose(np.load(tmp_path / 'y.npz')['y'].reshape(SHAPE), wanted, atol=1e-5)
