"""Models quantized by NNCF, as it writes them by default: all are imported, every convolution is integer, and the
results are those of ONNX Runtime to a few steps."""

import subprocess

import numpy as np
import onnx
import pytest

import pipeline
from test_qdq import deploy, oracle_of

PYTHON = pipeline.ROOT / 'build/benchvenv/bin/python'
SCRIPT = pipeline.ROOT / 'tests/e2e/quantize_with_nncf.py'
# The lowest cosine to ONNX Runtime's result; seeded noise lies on many ties.
MODELS = {
    'resnet8_cifar10/*float*.onnx': 0.999, 'vww96/*float*.onnx': 0.999, 'mobilenet_v2/mobilenet_v2_float.onnx': 0.99,
    'squeezenet_1_1/squeezenet_1_1.onnx': 0.999, 'fashion/mobilenet_leaky.onnx': 0.999, 'fashion/resnet_prelu.onnx': 0.999}


def has_nncf():
    return PYTHON.exists() and subprocess.run([PYTHON, '-c', 'import nncf, onnxruntime'], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope='module', autouse=True)
def nncf():
    if not has_nncf():
        pytest.skip('build/benchvenv lacks nncf or onnxruntime: python3 -m venv build/benchvenv && build/benchvenv/bin/pip install nncf onnx onnxruntime')


@pytest.mark.parametrize('pattern', MODELS, ids=lambda pattern: pattern.split('/')[0] + '-' + pattern.split('/')[1].split('.')[0].strip('*'))
def test_every_convolution_is_integer(pattern, shared, tmp_path, report):
    source = sorted((shared / 'models').glob(pattern))[0]
    shape = [d.dim_value or 1 for d in model_input(source).type.tensor_type.shape.dim]
    rng = np.random.default_rng(0)
    samples = [rng.uniform(-0.5, 1.5, shape).astype(np.float32) for _ in range(8)]
    np.save(tmp_path / 'x.npy', np.stack(samples))
    subprocess.run([PYTHON, SCRIPT, source, tmp_path / 'm.onnx', tmp_path / 'x.npy'], check=True, capture_output=True)
    model = onnx.load(tmp_path / 'm.onnx')
    deploy(tmp_path / 'm.onnx', tmp_path / 'p.rshift', '--profile', 'onnxruntime')
    commands = pipeline.f32_commands(tmp_path / 'p.rshift')
    name, expected_of = model_input(source).name, oracle_of(model)
    cosines = []
    for sample in samples[:3]:
        expected = next(iter(expected_of({name: sample}).values()))
        actual = next(iter(pipeline.infer(tmp_path / 'p.rshift', {name: sample}, tmp_path).values()))
        cosines.append(pipeline.cosine(actual, expected))
    convolutions = sum(n.op_type in ('Conv', 'Gemm') for n in model.graph.node)
    stay = sum(count for op, count in commands.items() if op in ('conv_f32', 'matmul_f32', 'conv_transpose_f32'))
    report(f'NNCF {source.stem}: {convolutions} convolutions, {stay} in F32; F32 commands {commands}; '
           f'cosine to ONNX Runtime {min(cosines):.6f}')
    assert stay == 0 and convolutions > 0
    assert min(cosines) > MODELS[pattern]


def model_input(path):
    graph = onnx.load(path).graph
    constants = {i.name for i in graph.initializer}
    return next(i for i in graph.input if i.name not in constants)
