"""Equalization of channels: tables, shards and interruptions give the same bytes, and wrong ones are refused."""

import itertools
import json
import re

import numpy as np
import pytest
from onnx import helper

import oracle
import pipeline
from little_onnx import save

CHANNELS = 8
IMAGE = {'x': (1, 3, 16, 16)}


def separable_net(path, seed, octaves):
    """Conv, Relu6, depthwise Conv, Relu, Conv; channel c computed 2^octaves[c] times too large in between, its bound too."""
    rng = np.random.default_rng(seed)
    factor = np.exp2(np.asarray(octaves, np.float32)).astype(np.float32)
    weights = {
        'w1': rng.normal(size=(CHANNELS, 3, 3, 3)).astype(np.float32) * factor[:, None, None, None],
        'b1': rng.uniform(0, 1, CHANNELS).astype(np.float32) * factor,
        'w2': rng.normal(size=(CHANNELS, 1, 3, 3)).astype(np.float32),
        'b2': rng.uniform(0, 1, CHANNELS).astype(np.float32) * factor,
        'w3': rng.normal(size=(5, CHANNELS, 1, 1)).astype(np.float32) / factor[None, :, None, None],
        'b3': rng.normal(size=5).astype(np.float32)}
    pads = {'kernel_shape': [3, 3], 'pads': [1, 1, 1, 1]}
    nodes = [helper.make_node('Conv', ['x', 'w1', 'b1'], ['a'], **pads),
             helper.make_node('Relu', ['a'], ['a_relu']),
             helper.make_node('Conv', ['a_relu', 'w2', 'b2'], ['b'], group=CHANNELS, **pads),
             helper.make_node('Relu', ['b'], ['b_relu']),
             helper.make_node('Conv', ['b_relu', 'w3', 'b3'], ['y'])]
    return save(path, nodes, IMAGE, ['y'], weights)


