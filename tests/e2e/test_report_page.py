"""The HTML report in headless Chromium: what it shows, sorting, searching, hostile names, no error on the console.

Skips where there is no chromium (tools/setup.sh --with-oracles installs Debian's)."""

import hashlib
import json
import re

import numpy as np
import pytest
from onnx import TensorProto, helper

import oracle
import pipeline
from chromium import in_browser

RECIPE = pipeline.PREPROCESS / 'fashion_mnist.yaml'
SAMPLES = 8


@pytest.fixture(scope='module')
def example(tmp_path_factory):
    """The folder of table.yaml, config.yaml, r.html and r.json of the bundled model, compared on 8 images."""
    folder = tmp_path_factory.mktemp('page')
    pipeline.calibrate(pipeline.EXAMPLE, pipeline.TRAIN_IMAGES, folder / 'table.yaml', samples=20,
                       preprocess=RECIPE)
    np.save(folder / 'x.npy', oracle.fashion_images(count=SAMPLES))
    (folder / 'config.yaml').write_text('types: {Add: {mode: f32}, MaxPool: {mode: f32}}\n', encoding='utf-8')
    pipeline.run('model_deploy', pipeline.EXAMPLE, '--calibration', folder / 'table.yaml', '--config',
                 folder / 'config.yaml', '-o', folder / 'p.rshift', '--test-input', folder / 'x.npy',
                 '--report', folder / 'r.html', '--report-json', folder / 'r.json')
    return folder


def listed(folder):
    return json.loads((folder / 'r.json').read_text(encoding='utf-8'))


COLUMN = '''
const titles = [...document.querySelectorAll('#nodes th')].map((th) => th.textContent);
const column = (title) => [...document.querySelectorAll('#nodes tbody tr')]
    .map((tr) => tr.cells[titles.indexOf(title)].textContent);
const sort = (title) => document.querySelectorAll('#nodes th')[titles.indexOf(title)].firstChild.click();
'''


def test_the_page_shows_hashes_samples_nodes_and_figures(browser, example, tmp_path):
    seen = in_browser(example / 'r.html', COLUMN + '''
        return {text: document.querySelector('main').innerText, names: column('node / tensor'),
                shapes: column('shape'), sqnr: column('SQNR dB'), alone: column('alone: median'),
                drawn: document.querySelectorAll('#nodes svg.histogram path.bar').length, titles,
                terms: [...document.querySelectorAll('dl.legend dt')].map((dt) => dt.textContent)};''', tmp_path)
    report = listed(example)
    for file in (pipeline.EXAMPLE, example / 'table.yaml'):
        assert hashlib.sha256(file.read_bytes()).hexdigest() in seen['text']
    assert f'samples compared\n{SAMPLES}\n' in seen['text'] and '20 samples' in seen['text']
    assert len(seen['names']) == len(report['nodes']) > 20
    for name, shape, node in zip(seen['names'], seen['shapes'], report['nodes'], strict=True):
        assert name.startswith(node['node']) and node['tensor'] in name
        assert shape == 'x'.join(map(str, node['shape']))
    layers = {layer['tensor']: layer for layer in report['layers']}
    assert layers.keys() <= {node['tensor'] for node in report['nodes']}
    assert len(layers) == seen['drawn'] > 20
    for shown, alone, node in zip(seen['sqnr'], seen['alone'], report['nodes'], strict=True):
        layer = layers.get(node['tensor'])
        assert (shown == '') == (layer is None)
        if layer:
            assert abs(float(shown) - layer['sqnr_db']) < 0.051
            assert abs(float(alone) - layer['alone']['channels']['median_db']) < 0.051
    assert set(seen['titles']) <= set(seen['terms'])  # the legend explains every column


def test_the_page_shows_the_verdict_of_the_check(browser, example, tmp_path):
    seen = in_browser(example / 'r.html', '''
        return {check: document.getElementById('check').textContent,
                grade: document.getElementById('check').classList[1],
                outputs: [...document.querySelectorAll('#outputs tbody tr')].map((tr) => tr.cells[0].textContent)};''',
        tmp_path)
    check = listed(example)['check']
    assert seen['grade'] == check['grade'] == 'good' and check['samples'] in seen['check']
    assert seen['outputs'] == [output['name'] for output in check['outputs']]


