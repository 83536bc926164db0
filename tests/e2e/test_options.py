"""Options that would change nothing of a run: refused, or said in one line; never silently left out."""

import json

import numpy as np
import pytest
from onnx import helper

import pipeline
from little_onnx import save
from test_paths import TOOLS, arguments, named_files

QDQ = 'models/dscnn_keywords/kws_ref_model_qdq.onnx'


def refused(tool, *words, code=2):
    """The one line of a run that is refused before it prints or writes anything."""
    done = pipeline.call(tool, *words)
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout, len(lines)) == (code, '', 1), f'{tool} {words}\n{done.stdout}\n{done.stderr}'
    assert lines[0].startswith('error: ')
    return lines[0]


@pytest.fixture(scope='module')
def net(tmp_path_factory):
    """A folder with a residual network of ten classes, samples, its table and its program."""
    folder, rng = tmp_path_factory.mktemp('net'), np.random.default_rng(0)
    draw = lambda *shape: (0.3 * rng.standard_normal(shape)).astype(np.float32)
    node = helper.make_node
    save(folder / 'net.onnx',
         [node('Conv', ['x', 'w1', 'b'], ['c1'], name='conv1', pads=[1, 1, 1, 1]),
          node('BatchNormalization', ['c1', 'b', 'b', 'b', 'one'], ['n1'], name='norm1'),
          node('Relu', ['n1'], ['r1'], name='relu1'), node('Conv', ['r1', 'w2', 'b'], ['c2'], name='conv2', pads=[1, 1, 1, 1]),
          node('Add', ['c2', 'r1'], ['a'], name='add'), node('GlobalAveragePool', ['a'], ['p'], name='pool'),
          node('Flatten', ['p'], ['f'], name='flat'), node('Gemm', ['f', 'w3'], ['y'], name='fc')],
         {'x': (1, 3, 8, 8)}, ['y'],
         {'w1': draw(8, 3, 3, 3), 'w2': draw(8, 8, 3, 3), 'w3': draw(8, 10), 'b': draw(8), 'one': np.ones(8, np.float32)})
    save(folder / 'open.onnx', [node('Conv', ['x', 'w1'], ['y'])], {'x': ('N', 3, 'H', 'W')}, ['y'],
         {'w1': draw(8, 3, 3, 3)})
    np.save(folder / 'x.npy', rng.standard_normal((16, 3, 8, 8)).astype(np.float32))
    np.save(folder / 'one.npy', rng.standard_normal((1, 3, 8, 8)).astype(np.float32))
    pipeline.calibrate(folder / 'net.onnx', folder / 'x.npy', folder / 't.yaml')
    pipeline.deploy(folder / 'net.onnx', folder / 'net.rshift', mode='symmetric', table=folder / 't.yaml')
    return folder


@pytest.mark.parametrize('tool', [tool for tool in TOOLS if named_files(tool, 'out')])
def test_minus_is_no_name_of_an_output(tool, tmp_path, monkeypatch, net):
    """Many programs write to the standard output then; ours made a file of that name."""
    (tmp_path / 'here').mkdir()
    monkeypatch.chdir(tmp_path / 'here')
    words = {'model_tool cut': [net / 'net.onnx', '--outputs', 'a'], 'model_tool graph': [net / 'net.rshift'],
             'model_tool weights': [net / 'net.rshift'], 'model_tool vectors': [net / 'net.rshift', '--input', net / 'one.npy'],
             'model_tool export': [net / 'net.onnx', '--format', 'ascend', '--calibration', net / 't.yaml']}
    for option, form in named_files(tool, 'out'):
        if option == '--auto-report':
            continue  # its name has an ending
        if tool == 'model_tool scales':
            given = ['convert', net / 't.yaml', '-', '--to', 'tensorrt']
        elif tool in words:
            given = [*words[tool], option, '-']
        else:
            given = arguments(tool, tmp_path, [(option, form.format('-'))])
        assert ' -: nothing is written to the standard output; give the name of a file' in refused(*tool.split()[:1], *tool.split()[1:], *given)
    assert not list((tmp_path / 'here').iterdir())