def gated_net(path, seed, octaves):
    """Conv, SiLU, Conv; channel c of what the SiLU reads is 2^octaves[c] as large, and its weights behind it as much smaller."""
    rng = np.random.default_rng(seed)
    factor = np.exp2(np.asarray(octaves, np.float32)).astype(np.float32)
    weights = {
        'w1': rng.normal(size=(CHANNELS, 3, 3, 3)).astype(np.float32) * factor[:, None, None, None],
        'w2': rng.normal(size=(5, CHANNELS, 1, 1)).astype(np.float32) / factor[None, :, None, None]}
    nodes = [helper.make_node('Conv', ['x', 'w1'], ['a'], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
             helper.make_node('Sigmoid', ['a'], ['open']),
             helper.make_node('Mul', ['a', 'open'], ['b']),
             helper.make_node('Conv', ['b', 'w2'], ['y'])]
    return save(path, nodes, IMAGE, ['y'], weights)


def attention_net(path, seed, octaves, length=12, heads=2):
    """LayerNorm, attention, sum, product; of every head, value c is 2^octaves[c] too large, and the weights behind it as much too small."""
    rng, depth = np.random.default_rng(seed), len(octaves)
    width = heads * depth
    factor = np.tile(np.exp2(np.asarray(octaves, np.float32)), heads).astype(np.float32)
    weights = {name: (rng.normal(size=(width, width)) / width ** .5).astype(np.float32) for name in ('wq', 'wk', 'wv', 'wo')}
    weights |= {'g': rng.uniform(.5, 1.5, width).astype(np.float32), 'b': rng.normal(size=width).astype(np.float32) / 5,
                'cv': rng.normal(size=width).astype(np.float32) / 10 * factor, 'wy': rng.normal(size=(width, 5)).astype(np.float32),
                'split': np.array([1, length, heads, depth]), 'join': np.array([1, length, width])}
    weights['wv'] *= factor
    weights['wo'] /= factor[:, None]
    nodes = [helper.make_node('LayerNormalization', ['x', 'g', 'b'], ['n'], axis=-1)]
    for part, perm in (('q', [0, 2, 1, 3]), ('k', [0, 2, 3, 1]), ('v', [0, 2, 1, 3])):
        last = f'{part}1'
        nodes.append(helper.make_node('MatMul', ['n', f'w{part}'], [last]))
        if part == 'v':
            nodes.append(helper.make_node('Add', [last, 'cv'], ['v2']))
            last = 'v2'
        nodes.append(helper.make_node('Reshape', [last, 'split'], [f'{part}3']))
        nodes.append(helper.make_node('Transpose', [f'{part}3'], [part], perm=perm))
    nodes += [helper.make_node('MatMul', ['q', 'k'], ['s']), helper.make_node('Softmax', ['s'], ['p'], axis=-1),
              helper.make_node('MatMul', ['p', 'v'], ['m']), helper.make_node('Transpose', ['m'], ['m1'], perm=[0, 2, 1, 3]),
              helper.make_node('Reshape', ['m1', 'join'], ['m2']), helper.make_node('MatMul', ['m2', 'wo'], ['o']),
              helper.make_node('Add', ['x', 'o'], ['r']), helper.make_node('MatMul', ['r', 'wy'], ['y'])]
    return save(path, nodes, {'x': (1, length, width)}, ['y'], weights)


@pytest.fixture(scope='module')
def gated(tmp_path_factory):
    folder = tmp_path_factory.mktemp('gated')
    model = gated_net(folder / 'gated.onnx', 5, [0, 4, -4, 2, -3, 5, -5, 1])
    np.save(folder / 'x.npy', np.random.default_rng(6).normal(size=(60, 3, 16, 16)).astype(np.float32))
    return model, folder / 'x.npy'


@pytest.fixture(scope='module')
def hidden(tmp_path_factory):
    folder = tmp_path_factory.mktemp('hidden')
    model = separable_net(folder / 'hidden.onnx', 3, [0, 5, -6, 3, -2, 6, -4, 1])
    np.save(folder / 'x.npy', np.random.default_rng(4).normal(size=(60, 3, 16, 16)).astype(np.float32))
    return model, folder / 'x.npy'


def calibrate(hidden, table, *extra, samples=40):
    model, data = hidden
    return pipeline.run('model_calibrate', model, '--dataset', data, '--samples', samples, '-o', table, *extra)


def snr_db(hidden, table, mode, folder, *extra):
    """Of the outputs on samples behind those of the calibration."""
    model, data = hidden
    np.save(folder / 'fresh.npy', np.load(data)[40:])
    outputs = []
    for program, kind, options in (('f32', 'f32', ()), (mode, mode, ('--calibration', table, '--no-check', *extra))):
        pipeline.run('model_deploy', model, '--mode', kind, *options, '-o', folder / program)
        pipeline.run('model_runner', folder / program, '--dataset', folder / 'fresh.npy', '--output', folder / 'y.npz')
        outputs.append(pipeline.single(folder / 'y.npz'))
    return oracle.sqnr(outputs[1], outputs[0])


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_hidden_scales_are_found(hidden, mode, tmp_path, report):
    said = calibrate(hidden, tmp_path / 'auto.yaml')
    assert 'equalized: channels of 2 tensors' in said, said
    calibrate(hidden, tmp_path / 'off.yaml', '--equalize', 'off')
    with_, without = (snr_db(hidden, tmp_path / f'{name}.yaml', mode, tmp_path) for name in ('auto', 'off'))
    report(f'hidden scales, {mode}: {without:.1f} dB -> {with_:.1f} dB')
    assert with_ >= 28
    assert without <= with_ - 15


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_scales_go_through_a_function_by_tables_of_channels(gated, mode, tmp_path, report):
    said = calibrate(gated, tmp_path / 'auto.yaml')
    assert 'equalized: channels of 2 tensors' in said, said
    assert 'equalized' not in calibrate(gated, tmp_path / 'weights.yaml', '--equalize', 'weights')
    calibrate(gated, tmp_path / 'off.yaml', '--equalize', 'off')
    assert (tmp_path / 'weights.yaml').read_bytes() == (tmp_path / 'off.yaml').read_bytes()
    with_, without = (snr_db(gated, tmp_path / f'{name}.yaml', mode, tmp_path) for name in ('auto', 'weights'))
    report(f'scales through a SiLU, {mode}: {without:.1f} dB -> {with_:.1f} dB')
    assert with_ >= 28
    assert without <= with_ - 10
    pipeline.run('model_deploy', gated[0], '--mode', mode, '--calibration', tmp_path / 'auto.yaml', '-o', tmp_path / 'p.rshift')
    listed = pipeline.run('model_tool', 'disasm', tmp_path / 'p.rshift')
    assert 'channel_tables' in listed and ' table ' not in listed


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_scales_go_through_attention(mode, tmp_path, report):
    np.save(tmp_path / 'x.npy', np.random.default_rng(7).normal(size=(60, 12, 16)).astype(np.float32))
    found = {}
    for name, octaves in (('plain', [0] * 8), ('hidden', [0, 6, -6, 3, -2, 5, -4, 1])):
        net = attention_net(tmp_path / f'{name}.onnx', 8, octaves), tmp_path / 'x.npy'
        for equalize in ('off', 'auto'):
            said = calibrate(net, tmp_path / 't.yaml', '--equalize', equalize)
            assert ('equalized: channels of ' in said) == (name == 'hidden' and equalize == 'auto'), said
            found[name, equalize] = snr_db(net, tmp_path / 't.yaml', mode, tmp_path)
    report(f'scales through attention, {mode}: {found["hidden", "off"]:.1f} dB -> {found["hidden", "auto"]:.1f} dB')
    assert found['hidden', 'auto'] >= found['plain', 'off'] - 1 and found['hidden', 'off'] <= found['plain', 'off'] - 10


def test_a_scaled_tensor_is_explained_by_its_name_in_the_model(gated, tmp_path):
    said = calibrate(gated, tmp_path / 'auto.yaml')
    name = re.search("^  '(.+)': ", said, re.M).group(1).removesuffix('__equalized')
    explained = pipeline.run('model_tool', 'explain', tmp_path / 'auto.yaml', name)
    assert f"'{name}__equalized'" in explained
    assert explained == pipeline.run('model_tool', 'explain', tmp_path / 'auto.yaml', name + '__equalized')


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_sixteen_bits_have_tables_of_channels(gated, mode, tmp_path, report):
    """A channel 2^10 below another keeps its 16 bits."""
    levels = {}
    for equalize in ('auto', 'off'):
        calibrate(gated, tmp_path / f'{equalize}.yaml', '--equalize', equalize, '--method', 'minmax')
        levels[equalize] = snr_db(gated, tmp_path / f'{equalize}.yaml', mode, tmp_path, '--activation-bits', '16')
    scaled, plain = levels['auto'], levels['off']
    report(f'16 bits, scaled channels, {mode}: {scaled:.1f} dB, not scaled {plain:.1f} dB')
    assert scaled >= 38 and scaled >= plain + 30
    assert 'channel_tables_s16' not in pipeline.run('model_tool', 'disasm', tmp_path / mode)  # of 'off', the last
    snr_db(gated, tmp_path / 'auto.yaml', mode, tmp_path, '--activation-bits', '16')
    assert 'channel_tables_s16' in pipeline.run('model_tool', 'disasm', tmp_path / mode)


@pytest.mark.parametrize('profile', ('onnxruntime', 'tflite-ref', 'onednn', 'openvino'))
def test_every_profile_has_tables_of_channels(gated, profile, tmp_path):
    calibrate(gated, tmp_path / 'auto.yaml')
    report = pipeline.deploy(gated[0], tmp_path / 'p.rshift', mode='asymmetric', table=tmp_path / 'auto.yaml',
                             extra=('--profile', profile))
    assert 'channel_tables' in pipeline.run('model_tool', 'disasm', tmp_path / 'p.rshift'), report


@pytest.mark.parametrize('net', ('hidden', 'gated'))
def test_same_bytes_for_threads_order_shards_and_resumption(net, request, tmp_path):
    hidden = request.getfixturevalue(net)
    model, data = hidden
    calibrate(hidden, tmp_path / 'whole.yaml', '--threads', 1)
    whole = (tmp_path / 'whole.yaml').read_bytes()
    assert b'equalization:' in whole
    calibrate(hidden, tmp_path / 'two.yaml', '--threads', 2)
    assert (tmp_path / 'two.yaml').read_bytes() == whole
    shards = []
    for i in range(3):
        shards.append(tmp_path / f'{i}.stats')
        calibrate(hidden, tmp_path / f'{i}.yaml', '--shard', f'{i}/3', '--statistics', shards[-1])
    for order in itertools.permutations(shards):
        pipeline.run('model_calibrate', model, '--from-statistics', *order, '-o', tmp_path / 'merged.yaml')
        assert (tmp_path / 'merged.yaml').read_bytes() == whole
    calibrate(hidden, tmp_path / 'again.yaml', '--equalize', tmp_path / 'whole.yaml')
    assert (tmp_path / 'again.yaml').read_bytes() == whole
    # The data set in another order: files of one sample each, so that names stay with contents.
    samples = np.load(data)[:12]
    names = [tmp_path / f'sample_{i}.npy' for i in range(len(samples))]
    for name, sample in zip(names, samples):
        np.save(name, sample[None])
    tables = []
    for ordered in (names, names[::-1]):
        (tmp_path / 'list.txt').write_text(''.join(f'{name}\n' for name in ordered))
        pipeline.run('model_calibrate', model, '--dataset', tmp_path / 'list.txt', '--samples', 0, '-o', tmp_path / 'o.yaml')
        tables.append((tmp_path / 'o.yaml').read_bytes())
    assert tables[0] == tables[1]


def test_a_net_without_hidden_scales_has_the_table_it_had(tmp_path):
    model = separable_net(tmp_path / 'plain.onnx', 3, [0] * CHANNELS)
    np.save(tmp_path / 'x.npy', np.random.default_rng(4).normal(size=(20, 3, 16, 16)).astype(np.float32))
    for name, extra in (('auto', ()), ('off', ('--equalize', 'off'))):
        calibrate((model, tmp_path / 'x.npy'), tmp_path / f'{name}.yaml', *extra, samples=20)
    assert (tmp_path / 'auto.yaml').read_bytes() == (tmp_path / 'off.yaml').read_bytes()


@pytest.mark.parametrize('mode', ('symmetric', 'asymmetric'))
@pytest.mark.parametrize('method', ('kl', 'omse'))
def test_one_table_serves_programs_with_and_without(hidden, tmp_path, mode, method):
    model, data = hidden
    for name, extra in (('auto', ()), ('off', ('--equalize', 'off'))):
        calibrate(hidden, tmp_path / f'{name}.yaml', '--method', method, *extra)

    def deployed(*options):
        program = tmp_path / 'p.rshift'
        done = pipeline.call('model_deploy', model, '--mode', mode, *options, '-o', program)
        assert done.returncode == 0, done.stderr
        return program.read_bytes(), done.stderr

    auto, off = ('--calibration', tmp_path / 'auto.yaml'), ('--calibration', tmp_path / 'off.yaml')
    plain, _ = deployed(*off)
    assert deployed(*auto, '--equalize', 'off')[0] == plain
    assert deployed(*auto)[0] != plain
    emitted = []
    for table in (auto, off):
        program, said = deployed(*table, '--emit-qdq', tmp_path / 'q.onnx')
        assert program == plain
        assert ('its equalization of 2 tensors is left out: --emit-qdq' in said) == (table is auto), said
        emitted.append((tmp_path / 'q.onnx').read_bytes())
    assert emitted[0] == emitted[1]
    for _, table in (auto, off):
        (tmp_path / f'{table.stem}.rshift').write_bytes(deployed('--scales', table)[0])
    found = json.loads(pipeline.call('model_tool', 'diff', tmp_path / 'auto.rshift', tmp_path / 'off.rshift', '--json').stdout)
    assert found['sections'] == ['META'] and [entry['key'] for entry in found['meta']] == ['scales_sha256'], found


def test_tables_of_other_tools_have_the_models_own_tensors(hidden, tmp_path):
    model, data = hidden
    calibrate(hidden, tmp_path / 'a.yaml', '--statistics', tmp_path / 'a.stats')
    calibrate(hidden, tmp_path / 'off.yaml', '--equalize', 'off')
    for name in ('a', 'off'):
        pipeline.run('model_tool', 'scales', 'convert', tmp_path / f'{name}.yaml', tmp_path / f'{name}.cali.txt')
    assert (tmp_path / 'a.cali.txt').read_bytes() == (tmp_path / 'off.cali.txt').read_bytes()
    pipeline.run('model_calibrate', model, '--from-statistics', tmp_path / 'a.stats', '--format', 'tpu-mlir', '-o', tmp_path / 's.txt')
    assert 'equalized' not in (tmp_path / 's.txt').read_text()


def test_statistics_that_were_equalized_differently_do_not_merge(hidden, tmp_path):
    model, data = hidden
    calibrate(hidden, tmp_path / 't.yaml', '--statistics', tmp_path / 'a.stats')
    calibrate(hidden, tmp_path / 'off.yaml', '--equalize', 'off', '--statistics', tmp_path / 'b.stats', '--seed', 9, samples=5)
    line = pipeline.fails('model_calibrate', model, '--from-statistics', tmp_path / 'a.stats', tmp_path / 'b.stats',
                          '-o', tmp_path / 'm.yaml')
    assert 'were equalized differently' in line and '--equalize' in line, line
