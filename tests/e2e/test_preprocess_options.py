"""--preprocess PRESET and the flags --mean --scale --color --resize --crop: in each tool the same, and recorded."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import oracle
import pipeline

PRESETS = ('torch-imagenet', 'tf-imagenet', 'caffe-imagenet', 'raw')


@pytest.fixture(scope='module')
def model(tmp_path_factory):
    """A model of three channels that adds 1, and a picture."""
    cv2 = pytest.importorskip('cv2')
    folder = tmp_path_factory.mktemp('preprocess')
    graph = helper.make_graph(
        [helper.make_node('Add', ['image', 'one'], ['sum'])], 'add',
        [helper.make_tensor_value_info('image', TensorProto.FLOAT, (1, 3, 32, 32))],
        [helper.make_tensor_value_info('sum', TensorProto.FLOAT, (1, 3, 32, 32))],
        [numpy_helper.from_array(np.ones((1, 3, 1, 1), np.float32), 'one')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7),
              folder / 'add.onnx')
    cv2.imwrite(str(folder / 'x.png'), np.random.default_rng(3).integers(0, 256, (60, 50, 3), np.uint8))
    pipeline.deploy(folder / 'add.onnx', folder / 'plain.rshift', mode='f32')
    return folder


def prepared(model, tmp_path, *arguments, program=None):
    pipeline.run('model_runner', program or model / 'plain.rshift', '--input', model / 'x.png', *arguments,
                 '--output', tmp_path / 'out.npz')
    return pipeline.arrays_of(tmp_path / 'out.npz')['sum'] - 1


def by_file(model, tmp_path, text):
    (tmp_path / 'p.yaml').write_text('inputs:\n  - {' + text + '}\n')
    return prepared(model, tmp_path, '--preprocess', tmp_path / 'p.yaml')


FILES = {
    'torch-imagenet': 'color: RGB, resize: {height: 37, width: 37, mode: short_side}, crop: {height: 32, width: 32}, '
                      'mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375]',
    'tf-imagenet': 'color: RGB, resize: {height: 37, width: 37, mode: short_side}, crop: {height: 32, width: 32}, '
                   'mean: 127.5, std: 127.5',
    'caffe-imagenet': 'color: BGR, resize: {height: 37, width: 37, mode: short_side}, crop: {height: 32, width: 32}, '
                      'mean: [103.939, 116.779, 123.68]',
    'raw': 'color: RGB, resize: {height: 32, width: 32, mode: stretch}'}


@pytest.mark.parametrize('preset', PRESETS)
def test_presets_equal_the_files_that_say_the_same(preset, model, tmp_path):
    assert np.array_equal(prepared(model, tmp_path, '--preprocess', preset),
                          by_file(model, tmp_path, FILES[preset]))
    for tool in ('model_calibrate', 'model_deploy', 'model_runner'):
        assert preset in pipeline.run(tool, '--help')


def test_flags_change_the_preset_the_file_or_what_is_recorded(model, tmp_path):
    flags = ('--mean', '104,117,123', '--scale', 0.5, '--color', 'bgr', '--resize', '40x36', '--crop', '32')
    expected = by_file(model, tmp_path, 'color: BGR, resize: {height: 40, width: 36, mode: stretch}, '
                                        'crop: {height: 32, width: 32}, mean: [104, 117, 123], scale: 0.5')
    assert np.array_equal(prepared(model, tmp_path, *flags), expected)
    pipeline.run('model_deploy', model / 'add.onnx', '--mode', 'f32', '-o', tmp_path / 'p.rshift', *flags)
    assert np.array_equal(prepared(model, tmp_path, program=tmp_path / 'p.rshift'), expected)
    doubled = prepared(model, tmp_path, '--scale', 1, program=tmp_path / 'p.rshift')
    assert np.array_equal(doubled, 2 * expected)
    # Another order of the channels takes the preset's numbers along.
    torch = prepared(model, tmp_path, '--preprocess', 'torch-imagenet')
    turned = prepared(model, tmp_path, '--preprocess', 'torch-imagenet', '--color', 'bgr')
    assert np.array_equal(turned, torch[:, ::-1])
    letterbox = by_file(model, tmp_path, 'color: RGB, resize: {height: 32, width: 32, mode: letterbox}')
    assert np.array_equal(prepared(model, tmp_path, '--resize', '32x32:letterbox'), letterbox)


def test_calibration_records_what_the_runner_uses(model, tmp_path):
    pipeline.run('model_calibrate', model / 'add.onnx', '--dataset', model / 'x.png', '--preprocess', 'tf-imagenet',
                 '-o', tmp_path / 't.yaml')
    pipeline.run('model_deploy', model / 'add.onnx', '--calibration', tmp_path / 't.yaml', '--mode', 'f32',
                 '-o', tmp_path / 'p.rshift')
    assert np.array_equal(prepared(model, tmp_path, program=tmp_path / 'p.rshift'),
                          by_file(model, tmp_path, FILES['tf-imagenet']))


LETTERBOXES = [('fill: 114, align: top-left', ':114:top-left'), ('align: top-left', ':top-left'), ('fill: [7, 114, 255]', ':7,114,255'),
               ('align: center', ':center'), ('fill: [200], align: center', ':200:center')]


@pytest.mark.parametrize('border, flag', LETTERBOXES)
@pytest.mark.parametrize('color', ('RGB', 'BGR'))
def test_letterboxes_are_those_of_opencv_by_file_by_flag_and_recorded(border, flag, color, model, tmp_path):
    """What is around the picture, and where the picture lies; pictures that are tall, wide and of the input's size."""
    cv2 = pytest.importorskip('cv2')
    recipe = tmp_path / 'p.yaml'
    recipe.write_text(f'inputs:\n  - name: image\n    color: {color}\n    resize: {{height: 32, width: 32, mode: letterbox, '
                      f'{border}}}\n    mean: [1, 2, 3]\n    scale: [0.5, 1, 2]\n')
    pipeline.run('model_calibrate', model / 'add.onnx', '--dataset', model / 'x.png', '--preprocess', recipe, '-o',
                 tmp_path / 't.yaml')
    plain, flags = ('--mean', '1,2,3', '--scale', '0.5,1,2', '--color', color.lower()), ('--resize', '32x32:letterbox' + flag)
    pipeline.run('model_deploy', model / 'add.onnx', '--calibration', tmp_path / 't.yaml', '--mode', 'f32', *plain, *flags, '-o',
                 tmp_path / 'p.rshift')  # the flags say what the table says, or this is refused
    rng = np.random.default_rng(11)
    for height, width in ((60, 50), (17, 90), (91, 13), (32, 32), (5, 5)):
        cv2.imwrite(str(tmp_path / 'x.png'), rng.integers(0, 256, (height, width, 3), np.uint8))
        expected = oracle.read_image(tmp_path / 'x.png', oracle.read_recipe(recipe)) + 1
        for program, arguments in ((model / 'plain.rshift', ('--preprocess', recipe)), (model / 'plain.rshift', (*plain, *flags)),
                                   (tmp_path / 'p.rshift', ())):
            pipeline.run('model_runner', program, '--input', tmp_path / 'x.png', *arguments, '--output', tmp_path / 'out.npz')
            assert np.array_equal(pipeline.arrays_of(tmp_path / 'out.npz')['sum'], expected), (height, width, arguments)


