"""Calibration of models whose inputs are integers or bool, open in their shape, and of models with a static batch."""

import json
import re

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline

SEED = 3

pytestmark = pytest.mark.sanitized


def save(path, nodes, inputs, constants):
    """inputs: {name: (element type, shape)}; the output is y."""
    graph = helper.make_graph(
        nodes, 'net', [helper.make_tensor_value_info(n, t, s) for n, (t, s) in inputs.items()],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8),
              path)
    return path


def weights(*shape):
    values = np.random.default_rng(SEED).normal(0, .5, shape).astype(np.float32)
    return numpy_helper.from_array(values, 'w')


def reference(model, inputs):
    session = onnxruntime.InferenceSession(str(model), providers=['CPUExecutionProvider'])
    return session.run(None, inputs)[0]


@pytest.mark.parametrize('onnx_type,dtype', [
    (TensorProto.INT64, np.int64), (TensorProto.INT32, np.int32), (TensorProto.INT8, np.int8),
    (TensorProto.UINT8, np.uint8), (TensorProto.BOOL, bool)])
def test_every_integer_input_calibrates_and_deploys(tmp_path, onnx_type, dtype):
    nodes = [helper.make_node('Cast', ['ids'], ['x'], to=TensorProto.FLOAT),
             helper.make_node('MatMul', ['x', 'w'], ['y'])]
    model = save(tmp_path / 'net.onnx', nodes, {'ids': (onnx_type, (1, 16))}, [weights(16, 8)])
    ids = np.random.default_rng(SEED).integers(0, 2 if dtype is bool else 100, (12, 16)).astype(dtype)
    np.savez(tmp_path / 'x.npz', ids=ids)
    table = pipeline.calibrate(model, tmp_path / 'x.npz', tmp_path / 'table.yaml')
    pipeline.deploy(model, tmp_path / 'net.rshift', mode='asymmetric', table=table)
    got = pipeline.infer(tmp_path / 'net.rshift', {'ids': ids[:1]}, tmp_path)['y']
    assert pipeline.cosine(got, reference(model, {'ids': ids[:1]})) > 0.999


def test_a_value_that_the_input_cannot_hold_is_named(tmp_path):
    nodes = [helper.make_node('Cast', ['ids'], ['x'], to=TensorProto.FLOAT),
             helper.make_node('MatMul', ['x', 'w'], ['y'])]
    model = save(tmp_path / 'net.onnx', nodes, {'ids': (TensorProto.UINT8, (1, 16))},
                 [weights(16, 8)])
    np.save(tmp_path / 'x.npy', np.full((3, 16), 300, np.int32))
    error = pipeline.fails('model_calibrate', model, '--dataset', tmp_path / 'x.npy', '-o',
                           tmp_path / 't.yaml')
    assert "x.npy:0, input 'ids': value 300 does not fit" in error


def test_the_shape_of_an_open_input_is_said_once(tmp_path):
    """model_calibrate writes it to the table; model_deploy and model_tool find it there, unless they are told another."""
    nodes = [helper.make_node('Conv', ['x', 'w'], ['y'])]
    model = save(tmp_path / 'net.onnx', nodes, {'x': (TensorProto.FLOAT, (1, 3, 'h', 'w'))}, [weights(5, 3, 3, 3)])
    np.save(tmp_path / 'x.npy', np.random.default_rng(SEED).normal(0, 1, (12, 3, 8, 10)).astype(np.float32))
    table, program = tmp_path / 't.yaml', tmp_path / 'net.rshift'
    assert '--input-shape x:1x3x' in pipeline.fails('model_calibrate', model, '--dataset', tmp_path / 'x.npy', '-o', table)
    pipeline.calibrate(model, tmp_path / 'x.npy', table, extra=('--input-shape', 'x:1x3x8x10'))
    assert 'input_shapes:\n  x: [1, 3, 8, 10]\n' in table.read_text()

    def shape_of(*extra):
        pipeline.run('model_deploy', model, '--calibration', table, '-o', program, *extra)
        (made,) = json.loads(pipeline.run('model_tool', 'info', program, '--json'))['inputs']
        return made['shape']

    assert shape_of() == shape_of('--mode', 'f32') == [1, 3, 8, 10]
    assert shape_of('--input-shape', 'x:1x3x6x6', '--no-check') == [1, 3, 6, 6]
    pipeline.run('model_tool', 'explain', table, 'y', '--model', model)
    pipeline.run('model_tool', 'diagnose', model, '--calibration', table, '--dataset', tmp_path / 'x.npy')
    # What a table says of an input that the model does not have is nothing.
    table.write_text(table.read_text().replace('  x: [1, 3, 8, 10]', '  z: [1, 3, 8, 10]'))
    assert '--input-shape x:1x3x' in pipeline.fails('model_deploy', model, '--calibration', table, '-o', program)


