"""Profile ascend by the CANN document: fp16 between layers, external parameters in, constants out."""

import json
import subprocess
import sys

import numpy as np
import pytest
from onnx import helper

import oracle
import pipeline
from little_onnx import save
from recompute_ascend import ROUND, ascend_dequant, ascend_quant, convolve

F16, F32, I64 = np.float16, np.float32, np.int64


def deploy(folder, config='', *extra, table=None):
    """The disassembly; config: the text of --config."""
    (folder / 'c.yaml').write_text(config)
    arguments = ['--config', folder / 'c.yaml'] if config else []
    arguments += ['--calibration', table] if table else []
    pipeline.run('model_deploy', folder / 'm.onnx', '--profile', 'ascend', '--no-check', *arguments, '-o',
                 folder / 'm.rshift', *extra)
    return pipeline.run('model_tool', 'disasm', folder / 'm.rshift')


def given_weights(w, scale_w):
    scale = np.asarray(scale_w, F32).reshape(-1, *([1] * (w.ndim - 1)))
    return np.clip(np.rint(w / scale), -128, 127).astype(I64)


def words(deq):
    return np.asarray(deq, F32).view(np.uint32).astype(np.uint64)


def test_the_documents_example(tmp_path, report):
    """Conv2D 5x17x1x1, scale 1.00049043, offset -128: the attribute, its bits, and every fp16 result."""
    rng = np.random.default_rng(1)
    w = rng.normal(0, 1, (5, 17, 1, 1)).astype(F32)
    scale_w = (np.abs(w).max((1, 2, 3)) / 127).astype(F32)
    save(tmp_path / 'm.onnx', [helper.make_node('Conv', ['x', 'w'], ['y'], 'conv')], {'x': (1, 17, 12, 12)}, ['y'], {'w': w})
    scales = ', '.join(repr(float(s)) for s in scale_w)
    text = deploy(tmp_path, f'layers: {{conv: {{ascend: {{scale: 1.00049043, offset_d: -128, scale_w: [{scales}]}}}}}}')
    assert F32(1.00049043).view(np.uint32) == 0x3F801012
    assert ':f16[' in text and 'conv_f32' not in text, text
    x = rng.uniform(0, 255, (1, 17, 12, 12)).astype(F32)
    q = ascend_quant(x, 1.00049043, -128)
    scale_d = F32(1.0 / np.float64(F32(1.00049043)))
    acc = convolve(q + 128, given_weights(w, scale_w), {'pads': [0] * 4, 'strides': [1] * 4, 'dilations': [1] * 4,
                                                        'groups': 1}, 0)
    wanted = ascend_dequant(acc, words(scale_d * scale_w)).astype(F32)
    actual = pipeline.infer(tmp_path / 'm.rshift', {'x': x}, tmp_path)['y']
    report(f'ascend, the example: {actual.size} fp16 results, {int((actual != wanted).sum())} differ')
    assert (actual == wanted).all() and len(np.unique(actual)) > 400


def random_case(rng):
    """A layer with attributes of both operators: (node, constants, shapes, output, config, reference)."""
    kind = rng.choice(['conv', 'depthwise', 'fc'])
    c = int(rng.integers(17, 40))
    mode = str(rng.choice(list(ROUND)))
    options = {name: bool(rng.integers(2)) for name in
               ('sqrt_mode', 'half', 'deq_sqrt_mode', 'half_deq', 'relu_flag', 'int32_bias')}
    scale_d, offset = F32(rng.uniform(0.01, 0.05)), int(rng.integers(-128, 128))
    if kind == 'fc':
        shape, x_shape = (int(rng.integers(1, 30)), c), (3, c)
    else:
        k = int(rng.integers(1, 4))
        shape = (c, 1, k, k) if kind == 'depthwise' else (int(rng.integers(1, 30)), c, k, k)
        x_shape = (1, c, 9, 8)
    w, b = rng.normal(0, 0.5, shape).astype(F32), rng.normal(0, 2, shape[0]).astype(F32)
    largest = np.abs(w).reshape(shape[0], -1).max(1) / 127 * rng.uniform(0.9, 1.5)
    scale_w = largest.astype(F32) if rng.integers(2) else largest.max(keepdims=True).astype(F32)
    return kind, x_shape, w, b, scale_d, offset, scale_w, mode, options


