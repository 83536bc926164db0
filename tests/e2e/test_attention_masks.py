"""Attention as torch.onnx.export writes it: a mask added to q k^T, and zeros in the place of NaN behind the Softmax."""

import numpy as np
import onnxruntime
import pytest
from onnx import helper

import little_onnx
import pipeline

KEYS, WIDTH = 6, 8
NEVER = -np.inf


def causal(keys):
    return np.triu(np.full((keys, keys), NEVER, np.float32), 1)


MASKS = {
    'zeros': np.zeros((1, 1, KEYS, KEYS), np.float32),
    'causal': causal(KEYS)[None, None],
    'keys': np.array([0, 0, NEVER, 0, NEVER, 0], np.float32),
    'empty row': np.concatenate([causal(KEYS)[:3], np.full((1, KEYS), NEVER, np.float32), causal(KEYS)[4:]])[None, None],
    'all': np.full((1, 1, KEYS, 1), NEVER, np.float32),
}


def attention(path, mask):
    """One head; the mask is an array, or None: computed of the input `keep`, which is 1 where there is something."""
    r = np.random.default_rng(3)
    constants = {'zero': np.float32(0)} | {w: r.normal(0, WIDTH**-0.5, (WIDTH, WIDTH)).astype(np.float32) for w in 'qkv'}
    inputs = {'x': [1, 1, KEYS, WIDTH]}
    computed = []
    if mask is None:
        inputs['keep'] = [1, 1, KEYS, KEYS]
        constants |= {'never': np.float32(NEVER), 'half': np.float32(0.5)}
        computed = [helper.make_node('Greater', ['keep', 'half'], ['kept']),
                    helper.make_node('Where', ['kept', 'zero', 'never'], ['mask'])]
    else:
        constants['mask'] = mask
    nodes = computed + [helper.make_node('MatMul', ['x', w], [f'{w}x']) for w in 'qkv'] + [
        helper.make_node('Transpose', ['kx'], ['keys'], perm=[0, 1, 3, 2]),
        helper.make_node('MatMul', ['qx', 'keys'], ['scores']),
        helper.make_node('Add', ['scores', 'mask'], ['masked']),
        helper.make_node('Softmax', ['masked'], ['shares'], axis=-1),
        helper.make_node('IsNaN', ['shares'], ['empty']),
        helper.make_node('Where', ['empty', 'zero', 'shares'], ['safe']),
        helper.make_node('MatMul', ['safe', 'vx'], ['y'])]
    return little_onnx.save(path, nodes, inputs, ['y'], constants)


def run_f32(model, folder, feeds):
    program = folder / 'f32.rshift'
    pipeline.run('model_deploy', model, '--mode', 'f32', '-o', program)
    np.savez(folder / 'feeds.npz', **feeds)
    pipeline.run('model_runner', program, '--dataset', folder / 'feeds.npz', '--output', folder / 'y.npz')
    return np.load(folder / 'y.npz')['y'], program


def samples(count):
    return np.random.default_rng(4).normal(size=(count, 1, KEYS, WIDTH)).astype(np.float32)


@pytest.mark.parametrize('name', MASKS)
def test_guarded_softmax(tmp_path, name):
    model = attention(tmp_path / 'net.onnx', MASKS[name])
    x = samples(2)
    y, program = run_f32(model, tmp_path, {'x': x})
    session = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])
    wanted = np.stack([session.run(None, {'x': one[None]})[0] for one in x]).reshape(y.shape)
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(y, wanted, atol=1e-5)
    # Where a row may be empty, the zeros are computed; elsewhere nothing is left of the guard, or of a mask of zeros.
    commands = pipeline.f32_commands(program)
    assert ('where' in commands) == (name in ('empty row', 'all'))
    if name == 'zeros':
        assert 'binary_f32' not in commands


def test_computed_mask_keeps_its_guard(tmp_path):
    model = attention(tmp_path / 'net.onnx', None)
    x, keep = samples(1), (MASKS['empty row'] == 0).astype(np.float32)
    y, program = run_f32(model, tmp_path, {'x': x, 'keep': keep})
    session = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])
    wanted = session.run(None, {'x': x, 'keep': keep})[0]
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(y.reshape(x.shape), wanted, atol=1e-5)
    assert pipeline.f32_commands(program)['where'] == 2


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_integers_without_a_guard(tmp_path, mode):
    model = attention(tmp_path / 'net.onnx', MASKS['zeros'])
    np.save(tmp_path / 'x.npy', samples(16))
    table = pipeline.calibrate(model, tmp_path / 'x.npy', tmp_path / 'net.table.yaml', samples=16)
    program = tmp_path / 'net.rshift'
    pipeline.deploy(model, program, mode=mode, table=table)
    assert pipeline.f32_commands(program) == {}
