"""No output overwrites an input or another output: refused before any work, for every option of every tool.

The table below says of each option what it names. test_table_has_every_option compares it with --help: whoever
adds an option adds it here, and an option that names a file is then tried against all others.
"""

import os
import re

import numpy as np
import onnx
import pytest

import pipeline

PREPROCESSING = {'--mean': None, '--scale': None, '--color': None, '--resize': None, '--crop': None}

# What an option that takes any text names: the path of a file that is read ('in'), read as data set ('data'), written
# ('out'), or no file (None). A {} stands for the path.
TOOLS = {
    'model_calibrate': {
        'model': ('in', '{}'), '--append': ('in', '{}'), '--append-map': None, '--bind': ('in', 'name={}'), '--dataset': ('data', '{}'),
        '--from-statistics': ('in', '{}'), '--preprocess': ('in', '{}'), '--equalize': ('in', '{}'),
        '--output': ('out', '{}'), '--statistics': ('out', '{}'),
        '--labels': ('in', '{}'), '--picture': ('out', '{}'), '--report': ('out', '{}'),
        '--input-shape': None, '--method': None, '--shard': None, **PREPROCESSING,
    },
    'model_deploy': {
        'model': ('in', '{}'), '--append': ('in', '{}'), '--append-map': None, '--bind': ('in', 'name={}'), '--calibration': ('in', '{}'), '--config': ('in', '{}'),
        '--scales': ('in', '{}'),
        '--target': ('in', '{}'), '--preprocess': ('in', '{}'), '--test-input': ('data', 'name={}'), '--correction-data': ('data', 'name={}'),
        '--output': ('out', '{}'), '--report': ('out', '{}'), '--report-json': ('out', '{}'),
        '--dump-graph': ('out', 'passes={}'), '--sensitivity': ('out', '{}'), '--emit-qdq': ('out', '{}'),
        '--emit-fakequantize': ('out', '{}'), '--auto-config': ('out', '{}'), '--auto-qtable': ('out', '{}'),
        '--auto-report': ('out', '{}'), '--auto-state': ('out', '{}'), '--labels': ('in', '{}'),
        '--input-shape': None, '--variant': None, '--tolerance': None, **PREPROCESSING,
    },
    'model_runner': {
        'program': ('in', '{}'), '--input': ('data', 'name={}'), '--dataset': ('data', '{}'), '--labels': ('in', '{}'),
        '--preprocess': ('in', '{}'), '--names': ('in', '{}'), **PREPROCESSING,
        '--output': ('out', '{}'), '--dump-tensors': ('out', '{}'), '--trace': ('out', '{}'), '--draw': ('out', '{}'),
        '--carry': None, '--isa': None, '--top': None, '--limits': None, '--shard': None,
    },
    'model_tool accuracy': {'counts': ('in', '{}')},
    'model_tool support': {'model': ('in', '{}'), '--append': ('in', '{}'), '--append-map': None, '--input-shape': None, '--bind': ('in', 'name={}'),
                           '--profile': None},
    'model_tool info': {'file': ('in', '{}')},
    'model_tool disasm': {'file': ('in', '{}')},
    'model_tool verify': {'file': ('in', '{}'), '--limits': None},
    'model_tool memory': {'file': ('in', '{}')},
    'model_tool stats': {'file': ('in', '{}')},
    'model_tool diff': {'file': ('in', '{}'), 'other': ('in', '{}')},
    'model_tool cut': {'model': ('in', '{}'), '--input-shape': None, '--inputs': None, '--outputs': None, '--output': ('out', '{}')},
    'model_tool explain': {'table': ('in', '{}'), 'tensor': None, '--model': ('in', '{}'), '--append': ('in', '{}'), '--append-map': None,
                           '--input-shape': None, '--bind': ('in', 'name={}')},
    'model_tool diagnose': {'model': ('in', '{}'), '--append': ('in', '{}'), '--append-map': None, '--input-shape': None, '--bind': ('in', 'name={}'),
                            '--dataset': ('data', '{}'), '--preprocess': ('in', '{}'), '--labels': ('in', '{}'), '--calibration': ('in', '{}'),
                            **PREPROCESSING},
    'model_tool compare': {'file': ('in', '{}'), 'other': ('in', '{}'), '--tolerance': None, '--except': None},
    'model_tool requantize': {'--profile': None, '--variant': None, '--type': None},
    'model_tool graph': {'model': ('in', '{}'), '--append': ('in', '{}'), '--append-map': None, '--input-shape': None, '--bind': ('in', 'name={}'),
                         '--profile': None, '--report': ('in', '{}'), '--output': ('out', '{}')},
    'model_tool vectors': {'program': ('in', '{}'), '--input': ('data', '{}'), '--output': ('out', '{}')},
    'model_tool export': {'model': ('in', '{}'), '--append': ('in', '{}'), '--append-map': None, '--input-shape': None, '--bind': ('in', 'name={}'),
                          '--calibration': ('in', '{}'), '--config': ('in', '{}'), '--variant': None,
                          '--output': ('out', '{}')},
    'model_tool weights': {'model': ('in', '{}'), '--append': ('in', '{}'), '--append-map': None, '--input-shape': None, '--bind': ('in', 'name={}'),
                           '--output': ('out', '{}')},
    'model_tool scales': {'file': ('in', '{}'), 'output': ('out', '{}'), '--from': None, '--to': None,
                          '--model': ('in', '{}'), '--header': None},
}
# Options that the parser takes together only; (tool, option): of that tool.
COMPANION = {'--labels': '--dataset', ('model_deploy', '--labels'): '--correction-data', '--names': '--input', '--trace': '--benchmark',
             **dict.fromkeys(('--correction-data', '--auto-config', '--auto-qtable', '--auto-report', '--auto-state'), '--auto')}
