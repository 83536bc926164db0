"""Weights of 4 bits: recomputed by numpy, ONNX's INT4 beside ONNX Runtime, sizes, damage, and what is refused."""

import json
import re

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline
import recompute_vectors
from test_bias_correction import calibrated, snr_db  # noqa: F401 (a fixture)
from test_vectors import little_net

ALL = pipeline.ROOT / 'configs/quantize/weights_of_4_bits.yaml'
ISAS = ('scalar', 'avx2', 'avxvnni', 'avx512vnni')


@pytest.fixture(scope='module')
def net(tmp_path_factory):
    folder = tmp_path_factory.mktemp('weight_bits')
    little_net(folder / 'net.onnx')
    np.save(folder / 'x.npy', np.random.default_rng(12).normal(size=(6, 3, 12, 13)).astype(np.float32))
    pipeline.calibrate(folder / 'net.onnx', folder / 'x.npy', folder / 'net.table.yaml', extra=('--equalize', 'off'))
    return folder


def deploy(net, program, mode, *extra):
    return pipeline.run('model_deploy', net / 'net.onnx', '--calibration', net / 'net.table.yaml', '--mode', mode, '--no-check',
                        '--weight-rounding', 'nearest', '-o', program, *extra)


def constants(program):
    return json.loads(pipeline.run('model_tool', 'weights', program, '--json'))['constants']


def nearest(w, axis):
    """The integers and scales of NUMERICS.md section 9.1, of output channels along `axis`."""
    largest = np.abs(w).max(axis=tuple(d for d in range(w.ndim) if d != axis), keepdims=True)
    scale = (largest.astype(np.float64) / 7).astype(np.float32)
    return np.clip(np.rint(w / scale), -7, 7), scale


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_numpy_computes_every_layer_again(mode, net, tmp_path):
    target = pipeline.ROOT / 'configs/targets/tpu.yaml'  # convolutions in the shape that the model gives them
    said = deploy(net, tmp_path / 'p.rshift', mode, '--config', ALL, '--target', target)
    assert 'weights of 4 bits: 5 layers, 3650 weights' in said, said
    pipeline.run('model_tool', 'vectors', tmp_path / 'p.rshift', '--input', net / 'x.npy', '-o', tmp_path / 'v')
    compared = recompute_vectors.recompute(tmp_path / 'v')
    assert {'conv', 'depthwise', 'matmul'} <= set(compared), compared
    real = {i.name: numpy_helper.to_array(i) for i in onnx.load(net / 'net.onnx').graph.initializer}
    commands = json.loads((tmp_path / 'v/manifest.json').read_text())['commands']
    found = [c for c in commands if 'weights' in c['tensors']]
    for command, name in zip(found, ('w1', 'w2', 'w3', 'w4', 'w5'), strict=True):
        wanted, scale = nearest(real[name], 1 if name == 'w5' else 0)
        with np.load(tmp_path / 'v' / command['file']) as arrays:
            np.testing.assert_array_equal(arrays['weights'], wanted, name)
            factor = arrays['multiplier'] / 2.0 ** arrays['rshift']
        tensors = command['tensors']
        goal = scale.ravel().astype(np.float64) * tensors['src']['scale'] / tensors['dst']['scale']
        np.testing.assert_allclose(factor, goal, rtol=2 ** -23)


