"""What calibration makes of masks, of functions with known bounds, and of data that hardly ever
reaches the end of a range; ranges against numpy's."""

import json
import re

import numpy as np
import onnxruntime
import pytest
from onnx import helper

import pipeline
from little_onnx import constant, save

SEED = 5
TOKENS, WIDTH = 12, 8

pytestmark = pytest.mark.sanitized


def attention(path, masking, outputs=('y',), inputs=None):
    """One head over x: 1 x TOKENS x WIDTH; `masking` makes 'masked' of 'scores'."""
    random = np.random.default_rng(SEED)
    weights = [constant(n, random.normal(0, .6, (WIDTH, WIDTH)).astype(np.float32)) for n in 'qkvo']
    nodes = [helper.make_node('MatMul', ['x', n], [n + '_x']) for n in 'qkv']
    nodes += [helper.make_node('Transpose', ['k_x'], ['k_t'], perm=[0, 2, 1]),
              helper.make_node('MatMul', ['q_x', 'k_t'], ['scores'])]
    more, constants = masking()
    nodes += more
    nodes += [helper.make_node('Softmax', ['masked'], ['p'], axis=-1),
              helper.make_node('MatMul', ['p', 'v_x'], ['mixed']),
              helper.make_node('MatMul', ['mixed', 'o'], ['y'])]
    return save(path, nodes, {'x': (1, TOKENS, WIDTH), **(inputs or {})}, outputs,
                weights + constants)


def causal_sum(lowest=-np.inf):
    mask = np.triu(np.full((TOKENS, TOKENS), lowest, np.float32), 1)
    return [helper.make_node('Add', ['scores', 'mask'], ['masked'])], [constant('mask', mask)]


def masked_fill(lowest=-np.inf):
    allowed = np.tril(np.ones((TOKENS, TOKENS), bool))
    return ([helper.make_node('Where', ['allowed', 'scores', 'lowest'], ['masked'])],
            [constant('allowed', allowed), constant('lowest', np.float32(lowest))])


def scaled_after_the_mask(lowest=-np.inf):
    nodes, constants = causal_sum(lowest)
    nodes[0].output[0] = 'early'
    return (nodes + [helper.make_node('Mul', ['early', 'factor'], ['masked'])],
            constants + [constant('factor', np.float32(0.35))])


def clamped_after_the_mask(lowest):
    """As OPT has it: no sum may fall below the lowest float."""
    nodes, constants = causal_sum(lowest)
    nodes[0].output[0] = 'early'
    return (nodes + [helper.make_node('Max', ['early', 'floor'], ['masked'])],
            constants + [constant('floor', np.finfo(np.float32).min)])


def computed_mask(lowest):
    """As BERT has it: (1 - mask) * lowest, of a mask that is an input."""
    return ([helper.make_node('Sub', ['one', 'mask'], ['hidden']),
             helper.make_node('Mul', ['hidden', 'lowest'], ['bias']),
             helper.make_node('Add', ['scores', 'bias'], ['masked'])],
            [constant('one', np.float32(1)), constant('lowest', np.float32(lowest))])


def entries_of(table):
    """{tensor: {min, max, threshold, low, high, method, infinities}} of a table we wrote, without what it says of the ranges."""
    entries = {}
    for name, fields in re.findall(r'^  (\S+): \{(.*?), symmetric: \{.*\}$', table.read_text(), re.MULTILINE):
        pairs = dict(pair.split(': ') for pair in fields.split(', '))
        entries[name.strip('"')] = {key: value if key == 'method' else float(value)
                         for key, value in pairs.items()}
    return entries


def reference(model, values):
    session = onnxruntime.InferenceSession(str(model), providers=['CPUExecutionProvider'])
    return session.run(['y'], {'x': values})[0]


def data(folder, count, shape, scale=1.0):
    values = np.random.default_rng(SEED).normal(0, scale, (count, *shape)).astype(np.float32)
    np.save(folder / 'x.npy', values)
    return values