def expected(case, x):
    kind, _, w, b, scale_d, offset, scale_w, mode, o = case
    scale = F32(1.0 / np.float64(scale_d))
    scale = np.sqrt(scale) if o['sqrt_mode'] else scale
    scale = F32(F16(scale)) if o['half'] else scale
    q = ascend_quant(x, scale, offset, o['sqrt_mode'], mode)
    qw = given_weights(w, scale_w)
    if kind == 'fc':
        acc = (q - offset) @ qw.T
    else:
        pad = w.shape[2] // 2
        attributes = {'pads': [pad] * 4, 'strides': [1, 1, 2, 1], 'dilations': [1] * 4,
                      'groups': len(w) if kind == 'depthwise' else 1}
        acc = convolve(q - offset, qw, attributes, 0)
    unit = scale_d * np.broadcast_to(scale_w, len(w))
    column = (1, -1) + (1, 1) * (kind != 'fc')
    if o['int32_bias']:
        acc = acc + np.rint(b.astype(np.float64) / (np.float64(scale_d) * np.broadcast_to(scale_w, len(w)))).astype(
            I64).reshape(column)
    deq = np.sqrt(unit) if o['deq_sqrt_mode'] else unit
    deq = F32(F16(deq)) if o['half_deq'] else deq
    half = ascend_dequant(acc, words(deq), o['deq_sqrt_mode'], o['relu_flag'])
    return half.astype(F32) if o['int32_bias'] else (half + b.astype(F16).reshape(column)).astype(F32)


def config_of(case):
    _, _, _, _, scale_d, offset, scale_w, mode, o = case
    numbers = ', '.join(repr(float(s)) for s in scale_w)
    flag = {True: 'true', False: 'false'}
    return (f'layers: {{layer: {{ascend: {{scale_d: {float(scale_d)!r}, offset_d: {offset}, scale_w: [{numbers}], '
            f'round_mode: {mode}, sqrt_mode: {flag[o["sqrt_mode"]]}, scale_type: float{16 if o["half"] else 32}, '
            f'deq_sqrt_mode: {flag[o["deq_sqrt_mode"]]}, deq_scale_type: {"float16" if o["half_deq"] else "uint64"}, '
            f'relu_flag: {flag[o["relu_flag"]]}, bias: {"int32" if o["int32_bias"] else "float16"}}}}}}}')


def test_random_layers_in_every_mode(tmp_path, report):
    rng = np.random.default_rng(2)
    total, wrong, seen = 0, [], set()
    for number in range(30):
        case = random_case(rng)
        kind, x_shape, w, b = case[:4]
        if case[-1]['half_deq'] and not case[-1]['deq_sqrt_mode']:
            case[-1]['deq_sqrt_mode'] = True  # these products are below float16's normal numbers
        if kind == 'fc':
            node = helper.make_node('Gemm', ['x', 'w', 'b'], ['y'], 'layer', transB=1)
        else:
            pad = w.shape[2] // 2
            node = helper.make_node('Conv', ['x', 'w', 'b'], ['y'], 'layer', pads=[pad] * 4, strides=[2, 1],
                                    group=len(w) if kind == 'depthwise' else 1)
        save(tmp_path / 'm.onnx', [node], {'x': x_shape}, ['y'], {'w': w, 'b': b})
        deploy(tmp_path, config_of(case))
        x = rng.normal(0, 2, x_shape).astype(F32)
        wanted = expected(case, x)
        for isa in ([()] if number % 3 else [(), ('--isa', 'scalar')]):
            actual = pipeline.infer(tmp_path / 'm.rshift', {'x': x}, tmp_path, *isa)['y']
            total += wanted.size
            if not np.array_equal(actual, wanted):
                wrong.append((number, isa, case[0], case[-2:], int((actual != wanted).sum())))
        seen.add(case[-2])
    report(f'ascend, random layers: {total} fp16 results, {len(wrong)} layers differ')
    assert not wrong and seen == set(ROUND)