def test_another_border_is_another_preprocessing(model, tmp_path):
    box = '32x32:letterbox'
    pipeline.run('model_calibrate', model / 'add.onnx', '--dataset', model / 'x.png', '--resize', box + ':114:top-left',
                 '-o', tmp_path / 't.yaml')
    for other in (box, box + ':114', box + ':top-left', box + ':113:top-left'):
        line = pipeline.fails('model_deploy', model / 'add.onnx', '--calibration', tmp_path / 't.yaml', '--mode', 'f32', '--resize',
                              other, '-o', tmp_path / 'p.rshift')
        assert 'is not the preprocessing that' in line and 'letterbox 32x32 on 114, top-left' in line, line
    for tool in ('model_calibrate', 'model_deploy', 'model_runner'):
        assert 'letterbox:FILL:top-left' in pipeline.run(tool, '--help')
    # --color turns the border with the other numbers.
    bgr = prepared(model, tmp_path, '--resize', box + ':1,2,3', '--color', 'bgr')
    turned = ('--preprocess', tmp_path / 'p.yaml', '--color', 'bgr')
    (tmp_path / 'p.yaml').write_text('inputs:\n  - {color: RGB, resize: {height: 32, width: 32, mode: letterbox, fill: [3, 2, 1]}}\n')
    assert np.array_equal(prepared(model, tmp_path, *turned), bgr)


