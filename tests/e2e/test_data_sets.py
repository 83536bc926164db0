"""Class folders, patterns and tar shards as data sets of every program; the commands of docs/datasets.md."""

import gzip
import io
import json
import os
import re
import subprocess
import tarfile

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import pipeline

cv2 = pytest.importorskip('cv2')

COUNT = 60
CLASSES = 10
RECIPE = pipeline.PREPROCESS / 'fashion_mnist.yaml'


def read_idx(path, header):
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8)[header:]


def write_stereo(folder):
    """A network of two pictures, and how they become its inputs."""
    pictures = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 1, 28, 28)) for name in ('left', 'right')]
    graph = helper.make_graph([helper.make_node('Sub', ['left', 'right'], ['d'])], 'stereo', pictures,
                              [helper.make_tensor_value_info('d', TensorProto.FLOAT, (1, 1, 28, 28))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), folder / 'stereo.onnx')
    (folder / 'stereo.yaml').write_text('inputs:\n  - {name: left, color: GRAY}\n  - {name: right, color: GRAY, scale: 0.5}\n')


@pytest.fixture(scope='module', name='folder')
def _folder(tmp_path_factory):
    """The same pictures as class folders val/, as tar shards, as a list, and as an idx-like array of labels."""
    if not pipeline.FASHION.exists():
        pytest.skip('dataset-fashion-mnist is not installed')
    folder = tmp_path_factory.mktemp('sets')
    images = read_idx(pipeline.TEST_IMAGES, 16).reshape(-1, 28, 28)[:COUNT]
    labels = read_idx(pipeline.TEST_LABELS, 8)[:COUNT]
    assert set(labels) == set(range(CLASSES))
    names = []
    shards = [tarfile.open(folder / f'train-00{i}.tar', 'w') for i in range(2)]
    for i, (image, label) in enumerate(zip(images, labels)):
        content = cv2.imencode('.png', image)[1].tobytes()
        path = folder / f'val/class{label}/{i:04}.png'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        names.append(f'val/class{label}/{i:04}.png')
        # Written backwards, and a name that only a pax header can hold: the order is that of the keys.
        shard = shards[i * 2 // COUNT]
        for extension, data in (('cls', str(label).encode()), ('ö.txt', b'x'), ('png', content)):
            info = tarfile.TarInfo(f'größe/{i:04}.{extension}')
            info.size = len(data)
            shard.addfile(info, io.BytesIO(data))
    for shard in shards:
        shard.close()
    (folder / 'list.txt').write_text('\n'.join(names) + '\n')
    (folder / 'net.onnx').write_bytes(pipeline.EXAMPLE.read_bytes())
    (folder / 'net.preprocess.yaml').write_text(RECIPE.read_text())
    for name in ('photos', 'left', 'right'):
        (folder / name).mkdir()
    for i, image in enumerate(images[:4]):
        cv2.imwrite(str(folder / f'photos/{i}.jpg'), image)
        cv2.imwrite(str(folder / f'left/{i}.png'), image)
        cv2.imwrite(str(folder / f'right/{i}.png'), image)
    write_stereo(folder)
    (folder / 'classes.txt').write_text(''.join(f'class{i}\n' for i in range(CLASSES)))
    return folder


def run_in(folder, command):
    environment = os.environ | {'PATH': f"{pipeline.BIN.resolve()}:{os.environ['PATH']}", 'LC_ALL': 'C'}
    return subprocess.run(['bash', '-e', '-c', command], cwd=folder, env=environment, text=True,
                          capture_output=True, timeout=300, check=False)


def test_the_page_runs(folder):
    blocks = re.findall(r'```bash\n(.*?)```', (pipeline.ROOT / 'docs/datasets.md').read_text(), re.S)
    blocks = [block for block in blocks if 'keywords' not in block]  # those of test_audio.py
    assert len(blocks) == 3
    done = run_in(folder, '\n'.join(blocks))
    assert done.returncode == 0, done.stderr
    tops = re.findall(r'top-1 (\S+) %', done.stdout)
    assert len(tops) == 3 and len(set(tops)) == 1 and float(tops[0]) > 80
    assert 'labels of 10 class folders, sorted: class0 = 0, class1 = 1' in done.stderr
    assert 'as classes.txt has them' in done.stderr


def thresholds(table):
    # The names of samples are another way to the same pictures.
    lines = [re.sub(r', min_sample.*', '', line) for line in table.read_text().splitlines()]
    return [line for line in lines if re.search('threshold|min:|max:', line)]


@pytest.fixture(scope='module', name='program')
def _program(folder):
    tables = []
    for name, data in (('folder', 'val'), ('glob', 'val/*/*.png'), ('tar', 'train-{000..001}.tar'),
                       ('star', 'train-*.tar'), ('list', 'list.txt')):
        table = folder / f'{name}.yaml'
        pipeline.calibrate(pipeline.EXAMPLE, folder / data, table, preprocess=RECIPE, samples=0)
        tables.append(thresholds(table))
    assert tables[0] and all(table == tables[0] for table in tables), 'the same pictures, another table'
    # What has the same folder in it names the samples alike: the same bytes.
    assert len({(folder / f'{name}.yaml').read_bytes() for name in ('folder', 'glob', 'list')}) == 1
    program = folder / 'p.rshift'
    # The table names its samples in the shard: model_deploy reads them again for its check.
    found = pipeline.run('model_deploy', pipeline.EXAMPLE, '--calibration', folder / 'tar.yaml', '--mode',
                         'symmetric', '-o', program, '--test-input', folder / 'train-000.tar')
    assert 'check: good' in found
    return program


def outputs(program, data, out):
    pipeline.run('model_runner', program, '--dataset', data, '--output', out)
    with np.load(out) as arrays:
        names = [name.split('/')[-1] for name in arrays['sample_names']]
        scores = next(array for name, array in arrays.items() if name != 'sample_names')
    return dict(zip(names, scores))


def test_every_kind_gives_the_same_outputs(folder, program, tmp_path):
    first = outputs(program, folder / 'val', tmp_path / 'out.npz')
    assert len(first) == COUNT
    for data in ('val/*/*.png', 'val/*', 'train-00[01].tar', 'train-{000..001}.tar', 'list.txt'):
        other = outputs(program, folder / data, tmp_path / 'out.npz')
        assert sorted(other) == sorted(first)
        assert all(np.array_equal(other[name], first[name]) for name in first), data


def test_other_programs_take_them(folder, tmp_path):
    shards = folder / 'train-{000..001}.tar'
    pipeline.run('model_deploy', pipeline.EXAMPLE, '--calibration', folder / 'tar.yaml', '--mode', 'symmetric', '-o',
                 tmp_path / 'p.rshift', '--bias-correction', 'fast', '--correction-data', shards)
    facts = json.loads(pipeline.run('model_tool', 'diagnose', pipeline.EXAMPLE, '--dataset', shards, '--preprocess', RECIPE,
                                    '--labels', 'auto', '--json'))
    assert facts
    checked = json.loads(pipeline.run('model_calibrate', pipeline.EXAMPLE, '--dataset', folder / 'val', '--preprocess',
                                      RECIPE, '--check', '--labels', 'auto', '--json'))
    assert checked


def test_bad_data_is_one_clear_line(folder, program, tmp_path):
    def error(data, *extra):
        return pipeline.fails('model_runner', program, '--dataset', data, *extra)
    assert 'no file matches' in error(tmp_path / '*.png')
    assert "no file is called '" in error(folder / 'train-{000..002}.tar')
    (tmp_path / 'a/b').mkdir(parents=True)
    assert 'neither the folder nor those within it hold images' in error(tmp_path / 'a')
    whole = (folder / 'train-000.tar').read_bytes()
    (tmp_path / 'cut.tar').write_bytes(whole[:len(whole) // 2])
    assert 'cut.tar' in error(tmp_path / 'cut.tar')
    (tmp_path / 'x.tar.gz').write_bytes(gzip.compress(whole))
    assert 'unpack it' in error(tmp_path / 'x.tar.gz')
    with tarfile.open(tmp_path / 'twice.tar', 'w') as shard:
        for _ in range(2):
            shard.add(folder / 'val/class0' / os.listdir(folder / 'val/class0')[0], 'k.png')
    assert "key 'k' occurs twice" in error(tmp_path / 'twice.tar')
    assert 'lies in no class folder' in error(folder / 'list.txt', '--labels', 'auto')


def test_samples_of_a_pattern_are_not_overwritten(folder, tmp_path):
    shard = tmp_path / 's-0.tar'
    shard.write_bytes((folder / 'train-000.tar').read_bytes())
    done = pipeline.call('model_calibrate', pipeline.EXAMPLE, '--dataset', tmp_path / 's-{0..0}.tar', '-o', shard,
                         '--preprocess', RECIPE)
    assert done.returncode == 2 and 'is the same file as' in done.stderr


# --- --skip-bad ---

def spoiled(folder, count):
    """Copies the pictures into a folder, spoils every so-many-th; the names of the spoiled ones."""
    folder.mkdir()
    source = sorted(p for p in (folder.parent / 'good').iterdir())
    bad = []
    for i, path in enumerate(source):
        content = path.read_bytes()
        if i % (len(source) // count) == 3 and len(bad) < count:
            content = content[:len(content) // 2]
            bad.append(path.name)
        (folder / path.name).write_bytes(content)
    return bad


@pytest.fixture(name='pictures')
def _pictures(folder, tmp_path):
    (tmp_path / 'good').mkdir()
    for path in sorted(folder.glob('val/*/*.png')):
        (tmp_path / 'good' / path.name).write_bytes(path.read_bytes())
    return tmp_path


def calibrated(folder, data, name, *extra):
    table, stats = folder / f'{name}.yaml', folder / f'{name}.stats'
    done = pipeline.call('model_calibrate', pipeline.EXAMPLE, '--dataset', data, '--preprocess', RECIPE, '--samples', 20,
                         '-o', table, '--statistics', stats, *extra)
    assert done.returncode == 0, done.stderr
    return table.read_bytes().replace(bytes(data), b''), stats.read_bytes().replace(bytes(data), b''), done.stdout


def test_bad_pictures_are_left_out_as_if_they_were_not_there(pictures):
    folder = pictures
    bad = spoiled(folder / 'half', 6)
    error = pipeline.fails('model_calibrate', pipeline.EXAMPLE, '--dataset', folder / 'half', '--preprocess', RECIPE, '-o',
                           folder / 't.yaml', '--samples', 0)
    assert bad[0] in error
    # The same paths in both runs, as the table names the samples by them.
    (folder / 'half').rename(folder / 'spoiled')
    (folder / 'half').mkdir()
    for path in (folder / 'good').iterdir():
        if path.name not in bad:
            (folder / 'half' / path.name).write_bytes(path.read_bytes())
    expected = calibrated(folder, folder / 'half', 'without')[:2]
    (folder / 'half').rename(folder / 'mended')
    (folder / 'spoiled').rename(folder / 'half')
    for threads in (1, 2, 4):
        *found, said = calibrated(folder, folder / 'half', 'with', '--skip-bad', '--threads', threads)
        assert tuple(found) == expected, f'{threads} threads'
        assert f'{len(bad)} samples left out' in said and all(name in said for name in bad)
    parts = []
    for shard in ('0/3', '1/3', '2/3'):
        part = folder / f"part{shard[0]}"
        calibrated(folder, folder / 'half', part.name, '--skip-bad', '--shard', shard)
        parts.append(f'{part}.stats')
    pipeline.run('model_calibrate', pipeline.EXAMPLE, '--from-statistics', *parts[::-1], '-o', folder / 'merged.yaml')
    assert (folder / 'merged.yaml').read_bytes() == (folder / 'without.yaml').read_bytes()
    summary = json.loads(pipeline.run('model_calibrate', pipeline.EXAMPLE, '--dataset', folder / 'half', '--preprocess', RECIPE,
                                      '--skip-bad', '-o', folder / 't.yaml', '--json'))
    assert [one['sample'] for one in summary['skipped']] == sorted(bad)


def test_more_than_one_bad_in_ten_is_an_error(pictures):
    bad = spoiled(pictures / 'spoiled', 7)
    error = pipeline.fails('model_calibrate', pipeline.EXAMPLE, '--dataset', pictures / 'spoiled', '--preprocess', RECIPE,
                           '--skip-bad', '-o', pictures / 't.yaml')
    assert f'7 of {COUNT} samples cannot be read, at most one in 10' in error and bad[0] in error
