"""The recipes of docs/scale-out.md where their engine is installed; mpirun gives the bytes of one process."""

import itertools
import os
import re
import shutil
import subprocess

import cv2
import numpy as np
import pytest

import oracle
import pipeline
import slurm

SAMPLES = 12
RECIPE = pipeline.PREPROCESS / 'fashion_mnist.yaml'
DOCS = (pipeline.ROOT / 'docs/scale-out.md').read_text(encoding='utf-8')


@pytest.fixture(scope='module')
def data(tmp_path_factory):
    """net.onnx, net.yaml and photos/ as the recipes call them; whole.* is what one process writes."""
    folder = tmp_path_factory.mktemp('scale_out')
    shutil.copy(pipeline.EXAMPLE, folder / 'net.onnx')
    shutil.copy(RECIPE, folder / 'net.yaml')
    (folder / 'photos').mkdir()
    for i, image in enumerate(oracle.fashion_images(count=SAMPLES)):
        cv2.imwrite(str(folder / f'photos/{i:02}.png'), np.rint(image[0] * 255).astype(np.uint8))
    done = shell(folder, 'model_calibrate net.onnx --dataset photos/ --preprocess net.yaml --samples 0 --statistics whole.stats '
                 '--report whole.html -o whole.yaml')
    assert done.returncode == 0, done.stderr
    return folder


def shell(folder, command):
    """The shell's command line in that folder, with our programs in the path."""
    env = os.environ | {'PATH': f'{folder / "bin"}:{pipeline.BIN}:{os.environ["PATH"]}', 'OMPI_ALLOW_RUN_AS_ROOT': '1',
                        'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1', 'OMPI_MCA_rmaps_base_oversubscribe': '1',
                        'OMPI_MCA_btl': 'self,vader', 'OMP_NUM_THREADS': '1'}
    return subprocess.run(['bash', '-c', command], cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)


def recipe(start):
    """The one command of the page that begins so."""
    found = re.findall(rf'^({re.escape(start)}(?:.*\\\n)*.*)$', DOCS, re.MULTILINE)
    assert len(found) == 1, found
    return found[0]


def need(program):
    if shutil.which(program) is None:
        pytest.skip(f'no {program}')


@pytest.fixture(scope='module')
def ranks(data):
    """Folder data with bin/, where model_calibrate has MPI, also where that came after CMake looked for it."""
    need('mpirun')
    need('mpicxx')
    (data / 'bin').mkdir()
    shutil.copy(pipeline.BIN / 'model_calibrate', data / 'bin')
    if (pipeline.BIN / 'rshift_mpi.so').exists():
        shutil.copy(pipeline.BIN / 'rshift_mpi.so', data / 'bin')
    else:
        subprocess.run(['mpicxx', '-std=c++20', '-shared', '-fPIC', '-DOMPI_SKIP_MPICXX', f'-I{pipeline.ROOT}',
                        pipeline.ROOT / 'tools/mpi_module.cc', '-o', data / 'bin/rshift_mpi.so'], check=True)
    return data


def test_threads_and_the_order_of_the_data_make_no_difference(data):
    names = [f'photos/{i:02}.png\n' for i in range(SAMPLES)]
    written = set()
    for threads, order in ((1, names), (2, names[::-1]), (4, names[5:] + names[:5])):
        (data / 'list.txt').write_text(''.join(order))
        done = shell(data, 'model_calibrate net.onnx --dataset list.txt --preprocess net.yaml --samples 0 --statistics list.stats '
                     f'--report list.html --threads {threads} -o list.yaml')
        assert done.returncode == 0, done.stderr
        written.add(tuple((data / f'list.{kind}').read_bytes() for kind in ('yaml', 'stats', 'html')))
    assert len(written) == 1


def merged(folder, parts, table):
    return shell(folder, f'model_calibrate net.onnx --from-statistics {" ".join(parts)} --statistics {table}.stats -o {table}')


def test_the_recipe_of_parallel_and_its_merge_in_every_order(data):
    need('parallel')
    done = shell(data, recipe('seq 4 | parallel') + ' 2>&1')
    assert done.returncode == 0, done.stdout
    parts = [f'{i}.stats' for i in range(1, 5)]
    for order in itertools.permutations(parts):
        assert merged(data, order, 'merged').returncode == 0
        assert (data / 'merged').read_bytes() == (data / 'whole.yaml').read_bytes(), order
        assert (data / 'merged.stats').read_bytes() == (data / 'whole.stats').read_bytes(), order