def test_histograms_hold_every_compared_value(example):
    report = listed(example)
    shapes = {node['tensor']: node['shape'] for node in report['nodes']}
    for layer in report['layers']:
        values = layer['values']
        assert sum(values['counts']) + values['non_finite'] == layer['elements']
        assert layer['elements'] == SAMPLES * np.prod(shapes[layer['tensor']])
        assert values['low'] <= values['min'] <= values['low'] + values['bin_width']
        top = values['low'] + len(values['counts']) * values['bin_width']
        assert top - values['bin_width'] <= values['max'] < top


def test_the_page_sorts_searches_filters_and_opens_histograms(browser, example, tmp_path):
    seen = in_browser(example / 'r.html', COLUMN + '''
        const all = document.querySelectorAll('#nodes tbody tr').length;
        sort('SQNR dB'); const up = column('SQNR dB');
        sort('SQNR dB'); const down = column('SQNR dB');
        const arrow = document.querySelectorAll('#nodes th[aria-sort=descending]').length;
        const search = document.getElementById('search'), filter = document.getElementById('filter');
        const type = (text) => { search.value = text; search.dispatchEvent(new Event('input')); };
        const choose = (text) => { filter.value = text; filter.dispatchEvent(new Event('change')); };
        type('RES2 conv'); const found = column('node / tensor');
        const shown = document.getElementById('shown').textContent;
        type('no such node'); const none = document.querySelectorAll('#nodes tbody tr').length;
        type(''); choose('F32'); const floats = column('type');
        choose('all'); const back = document.querySelectorAll('#nodes tbody tr').length;
        const row = [...document.querySelectorAll('#nodes tbody tr')].find((tr) => tr.innerText.includes('/stem/'));
        row.querySelector('button').click();
        const opened = document.querySelector('tr.detail');
        const ends = opened.querySelectorAll('svg line.end').length, text = opened.textContent;
        row.querySelector('button').click();
        return {all, up, down, arrow, found, shown, none, floats, back, ends, text,
                closed: document.querySelectorAll('tr.detail').length};''', tmp_path)
    up, down = ([float(x) for x in seen[name] if x] for name in ('up', 'down'))
    assert up == sorted(up) and down == sorted(down, reverse=True) and len(set(up)) > 5
    assert seen['up'][len(up):] == [''] * (seen['all'] - len(up))  # without figures: always last
    assert seen['arrow'] == 1
    assert seen['found'] and all('res2' in name and 'conv' in name.lower() for name in seen['found'])
    assert seen['shown'] == f"{len(seen['found'])} of {seen['all']} nodes"
    assert seen['none'] == 0 and seen['back'] == seen['all']
    assert seen['floats'] and set(seen['floats']) == {'f32'}
    assert seen['ends'] == 2 and 'integer range' in seen['text'] and seen['closed'] == 0


def test_f32_nodes_are_grouped_by_reason(browser, example, tmp_path):
    seen = in_browser(example / 'r.html', '''
        return [...document.querySelectorAll('details.reason')].map((d) => ({
            title: d.querySelector('summary').textContent,
            rows: [...d.querySelectorAll('tbody tr')].map((tr) => [...tr.cells].map((td) => td.textContent))}));''',
        tmp_path)
    report = listed(example)
    shapes = {node['node']: 'x'.join(map(str, node['shape'])) for node in report['nodes']}
    expected = {}
    for node in report['float_nodes']:
        expected.setdefault(node['reason'], []).append([node['node'], node['op'], shapes[node['node']]])
    assert len(expected) >= 1
    assert {f'{len(rows)}: {reason}': rows for reason, rows in expected.items()} == {
        group['title']: group['rows'] for group in seen}


