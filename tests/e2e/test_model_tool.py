"""model_tool: JSON of every subcommand, their help, mistyped names, comparing files that differ, files of other kinds."""

import json
import re
import subprocess

import numpy as np
import pytest
from onnx import TensorProto, helper

import oracle
import pipeline

RECIPE = pipeline.PREPROCESS / 'fashion_mnist.yaml'
SUBCOMMANDS = ('support', 'info', 'disasm', 'verify', 'diff', 'memory', 'compare', 'stats', 'requantize', 'explain', 'diagnose')


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """table.yaml, all.stats, symmetric.rshift, asymmetric.rshift of the bundled model."""
    folder = tmp_path_factory.mktemp('files')
    pipeline.calibrate(pipeline.EXAMPLE, pipeline.TRAIN_IMAGES, folder / 'table.yaml', samples=8,
                       preprocess=RECIPE, extra=('--statistics', folder / 'all.stats'))
    for mode in pipeline.INTEGER_MODES:
        pipeline.deploy(pipeline.EXAMPLE, folder / f'{mode}.rshift', mode=mode, table=folder / 'table.yaml')
    return folder


def parsed(tool, *args):
    """The JSON a program prints, which must be all that it prints."""
    return json.loads(pipeline.run(tool, *args))


def test_memory_and_info_agree_about_the_arena(files):
    program = files / 'symmetric.rshift'
    info, memory = (parsed('model_tool', name, program, '--json') for name in ('info', 'memory'))
    assert memory['arena_bytes'] == info['arena_bytes']
    assert memory['constant_bytes'] == info['constant_bytes']
    last = max(block['offset'] + block['bytes'] for block in memory['blocks'])
    assert last <= memory['arena_bytes'] - memory['slack_bytes'] < last + 64
    text = pipeline.run('model_tool', 'memory', program)
    assert int(re.search(r'^arena +(\d+) bytes', text, re.MULTILINE)[1]) == info['arena_bytes']


def test_json_of_a_program_says_what_its_text_says(files):
    program = files / 'symmetric.rshift'
    assert parsed('model_tool', 'verify', program, '--json')['commands'] == len(
        parsed('model_tool', 'disasm', program, '--json')['commands'])
    listed = parsed('model_tool', 'disasm', program, '--json')
    lines = [line for line in pipeline.run('model_tool', 'disasm', program).splitlines()
             if re.match(r' *\d+ ', line)]
    assert len(lines) == len(listed['commands'])
    for line, command in zip(lines, listed['commands'], strict=True):
        assert line.split()[1] == command['opcode'] and line.endswith('; ' + command['node'])
        assert f"dst={listed['tensors'][command['tensors']['dst']]['name']}:" in line
        for field, value in command['fields'].items():
            if isinstance(value, int):
                assert f' {field}={value}' in line, line


def test_json_of_statistics_says_what_their_text_says(files):
    listed = parsed('model_tool', 'stats', files / 'all.stats', '--json')
    assert listed['samples'] == 8
    text = pipeline.run('model_tool', 'stats', files / 'all.stats')
    for tensor in listed['tensors']:
        assert f"count {tensor['count']} zeros {tensor['zeros']} " in text
    assert text.count('\n') == 2 + len(listed['tensors'])


def test_json_of_a_difference(files):
    a, b = files / 'symmetric.rshift', files / 'asymmetric.rshift'
    same = parsed('model_tool', 'diff', a, a, '--json')
    assert same['equal'] and same['constants_equal'] and same['meta'] == same['disassembly'] == []
    done = pipeline.call('model_tool', 'diff', a, b, '--json')
    assert done.returncode == 1
    other = json.loads(done.stdout)
    assert not other['equal'] and other['disassembly']
    assert {'key': 'mode', 'a': 'symmetric', 'b': 'asymmetric'} in other['meta']


def test_deploy_prints_its_report_as_json(files, tmp_path):
    args = (pipeline.EXAMPLE, '--calibration', files / 'table.yaml', '-o', tmp_path / 'p.rshift', '--json')
    printed = parsed('model_deploy', *args, '--report-json', tmp_path / 'r.json')
    assert printed == json.loads((tmp_path / 'r.json').read_text(encoding='utf-8'))
    assert printed['file_bytes'] == (tmp_path / 'p.rshift').stat().st_size
    assert pipeline.call('model_deploy', *args, '--dump-graph', 'passes').returncode == 2


def test_names_that_are_no_utf8_still_make_json(tmp_path):
    graph = helper.make_graph([helper.make_node('Relu', ['x'], ['y'], name='NAME')], 'g',
                              [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 4])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 4])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
    path, program = tmp_path / 'net.onnx', tmp_path / 'net.rshift'
    path.write_bytes(model.SerializeToString().replace(b'NAME', b'\xff\xfe"\x01'))
    pipeline.deploy(path, program, mode='f32')
    for args in (('support', path), ('info', program), ('disasm', program), ('memory', program)):
        json.loads(pipeline.run('model_tool', *args, '--json'))
        done = subprocess.run([pipeline.BIN / 'model_tool', *args], capture_output=True, check=True)
        assert b'\x01' not in done.stdout  # nor does a control character reach a terminal


