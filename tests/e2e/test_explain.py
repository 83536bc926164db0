"""`model_tool explain`: a tensor's range step by step, joins of ranges that lie far apart."""

import json
import re

import numpy as np
import pytest
from onnx import helper

import pipeline
from little_onnx import constant, save

pytestmark = pytest.mark.sanitized
RATIO = 100


@pytest.fixture(name='net', scope='module')
def two_branches(tmp_path_factory):
    """x -> small, and large = 100 small; their Concat and their sum."""
    folder = tmp_path_factory.mktemp('explain')
    weights = np.random.default_rng(2).normal(0, .5, (8, 8)).astype(np.float32)
    nodes = [helper.make_node('MatMul', ['x', 'a'], ['small']), helper.make_node('MatMul', ['x', 'b'], ['large']),
             helper.make_node('Concat', ['small', 'large'], ['joined'], name='join', axis=1),
             helper.make_node('Add', ['small', 'large'], ['sum'], name='plus'),
             helper.make_node('Relu', ['joined'], ['r']), helper.make_node('Sigmoid', ['sum'], ['s'])]
    save(folder / 'net.onnx', nodes, {'x': (4, 8)}, ('r', 's'), [constant('a', weights), constant('b', RATIO * weights)])
    np.save(folder / 'x.npy', np.random.default_rng(3).normal(0, 1, (30, 4, 8)).astype(np.float32))
    pipeline.run('model_calibrate', folder / 'net.onnx', '--dataset', folder / 'x.npy', '--method', 'minmax', '-o', folder / 't.yaml')
    return folder


def explain(net, *words):
    return json.loads(pipeline.run('model_tool', 'explain', net / 't.yaml', *words, '--json'))


def test_a_tensor_is_explained_from_the_table_alone(net):
    found = explain(net, 'small')
    seen = np.load(net / 'x.npy') @ np.random.default_rng(2).normal(0, .5, (8, 8)).astype(np.float32)
    assert found['observed']['samples'] == 30
    assert abs(found['observed']['min'] - seen.min()) < 1e-5 and abs(found['observed']['max'] - seen.max()) < 1e-5
    assert found['table']['method'] == 'minmax' and found['table']['reason'] == 'the whole observed range'
    assert found['table']['symmetric']['clipped'] == 0 and found['table']['asymmetric']['sqnr_db'] > 30
    assert 'consumers' not in found
    text = pipeline.run('model_tool', 'explain', net / 't.yaml', 'small')
    assert 'in 30 samples' in text and 'expected SQNR' in text


def test_with_the_model_come_readers_and_the_integers(net):
    found = explain(net, 'sum', '--model', net / 'net.onnx')
    assert found['made_by'][1] == 'Add' and [reader[1] for reader in found['consumers']] == ['Sigmoid']
    program = net / 'p.rshift'
    pipeline.deploy(net / 'net.onnx', program, mode='asymmetric', table=net / 't.yaml')
    last = found['asymmetric']['final']
    disasm = json.loads(pipeline.run('model_tool', 'disasm', program, '--json'))
    deployed = next(tensor for tensor in disasm['tensors'] if tensor['name'] == 'sum')
    assert (last['scale'], last['zero_point']) == (pytest.approx(deployed['scale']), deployed['zero_point'])


def test_joins_far_apart_are_listed_with_their_quanta(net):
    joins = explain(net, '--model', net / 'net.onnx')['joins']
    assert {(join['node'], join['mode']) for join in joins} == {(n, m) for n in ('join', 'plus') for m in pipeline.INTEGER_MODES}
    for join in joins:
        assert join['ratio'] == pytest.approx(RATIO, rel=.01)
        quanta = {entry['tensor']: entry['quanta'] for entry in join['inputs']}
        assert quanta['large'] == pytest.approx(RATIO * quanta['small'], rel=.05) and 1 < quanta['small'] < 4
    assert re.search(r"Concat 'join', symmetric: 100(\.\d)? times", pipeline.run('model_tool', 'explain', net / 't.yaml', '--model', net / 'net.onnx'))


def test_what_is_wrong_is_said(net):
    said = pipeline.fails('model_tool', 'explain', net / 't.yaml', 'smal')
    assert "has no tensor 'smal'" in said and "did you mean 'small'" in said
    done = pipeline.call('model_tool', 'explain', net / 't.yaml')
    assert done.returncode == 2 and 'give a TENSOR' in done.stderr


def test_a_name_that_fusion_took_is_followed(tmp_path):
    weights = np.random.default_rng(2).normal(0, .5, (8, 8)).astype(np.float32)
    nodes = [helper.make_node('MatMul', ['x', 'w'], ['product'], name='dense'), helper.make_node('Relu', ['product'], ['r'])]
    save(tmp_path / 'net.onnx', nodes, {'x': (4, 8)}, ('r',), [constant('w', weights)])
    np.save(tmp_path / 'x.npy', np.random.default_rng(3).normal(0, 1, (30, 4, 8)).astype(np.float32))
    pipeline.run('model_calibrate', tmp_path / 'net.onnx', '--dataset', tmp_path / 'x.npy', '-o', tmp_path / 't.yaml')
    assert '--model finds what fusion took' in pipeline.fails('model_tool', 'explain', tmp_path / 't.yaml', 'product')
    said = pipeline.fails('model_tool', 'explain', tmp_path / 't.yaml', 'product', '--model', tmp_path / 'net.onnx')
    assert "has no tensor 'product': it is part of" in said and "'r'" in said
