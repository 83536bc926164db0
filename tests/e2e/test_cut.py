"""`model_tool cut`: the part of a model that can be deployed, and parts between tensors; the parts' results are those
of the whole model in ONNX Runtime."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline

pytestmark = pytest.mark.sanitized


def weights(name, *shape, seed=0):
    values = np.random.default_rng(seed).normal(0, .3, shape).astype(np.float32)
    return numpy_helper.from_array(values, name)


@pytest.fixture(name='detector', scope='module')
def network_with_post_processing(tmp_path_factory):
    """Two convolutions, each read by a Shape too; scores above one half are found by NonZero, whose number another
    NonZero depends on: not supported."""
    nodes = [
        helper.make_node('Conv', ['x', 'w'], ['features'], name='backbone'),
        helper.make_node('Relu', ['features'], ['r']),
        helper.make_node('Conv', ['r', 'v'], ['logits'], name='scores'),
        helper.make_node('Conv', ['r', 'u'], ['boxes'], name='boxes'),
        helper.make_node('Shape', ['logits'], ['shape']),
        helper.make_node('Reshape', ['logits', 'flat'], ['list']),
        helper.make_node('Sigmoid', ['list'], ['probability']),
        helper.make_node('Greater', ['probability', 'half'], ['over']),
        helper.make_node('NonZero', ['over'], ['places']),
        helper.make_node('NonZero', ['places'], ['again'], name='again'),
        helper.make_node('Cast', ['again'], ['found'], to=TensorProto.FLOAT),
        helper.make_node('Gather', ['boxes', 'zero'], ['first'], axis=0)]
    graph = helper.make_graph(
        nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, ['N', 3, 8, 8])],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ('found', 'first')],
        [weights('w', 8, 3, 3, 3), weights('v', 2, 8, 1, 1), weights('u', 4, 8, 1, 1),
         numpy_helper.from_array(np.array([-1], np.int64), 'flat'), numpy_helper.from_array(np.float32(.5), 'half'),
         numpy_helper.from_array(np.int64(0), 'zero')])
    path = tmp_path_factory.mktemp('cut') / 'net.onnx'
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)
    return path


def results(path, feeds, names=None):
    return onnxruntime.InferenceSession(str(path), providers=['CPUExecutionProvider']).run(names, feeds)


def test_a_refused_model_names_the_cut_and_the_cut_can_be_deployed(detector, tmp_path):
    said = pipeline.call('model_deploy', detector, '--mode', 'f32', '-o', tmp_path / 'p.rshift').stderr
    assert "'again' (NonZero)" in said and 'model_tool cut MODEL -o PART.onnx' in said
    part = tmp_path / 'part.onnx'
    report = json.loads(pipeline.run('model_tool', 'cut', detector, '-o', part, '--json'))
    # The activation behind the logits is in the part; the boxes end where the model ends.
    assert [end['name'] for end in report['outputs']] == ['probability', 'first']
    assert [end['shape'] for end in report['inputs']] == [[1, 3, 8, 8]] and report['nodes'] + report['left_nodes'] == 12
    onnx.checker.check_model(str(part))
    x = np.random.default_rng(1).normal(0, 1, (1, 3, 8, 8)).astype(np.float32)
    whole = onnx.load(detector)
    for name in ('probability', 'first'):
        if name not in [o.name for o in whole.graph.output]:
            whole.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    onnx.save(whole, tmp_path / 'whole.onnx')
    expected = results(tmp_path / 'whole.onnx', {'x': x}, ['probability', 'first'])
    for actual, wanted in zip(results(part, {'x': x}), expected):
        np.testing.assert_array_equal(actual, wanted)
    np.save(tmp_path / 'x.npy', x[None])
    pipeline.calibrate(part, tmp_path / 'x.npy', tmp_path / 't.yaml')
    pipeline.deploy(part, tmp_path / 'p.rshift', mode='symmetric', table=tmp_path / 't.yaml')


def test_a_part_between_tensors(detector, tmp_path):
    part = tmp_path / 'part.onnx'
    pipeline.run('model_tool', 'cut', detector, '--inputs', 'r', '--outputs', 'logits', '--outputs', 'boxes', '-o', part)
    model = onnx.load(part)
    assert [n.name for n in model.graph.node] == ['scores', 'boxes']
    assert sorted(t.name for t in model.graph.initializer) == ['u', 'v']
    onnx.checker.check_model(model, full_check=True)
    r = np.random.default_rng(1).normal(0, 1, (1, 8, 6, 6)).astype(np.float32)
    logits, boxes = results(part, {'r': r})
    assert logits.shape == (1, 2, 6, 6) and boxes.shape == (1, 4, 6, 6)


@pytest.mark.parametrize('ends, said', [
    (('--outputs', 'logit'), "--outputs: no node of the model makes a tensor 'logit'; did you mean 'logits'?"),
    (('--outputs', 'logits', '--outputs', 'logits'), "--outputs: 'logits' is given twice"),
    (('--inputs', 'r', '--outputs', 'r'), "--outputs: 'r' is one of --inputs, too"),
    (('--inputs', 'boxes', '--outputs', 'logits'), "--inputs: 'boxes' is not read on the way to the outputs of the part"),
])
def test_ends_that_do_not_fit(detector, tmp_path, ends, said):
    assert said in pipeline.fails('model_tool', 'cut', detector, *ends, '-o', tmp_path / 'part.onnx')
    assert not (tmp_path / 'part.onnx').exists()


def test_the_types_of_half_floats_are_not_guessed(tmp_path):
    nodes = [helper.make_node('Conv', ['x', 'w'], ['c']), helper.make_node('Relu', ['c'], ['y'])]
    graph = helper.make_graph(
        nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT16, [1, 3, 8, 8])],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT16, [1, 4, 6, 6])],
        [numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float16), 'w')])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
    onnx.save(model, tmp_path / 'net.onnx')
    said = pipeline.fails('model_tool', 'cut', tmp_path / 'net.onnx', '--outputs', 'c', '-o', tmp_path / 'part.onnx')
    assert "does not say the type of 'c'; let onnx.shape_inference.infer_shapes" in said
    onnx.save(onnx.shape_inference.infer_shapes(model), tmp_path / 'net.onnx')
    pipeline.run('model_tool', 'cut', tmp_path / 'net.onnx', '--outputs', 'c', '-o', tmp_path / 'part.onnx')
    x = np.ones((1, 3, 8, 8), np.float16)
    assert results(tmp_path / 'part.onnx', {'x': x})[0].dtype == np.float16


def test_a_model_that_can_be_deployed_needs_no_cut(tmp_path):
    said = pipeline.fails('model_tool', 'cut', pipeline.EXAMPLE, '-o', tmp_path / 'part.onnx')
    assert 'every node can be deployed' in said