def test_16_bit_activations_read_them(tmp_path):
    """y = x w: the integers of x, and the weights' by section 9.1, give each integer of y but for one rounding."""
    rng = np.random.default_rng(21)
    w, x = rng.normal(size=(40, 9)).astype(np.float32), rng.normal(size=(16, 40)).astype(np.float32)
    graph = helper.make_graph([helper.make_node('MatMul', ['x', 'w'], ['y'])], 'g',
                              [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 40])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 9])], [numpy_helper.from_array(w, 'w')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7), tmp_path / 'net.onnx')
    np.save(tmp_path / 'x.npy', x[:, None])
    pipeline.calibrate(tmp_path / 'net.onnx', tmp_path / 'x.npy', tmp_path / 'net.table.yaml')
    deploy(tmp_path, tmp_path / 'p.rshift', 'symmetric', '--config', ALL, '--activation-bits', '16')
    disasm = pipeline.run('model_tool', 'disasm', tmp_path / 'p.rshift')
    line = next(line for line in disasm.splitlines() if ' matmul_s16 ' in line)
    (y_name, y_scale), (x_name, x_scale) = re.findall(r' (?:dst|src)=([^:]+):s16\[1x\d+\]{([^,]+),0}', line)
    assert ':s4[360]' in line
    integers, scale = nearest(w, 1)
    steps = scale.ravel().astype(np.float64) * float(x_scale) / float(y_scale)
    for one in x:
        np.savez(tmp_path / 'in.npz', x=one[None])
        pipeline.run('model_runner', tmp_path / 'p.rshift', '--input', tmp_path / 'in.npz', '--raw', '--dump-tensors', tmp_path / 'd.npz')
        with np.load(tmp_path / 'd.npz') as tensors:
            exact = tensors[x_name].astype(np.int64) @ integers.astype(np.int64) * steps
            found = tensors[y_name]
        assert np.abs(found.astype(np.float64) - exact).max() <= 0.5 + 2e-5 * np.abs(exact).max()  # disasm's scales have 6 digits
        assert len(np.unique(found)) == 9 and np.abs(exact).max() > 2000


def test_the_same_bytes_everywhere_and_half_of_the_weights_in_the_file(net, tmp_path):
    deploy(net, tmp_path / '8.rshift', 'symmetric')
    deploy(net, tmp_path / '4.rshift', 'symmetric', '--config', ALL)
    deploy(net, tmp_path / 'again.rshift', 'symmetric', '--config', ALL)
    assert (tmp_path / 'again.rshift').read_bytes() == (tmp_path / '4.rshift').read_bytes()
    info = {n: json.loads(pipeline.run('model_tool', 'info', tmp_path / f'{n}.rshift', '--json')) for n in '84'}
    small = info['4']['constant_bytes_of_4_bits']
    assert info['8']['constant_bytes_of_4_bits'] == 0 and small > 6000
    memory = pipeline.run('model_tool', 'memory', tmp_path / '4.rshift')
    assert f"of which {small} have 4 bits: in the file {info['4']['constant_bytes'] - small // 2}" in memory
    assert info['8']['file_bytes'] - info['4']['file_bytes'] > small // 2 - 512  # rounded up to 64 here and there
    assert [row['type'] for row in constants(tmp_path / '4.rshift') if row['name'].endswith('.weights')] == ['s4'] * 5
    assert pipeline.run('model_tool', 'disasm', tmp_path / '4.rshift').count('.weights:s4[') == 5
    outputs = set()
    for isa in ISAS:
        for threads in (1, 2, 3):
            done = pipeline.call('model_runner', tmp_path / '4.rshift', '--dataset', net / 'x.npy', '--isa', isa, '--threads', threads,
                                 '--output', tmp_path / 'y.npz')
            if done.returncode != 0:
                assert 'this CPU lacks it' in done.stderr and isa != 'scalar', done.stderr
                continue
            outputs.add(pipeline.single(tmp_path / 'y.npz').tobytes())
    assert len(outputs) == 1


def test_the_first_and_the_last_layer_keep_8_bits_unless_named(net, tmp_path):
    said = deploy(net, tmp_path / 'p.rshift', 'symmetric', '--weight-bits', '4', '--report-json', tmp_path / 'r.json')
    assert 'weights of 4 bits: 1 layer, 1400 weights' in said, said  # w4, the only 1x1 between the others
    assert json.loads((tmp_path / 'r.json').read_text())['weights_of_4_bits'] == {'layers': 1, 'weights': 1400}
    (tmp_path / 'c.yaml').write_text('types: {MatMul: {weight_bits: 4}}\n')
    said = deploy(net, tmp_path / 'p.rshift', 'symmetric', '--weight-bits', '4', '--config', tmp_path / 'c.yaml')
    assert 'weights of 4 bits: 2 layers, 2030 weights' in said, said


