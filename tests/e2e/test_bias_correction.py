"""--bias-correction: fresh photographs come out better, the same bytes for any threads, and what follows it follows."""

import json
import re

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import models
import oracle
import pipeline

CASE = next(case for case in models.CASES if case.name == 'mobilenet_v1_025')


@pytest.fixture(scope='module')
def calibrated(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp('bias')
    model = CASE.model(shared)
    pipeline.calibrate(model, CASE.calibration(shared), folder / 'table.yaml', preprocess=CASE.preprocess, samples=CASE.samples,
                       extra=('--equalize', 'off'))
    pipeline.deploy(model, folder / 'f32.rshift', mode='f32', preprocess=CASE.preprocess)
    return model, folder


def deploy(calibrated, program, mode, *extra):
    model, folder = calibrated
    return pipeline.run('model_deploy', model, '--calibration', folder / 'table.yaml', '--mode', mode, '--no-check', *extra, '-o', program)


def snr_db(calibrated, program, photographs, folder):
    """Of the outputs on photographs that the calibration has not seen."""
    outputs = []
    for one in (calibrated[1] / 'f32.rshift', program):
        pipeline.run('model_runner', one, '--dataset', photographs, '--output', folder / 'y.npz')
        outputs.append(pipeline.single(folder / 'y.npz'))
    return oracle.sqnr(outputs[1], outputs[0])


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_fresh_photographs_come_out_better(calibrated, mode, shared, tmp_path, report):
    photographs = shared / 'images' / CASE.evaluate_on
    found = {}
    for how in ('off', 'fast', 'full'):
        program = tmp_path / f'{how}.rshift'
        said = deploy(calibrated, program, mode, '--weight-rounding', 'nearest', '--bias-correction', how, '--report-json', tmp_path / 'r.json')
        assert (f'bias correction {how}: outputs' in said) == (how != 'off'), said
        told = json.loads((tmp_path / 'r.json').read_text()).get('bias_correction')
        assert (told is None) == (how == 'off')
        if told:
            assert told['kept'] and told['samples'] == 16 and 0 < told['layers'] <= told['candidates'] and told['largest_steps'] > 0
            assert told['after_db'] > told['before_db']
        found[how] = snr_db(calibrated, program, photographs, tmp_path)
    report(f'bias correction, mobilenet_v1_025 {mode}: ' + ', '.join(f'{how} {db:.1f} dB' for how, db in found.items()))
    assert min(found['fast'], found['full']) >= found['off'] + 2
    said = deploy(calibrated, tmp_path / 'default.rshift', mode, '--weight-rounding', 'nearest')
    assert 'bias correction auto: outputs' in said, said
    assert (tmp_path / 'default.rshift').read_bytes() == (tmp_path / 'fast.rshift').read_bytes()


def test_same_bytes_for_any_threads(calibrated, shared, tmp_path):
    photographs = shared / 'images' / 'calibration'
    for extra in (('fast',), ('full',), ('fast', '--correction-data', photographs, '--correction-samples', 20)):
        programs = []
        for threads in (1, 2, 3):
            deploy(calibrated, tmp_path / 'p', 'symmetric', '--bias-correction', *extra, '--threads', threads)
            programs.append((tmp_path / 'p').read_bytes())
        assert programs[0] == programs[1] == programs[2], extra


def biases(path):
    return {i.name: numpy_helper.to_array(i) for i in onnx.load(path).graph.initializer if i.name.endswith('/bias')}


def test_an_emitted_model_has_the_biases_and_is_refused_itself(calibrated, tmp_path):
    emitted = {}
    for how in ('off', 'fast'):
        deploy(calibrated, tmp_path / f'{how}.rshift', 'symmetric', '--bias-correction', how, '--emit-qdq', tmp_path / f'{how}.onnx')
        emitted[how] = biases(tmp_path / f'{how}.onnx')
    assert emitted['off'].keys() <= emitted['fast'].keys()
    assert sum(not np.array_equal(emitted['off'][name], emitted['fast'][name]) for name in emitted['off']) >= 20
    pipeline.run('model_deploy', tmp_path / 'fast.onnx', '-o', tmp_path / 'again.rshift', '--no-check')
    done = pipeline.call('model_deploy', tmp_path / 'fast.onnx', '-o', tmp_path / 'no.rshift', '--bias-correction', 'fast')
    assert done.returncode == 2 and 'the model holds its own quantization parameters' in done.stderr, done.stderr
    assert not (tmp_path / 'no.rshift').exists()


def test_bad_requests_are_refused(calibrated, tmp_path):
    model, folder = calibrated
    words = ('--calibration', folder / 'table.yaml', '-o', tmp_path / 'p')
    for extra, text in ((('--bias-correction', 'slow'), 'slow'),
                        (('--bias-correction', 'off', '--weight-rounding', 'nearest', '--correction-data', tmp_path), '--correction-data is for --auto, --bias-correction'),
                        (('--bias-correction', 'fast', '--correction-samples', '3'), '--correction-data')):
        done = pipeline.call('model_deploy', model, *words, *extra)
        assert done.returncode == 2 and text in done.stderr, done.stderr
    text = (folder / 'table.yaml').read_text()
    old = re.sub(r'^check_samples:\n(?:[ -].*\n)*', '', text, flags=re.MULTILINE)
    assert old != text
    (tmp_path / 'old.yaml').write_text(old)
    said = pipeline.fails('model_deploy', model, '--calibration', tmp_path / 'old.yaml', '--bias-correction', 'fast', '-o', tmp_path / 'p')
    assert 'there are no samples to measure on' in said and '--correction-data' in said


def test_where_the_samples_are_gone_the_default_is_no_correction(calibrated, tmp_path):
    model, folder = calibrated
    text = (folder / 'table.yaml').read_text()
    (tmp_path / 'old.yaml').write_text(re.sub(r'^check_samples:\n(?:[ -].*\n)*', '', text, flags=re.MULTILINE))
    (tmp_path / 'gone.yaml').write_text(re.sub(r'paths: \[.*/', 'paths: [nowhere/', text))
    for table, why in (('old.yaml', 'the table records no samples'), ('gone.yaml', 'is gone')):
        said = pipeline.run('model_deploy', model, '--calibration', tmp_path / table, '-o', tmp_path / 'p', '--report-json', tmp_path / 'r.json')
        line, = (line for line in said.splitlines() if 'bias correction' in line)
        assert line.startswith('weight rounding auto, bias correction auto: not done: ') and why in line, line
        assert said.count(why) == 2  # there, and where the check says the same
        told = json.loads((tmp_path / 'r.json').read_text())
        assert why in told['bias_correction']['why_none'] and why in told['weight_choice']['why_none'], told
        deploy(calibrated, tmp_path / 'off', 'symmetric', '--bias-correction', 'off', '--weight-rounding', 'nearest')
        assert (tmp_path / 'p').read_bytes() == (tmp_path / 'off').read_bytes()
