"""model_tool scales: what formats cannot hold or mean, numbers out of range, names, options, and files of other kinds."""

import json
import struct

import numpy as np
import pytest
from onnx import helper, numpy_helper

import pipeline
from little_onnx import save


def convert(source, target, *extra):
    done = pipeline.call('model_tool', 'scales', 'convert', source, target, *extra)
    assert done.returncode == 0, done.stderr
    return done.stderr


def shown(path, *extra):
    return json.loads(pipeline.run('model_tool', 'scales', 'show', path, '--json', *extra))


def show(path):
    return {entry['name']: entry for entry in shown(path)['entries']}


def ours(path, *entries):
    path.write_text('rshift_scales: 1\nentries:\n' + ''.join(f'  - {{{entry}}}\n' for entry in entries))
    return path


def refused(path, *words):
    error = pipeline.fails('model_tool', 'scales', 'show', path)
    for word in words:
        assert word in error, error


# --- names of files, and what they are ---


def test_the_longest_ending_names_the_format(tmp_path):
    source = ours(tmp_path / 'a.scales.yaml', 'name: x, threshold: 1.5')
    for name, kind in (('b.table.yaml', 'rshift_calibration: 1'), ('b.scales.yaml', 'rshift_scales: 1'),
                       ('b.yaml', 'rshift_scales: 1'), ('b.aimet.json', 'activation_encodings'), ('b.json', 'TensorsData')):
        convert(source, tmp_path / name)
        assert kind in (tmp_path / name).read_text(), name


def test_a_byte_order_mark_is_passed_over(tmp_path):
    path = tmp_path / 'bom.cache'
    path.write_bytes(b'\xef\xbb\xbfTRT-8601-E\r\nx: 3c010204\r\n')
    assert shown(path)['format'] == 'tensorrt'
    assert show(path)['x']['scale'] == list(struct.unpack('>f', bytes.fromhex('3c010204')))


def test_json_that_is_none_of_the_formats_is_not_taken_for_one(tmp_path):
    for text in ('{"a": 1}', '{"a": {"b": [1, 2]}}', '{"name": "x", "layers": []}'):
        (tmp_path / 'a.json').write_text(text)
        refused(tmp_path / 'a.json', 'no format of scales')


def test_version_2_of_aimet_is_refused_by_name(tmp_path):
    (tmp_path / 'a.encodings').write_text(json.dumps(
        {'version': '2.0.0', 'encodings': [{'name': 'x', 'output_dtype': 'int8', 'y_scale': 0.1}]}))
    refused(tmp_path / 'a.encodings', 'version 2.0.0 of AIMET', '1.0.0')


def test_a_table_of_weights_alone_is_tpu_mlirs(tmp_path):
    source = ours(tmp_path / 'a.scales.yaml', 'name: w, kind: weights, bits: 4, scale: [0.1, 0.2], signed: true')
    said = convert(source, tmp_path / 'a_cali_table')
    assert 'widths of weights left out' in said
    (tmp_path / 'bare').write_text('#weight_scale\nw 2 0.1 0.2 2 0 0\n')
    for name in ('a_cali_table', 'bare'):
        assert shown(tmp_path / name)['format'] == 'tpu-mlir' and show(tmp_path / name)['w']['scale'] == [0.1, 0.2]


# --- options that mean nothing to a format ---


def test_options_that_the_format_does_not_take_are_refused(tmp_path):
    source = ours(tmp_path / 'a.scales.yaml', 'name: x, threshold: 1.5')
    for target, option in (('b.cache', ['--symmetric']), ('b.table.yaml', ['--symmetric']), ('b.json', ['--symmetric']),
                           ('b.encodings', ['--header', 'TRT-1-x']), ('b_cali_table', ['--header', 'TRT-1-x'])):
        done = pipeline.call('model_tool', 'scales', 'convert', source, tmp_path / target, *option)
        assert done.returncode == 2 and f'{option[0]} means nothing to' in done.stderr, done.stderr
        assert not (tmp_path / target).exists()
    for header in ('hello', 'TRT-1\nx: 0'):
        error = pipeline.fails('model_tool', 'scales', 'convert', source, tmp_path / 'b.cache', '--header', header)
        assert '--header' in error and not (tmp_path / 'b.cache').exists()


