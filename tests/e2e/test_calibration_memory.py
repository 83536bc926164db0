"""model_calibrate says before it starts how much memory it takes, and takes no more for more samples."""

import json

import numpy as np
import pytest
from onnx import helper, numpy_helper

import pipeline
from little_onnx import save

SEED, SIDE, CHANNELS, LAYERS = 17, 48, 24, 10
FEW, MANY = 50, 1000


@pytest.fixture(scope='module', name='net')
def _net(tmp_path_factory):
    """Convolutions with and without Relu, so that tensors of both signs are observed, and enough data for all runs."""
    rng = np.random.default_rng(SEED)
    folder = tmp_path_factory.mktemp('memory')
    nodes, weights, at = [], [], 'x'
    for i in range(LAYERS):
        shape = (CHANNELS, CHANNELS if i else 3, 3, 3)
        values = rng.normal(0, (2 / np.prod(shape[1:])) ** .5, shape).astype(np.float32)
        weights.append(numpy_helper.from_array(values, f'w{i}'))
        nodes.append(helper.make_node('Conv', [at, f'w{i}'], [f'c{i}'], pads=[1] * 4))
        at = f'c{i}'
        if i % 2:
            nodes.append(helper.make_node('Relu', [at], [f'r{i}']))
            at = f'r{i}'
    shape = (1, 3, SIDE, SIDE)
    save(folder / 'net.onnx', nodes, {'x': shape}, [at], weights)
    np.save(folder / 'x.npy', rng.normal(0, 1, (MANY, *shape[1:])).astype(np.float32))
    return folder


def measured(net, samples, threads):
    summary = json.loads(pipeline.run('model_calibrate', net / 'net.onnx', '--dataset', net / 'x.npy', '--samples', samples,
                                      '--threads', threads, '--json', '-o', net / 't.yaml'))
    return summary['memory']['expected_bytes'], summary['memory']['peak_bytes']


@pytest.mark.parametrize('threads', (1, 2))
def test_memory_is_foreseen_and_does_not_grow(net, threads):
    peaks = []
    for samples in (FEW, MANY):
        expected, peak = measured(net, samples, threads)
        print(f'{threads} threads, {samples} samples: expected {expected / 2**20:.1f} MiB, peak {peak / 2**20:.1f} MiB')
        assert abs(expected / peak - 1) < .1, (expected, peak)
        peaks.append(peak)
    assert peaks[1] < 1.05 * peaks[0], peaks