@pytest.mark.parametrize('number', (2, 3))
def test_ranks_give_the_bytes_of_one_process(ranks, data, number):
    done = shell(ranks, recipe('mpirun -n 4 model_calibrate').replace('-n 4', f'-n {number}') + ' --report net.html')
    assert done.returncode == 0 and f'{number} ranks share the samples' in done.stderr, done.stderr
    for one, several in (('whole.yaml', 'net.table.yaml'), ('whole.stats', 'net.stats'), ('whole.html', 'net.html')):
        assert (data / one).read_bytes() == (data / several).read_bytes(), several
    assert not list(data.glob('*.partial.stats'))


def test_ranks_may_measure_for_themselves(data):
    need('mpirun')
    done = shell(data, recipe("mpirun -n 4 sh -c").replace('-n 4', '-n 2'))
    assert done.returncode == 0, done.stderr
    assert merged(data, ['0.stats', '1.stats'], 'merged').returncode == 0
    assert (data / 'merged').read_bytes() == (data / 'whole.yaml').read_bytes()


def test_an_array_of_slurm_and_its_merge(data, tmp_path):
    """The two scripts of the page on a Slurm of one node; only paths, the size of the array and its threads are others."""
    if slurm.why_not():
        pytest.skip(slurm.why_not())
    script = re.search(r'^#!/bin/sh\n#SBATCH(?:.*\n)*?.*\.yaml\n', DOCS, re.MULTILINE)[0]
    for there, here in (('0-15 --cpus-per-task=8', '0-2 --cpus-per-task=1'), ('/data/photos', 'photos/'), ('--threads 8', '--threads 1')):
        assert there in script
        script = script.replace(there, here)
    for name in ('net.onnx', 'net.yaml'):
        shutil.copy(data / name, tmp_path)
    shutil.copytree(data / 'photos', tmp_path / 'photos')
    (tmp_path / 'measure.sh').write_text(script)
    submit = re.search(r'^JOB=.*\nsbatch .*$', DOCS, re.MULTILINE)[0]
    with slurm.started(cpus=2) as (env, folder):
        path = {'PATH': f'{pipeline.BIN}:{os.environ["PATH"]}', 'OMP_NUM_THREADS': '1'}
        done = subprocess.run(['bash', '-c', submit], cwd=tmp_path, env=env | path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        slurm.wait_for_jobs(env, folder)
    said = ''.join(log.read_text() for log in tmp_path.glob('slurm-*.out'))
    assert sorted(f.name for f in tmp_path.glob('*.stats')) == ['0.stats', '1.stats', '2.stats'], said
    assert (tmp_path / 'net.table.yaml').read_bytes() == (data / 'whole.yaml').read_bytes(), said


def test_a_rank_that_fails_is_said_once_and_nothing_is_written(ranks, data, tmp_path):
    shutil.copytree(data / 'photos', tmp_path / 'photos')
    (tmp_path / 'photos/07.png').write_bytes(b'no picture')
    done = shell(ranks, f'mpirun -n 3 model_calibrate net.onnx --dataset {tmp_path}/photos --preprocess net.yaml -o {tmp_path}/t.yaml')
    errors = [line for line in done.stderr.splitlines() if line.startswith('error:')]
    assert done.returncode == 1 and len(errors) == 1 and '07.png' in errors[0], done.stderr
    assert os.listdir(tmp_path) == ['photos']


def test_without_the_module_the_way_out_is_said(data, tmp_path):
    shutil.copy(pipeline.BIN / 'model_calibrate', tmp_path)
    done = shell(data, f'OMPI_COMM_WORLD_SIZE=2 {tmp_path}/model_calibrate net.onnx --dataset photos/ --preprocess net.yaml '
                 f'-o {tmp_path}/t.yaml')
    assert done.returncode == 1 and 'rshift_mpi.so' in done.stderr and '--shard auto' in done.stderr
    assert not (tmp_path / 't.yaml').exists()
