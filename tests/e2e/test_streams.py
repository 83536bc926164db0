"""model_runner --streams: several inferences in flight give the bytes of one, and the errors of one."""

import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest

import pipeline

SAMPLES = 37


@pytest.fixture(scope='module')
def bundled(tmp_path_factory):
    """Folder with the bundled model as f32.rshift and symmetric.rshift, samples.npy and labels.npy."""
    folder = tmp_path_factory.mktemp('streams')
    rng = np.random.default_rng(4)
    np.save(folder / 'samples.npy', rng.random((SAMPLES, 1, 28, 28), np.float32))
    np.save(folder / 'labels.npy', rng.integers(0, 10, SAMPLES))
    table = pipeline.calibrate(pipeline.EXAMPLE, folder / 'samples.npy', folder / 'table.yaml', samples=8)
    for mode in ('f32', 'symmetric'):
        pipeline.deploy(pipeline.EXAMPLE, folder / f'{mode}.rshift', mode=mode, table=table)
    return folder


def run_dataset(folder, program, streams, threads, *extra):
    """(JSON of the run, bytes of what it wrote)"""
    out = folder / 'out.npz'
    printed = pipeline.run('model_runner', folder / program, '--dataset', folder / 'samples.npy', '--labels',
                           folder / 'labels.npy', '--top', '1,3', '--output', out, '--json', '--streams', streams,
                           '--threads', threads, *extra)
    return json.loads(printed), out.read_bytes()


@pytest.mark.parametrize('program', ['f32.rshift', 'symmetric.rshift'])
def test_outputs_and_accuracy_do_not_depend_on_streams(bundled, program):
    reference, expected = run_dataset(bundled, program, 1, 1)
    assert reference['images'] == SAMPLES and reference['streams'] == 1 and reference['images_per_s'] > 0
    rows = pipeline.single(bundled / 'out.npz')
    assert len(np.unique(rows, axis=0)) == SAMPLES  # an exchange of two samples would show
    for streams, threads in ((2, 1), (3, 1), (2, 2), (64, 1)):
        found, written = run_dataset(bundled, program, streams, threads)
        assert written == expected, (streams, threads)
        assert found['streams'] == streams
        assert all(found[key] == reference[key] for key in ('images', 'top1', 'top3'))


def test_dumped_tensors_do_not_depend_on_streams(bundled):
    dumps = []
    for streams in (1, 3):
        dump = bundled / 'dump.npz'
        run_dataset(bundled, 'symmetric.rshift', streams, 1, '--dump-tensors', dump, '--raw')
        dumps.append(dump.read_bytes())
    assert dumps[0] == dumps[1]


def test_the_first_bad_sample_is_the_error_whatever_the_streams(bundled, tmp_path):
    samples = np.load(bundled / 'samples.npy')
    for i in range(12):
        shape = (1, 1, 28, 28) if i not in (5, 6, 9) else (1, 1, 28, 20 + i)
        np.save(tmp_path / f'{i:02}.npy', np.resize(samples[i], shape))
    (tmp_path / 'list.txt').write_text(''.join(f'{i:02}.npy\n' for i in range(12)))
    for streams in (1, 2, 3, 12):
        out = tmp_path / 'out.npz'
        error = pipeline.fails('model_runner', bundled / 'symmetric.rshift', '--dataset', tmp_path / 'list.txt',
                               '--output', out, '--streams', streams)
        assert '05.npy' in error, error
        assert not out.exists()


def test_the_first_bad_label_is_the_error_whatever_the_streams(bundled, tmp_path):
    labels = np.load(bundled / 'labels.npy')
    labels[[7, 8, 30]] = 10, 11, 12
    np.save(tmp_path / 'labels.npy', labels)
    errors = {pipeline.fails('model_runner', bundled / 'symmetric.rshift', '--dataset', bundled / 'samples.npy',
                             '--labels', tmp_path / 'labels.npy', '--streams', streams) for streams in (1, 2, 3)}
    assert len(errors) == 1 and 'samples.npy:7' in errors.pop()


@pytest.mark.parametrize('streams, threads', [(1, 1), (2, 1), (3, 2)])
def test_the_benchmark_counts_inferences_of_all_streams(bundled, streams, threads):
    found = json.loads(pipeline.run('model_runner', bundled / 'symmetric.rshift', '--benchmark', '--json',
                                    '--iterations', 20, '--streams', streams, '--threads', threads))
    assert (found['streams'], found['threads'], found['iterations']) == (streams, threads, 20)
    assert 0 < found['min_ms'] <= found['median_ms'] <= found['p99_ms']
    # A stream is never faster than its fastest inference.
    assert 0 < found['inferences_per_s'] <= streams * 1e3 / found['min_ms'] * 1.001
    assert found['gops'] == pytest.approx(2e-9 * found['macs'] * found['inferences_per_s'])


def test_every_stream_has_memory_of_its_own(bundled):
    arenas = [json.loads(pipeline.run('model_runner', bundled / 'symmetric.rshift', '--benchmark', '--json',
                                      '--iterations', 1, '--streams', streams))['arena_bytes'] for streams in (1, 3)]
    assert arenas[1] == 3 * arenas[0] > 0


def test_threads_left_open_are_shared_by_the_streams(bundled):
    cpus = len(os.sched_getaffinity(0))
    for streams in (1, 2, 2 * cpus):
        found = json.loads(pipeline.run('model_runner', bundled / 'symmetric.rshift', '--benchmark', '--json',
                                        '--iterations', 1, '--streams', streams))
        assert found['threads'] == max(1, cpus // streams)


@pytest.mark.parametrize('wrong', [('--streams', 0), ('--streams', 1025), ('--streams', 'x'),
                                   ('--streams', 2, '--per-command')])
def test_what_makes_no_sense_is_wrong_usage(bundled, wrong):
    done = pipeline.call('model_runner', bundled / 'symmetric.rshift', '--benchmark', *wrong)
    assert done.returncode == 2 and done.stderr.count('error:') == 1


@pytest.mark.parametrize('work', ['benchmark', 'dataset'])
def test_interrupt_ends_all_streams_and_leaves_no_file(bundled, tmp_path, work):
    out = tmp_path / 'out.npz'
    images = tmp_path / 'many.npy'
    np.save(images, np.zeros((60000, 1, 28, 28), np.float32))
    what = {'benchmark': ['--benchmark', '--iterations', 200000],
            'dataset': ['--dataset', images, '--output', out]}[work]
    command = [pipeline.BIN / 'model_runner', bundled / 'f32.rshift', *what, '--streams', 2]
    # A shell that runs the tests in the background has them ignore SIGINT, and so would the program.
    with subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
        deadline = time.monotonic() + 60
        while len(os.listdir(f'/proc/{process.pid}/task')) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == -signal.SIGINT
    assert not out.exists() and [p.name for p in tmp_path.iterdir()] == ['many.npy']
