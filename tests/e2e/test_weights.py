"""model_tool weights: the constants of programs and models are what numpy and the ONNX file say."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline

SEED = 11
SHAPES = {'w1': (6, 4, 3, 3), 'wd': (6, 1, 3, 3), 'w2': (5, 6, 1, 1)}


def weights(name):
    """Integers and one scale for each output channel; some zeros and ends for certain."""
    rng = np.random.default_rng([SEED, len(name), ord(name[1])])
    values = np.clip(rng.normal(0, 60, SHAPES[name]), -127, 127).astype(np.int8)
    values.reshape(-1)[:3] = 127, -127, 0
    return values, rng.uniform(.001, .01, SHAPES[name][0]).astype(np.float32)


@pytest.fixture(scope='module', name='model')
def _model(tmp_path_factory):
    """A QDQ network: its integers and scales are its own."""
    node, nodes, constants = helper.make_node, [], []

    def constant(name, array):
        constants.append(numpy_helper.from_array(array, name))
        return name

    def quantized(tensor, scale):
        parameters = [constant(f'{tensor}_s', np.float32(scale)), constant(f'{tensor}_z', np.int8(0))]
        nodes.append(node('QuantizeLinear', [tensor, *parameters], [f'{tensor}_q']))
        nodes.append(node('DequantizeLinear', [f'{tensor}_q', *parameters], [f'{tensor}_d']))
        return f'{tensor}_d'

    tensor = quantized('x', .05)
    for i, (name, group) in enumerate((('w1', 1), ('wd', 6), ('w2', 1))):
        values, scales = weights(name)
        read = [constant(name, values), constant(f'{name}_s', scales), constant(f'{name}_z', np.zeros(len(scales), np.int8))]
        nodes.append(node('DequantizeLinear', read, [f'{name}_d'], axis=0))
        nodes.append(node('Conv', [tensor, f'{name}_d'], [f'c{i}'], name=f'conv{i}', group=group))
        tensor = quantized(f'c{i}', .1 * (i + 1))
    graph = helper.make_graph(nodes, 'net', [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 4, 9, 9))],
                              [helper.make_tensor_value_info(tensor, TensorProto.FLOAT, (1, 5, 5, 5))], constants)
    path = tmp_path_factory.mktemp('weights') / 'net.onnx'
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)
    return path


def rows_of(file, *extra):
    return json.loads(pipeline.run('model_tool', 'weights', file, '--json', *extra))['constants']


def check_figures(row):
    array = np.load(row['file'])
    assert row['shape'] == list(array.shape) and row['bytes'] == array.nbytes
    assert row['min'] == array.min() and row['max'] == array.max()
    assert row['zeros'] == pytest.approx(np.mean(array == 0))
    if array.dtype == np.int8:
        assert row['ends'] == pytest.approx(np.mean(np.abs(array.astype(int)) >= 127))
    else:
        assert 'ends' not in row
    return array


@pytest.mark.parametrize('profile', ('tpu', 'onnxruntime'))
def test_a_program_has_the_models_integers(model, tmp_path, profile):
    program = tmp_path / 'net.rshift'
    pipeline.run('model_deploy', model, '--profile', profile, '--no-check', '-o', program)
    rows = rows_of(program, '-o', tmp_path / 'npy')
    found = {}
    for row in rows:
        if row['type'] != 'bytes':
            found[row['node'], row['name'].rsplit('.', 1)[-1]] = check_figures(row), row
    for i, name in enumerate(SHAPES):
        values, scales = weights(name)
        array, row = next(found[key] for key in found if key[0] == f'conv{i}' and key[1] == 'weights')
        np.testing.assert_array_equal(array, values)
        assert row['op'] == ('depthwise' if name == 'wd' else 'conv')
        if profile == 'tpu':  # integer words: the scales follow from them
            np.testing.assert_allclose(row['scales'], scales, rtol=1e-6)
        else:
            assert row['scales'] == []
        for words in ('bias', 'multiplier', 'rshift'):
            assert (f'conv{i}', words) in found
    assert len(list((tmp_path / 'npy').iterdir())) == len(rows)


def test_a_model_has_what_its_file_has(model, tmp_path):
    rows = {row['name']: row for row in rows_of(model, '--output', tmp_path / 'npy')}
    wanted = {c.name: numpy_helper.to_array(c) for c in onnx.load(model).graph.initializer}
    for name in SHAPES:
        row = rows[f'{name}_d']  # what the DequantizeLinear of constants gives
        np.testing.assert_array_equal(check_figures(row), wanted[name])
        np.testing.assert_array_equal(np.float32(row['scales']), wanted[f'{name}_s'])
    rows = {row['name']: row for row in rows_of(pipeline.EXAMPLE, '-o', tmp_path / 'floats')}
    floats = {c.name: numpy_helper.to_array(c) for c in onnx.load(pipeline.EXAMPLE).graph.initializer}
    both = rows.keys() & floats.keys()
    assert len(both) > 10
    for name in both:
        np.testing.assert_array_equal(check_figures(rows[name]), floats[name])


def test_the_table(model, tmp_path):
    pipeline.run('model_deploy', model, '--no-check', '-o', tmp_path / 'net.rshift')
    for file in (model, tmp_path / 'net.rshift'):
        lines = pipeline.run('model_tool', 'weights', file).splitlines()
        assert lines[0].split()[:4] == ['name', 'op', 'shape', 'type']
        rows = rows_of(file)
        assert lines[-1] == f"{len(rows)} constants, {sum(row['bytes'] for row in rows)} bytes"
        assert len(lines) == len(rows) + 2


def test_bad_files_are_one_clear_line(model, tmp_path):
    (tmp_path / 'x').write_bytes(b'no model')
    assert str(tmp_path / 'x') in pipeline.fails('model_tool', 'weights', tmp_path / 'x')
    pipeline.run('model_deploy', model, '--no-check', '-o', tmp_path / 'net.rshift')
    damaged = bytearray((tmp_path / 'net.rshift').read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / 'bad.rshift').write_bytes(damaged)
    assert 'bad.rshift' in pipeline.fails('model_tool', 'weights', tmp_path / 'bad.rshift')
