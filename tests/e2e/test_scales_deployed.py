"""model_deploy --scales: which weights and tensors get what, floating point, the trace of it, and the way back."""

import json
import re
import struct

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline
from little_onnx import save


def branches(path):
    """x -> conv1 -> bn -> relu -> conv2 -> conv3 (weights of equal bytes) -> pool -> Gemm (transposed) -> y."""
    rng = np.random.default_rng(41)
    same = rng.normal(size=(8, 8, 3, 3)).astype(np.float32)
    constants = {'w1': rng.normal(size=(8, 3, 3, 3)), 's': rng.uniform(0.5, 2, 8), 'o': rng.normal(size=8),
                 'm': rng.normal(size=8), 'v': rng.uniform(0.5, 2, 8), 'w2': same, 'w3': same,
                 'wg': rng.normal(size=(8, 8)), 'bg': rng.normal(size=8)}
    node = helper.make_node
    nodes = [node('Conv', ['x', 'w1'], ['c1'], name='conv1', pads=[1] * 4),
             node('BatchNormalization', ['c1', 's', 'o', 'm', 'v'], ['n1'], name='norm'),
             node('Relu', ['n1'], ['r1'], name='relu'),
             node('Conv', ['r1', 'w2'], ['c2'], name='conv2', pads=[1] * 4),
             node('Conv', ['c2', 'w3'], ['c3'], name='conv3', pads=[1] * 4),
             node('GlobalAveragePool', ['c3'], ['p'], name='pool'), node('Flatten', ['p'], ['f'], name='flat'),
             node('Gemm', ['f', 'wg', 'bg'], ['y'], name='fc', transB=1)]
    save(path, nodes, {'x': (1, 3, 8, 8)}, ['y'], {n: np.asarray(a, np.float32) for n, a in constants.items()}, opset=13)


@pytest.fixture(scope='module')
def net(tmp_path_factory):
    folder = tmp_path_factory.mktemp('applied')
    branches(folder / 'net.onnx')
    np.save(folder / 'x.npy', np.random.default_rng(42).normal(size=(6, 3, 8, 8)).astype(np.float32))
    pipeline.calibrate(folder / 'net.onnx', folder / 'x.npy', folder / 'net.table.yaml')
    return folder


def scales_yaml(path, *entries, precisions=None):
    lines = ['rshift_scales: 1', 'entries:' if entries else 'entries: []', *(f'  - {{{entry}}}' for entry in entries)]
    if precisions:
        lines += ['precisions:', *(f'  {name}: {kind}' for name, kind in precisions.items())]
    path.write_text('\n'.join(lines) + '\n')
    return path


def deploy(net, tmp_path, scales, *extra, table=True, mode='symmetric'):
    """The report; the notes are in 'warnings', the dump of the quantized graph in 'dump'."""
    base = ('--calibration', net / 'net.table.yaml') if table else ()
    done = pipeline.call('model_deploy', net / 'net.onnx', '--scales', scales, *base, '--mode', mode, '--no-check',
                         '-o', tmp_path / 'p.rshift', '--json', '--dump-graph', f'quantized={tmp_path / "dump.txt"}', *extra)
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout), 'warnings': done.stderr, 'dump': (tmp_path / 'dump.txt').read_text()}


def refused(net, tmp_path, scales):
    return pipeline.fails('model_deploy', net / 'net.onnx', '--scales', scales, '--calibration', net / 'net.table.yaml',
                          '-o', tmp_path / 'p.rshift')


def weight_scales(report, name):
    """Of the quantized constant, as the dump has them."""
    line = next(l for l in report['dump'].splitlines() if l.startswith(f'const {name}__q'))
    return [float(s) for s in re.search(r'scales?=\[?([^\]\s]*)', line)[1].split(',')]


def float_nodes(report):
    """The model's own; transposes of the layout are not."""
    return {n['node'] for n in report['float_nodes'] if not n['node'].endswith('__nhwc')}


# --- weights ---


def test_of_two_weights_with_the_same_bytes_the_named_one_gets_the_scale(net, tmp_path):
    for name, other in (('w2', 'w3'), ('w3', 'w2')):
        report = deploy(net, tmp_path, scales_yaml(tmp_path / 'a.scales.yaml', f'name: {name}, kind: weights, scale: 0.25'))
        assert set(weight_scales(report, name)) == {0.25}
        assert 0.25 not in weight_scales(report, other)
        assert report['scales']['used'] == [name]


def test_scales_along_another_axis_are_not_taken_for_those_of_the_output_channels(net, tmp_path):
    scales = '[' + ', '.join(str(0.01 * (i + 1)) for i in range(8)) + ']'
    report = deploy(net, tmp_path, scales_yaml(tmp_path / 'a.scales.yaml', f'name: w2, kind: weights, axis: 0, scale: {scales}'))
    np.testing.assert_allclose(weight_scales(report, 'w2'), 0.01 * np.arange(1, 9), rtol=1e-5)
    report = deploy(net, tmp_path, scales_yaml(tmp_path / 'a.scales.yaml', f'name: w2, kind: weights, axis: 1, scale: {scales}'))
    assert 'along another dimension than the output channels (1)' in report['warnings']
    assert weight_scales(report, 'w2') == weight_scales(report, 'w3')


