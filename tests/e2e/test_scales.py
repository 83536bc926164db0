"""Scales of other tools: files as those tools write them, in and out, and a model deployed by them.

The files are made here by hand, from the documents that the headers of interop/*.cc name, or by the tool itself where
it can be had; what is read from them is compared with the numbers they were made of.
"""

import json
import re
import struct

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import pipeline
from little_onnx import save

NAMES = ['x', 'conv1_out', 'relu1', 'y']


def convert(source, target, *extra):
    """Runs `scales convert`; returns what it noted on stderr."""
    done = pipeline.call('model_tool', 'scales', 'convert', source, target, *extra)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert all(line.startswith('note: ') for line in lines), done.stderr
    return [line.removeprefix('note: ') for line in lines]


def show(path, *extra):
    """{name: entry} of a file of scales."""
    entries = json.loads(pipeline.run('model_tool', 'scales', 'show', path, '--json', *extra))['entries']
    return {entry['name']: entry for entry in entries}


def refused(text, tmp_path, *words, name='bad.txt', extra=()):
    path = tmp_path / name
    path.write_text(text)
    error = pipeline.fails('model_tool', 'scales', 'show', path, *extra)
    for word in words:
        assert word in error, error


def float_bits(number):
    return struct.pack('>f', number).hex()


def tensorrt_cache(scales):
    return 'TRT-8601-EntropyCalibration2\n' + ''.join(f'{n}: {float_bits(s)}\n' for n, s in scales.items())


# --- each format ---


def test_tensorrt(tmp_path):
    scales = {'x': 0.0078125, '(Unnamed Layer* 3) [Shuffle]_output': 0.1, 'a:0': 3.25}
    cache = tmp_path / 'net.cache'
    cache.write_text(tensorrt_cache(scales))
    entries = show(cache)
    assert {n: e['scale'] for n, e in entries.items()} == {n: [float(np.float32(s))] for n, s in scales.items()}
    convert(cache, tmp_path / 'net.scales.yaml')
    convert(tmp_path / 'net.scales.yaml', tmp_path / 'again.cache')
    assert (tmp_path / 'again.cache').read_text() == cache.read_text()
    convert(cache, tmp_path / 'other.cache', '--header', 'TRT-10300-MinMaxCalibration')
    assert (tmp_path / 'other.cache').read_text().startswith('TRT-10300-MinMaxCalibration\n')


def test_tensorrt_of_thresholds_is_the_threshold_by_127(tmp_path):
    table = tmp_path / 'net_cali_table'
    table.write_text('# op_name    threshold    min    max\nx 1.0 -0.5 1.0\ny 56.4281803 -102.58 97.7\n')
    convert(table, tmp_path / 'net.cache')
    assert (tmp_path / 'net.cache').read_text().splitlines()[1:] == [
        f'x: {float_bits(1 / 127)}', f'y: {float_bits(np.float64(56.4281803) / 127)}']


def test_tpu_mlir_table_with_its_sections(tmp_path):
    table = tmp_path / 'net_cali_table'
    table.write_text('# genetated time: 2022-08-11\n# op_name    threshold    min    max\n'
                     'images 1.0000080 0.0000000 1.0000080\n122_Conv 56.4281803 -102.5830231 97.6811752\n'
                     '#int4_th\n124_Mul 3.5 -0.27 3.4\n#weight_scale\nconv1_weight 2 0.01 0.02 2 0 0\n')
    entries = show(table)
    assert entries['122_Conv']['threshold'] == 56.4281803 and entries['122_Conv']['low'] == [-102.5830231]
    assert entries['124_Mul']['bits'] == 4
    assert entries['conv1_weight']['kind'] == 'weights' and entries['conv1_weight']['scale'] == [0.01, 0.02]
    convert(table, tmp_path / 'again_cali_table')
    again = show(tmp_path / 'again_cali_table')
    assert {n: e['bits'] for n, e in again.items()} == {n: e['bits'] for n, e in entries.items()}
    assert again['conv1_weight']['scale'] == [0.01, 0.02]


def test_tpu_mlir_quantization_table(tmp_path):
    qtable = tmp_path / 'net_qtable'
    qtable.write_text('# genetated time: x\n# op_name   quantize_mode\nconv1_Conv F16\nadd1_Add INT8\n')
    shown = json.loads(pipeline.run('model_tool', 'scales', 'show', qtable, '--json'))
    assert shown['precisions'] == {'add1_Add': 'INT8', 'conv1_Conv': 'F16'}
    refused('conv1 F16\nconv1 F32\n', tmp_path, ':2', 'twice')
    refused('conv1 F16\nconv2 F17\n', tmp_path, ':2', "'conv2 F17'")


