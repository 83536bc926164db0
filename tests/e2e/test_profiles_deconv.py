"""Integer ConvTranspose under every profile: equal to the definition on every byte.

The sums come from the definition (each input adds to the outputs it reaches), the program moves
bytes and convolves. QNNPACK's deconvolution in PyTorch is a second witness of caffe2.
"""

import math

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline
from frameworks import compare, deconv, ours, qdq_builder, torch_qnnpack
from frameworks.arithmetic_others import FORMULAS, accumulate
from frameworks.fixed_point import I64
from frameworks.sums import by_channel, finish, scales
from frameworks.table import table  # noqa: F401  pylint: disable=unused-import
from test_profiles_formulas import takes

CASES = 24


def half_up(acc, scale):
    """tpu: (acc * M + 2^(r-1)) >> r of the binary64 scale."""
    fraction, exponent = math.frexp(scale)
    multiplier, rshift = math.floor(fraction * 2**31 + 0.5), 31 - exponent
    if multiplier == 2**31:
        multiplier, rshift = 2**30, rshift - 1
    return (acc.astype(I64) * multiplier + (1 << (rshift - 1))) >> rshift


def tpu(case):
    (sx,), sy = scales(case)
    values = by_channel(case, accumulate(case),
                        lambda acc, sw: half_up(acc, float(sx) * float(sw) / float(sy)))
    return finish(case, values + case.output_quant.zero, lambda bound, zero: np.rint(bound) + zero)


WITNESS = {('tpu', None): tpu, **{key: formulas['conv'] for key, formulas in FORMULAS.items()
                                  if key[1] in (None, 'fp32') and key[0] != 'ascend'}}  # it quantizes none


def run(case, profile, variant, folder, isa):
    model, program = folder / 'case.onnx', folder / 'case.rshift'
    model.write_bytes(deconv.build(case).SerializeToString())
    extra = ['--variant', variant] if variant else []
    pipeline.run('model_deploy', model, '--profile', profile, *extra, '-o', program)
    assert 'conv_transpose_f32' not in pipeline.run('model_tool', 'disasm', program)
    output = pipeline.infer(program, qdq_builder.feeds(case), folder, '--isa', isa, '--threads', '1')
    return qdq_builder.to_nhwc(qdq_builder.bytes_of(output['y'], case.output_quant))


def cases_of(kind, profile):
    cases = [deconv.random_case(kind, seed, seed % 2 == 1 and kind == 's8') for seed in range(CASES)]
    return [case for case in cases if takes(case, profile) and min(case.output_shape()) > 0]


@pytest.mark.parametrize('kind', ('s8', 'u8'))
@pytest.mark.parametrize('profile, variant', WITNESS)
def test_operator(profile, variant, kind, tmp_path, table, report):  # noqa: F811
    elements, mismatches, lines = 0, 0, []
    for i, case in enumerate(cases_of(kind, profile)):
        actual = run(case, profile, variant, tmp_path, ours.instruction_sets('conv')[-(i % 2)])
        wanted = WITNESS[profile, variant](case)
        count, line = compare.differences(case, wanted, actual, f'case {i}')
        elements, mismatches = elements + wanted.size, mismatches + count
        lines += [line] if line else []
    name = f'{profile} {variant}' if variant else profile
    table(profile=name, operator='conv_transpose', type=kind, oracle='numpy formulas',
          elements=elements, mismatches=mismatches)
    report(f'{name:15} conv_transpose {kind}: {elements:>9,} bytes, {mismatches:,} differ')
    assert not lines, '\n'.join(lines)


def test_qnnpack(tmp_path, table, report):  # noqa: F811
    if torch_qnnpack.python() is None:
        pytest.skip('no Python with torch and its qnnpack engine (set RSHIFT_TORCH_PYTHON)')
    cases = [torch_qnnpack.adapted(case) for case in cases_of('s8', 'caffe2') + cases_of('u8', 'caffe2')
             if not case.activation and len(case.weight_quant.scale) == 1]
    theirs, version = torch_qnnpack.run(cases, tmp_path)
    elements, lines = 0, []
    for i, case in enumerate(cases):
        actual = run(case, 'caffe2', 'fp32', tmp_path, 'scalar')
        count, line = compare.differences(case, theirs[i], actual, f'case {i}')
        elements += theirs[i].size
        lines += [line] if count else []
    table(profile='caffe2 fp32', operator='conv_transpose', type='s8, u8',
          oracle=f'QNNPACK in PyTorch {version}', elements=elements, mismatches=len(lines))
    report(f'caffe2 fp32     conv_transpose: {elements:,} bytes equal (PyTorch {version})')
    assert elements > 0 and not lines, '\n'.join(lines)


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
@pytest.mark.parametrize('attributes', [
    {'strides': [2, 2], 'pads': [1, 1, 1, 1], 'output_padding': [1, 1]}, {'strides': [3, 1]},
    {'strides': [2, 3], 'pads': [4, 2, 3, 1]}, {'dilations': [2, 2], 'group': 2}])
