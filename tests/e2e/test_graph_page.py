"""model_tool graph: what the graph says, and the page in headless Chromium: what it shows, searching, hostile names, two widths, dark.

The tests of the page skip where there is no chromium (tools/setup.sh --with-oracles installs Debian's)."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper, save

import oracle
import pipeline
from chromium import in_browser

KINDS = {'input', 'output', 'integer', 'float', 'move', 'boundary'}


@pytest.fixture(scope='module')
def example(tmp_path_factory):
    """The folder of p.rshift, r.json and g.html of the bundled model with its Adds in F32, compared on 8 images."""
    folder = tmp_path_factory.mktemp('graph')
    pipeline.calibrate(pipeline.EXAMPLE, pipeline.TRAIN_IMAGES, folder / 'table.yaml', samples=20,
                       preprocess=pipeline.PREPROCESS / 'fashion_mnist.yaml')
    np.save(folder / 'x.npy', oracle.fashion_images(count=8))
    (folder / 'config.yaml').write_text('types: {Add: {mode: f32}}\n', encoding='utf-8')
    pipeline.run('model_deploy', pipeline.EXAMPLE, '--calibration', folder / 'table.yaml', '--config', folder / 'config.yaml',
                 '-o', folder / 'p.rshift', '--test-input', folder / 'x.npy', '--report-json', folder / 'r.json')
    pipeline.run('model_tool', 'graph', folder / 'p.rshift', '--report', folder / 'r.json', '-o', folder / 'g.html')
    return folder


def graph_of(*words):
    return json.loads(pipeline.run('model_tool', 'graph', *words, '--json'))


def check(graph):
    """Everything is made before it is read, and whatever is read was made."""
    read = {i: 0 for i in range(len(graph['nodes']))}
    for source, reader, tensor in graph['edges']:
        assert 0 <= source < reader < len(graph['nodes']) and 0 <= tensor < len(graph['tensors'])
        read[reader] += 1
    for i, node in enumerate(graph['nodes']):
        assert node['kind'] in KINDS
        assert (read[i] == 0) == (node['kind'] == 'input'), node
        assert -1 <= node['makes'] < len(graph['tensors'])


def test_a_graph_is_the_programs_command_stream(example):
    graph = graph_of(example / 'p.rshift', '--report', example / 'r.json')
    check(graph)
    listed = json.loads(pipeline.run('model_tool', 'disasm', example / 'p.rshift', '--json'))
    commands = [node for node in graph['nodes'] if 'command' in node]
    assert [(node['op'], node['name']) for node in commands] == [(c['opcode'], c['node']) for c in listed['commands']]
    assert [t['name'] for t in graph['tensors']] == [t['name'] for t in listed['tensors']]
    floats = {node['name'] for node in commands if node['kind'] == 'float'}
    told = json.loads(pipeline.run('model_tool', 'info', example / 'p.rshift', '--json'))
    assert floats == {command['node'] for command in told['f32_commands']} and floats
    layers = {layer['tensor']: layer for layer in json.loads((example / 'r.json').read_text())['layers']}
    for layer in graph['layers']:
        assert layer['sqnr_db'] == layers[layer['tensor']]['sqnr_db']
        assert layer['alone_db'] == layers[layer['tensor']]['alone']['sqnr_db']


def test_parts_of_a_concat_reach_its_readers(shared, tmp_path):
    """squeezenet's expand convolutions write parts of one tensor: who reads it reads both, and no earlier user of those bytes."""
    model = shared / 'models/squeezenet_1_1/squeezenet_1_1.onnx'
    np.save(tmp_path / 'x.npy', np.random.default_rng(7).normal(0, 60, (2, 3, 224, 224)).astype(np.float32))
    pipeline.calibrate(model, tmp_path / 'x.npy', tmp_path / 't.yaml')
    pipeline.deploy(model, tmp_path / 'p.rshift', mode='symmetric', table=tmp_path / 't.yaml')
    graph = graph_of(tmp_path / 'p.rshift')
    check(graph)
    names = [node['name'] for node in graph['nodes']]
    sources = {}
    for source, reader, _ in graph['edges']:
        sources.setdefault(names[reader], set()).add(names[source])
    for fire in range(2, 10):
        both = {f'fire{fire}/expand1x1_1', f'fire{fire}/expand3x3_1'}
        readers = [name for name in sources if sources[name] & both]
        assert readers and all(sources[name] == both for name in readers), (fire, readers)


@pytest.mark.parametrize('profile', ('tpu', 'caffe2'))
def test_a_model_shows_what_becomes_integer(profile, shared):
    model = next((shared / 'models/fashion').glob('**/*vit_tiny*.onnx'))
    graph = graph_of(model, '--profile', profile)
    check(graph)
    floats = [node for node in graph['nodes'] if node['kind'] == 'float']
    assert all(node['reason'] for node in floats)
    assert any(node['op'] == 'LayerNorm' for node in floats) == (profile == 'caffe2')


def test_wrong_input_is_one_line(example, tmp_path):
    (tmp_path / 'not.json').write_text('{"layers": 3}')
    (tmp_path / 'other.json').write_text('{"layers": [{"tensor": "elsewhere"}]}')
    for words, told in ((['--report', tmp_path / 'not.json', '-o', tmp_path / 'g.html'], 'expected what model_deploy --report-json'),
                        (['--report', tmp_path / 'other.json', '-o', tmp_path / 'g.html'], 'the report of the same program'),
                        ([], '-o/--output')):
        done = pipeline.call('model_tool', 'graph', example / 'p.rshift', *words)
        assert done.returncode in (1, 2) and done.stderr.startswith('error: ') and told in done.stderr
        assert not (tmp_path / 'g.html').exists()