def test_residual_bits_that_activation_bits_overrule(net, tmp_path):
    deploy = ('model_deploy', net / 'net.onnx', '--calibration', net / 't.yaml', '-o', tmp_path / 'p', '--no-check')
    assert '--residual-bits 8: with --activation-bits 16 sums of two activations have 16 bits' in refused(
        *deploy, '--activation-bits', 16, '--residual-bits', 8)
    pipeline.run(*deploy, '--activation-bits', 16, '--residual-bits', 16)
    both = (tmp_path / 'p').read_bytes()
    pipeline.run(*deploy, '--activation-bits', 16)
    assert (tmp_path / 'p').read_bytes() == both


def test_options_of_tables_are_refused_where_the_model_holds_its_own_parameters(shared, net, tmp_path):
    deploy = ('model_deploy', shared / QDQ, '-o', tmp_path / 'p')
    for option in (('--shift-negative', 'off'), ('--correction-data', net / 'x.npy'), ('--bias-correction', 'fast'),
                   ('--weight-rounding', 'gptq'), ('--weight-bits', '4'), ('--calibration', net / 't.yaml'), ('--auto',)):
        line = refused(*deploy, *option)
        assert option[0] in line and 'the model holds its own quantization parameters' in line
    assert not (tmp_path / 'p').exists()


def test_dropping_rounds_needs_fake_quantize(shared, net, tmp_path):
    common = ('-o', tmp_path / 'p', '--drop-residual-round')
    for model in ((shared / QDQ,), (net / 'net.onnx', '--calibration', net / 't.yaml')):
        assert '--drop-residual-round is for models with FakeQuantize' in refused('model_deploy', *model, *common)
    assert 'has no meaning with --mode f32' in refused('model_deploy', net / 'net.onnx', '--mode', 'f32', *common)
    assert not (tmp_path / 'p').exists()


def test_correction_data_that_nothing_measures_on(net, tmp_path):
    common = (net / 'net.onnx', '-o', tmp_path / 'p', '--correction-data', net / 'x.npy')
    assert '--correction-data has no meaning with --mode f32' in refused('model_deploy', *common, '--mode', 'f32')
    assert '--correction-data is for --auto' in refused('model_deploy', *common, '--scales', net / 't.yaml')
    pipeline.run('model_deploy', *common, '--scales', net / 't.yaml', '--bias-correction', 'full')


def test_shape_or_array_of_an_input_is_given_once(net, tmp_path):
    deploy = ('model_deploy', net / 'open.onnx', '--mode', 'f32', '-o', tmp_path / 'p')
    shapes = ('--input-shape', 'x:1x3x8x8', '--input-shape', 'x:1x3x9x9')
    assert '--input-shape x:1x3x9x9: this input has a shape already' in refused(*deploy, *shapes)
    bound = ('--bind', f"x={net / 'one.npy'}")
    assert 'this input is bound already' in refused(*deploy, *bound, *bound)
    assert "--input-shape of 'x': --bind gives it an array" in refused(*deploy, *bound, *shapes[:2])


@pytest.mark.parametrize('name, said', (
    ('relu1', "'relu1' is part of 'conv1' after fusion; name that, or its result 'r1'"),
    ('norm1', "'norm1' is part of 'conv1' after fusion; name that, or its result 'r1'"),
    ('c1', "'c1' is part of 'conv1' after fusion; name that, or its result 'r1'"),
    ('norm*', "'norm*' matches 'norm1', which is part of 'conv1' after fusion; name that, or its result 'r1'"),
    ('w1', "'w1' is a constant; name the layer that reads it"),
    ('conv9', "the model has no layer or tensor 'conv9'; did you mean 'conv1', 'conv2'?")))
def test_config_says_where_a_fused_layer_went(name, said, net, tmp_path):
    (tmp_path / 'c.yaml').write_text(f"layers:\n  conv2: {{mode: f32}}\n  '{name}': {{mode: f32}}\n", encoding='utf-8')
    line = refused('model_deploy', net / 'net.onnx', '--calibration', net / 't.yaml', '-o', tmp_path / 'p', '--config',
                   tmp_path / 'c.yaml', code=1)
    assert line.startswith(f"error: {tmp_path / 'c.yaml'}:3: ") and said in line, line