@pytest.mark.parametrize('width', (600, 1400))
def test_no_line_runs_off_the_page(browser, example, tmp_path, width):
    seen = in_browser(example / 'r.html', '''
        for (const d of document.querySelectorAll('details')) d.open = true;
        document.querySelector('#nodes tbody button').click();
        return {page: document.documentElement.scrollWidth, window: innerWidth,
                summary: document.querySelector('pre').scrollWidth - document.querySelector('pre').clientWidth};''',
        tmp_path, width)
    assert seen['page'] <= seen['window'] and seen['summary'] <= 0, seen


HOSTILE = ('</script><script>document.title="hacked"</script>', '<img src=x onerror=document.title="hacked">',
           '"><b>bold</b>', "'-alert(1)-'", '__proto__', '<!--<script>', 'line\u2028 separator', '${1+1}', 'BYTES')


def hostile_model(path):
    names = ['x', *(f'{name}/out' for name in HOSTILE)]
    nodes = [helper.make_node('Softmax' if i % 2 else 'Neg', [names[i]], [names[i + 1]], name=name)
             for i, name in enumerate(HOSTILE)]
    graph = helper.make_graph(nodes, HOSTILE[0],
                              [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 2, 3, 3])],
                              [helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, [1, 2, 3, 3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
    path.write_bytes(model.SerializeToString().replace(b'BYTES', b'\xff\xfe<b>'))


def test_names_of_a_model_never_become_markup(browser, tmp_path):
    model = tmp_path / 'net<b>&"quoted".onnx'
    hostile_model(model)
    np.save(tmp_path / 'x.npy', np.ones((4, 2, 3, 3), np.float32))
    pipeline.calibrate(model, tmp_path / 'x.npy', tmp_path / 't.yaml')
    pipeline.run('model_deploy', model, '--calibration', tmp_path / 't.yaml', '-o', tmp_path / 'p.rshift',
                 '--test-input', tmp_path / 'x.npy', '--report', tmp_path / 'r.html', '--json')
    seen = in_browser(tmp_path / 'r.html', '''
        return {title: document.title, head: document.querySelector('h1').textContent,
                foreign: document.querySelectorAll('img, b, iframe, object').length,
                scripts: document.querySelectorAll('script').length,
                text: document.querySelector('#nodes').textContent};''', tmp_path)
    assert model.name in seen['title'] and model.name in seen['head']
    assert seen['foreign'] == 0 and seen['scripts'] == 4  # data, the page's two and this test's
    for name in HOSTILE[:-1]:
        assert name in seen['text'], name
    assert '\ufffd' in seen['text']


def test_pages_without_figures_or_integers_open(browser, example, tmp_path):
    for mode in ('f32', 'symmetric'):
        table = ('--calibration', example / 'table.yaml', '--no-check') if mode != 'f32' else ()
        pipeline.run('model_deploy', pipeline.EXAMPLE, *table, '--mode', mode, '-o', tmp_path / 'p.rshift',
                     '--report', tmp_path / 'r.html')
        seen = in_browser(tmp_path / 'r.html', '''
            return {rows: document.querySelectorAll('#nodes tbody tr').length,
                    text: document.querySelector('main').innerText};''', tmp_path)
        assert seen['rows'] > 20 and 'none (give --test-input)' in seen['text']


def test_the_page_is_one_file_and_the_same_for_any_thread_count(example, tmp_path):
    pages = []
    for threads in (1, 3):
        pipeline.run('model_deploy', pipeline.EXAMPLE, '--calibration', example / 'table.yaml', '-o',
                     tmp_path / 'p.rshift', '--test-input', example / 'x.npy', '--report', tmp_path / 'r.html',
                     '--threads', threads)
        pages.append((tmp_path / 'r.html').read_text(encoding='utf-8'))
    assert pages[0] == pages[1]
    assert set(re.findall(r'https?://[^\s\'"]*', pages[0])) <= {'http://www.w3.org/2000/svg'}
    assert not re.search(r'<link|<img|\ssrc=|@import|url\(', pages[0])
