"""The commands of the pages in docs/ run as they are written."""

import json
import os
import re
import struct
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline


def run_blocks(page, folder):
    """Every ```bash block of the page, in order, in `folder`."""
    blocks = re.findall(r'```bash\n(.*?)```', (pipeline.ROOT / 'docs' / page).read_text(), re.S)
    assert blocks
    environment = os.environ | {'PATH': f"{pipeline.BIN.resolve()}:{os.environ['PATH']}"}
    for block in blocks:
        done = subprocess.run(['bash', '-e', '-c', block], cwd=folder, env=environment, text=True,
                              capture_output=True, timeout=300, check=False)
        assert done.returncode == 0, f'{block}\n{done.stdout}\n{done.stderr}'


def test_from_tflite(tmp_path):
    pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed')
    from frameworks import tflite_cases, tflite_streaming  # pylint: disable=import-outside-toplevel
    case = next(c for c in tflite_cases.cases() if c.name == 'conv_same22relu6')
    for kind, int8 in (('int8', True), ('float', False)):
        content, samples = tflite_cases.build(case, int8)
        (tmp_path / f'net_{kind}.tflite').write_bytes(content)
        np.save(tmp_path / f'x_{kind}.npy', samples['x0'])
    np.save(tmp_path / 'samples.npy', np.random.default_rng(0).uniform(-3, 3, (30, 8, 6, 8)).astype(np.float32))
    random = np.random.default_rng(1)
    (tmp_path / 'wake_word_int8.tflite').write_bytes(tflite_streaming.network(random))
    np.save(tmp_path / 'frames.npy', random.integers(-128, 128, (20, 2, 1, 8)).astype(np.int8))
    run_blocks('from_tflite.md', tmp_path)


# --- scales of other tools: each page with a network, and the files that its tool would have written ---

REACH = {'x': 4.0, 'conv1_out': 9.0, 'pool1_out': 9.0, 'conv2_out': 20.0, 'sum_out': 25.0, 'y': 40.0}


def write_net(folder):
    """net.onnx: x -> conv1 with Relu -> pool -> conv2 -> Add of the pool -> conv3 -> y; samples.npy."""
    rng = np.random.default_rng(71)
    shapes = {'w1': (6, 3, 3, 3), 'w2': (6, 6, 1, 1), 'w3': (4, 6, 3, 3)}
    constants = [numpy_helper.from_array((rng.normal(size=s) / 2).astype(np.float32), n) for n, s in shapes.items()]
    node = helper.make_node
    nodes = [node('Conv', ['x', 'w1'], ['conv1_raw'], name='conv1', pads=[1] * 4),
             node('Relu', ['conv1_raw'], ['conv1_out'], name='relu1'),
             node('MaxPool', ['conv1_out'], ['pool1_out'], name='pool1', kernel_shape=[2, 2], strides=[2, 2]),
             node('Conv', ['pool1_out', 'w2'], ['conv2_out'], name='conv2'),
             node('Add', ['conv2_out', 'pool1_out'], ['sum_out'], name='sum'),
             node('Conv', ['sum_out', 'w3'], ['y'], name='conv3', pads=[1] * 4)]
    graph = helper.make_graph(nodes, 'net', [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 3, 8, 8))],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, (1, 4, 4, 4))], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), folder / 'net.onnx')
    np.save(folder / 'samples.npy', rng.normal(size=(20, 3, 8, 8)).astype(np.float32))


def outputs_agree(folder, program):
    """The program gives about what the float network gives."""
    pipeline.run('model_deploy', folder / 'net.onnx', '--mode', 'f32', '-o', folder / 'f32.rshift')
    found = []
    for name in ('f32.rshift', program):
        pipeline.run('model_runner', folder / name, '--dataset', folder / 'samples.npy', '--output', folder / 'found.npz')
        found.append(pipeline.single(folder / 'found.npz'))
    assert pipeline.cosine(*found) > 0.98, program


def test_from_tpu_mlir(tmp_path):
    write_net(tmp_path)
    ends = {'x': '', 'conv1_out': '_Relu', 'pool1_out': '_MaxPool', 'conv2_out': '_Conv', 'sum_out': '_Add', 'y': '_Conv'}
    (tmp_path / 'net_cali_table').write_text('# op_name    threshold    min    max\n' + ''.join(
        f'{n}{ends[n]} {t} {0 if n in ("conv1_out", "pool1_out") else -t} {t}\n' for n, t in REACH.items()))
    (tmp_path / 'net_qtable').write_text('# op_name   quantize_mode\nconv2_out_Conv F16\n')
    page = 'from_tpu_mlir.md'
    pipeline.calibrate(tmp_path / 'net.onnx', tmp_path / 'samples.npy', tmp_path / 'net.table.yaml')
    run_blocks(page, tmp_path)
    for program in ('net.rshift', 'net_mixed.rshift', 'net_theirs.rshift'):
        outputs_agree(tmp_path, program)
    assert list(pipeline.f32_commands(tmp_path / 'net_mixed.rshift')) == ['conv_f32']
    names = [line.split()[0] for line in (tmp_path / 'ours_cali_table').read_text().splitlines() if line[0] != '#']
    assert set(names) == {n + e for n, e in ends.items()}


