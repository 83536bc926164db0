"""--labels of a program that takes several samples at a time."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import pipeline

SEED = 7
FEATURES, CLASSES, SAMPLES, BATCH = 8, 5, 22, 4


def classifier(path, batch):
    weights = np.random.default_rng(SEED).normal(size=(FEATURES, CLASSES)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node('MatMul', ['x', 'w'], ['y'])], 'net',
        [helper.make_tensor_value_info('x', TensorProto.FLOAT, (batch, FEATURES))],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, (batch, CLASSES))],
        [numpy_helper.from_array(weights, 'w')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8),
              path)
    return path, weights


def test_each_sample_of_a_batch_is_scored_by_its_own_label(tmp_path):
    model, weights = classifier(tmp_path / 'net.onnx', BATCH)
    program = tmp_path / 'net.rshift'
    pipeline.run('model_deploy', model, '--mode', 'f32', '-o', program)
    random = np.random.default_rng(SEED)
    values = random.normal(size=(SAMPLES, FEATURES)).astype(np.float32)
    labels = random.integers(0, CLASSES, SAMPLES)
    np.save(tmp_path / 'x.npy', values)
    np.save(tmp_path / 'labels.npy', labels)
    summary = json.loads(pipeline.run('model_runner', program, '--dataset', tmp_path / 'x.npy',
                                      '--labels', tmp_path / 'labels.npy', '--json'))
    whole = SAMPLES // BATCH * BATCH
    right = int(((values @ weights).argmax(1) == labels)[:whole].sum())
    assert 0 < right < whole
    assert summary['images'] == whole
    assert summary['top1'] == 100 * right / whole

    np.save(tmp_path / 'few.npy', labels[:SAMPLES // BATCH])
    error = pipeline.fails('model_runner', program, '--dataset', tmp_path / 'x.npy', '--labels',
                           tmp_path / 'few.npy')
    assert f'holds {SAMPLES // BATCH} labels, the data set has {whole} samples' in error
    (tmp_path / 'labels.txt').write_text('x.npy 1\n')
    error = pipeline.fails('model_runner', program, '--dataset', tmp_path / 'x.npy', '--labels',
                           tmp_path / 'labels.txt')
    assert f'{BATCH} at a time' in error
