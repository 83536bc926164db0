"""One run, a table for each threshold method: the bytes of a run with that method alone."""

import json
import re

import numpy as np
import pytest
from onnx import helper

import pipeline
from test_calibration_ranges import constant, save

SEED = 11

pytestmark = pytest.mark.sanitized


def methods():
    definitions = (pipeline.ROOT / 'calibrate/methods.def').read_text()
    return re.findall(r'^RSHIFT_METHOD\(\w+, "([\w-]+)"', definitions, re.MULTILINE)


@pytest.fixture(name='net')
def two_products(tmp_path):
    """x -> MatMul -> Relu -> MatMul -> y, on numbers with long tails."""
    random = np.random.default_rng(SEED)
    weights = [constant(n, random.normal(0, .4, (16, 16)).astype(np.float32)) for n in 'ab']
    nodes = [helper.make_node('MatMul', ['x', 'a'], ['p']), helper.make_node('Relu', ['p'], ['r']),
             helper.make_node('MatMul', ['r', 'b'], ['y'])]
    values = random.standard_t(3, (40, 8, 16)).astype(np.float32)
    np.save(tmp_path / 'x.npy', values)
    return save(tmp_path / 'net.onnx', nodes, {'x': (8, 16)}, ('y',), weights)


def test_all_writes_the_table_of_every_method(net, tmp_path):
    data = ['--dataset', tmp_path / 'x.npy']
    alone = {}
    for method in methods():
        pipeline.run('model_calibrate', net, *data, '--method', method, '-o', tmp_path / 'alone.yaml')
        alone[method] = (tmp_path / 'alone.yaml').read_bytes()
    assert len(alone) >= 6 and len(set(alone.values())) == len(alone)
    pipeline.run('model_calibrate', net, *data, '--method', 'all', '-o', tmp_path / 'net.table.yaml',
                 '--statistics', tmp_path / 'net.stats')
    said = pipeline.run('model_calibrate', net, '--from-statistics', tmp_path / 'net.stats', '--method', 'all',
                        '-o', tmp_path / 'again', '--json')
    listed = {entry['method'].split()[0]: entry['table'] for entry in json.loads(said)['tables']}
    assert list(listed) == methods()
    for method, table in alone.items():
        assert (tmp_path / f'net.table.{method}.yaml').read_bytes() == table, method
        assert listed[method] == str(tmp_path / f'again.{method}')
        assert (tmp_path / f'again.{method}').read_bytes() == table, method
    assert not (tmp_path / 'net.table.yaml').exists() and not (tmp_path / 'again').exists()


def test_all_takes_the_percentile(net, tmp_path):
    for rank in ('99', '99.9'):
        pipeline.run('model_calibrate', net, '--dataset', tmp_path / 'x.npy', '--method', 'all', '--percentile', rank,
                     '-o', tmp_path / 't.yaml')
        assert f'method: "percentile {rank}"' in (tmp_path / 't.percentile.yaml').read_text()


def test_all_writes_over_no_input(net, tmp_path):
    """The tables' own names count, not the one that was given."""
    pipeline.run('model_calibrate', net, '--dataset', tmp_path / 'x.npy', '-o', tmp_path / 't.mse.yaml')
    before = (tmp_path / 't.mse.yaml').read_bytes()
    done = pipeline.call('model_calibrate', net, '--dataset', tmp_path / 'x.npy', '--method', 'all',
                         '--equalize', tmp_path / 't.mse.yaml', '-o', tmp_path / 't.yaml')
    assert done.returncode == 2
    assert 'the table of --method mse' in done.stderr and 't.mse.yaml' in done.stderr
    assert (tmp_path / 't.mse.yaml').read_bytes() == before