def test_from_tensorrt(tmp_path):
    write_net(tmp_path)
    (tmp_path / 'trt.cache').write_text('TRT-10300-EntropyCalibration2\n' + ''.join(
        f'{n}: {struct.pack(">f", t / 127).hex()}\n' for n, t in {'(Unnamed Layer* 0) [Shuffle]_output': 1.0, **REACH}.items()))
    run_blocks('from_tensorrt.md', tmp_path)
    for program in ('net.rshift', 'again.rshift'):
        outputs_agree(tmp_path, program)
    assert (tmp_path / 'ours.cache').read_text().startswith('TRT-10300-EntropyCalibration2\n')
    assert '(Unnamed' in json.loads((tmp_path / 'net.json').read_text())['scales']['unused'][0]['name']


def test_from_ncnn(tmp_path):
    write_net(tmp_path)
    weights = {i.name: numpy_helper.to_array(i) for i in onnx.load(tmp_path / 'net.onnx').graph.initializer}
    lines = [' '.join([f'conv{i}_param_0', *(f'{127 / m:.6f}' for m in np.abs(weights[f'w{i}']).max(axis=(1, 2, 3)))])
             for i in (1, 2, 3)]
    lines += [f'conv{i} {127 / REACH[n]:.6f}' for i, n in ((1, 'x'), (2, 'pool1_out'), (3, 'sum_out'))]
    (tmp_path / 'net.table').write_text('\n'.join(lines) + '\n')
    run_blocks('from_ncnn.md', tmp_path)
    outputs_agree(tmp_path, 'net.rshift')
    assert [line.split()[0] for line in (tmp_path / 'ours.table').read_text().splitlines()] == [w.split()[0] for w in lines]


def test_from_aimet(tmp_path):
    write_net(tmp_path)
    weights = {i.name: numpy_helper.to_array(i) for i in onnx.load(tmp_path / 'net.onnx').graph.initializer}
    def entry(name, scales, offsets, symmetric):
        return {'name': name, 'dtype': 'INT', 'bw': 8, 'is_sym': symmetric, 'scale': scales, 'offset': offsets,
                'enc_type': 'PER_TENSOR' if len(scales) == 1 else 'PER_CHANNEL'}
    activations = [entry(n, [t / 255], [0], False) if n == 'conv1_out' else entry(n, [2 * t / 255], [-127], False)
                   for n, t in REACH.items() if n != 'pool1_out']
    parameters = [entry(n, [float(m) / 127 for m in np.abs(w).max(axis=(1, 2, 3))], [-128] * len(w), True)
                  for n, w in weights.items()]
    (tmp_path / 'net.encodings').write_text(json.dumps({
        'version': '1.0.0', 'activation_encodings': activations, 'param_encodings': parameters, 'excluded_layers': []}))
    run_blocks('from_aimet.md', tmp_path)
    for program in ('net.rshift', 'net_sym.rshift'):
        outputs_agree(tmp_path, program)
    versions = [json.loads((tmp_path / n).read_text())['version'] for n in ('ours.encodings', 'sym.encodings', 'ours.aimet0.json')]
    assert versions == ['1.0.0', '1.0.0', '0.6.1']


def test_from_onnxruntime(tmp_path):
    quantization = pytest.importorskip('onnxruntime.quantization')
    write_net(tmp_path)

    class Samples(quantization.CalibrationDataReader):
        def __init__(self):
            self.left = list(np.load(tmp_path / 'samples.npy'))

        def get_next(self):
            return {'x': self.left.pop()[None]} if self.left else None

    quantization.quantize_static(tmp_path / 'net.onnx', tmp_path / 'net_qdq.onnx', Samples(), per_channel=True,
                                 quant_format=quantization.QuantFormat.QDQ)
    quantization.quantize_static(tmp_path / 'net.onnx', tmp_path / 'net_qoperator.onnx', Samples(),
                                 quant_format=quantization.QuantFormat.QOperator)
    quantization.quantize_dynamic(tmp_path / 'net.onnx', tmp_path / 'net_dynamic.onnx',
                                  weight_type=quantization.QuantType.QUInt8)
    (tmp_path / 'calibration.json').write_text(json.dumps({n: [-t, t] for n, t in REACH.items()}))
    run_blocks('from_onnxruntime.md', tmp_path)
    for program in ('net.rshift', 'from_qdq.rshift', 'from_ranges.rshift', 'ours.rshift'):
        outputs_agree(tmp_path, program)
    import onnxruntime  # pylint: disable=import-outside-toplevel
    onnxruntime.InferenceSession(tmp_path / 'ours_qdq.onnx')