def test_float_model(attributes, mode, tmp_path, report):
    """Within 3 % of the range of ONNX Runtime's float result; no F32 command."""
    rng = np.random.default_rng(3)
    groups = attributes.get('group', 1)
    w, b = rng.normal(0, 0.2, (6, 8 // groups, 3, 3)), rng.normal(0, 0.2, 8)
    node = helper.make_node('ConvTranspose', ['x', 'w', 'b'], ['y'], kernel_shape=[3, 3], **attributes)
    graph = helper.make_graph(
        [node], 'deconv', [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 6, 9, 11))],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)],
        [numpy_helper.from_array(v.astype(np.float32), k) for k, v in (('w', w), ('b', b))])
    model, data = tmp_path / 'm.onnx', tmp_path / 'data.npy'
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), model)
    samples = rng.normal(0, 1, (16, 6, 9, 11)).astype(np.float32)
    np.save(data, samples)
    table = pipeline.calibrate(model, data, tmp_path / 't.yaml', samples=16, extra=['--method', 'minmax'])
    pipeline.deploy(model, tmp_path / 'm.rshift', mode=mode, table=table)
    assert pipeline.f32_commands(tmp_path / 'm.rshift') == {}
    actual = pipeline.infer(tmp_path / 'm.rshift', {'x': samples[:1]}, tmp_path)['y']
    wanted = onnxruntime.InferenceSession(str(model)).run(None, {'x': samples[:1]})[0]
    unit = np.abs(wanted).max() / 100
    worst = float(np.abs(actual - wanted).max() / unit)
    report(f'ConvTranspose {attributes} {mode}: worst {worst:.2f} hundredths of the range')
    assert actual.shape == wanted.shape and worst < 3


@pytest.mark.parametrize('channels, convolutions', [(8, 2), (64, 6)])
def test_sum_in_the_convolutions(channels, convolutions, tmp_path, report):
    """onednn adds in the convolution: then the addend is divided into phases as the output is."""
    rng = np.random.default_rng(4)
    shapes = {'w': (6, channels, 4, 3), 'b': (channels,), 'v': (channels, channels, 1, 1)}
    constants = [numpy_helper.from_array(rng.normal(0, 0.2, s).astype(np.float32), k) for k, s in shapes.items()]
    nodes = [helper.make_node('Conv', ['z', 'v'], ['other']),
             helper.make_node('ConvTranspose', ['x', 'w', 'b'], ['up'], strides=[3, 2], pads=[1, 1, 0, 0]),
             helper.make_node('Add', ['other', 'up'], ['y'])]
    inputs = {'x': (1, 6, 5, 4), 'z': (1, channels, 15, 8)}
    graph = helper.make_graph(
        nodes, 'deconv', [helper.make_tensor_value_info(k, TensorProto.FLOAT, s) for k, s in inputs.items()],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)], constants)
    model, data = tmp_path / 'm.onnx', tmp_path / 'data.npz'
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), model)
    samples = {k: rng.normal(0, 1, (16, *s[1:])).astype(np.float32) for k, s in inputs.items()}
    np.savez(data, **samples)
    table = pipeline.calibrate(model, data, tmp_path / 't.yaml', samples=16, extra=['--method', 'minmax'])
    pipeline.deploy(model, tmp_path / 'm.rshift', mode='symmetric', table=table, extra=['--profile', 'onednn'])
    commands = pipeline.run('model_tool', 'disasm', tmp_path / 'm.rshift').splitlines()
    found = sum('conv ' in line and 'up__phase' in line and 'src2=' in line for line in commands)
    assert found == convolutions
    feed = {k: v[:1] for k, v in samples.items()}
    actual = pipeline.infer(tmp_path / 'm.rshift', feed, tmp_path)['y']
    wanted = onnxruntime.InferenceSession(str(model)).run(None, feed)[0]
    worst = float(np.abs(actual - wanted).max() / np.abs(wanted).max())
    report(f'ConvTranspose and Add in one command: worst {100 * worst:.2f} hundredths of the range')
    assert actual.shape == wanted.shape and worst < 0.03