@pytest.mark.parametrize('entry, options', (
    ('{profile: tflite, activation_bits: 16}', ()), ('{profile: tflite}', ('--activation-bits', 16)),
    ('{profile: onnxruntime}', ('--residual-bits', 16))))
def test_sixteen_bits_and_another_profile_of_a_layer(entry, options, net, tmp_path):
    """It was computed as tpu does, and the program said otherwise."""
    (tmp_path / 'c.yaml').write_text(f'layers:\n  conv2: {entry}\n', encoding='utf-8')
    deploy = ('model_deploy', net / 'net.onnx', '--calibration', net / 't.yaml', '-o', tmp_path / 'p', '--no-check', '--config', tmp_path / 'c.yaml')
    done = pipeline.call(*deploy, *options)
    assert done.returncode == 1 and "layer 'conv2' has profile" in done.stderr and 'reads or writes 16 bits' in done.stderr
    assert not (tmp_path / 'p').exists()


def test_sixteen_bits_that_a_layer_of_another_profile_reads(net, tmp_path):
    (tmp_path / 'c.yaml').write_text('layers:\n  conv1: {activation_bits: 16}\n  add: {profile: onnxruntime}\n', encoding='utf-8')
    line = pipeline.fails('model_deploy', net / 'net.onnx', '--calibration', net / 't.yaml', '-o', tmp_path / 'p', '--no-check', '--config', tmp_path / 'c.yaml')
    assert "layer 'add' has profile onnxruntime by the configuration and reads or writes 16 bits" in line, line


def test_options_about_models_are_refused_of_programs(net, tmp_path):
    options = (('--input-shape', 'x:1x3x8x8'), ('--bind', f"x={net / 'one.npy'}"), ('--append', net / 'open.onnx'))
    for command, some in (('weights', options), ('graph', (*options, ('--profile', 'tflite')))):
        out = ('-o', tmp_path / f'{command}.out')
        for option in some:
            assert f"{option[0]}: {net / 'net.rshift'} is a program, in which that is settled" in refused(
                'model_tool', command, net / 'net.rshift', *option, *(out if command == 'graph' else ()))
        pipeline.run('model_tool', command, net / 'net.onnx', '--input-shape', 'x:1x3x8x8', *out)


def test_compare_says_which_arrays_hold_text(tmp_path):
    zeros = np.zeros(3, np.float32)
    np.savez(tmp_path / 'a.npz', f=zeros, names=np.array(['a', 'b']), sample_names=np.array(['x']))
    np.savez(tmp_path / 'b.npz', f=zeros, names=np.array(['a', 'c']), sample_names=np.array(['y']))
    done = pipeline.call('model_tool', 'compare', tmp_path / 'a.npz', tmp_path / 'b.npz')
    assert done.returncode == 0
    assert done.stderr.splitlines() == [f"note: {tmp_path / f}: 'names' holds text, which is not compared; --except 'names' "
                                        'where that is meant' for f in ('a.npz', 'b.npz')]
    done = pipeline.call('model_tool', 'compare', tmp_path / 'a.npz', tmp_path / 'b.npz', '--except', 'names')
    assert (done.returncode, done.stderr) == (0, '')
    for tolerance in ('2,0.9', '0.9,1.1', '-2,0.5', 'nan,0.5'):
        refused('model_tool', 'compare', tmp_path / 'a.npz', tmp_path / 'b.npz', '--tolerance', tolerance)


def test_table_of_another_model_is_named_by_its_file(net, tmp_path):
    pipeline.calibrate(net / 'open.onnx', net / 'x.npy', tmp_path / 'o.yaml', extra=('--input-shape', 'x:1x3x8x8'))
    done = pipeline.call('model_tool', 'diagnose', net / 'net.onnx', '--dataset', net / 'x.npy', '--calibration', tmp_path / 'o.yaml')
    assert done.returncode == 1 and f"error: {tmp_path / 'o.yaml'}: made from another model; give a table of this one" in done.stderr


def test_rules_of_diagnose_take_nothing_else(net):
    for words in ((net / 'net.onnx',), ('--dataset', net / 'x.npy'), ('--mean', '3'), ('--labels', 'l.txt')):
        assert '--rules lists the rules' in refused('model_tool', 'diagnose', '--rules', *words)


