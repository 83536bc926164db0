"""Profile openvino beside OpenVINO's CPU plugin: additions of all pairs of bytes, averages, functions and convolutions
between bytes."""

import json
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline

PYTHON = pipeline.ROOT / 'build/benchvenv/bin/python'
ORACLE = pipeline.ROOT / 'tests/e2e/openvino_oracle.py'
TYPES = {'u8': (TensorProto.UINT8, np.uint8), 's8': (TensorProto.INT8, np.int8)}
# As calibration gives them, and ratios that put sums on ties.
SCALES = [(0.0213, 0.0371, 0.0457), (0.0137, 0.0119, 0.0222), (0.02, 0.03, 0.05), (0.01, 0.03, 0.02), (0.05, 0.02, 0.1), (0.3, 0.1, 0.2)]
ZEROS = [('u8', (0, 0, 0)), ('u8', (120, 33, 77)), ('s8', (0, 0, 0)), ('s8', (-5, 7, -20))]


@pytest.fixture(autouse=True, scope='module')
def openvino():
    if not PYTHON.exists() or subprocess.run([PYTHON, '-c', 'import openvino'], capture_output=True, check=False).returncode:
        pytest.skip('build/benchvenv has no openvino: python3 -m venv build/benchvenv && build/benchvenv/bin/pip install openvino nncf')


def net(make, kind, zeros, scales, shapes):
    """x ... -> DequantizeLinear -> the operator -> QuantizeLinear."""
    element, dtype = TYPES[kind]
    names = ['a', 'b'][:len(shapes)]
    constants, nodes = [], []
    for name, scale, zero in zip([*names, 'y'], scales, zeros):
        constants += [numpy_helper.from_array(np.float32(scale), f'{name}_s'), numpy_helper.from_array(np.array(zero, dtype), f'{name}_z')]
    for name in names:
        nodes.append(helper.make_node('DequantizeLinear', [name, f'{name}_s', f'{name}_z'], [f'{name}_f']))
    nodes += make(constants)
    nodes.append(helper.make_node('QuantizeLinear', ['f', 'y_s', 'y_z'], ['y']))
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info(n, element, s) for n, s in zip(names, shapes)],
                              [helper.make_tensor_value_info('y', element, None)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 14)], ir_version=8)


def differ(models, tmp_path):
    """Bytes, and bytes that are not OpenVINO's, of [(model, inputs)]; the largest difference."""
    total = wrong = worst = 0
    threes = []
    for i, (model, inputs) in enumerate(models):
        threes += [tmp_path / f'{i}.onnx', tmp_path / f'{i}.x.npz', tmp_path / f'{i}.y.npz']
        onnx.save(model, threes[-3])
        np.savez(threes[-2], **{name: array[None] for name, array in inputs.items()})
    subprocess.run([PYTHON, ORACLE, 'run', *threes], check=True, capture_output=True)
    for i, (_, inputs) in enumerate(models):
        theirs = pipeline.arrays_of(tmp_path / f'{i}.y.npz')['y'][0].astype(int)
        pipeline.run('model_deploy', tmp_path / f'{i}.onnx', '-o', tmp_path / 'p.rshift', '--profile', 'openvino', '--no-check',
                     '--report-json', tmp_path / 'r.json')
        assert json.loads((tmp_path / 'r.json').read_text())['float_nodes'] == []
        ours = pipeline.infer(tmp_path / 'p.rshift', inputs, tmp_path, '--raw')['y'].astype(int)
        total, wrong = total + ours.size, wrong + int((ours != theirs).sum())
        worst = max(worst, int(np.abs(ours - theirs).max()))
    return total, wrong, worst


def all_pairs(kind):
    values = np.arange(256).astype(np.uint8).view(TYPES[kind][1])
    return {'a': np.repeat(values, 256).reshape(1, 16, 64, 64), 'b': np.tile(values, 256).reshape(1, 16, 64, 64)}


def test_addition_of_all_pairs_of_bytes(tmp_path, report):
    models = []
    for i, scales in enumerate(SCALES):
        kind, zeros = ZEROS[i % 4]
        make = lambda constants: [helper.make_node('Add', ['a_f', 'b_f'], ['f'])]  # noqa: E731
        models.append((net(make, kind, zeros, scales, [(1, 16, 64, 64)] * 2), all_pairs(kind)))
    total, wrong, worst = differ(models, tmp_path)
    report(f'openvino Add: {total} bytes, {wrong} differ from OpenVINO, by {worst}')
    assert wrong == 0


def test_averages(tmp_path, report):
    rng, models = np.random.default_rng(81), []
    operators = [('AveragePool', dict(kernel_shape=[2, 2], strides=[2, 2])), ('GlobalAveragePool', {}),
                 ('AveragePool', dict(kernel_shape=[3, 3], strides=[3, 3]))]
    for i, scales in enumerate(SCALES):
        kind, zeros = ZEROS[i % 4]
        name, attributes = operators[i % 3]
        make = lambda constants, n=name, a=attributes: [helper.make_node(n, ['a_f'], ['f'], **a)]  # noqa: E731
        x = rng.integers(0, 256, (1, 32, 36, 36)).astype(np.uint8).view(TYPES[kind][1])
        models.append((net(make, kind, (zeros[0], zeros[2]), (scales[0], scales[2]), [x.shape]), {'a': x}))
    total, wrong, worst = differ(models, tmp_path)
    report(f'openvino averages: {total} bytes, {wrong} differ from OpenVINO, by {worst}')
    assert wrong <= total / 1000 and worst <= 1


def test_convolution_with_functions_behind_it(tmp_path, report):
    rng, models = np.random.default_rng(82), []
    functions = [['Relu'], ['Sigmoid'], ['Tanh'], ['HardSwish'], ['LeakyRelu', 'Abs'], ['Relu', 'Tanh']]
    # Of few channels several pixels are computed together.
    for i, (chain, channels, width) in enumerate([(chain, *size) for size in ((16, 20), (3, 37)) for chain in functions]):
        kind, zeros = ZEROS[i % 4]
        weights = rng.integers(-127, 128, (channels, 8, 3, 3)).astype(np.int8)

        def make(constants, chain=chain, weights=weights, channels=channels):
            constants += [numpy_helper.from_array(weights, 'w'), numpy_helper.from_array(rng.uniform(0.001, 0.003, channels).astype(np.float32), 'w_s'),
                          numpy_helper.from_array(np.zeros(channels, np.int8), 'w_z')]
            nodes = [helper.make_node('DequantizeLinear', ['w', 'w_s', 'w_z'], ['w_f'], axis=0),
                     helper.make_node('Conv', ['a_f', 'w_f'], ['c0'], pads=[1] * 4)]
            for k, name in enumerate(chain):
                out = 'f' if k == len(chain) - 1 else f'c{k + 1}'
                nodes.append(helper.make_node(name, [f'c{k}'], [out]))
            return nodes

        x = rng.integers(0, 256, (1, 8, 20, width)).astype(np.uint8).view(TYPES[kind][1])
        models.append((net(make, kind, (zeros[0], zeros[2]), (0.0213, 0.0097), [x.shape]), {'a': x}))
    total, wrong, worst = differ(models, tmp_path)
    report(f'openvino convolutions: {total} bytes, {wrong} differ from OpenVINO, by {worst}')
    assert wrong <= total / 1000 and worst <= 1