@pytest.mark.parametrize('axis', ('', 'axis: 0, '))
def test_weights_of_a_transposed_gemm_are_found(axis, net, tmp_path):
    report = deploy(net, tmp_path, scales_yaml(tmp_path / 'a.scales.yaml',
                                               f'name: wg, kind: weights, {axis}scale: [1, 2, 3, 4, 5, 6, 7, 8]'))
    assert weight_scales(report, 'fc/Transpose') == [1, 2, 3, 4, 5, 6, 7, 8]
    report = deploy(net, tmp_path, scales_yaml(tmp_path / 'a.scales.yaml',
                                               'name: wg, kind: weights, axis: 1, scale: [1, 2, 3, 4, 5, 6, 7, 8]'))
    assert 'along another dimension' in report['warnings']


def test_folded_weights_keep_their_own_scales(net, tmp_path):
    report = deploy(net, tmp_path, scales_yaml(tmp_path / 'a.scales.yaml', 'name: w1, kind: weights, scale: 0.25'))
    assert 'batch normalization is folded into it (1)' in report['warnings']
    assert report['scales']['unused'][0]['name'] == 'w1'


# --- floating point ---


def aimet(tmp_path, activations=(), weights=()):
    def floats(names):
        return [{'name': n, 'dtype': 'FLOAT', 'bw': 16} for n in names]
    path = tmp_path / 'a.encodings'
    path.write_text(json.dumps({'version': '1.0.0', 'activation_encodings': floats(activations),
                                'param_encodings': floats(weights), 'excluded_layers': []}))
    return path


@pytest.mark.parametrize('tensor, in_f32', (('c2', {'conv2', 'conv3'}), ('r1', {'conv1', 'conv2'}), ('x', {'conv1'}),
                                            ('c1', {'conv1'})))
def test_operators_that_make_or_read_a_float_tensor_stay_in_f32(tensor, in_f32, net, tmp_path):
    report = deploy(net, tmp_path, aimet(tmp_path, [tensor]))
    assert {n['node'] for n in report['float_nodes'] if n['op'] == 'Conv'} == in_f32
    assert 'configuration' not in report['warnings']


def test_a_float_tensor_needs_no_scale(net, tmp_path):
    """With no table beside the set, r1 and what is moved of it has no range, and needs none."""
    entries = [f'name: {n}, scale: 0.05' for n in ('x', 'c2', 'c3', 'y')]
    report = deploy(net, tmp_path, scales_yaml(tmp_path / 'a.scales.yaml', *entries, 'name: r1, float: true'), table=False)
    assert {n['node'] for n in report['float_nodes'] if n['op'] == 'Conv'} == {'conv1', 'conv2'}


@pytest.mark.parametrize('weights, node', (('w3', 'conv3'), ('w1', 'conv1'), ('wg', 'fc')))
def test_the_operator_of_float_weights_stays_in_f32(weights, node, net, tmp_path):
    report = deploy(net, tmp_path, aimet(tmp_path, weights=[weights]))
    assert float_nodes(report) == {node}
    assert 'their operators run in F32 (1)' in report['warnings']


def test_excluded_layers_of_aimet_stay_in_f32_and_are_written_again(net, tmp_path):
    for version, empty in (('1.0.0', []), ('0.6.1', {})):
        path = tmp_path / 'a.encodings'
        path.write_text(json.dumps({'version': version, 'activation_encodings': empty, 'param_encodings': empty,
                                    'excluded_layers': ['conv2']}))
        report = deploy(net, tmp_path, path)
        assert float_nodes(report) == {'conv2'}
        again = tmp_path / ('b.encodings' if version == '1.0.0' else 'b.aimet0.json')
        pipeline.run('model_tool', 'scales', 'convert', path, again)
        assert json.loads(again.read_text())['excluded_layers'] == ['conv2']


def test_precisions_of_fused_operators_and_of_inputs(net, tmp_path):
    (tmp_path / 'net_qtable').write_text('c1_Conv F32\nx F32\nr1_Relu INT8\n')
    report = deploy(net, tmp_path, tmp_path / 'net_qtable')
    assert float_nodes(report) == {'conv1'}
    assert 'precisions of inputs not used' in report['warnings'] and 'configuration' not in report['warnings']


# --- names ---


def test_a_table_no_name_of_which_is_in_the_model_is_an_error(net, tmp_path):
    for name, text in (('net_qtable', 'zz_Conv F32\nyy_Add INT8\n'), ('net.table', 'zz_param_0 3.0\nzz 4.0\n'),
                       ('net_cali_table', '#weight_scale\nzz 1 0.5 1 0\n')):
        (tmp_path / name).write_text(text)
        error = refused(net, tmp_path, tmp_path / name)
        assert 'is in the model' in error and re.search("'(zz|yy)", error) and 'another model' in error, error


