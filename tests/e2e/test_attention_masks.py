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
    """One head; the mask is an array, None: computed of the input `keep`, which is 1 where there is something, or
    'given': an input of the model itself."""
    r = np.random.default_rng(3)
    constants = {'zero': np.float32(0)} | {w: r.normal(0, WIDTH**-0.5, (WIDTH, WIDTH)).astype(np.float32) for w in 'qkv'}
    inputs = {'x': [1, 1, KEYS, WIDTH]}
    computed = []
    if isinstance(mask, str):
        inputs['mask'] = [1, 1, KEYS, KEYS]
    elif mask is None:
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


def given_masks(count):
    """Other keys are left out in each sample; the first never."""
    masks = np.where(np.random.default_rng(5).random((count, 1, KEYS, KEYS)) < 0.4, NEVER, 0).astype(np.float32)
    masks[..., 0] = 0
    return masks


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_mask_with_infinities_as_an_input(tmp_path, mode):
    model = attention(tmp_path / 'net.onnx', 'given')
    x, masks = samples(32), given_masks(32)
    data = tmp_path / 'data.npz'
    np.savez(data, x=x, mask=masks)
    y, _ = run_f32(model, tmp_path, {'x': x, 'mask': masks})
    session = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])
    wanted = np.stack([session.run(None, {'x': a[None], 'mask': m[None]})[0] for a, m in zip(x, masks, strict=True)])
    np.testing.assert_allclose(y, wanted.reshape(y.shape), atol=1e-5)

    table = pipeline.calibrate(model, data, tmp_path / 'net.table.yaml', samples=32)
    program = tmp_path / 'net.rshift'
    pipeline.deploy(model, program, mode=mode, table=table)
    pipeline.run('model_runner', program, '--dataset', data, '--output', tmp_path / 'i.npz')
    found = np.load(tmp_path / 'i.npz')['y']
    assert 10 * np.log10((y**2).sum() / ((found - y)**2).sum()) > 25


@pytest.mark.parametrize('value', (np.nan, np.inf))
def test_what_is_no_mask_is_refused(tmp_path, value):
    model = attention(tmp_path / 'net.onnx', 'given')
    masks = given_masks(2)
    masks[1, 0, 2, 3] = value
    np.savez(tmp_path / 'data.npz', x=samples(2), mask=masks)
    error = pipeline.fails('model_calibrate', model, '--dataset', tmp_path / 'data.npz', '-o', tmp_path / 't.yaml')
    assert "data.npz:1: input 'mask': element 15" in error and 'expected finite values' in error


def test_an_infinity_that_a_product_reads_is_refused(tmp_path):
    model = attention(tmp_path / 'net.onnx', 'given')
    x = samples(2)
    x[1, 0, 0, 3] = NEVER
    np.savez(tmp_path / 'data.npz', x=x, mask=given_masks(2))
    program = tmp_path / 'f32.rshift'
    pipeline.run('model_deploy', model, '--mode', 'f32', '-o', program)
    for command in (('model_calibrate', model, '-o', tmp_path / 't.yaml'), ('model_runner', program, '--output', tmp_path / 'y.npz')):
        error = pipeline.fails(*command, '--dataset', tmp_path / 'data.npz')
        assert "data.npz:1: input 'x': element 3" in error and 'is -inf, expected finite values' in error