@pytest.mark.parametrize('masking', [causal_sum, masked_fill, scaled_after_the_mask])
@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_masked_attention_calibrates_and_deploys(tmp_path, masking, mode):
    model = attention(tmp_path / 'net.onnx', masking)
    values = data(tmp_path, 20, (TOKENS, WIDTH))
    table = tmp_path / 'table.yaml'
    said = pipeline.run('model_calibrate', model, '--dataset', tmp_path / 'x.npy', '-o', table)
    masked = TOKENS * (TOKENS - 1) // 2 * 20
    assert f"'masked' ({masked})" in said
    entries = entries_of(table)
    assert entries['masked']['infinities'] == masked
    assert 'infinities' not in entries['scores']
    assert entries['masked']['min'] > -100
    pipeline.deploy(model, tmp_path / 'net.rshift', mode=mode, table=table)
    got = pipeline.infer(tmp_path / 'net.rshift', {'x': values[:1]}, tmp_path)['y']
    expected = reference(model, values[:1])
    assert pipeline.cosine(got, expected) > 0.99


@pytest.mark.parametrize('masking', [causal_sum, masked_fill, scaled_after_the_mask,
                                     clamped_after_the_mask])
@pytest.mark.parametrize('lowest', [-1e4, -1e9, np.finfo(np.float32).min])
@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_finite_masks_are_left_out_and_get_no_probability(tmp_path, masking, lowest, mode):
    model = attention(tmp_path / 'net.onnx', lambda: masking(lowest), outputs=['y', 'p'])
    values = data(tmp_path, 20, (TOKENS, WIDTH))
    table = tmp_path / 'table.yaml'
    said = pipeline.run('model_calibrate', model, '--dataset', tmp_path / 'x.npy', '-o', table)
    masked = TOKENS * (TOKENS - 1) // 2 * 20
    assert f"'masked' ({masked})" in said
    found = entries_of(table)['masked']
    assert found['infinities'] == masked
    assert found['min'] > -100
    infinite = attention(tmp_path / 'inf.onnx', lambda: masking(-np.inf), outputs=['y', 'p'])
    if masking is not clamped_after_the_mask:  # the range is that of the same model with -inf
        other = pipeline.calibrate(infinite, tmp_path / 'x.npy', tmp_path / 'inf.yaml')
        assert entries_of(other)['masked'] == found
    pipeline.deploy(model, tmp_path / 'net.rshift', mode=mode, table=table)
    got = pipeline.infer(tmp_path / 'net.rshift', {'x': values[:1]}, tmp_path)
    check_probabilities(model, {'x': values[:1]}, got, np.tril(np.ones((TOKENS, TOKENS), bool)))


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_a_constant_mask_of_100_is_a_mask_and_other_constants_are_not(tmp_path, mode):
    """Swin adds -100 between its windows: in 8 bits of that range a step would be near half a unit of a logarithm."""
    model = attention(tmp_path / 'net.onnx', lambda: causal_sum(-100), outputs=['y', 'p'])
    values = data(tmp_path, 20, (TOKENS, WIDTH))
    table = pipeline.calibrate(model, tmp_path / 'x.npy', tmp_path / 'table.yaml')
    found = entries_of(table)['masked']
    assert found['infinities'] == TOKENS * (TOKENS - 1) // 2 * 20 and found['min'] > -50
    pipeline.deploy(model, tmp_path / 'net.rshift', mode=mode, table=table)
    got = pipeline.infer(tmp_path / 'net.rshift', {'x': values[:1]}, tmp_path)['p']
    expected = onnxruntime.InferenceSession(str(model), providers=['CPUExecutionProvider']).run(['p'], {'x': values[:1]})[0]
    assert got[expected < 1e-30].max() < 1e-30
    np.testing.assert_allclose(got, expected, atol=0.05)
    other = attention(tmp_path / 'bias.onnx', lambda: causal_sum(-20))
    entry = entries_of(pipeline.calibrate(other, tmp_path / 'x.npy', tmp_path / 'bias.yaml'))['masked']
    assert 'infinities' not in entry and entry['min'] < -20


def check_probabilities(model, inputs, got, allowed):
    session = onnxruntime.InferenceSession(str(model), providers=['CPUExecutionProvider'])
    y, p = session.run(['y', 'p'], inputs)
    allowed = np.broadcast_to(allowed, p.shape)
    assert (p[~allowed] == 0).all()
    assert (got['p'][~allowed] == 0).all()
    np.testing.assert_allclose(got['p'][allowed], p[allowed], atol=0.05)
    assert pipeline.cosine(got['y'], y) > 0.99


