"""model_deploy --auto: lost networks are repaired, the same bytes for any threads, after kill -9 and by hand."""

import json
import re
import signal
import subprocess
import time

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import models
import pipeline

HOSTILE = next(case for case in models.CASES if case.name == 'fashion_mobilenet_hostile')


@pytest.fixture(scope='module')
def calibrated(shared, tmp_path_factory):
    """A network whose channels are lost: hidden scales that nothing has moved into the weights."""
    folder = tmp_path_factory.mktemp('auto')
    model = HOSTILE.model(shared)
    pipeline.calibrate(model, pipeline.TRAIN_IMAGES, folder / 'table.yaml', preprocess=HOSTILE.preprocess, samples=100,
                       extra=('--equalize', 'off'))
    pipeline.deploy(model, folder / 'f32.rshift', mode='f32', preprocess=HOSTILE.preprocess)
    return model, folder / 'table.yaml', folder


def words(calibrated, program, *extra):
    model, table, _ = calibrated
    return ('model_deploy', model, '--calibration', table, '--no-check', *extra, '-o', program)


@pytest.fixture(scope='module')
def searched(calibrated):
    """The files of one search."""
    folder = calibrated[2]
    said = pipeline.run(*words(calibrated, folder / 'auto.rshift', '--auto', '--auto-config', folder / 'auto.yaml', '--auto-report',
                               folder / 'auto.json', '--auto-qtable', folder / 'auto.qtable'))
    return said, folder


def same_class_percent(folder, program):
    classes = []
    for one in (folder / 'f32.rshift', program):
        pipeline.run('model_runner', one, '--dataset', pipeline.TEST_IMAGES, '--output', folder / 'y.npz')
        classes.append(pipeline.single(folder / 'y.npz').reshape(10000, -1).argmax(1))
    return 100 * np.mean(classes[0] == classes[1])


def test_a_lost_network_is_repaired(calibrated, searched, report):
    said, folder = searched
    pipeline.run(*words(calibrated, folder / 'plain.rshift'))
    before, after = (same_class_percent(folder, folder / name) for name in ('plain.rshift', 'auto.rshift'))
    found = json.loads((folder / 'auto.json').read_text())
    report(f'--auto, fashion mobilenet_hostile without equalization: the float class {before:.1f} -> {after:.1f} % of 10,000, '
           f'{found["evaluations"]} evaluations ({found["one_by_one"]} one by one)')
    assert before < 20 and after > 85
    assert found['divided'] and found['judged'] == 8 and found['evaluations'] < found['one_by_one'] / 2
    assert sum(point['chosen'] for point in found['points']) == 1
    assert re.search(r'^auto: \d+ of \d+ groups in 16 bits, 0 in F32; predicted time 1\.\d\d of that of 8 bits; --weight', said, re.M), said


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_a_network_that_equalization_cannot_reach_is_repaired(mode, shared, tmp_path, report):
    """The same hidden scales, with a clip from 1e-6 behind each ReLU, which no factor passes."""
    model = onnx.load(HOSTILE.model(shared))
    bounds = [numpy_helper.from_array(np.float32(v), name) for name, v in (('clip_low', 1e-6), ('clip_high', 1e4))]
    model.graph.initializer.extend(bounds)
    nodes = []
    for node in model.graph.node:
        nodes.append(node)
        if node.op_type != 'Relu':
            continue
        output = node.output[0]
        node.output[0] += '_unclipped'
        nodes.append(helper.make_node('Clip', [node.output[0], 'clip_low', 'clip_high'], [output]))
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    net, table = tmp_path / 'net.onnx', tmp_path / 'table.yaml'
    onnx.save(model, net)
    pipeline.calibrate(net, pipeline.TRAIN_IMAGES, table, preprocess=HOSTILE.preprocess, samples=100)
    pipeline.deploy(net, tmp_path / 'f32.rshift', mode='f32', preprocess=HOSTILE.preprocess)
    said = pipeline.run('model_deploy', net, '--calibration', table, '--mode', mode, '-o', tmp_path / 'plain.rshift')
    pipeline.deploy(net, tmp_path / 'auto.rshift', mode=mode, table=table, extra=('--auto',))
    before, after = (same_class_percent(tmp_path, tmp_path / name) for name in ('plain.rshift', 'auto.rshift'))
    report(f'hidden scales behind clips, {mode}: the float class {before:.1f} -> {after:.1f} % of 10,000 by --auto')
    assert 'equalized' not in said and "BAD" in said and "weakest alone: conv '/b/b." in said
    assert before < 20 and after > 85


