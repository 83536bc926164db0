"""FakeQuantize: the float operator on every element, the integer program made of it without calibration, and
OpenVINO beside both."""

import subprocess

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import fakequantize_graphs as graphs
import pipeline
from test_emit_qdq import folder  # noqa: F401, pylint: disable=unused-import
from test_qdq import deploy

PYTHON = pipeline.ROOT / 'build/benchvenv/bin/python'
ORACLE = pipeline.ROOT / 'tests/e2e/openvino_oracle.py'
SEEDS = range(24)


def openvino(*args):
    """Runs the oracle, or skips."""
    if not PYTHON.exists() or subprocess.run([PYTHON, '-c', 'import openvino'], capture_output=True, check=False).returncode:
        pytest.skip('build/benchvenv has no openvino: python3 -m venv build/benchvenv && build/benchvenv/bin/pip install openvino nncf')
    done = subprocess.run([PYTHON, ORACLE, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_f32_equals_numpy_on_every_element(tmp_path, report):
    graph, cases, shape = graphs.single_operators(41)
    graph.save(tmp_path / 'm.onnx')
    pipeline.deploy(tmp_path / 'm.onnx', tmp_path / 'p.rshift', mode='f32')
    x = graphs.values_around(shape, cases, 42)
    actual = pipeline.infer(tmp_path / 'p.rshift', {'x': x}, tmp_path)
    total = 0
    for name, (text, ends, levels) in cases.items():
        expected = graphs.fake_quantize(x, *ends, levels)
        assert np.array_equal(actual[name].view(np.uint32), expected.view(np.uint32)), text
        total += expected.size
    report(f'FakeQuantize in F32: {len(cases)} operators, {total} elements, 0 differ from numpy')


def test_openvino_agrees_within_float_error(tmp_path, report):
    # Its CPU plugin knows channels only, and ranges in order.
    graph, cases, shape = graphs.single_operators(43, ('tensor', 'channel', 'in only', 'out only'))
    graph.save(tmp_path / 'm.onnx')
    x = np.random.default_rng(44).uniform(-4, 4, shape).astype(np.float32)
    np.savez(tmp_path / 'x.npz', x=x[None])
    openvino('run', tmp_path / 'm.onnx', tmp_path / 'x.npz', tmp_path / 'y.npz')
    theirs = pipeline.arrays_of(tmp_path / 'y.npz')
    wrong = total = 0
    for name, (_, ends, levels) in cases.items():
        ours = graphs.fake_quantize(x, *ends, levels)
        step = np.max(np.abs(ends[3] - ends[2])) / (levels - 1)
        # At a tie of its own float arithmetic a value may go to the next level.
        wrong += int((np.abs(theirs[name][0] - ours) > 1e-5).sum())
        total += ours.size
        assert np.max(np.abs(theirs[name][0] - ours)) <= step * 1.001 + 1e-5, cases[name][0]
    report(f'FakeQuantize: {total} elements, {wrong} go to another level in OpenVINO')
    assert wrong <= total / 500  # 65,536 levels are near the end of binary32


def run_chain(seed, exact, tmp_path, *extra):
    case = graphs.chain(seed, exact)
    case.graph.save(tmp_path / 'm.onnx')
    told = deploy(tmp_path / 'm.onnx', tmp_path / 'q.rshift', '--no-check', '--profile', 'openvino', *extra)
    graphs.chain(seed, exact, spelled=exact).graph.save(tmp_path / 'm.onnx')
    pipeline.deploy(tmp_path / 'm.onnx', tmp_path / 'f.rshift', mode='f32')
    rng = np.random.default_rng(seed + 1000)
    x = {name: rng.uniform(-2, 2, shape).astype(np.float32) for name, shape in case.graph.inputs}
    f, q = (next(iter(pipeline.infer(tmp_path / f'{p}.rshift', x, tmp_path).values())) for p in 'fq')
    return case, told, x, f, q


def computing(program):
    """Commands that compute something: not those that turn reals into integers, move or turn them back."""
    lines = pipeline.run('model_tool', 'disasm', program).splitlines()
    opcodes = [line.split()[1] for line in lines if ' dst=' in line]
    reading = ('quantize', 'dequantize', 'transpose')
    # Fewer levels than a byte has: the input is clipped before it is quantized.
    return [op for i, op in enumerate(opcodes) if op not in reading and (op, opcodes[i + 1]) != ('clip_f32', 'quantize')]


@pytest.mark.parametrize('seed', SEEDS)
def test_fused_chain_equals_the_float_one(seed, tmp_path, report):
    """Exact where every scale is a power of two, else within one quantum; one command in any case."""
    for exact in (True, False):
        case, told, _, f, q = run_chain(seed, exact, tmp_path)
        steps = np.abs(f - q) / case.unit
        before, after = computing(tmp_path / 'f.rshift'), computing(tmp_path / 'q.rshift')
        report(f'chain {seed} {"exact" if exact else "any  "} {case.text}: {len(before)} -> {len(after)} commands, '
               f'{int((steps > 0.01).sum())} of {steps.size} differ')
        assert [n for n in told['float_nodes'] if n['op'] != 'Clip'] == [], (case.text, told['float_nodes'])
        assert after == ['conv'], case.text
        assert len(np.unique(q)) > 2 or '16 levels' in case.text, case.text
        assert steps.max() < (0.01 if exact else 1.01), case.text


def test_conv_tanh_sum_scale_shift_is_one_command(tmp_path):
    graph = graphs.empty()
    node = helper.make_node
    graph.inputs += [('x', (1, 4, 6, 5)), ('skip', (1, 6, 6, 5))]
    graph.fake('x', 'xq', graphs.ends_of(0.02, 256, True), 256)
    graph.fake('skip', 'skipq', graphs.ends_of(0.01, 256, False), 256)
    graph.constant('w', np.random.default_rng(3).normal(size=(6, 4, 3, 3)).astype(np.float32))
    graph.fake('w', 'wq', graphs.ends_of(0.02, 255, True), 255)
    graph.constant('a', np.float32(0.75))
    graph.constant('b', np.float32(-0.25))
    graph.nodes += [node('Conv', ['xq', 'wq'], ['c'], pads=[1] * 4), node('Tanh', ['c'], ['t']), node('Add', ['t', 'skipq'], ['s']),
                    node('Mul', ['s', 'a'], ['m']), node('Add', ['m', 'b'], ['d'])]
    graph.fake('d', 'y', graphs.ends_of(0.02, 256, True), 256)
    graph.outputs.append('y')
    graph.save(tmp_path / 'm.onnx')
    for profile in ('openvino', 'onednn', 'tpu'):
        deploy(tmp_path / 'm.onnx', tmp_path / 'q.rshift', '--no-check', '--profile', profile)
        assert computing(tmp_path / 'q.rshift') == ['conv']
        text = pipeline.run('model_tool', 'disasm', tmp_path / 'q.rshift')
        assert 'post_op' in text or 'list=' in text
    pipeline.deploy(tmp_path / 'm.onnx', tmp_path / 'f.rshift', mode='f32')
    rng = np.random.default_rng(4)
    x = {name: rng.uniform(-2, 2, shape).astype(np.float32) for name, shape in graph.inputs}
    f, q = (next(iter(pipeline.infer(tmp_path / f'{p}.rshift', x, tmp_path).values())) for p in 'fq')
    assert np.abs(f - q).max() < 0.02 * 1.01


def one_conv(tmp_path, ends, out_ends, levels=256, behind=()):
    """x -> FQ -> Conv -> FQ -> operators of `behind` (name, constant)."""
    graph = graphs.empty()
    graph.inputs.append(('x', (1, 4, 6, 5)))
    graph.fake('x', 'xq', ends, levels)
    graph.constant('w', np.random.default_rng(3).normal(size=(6, 4, 3, 3)).astype(np.float32))
    graph.fake('w', 'wq', graphs.ends_of(0.02, 255, True), 255)
    graph.nodes.append(helper.make_node('Conv', ['xq', 'wq'], ['c'], pads=[1] * 4))
    y = graph.fake('c', 'cq', out_ends, 256)
    for i, (op, value) in enumerate(behind):
        graph.constant(f'k{i}', np.asarray(value, np.float32))
        graph.nodes.append(helper.make_node(op, [y, f'k{i}'], [f'z{i}']))
        y = f'z{i}'
    graph.outputs.append(y)
    graph.save(tmp_path / 'm.onnx')
    return np.random.default_rng(5).uniform(-2, 2, (1, 4, 6, 5)).astype(np.float32)


def test_ranges_are_tuned_to_integer_zero_points_and_reported(tmp_path):
    x = one_conv(tmp_path, [-1.0, 1.0] * 2, [-3.0, 5.0] * 2)
    told = deploy(tmp_path / 'm.onnx', tmp_path / 'q.rshift', '--no-check')
    changes = {c['tensor']: c for c in told['range_changes']}
    assert set(changes) == {'xq', 'cq'}
    for c in changes.values():
        low, high = c['after']['low'], c['after']['high']
        zero = -low / (high - low) * 255
        assert c['rule'] == 'FakeQuantize' and abs(zero - round(zero)) < 1e-3
        assert low <= c['before']['low'] and high >= c['before']['high']
        assert high - low <= (c['before']['high'] - c['before']['low']) * (1 + 1 / 127)
    text = pipeline.run('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'q.rshift', '--no-check')
    assert "range of 'xq' widened so that its zero point is an integer: [-1, 1] becomes" in text
    pipeline.deploy(tmp_path / 'm.onnx', tmp_path / 'f.rshift', mode='f32')
    f, q = (next(iter(pipeline.infer(tmp_path / f'{p}.rshift', {'x': x}, tmp_path).values())) for p in 'fq')
    assert pipeline.cosine(f, q) > 0.999


def test_quantize_only_form_and_its_dequantization_become_scale_and_zero_point(tmp_path):
    """Levels out (0 to 255), then Subtract and Multiply: OpenVINO's form after its transformations."""
    scale, zero = 0.05, 121
    plain = [-zero * scale, (255 - zero) * scale] * 2
    quantize_only = [*plain[:2], 0.0, 255.0]
    x = one_conv(tmp_path, graphs.ends_of(0.02, 256, True), plain)
    deploy(tmp_path / 'm.onnx', tmp_path / 'a.rshift', '--no-check')
    one_conv(tmp_path, graphs.ends_of(0.02, 256, True), quantize_only, behind=[('Sub', zero), ('Mul', scale)])
    told = deploy(tmp_path / 'm.onnx', tmp_path / 'b.rshift', '--no-check')
    assert told['float_nodes'] == [] and computing(tmp_path / 'b.rshift') == ['conv']
    a, b = (next(iter(pipeline.infer(tmp_path / f'{p}.rshift', {'x': x}, tmp_path).values())) for p in 'ab')
    assert np.abs(a - b).max() <= 1e-5


def test_another_output_range_is_the_producers_output_scale(tmp_path):
    x = one_conv(tmp_path, graphs.ends_of(0.02, 256, True), [-1.28, 1.27, -12.8, 12.7])
    told = deploy(tmp_path / 'm.onnx', tmp_path / 'q.rshift', '--no-check')
    assert told['float_nodes'] == [] and computing(tmp_path / 'q.rshift') == ['conv']
    pipeline.deploy(tmp_path / 'm.onnx', tmp_path / 'f.rshift', mode='f32')
    f, q = (next(iter(pipeline.infer(tmp_path / f'{p}.rshift', {'x': x}, tmp_path).values())) for p in 'fq')
    assert np.abs(f - q).max() < 0.1 * 1.01 and np.abs(f).max() > 5


def residual(tmp_path):
    """conv -> FQ -> Add with the skip -> Relu -> FQ."""
    graph = graphs.empty()
    node = helper.make_node
    graph.inputs.append(('x', (1, 4, 6, 5)))
    graph.fake('x', 'xq', graphs.ends_of(0.02, 256, True), 256)
    graph.constant('w', np.random.default_rng(3).normal(size=(4, 4, 3, 3)).astype(np.float32) / 4)
    graph.fake('w', 'wq', graphs.ends_of(0.01, 255, True), 255)
    graph.nodes.append(node('Conv', ['xq', 'wq'], ['c'], pads=[1] * 4))
    graph.fake('c', 'cq', graphs.ends_of(0.03, 256, True), 256)
    graph.nodes += [node('Add', ['cq', 'xq'], ['s']), node('Relu', ['s'], ['r'])]
    graph.fake('r', 'y', graphs.ends_of(0.02, 256, False), 256)
    graph.outputs.append('y')
    graph.save(tmp_path / 'm.onnx')
    return np.random.default_rng(5).uniform(-2, 2, (1, 4, 6, 5)).astype(np.float32)


def test_round_in_a_residual_is_dropped_by_a_switch_only(tmp_path, report):
    x = residual(tmp_path)
    pipeline.deploy(tmp_path / 'm.onnx', tmp_path / 'f.rshift', mode='f32')
    deploy(tmp_path / 'm.onnx', tmp_path / 'q.rshift', '--no-check', '--profile', 'openvino')
    told = deploy(tmp_path / 'm.onnx', tmp_path / 'd.rshift', '--no-check', '--profile', 'openvino', '--drop-residual-round')
    f, q, d = (next(iter(pipeline.infer(tmp_path / f'{p}.rshift', {'x': x}, tmp_path).values())) for p in 'fqd')
    assert any('is not rounded before the Add' in note['text'] for note in told['notes'])
    assert len(computing(tmp_path / 'd.rshift')) < len(computing(tmp_path / 'q.rshift'))
    assert computing(tmp_path / 'd.rshift') == ['conv']
    moved = np.abs(f - d)
    report(f'round in a residual dropped: {int((np.abs(q - d) > 0.01).sum())} of {q.size} numbers differ, at most {moved.max() / 0.02:.0f} quanta')
    assert np.abs(f - q).max() <= 0.02 * 1.01
    assert moved.max() <= 0.03 / 2 + 0.02 * 1.01 and (np.abs(q - d) > 0.01).any()


def test_exported_fakequantize_is_read_again(folder, tmp_path):  # noqa: F811
    """--emit-fakequantize, deployed without calibration, gives what the first program gives."""
    pipeline.deploy(folder / 'net.onnx', tmp_path / 'a.rshift', mode='symmetric', table=folder / 'net.table.yaml',
                    extra=('--emit-fakequantize', tmp_path / 'fq.onnx'))
    told = deploy(tmp_path / 'fq.onnx', tmp_path / 'b.rshift', '--no-check')
    assert not [n for n in told['float_nodes'] if n['op'] in ('Conv', 'MatMul')] and told['range_changes'] == []
    x = np.load(folder / 'x.npy')[:8]
    np.save(tmp_path / 'x.npy', x)
    outputs = []
    for program in 'ab':
        pipeline.run('model_runner', tmp_path / f'{program}.rshift', '--dataset', tmp_path / 'x.npy', '--output', tmp_path / 'y.npz')
        outputs.append(pipeline.single(tmp_path / 'y.npz'))
    assert pipeline.cosine(*outputs) > 0.999


@pytest.mark.parametrize('change, expected', [
    (lambda node, constants: node.attribute[0].__setattr__('i', 1), 'has 1 levels, expected 2 to 65536'),
    (lambda node, constants: node.attribute[0].__setattr__('i', 70000), 'has 70000 levels, expected 2 to 65536'),
    (lambda node, constants: constants[0].CopyFrom(numpy_helper.from_array(np.zeros((1, 3, 1, 1), np.float32), constants[0].name)),
     'does not broadcast|cannot be broadcast|broadcast'),
    (lambda node, constants: constants[1].CopyFrom(numpy_helper.from_array(np.float32(np.inf), constants[1].name)),
     'input_high holds inf, expected finite numbers'),
    (lambda node, constants: node.input.pop(), 'input 4'),
])
def test_wrong_nodes_are_refused_by_name(change, expected, tmp_path):
    import re
    graph = graphs.empty()
    graph.inputs.append(('x', (1, 4, 6, 5)))
    graph.fake('x', 'y', [-1.0, 1.0] * 2, 256)
    graph.outputs.append('y')
    change(graph.nodes[0], graph.constants)
    graph.save(tmp_path / 'm.onnx')
    error = pipeline.fails('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'p.rshift', '--mode', 'f32')
    assert re.search(expected, error) and 'FakeQuantize' in error, error


def test_calibration_refuses_such_a_model(tmp_path):
    one_conv(tmp_path, [-1.28, 1.27] * 2, [-1.28, 1.27] * 2)
    np.save(tmp_path / 'x.npy', np.zeros((2, 4, 6, 5), np.float32))
    error = pipeline.fails('model_calibrate', tmp_path / 'm.onnx', '--dataset', tmp_path / 'x.npy', '-o', tmp_path / 't.yaml')
    assert 'quantiz' in error
