"""--portable: the same bytes on every CPU. Emulated ones (QEMU) run model_calibrate as a whole; AArch64 is tests/tools/cross_test.py."""

import os
import pathlib
import resource
import shutil
import statistics
import subprocess

import numpy as np
import onnxruntime
import pytest

import oracle
import pipeline

QEMU = shutil.which('qemu-x86_64') or shutil.which('qemu-x86_64-static')
SEED = 17
NETWORKS = ('squeezenet_1_1/squeezenet_1_1.onnx', 'mobilenet_v2/mobilenet_v2_float.onnx', 'yolox_nano', 'superres_x3', 'fashion/vit_tiny.onnx',
            'ultraface_rfb320', 'dtln/model_1.onnx')
ENVIRONMENT = dict(os.environ, OMP_WAIT_POLICY='passive')


def instruction_sets():
    flags = pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8').split()
    return ['scalar'] + [isa for isa, flag in (('avx2', 'avx2'), ('avx512vnni', 'avx512_vnni')) if flag in flags]


def model_of(shared, name):
    path = shared / 'models' / name
    return path if path.is_file() else sorted(f for f in path.glob('*.onnx') if 'qdq' not in f.name)[0]


def inputs_of(session):
    random = np.random.default_rng(SEED)
    shape = [[d if isinstance(d, int) and d > 0 else 1 for d in i.shape] for i in session.get_inputs()]
    return {i.name: random.uniform(-1, 1, s).astype(np.float32) for i, s in zip(session.get_inputs(), shape)}


@pytest.mark.parametrize('name', NETWORKS)
def test_networks_give_what_onnxruntime_gives(name, shared, tmp_path):
    model, program = model_of(shared, name), tmp_path / 'p.rshift'
    pipeline.deploy(model, program, mode='f32')
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(model), options)
    sample = inputs_of(session)
    expected = dict(zip([o.name for o in session.get_outputs()], session.run(None, sample)))
    outputs = pipeline.infer(program, sample, tmp_path, '--portable')
    for key, want in expected.items():
        assert np.abs(outputs[key] - want).max() <= 1e-4 * max(np.abs(want).max(), 1e-3), key
    for isa in instruction_sets()[1:]:
        other = pipeline.infer(program, sample, tmp_path, '--portable', '--isa', isa, '--threads', '2')
        assert all(other[key].tobytes() == outputs[key].tobytes() for key in expected), isa


def seconds(program, *extra):
    """CPU seconds of 8 runs, without loading."""
    def once(count):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        pipeline.run('model_runner', program, '--benchmark', '--threads', 1, '--warmup', 1, '--iterations', count, *extra)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return once(9) - once(1)


def test_its_cost_beside_onednn(shared, tmp_path):
    for name in NETWORKS[:2]:
        program = tmp_path / 'p.rshift'
        pipeline.deploy(model_of(shared, name), program, mode='f32')
        pairs = [(seconds(program), seconds(program, '--portable')) for _ in range(3)]
        ratio = statistics.median(b / a for a, b in pairs)
        fastest = [1000 / 8 * min(side) for side in zip(*pairs)]
        print(f'{name}: {fastest[0]:.1f} ms by oneDNN, {fastest[1]:.1f} ms portable, {ratio:.2f} times (CPU time, median of 3 pairs)')
        assert ratio < 6  # of a CPU that others use, too


def measure(folder, name, model, data, recipe, *extra, cpu=None):
    """Table and statistics of a run, as bytes, on this CPU or on an emulated one."""
    command = [pipeline.BIN / 'model_calibrate', model, '--dataset', data, '--preprocess', recipe, '--portable',
               '--statistics', folder / f'{name}.stats', '-o', folder / f'{name}.yaml', *extra]
    done = subprocess.run([*([QEMU, '-cpu', cpu] if cpu else []), *map(str, command)], env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=600, check=False)
    assert done.returncode == 0, f'{cpu}: {done.stderr[-1000:]}'
    tables = sorted(folder.glob(f'{name}*.yaml'))
    return (folder / f'{name}.stats').read_bytes(), [t.read_bytes() for t in tables]


@pytest.fixture(scope='module')
def photos(tmp_path_factory, shared):
    """Photographs, with a network that resizes them."""
    folder = tmp_path_factory.mktemp('photos')
    for photo in sorted((shared / 'images/calibration').glob('*.JPEG'))[:3]:
        shutil.copy(photo, folder)
    return model_of(shared, 'vww96'), folder, pipeline.PREPROCESS / 'vww96.yaml'