def test_damage_is_found(net, tmp_path):
    deploy(net, tmp_path / 'p.rshift', 'symmetric', '--config', ALL)
    whole = (tmp_path / 'p.rshift').read_bytes()
    assert whole[0x20] & 128  # the feature bit that older readers refuse
    at = whole.index(b'CNS4')
    offset, size = (int.from_bytes(whole[at + i:at + i + 8], 'little') for i in (8, 16))
    for place in (offset, offset + size // 2, offset + size - 1):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        (tmp_path / 'd.rshift').write_bytes(damaged)
        for words in (('model_tool', 'verify'), ('model_tool', 'info'), ('model_tool', 'disasm')):
            assert 'checksum differs' in pipeline.fails(*words, tmp_path / 'd.rshift')
    (tmp_path / 'd.rshift').write_bytes(whole[:-1])
    assert 'cut off' in pipeline.fails('model_tool', 'verify', tmp_path / 'd.rshift')
    pipeline.run('model_tool', 'verify', tmp_path / 'p.rshift')


@pytest.mark.parametrize('profile', ['tflite', 'tflite-xnnpack', 'onnxruntime', 'openvino', 'caffe2', 'onednn'])
def test_other_profiles_take_them(net, profile, tmp_path):
    said = deploy(net, tmp_path / 'p.rshift', 'asymmetric', '--config', ALL, '--profile', profile)
    assert 'weights of 4 bits: 5 layers' in said, said
    pipeline.run('model_tool', 'verify', tmp_path / 'p.rshift')


def test_what_cannot_have_them_is_refused(net, tmp_path):
    words = ('model_deploy', net / 'net.onnx', '--calibration', net / 'net.table.yaml', '-o', tmp_path / 'no.rshift')
    for text, message in (('types: {MaxPool: {weight_bits: 4}}\n', "'MaxPool': weight_bits is for Conv, ConvTranspose, Gemm and MatMul"),
                          ('layers: {x: {weight_bits: 4}}\n', "'x' is an input of the model"),
                          ('layers: {c1: {weight_bits: 5}}\n', 'expected 4 or 8'),
                          ('layers:\n  c4: {weight_bits: 4}\n  "c*": {mode: f32}\n', "c.yaml:2: 'c4' has no integer weights"),
                          ('layers: {c1: {weight_bits: 4, mode: f32}}\n', 'weight_bits with mode f32')):
        (tmp_path / 'c.yaml').write_text(text)
        assert message in pipeline.fails(*words, '--config', tmp_path / 'c.yaml')
    for extra, message in ((('--weight-bits', '5'), '--weight-bits'),
                           (('--weight-bits', '4', '--mode', 'f32'), '--weight-bits has no meaning with --mode f32'),
                           (('--weight-bits', '4', '--profile', 'ascend'), '--weight-bits is not for --profile ascend')):
        done = pipeline.call(*words, *extra)
        assert done.returncode == 2 and message in done.stderr, done.stderr
    qdq = ('model_deploy', tmp_path / 'qdq.onnx', '-o', tmp_path / 'no.rshift')
    deploy(net, tmp_path / 'p.rshift', 'symmetric', '--emit-qdq', tmp_path / 'qdq.onnx')
    done = pipeline.call(*qdq, '--weight-bits', '4')
    assert done.returncode == 2 and '--weight-bits: the model holds its own quantization' in done.stderr, done.stderr
    (tmp_path / 'c.yaml').write_text('types: {Conv: {weight_bits: 4}}\n')
    assert "'Conv': weight_bits means nothing here" in pipeline.fails(*qdq, '--config', tmp_path / 'c.yaml')
    assert not (tmp_path / 'no.rshift').exists()


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_an_emitted_model_gives_the_same_outputs_in_onnx_runtime(mode, net, tmp_path):
    """INT8 numbers in [-7, 7], each layer within a quantum: the whole within a few."""
    deploy(net, tmp_path / 'p.rshift', mode, '--config', ALL, '--emit-qdq', tmp_path / 'qdq.onnx')
    weights = [numpy_helper.to_array(i) for i in onnx.load(tmp_path / 'qdq.onnx').graph.initializer]
    weights = [w for w in weights if w.dtype == np.int8 and w.ndim > 1]
    assert len(weights) == 5 and all(np.abs(w.astype(int)).max() == 7 for w in weights)
    x = np.load(net / 'x.npy')
    pipeline.run('model_runner', tmp_path / 'p.rshift', '--dataset', net / 'x.npy', '--output', tmp_path / 'y.npz')
    session = onnxruntime.InferenceSession(str(tmp_path / 'qdq.onnx'), providers=['CPUExecutionProvider'])
    theirs = np.stack([np.ravel(session.run(None, {'x': one[None]})[0]) for one in x])
    info = json.loads(pipeline.run('model_tool', 'info', tmp_path / 'p.rshift', '--json'))
    disasm = pipeline.run('model_tool', 'disasm', tmp_path / 'p.rshift')
    quantum = float(disasm[disasm.rindex('src=y'):].split('{')[1].split(',')[0])
    assert info['outputs'][0]['name'] == 'y' and np.abs(theirs - pipeline.single(tmp_path / 'y.npz')).max() <= 3.01 * quantum


# --- ONNX's own ---

def qdq_model(data_type, rng, wide=False):
    """x -> Conv 1x1 -> Relu -> Conv 3x3 -> Flatten -> MatMul, u8 activations, weights of `data_type` with a scale a channel; `wide`: the
    same integers as INT8 or UINT8."""
    low = -8 if data_type == TensorProto.INT4 else 0
    constants, nodes = [], []

    def dequantized(name, shape, axis):
        channels = shape[axis]
        w, scale = rng.integers(low, low + 16, shape), rng.uniform(0.01, 0.05, channels).astype(np.float32)
        zero = np.zeros(channels, int) if low < 0 else rng.integers(5, 11, channels)
        if wide:
            kind = np.int8 if low < 0 else np.uint8
            constants.extend([numpy_helper.from_array(w.astype(kind), name), numpy_helper.from_array(zero.astype(kind), name + 'z')])
        else:
            constants.extend([helper.make_tensor(name, data_type, shape, w.ravel().tolist()),
                              helper.make_tensor(name + 'z', data_type, [channels], zero.tolist())])
        constants.append(numpy_helper.from_array(scale, name + 's'))
        nodes.append(helper.make_node('DequantizeLinear', [name, name + 's', name + 'z'], [name + 'r'], axis=axis))
        return name + 'r'

    def activation(name, scale, zero, result=None):
        constants.extend([numpy_helper.from_array(np.float32(scale), name + 's'), numpy_helper.from_array(np.uint8(zero), name + 'z')])
        nodes.append(helper.make_node('QuantizeLinear', [name, name + 's', name + 'z'], [name + 'q']))
        nodes.append(helper.make_node('DequantizeLinear', [name + 'q', name + 's', name + 'z'], [result or name + 'r']))
        return result or name + 'r'

    x = activation('x', 0.02, 128)
    nodes.append(helper.make_node('Conv', [x, dequantized('w1', [9, 5, 1, 1], 0)], ['a']))
    nodes.append(helper.make_node('Relu', ['a'], ['b']))
    b = activation('b', 0.05, 0)
    nodes.append(helper.make_node('Conv', [b, dequantized('w2', [4, 9, 3, 3], 0)], ['c'], pads=[1] * 4))
    c = activation('c', 0.1, 120)
    nodes.append(helper.make_node('Flatten', [c], ['f']))
    f = activation('f', 0.1, 120)
    nodes.append(helper.make_node('MatMul', [f, dequantized('w3', [4 * 36, 7], 1)], ['m']))
    activation('m', 0.02, 130, 'y')
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 5, 6, 6])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 7])], constants)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 21)])