def test_ncnn(tmp_path):
    table = tmp_path / 'net.table'
    table.write_text('conv1_param_0 156.639840536 80.25\n#conv2_param_0 10.0\nconv1 127.0\nconv2 63.5\n')
    shown = json.loads(pipeline.run('model_tool', 'scales', 'show', table, '--json'))
    entries = {(e['kind'], e['name']): e['scale'] for e in shown['entries']}
    assert entries == {('layer_weights', 'conv1'): [1 / 156.639840536, 1 / 80.25],
                       ('layer_input', 'conv1'): [1 / 127.0], ('layer_input', 'conv2'): [1 / 63.5]}
    assert shown['precisions'] == {'conv2': 'F32'}
    convert(table, tmp_path / 'net.scales.yaml')
    convert(tmp_path / 'net.scales.yaml', tmp_path / 'again.table')
    again = [line.split() for line in (tmp_path / 'again.table').read_text().splitlines()]
    assert sorted(again) == sorted([['conv1_param_0', str(np.float32(156.639840536)), '80.25'], ['#conv2_param_0'], ['conv1', '127'],
                                    ['conv2', '63.5']])


def aimet(version):
    """Encodings of x (u8, zero point 41), of s (symmetric) and of weights with two channels."""
    numbers = {'x': ([0.01], [-41], False), 's': ([0.02], [-128], True)}
    weights = {'w': ([0.001, 0.002], [-128, -128], True)}
    if version == '1.0.0':
        def items(group):
            return [{'name': n, 'dtype': 'INT', 'bw': 8, 'enc_type': 'PER_TENSOR' if len(s) == 1 else 'PER_CHANNEL',
                     'is_sym': sym, 'scale': s, 'offset': o} for n, (s, o, sym) in group.items()]
        return {'version': version, 'activation_encodings': items(numbers), 'param_encodings': items(weights),
                'excluded_layers': [], 'producer': 'aimet-onnx'}
    def lists(group):
        return {n: [{'bitwidth': 8, 'dtype': 'int', 'is_symmetric': str(sym), 'scale': scale, 'offset': offset,
                     'min': offset * scale, 'max': (255 + offset) * scale} for scale, offset in zip(s, o)]
                for n, (s, o, sym) in group.items()}
    return {'version': version, 'activation_encodings': lists(numbers), 'param_encodings': lists(weights)}


@pytest.mark.parametrize('version', ('0.6.1', '1.0.0'))
def test_aimet(version, tmp_path):
    path = tmp_path / 'net.encodings'
    path.write_text(json.dumps(aimet(version)))
    entries = show(path)
    assert (entries['x']['scale'], entries['x']['zero_point'], entries['x']['signed']) == ([0.01], [41], False)
    assert (entries['s']['scale'], entries['s'].get('zero_point', [0]), entries['s']['signed']) == ([0.02], [0], True)
    assert entries['w']['kind'] == 'weights' and entries['w']['scale'] == [0.001, 0.002]
    again = tmp_path / ('again.encodings' if version == '1.0.0' else 'again.aimet0.json')
    convert(path, again)
    written, given = json.loads(again.read_text()), aimet(version)
    for group in ('activation_encodings', 'param_encodings'):
        if version == '1.0.0':
            assert written[group] == given[group]
        else:
            assert written[group].keys() == given[group].keys()
            for name, channels in given[group].items():
                for mine, theirs in zip(written[group][name], channels, strict=True):
                    assert mine.keys() == theirs.keys()
                    assert (mine['scale'], mine['offset']) == (theirs['scale'], theirs['offset'])
                    assert mine['is_symmetric'] == theirs['is_symmetric']
                    assert np.isclose(mine['min'], theirs['min']) and np.isclose(mine['max'], theirs['max'])


def test_aimet_tensors_in_floating_point(tmp_path):
    path = tmp_path / 'net.encodings'
    path.write_text(json.dumps({'version': '1.0.0', 'param_encodings': [], 'activation_encodings': [
        {'name': 'x', 'dtype': 'FLOAT', 'bw': 16}]}))
    assert show(path)['x']['float']


