"""The commands of README.md and docs/*.md run as they are written: the pages that have no test of their own, in one folder with
the files that they name (doc_commands.py). What cannot run is skipped by name, with the reason."""

import gzip
import os
import shutil
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import doc_commands
import pipeline
import test_openvino_ir

cv2 = pytest.importorskip('cv2')
COUNT, CLASSES = 40, 10
TORCH = subprocess.run(['/usr/bin/python3', '-c', 'import torch'], capture_output=True, check=False).returncode == 0
PAGES = [page for page in doc_commands.pages() if any(not c.reason for c in doc_commands.commands(page)) and page not in doc_commands.ELSEWHERE]


def run(folder, command):
    path = f"{pipeline.BIN.resolve()}:/usr/bin:{os.environ['PATH']}"  # /usr/bin/python3 has Debian's torch
    done = subprocess.run(['bash', '-euo', 'pipefail', '-c', command], cwd=folder, env=os.environ | {'PATH': path}, text=True,
                          capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, f'{command}\n{done.stdout}\n{done.stderr}'


def save(path, nodes, inputs, outputs, constants):
    def infos(shapes):
        return [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in shapes.items()]
    graph = helper.make_graph(nodes, path.stem, infos(inputs), infos(outputs),
                              [numpy_helper.from_array(value, name) for name, value in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)


def write_detectors(folder):
    """detector.onnx makes boxes and scores, boxes.onnx chooses among them; ssd.onnx ends in what cannot be deployed."""
    node, real, whole = helper.make_node, TensorProto.FLOAT, TensorProto.INT64
    rng = np.random.default_rng(20)
    weights = {'w': rng.normal(0, .3, (5, 1, 3, 3)).astype(np.float32), 'order': np.array([1, 5, 784], np.int64),
               'four': np.array([4, 1], np.int64)}
    network = [node('Conv', ['input', 'w'], ['c'], pads=[1] * 4), node('Reshape', ['c', 'order'], ['r']),
               node('Split', ['r', 'four'], ['b', 'logits'], axis=1), node('Transpose', ['b'], ['boxes'], perm=[0, 2, 1]),
               node('Sigmoid', ['logits'], ['scores'])]
    picture = {'input': (real, (1, 1, 28, 28))}
    save(folder / 'detector.onnx', network, picture, {'boxes': (real, (1, 784, 4)), 'scores': (real, (1, 1, 784))}, weights)
    save(folder / 'boxes.onnx', [node('NonMaxSuppression', ['boxes', 'scores', 'most'], ['chosen'])],
         {'boxes': (real, (1, 784, 4)), 'scores': (real, (1, 1, 784))}, {'chosen': (whole, (None, 3))}, {'most': np.int64([5])})
    twice = [node('NonZero', ['scores'], ['places']), node('NonZero', ['places'], ['again'], name='again')]
    save(folder / 'ssd.onnx', network + twice, picture, {'again': (whole, (2, None)), 'boxes': (real, (1, 784, 4))}, weights)


def write_pictures(folder):
    images = np.frombuffer(gzip.decompress(pipeline.TEST_IMAGES.read_bytes()), np.uint8)[16:].reshape(-1, 28, 28)[:COUNT]
    labels = np.frombuffer(gzip.decompress(pipeline.TEST_LABELS.read_bytes()), np.uint8)[8:][:COUNT]
    for name in ('val', 'photos'):
        (folder / name).mkdir()
    for i, image in enumerate(images):
        cv2.imwrite(str(folder / f'val/{i:03}.png'), image)
        if i % 2 == 0:
            cv2.imwrite(str(folder / f'photos/{i:03}.jpg'), image)
    for name in ('photos/cat.jpg', 'photo.jpg'):
        cv2.imwrite(str(folder / name), images[1])
    (folder / 'labels.txt').write_text(''.join(f'{i:03}.png {label}\n' for i, label in enumerate(labels)))
    (folder / 'classes.txt').write_text(''.join(f'class{i}\n' for i in range(CLASSES)))
    np.save(folder / 'x.npy', np.random.default_rng(1).normal(size=(16, 1, 28, 28)).astype(np.float32))


@pytest.fixture(scope='module', name='home')
def _home(tmp_path_factory):
    """What the pages name, made once: the bundled network, pictures, scales as other tools write them."""
    if not pipeline.FASHION.exists():
        pytest.skip('dataset-fashion-mnist is not installed')
    home = tmp_path_factory.mktemp('commands')
    for name in ('examples', 'configs', 'tests'):
        (home / name).symlink_to(pipeline.ROOT / name)
    shutil.copy(pipeline.EXAMPLE, home / 'net.onnx')
    for name in ('net.yaml', 'net.preprocess.yaml'):
        shutil.copy(pipeline.PREPROCESS / 'fashion_mnist.yaml', home / name)
    write_pictures(home)
    write_detectors(home)
    for name in ('openvino_model.xml', 'net_nncf.xml'):
        test_openvino_ir.written()[0].save(home / name)
    run(home, '''
model_calibrate net.onnx --dataset photos/ --preprocess net.yaml --statistics net.stats -o net.table.yaml
model_deploy net.onnx --calibration net.table.yaml -o net.rshift --no-check --report-json r.json
model_calibrate net.onnx --dataset photos/ --preprocess net.yaml --equalize off -o plain.table.yaml
model_deploy net.onnx --calibration plain.table.yaml -o plain.rshift --no-check --emit-qdq net_qdq.onnx
model_calibrate detector.onnx --dataset x.npy -o d.table.yaml
for file in trt.cache net.cache net.encodings net_cali_table; do model_tool scales convert plain.table.yaml $file --model net.onnx; done
''')
    (home / 'net_qtable').write_text('# op_name   quantize_mode\nlogits_Gemm F16\n')
    return home


@pytest.mark.parametrize('page', PAGES)
def test_the_commands_of(page, home, tmp_path):
    kept = [command.text for command in doc_commands.commands(page) if not command.reason]
    if 'python3 examples/fashion_mnist/train.py' in kept[0] and not TORCH:
        kept = kept[1:]  # as the page says
    shutil.copytree(home, tmp_path / 'home', symlinks=True)  # no page lives on what another has made
    run(tmp_path / 'home', ''.join(kept))


@pytest.mark.parametrize('page, start, reason', doc_commands.NOT_RUN, ids=lambda text: text[:40])
def test_not_run(page, start, reason):
    assert [c for c in doc_commands.commands(page) if c.text.startswith(start)], 'the page has no such command: take it out of the list'
    pytest.skip(f'{page}: {start} ...: {reason}')


def test_every_command_has_its_place():
    """No page is forgotten, no command stands outside of a ```bash block."""
    for page, test in doc_commands.ELSEWHERE.items():
        assert doc_commands.blocks(page), page
        assert page.removeprefix('docs/').removesuffix('.md') in (pipeline.ROOT / test).read_text(encoding='utf-8'), test
    assert not [line for page in doc_commands.pages() for line in doc_commands.hidden(page)]


def test_counted(report):
    everything = [command for page in doc_commands.pages() for command in doc_commands.commands(page)]
    left_out = sum(1 for command in everything if command.reason)
    by_others = sum(1 for command in everything if command.page in doc_commands.ELSEWHERE and not command.reason)
    report(f'commands of README and docs: {len(everything)}, of which {len(everything) - left_out - by_others} run here, {by_others} by the '
           f'tests of their pages, {left_out} not as they stand')
    assert len(everything) > 150 and left_out < 20