def half_net(folder):
    """conv, BiasAdd, Relu, Add with the input's branch, AveragePool, fully connected, Softmax."""
    rng = np.random.default_rng(3)
    constants = {'w': rng.normal(0, 0.2, (24, 20, 3, 3)).astype(F32), 'b': rng.normal(0, 0.5, 24).astype(F32),
                 'v': rng.normal(0, 0.3, (24, 20, 1, 1)).astype(F32),
                 'f': rng.normal(0, 0.4, (24, 10)).astype(F32), 'g': rng.normal(0, 0.1, 10).astype(F32)}
    nodes = [helper.make_node('Conv', ['x', 'w', 'b'], ['c'], 'conv', pads=[1] * 4),
             helper.make_node('Relu', ['c'], ['r']), helper.make_node('Conv', ['x', 'v'], ['d'], 'branch'),
             helper.make_node('Add', ['r', 'd'], ['s'], 'add'),
             helper.make_node('GlobalAveragePool', ['s'], ['p'], 'pool'), helper.make_node('Flatten', ['p'], ['e']),
             helper.make_node('Gemm', ['e', 'f', 'g'], ['l'], 'fc'), helper.make_node('Softmax', ['l'], ['y'], 'soft')]
    save(folder / 'm.onnx', nodes, {'x': (1, 20, 8, 8)}, ['y'], constants)
    np.save(folder / 'data.npy', rng.normal(0, 1, (8, 20, 8, 8)).astype(F32))
    pipeline.calibrate(folder / 'm.onnx', folder / 'data.npy', folder / 't.yaml', samples=8, extra=['--method', 'minmax'])
    return constants


def test_operators_between_are_fp16s(tmp_path, report):
    constants = half_net(tmp_path)
    deploy(tmp_path, table=tmp_path / 't.yaml')
    rng = np.random.default_rng(4)
    x = rng.normal(0, 1, (1, 20, 8, 8)).astype(F32)
    np.savez(tmp_path / 'in.npz', x=x)
    pipeline.run('model_runner', tmp_path / 'm.rshift', '--input', tmp_path / 'in.npz', '--output', tmp_path / 'out.npz',
                 '--dump-tensors', tmp_path / 'all.npz')
    t = {name: a.astype(F32) for name, a in np.load(tmp_path / 'all.npz').items()}
    for name in ('r__fp16', 'd__fp16', 's__fp16', 'p__fp16', 'l__fp16', 'y__fp16'):
        assert (t[name] == t[name].astype(F16)).all(), name
    r, d, s, p, logits = (t[n + '__fp16'] for n in 'rdspl')
    assert (s == (r.astype(F16) + d.astype(F16)).astype(F32)).all()
    mean = s.astype(np.float64).mean((2, 3), keepdims=True).astype(F16).astype(F32)
    e = np.exp(logits.astype(np.float64) - logits.max())
    soft = (e / e.sum()).astype(F16).astype(F32)
    ulps = [np.abs(a.reshape(-1).astype(F16).view(np.int16).astype(int) - b.reshape(-1).astype(F16).view(np.int16))
            for a, b in ((p, mean), (t['y__fp16'], soft))]
    report(f'ascend fp16 operators: Add equal; AveragePool {int((ulps[0] > 0).sum())} of {ulps[0].size}, Softmax '
           f'{int((ulps[1] > 0).sum())} of {ulps[1].size} differ from the exact value rounded once')
    assert max(ulps[0].max(), ulps[1].max()) <= 1
    exact = np.maximum(0, convolve_float(x, constants['w'], 1) + constants['b'].reshape(1, -1, 1, 1)) + convolve_float(
        x, constants['v'], 0)
    assert oracle.sqnr(s, exact) > 35


