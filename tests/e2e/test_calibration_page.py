"""model_calibrate --report in headless Chromium: tensors, methods, the samples that set their ends, hostile names."""

import json
import re

import cv2
import numpy as np
import pytest
from onnx import helper

import oracle
import pipeline
from chromium import in_browser
from little_onnx import constant, save
from test_report_page import HOSTILE, hostile_model

RECIPE = pipeline.PREPROCESS / 'fashion_mnist.yaml'
METHODS = ('minmax', 'percentile', 'kl', 'mse', 'omse', 'aciq-gauss', 'aciq-laplace')
SAMPLES = 12
BRIGHT, DARK = 7, 3


@pytest.fixture(scope='module')
def example(tmp_path_factory):
    """The bundled model calibrated on pictures: c.html, t.yaml, t.stats; pictures of one grey, the brightest number 7."""
    folder = tmp_path_factory.mktemp('calibration_page')
    (folder / 'photos').mkdir()
    for i, image in enumerate(oracle.fashion_images(count=SAMPLES)):
        picture = np.rint(image[0] * 200).astype(np.uint8)
        picture[0, 0] = 255 if i == BRIGHT else 0
        cv2.imwrite(str(folder / f'photos/{i:02}.png'), picture)
    pipeline.run('model_calibrate', pipeline.EXAMPLE, '--dataset', folder / 'photos', '--preprocess', RECIPE,
                 '--report', folder / 'c.html', '--statistics', folder / 't.stats', '-o', folder / 't.yaml')
    return folder


def data_of(page):
    return json.loads(re.search(r'id="calibration">(.*?)</script>', page.read_text(encoding='utf-8'))[1])


COLUMN = '''
const titles = [...document.querySelectorAll('#tensors th')].map((th) => th.textContent);
const column = (title) => [...document.querySelectorAll('#tensors tbody tr')]
    .map((tr) => tr.cells[titles.indexOf(title)].textContent);
const sort = (title) => document.querySelectorAll('#tensors th')[titles.indexOf(title)].firstChild.click();
'''


def test_the_page_shows_every_tensor_the_worst_first(browser, example, tmp_path):
    seen = in_browser(example / 'c.html', COLUMN + '''
        const decibels = column('sym dB'), names = column('tensor');
        sort('clipped'); sort('clipped'); const clipped = column('clipped');
        const search = document.getElementById('search');
        search.value = 'RES2 relu'; search.dispatchEvent(new Event('input'));
        return {decibels, names, clipped, found: column('tensor'), titles,
                drawn: document.querySelectorAll('#tensors svg path.bar').length,
                terms: [...document.querySelectorAll('dl.legend dt')].map((dt) => dt.textContent),
                facts: document.querySelector('dl.facts').textContent};''', tmp_path)
    page = data_of(example / 'c.html')
    table = (example / 't.yaml').read_text(encoding='utf-8')
    assert len(seen['names']) == len(page['tensors']) == table.split('unequalized:')[0].split('trial_equalization:')[0].count('threshold:') > 20
    decibels = [float(text) for text in seen['decibels']]
    assert decibels == sorted(decibels) and len(set(decibels)) > 5
    shares = [float(re.sub('[<% ]', '', text)) for text in seen['clipped']]
    assert shares == sorted(shares, reverse=True) and shares[0] > 0
    assert seen['found'] and all('res2' in name.lower() for name in seen['found'])
    assert seen['drawn'] > 0 and set(seen['titles']) <= set(seen['terms'])
    assert page['samples_sha256'] in seen['facts'] and '12' in seen['facts']


def test_histograms_and_ranges_are_those_of_the_values(example):
    page = data_of(example / 'c.html')
    assert tuple(name.split()[0] for name in page['method_names'])[:len(METHODS)] == METHODS
    for tensor in page['tensors']:
        histogram = tensor['histogram']
        assert abs(sum(histogram['counts']) + tensor['zeros'] - tensor['count']) <= len(histogram['counts'])
        assert histogram['low'] <= tensor['min'] and histogram['low'] + 160 * histogram['step'] >= tensor['max'] * .999
        kl = tensor['methods'][METHODS.index('kl')]
        assert {mode: tensor['chosen'][mode] for mode in pipeline.INTEGER_MODES} == {
            mode: kl[mode] for mode in pipeline.INTEGER_MODES} or tensor['chosen']['method'] == 'known'
        assert tensor['methods'][0]['symmetric']['clipped'] == 0  # minmax


