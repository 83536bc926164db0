"""model_tool support: what becomes of every node of a model."""

import json

import onnx
import pytest
from onnx import TensorProto, helper

import pipeline

pytestmark = pytest.mark.sanitized


def statuses(model, *args):
    listed = json.loads(pipeline.run('model_tool', 'support', model, '--json', *args))
    assert sum(listed['counts'].values()) == len(listed['nodes'])
    return {row['node']: row for row in listed['nodes']}


def test_example_is_all_integer():
    nodes = statuses(pipeline.EXAMPLE)
    assert {row['status'] for row in nodes.values()} == {'integer', 'fused', 'folded'}
    for row in nodes.values():
        if row['op'] in ('Conv', 'Gemm', 'MaxPool', 'AveragePool', 'PRelu'):
            assert row['status'] == 'integer', row
        if row['op'] in ('Constant', 'Shape'):
            assert row['status'] == 'folded', row


def test_the_share_of_integer_work_is_said(tmp_path):
    """A Conv of 3 * 2 * 64 products, and a MatMul of two activations with 16 of 8 each."""
    nodes = [helper.make_node('Conv', ['x', 'w'], ['c'], name='conv'),
             helper.make_node('Softmax', ['c'], ['s'], name='softmax', axis=1),
             helper.make_node('MatMul', ['s', 's'], ['m'], name='product'),
             helper.make_node('Pow', ['m', 'c'], ['y'], name='power')]
    weights = helper.make_tensor('w', TensorProto.FLOAT, [2, 3, 1, 1], [0.5] * 6)
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 3, 8, 8])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)], [weights])
    path = tmp_path / 'net.onnx'
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)
    tpu, ort = (json.loads(pipeline.run('model_tool', 'support', path, '--json', *args))
                for args in ((), ('--profile', 'onnxruntime')))
    assert (tpu['profile'], ort['profile']) == ('tpu', 'onnxruntime')
    assert tpu['macs'] == ort['macs'] == 3 * 2 * 64 + 2 * 64 * 8
    assert tpu['integer_macs'] >= 3 * 2 * 64 and tpu['integer_share'] == tpu['integer_macs'] / tpu['macs']
    fates = [{row['node']: row['status'] for row in answer['nodes']} for answer in (tpu, ort)]
    assert [fate['power'] for fate in fates] == ['integer', 'F32']
    assert 'multiply-accumulates in integers' in pipeline.run('model_tool', 'support', path)


def test_products_of_dynamic_integers_are_integer(tmp_path):
    nodes = [helper.make_node('DynamicQuantizeLinear', ['x'], ['q', 's', 'z'], name='quantize'),
             helper.make_node('MatMulInteger', ['q', 'w', 'z'], ['sums'], name='product'),
             helper.make_node('Cast', ['sums'], ['real'], name='cast', to=TensorProto.FLOAT),
             helper.make_node('Mul', ['real', 's'], ['y'], name='scale')]
    weights = helper.make_tensor('w', TensorProto.INT8, [8, 4], list(range(-16, 16)))
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [3, 8])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)], [weights])
    path = tmp_path / 'net.onnx'
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)
    rows = statuses(path)
    assert {name: row['status'] for name, row in rows.items()} == {
        'quantize': 'integer', 'product': 'integer', 'cast': 'fused', 'scale': 'fused'}, rows
    listed = json.loads(pipeline.run('model_tool', 'support', path, '--json'))
    assert listed['macs'] == listed['integer_macs'] == 3 * 8 * 4


def test_f32_nodes_have_a_reason_and_open_shapes_are_said(tmp_path):
    shape = ['N', 3, 'H', 'W']
    weights = helper.make_tensor('w', TensorProto.FLOAT, [2, 3, 1, 1], [0.5] * 6)
    graph = helper.make_graph(
        [helper.make_node('Conv', ['x', 'w'], ['c'], name='conv'),
         helper.make_node('Relu', ['c'], ['r'], name='relu'),
         helper.make_node('Softmax', ['r'], ['y'], name='softmax', axis=1)], 'g',
        [helper.make_tensor_value_info('x', TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)], [weights])
    path = tmp_path / 'net.onnx'
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)
    nodes = statuses(path, '--input-shape', 'x:1x3x8x8')
    assert [nodes[n]['status'] for n in ('conv', 'relu', 'softmax')] == ['integer', 'fused', 'F32']
    assert nodes['softmax']['reason']
    assert {row['status'] for row in statuses(path).values()} == {'supported'}
    assert '--input-shape' in pipeline.run('model_tool', 'support', path)
