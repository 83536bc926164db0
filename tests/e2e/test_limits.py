"""What a program may take: predicted, refused above the limits, allowed by --limits; inputs whose memory is used again."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import oracle
import pipeline


@pytest.fixture(scope='module')
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp('limits')
    pipeline.deploy(pipeline.EXAMPLE, folder / 'net.rshift', mode='f32')
    np.save(folder / 'sample.npy', oracle.fashion_images(count=1))
    return folder / 'net.rshift'


def test_verify_and_info_predict_the_work(program):
    verified = json.loads(pipeline.run('model_tool', 'verify', program, '--json'))
    info = json.loads(pipeline.run('model_tool', 'info', program, '--json'))
    for key in ('macs', 'elements', 'arena_bytes', 'buffer_bytes'):
        assert verified[key] == info[key] > 0
    measured = json.loads(pipeline.run('model_runner', program, '--benchmark', '--iterations', 1, '--json'))
    assert measured['macs'] == verified['macs']
    assert verified['predicted_seconds'] == info['predicted_seconds'] > 0
    assert 's on one thread, ' in pipeline.run('model_tool', 'verify', program)


def test_what_is_above_the_limits_is_refused_by_name_and_can_be_allowed(program):
    macs = json.loads(pipeline.run('model_tool', 'verify', program, '--json'))['macs']
    for tool, *arguments in (('model_tool', 'verify', program), ('model_runner', program, '--benchmark')):
        error = pipeline.fails(tool, *arguments, '--limits', f'macs={macs - 1}')
        assert f'one run takes {macs} multiply-accumulates, of which command' in error
        assert f'--limits macs={macs}' in error
        for enough in (f'macs={macs}', 'none'):
            pipeline.run(tool, *arguments, '--limits', enough)


def test_a_run_longer_than_the_limit_is_refused_in_seconds(program):
    seconds = json.loads(pipeline.run('model_tool', 'verify', program, '--json'))['predicted_seconds']
    error = pipeline.fails('model_runner', program, '--benchmark', '--limits', f'seconds={seconds / 2}')
    assert 'one run takes about' in error and 'seconds on one thread, of which command' in error
    allowed = error.split('--limits ')[1]
    pipeline.run('model_runner', program, '--benchmark', '--iterations', 1, '--limits', allowed)


def test_a_limit_that_is_none_is_a_usage_error(program):
    assert pipeline.call('model_tool', 'verify', program, '--limits', 'mac=3').returncode == 2


def test_a_benchmark_after_a_run_has_an_input_again(program, tmp_path):
    """Bytes of other tensors taken for floats may be NaN or denormal, with times of their own."""
    sample = program.parent / 'sample.npy'
    for name, extra in (('alone', ()), ('timed', ('--benchmark', '--iterations', 3, '--per-command'))):
        pipeline.run('model_runner', program, '--input', sample, '--output', tmp_path / f'{name}.npz', *extra)
    alone, timed = (np.load(tmp_path / f'{name}.npz') for name in ('alone', 'timed'))
    assert all(np.array_equal(alone[key], timed[key]) for key in alone.files)


def test_a_dump_has_an_input_once_and_as_it_was_given(tmp_path):
    """Its first reader sees it through a view, and later tensors lie where it was."""
    nodes = [helper.make_node('Reshape', ['x', 'shape'], ['flat'])]
    nodes += [helper.make_node('Sin', [['flat', 'v0', 'v1', 'v2'][i]], [f'v{i}']) for i in range(4)]
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, 'views', [value('x', [1, 4, 64])], [value('v3', [1, 256])],
                              [helper.make_tensor('shape', TensorProto.INT64, [2], [1, 256])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8),
              tmp_path / 'net.onnx')
    pipeline.deploy(tmp_path / 'net.onnx', tmp_path / 'net.rshift', mode='f32')
    x = np.random.default_rng(1).normal(size=(1, 4, 64)).astype(np.float32)
    np.save(tmp_path / 'x.npy', x)
    pipeline.run('model_runner', tmp_path / 'net.rshift', '--input', tmp_path / 'x.npy', '--dump-tensors',
                 tmp_path / 'all.npz')
    tensors = np.load(tmp_path / 'all.npz')
    assert np.array_equal(tensors['x'], x)
    assert np.allclose(tensors['v1'].ravel(), np.sin(np.sin(x.ravel())), atol=1e-6)