def test_a_tensor_opens_with_methods_and_the_samples_of_its_ends(browser, example, tmp_path):
    page = data_of(example / 'c.html')
    first = next(tensor for tensor in page['tensors'] if tensor['op'] == 'input')
    assert page['extreme_samples'][first['max_sample']]['name'].endswith(f'{BRIGHT:02}.png')
    seen = in_browser(example / 'c.html', COLUMN + f'''
        const row = [...document.querySelectorAll('#tensors tbody tr')].find(
            (tr) => tr.cells[1].textContent.startsWith({json.dumps(first['name'])}));
        row.querySelector('button').click();
        const opened = document.querySelector('tr.detail');
        const images = [...opened.querySelectorAll('img')];
        return {{text: opened.textContent, lines: opened.querySelectorAll('svg line.range').length,
                 rows: [...opened.querySelector('table').tBodies[0].rows].map((tr) => tr.cells[0].textContent),
                 images: images.map((img) => img.src.slice(0, 23)), page: document.documentElement.scrollWidth,
                 window: innerWidth, all: document.querySelectorAll('.samples img').length}};''', tmp_path)
    assert f'{BRIGHT:02}.png' in seen['text'] and 'reason' in seen['text']
    methods = len(page['method_names'])
    assert seen['lines'] == 2 * (methods + 1) and seen['rows'] == ['chosen', *page['method_names']]
    assert seen['images'] == ['data:image/jpeg;base64,'] * 2
    assert seen['all'] == len(page['extreme_samples']) and seen['page'] <= seen['window']


def test_explain_names_the_same_samples(example):
    page = data_of(example / 'c.html')
    for tensor in page['tensors'][:5]:
        found = json.loads(pipeline.run('model_tool', 'explain', example / 't.yaml', tensor['name'], '--json'))['observed']
        for end in ('min_sample', 'max_sample'):
            assert found[end] == page['extreme_samples'][tensor[end]]['name']
    text = pipeline.run('model_tool', 'explain', example / 't.yaml', page['tensors'][0]['name'])
    assert f"greatest in '{BRIGHT:02}.png'" in text or f'{BRIGHT:02}.png' in text


def test_statistics_give_the_same_page_and_shards_too(example, tmp_path):
    args = (pipeline.EXAMPLE, '-o', tmp_path / 't.yaml', '--report', tmp_path / 'c.html')
    pipeline.run('model_calibrate', *args, '--from-statistics', example / 't.stats')
    assert data_of(tmp_path / 'c.html') == data_of(example / 'c.html')
    for i in range(3):
        pipeline.run('model_calibrate', pipeline.EXAMPLE, '--dataset', example / 'photos', '--preprocess', RECIPE, '--shard',
                     f'{i}/3', '--statistics', tmp_path / f'{i}.stats', '-o', tmp_path / f'{i}.yaml')
    pipeline.run('model_calibrate', *args, '--from-statistics', *(tmp_path / f'{i}.stats' for i in (2, 0, 1)))
    assert data_of(tmp_path / 'c.html') == data_of(example / 'c.html')
    (example / 'photos/00.png').rename(tmp_path / '00.png')
    try:
        pipeline.run('model_calibrate', *args, '--from-statistics', example / 't.stats')
    finally:
        (tmp_path / '00.png').rename(example / 'photos/00.png')
    page = data_of(tmp_path / 'c.html')
    gone = {sample['name'] for sample in page['extreme_samples'] if 'picture' not in sample}
    if gone:
        assert gone == {'00.png'} and '00.png is gone' in page['why_no_pictures']


def test_data_without_pictures_and_hostile_names_stay_text(browser, tmp_path):
    model = tmp_path / 'net<b>&"quoted".onnx'
    hostile_model(model)
    np.save(tmp_path / '<img src=x>.npy', np.random.default_rng(1).normal(0, 1, (4, 2, 3, 3)).astype(np.float32))
    pipeline.run('model_calibrate', model, '--dataset', tmp_path / '<img src=x>.npy', '--method', 'minmax', '-o',
                 tmp_path / 't.yaml', '--report', tmp_path / 'c.html')
    seen = in_browser(tmp_path / 'c.html', '''
        for (const button of [...document.querySelectorAll('#tensors tbody button')]) button.click();
        return {title: document.title, foreign: document.querySelectorAll('img, b, iframe, object').length,
                none: document.getElementById('no-pictures').textContent,
                text: document.querySelector('main').textContent};''', tmp_path)
    assert model.name in seen['title'] and seen['foreign'] == 0
    assert 'no input of the model holds one picture' in seen['none'] and '<img src=x>.npy' in seen['text']
    for name in HOSTILE[:-1]:
        assert name in seen['text'], name


def test_the_report_needs_a_calibration(tmp_path):
    np.save(tmp_path / 'x.npy', np.ones((4, 4), np.float32))
    save(tmp_path / 'net.onnx', [helper.make_node('Add', ['x', 'c'], ['y'])], {'x': (1, 4)}, ('y',),
         [constant('c', np.ones(4, np.float32))])
    done = pipeline.call('model_calibrate', tmp_path / 'net.onnx', '--dataset', tmp_path / 'x.npy', '--check', '--report',
                         tmp_path / 'c.html')
    assert done.returncode == 2 and '--report' in done.stderr
    said = pipeline.fails('model_calibrate', tmp_path / 'net.onnx', '--dataset', tmp_path / 'x.npy', '-o', tmp_path / 't.yaml',
                          '--report', tmp_path / 'missing/c.html')
    assert 'missing' in said and not (tmp_path / 't.yaml').exists()