@pytest.mark.parametrize('name', SUBCOMMANDS)
def test_every_subcommand_has_examples_of_its_own(name):
    text = pipeline.run('model_tool', name, '--help')
    examples = text.split('Examples:\n')[1].splitlines()
    assert len(examples) >= 2
    assert any(f'model_tool {name} ' in line for line in examples)
    assert '--json' in text


def test_help_of_no_tool_holds_astronomic_bounds():
    for tool in ('model_calibrate', 'model_deploy', 'model_runner', 'model_tool'):
        assert not re.search(r'\d{12}', pipeline.run(tool, '--help'))
    done = pipeline.call('model_calibrate', pipeline.EXAMPLE, '--dataset', pipeline.TRAIN_IMAGES,
                         '--samples', '-1', '-o', 'x.yaml')
    assert done.returncode == 2 and not re.search(r'\d{12}', done.stderr)


def test_a_mistyped_subcommand_is_named_with_the_nearest():
    for typed, part in (('verfy', "'verfy' is no subcommand; did you mean 'verify'?"),
                        ('zzzz', "'zzzz' is no subcommand, expected one of support, info"),
                        ('--bogus', '--bogus: unknown option')):
        done = pipeline.call('model_tool', typed, 'net.rshift')
        assert done.returncode == 2
        assert part in done.stderr and done.stderr.count('error:') == 1, done.stderr
    done = pipeline.call('model_tool')
    assert done.returncode == 2 and 'a subcommand is missing' in done.stderr


def test_compare_goes_on_behind_an_array_that_one_file_lacks(tmp_path):
    a, b = tmp_path / 'a.npz', tmp_path / 'b.npz'
    x = np.arange(1, 5, dtype=np.float32)
    np.savez(a, first=x, mine=x, z_far=-x, shape=x)
    np.savez(b, first=x, yours=x, z_far=x, shape=x.reshape(2, 2))
    done = pipeline.call('model_tool', 'compare', a, b)
    assert done.returncode == 1
    for line in ('ok     first', 'FAILED z_far', 'FAILED shape', f'only in {a}: mine', f'only in {b}: yours'):
        assert line in done.stdout, done.stdout
    assert '2 of 3 arrays are below' in done.stderr and "has 'mine'" in done.stderr, done.stderr
    error = pipeline.fails('model_tool', 'compare', a, b, '--except', 'z_*', '--except', 'shape')
    assert '--common' in error and 'below' not in error
    pipeline.run('model_tool', 'compare', a, b, '--except', 'z_*', '--except', 'shape', '--common')
    pipeline.run('model_tool', 'compare', a, b, *(f'--except={n}' for n in ('z_far', 'shape', 'mine', 'yours')))
    assert 'nowhere' in pipeline.fails('model_tool', 'compare', a, b, '--except', 'nowhere')
    np.savez(b, yours=x)
    assert 'nothing to compare' in pipeline.fails('model_tool', 'compare', a, b, '--common')
    listed = json.loads(pipeline.call('model_tool', 'compare', a, a, '--json').stdout)
    assert listed['compared'] == 4 and listed['only_a'] == []


def test_a_file_of_another_kind_is_named(files, tmp_path):
    program, table = files / 'symmetric.rshift', files / 'table.yaml'
    tflite = tmp_path / 'net.tflite'
    tflite.write_bytes(b'\x1c\0\0\0TFL3' + bytes(200))
    assert 'is of version 0 of the TensorFlow Lite format' in pipeline.fails('model_tool', 'support', tflite)
    assert 'TensorFlow Lite' in pipeline.fails(
        'model_calibrate', tflite, '--dataset', pipeline.TRAIN_IMAGES, '-o', tmp_path / 't.yaml')
    assert 'model_runner runs it' in pipeline.fails(
        'model_deploy', program, '--mode', 'f32', '-o', tmp_path / 'p.rshift')
    assert 'model_deploy makes a program of it' in pipeline.fails('model_tool', 'info', pipeline.EXAMPLE)
    assert 'model_deploy makes a program of it' in pipeline.fails(
        'model_runner', pipeline.EXAMPLE, '--input', tmp_path / 'x.npy')
    assert 'give it to model_deploy --calibration' in pipeline.fails('model_tool', 'stats', table)


def test_config_errors_name_entry_file_and_line(files, tmp_path):
    config = tmp_path / 'layers.yaml'
    config.write_text('layers:\n  "*conv*": {mode: f32}\n  "nowhere_*": {mode: f32}\n', encoding='utf-8')
    args = ('--calibration', files / 'table.yaml', '-o', tmp_path / 'p.rshift', '--config', config)
    error = pipeline.fails('model_deploy', pipeline.EXAMPLE, *args)
    assert f"{config}:3: 'nowhere_*' matches no layer" in error
    config.write_text('layers:\n  "*conv*": {mode: f32}\ntypes:\n  MatMul: {mode: f32}\n', encoding='utf-8')
    report = parsed('model_deploy', pipeline.EXAMPLE, *args, '--json')
    said = [n for n in report['float_nodes'] if n['reason'] == 'the configuration says f32']
    assert {n['op'] for n in said} >= {'Conv', 'MatMul'}
    assert all('conv' in n['node'] or n['op'] == 'MatMul' for n in said)
    np.save(tmp_path / 'x.npy', oracle.fashion_images(count=1))
    pipeline.run('model_runner', tmp_path / 'p.rshift', '--input', tmp_path / 'x.npy')