def test_the_table_says_that_it_is_portable(photos, tmp_path):
    _, (table,) = measure(tmp_path, 'a', *photos)
    assert b'environment:\n  arithmetic: portable\n  rshift: "' in table
    assert b'cpu:' not in table and b'onednn:' not in table


@pytest.mark.skipif(QEMU is None, reason='no qemu-x86_64 here (Debian: apt-get install qemu-user)')
@pytest.mark.parametrize('cpu', ['Nehalem', 'Haswell'])  # neither AVX nor FMA; no AVX-512
def test_other_cpus_write_the_same_tables_from_photographs(photos, cpu, tmp_path):
    own = measure(tmp_path, 'own', *photos, '--method', 'all')
    assert len(own[1]) > 5
    assert measure(tmp_path, 'other', *photos, '--method', 'all', '--threads', '2', cpu=cpu) == own


@pytest.mark.skipif(QEMU is None, reason='no qemu-x86_64 here (Debian: apt-get install qemu-user)')
def test_another_cpu_chooses_the_same_ranges(tmp_path):
    data = pipeline.EXAMPLE, tmp_path / 'x.npy'
    np.save(data[1], oracle.fashion_images(count=2))
    command = ['--method', 'auto', '--samples', '0']
    own = measure_arrays(tmp_path, 'own', *data, *command)
    assert measure_arrays(tmp_path, 'other', *data, *command, cpu='Nehalem') == own


def measure_arrays(folder, name, model, data, *extra, cpu=None):
    command = [pipeline.BIN / 'model_calibrate', model, '--dataset', data, '--portable', '-o', folder / f'{name}.yaml', *extra]
    done = subprocess.run([*([QEMU, '-cpu', cpu] if cpu else []), *map(str, command)], env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=600, check=False)
    assert done.returncode == 0, f'{cpu}: {done.stderr[-1000:]}'
    return (folder / f'{name}.yaml').read_bytes()


def test_shards_and_threads_give_the_bytes_of_one_run(photos, tmp_path):
    whole = measure(tmp_path, 'whole', *photos, '--samples', '0', '--threads', '1')
    for i in (1, 0):
        measure(tmp_path, f'{i}', *photos, '--samples', '0', '--shard', f'{i}/2', '--threads', '3')
    pipeline.run('model_calibrate', photos[0], '--from-statistics', tmp_path / '1.stats', tmp_path / '0.stats', '--statistics',
                 tmp_path / 'merged.stats', '-o', tmp_path / 'merged.yaml')
    assert (tmp_path / 'merged.stats').read_bytes() == whole[0]
    assert (tmp_path / 'merged.yaml').read_bytes() == whole[1][0]


def test_portable_and_ordinary_statistics_do_not_mix(photos, tmp_path):
    model, data, recipe = photos
    common = [model, '--dataset', data, '--preprocess', recipe, '--equalize', 'off', '--samples', '0']
    pipeline.run('model_calibrate', *common, '--shard', '0/2', '--statistics', tmp_path / '0.stats', '-o', tmp_path / '0.yaml')
    pipeline.run('model_calibrate', *common, '--shard', '1/2', '--portable', '--statistics', tmp_path / '1.stats', '-o', tmp_path / '1.yaml')
    for order in (('0', '1'), ('1', '0')):
        said = pipeline.fails('model_calibrate', model, '--from-statistics', *(tmp_path / f'{i}.stats' for i in order),
                              '-o', tmp_path / 'both.yaml')
        assert 'some were measured with --portable and some without' in said
        assert f'{order[1]}.stats' in said
    assert not (tmp_path / 'both.yaml').exists()
    # Nor does a run take up what one of the other kind has left.
    shutil.copy(tmp_path / '0.stats', tmp_path / 'r.yaml.partial.stats')
    said = pipeline.fails('model_calibrate', *common, '--shard', '0/2', '--portable', '--resume', '-o', tmp_path / 'r.yaml')
    assert 'r.yaml.partial.stats' in said and '--portable' in said
    # Statistics say themselves how they were measured.
    done = pipeline.call('model_calibrate', model, '--from-statistics', tmp_path / '0.stats', '--portable', '-o', tmp_path / 'f.yaml')
    assert done.returncode != 0 and '--portable' in done.stderr and '--from-statistics' in done.stderr