def of_onnxruntime(model, samples):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=['CPUExecutionProvider'])
    return np.stack([session.run(None, {'x': x[None]})[0][0] for x in samples])


@pytest.mark.parametrize('kind', ('INT4', 'UINT4'))
def test_onnx_weights_of_4_bits_stay_so_and_give_onnx_runtimes_bytes(kind, tmp_path):
    data_type, samples = getattr(TensorProto, kind), np.random.default_rng(3).normal(size=(200, 5, 6, 6)).astype(np.float32)
    np.save(tmp_path / 'x.npy', samples)
    outputs = {}
    for wide in (False, True):
        model = qdq_model(data_type, np.random.default_rng(9), wide)
        onnx.save(model, tmp_path / f'{wide}.onnx')
        pipeline.run('model_deploy', tmp_path / f'{wide}.onnx', '--profile', 'onnxruntime', '-o', tmp_path / f'{wide}.rshift')
        pipeline.run('model_runner', tmp_path / f'{wide}.rshift', '--dataset', tmp_path / 'x.npy', '--output', tmp_path / 'y.npz')
        outputs[wide] = pipeline.single(tmp_path / 'y.npz')
        weights = [row for row in constants(tmp_path / f'{wide}.rshift') if row['name'].endswith('.weights')]
        assert [row['type'] for row in weights] == ['s8' if wide else 's4'] * 3
        assert wide or all(-8 <= row['min'] and row['max'] <= 7 for row in weights)
        if wide:  # whose products ONNX Runtime has as integers
            np.testing.assert_array_equal(outputs[True], of_onnxruntime(model, samples))
    np.testing.assert_array_equal(outputs[False], outputs[True])
    # Of 4 bits it computes products in float and rounds behind them: another byte next to a tie alone.
    steps = np.abs(outputs[False] - of_onnxruntime(qdq_model(data_type, np.random.default_rng(9)), samples)) / 0.02
    assert steps.max() < 1.01 and (steps > 0.5).mean() < 0.01 and len(np.unique(outputs[False])) > 50
    assert (tmp_path / 'False.rshift').stat().st_size < (tmp_path / 'True.rshift').stat().st_size