@pytest.mark.parametrize(('width', 'dark'), ((1400, False), (480, False), (1400, True)))
def test_the_page_draws_every_node(width, dark, browser, example, tmp_path):
    graph = graph_of(example / 'p.rshift')
    seen = in_browser(example / 'g.html', '''
        const nodes = [...document.querySelectorAll('.node')];
        const boxes = nodes.map((node) => node.querySelector('rect').getBoundingClientRect());
        nodes[3].dispatchEvent(new MouseEvent('click', {bubbles: true}));
        return {ops: nodes.map((node) => node.querySelector('.op').textContent), edges: document.querySelectorAll('.edge').length,
                floats: document.querySelectorAll('.node.float').length, detail: document.getElementById('detail').innerText,
                meet: boxes.some((a, i) => boxes.some((b, k) => k > i && a.left < b.right && b.left < a.right &&
                                                      a.top < b.bottom && b.top < a.bottom)),
                blocks: document.querySelectorAll('#memory rect').length,
                wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
                page: getComputedStyle(document.body).backgroundColor};''', tmp_path, width, dark)
    assert seen['ops'] == [node['op'] for node in graph['nodes']] and seen['edges'] == len(graph['edges'])
    assert seen['floats'] == sum(node['kind'] == 'float' for node in graph['nodes']) > 0
    assert not seen['meet']
    assert seen['blocks'] == len(graph['memory']['blocks']) > 3
    node = graph['nodes'][3]
    made = graph['tensors'][node['makes']]
    assert node['name'] in seen['detail'] and made['name'] in seen['detail'] and str(made['zero_point']) in seen['detail']
    assert 'SQNR, alone' in seen['detail']
    assert seen['wide'] == 0
    assert (seen['page'] == 'rgb(255, 255, 255)') == (not dark)


def test_searching_colours_and_zoom(browser, example, tmp_path):
    seen = in_browser(example / 'g.html', '''
        const search = document.querySelector('input[type=search]'), svg = document.querySelector('#picture svg');
        const classes = () => [...document.querySelectorAll('.node')].map((node) => node.getAttribute('class'));
        search.value = 'prelu';
        search.dispatchEvent(new Event('input'));
        const found = document.querySelectorAll('.node.found').length, told = document.getElementById('found').textContent;
        const before = svg.getAttribute('viewBox');
        [...document.querySelectorAll('.controls button')].find((b) => b.textContent === 'fit').click();
        const box = svg.getAttribute('viewBox').split(' ').map(Number);
        const inside = [...document.querySelectorAll('.node')].every((node) => {
          const [x, y] = node.getAttribute('transform').match(/-?[0-9.]+/g).map(Number);
          return x > box[0] && x < box[0] + box[2] && y > box[1] && y < box[1] + box[3];
        });
        const select = document.querySelector('select');
        const kinds = classes();
        select.value = 'SQNR, alone';
        select.dispatchEvent(new Event('change'));
        return {found, told, moved: before !== svg.getAttribute('viewBox'), inside, kinds, grades: classes(),
                choices: select.options.length, weakest: document.querySelector('.list li').textContent};''', tmp_path)
    graph = graph_of(example / 'p.rshift', '--report', example / 'r.json')
    matching = [n for n in graph['nodes'] if 'prelu' in json.dumps([n['name'], n['op'], n['makes'] >= 0 and graph['tensors'][n['makes']]['name']]).lower()]
    assert seen['found'] == len(matching) > 0 and seen['told'] == f'{len(matching)} found'
    assert seen['moved'] and seen['inside'] and seen['choices'] == 4
    assert seen['kinds'] != seen['grades'] and any('above' in grade for grade in seen['grades'])
    alone = {layer['tensor']: layer['alone_db'] for layer in graph['layers']}
    weakest = min(alone[graph['tensors'][node['makes']]['name']] for node in graph['nodes']
                  if node['makes'] >= 0 and node['kind'] != 'move' and graph['tensors'][node['makes']]['name'] in alone)
    assert f'{weakest:.1f} dB' in seen['weakest']


def test_hostile_names_stay_text(browser, tmp_path):
    name = '</script><script>document.body.dataset.hacked = 1</script>"&'
    relu = helper.make_node('Relu', ['x'], [name], name=name)
    graph = helper.make_graph([relu], 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 4])],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4])])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), tmp_path / 'm.onnx')
    pipeline.run('model_tool', 'graph', tmp_path / 'm.onnx', '-o', tmp_path / 'g.html')
    seen = in_browser(tmp_path / 'g.html', '''
        document.querySelectorAll('.node')[1].dispatchEvent(new MouseEvent('click', {bubbles: true}));
        return {hacked: 'hacked' in document.body.dataset, detail: document.getElementById('detail').textContent};''', tmp_path)
    assert not seen['hacked'] and name in seen['detail']


def test_a_graph_of_many_nodes_is_placed(browser, shared, tmp_path):
    """The largest net here, in the time that a headless browser has."""
    model = next((shared / 'models/yolox_nano').glob('*.onnx'))
    pipeline.run('model_tool', 'graph', model, '-o', tmp_path / 'g.html')
    seen = in_browser(tmp_path / 'g.html', "return document.querySelectorAll('.node').length;", tmp_path)
    assert seen == len(graph_of(model)['nodes']) > 150