@pytest.mark.parametrize('border, word', [
    ('fill: 256', 'resize.fill is 256, expected a pixel: a whole number from 0 to 255'), ('fill: -1', 'whole number from 0 to 255'),
    ('fill: 0.5', 'resize.fill is 0.5'), ('fill: .nan', 'fill'), ('fill: grey', 'fill'), ('fill: [1, 2]', '2 numbers, expected 1 or 3'),
    ('fill: []', '0 numbers'), ('fill: {a: 1}', 'neither a number nor a list'), ('align: left', 'center | top-left'),
    ('align: 3', 'center | top-left'), ('filll: 3', 'filll'),
    ('mode: stretch, fill: 3', 'resize.fill needs mode: letterbox, the mode is stretch'),
    ('mode: stretch, align: center', 'resize.align needs mode: letterbox')])
def test_wrong_borders_are_one_line(border, word, model, tmp_path):
    mode = '' if 'mode' in border else 'mode: letterbox, '
    (tmp_path / 'p.yaml').write_text(f'inputs:\n  - {{color: RGB, resize: {{height: 32, width: 32, {mode}{border}}}}}\n')
    line = pipeline.fails('model_runner', model / 'plain.rshift', '--input', model / 'x.png', '--preprocess', tmp_path / 'p.yaml')
    assert word in line and 'p.yaml:2' in line, line


@pytest.mark.parametrize('wrong, word', [
    *((('--resize', '32x32:letterbox' + rest), word) for rest, word in (
        (':', 'HxW:letterbox:FILL:top-left'), (':300', '0 to 255'), (':1.5', '0 to 255'), (':left', '0 to 255'),
        (':1,2', '2 numbers'), (':top-left:3', '0 to 255'), (':1,', '0 to 255'))),
    (('--resize', '32x32:stretch:3'), 'HxW:letterbox'),
    (('--mean', 'x'), '--mean'), (('--mean', '1,2'), '2 numbers'), (('--color', 'cmyk'), 'rgb, bgr or gray'),
    (('--resize', '0'), '16384'), (('--resize', '4x4:fill'), 'letterbox'), (('--crop', '-3'), '--crop'),
    (('--crop', '99'), 'the crop needs'), (('--preprocess', 'torch'), 'torch-imagenet | tf-imagenet')])
def test_what_cannot_be_is_said(wrong, word, model):
    done = pipeline.call('model_runner', model / 'plain.rshift', '--input', model / 'x.png', *wrong)
    assert done.returncode in (1, 2) and done.stderr.count('error:') == 1 and word in done.stderr, done.stderr


def test_five_best_classes_with_their_names(tmp_path):
    """The bundled classifier: text, JSON and the names in the .npz."""
    program, names = tmp_path / 'p.rshift', tmp_path / 'names.txt'
    pipeline.deploy(pipeline.EXAMPLE, program, mode='f32', preprocess=pipeline.PREPROCESS / 'fashion_mnist.yaml')
    np.save(tmp_path / 'x.npy', oracle.fashion_images(count=3))
    names.write_text('\n'.join(f'garment {i}' for i in range(10)) + '\n')
    arguments = (program, '--input', tmp_path / 'x.npy')
    pipeline.run('model_runner', *arguments, '--output', tmp_path / 'out.npz')
    scores = pipeline.single(tmp_path / 'out.npz')
    with np.load(tmp_path / 'out.npz') as arrays:
        assert list(arrays['sample_names']) == [f'x.npy:{i}' for i in range(3)]
    found = json.loads(pipeline.run('model_runner', *arguments, '--json', '--names', names))['classes']
    for row, sample in zip(scores, found):
        order = np.argsort(-row, kind='stable')[:5]
        assert [one['class'] for one in sample['best']] == list(order)
        assert [one['name'] for one in sample['best']] == [f'garment {i}' for i in order]
        assert np.allclose([one['score'] for one in sample['best']], row[order])
    text = pipeline.run('model_runner', *arguments, '--names', names)
    assert text.count('garment') == 15 and 'x.npy:2\n' in text and '3 samples, ' in text
    names.write_text('one\ntwo\n')
    assert 'has 2 lines, the model has 10 classes' in pipeline.fails('model_runner', *arguments, '--names', names)