# --- numbers ---


def test_numbers_that_no_float_holds_are_refused_by_name(tmp_path):
    for entry, words in (('scale: 1e-300', ('at least',)), ('scale: 1e300', ('at most',)), ('threshold: 3e38', ('at most',)),
                         ('low: -3e38, high: 1', ('at most',)), ('threshold: 1, min: -1e300, max: 1', ('at most',)),
                         ('scale: 1e999', ('1e999', 'finite')), ('scale: 0.1, bits: 4294967304', ('bits',)),
                         ('scale: 0.1, axis: 4294967296', ('axis',)), ('scale: 0.1, axis: 300', ('axis is 300',)),
                         ('scale: 0.1, axis: -7', ('axis is -7',)), ('scale: 0.1, bits: 1', ('1 bits',)),
                         ('float: true, scale: 0.1', ('floating point',))):
        refused(ours(tmp_path / 'a.scales.yaml', f'name: abc, {entry}'), "'abc'", *words)
    for text in ('abc 1e999 -1 1\n', 'abc 1 -1 1e-999\n'):
        (tmp_path / 'a_cali_table').write_text(text)
        refused(tmp_path / 'a_cali_table', ':1', 'out of the range of numbers')
    (tmp_path / 'a.encodings').write_text(json.dumps({'version': '1.0.0', 'param_encodings': [], 'activation_encodings': [
        {'name': 'abc', 'dtype': 'INT', 'bw': 8, 'scale': [0.02], 'axis': 1 << 40}]}))
    refused(tmp_path / 'a.encodings', "'abc': axis")
    (tmp_path / 'a.json').write_text('{"abc": [-1e999, 1]}')
    refused(tmp_path / 'a.json', '1e999')


TARGETS = ('b.scales.yaml', 'b.table.yaml', 'b_cali_table', 'b.cache', 'b.encodings', 'b.aimet0.json', 'b.json')


@pytest.mark.parametrize('entry', ('threshold: 1e-37', 'threshold: 1e38', 'scale: 1.2e-38', 'scale: 3.9e35, signed: true',
                                   'low: -1e38, high: 1e38', 'low: 0, high: 1e-37', 'threshold: 0'))
def test_what_is_written_is_read_again_or_refused_by_name(entry, tmp_path):
    source = ours(tmp_path / 'a.scales.yaml', f'name: abc, {entry}')
    for name in TARGETS:
        done = pipeline.call('model_tool', 'scales', 'convert', source, tmp_path / name)
        if done.returncode == 0:
            assert 'abc' in show(tmp_path / name)
        else:
            assert done.returncode == 1 and "'abc'" in done.stderr and 'cannot be written as' in done.stderr, done.stderr
            assert not (tmp_path / name).exists()


def test_many_channels_are_read_again(tmp_path):
    scales = [0.001 + i * 1e-9 for i in range(20000)]
    source = tmp_path / 'a.encodings'
    source.write_text(json.dumps({'version': '1.0.0', 'activation_encodings': [], 'param_encodings': [
        {'name': 'w', 'dtype': 'INT', 'bw': 8, 'is_sym': True, 'scale': scales, 'offset': [-128]}]}))
    convert(source, tmp_path / 'b.scales.yaml')
    assert show(tmp_path / 'b.scales.yaml')['w']['scale'] == scales


# --- AIMET up to 0.6.1 ---


def aimet0(path, *channels):
    path.write_text(json.dumps({'version': '0.6.1', 'param_encodings': {}, 'activation_encodings': {'x': list(channels)}}))
    return path


