"""model_tool vectors: what it writes is enough to compute every layer again, to the last bit."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline
import recompute_vectors
from little_onnx import save


def little_net(path):
    """Convolutions of the forms that are packed apart: few channels, groups, depthwise, dilation, odd counts."""
    rng = np.random.default_rng(11)
    shapes = {'w1': (20, 3, 3, 3), 'w2': (20, 5, 3, 3), 'w3': (20, 1, 3, 3), 'w4': (70, 20, 1, 1), 'w5': (70, 9)}
    constants = [numpy_helper.from_array(rng.normal(size=s).astype(np.float32), n) for n, s in shapes.items()]
    constants.append(numpy_helper.from_array(rng.normal(size=20).astype(np.float32), 'b1'))
    node = helper.make_node
    nodes = [node('Conv', ['x', 'w1', 'b1'], ['c1'], pads=[1] * 4, strides=[2, 2]), node('Relu', ['c1'], ['r1']),
             node('Conv', ['r1', 'w2'], ['c2'], pads=[2] * 4, dilations=[2, 2], group=4), node('LeakyRelu', ['c2'], ['p2'], alpha=0.2),
             node('Conv', ['p2', 'w3'], ['c3'], pads=[1, 0, 1, 2], group=20), node('Add', ['c3', 'r1'], ['s']),
             node('LeakyRelu', ['s'], ['l'], alpha=0.1), node('MaxPool', ['l'], ['m'], kernel_shape=[2, 2]),
             node('Conv', ['m', 'w4'], ['c4']), node('HardSwish', ['c4'], ['h4']),
             node('AveragePool', ['h4'], ['a'], kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2]),
             node('GlobalAveragePool', ['a'], ['g']), node('Flatten', ['g'], ['f']), node('MatMul', ['f', 'w5'], ['y'])]
    save(path, nodes, {'x': (1, 3, 12, 13)}, ['y'], constants, opset=14)


@pytest.fixture(scope='module')
def net(tmp_path_factory):
    folder = tmp_path_factory.mktemp('vectors')
    little_net(folder / 'net.onnx')
    np.save(folder / 'x.npy', np.random.default_rng(12).normal(size=(6, 3, 12, 13)).astype(np.float32))
    pipeline.calibrate(folder / 'net.onnx', folder / 'x.npy', folder / 'net.table.yaml', extra=('--equalize', 'off'))
    return folder


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
@pytest.mark.parametrize('fuse', ((), ('--no-fuse',)))
def test_numpy_computes_every_layer_again_from_the_files_alone(mode, fuse, net, tmp_path):
    pipeline.deploy(net / 'net.onnx', tmp_path / 'p.rshift', mode=mode, table=net / 'net.table.yaml', extra=fuse)
    pipeline.run('model_tool', 'vectors', tmp_path / 'p.rshift', '--input', net / 'x.npy', '-o', tmp_path / 'v')
    compared = recompute_vectors.recompute(tmp_path / 'v')
    expected = {'quantize', 'conv', 'depthwise', 'max_pool', 'average_pool', 'matmul', 'leaky_relu', 'table'}
    assert set(compared) == expected | ({'add'} if mode == 'symmetric' else set()), compared
    below = [c['opcode'] for c in json.loads((tmp_path / 'v/manifest.json').read_text())['commands']
             if 'multiplier_below_0' in c['tensors'].get('requant', {}).get('arrays', [])]
    assert sorted(below) == ['conv', 'conv']  # before the LeakyRelu that is part of it, and before HardSwish's table


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_numpy_computes_products_of_sixteen_bits_again(mode, net, tmp_path):
    pipeline.deploy(net / 'net.onnx', tmp_path / 'p.rshift', mode=mode, table=net / 'net.table.yaml',
                    extra=('--activation-bits', 16))
    pipeline.run('model_tool', 'vectors', tmp_path / 'p.rshift', '--input', net / 'x.npy', '-o', tmp_path / 'v')
    compared = recompute_vectors.recompute(tmp_path / 'v')
    assert {'conv_s16', 'matmul_s16'} <= set(compared), compared


def sixteen_bit_net(path):
    """A map that is resized both ways, divided, averaged, and read by an LSTM and two GRUs."""
    rng = np.random.default_rng(13)
    node, constants = helper.make_node, []

    def constant(name, values):
        constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def cell(kind, gates, **attributes):
        w, r, b = (rng.uniform(-0.5, 0.5, shape).astype(np.float32) for shape in ((1, gates * 5, 6), (1, gates * 5, 5), (1, 2 * gates * 5)))
        name = f"{kind}{attributes.get('linear_before_reset', '')}"
        ins = ['rows', constant(name + 'w', w), constant(name + 'r', r), constant(name + 'b', b)]
        return node(kind, ins, [name + '_y'], hidden_size=5, **attributes)

    scales = constant('scales', np.array([1, 1, 2, 1.5], np.float32))
    nodes = [node('Resize', ['x', '', scales], ['linear'], mode='linear'), node('Resize', ['x', '', scales], ['cubic'], mode='cubic'),
             node('Sigmoid', ['cubic'], ['s']), node('Add', ['s', constant('half', np.float32(0.5))], ['divisor']),
             node('Div', ['linear', 'divisor'], ['q']), node('Mul', ['q', 's'], ['m']), node('Add', ['m', 'linear'], ['a']),
             node('ReduceMean', ['a'], ['mean'], axes=[2], keepdims=0), node('ReduceMin', ['a'], ['least'], axes=[2], keepdims=0),
             node('Sub', ['mean', 'least'], ['d']), node('Transpose', ['d'], ['rows'], perm=[2, 0, 1]),
             cell('LSTM', 4), cell('GRU', 3, linear_before_reset=0), cell('GRU', 3, linear_before_reset=1)]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ('LSTM_y', 'GRU0_y', 'GRU1_y')]
    graph = helper.make_graph(nodes, 'net', [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 6, 7, 8))], outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_numpy_computes_cells_quotients_and_interpolation_again(mode, tmp_path):
    """From the formulas of NUMERICS.md, sections 28 and 29."""
    sixteen_bit_net(tmp_path / 'net.onnx')
    np.save(tmp_path / 'x.npy', np.random.default_rng(14).normal(size=(12, 6, 7, 8)).astype(np.float32))
    table = pipeline.calibrate(tmp_path / 'net.onnx', tmp_path / 'x.npy', tmp_path / 't.yaml', extra=('--equalize', 'off'))
    pipeline.deploy(tmp_path / 'net.onnx', tmp_path / 'p.rshift', mode=mode, table=table, extra=('--activation-bits', 16))
    pipeline.run('model_tool', 'vectors', tmp_path / 'p.rshift', '--input', tmp_path / 'x.npy', '-o', tmp_path / 'v')
    compared = recompute_vectors.recompute(tmp_path / 'v')
    expected = {'resize_s16', 'div_s16', 'mul_s16', 'add_s16', 'table_s16', 'average_pool_s16', 'requantize_s16', 'max_pool', 'matmul_s16', 'lstm_cell',
                'gru_cell', 'gated_output', 'quantize'}
    assert set(compared) == expected, compared


def test_weights_are_the_models_in_onnx_order(net, tmp_path):
    pipeline.deploy(net / 'net.onnx', tmp_path / 'p.rshift', mode='symmetric', table=net / 'net.table.yaml')
    pipeline.run('model_tool', 'vectors', tmp_path / 'p.rshift', '--input', net / 'x.npy', '-o', tmp_path / 'v')
    commands = json.loads((tmp_path / 'v/manifest.json').read_text())['commands']
    real = {i.name: numpy_helper.to_array(i) for i in onnx.load(net / 'net.onnx').graph.initializer}
    found = [c for c in commands if 'weights' in c['tensors']]
    assert len(found) == 5
    for command, name in zip(found, ('w1', 'w2', 'w3', 'w4', 'w5'), strict=True):
        with np.load(tmp_path / 'v' / command['file']) as arrays:
            weights = arrays['weights']
        axes = tuple(range(1, 4)) if real[name].ndim == 4 else (0,)
        scale = (np.abs(real[name]).max(axis=axes, keepdims=True) / np.float64(127)).astype(np.float32)
        assert command['tensors']['weights']['shape'] == list(real[name].shape) or command['opcode'] == 'conv'
        if weights.shape == real[name].shape:  # groups may have been merged: then numpy's sums above hold alone
            np.testing.assert_array_equal(weights, np.rint(real[name] / scale))


def test_golden_outputs_are_those_of_the_runner(net, tmp_path):
    pipeline.deploy(net / 'net.onnx', tmp_path / 'p.rshift', mode='symmetric', table=net / 'net.table.yaml')
    pipeline.run('model_tool', 'vectors', tmp_path / 'p.rshift', '--input', net / 'x.npy', '--sample', 3, '-o',
                 tmp_path / 'v')
    np.save(tmp_path / 'x3.npy', np.load(net / 'x.npy')[3:4])
    pipeline.run('model_runner', tmp_path / 'p.rshift', '--input', tmp_path / 'x3.npy', '--output', tmp_path / 'y.npz')
    last = json.loads((tmp_path / 'v/manifest.json').read_text())['commands'][-1]
    with np.load(tmp_path / 'v' / last['file']) as arrays:
        np.testing.assert_array_equal(arrays['dst'], pipeline.arrays_of(tmp_path / 'y.npz')['y'])


def test_same_bytes_twice(net, tmp_path):
    pipeline.deploy(net / 'net.onnx', tmp_path / 'p.rshift', mode='symmetric', table=net / 'net.table.yaml')
    for name in 'ab':
        pipeline.run('model_tool', 'vectors', tmp_path / 'p.rshift', '--input', net / 'x.npy', '-o', tmp_path / name)
    files = sorted(p.name for p in (tmp_path / 'a').iterdir())
    assert files == sorted(p.name for p in (tmp_path / 'b').iterdir()) and len(files) > 10
    assert all((tmp_path / 'a' / f).read_bytes() == (tmp_path / 'b' / f).read_bytes() for f in files)


def test_wrong_usage(net, tmp_path):
    pipeline.deploy(net / 'net.onnx', tmp_path / 'p.rshift', mode='symmetric', table=net / 'net.table.yaml')
    done = pipeline.call('model_tool', 'vectors', tmp_path / 'p.rshift', '-o', tmp_path / 'v')
    assert done.returncode == 2 and '--input is missing' in done.stderr
    error = pipeline.fails('model_tool', 'vectors', tmp_path / 'p.rshift', '--input', net / 'x.npy', '--sample', 6,
                           '-o', tmp_path / 'v')
    assert '6 samples' in error and not (tmp_path / 'v').exists()
    (tmp_path / 'file').write_text('x')
    assert 'file' in pipeline.fails('model_tool', 'vectors', tmp_path / 'p.rshift', '--input', net / 'x.npy', '-o',
                                    tmp_path / 'file')


def test_names_that_are_no_utf8_and_infinite_clamps(tmp_path):
    save(tmp_path / 'n.onnx', [helper.make_node('Clip', ['x', 'low'], ['y'])], {'x': (1, 4)}, ['y'], {'low': np.float32(-1)}, opset=13)
    data = (tmp_path / 'n.onnx').read_bytes()
    (tmp_path / 'n.onnx').write_bytes(data.replace(b'\x01y', b'\x01\xff'))
    np.save(tmp_path / 'x.npy', np.zeros((1, 4), np.float32))
    pipeline.deploy(tmp_path / 'n.onnx', tmp_path / 'p.rshift', mode='f32')
    pipeline.run('model_tool', 'vectors', tmp_path / 'p.rshift', '--input', tmp_path / 'x.npy', '-o', tmp_path / 'v')
    manifest = json.loads((tmp_path / 'v/manifest.json').read_text())
    assert manifest['outputs'][0]['name'] == '\ufffd'
    clip = next(c for c in manifest['commands'] if c['opcode'] == 'clip_f32')
    assert sorted(v for v in clip['attributes'].values() if isinstance(v, str)) == ['inf']
    assert float('inf') in map(float, clip['attributes'].values())


def test_what_is_read_is_never_written(net, tmp_path):
    pipeline.deploy(net / 'net.onnx', tmp_path / 'p.rshift', mode='symmetric', table=net / 'net.table.yaml')
    pipeline.run('model_tool', 'vectors', tmp_path / 'p.rshift', '--input', net / 'x.npy', '-o', tmp_path / 'v')
    for first in ('00000', '00001'):
        file = next((tmp_path / 'v').glob(f'{first}_*.npz'))
        np.savez(file, x=np.load(net / 'x.npy'))
        before = file.read_bytes()
        done = pipeline.call('model_tool', 'vectors', tmp_path / 'p.rshift', '--input', file, '-o', tmp_path / 'v')
        assert done.returncode == 2 and file.name in done.stderr, done.stderr
        assert file.read_bytes() == before
