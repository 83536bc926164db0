"""s8 tensors that enter or leave a graph, and the QOperator form, whose kernels ONNX Runtime has for s8 as it is: live, byte for
byte, under --profile onnxruntime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import pipeline

S8 = TensorProto.INT8
EVERY_PAIR = np.stack(np.meshgrid(np.arange(-128, 128), np.arange(-128, 128)), 0).astype(np.int8)
# Scales of few bits, where sums and products lie on ties, and others.
SCALES = ((0.5, 0.25, 0.5), (0.125, 0.375, 0.25), (0.75, 0.5, 0.25), (0.031, 0.017, 0.041), (0.1, 0.1, 0.2))


def constants(scales, zeros):
    made = []
    for i, (scale, zero) in enumerate(zip(scales, zeros)):
        made += [onnx.numpy_helper.from_array(np.float32(scale), f's{i}'), onnx.numpy_helper.from_array(np.int8(zero), f'z{i}')]
    return made


def qoperator(kind, attributes, count):
    """count operands, then y."""
    names = [x for i in range(count) for x in (f'x{i}', f's{i}', f'z{i}')] + [f's{count}', f'z{count}']
    return [helper.make_node('QLinear' + kind, names, ['y'], domain='com.microsoft', **attributes)]


def qdq(kind, attributes, count):
    nodes = [helper.make_node('DequantizeLinear', [f'x{i}', f's{i}', f'z{i}'], [f'f{i}']) for i in range(count)]
    nodes.append(helper.make_node(kind, [f'f{i}' for i in range(count)], ['g'], **attributes))
    return nodes + [helper.make_node('QuantizeLinear', ['g', f's{count}', f'z{count}'], ['y'])]


FORMS = {'QOperator': qoperator, 'QDQ': qdq}


def differing(nodes, shapes, scales, zeros, feed, tmp_path):
    """(elements, how many are not ONNX Runtime's)"""
    graph = helper.make_graph(
        nodes, 'g', [helper.make_tensor_value_info(n, S8, s) for n, s in shapes.items()],
        [helper.make_tensor_value_info('y', S8, None)], constants(scales, zeros))
    opsets = [helper.make_opsetid('', 17), helper.make_opsetid('com.microsoft', 1)]
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=opsets), tmp_path / 'm.onnx')
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    expected = onnxruntime.InferenceSession(str(tmp_path / 'm.onnx'), options).run(None, feed)[0]
    pipeline.run('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'm.rshift', '--profile', 'onnxruntime')
    assert not pipeline.f32_commands(tmp_path / 'm.rshift')
    actual = pipeline.infer(tmp_path / 'm.rshift', feed, tmp_path, '--raw')['y']
    assert actual.dtype == expected.dtype == np.int8 and actual.shape == expected.shape
    return expected.size, int((actual != expected).sum())


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('kind', ('Add', 'Mul'))
def test_every_pair_of_bytes(kind, form, tmp_path, report):
    random = np.random.default_rng(3)
    feed = {'x0': EVERY_PAIR[0], 'x1': EVERY_PAIR[1]}
    total = wrong = 0
    for scales in SCALES:
        zeros = random.integers(-128, 128, 3)
        elements, differ = differing(FORMS[form](kind, {}, 2), {'x0': [256, 256], 'x1': [256, 256]}, scales, zeros, feed, tmp_path)
        total, wrong = total + elements, wrong + differ
    report(f'{form} {kind} of s8: {total} pairs, {wrong} differ')
    assert wrong == 0


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('kind', ('AveragePool', 'GlobalAveragePool'))
def test_averages(kind, form, tmp_path, report):
    random = np.random.default_rng(4)
    total = wrong = 0
    for scales in SCALES:
        zeros = random.integers(-128, 128, 2)
        attributes = {}
        if kind == 'AveragePool':
            attributes = {'kernel_shape': [2, 3], 'strides': [1, 2], 'pads': [1, 0, 0, 1],
                          'count_include_pad': int(random.integers(0, 2))}
        feed = {'x0': random.integers(-128, 128, (1, 13, 9, 8)).astype(np.int8)}
        elements, differ = differing(FORMS[form](kind, attributes, 1), {'x0': [1, 13, 9, 8]}, scales[:2], zeros, feed, tmp_path)
        total, wrong = total + elements, wrong + differ
    report(f'{form} {kind} of s8: {total} elements, {wrong} differ')
    assert wrong == 0


@pytest.mark.parametrize('kind', ('Add', 'Mul'))
def test_one_number(kind, tmp_path, report):
    """QOperator form with a constant operand."""
    random = np.random.default_rng(5)
    total = wrong = 0
    for scales in SCALES:
        zeros = random.integers(-128, 128, 3)
        nodes = qoperator(kind, {}, 2)
        nodes[0].input[3] = 'c'
        nodes.insert(0, helper.make_node('Constant', [], ['c'], value=onnx.numpy_helper.from_array(
            np.array(random.integers(-128, 128), np.int8))))
        feed = {'x0': np.arange(-128, 128).astype(np.int8)}
        elements, differ = differing(nodes, {'x0': [256]}, scales, zeros, feed, tmp_path)
        total, wrong = total + elements, wrong + differ
    report(f'QOperator {kind} of s8 and one number: {total} elements, {wrong} differ')
    assert wrong == 0
