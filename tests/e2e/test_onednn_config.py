"""MKL-DNN's attributes by --config: output scales by mask, post-operations, an f32 result; weights times the inverse scale."""

import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline

F32 = np.float32


def setup(folder, groups=1, oc=6, ties=False, add=False):
    """(weights, table) of one convolution 6 -> oc, calibrated; ties: weights at halves of their scale."""
    rng = np.random.default_rng(1)
    w = rng.normal(0, 0.4, (oc, 6 // groups, 3, 3)).astype(F32)
    if ties:
        w = (rng.integers(-126, 126, w.shape) + F32(0.5)).astype(F32) * F32(0.0123)
        w[:, 0, 0, 0] = F32(127 * 0.0123)
    nodes = [helper.make_node('Conv', ['x', 'w'], ['y'], 'conv', group=groups, pads=[1] * 4)]
    constants = {'w': w}
    if add:
        constants['v'] = rng.normal(0, 0.4, (oc, 6, 1, 1)).astype(F32)
        nodes[0].output[0] = 'c'
        nodes = [helper.make_node('Conv', ['x', 'v'], ['a'], 'first'), nodes[0], helper.make_node('Add', ['c', 'a'], ['y'])]
    graph = helper.make_graph(nodes, 'm', [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 6, 14, 14))],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, (1, oc, 14, 14))],
                              [numpy_helper.from_array(v, k) for k, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), folder / 'm.onnx')
    np.save(folder / 'd.npy', rng.normal(0.3, 1, (8, 6, 14, 14)).astype(F32))
    return w, pipeline.calibrate(folder / 'm.onnx', folder / 'd.npy', folder / 't.yaml', samples=8)


def run(folder, table, config, x, mode='symmetric'):
    """(result, {tensor: (type, scale, zero)}, commands)"""
    (folder / 'c.yaml').write_text(config)
    pipeline.deploy(folder / 'm.onnx', folder / 'm.rshift', mode=mode, table=table,
                    extra=['--profile', 'onednn'] + (['--config', folder / 'c.yaml'] if config else []))
    text = pipeline.run('model_tool', 'disasm', folder / 'm.rshift')
    found = re.findall(r'([\w.]+):([su]8)\[[\dx]+\]\S*\{([^,]+),(-?\d+)\}', text)
    return (pipeline.infer(folder / 'm.rshift', {'x': x}, folder)['y'], {n: (t, F32(s), int(z)) for n, t, s, z in found},
            text)