def test_the_configuration_makes_the_same_program(calibrated, searched):
    _, folder = searched
    options = re.search(r'as --config, and (.*)\.$', (folder / 'auto.yaml').read_text().splitlines()[0]).group(1)
    pipeline.run(*words(calibrated, folder / 'hand.rshift', '--config', folder / 'auto.yaml', *options.split()))
    assert (folder / 'hand.rshift').read_bytes() == (folder / 'auto.rshift').read_bytes()


def test_so_does_that_of_a_search_that_is_soon_at_its_end(calibrated, tmp_path):
    pipeline.run(*words(calibrated, tmp_path / 'auto.rshift', '--auto', '--budget', 'cosine=0.001', '--auto-config', tmp_path / 'auto.yaml'))
    options = re.search(r'as --config, and (.*)\.$', (tmp_path / 'auto.yaml').read_text().splitlines()[0]).group(1)
    assert '--weight-rounding ' in options and '--bias-correction ' in options, options  # whose defaults measure
    pipeline.run(*words(calibrated, tmp_path / 'hand.rshift', '--config', tmp_path / 'auto.yaml', *options.split()))
    assert (tmp_path / 'hand.rshift').read_bytes() == (tmp_path / 'auto.rshift').read_bytes()


def test_the_quantization_table_is_read(calibrated, searched):
    _, folder = searched
    lines = (folder / 'auto.qtable').read_text().splitlines()
    assert lines[0].startswith('#') and all(re.fullmatch(r'\S+_[A-Z]\w+ F16', line) for line in lines[1:]) and len(lines) > 18
    said = json.loads(pipeline.run(*words(calibrated, folder / 'q.rshift', '--scales', folder / 'auto.qtable', '--json')))
    assert said['commands']['integer'] < 8  # F16 stays in F32


@pytest.mark.parametrize('threads', (2, 3))
def test_threads_change_nothing(calibrated, searched, threads, tmp_path):
    _, folder = searched
    pipeline.run(*words(calibrated, tmp_path / 'net.rshift', '--auto', '--threads', threads, '--auto-config', tmp_path / 'auto.yaml',
                        '--auto-report', tmp_path / 'auto.json'))
    for made, name in (('net.rshift', 'auto.rshift'), ('auto.yaml', 'auto.yaml'), ('auto.json', 'auto.json')):
        assert (tmp_path / made).read_bytes() == (folder / name).read_bytes(), name


@pytest.mark.parametrize('entries', (1, 4, 8))
def test_a_killed_search_goes_on(calibrated, searched, entries, tmp_path):
    _, folder = searched
    state = tmp_path / 'state'
    asked = words(calibrated, tmp_path / 'net.rshift', '--auto', '--auto-state', state, '--auto-report', tmp_path / 'auto.json')
    command = [str(pipeline.BIN / asked[0]), *map(str, asked[1:])]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None:
            if state.exists() and len(json.loads(state.read_text())['measured']) >= entries:
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL and not (tmp_path / 'net.rshift').exists()
    known = json.loads(state.read_text())['measured']
    pipeline.run(*asked)
    for made, name in (('net.rshift', 'auto.rshift'), ('auto.json', 'auto.json')):
        assert (tmp_path / made).read_bytes() == (folder / name).read_bytes(), name
    after = json.loads(state.read_text())['measured']
    assert {key: after[key] for key in known} == known and len(after) > len(known)


def test_the_state_of_another_search_is_refused(calibrated, tmp_path):
    state = tmp_path / 'state'
    once = ('--auto', '--budget', 'time=1evaluations', '--auto-state', state)
    pipeline.run(*words(calibrated, tmp_path / 'net.rshift', *once))
    before = state.read_bytes()
    said = pipeline.fails(*words(calibrated, tmp_path / 'other.rshift', *once, '--mode', 'asymmetric'))
    assert f'{state}: belongs to another search' in said
    assert state.read_bytes() == before and not (tmp_path / 'other.rshift').exists()
    for text in ('{"kind": "rshift search 1"', '[]', '{"kind": "another"}'):
        state.write_text(text)
        assert str(state) in pipeline.fails(*words(calibrated, tmp_path / 'other.rshift', *once))


