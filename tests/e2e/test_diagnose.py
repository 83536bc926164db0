"""`model_tool diagnose`: ten seeded ills are named, healthy nets are not accused."""

import json
import re
import shutil

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import ill_nets
import models
import pipeline

# Real nets, with the data that they were trained for and their own preprocessing: none is ill.
HEALTHY = ('mnist_cntk', 'resnet8_cifar10', 'vww96', 'mobilenet_v1_025', 'ultraface_rfb320', 'blazeface', 'fashion_resnet_prelu',
           'fashion_mobilenet_leaky', 'fashion_mobilenet_hostile', 'fashion_vit_tiny', 'squeezenet_1_1')
PHOTOGRAPHS = ('squeezenet_1_1',)
WITH_BACKGROUND = ('mobilenet_v1_025', 'mobilenet_v2')  # class 0
FASHION_RECIPE = pipeline.PREPROCESS / 'fashion_mnist.yaml'


def diagnose(*words):
    return json.loads(pipeline.run('model_tool', 'diagnose', *words, '--json'))


def first_rules(found, count=2):
    """The names of the rules that come first, in their order."""
    return list(dict.fromkeys(finding['rule'] for finding in found['findings']))[:count]


def of_rule(found, rule):
    return [finding for finding in found['findings'] if finding['rule'] == rule]


def labels_of(case, shared):
    if case.calibrate_on == 'fashion':
        return ['--dataset', pipeline.TEST_IMAGES, '--labels', pipeline.TEST_LABELS]
    folder = shared / 'images/imagenet_val'
    if case.name in PHOTOGRAPHS:
        return ['--dataset', folder, '--labels', folder / 'labels.txt']
    if case.name in WITH_BACKGROUND:
        return ['--dataset', folder, '--labels', folder / 'labels.txt', '--label-offset', 1]
    return ['--dataset', case.calibration(shared)]


@pytest.mark.sanitized
@pytest.mark.parametrize('ill', ill_nets.ILLS, ids=lambda ill: ill.__name__)
def test_a_seeded_ill_is_named(ill, tmp_path):
    rule, where = ill_nets.ILLS[ill]
    words = ill(tmp_path)
    found = diagnose(*words)
    assert rule in first_rules(found), found['findings']
    assert not found['healthy']
    finding = of_rule(found, rule)[0]
    assert where is None or f"'{where}'" in finding['where'], finding
    text = pipeline.run('model_tool', 'diagnose', *words)
    assert re.search(rf'^[12]\. {rule}: ', text, re.M) and finding['figure'] in text and finding['command'] in text
    assert pipeline.call('model_tool', 'diagnose', *words, '--strict').returncode == 1


@pytest.mark.sanitized
@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_the_net_without_an_ill_is_healthy(mode, tmp_path):
    words = [*ill_nets.healthy(tmp_path), '--mode', mode, '--strict']
    found = diagnose(*words)
    assert found['healthy'] and not found['findings'] and found['mode'] == mode and found['preprocessing_judged']
    assert re.fullmatch(r'nothing found: \d+ rules, 30 samples, \d+ tensors, \w+\n', pipeline.run('model_tool', 'diagnose', *words))


@pytest.mark.sanitized
def test_what_was_not_judged_is_said(tmp_path):
    model, *_ = ill_nets.healthy(tmp_path)
    words = [model, '--dataset', tmp_path / 'pictures', '--preprocess', tmp_path / 'recipe.yaml']
    text = pipeline.run('model_tool', 'diagnose', *words)
    assert text.startswith('nothing found: ') and text.endswith('the preprocessing is right was not judged: give --labels\n') and text.count('\n') == 1
    assert not diagnose(*words)['preprocessing_judged']
    assert 'no --preprocess of pictures is given' in pipeline.run('model_tool', 'diagnose', model, '--dataset', ill_nets.samples(tmp_path))


def test_the_bundled_model_is_healthy():
    found = diagnose(pipeline.EXAMPLE, '--dataset', pipeline.TEST_IMAGES, '--preprocess', FASHION_RECIPE, '--labels', pipeline.TEST_LABELS)
    assert found['healthy'], found['findings']


@pytest.mark.parametrize('name', HEALTHY)
def test_a_healthy_net_is_not_accused(name, shared):
    case = next(case for case in models.CASES if case.name == name)
    found = diagnose(case.model(shared), *labels_of(case, shared), '--preprocess', case.preprocess, *case.shape, '--samples', 16)
    assert found['healthy'], found['findings']


def test_pixels_that_are_not_normalised_are_told_by_the_batch_norm(tmp_path, shared):
    recipe = tmp_path / 'raw.yaml'
    recipe.write_text(re.sub(r'scale: .*', 'scale: [1]', re.sub(r'mean: .*', 'mean: [0]', FASHION_RECIPE.read_text())))
    found = diagnose(models.MOBILENET_LEAKY.model(shared), '--dataset', pipeline.TEST_IMAGES, '--preprocess', recipe)
    assert first_rules(found, 1) == ['unnormalised-input'] and 'BatchNorm' in found['findings'][0]['figure']


def test_colours_in_the_wrong_order_show_in_right_answers(shared):
    """SqueezeNet takes BGR; its mean goes with the colours."""
    case = models.SQUEEZENET
    found = diagnose(case.model(shared), *labels_of(case, shared), '--preprocess', case.preprocess, '--color', 'rgb', '--mean', '123,117,104')
    assert first_rules(found) == ['wrong-preprocessing'] and "'BGR, mean and scale as given'" in found['findings'][0]['figure']
    command = found['findings'][0]['command']
    assert command.count('--color') == command.count('--mean') == 1 and '--color bgr --mean 104,117,123' in command