# --- a real network ---

@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_rounding_together_brings_much_of_it_back(calibrated, mode, shared, tmp_path, report):  # noqa: F811
    model, folder = calibrated
    photographs, found = shared / 'images/imagenet_val', {}
    for how, words in (('nearest', ('--weight-rounding', 'nearest')), ('default', ()), ('gptq', ('--weight-rounding', 'gptq')),
                       ('both', ('--weight-rounding', 'gptq', '--weight-clipping', 'mse'))):
        programs = []
        for threads in (1, 2):
            said = pipeline.run('model_deploy', model, '--calibration', folder / 'table.yaml', '--mode', mode, '--no-check', '--weight-bits', '4',
                                '--bias-correction', 'off', *words, *(('--threads', threads) if how != 'nearest' else ()), '-o', tmp_path / 'p.rshift')
            programs.append((tmp_path / 'p.rshift').read_bytes())
        assert programs[0] == programs[1] and 'weights of 4 bits: 13 layers, ' in said and 'not kept' not in said, said
        found[how] = snr_db(calibrated, tmp_path / 'p.rshift', photographs, tmp_path)
    report(f'weights of 4 bits, mobilenet_v1_025 {mode}: ' + ', '.join(f'{how} {db:.1f} dB' for how, db in found.items()))
    assert min(found['gptq'], found['both']) >= found['nearest'] + 2 and found['default'] == found['gptq']
