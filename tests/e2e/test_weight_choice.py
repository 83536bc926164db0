"""--weight-rounding and --weight-clipping: fresh photographs come out better, the same bytes for any threads, exports follow."""

import json

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import pipeline
from little_onnx import save
from test_bias_correction import CASE, calibrated, deploy, snr_db  # noqa: F401 (a fixture)

OFF = ('--bias-correction', 'off')
NEAREST = ('--weight-rounding', 'nearest')
GPTQ = ('--weight-rounding', 'gptq')
BOTH = (*GPTQ, '--weight-clipping', 'mse')


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_fresh_photographs_come_out_better(calibrated, mode, shared, tmp_path, report):  # noqa: F811
    photographs, found = shared / 'images' / CASE.evaluate_on, {}
    for how, words in (('off', (*OFF, *NEAREST)), ('gptq', (*OFF, *GPTQ)), ('both', (*OFF, *BOTH)), ('regression', (*GPTQ, '--bias-correction', 'regression'))):
        said = deploy(calibrated, tmp_path / f'{how}.rshift', mode, *words, '--report-json', tmp_path / 'r.json')
        told = json.loads((tmp_path / 'r.json').read_text()).get('weight_choice')
        assert ('weights: rounding gptq' in said) == (told is not None) == (how != 'off'), said
        if told:
            assert told['kept'] and told['samples'] == 16 and told['layers'] == told['candidates'] == 28 and told['weights'] > 10000
            assert told['after_db'] > told['before_db'] + 3 and told['sums_gain_db'] > 4
            assert (told['clipped_channels'] > 0) == (how == 'both')
        found[how] = snr_db(calibrated, tmp_path / f'{how}.rshift', photographs, tmp_path)
    report(f'weights, mobilenet_v1_025 {mode}: ' + ', '.join(f'{how} {db:.1f} dB' for how, db in found.items()))
    assert min(found['gptq'], found['both']) >= found['off'] + 2 and found['regression'] >= found['gptq']
    deploy(calibrated, tmp_path / 'nearest.rshift', mode, *OFF, *NEAREST, '--weight-clipping', 'off')
    assert (tmp_path / 'nearest.rshift').read_bytes() == (tmp_path / 'off.rshift').read_bytes()
    said = deploy(calibrated, tmp_path / 'default.rshift', mode, *OFF)
    assert 'weights: rounding auto, clipping off: outputs ' in said, said
    assert snr_db(calibrated, tmp_path / 'default.rshift', photographs, tmp_path) == found['gptq']


def test_same_bytes_for_any_threads(calibrated, tmp_path):  # noqa: F811
    programs = []
    for threads in (1, 2, 3):
        deploy(calibrated, tmp_path / 'p', 'symmetric', *BOTH, '--bias-correction', 'regression', '--threads', threads)
        programs.append((tmp_path / 'p').read_bytes())
    assert programs[0] == programs[1] == programs[2]


def test_an_emitted_model_has_the_weights_and_is_refused_itself(calibrated, tmp_path):  # noqa: F811
    weights = {}
    for how, words in (('off', NEAREST), ('both', BOTH)):
        deploy(calibrated, tmp_path / f'{how}.rshift', 'symmetric', *words, '--emit-qdq', tmp_path / f'{how}.onnx')
        weights[how] = [numpy_helper.to_array(i) for i in onnx.load(tmp_path / f'{how}.onnx').graph.initializer]
        weights[how] = [w for w in weights[how] if w.dtype == np.int8 and w.ndim > 1]
    assert sum(not np.array_equal(a, b) for a, b in zip(weights['off'], weights['both'], strict=True)) == 28
    done = pipeline.call('model_deploy', tmp_path / 'both.onnx', '-o', tmp_path / 'no.rshift', *GPTQ)
    assert done.returncode == 2 and '--weight-rounding and --weight-clipping: the model holds its own' in done.stderr, done.stderr
    assert not (tmp_path / 'no.rshift').exists()


def test_a_clipped_scale_leaves_the_bias_of_16_bits_its_room(tmp_path):
    """Of the first column the large weight's input hardly moves: a scale 52 times finer were best, had the bias its 32 bits then."""
    generator = np.random.default_rng(7)
    weights = generator.uniform(-5e-6, 5e-6, (16, 4)).astype(np.float32)
    weights[0, 0] = 2.6e-4
    weights[:, 1:] *= 2e5
    bias = np.array([1, 0, 0, 0], np.float32)
    value = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, (1, n)) for name, n in (('x', 16), ('y', 4))]
    nodes = [onnx.helper.make_node('MatMul', ['x', 'same'], ['wide'], name='first'),
             onnx.helper.make_node('Gemm', ['wide', 'w', 'b'], ['y'], name='fc')]
    constants = {'same': np.eye(16, dtype=np.float32), 'w': weights, 'b': bias}
    graph = onnx.helper.make_graph(nodes, 'fc', value[:1], value[1:], [numpy_helper.from_array(a, n) for n, a in constants.items()])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', 17)]), tmp_path / 'm.onnx')
    samples = generator.standard_normal((40, 16)).astype(np.float32)
    samples[:, 0] *= 1e-3
    np.save(tmp_path / 'x.npy', samples)
    table = pipeline.calibrate(tmp_path / 'm.onnx', tmp_path / 'x.npy', tmp_path / 't.yaml', samples=0)
    done = pipeline.call('model_deploy', tmp_path / 'm.onnx', '--calibration', table, '--activation-bits', 16,
                         '--weight-clipping', 'mse', '--no-check', '-o', tmp_path / 'p.rshift')
    assert done.returncode == 0, done.stderr
    found = next(iter(pipeline.infer(tmp_path / 'p.rshift', {'x': samples[:1]}, tmp_path).values()))
    assert np.abs(found - (samples[:1] @ weights + bias)).max() < 0.05  # x has 8 bits