def test_the_background_class_of_a_real_net_is_a_label_offset(shared):
    *words, _, _ = [models.MOBILENET_V2.model(shared), '--preprocess', models.MOBILENET_V2.preprocess,
                    *labels_of(models.MOBILENET_V2, shared)]
    found = diagnose(*words, '--samples', 10)
    assert first_rules(found) == ['label-offset'] and found['findings'][0]['command'].endswith('--label-offset 1')
    assert diagnose(*words, '--samples', 10, '--label-offset', 1)['healthy']


def test_the_hostile_net_without_equalization_is_told_to_use_it(tmp_path, shared):
    case, table = models.HOSTILE, tmp_path / 'table.yaml'
    pipeline.calibrate(case.model(shared), pipeline.TRAIN_IMAGES, table, preprocess=case.preprocess, samples=16, extra=('--equalize', 'off'))
    found = diagnose(case.model(shared), '--dataset', pipeline.TEST_IMAGES, '--calibration', table)
    assert first_rules(found, 1) == ['hidden-channel-scale']
    assert '--equalize auto' in found['findings'][0]['command']


def test_the_state_of_a_recurrent_cell_has_sixteen_bits(tmp_path, shared):
    """What an s8 would hold is not the end of its range."""
    random = np.random.default_rng(1)
    np.savez(tmp_path / 'x.npz', input_2=random.normal(0, 1, (12, 1, 1, 257)).astype(np.float32),
             input_3=random.normal(0, 1, (12, 1, 2, 128, 2)).astype(np.float32))
    found = diagnose(shared / 'models/dtln/model_1.onnx', '--dataset', tmp_path / 'x.npz')
    assert any(tensor['tensor'] == 'lstm_4/Add_3' and 'saturated' in tensor for tensor in found['tensors'])
    assert not of_rule(found, 'saturation'), found['findings']


def test_a_regression_has_no_scores(tmp_path, shared):
    np.save(tmp_path / 'x.npy', np.random.default_rng(0).normal(0, 1, (12, 640)).astype(np.float32))
    found = diagnose(shared / 'models/autoencoder_ad01/ad01_fp32_float.onnx', '--dataset', tmp_path / 'x.npy')
    assert not found['scores'] and not of_rule(found, 'score-collapse')


@pytest.mark.parametrize('value', [np.nan, np.inf])
def test_a_broken_weight_of_a_real_net_is_named_with_its_channel(value, tmp_path, shared):
    model = onnx.load(models.RESNET_PRELU.model(shared))
    node = [node for node in model.graph.node if node.op_type == 'Conv'][3]
    weight = next(one for one in model.graph.initializer if one.name == node.input[1])
    array = numpy_helper.to_array(weight).copy()
    array[5, 0, 0, 0] = value
    weight.CopyFrom(numpy_helper.from_array(array, weight.name))
    onnx.save(model, tmp_path / 'broken.onnx')
    found = diagnose(tmp_path / 'broken.onnx', '--dataset', pipeline.TEST_IMAGES, '--preprocess', FASHION_RECIPE)
    finding, = found['findings']
    assert finding['rule'] == 'bad-weight' and finding['tensor'] == weight.name and 'first in channel 5' in finding['figure']


@pytest.mark.sanitized
def test_commands_are_for_a_shell(tmp_path):
    """What is printed behind "try:" runs as it stands, with names that have spaces."""
    folder = tmp_path / "a net's folder"
    folder.mkdir()
    words = ill_nets.bgr_for_rgb(folder)
    command = diagnose(*words)['findings'][0]['command']
    done = pipeline.subprocess.run(['sh', '-c', f'cd "$1" && PATH="{pipeline.BIN}:$PATH" && {command}', 'sh', tmp_path],
                                   capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, (command, done.stderr)
    assert (tmp_path / 'net.table.yaml').exists()


@pytest.mark.sanitized
def test_the_same_for_any_number_of_threads(tmp_path):
    words = ill_nets.hidden_scale(tmp_path)
    assert diagnose(*words, '--threads', 1) == diagnose(*words, '--threads', 3)


def test_the_rules_of_the_documentation_are_those_of_the_program():
    table = pipeline.run('model_tool', 'diagnose', '--rules')
    assert table in (pipeline.ROOT / 'docs/diagnose.md').read_text(), 'put the output of `model_tool diagnose --rules` into docs/diagnose.md'
    rules = [rule['rule'] for rule in json.loads(pipeline.run('model_tool', 'diagnose', '--rules', '--json'))['rules']]
    assert len(set(rules)) == len(rules) and {rule for rule, _ in ill_nets.ILLS.values()} <= set(rules)


@pytest.mark.sanitized
@pytest.mark.parametrize('words, said', [((), '--dataset PATH'), (('--dataset', 'x.npy', '--samples', 0), 'expected 1 to'),
                                         (('--dataset', 'x.npy', '--label-offset', 1), '--label-offset needs --labels'),
                                         (('--rules',), 'takes no MODEL')])
def test_options_that_make_no_sense_are_refused(words, said):
    done = pipeline.call('model_tool', 'diagnose', pipeline.EXAMPLE, *words)
    assert done.returncode == 2 and said in done.stderr, done.stderr


@pytest.mark.sanitized
def test_a_table_of_another_model_is_refused(tmp_path):
    words = ill_nets.hidden_scale(tmp_path)
    other = tmp_path / 'other'
    other.mkdir()
    shutil.copy(tmp_path / 'table.yaml', other)
    model, *rest = ill_nets.dead_channel(other)
    assert 'table.yaml' in pipeline.fails('model_tool', 'diagnose', model, *rest, '--calibration', words[-1])
