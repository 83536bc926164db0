"""Integers of 4 bits and scales of blocks in QDQ models: read, and equal to ONNX Runtime's numbers."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline

RANDOM = np.random.default_rng(4)


def deployed(model, sample, folder, *extra):
    onnx.save(model, folder / 'm.onnx')
    pipeline.run('model_deploy', folder / 'm.onnx', '-o', folder / 'p.rshift', *extra)
    return pipeline.infer(folder / 'p.rshift', sample, folder)


def reference(model, sample):
    options = onnxruntime.SessionOptions()  # its optimizer would quantize the activations, too
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=['CPUExecutionProvider'])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, sample)))


def product_model(w, scales, zeros, data_type, **attributes):
    """y = x DequantizeLinear(w)."""
    constants = [helper.make_tensor('w', data_type, w.shape, w.flatten().tolist()),
                 numpy_helper.from_array(scales, 's'),
                 helper.make_tensor('z', data_type, zeros.shape, zeros.flatten().tolist())]
    nodes = [helper.make_node('DequantizeLinear', ['w', 's', 'z'], ['r'], **attributes),
             helper.make_node('MatMul', ['x', 'r'], ['y'])]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [3, w.shape[0]])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, [3, w.shape[1]])], constants)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 21)])


@pytest.mark.parametrize('kind', ('INT4', 'UINT4'))
@pytest.mark.parametrize('form', ('tensor', 'channel', 'blocks'))
def test_weights_of_4_bits(kind, form, tmp_path):
    low = -8 if kind == 'INT4' else 0
    w = RANDOM.integers(low, low + 16, (32, 7))  # an odd number of columns: rows begin inside bytes
    shape = {'tensor': (), 'channel': (7,), 'blocks': (2, 7)}[form]
    scales = RANDOM.uniform(0.01, 0.1, shape).astype(np.float32)
    zeros = RANDOM.integers(low, low + 16, shape)
    attributes = {'tensor': {}, 'channel': {'axis': 1}, 'blocks': {'axis': 0, 'block_size': 16}}[form]
    model = product_model(w, np.asarray(scales), np.asarray(zeros), getattr(TensorProto, kind), **attributes)
    sample = {'x': RANDOM.normal(size=(3, 32)).astype(np.float32)}
    actual = deployed(model, sample, tmp_path, '--mode', 'f32')['y']
    np.testing.assert_allclose(actual, reference(model, sample)['y'], rtol=1e-5, atol=1e-5)


def test_blocks_of_8_bit_weights_with_a_last_short_block(tmp_path):
    w = RANDOM.integers(-128, 128, (10, 6)).astype(np.int8)
    scales = RANDOM.uniform(0.01, 0.1, (3, 6)).astype(np.float32)
    model = product_model(w, scales, np.zeros((3, 6), np.int8), TensorProto.INT8, axis=0, block_size=4)
    sample = {'x': RANDOM.normal(size=(3, 10)).astype(np.float32)}
    actual = deployed(model, sample, tmp_path, '--mode', 'f32')['y']
    goal = sample['x'] @ (w * np.repeat(scales, 4, 0)[:10])
    np.testing.assert_allclose(actual, goal, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize('kind', ('INT4', 'UINT4'))
def test_activations_of_4_bits_are_computed_in_f32(kind, tmp_path):
    data_type, zero = getattr(TensorProto, kind), -3 if kind == 'INT4' else 5
    constants = [numpy_helper.from_array(np.float32(0.3), 's'), helper.make_tensor('z', data_type, [], [zero])]
    nodes = [helper.make_node('QuantizeLinear', ['x', 's', 'z'], ['q']),
             helper.make_node('DequantizeLinear', ['q', 's', 'z'], ['y'])]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [200])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, [200])], constants)
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 21)])
    sample = {'x': np.linspace(-6, 6, 200, dtype=np.float32)}
    actual = deployed(model, sample, tmp_path, '--mode', 'f32')['y']
    np.testing.assert_array_equal(actual, reference(model, sample)['y'])
    assert len(np.unique(actual)) == 16


def test_blocks_that_do_not_fit_are_refused(tmp_path):
    model = product_model(np.zeros((10, 6), np.int8), np.ones((2, 6), np.float32), np.zeros((2, 6), np.int8),
                          TensorProto.INT8, axis=0, block_size=4)
    onnx.save(model, tmp_path / 'm.onnx')
    error = pipeline.fails('model_deploy', tmp_path / 'm.onnx', '--mode', 'f32', '-o', tmp_path / 'p.rshift')
    assert "scale 's' has type f32 and shape 2x6, expected floats of shape 3x6" in error