def test_onnxruntime_reads_what_is_written_and_the_other_way_round(tmp_path):
    calibrate = pytest.importorskip('onnxruntime.quantization.calibrate')
    if not hasattr(calibrate, 'save_tensors_data'):
        pytest.skip('this ONNX Runtime has no save_tensors_data')
    ranges = {'x': (-1.25, 3.5), 'y': (0.0, 0.1)}
    data = calibrate.TensorsData(calibrate.CalibrationMethod.Entropy, {
        n: calibrate.TensorData(lowest=np.array(lo, np.float32), highest=np.array(hi, np.float32))
        for n, (lo, hi) in ranges.items()})
    calibrate.save_tensors_data(data, tmp_path / 'theirs.json')
    entries = show(tmp_path / 'theirs.json')
    assert {n: (e['low'][0], e['high'][0]) for n, e in entries.items()} == {
        n: (lo, float(np.float32(hi))) for n, (lo, hi) in ranges.items()}
    convert(tmp_path / 'theirs.json', tmp_path / 'ours.json')
    back = calibrate.load_tensors_data(tmp_path / 'ours.json')
    assert back.calibration_method == calibrate.CalibrationMethod.Entropy
    for name in ranges:
        assert back[name].range_value == data[name].range_value


def test_older_json_of_onnxruntime(tmp_path):
    path = tmp_path / 'calibration.json'
    path.write_text('{"x": [-1.5, 2], "y": {"CLS": "TensorData", "lowest": -1.0, "highest": {"CLS": "numpy.array", '
                    '"data": [3.0], "dtype": "float32"}}}')
    entries = show(path)
    assert (entries['x']['low'], entries['x']['high'], entries['y']['high']) == ([-1.5], [2], [3])


def write_ir(folder, ranges):
    """An OpenVINO model of Parameter -> FakeQuantize -> Result for each name, as its writer spells it."""
    constants, layers, edges = b'', [], []
    def add(kind, data, outputs, inputs=()):
        number = len(layers)
        ports = ''.join(f'<port id="{len(inputs) + i}" precision="FP32"{names}/>' for i, names in enumerate(outputs))
        layers.append(f'<layer id="{number}" name="n{number}" type="{kind}" version="opset1"><data {data}/>'
                      f'<output>{ports}</output></layer>')
        edges.extend(f'<edge from-layer="{source}" from-port="0" to-layer="{number}" to-port="{port}"/>'
                     for port, source in enumerate(inputs))
        return number
    for name, (low, high) in ranges.items():
        x = add('Parameter', 'shape="1" element_type="f32"', [f' names="{name},alias"'])
        bounds = []
        for number in (low, high, low, high):
            bounds.append(add('Const', f'element_type="f32" shape="" offset="{len(constants)}" size="4"', ['']))
            constants += struct.pack('<f', number)
        add('FakeQuantize', 'levels="256" auto_broadcast="numpy"', [''], [x, *bounds])
    (folder / 'net.xml').write_text(f'<?xml version="1.0"?>\n<net name="m" version="11"><layers>{"".join(layers)}'
                                    f'</layers><edges>{"".join(edges)}</edges></net>')
    (folder / 'net.bin').write_bytes(constants)
    return folder / 'net.xml'


def test_openvino_ranges(tmp_path):
    path = write_ir(tmp_path, {'x': (-1.0, 127 / 128), 'y': (0.0, 2.5)})
    entries = show(path)
    assert {n: (e['low'], e['high']) for n, e in entries.items()} == {'x': ([-1], [127 / 128]), 'y': ([0], [2.5])}
    # The ends of s8 around 0: its scale, not that of the greater magnitude.
    convert(path, tmp_path / 'net.cache')
    assert (tmp_path / 'net.cache').read_text().splitlines()[1] == f'x: {float_bits(1 / 128)}'
    (tmp_path / 'net.bin').write_bytes(b'12')
    assert 'net.bin' in pipeline.fails('model_tool', 'scales', 'show', path)


# --- a model deployed by scales ---