WORDS = {'--benchmark': [], '--auto': []}  # what such a companion is given; others: a file
POSITIONAL = {'model_calibrate': 'model', 'model_deploy': 'model', 'model_runner': 'program'}


def named_files(tool, kind):
    return [(option, what[1]) for option, what in TOOLS[tool].items() if what and what[0] == kind]


def options_of(tool):
    """The options and positional arguments of --help that take any text: no flags, numbers, choices."""
    text = pipeline.run(*tool.split(), '--help').split('Examples:')[0]
    return set(re.findall(r'^ +(?:-\w,)?([\w-]+) TEXT(?![:\w])', text, re.M))


@pytest.mark.parametrize('tool', TOOLS)
def test_table_has_every_option(tool):
    assert options_of(tool) == set(TOOLS[tool]), 'say in TOOLS what this option names'


def test_table_has_every_command():
    text = pipeline.run('model_tool', '--help')
    commands = re.findall(r'^  (\w+) ', text.split('Subcommands:\n')[1].split('\n\n')[0], re.M)
    assert {f'model_tool {command}' for command in commands} == {tool for tool in TOOLS if ' ' in tool}


def companions(tool, option):
    """What must be given with an option, and with that."""
    while option := COMPANION.get((tool, option), COMPANION.get(option)):
        yield option


def arguments(tool, folder, given):
    """A command line with the `given` options, what the parser wants beside them, and files for both."""
    def fresh(name):
        path = folder / name
        path.write_bytes(b'to be kept')
        return path
    words = []
    for option, text in given:
        for companion in companions(tool, option):
            if companion not in dict(given) and companion not in words:
                words += [companion, *(WORDS[companion] if companion in WORDS else [fresh('companion.npy')])]
        words += [text] if option == POSITIONAL[tool] else [option, text]
    if POSITIONAL[tool] not in dict(given):
        words.insert(0, fresh('positional'))
    if tool != 'model_runner' and '--output' not in dict(given):
        words += ['-o', folder / 'other.out']
    return words


def refused(tool, words):
    done = pipeline.call(tool, *words)
    lines = done.stderr.splitlines()
    assert (done.returncode, len(lines), done.stdout) == (2, 1, ''), f'{tool} {words}\n{done.stderr}'
    assert 'is the same file as' in lines[0], lines[0]
    return lines[0]


def pairs(tool):
    """Every input with one output and every output with one input: a run compares all with all in one loop."""
    outputs = named_files(tool, 'out')
    inputs = named_files(tool, 'in') + named_files(tool, 'data')
    return [(outputs[0], read) for read in inputs] + [(out, inputs[0]) for out in outputs[1:]]


@pytest.mark.parametrize('tool', POSITIONAL)
def test_output_that_is_an_input_is_refused(tool, tmp_path):
    for (out, out_form), (read, read_form) in pairs(tool):
        path = tmp_path / 'both.json'
        path.write_bytes(b'to be kept')
        words = arguments(tool, tmp_path, [(read, read_form.format(path)), (out, out_form.format(path))])
        assert f'{out} ' in refused(tool, words)
        assert path.read_bytes() == b'to be kept'


@pytest.mark.parametrize('exists', (True, False))
@pytest.mark.parametrize('tool', POSITIONAL)
def test_two_outputs_that_are_one_file_are_refused(tool, exists, tmp_path):
    outputs = named_files(tool, 'out')
    for (first, first_form), (second, second_form) in zip(outputs, outputs[1:]):
        path = tmp_path / 'both.json'
        if exists:
            path.write_bytes(b'to be kept')
        given = [(first, first_form.format(path)), (second, second_form.format(tmp_path / '.' / 'both.json'))]
        refused(tool, arguments(tool, tmp_path, given))
        assert not exists or path.read_bytes() == b'to be kept'
    assert exists or not (tmp_path / 'both.json').exists()