def channel(**changes):
    return {'bitwidth': 8, 'dtype': 'int', 'is_symmetric': 'True', 'scale': 0.1, 'offset': -128, **changes}


def test_offsets_of_symmetric_encodings_are_kept(tmp_path):
    """-128 and -127 are integers around 0; any other is a zero point, whatever is_symmetric says."""
    for offset, signed, zero in ((-128, True, None), (-127, True, None), (-100, False, [100]), (0, False, None)):
        entry = show(aimet0(tmp_path / 'a.json', channel(offset=offset)))['x']
        assert (entry['signed'], entry.get('zero_point')) == (signed, zero), offset


def test_channels_of_different_kinds_are_refused(tmp_path):
    for change in ({'dtype': 'float'}, {'bitwidth': 4}, {'is_symmetric': 'False'}):
        refused(aimet0(tmp_path / 'a.json', channel(), channel(**change)), "'x'", 'channels differ')
        refused(aimet0(tmp_path / 'a.json', channel(**change), channel()), "'x'", 'channels differ')


# --- names by the model ---


@pytest.fixture(scope='module')
def model(tmp_path_factory):
    rng = np.random.default_rng(51)
    path = tmp_path_factory.mktemp('names') / 'net.onnx'
    constants = [numpy_helper.from_array(rng.normal(size=s).astype(np.float32), n)
                 for n, s in (('w1', (4, 2, 3, 3)), ('w2', (4, 4, 1, 1)))]
    nodes = [helper.make_node('Conv', ['x', 'w1'], ['c_1'], name='conv1'),
             helper.make_node('Relu', ['c_1'], ['a_1'], name='relu1'),
             helper.make_node('Conv', ['a_1', 'w2'], ['y'], name='conv2')]
    save(path, nodes, {'x': (1, 2, 8, 8)}, ['y'], constants, opset=13)
    return path


def test_tpu_mlirs_names_become_the_models_and_back(model, tmp_path):
    table = tmp_path / 'net_cali_table'
    table.write_text('# op_name    threshold    min    max\nx 3.1 -3.1 3\na_1_Relu 3.2 0 3.2\ny_Conv 4 -4 4\nother_Add 1 -1 1\n')
    for target in ('b.cache', 'b.scales.yaml', 'b.table.yaml', 'b.encodings', 'b.json'):
        convert(table, tmp_path / target, '--model', model)
        assert list(show(tmp_path / target)) == ['x', 'a_1', 'y', 'other_Add'], target
    convert(table, tmp_path / 'b.table', '--model', model)
    assert [line.split()[0] for line in (tmp_path / 'b.table').read_text().splitlines()] == [
        'conv1_param_0', 'conv2_param_0', 'conv1', 'conv2']
    convert(tmp_path / 'b.table.yaml', tmp_path / 'c_cali_table', '--model', model)
    lines = [line.split()[0] for line in (tmp_path / 'c_cali_table').read_text().splitlines() if line[0] != '#']
    assert lines == ['x', 'a_1_Relu', 'y_Conv', 'other_Add']
    convert(tmp_path / 'b.cache', tmp_path / 'd.cache')  # without a model the names stay
    assert list(show(tmp_path / 'd.cache')) == list(show(tmp_path / 'b.cache'))


def test_precisions_are_named_as_tpu_mlir_names_operators(model, tmp_path):
    (tmp_path / 'a_qtable').write_text('a_1_Relu F16\ny_Conv F32\n')
    convert(tmp_path / 'a_qtable', tmp_path / 'b.scales.yaml', '--model', model)
    assert shown(tmp_path / 'b.scales.yaml')['precisions'] == {'a_1': 'F16', 'y': 'F32'}
    convert(tmp_path / 'b.scales.yaml', tmp_path / 'c_qtable', '--model', model)
    assert shown(tmp_path / 'c_qtable')['precisions'] == {'a_1_Relu': 'F16', 'y_Conv': 'F32'}