def conv_net(path):
    """x -> Conv -> Relu -> MaxPool -> Conv -> Add of the pool -> Conv -> y."""
    rng = np.random.default_rng(5)
    shapes = {'w1': (3, 2, 3, 3), 'w2': (3, 3, 1, 1), 'w3': (4, 3, 3, 3)}
    weights = [numpy_helper.from_array(rng.normal(size=s).astype(np.float32), n) for n, s in shapes.items()]
    nodes = [helper.make_node('Conv', ['x', 'w1'], ['c1'], name='conv1', pads=[1] * 4),
             helper.make_node('Relu', ['c1'], ['relu1'], name='relu1_node'),
             helper.make_node('MaxPool', ['relu1'], ['pool1'], name='pool', kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node('Conv', ['pool1', 'w2'], ['c2'], name='conv2'),
             helper.make_node('Add', ['c2', 'pool1'], ['sum'], name='add'),
             helper.make_node('Conv', ['sum', 'w3'], ['y'], name='conv3', pads=[1] * 4)]
    save(path, nodes, {'x': (1, 2, 8, 8)}, ['y'], weights, opset=13)


@pytest.fixture(scope='module')
def net(tmp_path_factory):
    folder = tmp_path_factory.mktemp('scales')
    conv_net(folder / 'net.onnx')
    np.save(folder / 'x.npy', np.random.default_rng(6).normal(size=(8, 2, 8, 8)).astype(np.float32))
    pipeline.calibrate(folder / 'net.onnx', folder / 'x.npy', folder / 'net.table.yaml')
    return folder


SCALES = {'x': 0.03, 'relu1': 0.07, 'pool1': 0.07, 'c2': 0.21, 'sum': 0.4, 'y': 0.9}


def deploy(net, program, *options):
    return pipeline.call('model_deploy', net / 'net.onnx', '-o', program, *options)


def tensor_scales(program):
    """{tensor: (type, scale, zero point)} of what the commands write and read."""
    found = re.findall(r'=([^:\s]+):([su]8)\[[^\]]*\]\w*(?:/\d+)?\{([^,]+),(-?\d+)\}',
                       pipeline.run('model_tool', 'disasm', program))
    return {name.split('__')[0]: (dtype, float(scale), int(zero)) for name, dtype, scale, zero in found}


def test_scales_of_tensorrt_are_the_programs_to_the_last_bit(net, tmp_path):
    (tmp_path / 'trt.cache').write_text(tensorrt_cache({**SCALES, 'c1': 0.08}))
    done = deploy(net, tmp_path / 'p.rshift', '--scales', tmp_path / 'trt.cache')
    assert done.returncode == 0, done.stderr
    found = tensor_scales(tmp_path / 'p.rshift')
    for name, scale in SCALES.items():
        assert found[name][0] == 's8' and np.float32(found[name][1]) == np.float32(scale), (name, found)
    assert 'inside of fused operators' in done.stderr  # c1, before its Relu


def test_zero_points_of_aimet_are_the_programs_in_the_asymmetric_mode(net, tmp_path):
    encodings = {'version': '1.0.0', 'param_encodings': [], 'activation_encodings': [
        {'name': n, 'dtype': 'INT', 'bw': 8, 'enc_type': 'PER_TENSOR', 'is_sym': False, 'scale': [s], 'offset': [-40]}
        for n, s in SCALES.items()]}
    (tmp_path / 'a.encodings').write_text(json.dumps(encodings))
    done = deploy(net, tmp_path / 'p.rshift', '--scales', tmp_path / 'a.encodings', '--mode', 'asymmetric')
    assert done.returncode == 0 and 'zero points' not in done.stderr, done.stderr
    for name, (dtype, scale, zero) in tensor_scales(tmp_path / 'p.rshift').items():
        if name in SCALES:
            assert dtype == 's8' and zero == 40 - 128, (name, zero)
            assert abs(np.float32(scale) / np.float32(SCALES[name]) - 1) < 3e-7
    done = deploy(net, tmp_path / 'p.rshift', '--scales', tmp_path / 'a.encodings')
    assert 'zero points not used' in done.stderr


def test_what_the_scales_do_not_say_comes_from_neighbours_and_from_the_table(net, tmp_path):
    (tmp_path / 'trt.cache').write_text(tensorrt_cache({n: SCALES[n] for n in ('x', 'relu1', 'sum', 'y')}))
    error = pipeline.fails('model_deploy', net / 'net.onnx', '--scales', tmp_path / 'trt.cache', '-o', tmp_path / 'p')
    assert "'c2'" in error and '--calibration' in error and 'pool1' not in error
    done = deploy(net, tmp_path / 'p.rshift', '--scales', tmp_path / 'trt.cache', '--calibration',
                  net / 'net.table.yaml')
    assert done.returncode == 0, done.stderr
    found = tensor_scales(tmp_path / 'p.rshift')
    assert np.float32(found['relu1'][1]) == np.float32(SCALES['relu1'])


def test_names_that_the_model_does_not_have_are_said_with_the_nearest(net, tmp_path):
    (tmp_path / 'trt.cache').write_text(tensorrt_cache({**SCALES, 'relu_1': 1.0}))
    done = deploy(net, tmp_path / 'p.rshift', '--scales', tmp_path / 'trt.cache')
    assert "1 of 7 tensors are not in the model: 'relu_1' (nearest: 'relu1')" in done.stderr
    (tmp_path / 'trt.cache').write_text(tensorrt_cache({'other': 1.0}))
    assert 'none of its 1 tensors' in pipeline.fails('model_deploy', net / 'net.onnx', '--scales',
                                                     tmp_path / 'trt.cache', '-o', tmp_path / 'q')
    assert not (tmp_path / 'q').exists()


def test_tensors_at_the_end_without_scale_stay_in_f32(net, tmp_path):
    (tmp_path / 'trt.cache').write_text(tensorrt_cache({n: SCALES[n] for n in ('x', 'relu1', 'c2', 'sum')}))
    done = deploy(net, tmp_path / 'p.rshift', '--scales', tmp_path / 'trt.cache')
    assert done.returncode == 0 and "at the model's end" in done.stderr, done.stderr
    assert list(pipeline.f32_commands(tmp_path / 'p.rshift')) == ['conv_f32']


def test_operators_of_a_quantization_table_stay_in_f32(net, tmp_path):
    (tmp_path / 'qtable').write_text('conv2_Conv F16\nrelu1_Relu INT8\n')
    done = deploy(net, tmp_path / 'p.rshift', '--scales', tmp_path / 'qtable', '--calibration', net / 'net.table.yaml')
    assert done.returncode == 0 and 'operators of F16 run in F32 (1)' in done.stderr, done.stderr
    assert list(pipeline.f32_commands(tmp_path / 'p.rshift')) == ['conv_f32']


def test_ncnn_by_the_model(net, tmp_path):
    error = pipeline.fails('model_tool', 'scales', 'convert', net / 'net.table.yaml', tmp_path / 'net.table')
    assert 'give --model' in error and not (tmp_path / 'net.table').exists()
    convert(net / 'net.table.yaml', tmp_path / 'net.table', '--model', net / 'net.onnx')
    rows = {w[0]: np.array(w[1:], np.float32) for w in map(str.split, (tmp_path / 'net.table').read_text().splitlines())}
    assert list(rows) == ['conv1_param_0', 'conv2_param_0', 'conv3_param_0', 'conv1', 'conv2', 'conv3']
    w1 = numpy_helper.to_array(onnx.load(net / 'net.onnx').graph.initializer[0])
    np.testing.assert_allclose(rows['conv1_param_0'], 127 / np.abs(w1).max(axis=(1, 2, 3)), rtol=1e-6)
    threshold = show(net / 'net.table.yaml')['x']['threshold']
    np.testing.assert_allclose(rows['conv1'], 127 / threshold, rtol=1e-6)
    done = deploy(net, tmp_path / 'p.rshift', '--scales', tmp_path / 'net.table', '--calibration',
                  net / 'net.table.yaml')
    assert done.returncode == 0, done.stderr
    found = tensor_scales(tmp_path / 'p.rshift')
    assert np.isclose(found['x'][1], threshold / 127, rtol=1e-6)


def test_scales_of_weights_with_another_number_of_channels_are_refused(net, tmp_path):
    encodings = {'version': '1.0.0', 'activation_encodings': [], 'param_encodings': [
        {'name': 'w1', 'dtype': 'INT', 'bw': 8, 'is_sym': True, 'scale': [0.1] * 4, 'offset': [-128] * 4}]}
    (tmp_path / 'a.encodings').write_text(json.dumps(encodings))
    error = pipeline.fails('model_deploy', net / 'net.onnx', '--scales', tmp_path / 'a.encodings', '--calibration',
                           net / 'net.table.yaml', '-o', tmp_path / 'p')
    assert "'w1' have 4 scales" in error and '3, one for each output channel' in error


# --- errors ---


def test_malformed_files_are_one_error_each(tmp_path):
    refused('', tmp_path, 'no format of scales')
    refused('hello world\n', tmp_path, '--from')
    refused('TRT-8601-E\nx 3c010204\n', tmp_path, ':2', 'hexadecimal')
    refused('TRT-8601-E\nx: 3c01020g\n', tmp_path, ':2')
    refused(f'TRT-8601-E\nx: {float_bits(-1.0)}\n', tmp_path, "'x'", 'scale is -1')
    refused(f'TRT-8601-E\nx: {float_bits(float("nan"))}\n', tmp_path, "'x'", 'finite')
    refused('TRT-8601-E\nx: 3c010204\nx: 3c010204\n', tmp_path, "'x'", 'twice')
    refused('x 1 -1 1\ny nan -1 1\n', tmp_path, "'y'", 'finite')
    refused('x 1 -1 1\ny -3 -1 1\n', tmp_path, "'y'", '>= 0')
    refused('x 1 2 1\n', tmp_path, "'x'", 'low <= high')
    refused('x 1 -1 1\nx 1 -1 1\n', tmp_path, 'twice')
    refused('conv_param_0 1.0\nconv -2\n', tmp_path, ':2', '> 0')
    refused('{"version": "1.0.0", "activation_encodings": [', tmp_path, 'not JSON')
    refused('{"x": [1, NaN]}', tmp_path, 'not JSON', 'NaN')
    refused('{"x": [1, 2], "x": [1, 2]}', tmp_path, "'x' occurs twice")
    refused('{"x": [1, 2, 3]}', tmp_path, "'x'", '[low, high]')
    refused('rshift_scales: 1\nentries:\n  - {name: x, scale: [0.1, 0.2], zero_point: 3}\n', tmp_path, '2 scales and 1')
    refused('rshift_scales: 1\nentries:\n  - {name: x, scale: 0.1, zero_point: 300}\n', tmp_path, 'zero point is 300')
    refused('rshift_scales: 2\n', tmp_path, ':1', 'version 2')
    refused('rshift_scales: 1\nentries:\n  - {name: x, scales: 0.1}\n', tmp_path, ':3', 'scales')
    bad = aimet('1.0.0')
    bad['activation_encodings'][0]['offset'] = [0, 0, 0]
    refused(json.dumps(bad), tmp_path, "'x'", '1 scales and 3 offsets')
    bad = aimet('1.0.0')
    bad['activation_encodings'][0]['scale'] = [-0.1]
    refused(json.dumps(bad), tmp_path, "'x'", 'scale is -0.1')
    refused(json.dumps({**aimet('1.0.0'), 'version': '2.0.0'}), tmp_path, 'version 2.0.0')
    refused('<net ><layers>', tmp_path, 'not XML')


def test_wrong_usage_of_scales(net, tmp_path):
    table = net / 'net.table.yaml'
    for words, said in ((('convert', table), 'missing'), (('show', table, tmp_path / 'x'), 'leave the other out'),
                        (('convert', table, tmp_path / 'x', '--to', 'tensort'), "'tensorrt'"),
                        (('show', table, '--to', 'ncnn'), '--to'),
                        (('convert', table, tmp_path / 'x.xml'), 'read only'),
                        (('convert', table, table), 'same file')):
        done = pipeline.call('model_tool', 'scales', *words)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count('\n') == 1, done.stderr
    error = pipeline.fails('model_tool', 'scales', 'convert', table, tmp_path / 'noending')
    assert '--to' in error
    error = pipeline.fails('model_tool', 'scales', 'convert', table, tmp_path / 'net.qtable.txt')
    assert 'nothing of it can be written' in error and not (tmp_path / 'net.qtable.txt').exists()
    done = pipeline.call('model_deploy', net / 'net.onnx', '--scales', table, '--mode', 'f32', '-o', tmp_path / 'p')
    assert done.returncode == 2 and '--scales' in done.stderr


def test_a_table_through_our_own_form_gives_the_same_program(net, tmp_path):
    convert(net / 'net.table.yaml', tmp_path / 'net.scales.yaml')
    programs = []
    for option, path in (('--calibration', net / 'net.table.yaml'), ('--scales', tmp_path / 'net.scales.yaml'),
                         ('--scales', net / 'net.table.yaml')):
        done = deploy(net, tmp_path / 'p.rshift', option, path, '--no-check')
        assert done.returncode == 0, done.stderr
        programs.append(pipeline.run('model_tool', 'disasm', tmp_path / 'p.rshift'))
    assert programs[0] == programs[1] == programs[2]