def passing(folder, shape):
    """A model of one image input of this shape that adds 0, its program, and a picture that is not square."""
    cv2 = pytest.importorskip('cv2')
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph([helper.make_node('Add', ['image', 'zero'], ['sum'])], 'add', [value('image')],
                              [value('sum')], [numpy_helper.from_array(np.zeros(1, np.float32), 'zero')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7),
              folder / 'net.onnx')
    cv2.imwrite(str(folder / 'x.png'), np.random.default_rng(3).integers(0, 256, (300, 400, 3), np.uint8))
    return folder / 'net.onnx'


MEAN = 'mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375]'


@pytest.mark.parametrize('height,width,entry,note', [
    (96, 96, 'resize: {height: 110, width: 110, mode: short_side}, crop: {height: 96, width: 96}', ''),
    (256, 128, 'resize: {height: 256, width: 128, mode: stretch}', '256 x 128 pixels, not square: pictures are stretched'),
    (32, 32, 'resize: {height: 37, width: 37, mode: short_side}, crop: {height: 32, width: 32}',
     'the middle of each picture is taken'),
], ids=('96x96', '256x128', '32x32'))
def test_a_preset_fits_the_input_or_says_what_it_does(height, width, entry, note, tmp_path):
    model = passing(tmp_path, (1, 3, height, width))
    pipeline.run('model_deploy', model, '--mode', 'f32', '-o', tmp_path / 'net.rshift')
    (tmp_path / 'p.yaml').write_text('inputs:\n  - {color: RGB, ' + entry + ', ' + MEAN + '}\n')
    outputs = []
    for name, extra in (('preset', ('torch-imagenet',)), ('file', (tmp_path / 'p.yaml',)),
                        ('flag', ('torch-imagenet', '--resize', f'{height}x{width}'))):
        done = pipeline.call('model_runner', tmp_path / 'net.rshift', '--input', tmp_path / 'x.png',
                             '--preprocess', *extra, '--output', tmp_path / f'{name}.npz')
        assert done.returncode == 0, done.stderr
        assert (note in done.stderr) if name == 'preset' else ('note:' not in done.stderr)
        assert ('note:' in done.stderr) == (name == 'preset' and note != '')
        outputs.append(pipeline.arrays_of(tmp_path / f'{name}.npz')['sum'])
    assert np.array_equal(outputs[0], outputs[1])
    assert outputs[2].shape == outputs[0].shape  # what the note advises is possible
    for tool, *rest in (('model_calibrate', '--dataset', tmp_path / 'x.png'), ('model_deploy', '--mode', 'f32')):
        done = pipeline.call(tool, model, *rest, '--preprocess', 'torch-imagenet', '-o', tmp_path / 'out')
        assert done.returncode == 0, done.stderr
        assert note in done.stderr and ('preset torch-imagenet' in done.stderr) == (note != '')


def test_a_preset_for_a_dynamic_size_needs_the_size(tmp_path):
    model = passing(tmp_path, (1, 3, 'height', 'width'))
    common = ('model_calibrate', model, '--dataset', tmp_path / 'x.png', '--preprocess', 'torch-imagenet', '-o',
              tmp_path / 't.yaml')
    assert '--input-shape image:1x3x' in pipeline.fails(*common)
    pipeline.run(*common, '--input-shape', 'image:1x3x96x96')
    assert 'resize: {height: 110, width: 110, mode: short_side}' in (tmp_path / 't.yaml').read_text()
    too_large = pipeline.fails(*common, '--input-shape', 'image:1x3x2x20000')
    assert "input 'image' is 2 x 20000 pixels, expected at most 16384 a side" in too_large