def convolve_float(x, w, pad):
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    return np.einsum('nchwij,ocij->nohw', windows, w)


def test_sixteen_channels_are_not_quantized_but_by_a_switch(tmp_path):
    rng = np.random.default_rng(5)
    save(tmp_path / 'm.onnx', [helper.make_node('Conv', ['x', 'w'], ['y'], 'few')],
         {'x': (1, 16, 4, 4)}, ['y'], {'w': rng.normal(0, 1, (8, 16, 1, 1)).astype(F32)})
    np.save(tmp_path / 'data.npy', rng.normal(0, 1, (4, 16, 4, 4)).astype(F32))
    table = pipeline.calibrate(tmp_path / 'm.onnx', tmp_path / 'data.npy', tmp_path / 't.yaml', samples=4)
    report = tmp_path / 'r.json'
    assert 'conv_f32' in deploy(tmp_path, '', '--report-json', report, table=table)
    node = next(n for n in json.loads(report.read_text())['float_nodes'] if n['node'] == 'few')
    assert '16 channels' in node['reason'] and 'mode: int8' in node['reason'], node
    for switch in ('layers: {few: {mode: int8}}', 'types: {Conv: {mode: int8}}'):
        assert 'conv_f32' not in deploy(tmp_path, switch, table=table)
    (tmp_path / 'c.yaml').write_text('layers: {few: {ascend: {scale_d: 0.1}}}')
    line = pipeline.fails('model_deploy', tmp_path / 'm.onnx', '--profile', 'ascend', '--config', tmp_path / 'c.yaml',
                          '-o', tmp_path / 'x.rshift')
    assert "'few' reads 16 channels" in line


@pytest.mark.parametrize('config, word', [
    ('layers: {soft: {ascend: {scale_d: 0.1}}}', "'soft': ascend is for Conv"),
    ('layers: {add: {ascend: {scale_w: 0.1}}}', "'add': ascend is for Conv"),
    ('layers: {conv: {ascend: {scale_w: [0.1, 0.2]}}}', '2 weight scales'),
    ('layers: {conv: {ascend: {scale_d: -1}}}', 'expected a number > 0'),
    ('layers: {conv: {ascend: {scale_d: 0.1, offset_d: 0.5}}}', 'whole number'),
    ('layers: {conv: {ascend: {offset_d: 3}}}', 'offset_d without scale_d'),
    ('layers: {conv: {ascend: {round_mode: Up}}}', 'expected Round'),
    ('layers: {conv: {ascend: {scale_d: 0.1}}, branch: {ascend: {scale_d: 0.2}}}', 'different attributes'),
    ('layers: {conv: {ascend: {scale: 1.0e+6, scale_type: float16, sqrt_mode: false}}, '
     'branch: {ascend: {scale: 1.0e+6, scale_type: float16, sqrt_mode: false}}}', 'float16'),
    ('layers: {conv: {profile: tflite}}', 'ascend is for a whole model'),
])
def test_what_it_cannot_do_is_an_error_with_the_name(config, word, tmp_path):
    half_net(tmp_path)
    (tmp_path / 'c.yaml').write_text(config)
    line = pipeline.fails('model_deploy', tmp_path / 'm.onnx', '--profile', 'ascend', '--calibration', tmp_path / 't.yaml',
                          '--config', tmp_path / 'c.yaml', '-o', tmp_path / 'x.rshift')
    assert word in line, line
    assert not (tmp_path / 'x.rshift').exists()