@pytest.mark.parametrize('profile', ['tflite', 'onnxruntime', 'openvino', 'caffe2', 'onednn'])
def test_other_profiles_take_the_weights(calibrated, profile, tmp_path):  # noqa: F811
    deploy(calibrated, tmp_path / 'p.rshift', 'asymmetric', '--profile', profile, *GPTQ, '--report-json', tmp_path / 'r.json')
    told = json.loads((tmp_path / 'r.json').read_text())['weight_choice']
    assert told['kept'] and told['after_db'] > told['before_db'] + 3, told


def test_nodes_that_share_a_name_with_the_layer_are_none(tmp_path):
    """A 1-D convolution and a recurrent layer become several nodes of one name."""
    r, nodes, start = np.random.default_rng(3), [], []
    start += [numpy_helper.from_array(r.normal(size=(8, 6, 3)).astype(np.float32), 'w1'), numpy_helper.from_array(r.normal(size=(4, 8, 3)).astype(np.float32), 'w2')]
    start += [numpy_helper.from_array((r.normal(size=(1, 3 * 5, n)) / 3).astype(np.float32), name) for name, n in (('w', 4), ('r', 5))]
    nodes.append(onnx.helper.make_node('Conv', ['x', 'w1'], ['a'], 'first', kernel_shape=[3]))
    nodes.append(onnx.helper.make_node('Conv', ['a', 'w2'], ['b'], 'second', kernel_shape=[3]))
    nodes.append(onnx.helper.make_node('Transpose', ['b'], ['t'], 'turn', perm=[2, 0, 1]))
    nodes.append(onnx.helper.make_node('GRU', ['t', 'w', 'r'], ['y'], 'gru', hidden_size=5))
    save(tmp_path / 'm.onnx', nodes, {'x': [1, 6, 10]}, ['y'], start)
    np.save(tmp_path / 'x.npy', r.normal(size=(16, 6, 10)).astype(np.float32))
    table = pipeline.calibrate(tmp_path / 'm.onnx', tmp_path / 'x.npy', tmp_path / 't.yaml', samples=0)
    said = pipeline.deploy(tmp_path / 'm.onnx', tmp_path / 'p', mode='symmetric', table=table, extra=(*BOTH, '--bias-correction', 'fast', '--report-json', tmp_path / 'r.json'))
    told = json.loads((tmp_path / 'r.json').read_text())
    assert told['weight_choice']['candidates'] == 2, said
    assert told['bias_correction']['layers'] == 2, said
    pipeline.deploy(tmp_path / 'm.onnx', tmp_path / 'auto', mode='symmetric', table=table, extra=('--auto',))


def test_two_outputs_that_are_one_tensor(tmp_path):
    r = np.random.default_rng(4)
    nodes = [onnx.helper.make_node('Conv', ['x', 'w'], ['a']), onnx.helper.make_node('Relu', ['a'], ['y']), onnx.helper.make_node('Identity', ['y'], ['z'])]
    outputs = [onnx.helper.make_tensor_value_info(name, 1, [1, 4, 6, 6]) for name in 'yz']
    graph = onnx.helper.make_graph(nodes, 'g', [onnx.helper.make_tensor_value_info('x', 1, [1, 5, 8, 8])], outputs, [numpy_helper.from_array(r.normal(size=(4, 5, 3, 3)).astype(np.float32), 'w')])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', 17)], ir_version=8), tmp_path / 'm.onnx')
    np.save(tmp_path / 'x.npy', r.normal(size=(16, 5, 8, 8)).astype(np.float32))
    table = pipeline.calibrate(tmp_path / 'm.onnx', tmp_path / 'x.npy', tmp_path / 't.yaml', samples=0)
    for extra in (BOTH, ('--bias-correction', 'full'), ('--auto',)):
        pipeline.deploy(tmp_path / 'm.onnx', tmp_path / 'p', mode='symmetric', table=table, extra=extra)
        found = pipeline.infer(tmp_path / 'p', {'x': np.ones((1, 5, 8, 8), np.float32)}, tmp_path)
        assert np.array_equal(found['y'], found['z'])
