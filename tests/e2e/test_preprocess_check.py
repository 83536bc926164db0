"""`model_calibrate --check` tells wrong preprocessing from right."""

import json
import re

import pytest

import pipeline

SQUEEZENET = 'models/squeezenet_1_1/squeezenet_1_1.onnx'
RIGHT = pipeline.PREPROCESS / 'squeezenet_1_1.yaml'


def check(*args):
    done = pipeline.call('model_calibrate', *args, '--check')
    return done.returncode, done.stdout, done.stderr


def changed(source, path, **fields):
    text = source.read_text()
    for key, value in fields.items():
        text = re.sub(rf'{key}: .*', f'{key}: {value}', text)
    path.write_text(text)
    return path


@pytest.fixture(scope='module')
def photographs(shared):
    folder = shared / 'images/imagenet_val'
    return ('--dataset', folder, '--samples', 20, '--labels', folder / 'labels.txt')


def test_rgb_and_torch_numbers_are_told_from_bgr_and_caffe_numbers(tmp_path, shared, photographs):
    torch = changed(RIGHT, tmp_path / 'torch.yaml', color='RGB', mean='[123.675, 116.28, 103.53]',
                    scale='[0.017125, 0.017507, 0.017429]')
    code, out, err = check(shared / SQUEEZENET, *photographs, '--preprocess', torch, '--picture',
                           tmp_path / 'first.png')
    assert code == 1 and '* RGB, mean and scale as given' in out
    assert "better is 'BGR, 0 to 255 less ImageNet's mean': top-1" in err
    assert (tmp_path / 'first.png').read_bytes().startswith(b'\x89PNG')
    code, out, err = check(shared / SQUEEZENET, *photographs, '--preprocess', RIGHT)
    assert code == 0, err
    assert 'nothing tried is clearly better' in out


def test_labels_that_are_off_by_one_are_named(shared, photographs):
    model = shared / 'models/mobilenet_v2/mobilenet_v2_float.onnx'  # class 0 is the background
    code, _, err = check(model, *photographs, '--preprocess',
                         pipeline.PREPROCESS / 'mobilenet_v2.yaml')
    assert code == 1 and 'with --label-offset 1: top-1' in err


def test_batch_norm_tells_without_labels(tmp_path, shared):
    model = shared / 'models/fashion/mobilenet_leaky.onnx'
    recipe = pipeline.PREPROCESS / 'fashion_mnist.yaml'
    data = ('--dataset', pipeline.TEST_IMAGES, '--samples', 40)
    code, out, err = check(model, *data, '--preprocess', recipe, '--json')
    assert code == 0, err
    given, *others = json.loads(out)['variants']
    assert all(given['batch_norm_distance'] < o['batch_norm_distance'] / 4 for o in others)
    wrong = changed(recipe, tmp_path / 'wrong.yaml', mean='[0]', scale='[1]')
    code, _, err = check(model, *data, '--preprocess', wrong)
    assert code == 1 and 'the first BatchNorm sees what it was trained on' in err


def test_a_calibration_says_that_its_preprocessing_looks_wrong(tmp_path, shared):
    model = shared / 'models/fashion/mobilenet_leaky.onnx'
    recipe = pipeline.PREPROCESS / 'fashion_mnist.yaml'
    command = ('model_calibrate', model, '--dataset', pipeline.TEST_IMAGES, '--samples', 20, '-o', tmp_path / 't.yaml')
    wrong = changed(recipe, tmp_path / 'wrong.yaml', mean='[0]', scale='[1]')
    note = 'note: the preprocessing looks wrong: better is'
    for shard, said in (((), 1), (('--shard', '0/2'), 1), (('--shard', '1/2'), 0)):
        done = pipeline.call(*command, '--preprocess', wrong, *shard)
        assert done.returncode == 0 and done.stderr.count(note) == said, done.stderr
    assert note not in pipeline.call(*command, '--preprocess', recipe).stderr


def test_check_needs_data_and_preprocessing(tmp_path):
    done = pipeline.call('model_calibrate', pipeline.EXAMPLE, '--check')
    assert done.returncode == 2 and '--check needs --dataset and --preprocess' in done.stderr
    done = pipeline.call('model_calibrate', pipeline.EXAMPLE, "-o", tmp_path / "x", "--labels", RIGHT)
    assert done.returncode == 2 and 'need --check' in done.stderr


@pytest.mark.parametrize('option', [('--method', 'minmax'), ('--percentile', 99), ('--resume',), ('--restart',),
                                    ('--format', 'tpu-mlir')], ids=lambda option: option[0][2:])
def test_check_refuses_options_of_the_table(option):
    done = pipeline.call('model_calibrate', pipeline.EXAMPLE, '--dataset', pipeline.TEST_IMAGES, '--preprocess',
                         pipeline.PREPROCESS / 'fashion_mnist.yaml', '--check', *option)
    assert done.returncode == 2 and f'{option[0]} excludes --check' in done.stderr, done.stderr