def test_recorded_shapes_give_way(tmp_path):
    """To what is said of another input with the same open dimension; and those of another model say nothing."""
    nodes = [helper.make_node('Add', ['ids', 'mask'], ['s']), helper.make_node('Tanh', ['s'], ['y'])]
    inputs = {name: (TensorProto.FLOAT, (1, 'n')) for name in ('ids', 'mask')}
    model, table, program = save(tmp_path / 'net.onnx', nodes, inputs, []), tmp_path / 't.yaml', tmp_path / 'net.rshift'
    rng = np.random.default_rng(SEED)
    np.savez(tmp_path / 'x.npz', **{name: rng.normal(0, 1, (6, 12)).astype(np.float32) for name in inputs})
    pipeline.calibrate(model, tmp_path / 'x.npz', table, extra=('--input-shape', 'ids:1x12', '--input-shape', 'mask:1x12'))

    def shapes_of(*extra):
        pipeline.run('model_deploy', model, '--calibration', table, '-o', program, *extra)
        return [made['shape'] for made in json.loads(pipeline.run('model_tool', 'info', program, '--json'))['inputs']]

    assert shapes_of() == [[1, 12]] * 2
    assert shapes_of('--input-shape', 'ids:1x5', '--no-check') == [[1, 5]] * 2
    proposed = pipeline.run('model_tool', 'diagnose', model, '--calibration', table, '--dataset', tmp_path / 'x.npz')
    assert 'model_calibrate' not in proposed or '--input-shape ids:1x12 --input-shape mask:1x12' in proposed
    inputs = {name: (TensorProto.FLOAT, (1, 7)) for name in inputs}
    other = save(tmp_path / 'other.onnx', nodes, inputs, [])
    assert 'made from another model' in pipeline.fails('model_deploy', other, '--calibration', table, '-o', program)


def batch_of_four(path):
    nodes = [helper.make_node('Conv', ['x', 'w'], ['y'])]
    return save(path, nodes, {'x': (TensorProto.FLOAT, (4, 3, 8, 8))}, [weights(5, 3, 3, 3)])


def said_of(model, dataset, table, *extra):
    done = pipeline.call('model_calibrate', model, '--dataset', *dataset, '-o', table, *extra)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_a_static_batch_takes_arrays_of_samples(tmp_path):
    model = batch_of_four(tmp_path / 'net.onnx')
    values = np.random.default_rng(SEED).normal(0, 1, (42, 3, 8, 8)).astype(np.float32)
    np.savez(tmp_path / 'even.npz', x=values[:40])
    np.savez(tmp_path / 'odd.npz', x=values)
    np.save(tmp_path / 'batches.npy', values[:40].reshape(10, 4, 3, 8, 8))
    tables = []
    for name in ('even.npz', 'odd.npz', 'batches.npy'):
        table = tmp_path / (name + '.yaml')
        out, note = said_of(model, [tmp_path / name], table)
        assert '10 samples' in out
        assert ('the last 2 of 42 are left over' in note) == (name == 'odd.npz')
        # The samples of min and max have the names of the file that they are in.
        tables.append([re.sub(r', min_sample.*', '', line) for line in table.read_text().splitlines() if 'threshold' in line])
    assert tables[0] == tables[1] == tables[2]
    np.save(tmp_path / 'three.npy', values[:3])
    error = pipeline.fails('model_calibrate', model, '--dataset', tmp_path / 'three.npy', '-o',
                           tmp_path / 't.yaml')
    assert 'has 3 samples' in error and 'at least 4' in error


def test_a_static_batch_takes_photographs(tmp_path):
    cv2 = pytest.importorskip('cv2')
    model = batch_of_four(tmp_path / 'net.onnx')
    pixels = np.random.default_rng(SEED).integers(0, 256, (9, 8, 8, 3)).astype(np.uint8)
    (tmp_path / 'photos').mkdir()
    for i, image in enumerate(pixels):
        cv2.imwrite(str(tmp_path / f'photos/{i}.png'), image)
    recipe = tmp_path / 'p.yaml'
    recipe.write_text('inputs:\n  - {name: x, color: BGR, scale: [0.01, 0.01, 0.01]}\n')
    out, note = said_of(model, [tmp_path / 'photos'], tmp_path / 't.yaml', '--preprocess', recipe)
    assert '2 samples' in out and 'the last 1 of 9' in note
    pipeline.deploy(model, tmp_path / 'net.rshift', mode='symmetric', table=tmp_path / 't.yaml')