def test_ascend_attributes_under_another_profile_are_an_error(tmp_path):
    half_net(tmp_path)
    (tmp_path / 'c.yaml').write_text('layers: {conv: {ascend: {round_mode: Floor}}}')
    line = pipeline.fails('model_deploy', tmp_path / 'm.onnx', '--calibration', tmp_path / 't.yaml', '--config',
                          tmp_path / 'c.yaml', '-o', tmp_path / 'x.rshift')
    assert 'under profile tpu' in line


CHAINS = {
    'conv': ([(40, 20, 3, 3, 1), (40, 1, 3, 3, 40), (18, 20, 1, 1, 2)], (1, 20, 10, 9)),
    'fc': ([(30, 20), (25, 30)], (4, 20)),
}


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
@pytest.mark.parametrize('kind', CHAINS)
def test_exported_files_compute_the_same(kind, mode, tmp_path, report):
    rng = np.random.default_rng(6)
    shapes, x_shape = CHAINS[kind]
    nodes, constants, source = [], {}, 'x'
    for i, shape in enumerate(shapes):
        constants[f'w{i}'] = rng.normal(0, 0.3, shape[:4]).astype(F32)
        constants[f'b{i}'] = rng.normal(0, 0.5, shape[0]).astype(F32)
        target = 'y' if i == len(shapes) - 1 else f't{i}'
        names = [source, f'w{i}', f'b{i}']
        if kind == 'fc':
            nodes.append(helper.make_node('Gemm', names, [target], f'layer/{i}', transB=1))
        else:
            nodes.append(helper.make_node('Conv', names, [f'c{i}'], f'layer/{i}', group=shape[4],
                                          pads=[shape[2] // 2] * 4, strides=[1, 1 + i % 2]))
            nodes.append(helper.make_node('Relu', [f'c{i}'], [target], f'relu/{i}'))
        source = target
    save(tmp_path / 'm.onnx', nodes, {'x': x_shape}, ['y'], constants)
    np.save(tmp_path / 'data.npy', rng.normal(0, 1, (8, *x_shape[1:])).astype(F32))
    table = pipeline.calibrate(tmp_path / 'm.onnx', tmp_path / 'data.npy', tmp_path / 't.yaml', samples=8)
    extra = ['--calibration', table, '--mode', mode]
    if mode == 'asymmetric':
        (tmp_path / 'c.yaml').write_text('types: {%s: {ascend: {bias: int32, round_mode: Floor}}}' % (
            'MatMul' if kind == 'fc' else 'Conv'))
        extra += ['--config', tmp_path / 'c.yaml']
    pipeline.run('model_tool', 'export', tmp_path / 'm.onnx', '--format', 'ascend', *extra, '-o', tmp_path / 'out')
    pipeline.run('model_deploy', tmp_path / 'm.onnx', '--profile', 'ascend', '--no-check', *extra, '-o',
                 tmp_path / 'm.rshift')
    x = rng.normal(0, 1, x_shape).astype(F32)
    np.save(tmp_path / 'x.npy', x)
    subprocess.run([sys.executable, pipeline.ROOT / 'tests/e2e/recompute_ascend.py', tmp_path / 'out', tmp_path / 'x.npy',
                    tmp_path / 'y.npy'], check=True)
    wanted, actual = np.load(tmp_path / 'y.npy'), pipeline.infer(tmp_path / 'm.rshift', {'x': x}, tmp_path)['y']
    report(f'ascend export {kind} {mode}: {wanted.size} fp16 results, {int((wanted != actual).sum())} differ')
    assert wanted.shape == actual.shape and (wanted == actual).all()
    if mode == 'symmetric':  # what came out goes in again, without a table
        (tmp_path / 'again.yaml').write_text('ascend_records: out/records.txt\n')
        pipeline.run('model_deploy', tmp_path / 'm.onnx', '--profile', 'ascend', '--no-check', '--config',
                     tmp_path / 'again.yaml', '-o', tmp_path / 'again.rshift')
        assert (pipeline.infer(tmp_path / 'again.rshift', {'x': x}, tmp_path)['y'] == actual).all()