def test_a_model_without_tensors_to_quantize(tmp_path):
    graph = helper.make_graph([helper.make_node('Reshape', ['x', 's'], ['y'])], 'g',
                              [helper.make_tensor_value_info('x', TensorProto.INT32, [1, 4])],
                              [helper.make_tensor_value_info('y', TensorProto.INT32, [4, 1])],
                              [numpy_helper.from_array(np.array([4, 1], np.int64), 's')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7), tmp_path / 'i.onnx')
    scales = scales_yaml(tmp_path / 'a.scales.yaml', 'name: q, scale: 0.1')
    error = pipeline.fails('model_deploy', tmp_path / 'i.onnx', '--scales', scales, '-o', tmp_path / 'p')
    assert "'q'; it has no tensor with a scale" in error


# --- the trace ---


def test_report_and_program_say_which_scales_were_used(net, tmp_path):
    import hashlib
    path = tmp_path / 'trt.cache'
    path.write_text('TRT-8601-E\n' + ''.join(f'{n}: {struct.pack(">f", 0.05).hex()}\n' for n in ('x', 'c1', 'r1', 'zz')))
    report = deploy(net, tmp_path, path, '--report', tmp_path / 'r.html')
    scales = report['scales']
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (scales['file'], scales['format'], scales['sha256']) == (str(path), 'tensorrt', digest)
    assert scales['used'] == ['x', 'r1']
    assert {u['name']: u['why'] for u in scales['unused']} == {
        'c1': 'tensors lie inside of fused operators: their scales have no use', 'zz': 'the model has no such name'}
    meta = json.loads(pipeline.run('model_tool', 'info', tmp_path / 'p.rshift', '--json'))
    assert digest in json.dumps(meta) and 'tensorrt' in json.dumps(meta)
    assert digest in (tmp_path / 'r.html').read_text()
    text = pipeline.run('model_deploy', net / 'net.onnx', '--scales', path, '--calibration', net / 'net.table.yaml', '-o',
                        tmp_path / 'q.rshift', '--no-check')
    assert f'scales: {path} (tensorrt): 2 of 4 names used' in text


# --- there and back ---


def sections(path):
    """{tag: bytes} of a program (codegen/container)."""
    data = path.read_bytes()
    header, count = struct.unpack_from('<II', data, 0x10)
    found = {}
    for i in range(count):
        at = header + 32 * i
        offset, size = struct.unpack_from('<QQ', data, at + 8)
        found[data[at:at + 4]] = data[offset:offset + size]
    return found


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_the_emitted_model_as_scales_gives_the_same_program(mode, net, tmp_path):
    pipeline.deploy(net / 'net.onnx', tmp_path / 'a.rshift', mode=mode, table=net / 'net.table.yaml',
                    extra=('--bias-correction', 'off', '--weight-rounding', 'nearest', '--emit-qdq', tmp_path / 'q.onnx'))
    done = pipeline.call('model_deploy', net / 'net.onnx', '--scales', tmp_path / 'q.onnx', '--mode', mode, '--no-check',
                         '-o', tmp_path / 'b.rshift')
    assert done.returncode == 0 and not done.stderr, done.stderr
    before, after = sections(tmp_path / 'a.rshift'), sections(tmp_path / 'b.rshift')
    assert len(before) > 4 and before.keys() == after.keys()
    assert [tag for tag in before if before[tag] != after[tag]] == [b'META']  # its method: "scales from onnx-qdq"


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_affine_scales_are_the_programs_to_the_last_bit(mode, net, tmp_path):
    rng = np.random.default_rng(43)
    for _ in range(5):
        wanted = {}
        for name in ('x', 'r1', 'c2', 'c3'):
            scale = np.float32(10.0 ** rng.uniform(-6, 3))
            wanted[name] = (scale, 0 if mode == 'symmetric' or name == 'r1' else int(rng.integers(0, 256)))
        entries = [f'name: {n}, scale: {s!s}, zero_point: {z}, signed: {"false" if mode != "symmetric" else "true"}'
                   for n, (s, z) in wanted.items()]
        report = deploy(net, tmp_path, scales_yaml(tmp_path / 'a.scales.yaml', *entries), mode=mode)
        nodes = {n['tensor']: n for n in report['nodes']}
        for name in ('r1', 'c2', 'c3'):
            made = nodes[name]
            scale, zero = wanted[name]
            assert np.float32(made['scale']) == scale, (name, made)
            assert made['zero_point'] == zero - (128 if made['type'] == 's8' and mode == 'asymmetric' else 0)


def test_nothing_is_emitted_of_a_program_below_its_tolerance(net, tmp_path):
    done = pipeline.call('model_deploy', net / 'net.onnx', '--calibration', net / 'net.table.yaml', '-o', tmp_path / 'p.rshift',
                         '--test-input', net / 'x.npy', '--tolerance', '1,1', '--emit-qdq', tmp_path / 'q.onnx',
                         '--emit-fakequantize', tmp_path / 'f.onnx')
    assert done.returncode == 1 and 'below the tolerance' in done.stderr
    assert not any((tmp_path / n).exists() for n in ('p.rshift', 'q.onnx', 'f.onnx'))
