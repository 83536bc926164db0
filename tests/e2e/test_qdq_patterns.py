"""Patterns behind a convolution of a QDQ model: the convolution is integer in every profile, whatever follows
it, and the bytes are those of the real result, quantized once, to one step."""

import numpy as np
import onnx
import pytest

import pipeline
import qdq_cases
import qdq_patterns
import test_operators_integer
from test_qdq import deploy, oracle_of

PROFILES = ('tpu', 'onnxruntime', 'tflite-ref', 'caffe2', 'onednn', 'ascend')
LINEAR_F32 = {'conv_f32', 'conv_transpose_f32', 'matmul_f32'}


def compare(expected, actual, worst):
    for name, array in expected.items():
        assert actual[name].dtype == array.dtype and actual[name].shape == array.shape
        if array.dtype != np.float32:
            steps = np.abs(actual[name].astype(int) - array.astype(int))
            worst['steps'] = max(worst['steps'], int(steps.max()))
            worst['differ'] += int((steps != 0).sum())
            worst['bytes'] += steps.size
        elif not name.endswith('_dq'):
            worst['real'] = max(worst['real'], float(np.abs(actual[name] - array).max() / np.abs(array).max()))


@pytest.mark.parametrize('kind', qdq_cases.TYPES)
@pytest.mark.parametrize('case', qdq_patterns.CASES, ids=lambda case: case.name.replace(' ', '-'))
def test_pattern(case, kind, tmp_path, report):
    builder = case.model(kind)
    model, path = builder.model(), tmp_path / 'm.onnx'
    onnx.save(model, path)
    expected_of = oracle_of(model)
    samples = [builder.sample(index) for index in range(2)]
    expected = [expected_of(sample) for sample in samples]
    for profile in PROFILES if kind == 's8' else PROFILES[:2]:
        program = tmp_path / f'{profile}.rshift'
        told = deploy(path, program, '--profile', profile)
        commands = pipeline.f32_commands(program)
        assert bool(LINEAR_F32 & set(commands)) == case.conv_f32, (profile, commands)
        if profile == 'tpu':
            computing = [n for n in told['float_nodes'] if n['op'] != 'Transpose']
            assert bool(computing) == bool(commands) == case.f32, (commands, told['float_nodes'])
        worst = {'steps': 0, 'differ': 0, 'bytes': 0, 'real': 0.0}
        for sample, wanted in zip(samples, expected):
            compare(wanted, pipeline.infer(program, sample, tmp_path, '--raw', '--threads', '1'), worst)
        report(f'{case.name:20} {kind} {profile:12} F32 {sum(commands.values())}: {worst["differ"]} of {worst["bytes"]} '
               f'bytes differ, at most {worst["steps"]}; real results to {worst["real"]:.1e}')
        # Between the layers of ascend are fp16 numbers, of 11 bits.
        half = profile == 'ascend'
        assert worst['steps'] <= case.units + half and worst['real'] < (2e-3 if half else 2e-6)
        # Ties alone, and what the float convolution itself rounds otherwise.
        assert worst['differ'] <= worst['bytes'] / 200 or profile == 'ascend' or case.f32


@pytest.mark.parametrize('case', [c for c in qdq_patterns.CASES if c.name in (
    'sigmoid', 'skip relu', 'two readers', 'last layer', 'last depthwise', 'last matmul')], ids=lambda case: case.name)
def test_pattern_gives_the_same_numbers_on_every_instruction_set(case, tmp_path):
    builder = case.model('s8')
    onnx.save(builder.model(), tmp_path / 'm.onnx')
    deploy(tmp_path / 'm.onnx', tmp_path / 'p.rshift')
    sample = builder.sample(0)
    results = [pipeline.infer(tmp_path / 'p.rshift', sample, tmp_path, '--raw', '--isa', isa, '--threads', threads)
               for isa, threads in test_operators_integer.instruction_sets()]
    assert len(results) > 1
    for other in results[1:]:
        assert {n: a.tobytes() for n, a in other.items()} == {n: a.tobytes() for n, a in results[0].items()}