def test_links_and_spellings_are_seen_through(tmp_path, monkeypatch):
    model, folder = tmp_path / 'net.onnx', tmp_path / 'folder'
    folder.mkdir()
    content = pipeline.EXAMPLE.read_bytes()
    model.write_bytes(content)
    (tmp_path / 'symbolic').symlink_to('net.onnx')
    os.link(model, tmp_path / 'hard')
    (tmp_path / 'linked folder').symlink_to('folder')
    monkeypatch.chdir(folder)
    for spelling in (model, '../net.onnx', '../linked folder/../net.onnx', tmp_path / 'symbolic', tmp_path / 'hard'):
        for first, second in ((model, spelling), (spelling, model)):
            refused('model_deploy', (first, '--mode', 'f32', '-o', second))
    assert model.read_bytes() == content and (tmp_path / 'hard').samefile(model)
    pipeline.run('model_deploy', model, '--mode', 'f32', '-o', folder / 'net.onnx')  # another file of this name


def test_samples_of_a_folder_and_of_a_list_are_not_overwritten(tmp_path):
    photos = tmp_path / 'photos' / 'cat'
    photos.mkdir(parents=True)
    sample = photos / 'a.npy'
    np.save(sample, np.zeros((1, 1, 28, 28), np.float32))
    content = sample.read_bytes()
    (tmp_path / 'list.txt').write_text('photos/cat/a.npy\n')
    (tmp_path / 'symbolic').symlink_to(sample)
    os.link(sample, tmp_path / 'hard')
    for data in (tmp_path / 'photos', tmp_path / 'list.txt'):
        for output in (sample, tmp_path / 'symbolic', tmp_path / 'hard'):
            refused('model_calibrate', (pipeline.EXAMPLE, '--dataset', data, '-o', output))
    assert sample.read_bytes() == content
    # A table beside the samples is none of them, the second time neither.
    for _ in range(2):
        pipeline.calibrate(pipeline.EXAMPLE, photos, photos / 'table.yaml')


def test_samples_that_a_table_recorded_are_not_overwritten(tmp_path):
    sample = tmp_path / 'x.npy'
    np.save(sample, np.zeros((2, 1, 28, 28), np.float32))
    content = sample.read_bytes()
    pipeline.calibrate(pipeline.EXAMPLE, sample, tmp_path / 't.yaml')
    for option in ('-o', '--report'):
        others = () if option == '-o' else ('-o', tmp_path / 'other')
        refused('model_deploy', (pipeline.EXAMPLE, '--calibration', tmp_path / 't.yaml', *others, option, sample))
    assert sample.read_bytes() == content


def test_checkpoint_of_an_output_is_an_output(tmp_path):
    data = tmp_path / 't.yaml.partial.stats'
    data.write_bytes(b'to be kept')
    refused('model_calibrate', (pipeline.EXAMPLE, '--dataset', data, '-o', tmp_path / 't.yaml'))
    refused('model_calibrate', (pipeline.EXAMPLE, '--dataset', 'x.npy', '-o', tmp_path / 't.yaml', '--statistics', data))
    pipeline.fails('model_calibrate', pipeline.EXAMPLE, '--from-statistics', data, '-o', tmp_path / 't.yaml')
    assert data.read_bytes() == b'to be kept'


def test_external_data_of_a_model_is_not_overwritten(tmp_path):
    model = onnx.load(pipeline.EXAMPLE)
    onnx.save(model, tmp_path / 'net.onnx', save_as_external_data=True, location='weights.bin', size_threshold=0)
    content = (tmp_path / 'weights.bin').read_bytes()
    os.link(tmp_path / 'weights.bin', tmp_path / 'hard')
    for output in ('weights.bin', 'hard'):
        error = pipeline.fails('model_deploy', tmp_path / 'net.onnx', '--mode', 'f32', '-o', tmp_path / output)
        assert 'external data' in error and output in error
    pipeline.fails('model_calibrate', tmp_path / 'net.onnx', '--dataset', pipeline.TEST_IMAGES, '-o',
                   tmp_path / 'weights.bin')
    assert (tmp_path / 'weights.bin').read_bytes() == content
    pipeline.run('model_deploy', tmp_path / 'net.onnx', '--mode', 'f32', '-o', tmp_path / 'net.rshift')


def test_devices_are_no_files_that_can_be_overwritten(tmp_path):
    pipeline.run('model_deploy', pipeline.EXAMPLE, '--mode', 'f32', '-o', '/dev/null', '--report', '/dev/null',
                 '--report-json', tmp_path / 'r.json')


def test_empty_value_of_an_option_is_wrong_usage(tmp_path):
    for options in (('-o', ''), ('-o', tmp_path / 'n', '--report', '')):
        done = pipeline.call('model_deploy', pipeline.EXAMPLE, '--mode', 'f32', *options)
        assert done.returncode == 2 and 'empty' in done.stderr