def test_labels_need_scores_of_classes(net, tmp_path):
    node = helper.make_node
    save(tmp_path / 'map.onnx', [node('Relu', ['x'], ['y'])], {'x': (1, 3, 8, 8)}, ['y'])
    pipeline.run('model_deploy', tmp_path / 'map.onnx', '--mode', 'f32', '-o', tmp_path / 'map.rshift')
    np.save(tmp_path / 'l.npy', np.arange(16) % 10)
    data = ('--dataset', net / 'x.npy', '--labels', tmp_path / 'l.npy')
    assert "the program's first output is 1x3x8x8, expected one score per class" in refused(
        'model_runner', tmp_path / 'map.rshift', *data, code=1)
    assert '1 is given twice' in refused('model_runner', net / 'net.rshift', *data, '--top', '1,1')
    assert 'top1' in json.loads(pipeline.run('model_runner', net / 'net.rshift', *data, '--json'))


def test_preprocessing_without_data_is_refused(net):
    for option in (('--preprocess', 'raw'), ('--mean', '3')):
        assert '--preprocess and the flags beside it need --input or --dataset' in refused(
            'model_runner', net / 'net.rshift', '--benchmark', '--iterations', 1, *option)


def test_check_of_preprocessing_equalizes_nothing(net):
    assert '--check measures nothing to equalize' in refused(
        'model_calibrate', net / 'net.onnx', '--dataset', net / 'x.npy', '--preprocess', 'raw', '--check', '--equalize', 'off')


def test_seeds_are_not_negative(net, tmp_path):
    for tool, extra in (('model_calibrate', ('-o', tmp_path / 't.yaml')), ('model_tool', ())):
        words = (*(('diagnose',) if tool == 'model_tool' else ()), net / 'net.onnx', '--dataset', net / 'x.npy', '--seed', '-3', *extra)
        assert 'expected 0 or more, found -3' in refused(tool, *words)


def test_arrays_are_not_preprocessed(net):
    raw = ('--preprocess', 'raw', '--dataset', net / 'x.npy')
    assert '--check: the samples are arrays, which are taken as they are' in refused('model_calibrate', net / 'net.onnx', '--check', *raw, code=1)
    done = pipeline.call('model_runner', net / 'net.rshift', *raw)
    assert done.returncode == 0 and done.stderr == 'note: the preprocessing that is given changes nothing: arrays are taken as they are\n'


def test_words_of_calibration_and_preprocessing(net, tmp_path):
    (tmp_path / 'photo.ppm').write_bytes(b'P6 8 8 255\n' + bytes(range(192)))
    common = ('model_calibrate', net / 'net.onnx', '--dataset', tmp_path / 'photo.ppm', '-o', tmp_path / 't.yaml')
    assert 'on: no such file, and none of auto, weights and off' in refused(*common, '--preprocess', 'raw', '--equalize', 'on')
    assert 'scale is 0, which makes all values the same' in refused(*common, '--scale', '0', code=1)
    assert '--color gray: the mean and scale that it changes are of three channels' in refused(
        *common, '--preprocess', 'torch-imagenet', '--color', 'gray')
    assert not (tmp_path / 't.yaml').exists()


def test_raw_pixels_may_be_gray(tmp_path):
    save(tmp_path / 'gray.onnx', [helper.make_node('Relu', ['x'], ['y'])], {'x': (1, 1, 8, 8)}, ['y'])
    pipeline.run('model_deploy', tmp_path / 'gray.onnx', '--mode', 'f32', '-o', tmp_path / 'p')
    pixels = np.arange(192, dtype=np.uint8).reshape(8, 8, 3)
    (tmp_path / 'photo.ppm').write_bytes(b'P6 8 8 255\n' + pixels[:, :, :1].repeat(3, axis=2).tobytes())
    pipeline.run('model_runner', tmp_path / 'p', '--input', tmp_path / 'photo.ppm', '--preprocess', 'raw', '--color', 'gray',
                 '--output', tmp_path / 'y.npz')
    assert np.array_equal(np.load(tmp_path / 'y.npz')['y'][0, 0], pixels[:, :, 0])