@pytest.mark.parametrize('lowest', [-1e4, -1e9, np.finfo(np.float32).min])
@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_a_mask_computed_from_an_input_is_left_out(tmp_path, lowest, mode):
    model = attention(tmp_path / 'net.onnx', lambda: computed_mask(lowest), outputs=['y', 'p'],
                      inputs={'mask': (1, TOKENS)})
    values = data(tmp_path, 20, (TOKENS, WIDTH))
    lengths = np.random.default_rng(SEED).integers(TOKENS // 2, TOKENS + 1, 20)
    masks = (np.arange(TOKENS) < lengths[:, None]).astype(np.float32)
    masks[0, TOKENS - 3:] = 0
    np.savez(tmp_path / 'x.npz', x=values, mask=masks)
    table = tmp_path / 'table.yaml'
    said = pipeline.run('model_calibrate', model, '--dataset', tmp_path / 'x.npz', '-o', table)
    padding = int((masks == 0).sum())
    assert f"'bias' ({padding}), 'masked' ({padding * TOKENS})" in said
    entries = entries_of(table)
    assert entries['bias']['min'] == 0 and entries['masked']['min'] > -100
    pipeline.deploy(model, tmp_path / 'net.rshift', mode=mode, table=table)
    inputs = {'x': values[:1], 'mask': masks[:1]}
    got = pipeline.infer(tmp_path / 'net.rshift', inputs, tmp_path)
    check_probabilities(model, inputs, got, masks[:1, None, :] == 1)


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_a_mask_that_is_an_input_is_left_out(tmp_path, mode):
    model = attention(tmp_path / 'net.onnx',
                      lambda: ([helper.make_node('Add', ['scores', 'mask'], ['masked'])], []),
                      outputs=['y', 'p'], inputs={'mask': (1, 1, TOKENS)})
    values = data(tmp_path, 20, (TOKENS, WIDTH))
    masks = np.zeros((20, 1, TOKENS), np.float32)
    masks[:, :, TOKENS - 4:] = -1e4
    np.savez(tmp_path / 'x.npz', x=values, mask=masks)
    table = tmp_path / 'table.yaml'
    said = pipeline.run('model_calibrate', model, '--dataset', tmp_path / 'x.npz', '-o', table)
    assert f"'mask' (80), 'masked' ({80 * TOKENS})" in said
    pipeline.deploy(model, tmp_path / 'net.rshift', mode=mode, table=table)
    inputs = {'x': values[:1], 'mask': masks[:1]}
    got = pipeline.infer(tmp_path / 'net.rshift', inputs, tmp_path)
    check_probabilities(model, inputs, got, masks[:1] == 0)


def test_very_negative_values_that_no_softmax_reads_stay_in_the_range(tmp_path):
    model = save(tmp_path / 'net.onnx',
                 [helper.make_node('Mul', ['x', 'factor'], ['large']),
                  helper.make_node('Softmax', ['large'], ['p']),
                  helper.make_node('Relu', ['large'], ['y'])],
                 {'x': (1, 16)}, ['p', 'y'], [constant('factor', np.float32(9e3))])
    values = data(tmp_path, 10, (16,))
    table = pipeline.calibrate(model, tmp_path / 'x.npy', tmp_path / 'table.yaml')
    found = entries_of(table)['large']
    assert 'infinities' not in found
    assert found['min'] == pytest.approx(values.min() * 9e3)


def test_other_infinities_stay_an_error_that_names_tensor_and_sample(tmp_path):
    model = save(tmp_path / 'net.onnx',
                 [helper.make_node('Mul', ['x', 'big'], ['scaled']),
                  helper.make_node('Relu', ['scaled'], ['y'])],
                 {'x': (1, 4)}, ['y'], [constant('big', np.float32(3e38))])
    data(tmp_path, 10, (4,), scale=5)
    error = pipeline.fails('model_calibrate', model, '--dataset', tmp_path / 'x.npy', '-o',
                           tmp_path / 't.yaml')
    assert "tensor 'scaled', sample 'x.npy:" in error and 'inf found' in error


def test_known_functions_have_known_ranges_whatever_the_data(tmp_path):
    nodes = [helper.make_node(op, ['x'], [op.lower()])
             for op in ('Sigmoid', 'Tanh', 'HardSigmoid', 'Softmax', 'HardSwish')]
    nodes += [helper.make_node('MaxPool', ['sigmoid'], ['pooled'], kernel_shape=[2, 2]),
              helper.make_node('Concat', ['pooled', 'pooled'], ['joined'], axis=1),
              helper.make_node('Mul', ['sigmoid', 'x'], ['product'])]
    outputs = ['tanh', 'hardsigmoid', 'softmax', 'hardswish', 'joined', 'product']
    model = save(tmp_path / 'net.onnx', nodes, {'x': (1, 3, 4, 4)}, outputs)
    np.save(tmp_path / 'x.npy', np.full((9, 3, 4, 4), -12, np.float32))  # "no text anywhere"
    table = pipeline.calibrate(model, tmp_path / 'x.npy', tmp_path / 'table.yaml')
    entries = entries_of(table)
    for name in ('sigmoid', 'hardsigmoid', 'softmax', 'pooled', 'joined'):
        found = entries[name]
        assert (found['low'], found['high'], found['threshold']) == (0, 1, 1), name
        assert found['method'] == 'known'
    assert (entries['tanh']['low'], entries['tanh']['high']) == (-1, 1)
    assert entries['hardswish']['method'] == 'kl'
    assert entries['product']['method'] in ('kl', 'known') and entries['product']['low'] > -1


def test_statistics_of_moved_and_joined_tensors_are_those_of_their_elements(tmp_path):
    nodes = [helper.make_node('Relu', ['x'], ['r']),
             helper.make_node('Neg', ['r'], ['n']),
             helper.make_node('Transpose', ['n'], ['t'], perm=[0, 1, 3, 2]),
             helper.make_node('Concat', ['r', 't', 'r'], ['joined'], axis=1),
             helper.make_node('Reshape', ['joined', 'shape'], ['y'])]
    model = save(tmp_path / 'net.onnx', nodes, {'x': (1, 3, 5, 5)}, ['y'],
                 [constant('shape', np.array([1, -1]))])
    values = data(tmp_path, 30, (3, 5, 5))
    statistics = tmp_path / 'net.stats'
    pipeline.run('model_calibrate', model, '--dataset', tmp_path / 'x.npy', '--method', 'minmax',
                 '--statistics', statistics, '-o', tmp_path / 'table.yaml')
    entries = entries_of(tmp_path / 'table.yaml')
    relu = np.maximum(values, 0)
    for name, low, high in (('r', 0, relu.max()), ('joined', -relu.max(), relu.max()),
                            ('y', -relu.max(), relu.max())):
        assert (entries[name]['min'], entries[name]['max']) == (pytest.approx(low),
                                                                pytest.approx(high)), name
    summary = json.loads(pipeline.run('model_tool', 'stats', statistics, '--json'))
    counts = {tensor['name']: tensor['count'] for tensor in summary['tensors']}
    assert counts['y'] == counts['joined'] == 3 * counts['r'] == 3 * values.size


def test_a_range_that_one_sample_decides_is_listed(tmp_path):
    model = save(tmp_path / 'net.onnx', [helper.make_node('Relu', ['x'], ['y'])], {'x': (1, 64)},
                 ['y'])
    values = np.random.default_rng(SEED).uniform(-1, 1, (40, 64)).astype(np.float32)
    np.save(tmp_path / 'even.npy', values)
    values[17, 3] = 50
    np.save(tmp_path / 'x.npy', values)
    args = (model, '--method', 'minmax', '-o', tmp_path / 'table.yaml', '--dataset')
    said = pipeline.run('model_calibrate', *args, tmp_path / 'x.npy')
    assert "2 tensors: the range hangs on" in said
    assert re.search(r"'y': threshold 50 for 1 of 40 samples; the others stay below 1\b", said)
    summary = json.loads(pipeline.run('model_calibrate', *args, tmp_path / 'x.npy', '--json'))
    assert summary['thin_ranges'] == ['x', 'y']
    assert 'hangs' not in pipeline.run('model_calibrate', *args, tmp_path / 'even.npy')