def sums(x, w, scale_w, quant_x, groups=1):
    _, scale, zero = quant_x
    q = np.clip(np.rint(x / scale) + zero, -128, 127).astype(np.int64)
    inverse = (F32(1) / np.broadcast_to(np.asarray(scale_w, F32), len(w))).astype(F32)
    qw = np.clip(np.rint((w * inverse[:, None, None, None]).astype(F32)), -128, 127).astype(np.int64)
    padded = np.pad(q - zero, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    n, per = len(w) // groups, 6 // groups
    return np.concatenate([np.einsum('nchwij,ocij->nohw', windows[:, g * per:(g + 1) * per], qw[g * n:(g + 1) * n])
                           for g in range(groups)], 1)


def sample():
    return np.random.default_rng(2).normal(0.3, 1, (1, 6, 14, 14)).astype(F32)


def input_quant(quants):
    return next(v for n, v in quants.items() if n.startswith('x'))


@pytest.mark.parametrize('mask, groups, from_file', [(0, 1, False), (2, 1, False), (2, 1, True), (3, 2, False), (3, 3, True)])
@pytest.mark.parametrize('post_ops', [False, True])
def test_scales_and_operations_of_the_configuration(mask, groups, from_file, post_ops, tmp_path, report):
    w, table = setup(tmp_path, groups)
    _, quants, _ = run(tmp_path, table, '', sample())
    (_, scale_x, _), (kind, scale_y, zero_y) = input_quant(quants), quants['y']
    count = 1 if mask == 0 else len(w)
    largest = np.abs(w).max((1, 2, 3)) / 127 if mask else np.full(1, np.abs(w).max() / 127)
    scale = (F32(scale_x) * largest * np.linspace(1, 1.2, count) / (1 if post_ops else scale_y)).astype(F32)
    if from_file:
        (tmp_path / 's.txt').write_text('\n'.join(repr(float(s)) for s in scale))
    values = 'file: s.txt' if from_file else f'values: [{", ".join(repr(float(s)) for s in scale)}]'
    after = ', post_ops: [{op: tanh, scale: 100}, {op: linear, alpha: 0.5, beta: 3, scale: 1.5}]' if post_ops else ''
    config = f'layers: {{conv: {{onednn: {{output_scales: {{mask: {mask}, {values}}}{after}}}}}}}'
    actual, quants, _ = run(tmp_path, table, config, sample())
    unit = np.float64(1 if post_ops else scale_y)
    scale_w = (scale.astype(np.float64) * unit / np.float64(scale_x)).astype(F32)
    acc = sums(sample(), w, scale_w, input_quant(quants), groups)
    f = acc.astype(F32) * np.broadcast_to(scale, len(w))[:, None, None]
    if post_ops:
        f = (np.tanh(f.astype(np.float64)).astype(F32) * F32(100)).astype(F32)
        f = (f.astype(np.float64) * 0.5 + 3).astype(F32) * F32(1.5)
    lo = -128 if kind == 's8' else 0
    wanted = np.clip(np.rint(np.clip(f + F32(zero_y), -1000, 1000)), lo, lo + 255).astype(np.int64)
    got = np.rint(actual / scale_y).astype(np.int64) + zero_y
    report(f'onednn config, mask {mask}, {groups} groups{", post_ops" if post_ops else ""}: {wanted.size} bytes, '
           f'{int((got != wanted).sum())} differ')
    assert (got == wanted).all()


def test_weights_are_multiplied_with_the_inverse_scale(tmp_path, report):
    """At ties the product is another integer than the quotient: MKL-DNN's reorder multiplies."""
    w, table = setup(tmp_path, ties=True)
    actual, quants, _ = run(tmp_path, table, '', sample())
    scale_w = (np.abs(w).max((1, 2, 3)).astype(np.float64) / 127).astype(F32)
    inverse = (F32(1) / scale_w)[:, None, None, None]
    other = np.rint(w / scale_w[:, None, None, None]) != np.rint((w * inverse).astype(F32))
    acc = sums(sample(), w, scale_w, input_quant(quants))
    _, scale_y, zero_y = quants['y']
    scale = ((F32(input_quant(quants)[1]) * scale_w).astype(F32) / scale_y).astype(F32)
    wanted = np.clip(np.rint(acc.astype(F32) * scale[:, None, None]), -128, 127).astype(np.int64)
    got = np.rint(actual / scale_y).astype(np.int64) + zero_y
    report(f'onednn reorder at ties: {int(other.sum())} of {w.size} weights differ from a quotient; {wanted.size} bytes, '
           f'{int((got != wanted).sum())} differ')
    assert other.any() and (got == wanted).all()


def test_an_f32_result(tmp_path):
    w, table = setup(tmp_path)
    actual, quants, text = run(tmp_path, table, 'layers: {conv: {onednn: {dst: f32}}}', sample())
    assert 'conv_f32' not in text and re.search(r' conv .*dst=y:f32', text), text
    scale_w = (np.abs(w).max((1, 2, 3)).astype(np.float64) / 127).astype(F32)
    unit = (F32(input_quant(quants)[1]) * scale_w).astype(F32)
    assert (actual == sums(sample(), w, scale_w, input_quant(quants)).astype(F32) * unit[:, None, None]).all()


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_sum_with_a_zero_point(mode, tmp_path):
    """The addend is src2 of the convolution's command, whatever its zero point and type."""
    _, table = setup(tmp_path, add=True)
    _, quants, text = run(tmp_path, table, '', sample(), mode)
    assert ' add' not in text and re.search(r' conv .*dst=y:.* src2=a:', text), text
    assert (quants['a'][2] != 0) == (mode == 'asymmetric')
    actual, _, _ = run(tmp_path, table, '', sample(), mode)
    pipeline.deploy(tmp_path / 'm.onnx', tmp_path / 'f.rshift', mode='f32')
    exact = pipeline.infer(tmp_path / 'f.rshift', {'x': sample()}, tmp_path)['y']
    assert np.abs(actual - exact).max() < 8 * quants['y'][1]


@pytest.mark.parametrize('config, word', [
    ('{output_scales: {mask: 4, values: 1}}', 'no other dimension'), ('{output_scales: {mask: 0, values: [1, 2]}}', 'mask 0'),
    ('{output_scales: {mask: 2, values: [1, 2]}}', '2 weight scales'), ('{output_scales: {mask: 2}}', 'values or file'),
    ('{output_scales: {mask: 0, values: -1}}', '> 0'), ('{dst: s32}', 's32 is not kept'),
    ('{post_ops: [{op: sum}]}', "op is 'sum'"), ('{post_ops: [{op: tanh}]}', 'post_ops without output_scales')])
def test_what_is_not_taken_is_an_error(config, word, tmp_path):
    _, table = setup(tmp_path)
    (tmp_path / 'c.yaml').write_text(f'layers: {{conv: {{onednn: {config}}}}}')
    line = pipeline.fails('model_deploy', tmp_path / 'm.onnx', '--calibration', table, '--profile', 'onednn', '--config',
                          tmp_path / 'c.yaml', '-o', tmp_path / 'x.rshift')
    assert word in line, line