def test_budgets(calibrated, tmp_path):
    def search(*budgets):
        asked = [word for budget in budgets for word in ('--budget', budget)]
        pipeline.run(*words(calibrated, tmp_path / 'net.rshift', '--auto', *asked, '--auto-report', tmp_path / 'r.json'))
        return json.loads((tmp_path / 'r.json').read_text())
    few = search('cosine=0.999', 'time=3evaluations')
    assert few['evaluations'] == 3 and few['stopped'] and not few['reached']
    enough = search('cosine=0.001')
    assert enough['evaluations'] == 3 and enough['reached']  # as it is, with corrected biases, with weights rounded together
    floats = search('cosine=0.99', 'float-layers=4')
    chosen = next(point for point in floats['points'] if point['chosen'])
    assert 0 < chosen['float_layers'] <= 4
    reached = search('cosine=0.99')
    chosen = next(point for point in reached['points'] if point['chosen'])
    assert reached['reached'] and chosen['judged_on']['cosine'] >= 0.99 and chosen['groups_float'] > 0


@pytest.mark.parametrize('extra, said', (
    (('--auto', '--budget', 'cosine=2'), '--budget cosine=2: expected cosine=0.999'),
    (('--auto', '--budget', 'boxes=95'), '--budget boxes=95: expected'),
    (('--auto', '--budget', 'time=3'), '--budget time=3: expected'),
    (('--auto', '--budget', 'top1=99', '--budget', 'top1=98'), '--budget top1=98: given twice'),
    (('--auto', '--auto-report', 'r.txt'), '--auto-report r.txt: the name ends in neither .html nor .json'),
))
def test_bad_options(calibrated, tmp_path, extra, said):
    done = pipeline.call(*words(calibrated, tmp_path / 'net.rshift', *extra))
    assert done.returncode in (1, 2) and said in done.stderr, done.stderr
    assert not (tmp_path / 'net.rshift').exists()


@pytest.mark.parametrize('extra', (('--bias-correction', 'fast'), ('--bias-correction', 'off'), ('--weight-rounding', 'gptq'), ('--weight-rounding', 'nearest'),
                                   ('--sensitivity', 's.yaml'),
                                   ('--mode', 'f32'), ('--labels', 'labels.txt')))
def test_options_that_contradict_it(calibrated, tmp_path, extra):
    done = pipeline.call(*words(calibrated, tmp_path / 'net.rshift', '--auto', *extra))
    assert done.returncode == 2 and extra[0] in done.stderr, done.stderr


def test_with_labels(calibrated, tmp_path):
    images = tmp_path / 'images.npy'
    labels = tmp_path / 'labels.npy'
    raw = np.random.default_rng(5).normal(size=(32, 1, 28, 28)).astype(np.float32)
    np.save(images, raw)
    np.save(labels, np.arange(32) % 10)
    data = ('--correction-data', images, '--labels', labels)
    said = pipeline.run(*words(calibrated, tmp_path / 'net.rshift', '--auto', '--budget', 'time=2evaluations', *data,
                               '--auto-report', tmp_path / 'r.json'))
    point = json.loads((tmp_path / 'r.json').read_text())['points'][0]['judged_on']
    assert 'top-1' in said and {'top1_percent', 'float_top1_percent'} <= set(point)


def test_the_page_holds_its_figures(calibrated, tmp_path):
    page = tmp_path / 'auto.html'
    pipeline.run(*words(calibrated, tmp_path / 'net.rshift', '--auto', '--budget', 'time=2evaluations', '--auto-report', page))
    text = page.read_text()
    data = json.loads(re.search(r'<script type="application/json" id="search">(.*?)</script>', text, re.S).group(1))
    assert len(data['points']) == 2 and 'default-src &#39;none&#39;' in text
    assert '://' not in text.replace('http://www.w3.org/2000/svg', '')
