"""--dump-tensors: what a fused program writes is what the program without fusion has, tensor by tensor."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline


def transformer_entry(path):
    """Parts of a Concat that no command reads: views (Reshape) of computed values, of an input, and a Concat
    that is itself a view of another; behind them matrix products that use the memory again."""
    rng = np.random.default_rng(7)
    weights = {name: rng.normal(size=(8, 8)).astype(np.float32) for name in ('w1', 'w2', 'w3')}
    constants = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    constants += [numpy_helper.from_array(np.array([1, 8, 8], np.int64), 'rows'),
                  numpy_helper.from_array(np.array([1, 4, 16], np.int64), 'wide')]
    node = helper.make_node
    nodes = [
        node('MatMul', ['x', 'w1'], ['a']), node('Sigmoid', ['a'], ['b']),
        node('Reshape', ['x', 'wide'], ['view_of_input']), node('Relu', ['view_of_input'], ['c']),
        node('Reshape', ['c', 'rows'], ['view_of_relu']), node('Tanh', ['b'], ['d']),
        node('Concat', ['view_of_relu', 'd'], ['pair'], axis=1),
        node('Concat', ['pair', 'b'], ['all'], axis=1),
        node('MatMul', ['all', 'w2'], ['e']), node('Relu', ['e'], ['f']),
        node('MatMul', ['f', 'w3'], ['g']), node('Add', ['g', 'f'], ['h']),
        node('MatMul', ['h', 'w2'], ['i']), node('Sigmoid', ['i'], ['y'])]
    graph = helper.make_graph(nodes, 'entry', [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 8, 8))],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, (1, 24, 8))], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7), path)


@pytest.fixture(scope='module')
def entry(tmp_path_factory):
    folder = tmp_path_factory.mktemp('entry')
    transformer_entry(folder / 'entry.onnx')
    samples = np.random.default_rng(8).normal(size=(4, 8, 8)).astype(np.float32)
    np.save(folder / 'x.npy', samples)
    pipeline.calibrate(folder / 'entry.onnx', folder / 'x.npy', folder / 'table.yaml')
    return folder


@pytest.mark.parametrize('mode', ('f32', *pipeline.INTEGER_MODES))
def test_every_tensor_equals_the_unfused_programs(mode, entry, tmp_path):
    dumps = {}
    for name, extra in (('fused', ()), ('plain', ('--no-fuse',))):
        program, dump = tmp_path / f'{name}.rshift', tmp_path / f'{name}.npz'
        pipeline.deploy(entry / 'entry.onnx', program, mode=mode, table=entry / 'table.yaml', extra=extra)
        pipeline.run('model_runner', program, '--input', entry / 'x.npy', '--raw', '--dump-tensors', dump)
        with np.load(dump) as arrays:
            dumps[name] = dict(arrays)
    wrong = [name for name, array in dumps['fused'].items()
             if name in dumps['plain'] and not np.array_equal(array, dumps['plain'][name])]
    assert not wrong
    common = set(dumps['fused']) & set(dumps['plain'])
    assert {'view_of_relu', 'pair', 'all', 'd', 'y'} <= {name.split('__')[0] for name in common}
