"""Arithmetic by layer: profile and variant in --config, SNPS-Caffe's quantize_method; and its rule of depthwise."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline
from little_onnx import save

F32 = np.float32
WHOLE = {'a': ('tflite', 'd1'), 'b': ('onnxruntime', None), 'c': ('caffe2', 'precise')}


def twins(path):
    """Three convolutions of the same integers, scales powers of two: ties, on which the profiles differ."""
    rng = np.random.default_rng(1)
    constants = {'one': F32(0.0625), 'zero': np.int8(0), 'ws': F32(0.5), 'ys': F32(0.25),
                 'wq': rng.integers(-20, 20, (8, 4, 1, 1)).astype(np.int8)}
    nodes = [helper.make_node('QuantizeLinear', ['x', 'one', 'zero'], ['xq']),
             helper.make_node('DequantizeLinear', ['xq', 'one', 'zero'], ['xd']),
             helper.make_node('DequantizeLinear', ['wq', 'ws', 'zero'], ['w'])]
    for name in WHOLE:
        nodes += [helper.make_node('Conv', ['xd', 'w'], [f'{name}_c'], f'conv_{name}'),
                  helper.make_node('QuantizeLinear', [f'{name}_c', 'ys', 'zero'], [f'{name}_q']),
                  helper.make_node('DequantizeLinear', [f'{name}_q', 'ys', 'zero'], [name])]
    graph = helper.make_graph(
        nodes, 'twins', [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 4, 32, 32))],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 8, 32, 32)) for n in WHOLE],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)


def option(profile, variant):
    return ['--profile', profile] + (['--variant', variant] if variant else [])


def test_one_model_mixes_profiles(tmp_path, report):
    model, x = tmp_path / 'm.onnx', (np.random.default_rng(2).integers(-30, 30, (1, 4, 32, 32)) / 16).astype(F32)
    twins(model)
    alone = {}
    for name, whose in WHOLE.items():
        pipeline.run('model_deploy', model, *option(*whose), '--no-check', '-o', tmp_path / f'{name}.rshift')
        alone[name] = pipeline.infer(tmp_path / f'{name}.rshift', {'x': x}, tmp_path)
    assert len({alone[name]['a'].tobytes() for name in WHOLE}) == 3, 'the profiles do not differ here'
    entries = [f'conv_{n}: {{profile: {p}{", variant: " + v if v else ""}}}' for n, (p, v) in WHOLE.items()]
    (tmp_path / 'c.yaml').write_text('layers: {' + ', '.join(entries) + '}')
    pipeline.run('model_deploy', model, '--config', tmp_path / 'c.yaml', '--no-check', '-o', tmp_path / 'mixed.rshift')
    mixed = pipeline.infer(tmp_path / 'mixed.rshift', {'x': x}, tmp_path)
    for name in WHOLE:
        assert (mixed[name] == alone[name][name]).all(), name
    meta = json.loads(pipeline.run('model_tool', 'info', tmp_path / 'mixed.rshift', '--json'))['meta']
    assert meta['profile'] == 'tpu'
    assert meta['layer_profiles'] == 'conv_a=tflite d1; conv_b=onnxruntime; conv_c=caffe2 precise', meta
    report(f'profiles by layer: {3 * mixed["a"].size} bytes as in programs of one profile each, 0 differ')


@pytest.mark.parametrize('config, word', [
    ('layers: {conv_a: {variant: d1}}', 'variant without profile'),
    ('layers: {conv_a: {profile: caffe2, variant: d1}}', 'no variant d1'),
    ('layers: {conv_a: {profile: tf}}', "unknown profile 'tf'"),
    ('layers: {conv_a: {profile: ascend}}', 'for a whole model'),
    ('layers: {x: {profile: tflite}}', 'is an input of the model')])
def test_wrong_entries_are_errors(config, word, tmp_path):
    twins(tmp_path / 'm.onnx')
    (tmp_path / 'c.yaml').write_text(config)
    line = pipeline.fails('model_deploy', tmp_path / 'm.onnx', '--config', tmp_path / 'c.yaml', '-o', tmp_path / 'x')
    assert word in line and 'c.yaml' in line, line


@pytest.mark.parametrize('outputs, same', [(6, True), (12, False)])
def test_snps_takes_equal_channels_alone_for_depthwise(outputs, same, tmp_path):
    """group = in_ch = out_ch: with a depth multiplier, the variant's numbers are the general D2's of double precision."""
    rng = np.random.default_rng(3)
    save(tmp_path / 'm.onnx', [helper.make_node('Conv', ['x', 'w'], ['y'], 'conv', group=6)], {'x': (1, 6, 8, 8)}, ['y'],
         {'w': rng.normal(0, 0.3, (outputs, 1, 3, 3)).astype(F32)}, opset=13)
    np.save(tmp_path / 'd.npy', rng.normal(0, 1, (8, 6, 8, 8)).astype(F32))
    table = pipeline.calibrate(tmp_path / 'm.onnx', tmp_path / 'd.npy', tmp_path / 't.yaml', samples=8)
    (tmp_path / 'c.yaml').write_text('layers: {conv: {per_channel: false}}')
    words = {}
    for variant in (None, 'snps', 'd2', 'f2'):
        pipeline.run('model_deploy', tmp_path / 'm.onnx', '--calibration', table, '--config', tmp_path / 'c.yaml', '--no-check',
                     *option('tflite', variant), '-o', tmp_path / 'm.rshift', '--dump-graph',
                     f'quantized={tmp_path / "g.txt"}')
        words[variant] = (tmp_path / 'g.txt').read_text()
    assert words[None] == words['f2'] != words['d2']
    assert words['snps'] == (words['f2'] if same else words['d2'])
