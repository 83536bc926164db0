"""What must not matter: the number of threads, the instruction set, the way calibration was split."""

import pathlib

import numpy as np
import pytest

import models
import oracle
import pipeline

# By name, so that every family of commands is there: depthwise, Concat, PRelu, LeakyRelu, Resize, detectors.
NAMES = ('squeezenet_1_1', 'mobilenet_v2', 'mobilenet_v1_025', 'resnet8_cifar10', 'vww96', 'ultraface_rfb320',
         'fashion_resnet_prelu', 'fashion_mobilenet_leaky')
CASES = tuple(case for case in models.CASES if case.name in NAMES)
assert len(CASES) == len(NAMES)


def raw_outputs(program, x, name, folder, *extra):
    outputs = pipeline.infer(program, {name: x}, folder, '--raw', *extra)
    return {k: (v.dtype.str, v.shape, v.tobytes()) for k, v in outputs.items()}


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
@pytest.mark.parametrize('case', CASES, ids=lambda case: case.name)
def test_bytes_do_not_depend_on_threads_or_instruction_set(case, mode, shared, deployments,
                                                           tmp_path):
    program = deployments(case)[mode]
    name = oracle.Session(case.model(shared)).input
    x = oracle.samples(case, shared, 1)[0]
    reference = raw_outputs(program, x, name, tmp_path, '--isa', 'scalar', '--threads', '1')
    assert reference
    for isa in ('scalar', *supported_isas()):
        for threads in (1, 2, 3, 4):
            if (isa, threads) != ('scalar', 1):
                found = raw_outputs(program, x, name, tmp_path, '--isa', isa, '--threads', threads)
                assert found == reference, (isa, threads)


def supported_isas():
    """The instruction sets of this CPU; naming another one is an error of model_runner."""
    flags = pathlib.Path('/proc/cpuinfo').read_text().split()
    needs = {'avx2': 'avx2', 'avxvnni': 'avx_vnni', 'avx512vnni': 'avx512_vnni'}
    return [isa for isa, flag in needs.items() if flag in flags]


def test_every_instruction_set_runs_or_is_refused(tmp_path):
    program = tmp_path / 'p.rshift'
    pipeline.deploy(pipeline.EXAMPLE, program, mode='f32')
    np.savez(tmp_path / 'in.npz', input=oracle.fashion_images(count=1))
    for isa in ('avx2', 'avxvnni', 'avx512vnni'):
        arguments = (program, '--input', tmp_path / 'in.npz', '--output', tmp_path / 'o.npz',
                     '--isa', isa)
        if isa in supported_isas():
            pipeline.run('model_runner', *arguments)
        else:
            assert isa in pipeline.fails('model_runner', *arguments)


def test_calibration_does_not_depend_on_threads(tmp_path):
    tables = []
    for threads in (1, 2):
        table = tmp_path / f'{threads}.yaml'
        pipeline.calibrate(pipeline.EXAMPLE, pipeline.TRAIN_IMAGES, table, samples=50,
                           preprocess=pipeline.PREPROCESS / 'fashion_mnist.yaml',
                           extra=('--threads', threads))
        tables.append(table.read_bytes())
    assert tables[0] == tables[1]


@pytest.mark.sanitized
def test_deploying_twice_gives_the_same_file(tmp_path):
    table = tmp_path / 'table.yaml'
    pipeline.calibrate(pipeline.EXAMPLE, pipeline.TRAIN_IMAGES, table, samples=20,
                       preprocess=pipeline.PREPROCESS / 'fashion_mnist.yaml')
    for mode in pipeline.INTEGER_MODES:
        files = []
        for copy in 'ab':
            pipeline.deploy(pipeline.EXAMPLE, tmp_path / copy, mode=mode, table=table)
            files.append((tmp_path / copy).read_bytes())
        assert files[0] == files[1], mode


@pytest.mark.sanitized
def test_merged_shards_give_the_table_of_the_whole(tmp_path):
    recipe = pipeline.PREPROCESS / 'fashion_mnist.yaml'
    whole, merged = tmp_path / 'whole.yaml', tmp_path / 'merged.yaml'
    pipeline.calibrate(pipeline.EXAMPLE, pipeline.TRAIN_IMAGES, whole, samples=51,
                       preprocess=recipe)
    statistics = []
    for shard in (1, 0):
        statistics.append(tmp_path / f'{shard}.stats')
        pipeline.calibrate(pipeline.EXAMPLE, pipeline.TRAIN_IMAGES, tmp_path / 'part.yaml',
                           samples=51, preprocess=recipe,
                           extra=('--shard', f'{shard}/2', '--statistics', statistics[-1]))
    pipeline.run('model_calibrate', pipeline.EXAMPLE, '--from-statistics', *statistics, '-o',
                 merged)
    assert merged.read_bytes() == whole.read_bytes()
    # One of them alone is not the data set.
    error = pipeline.fails('model_calibrate', pipeline.EXAMPLE, '--from-statistics', statistics[0],
                           '-o', tmp_path / 'part.yaml')
    assert 'shard 0/2 of the same samples is missing' in error and '--partial' in error
    pipeline.run('model_calibrate', pipeline.EXAMPLE, '--from-statistics', statistics[0],
                 '--partial', '-o', tmp_path / 'part.yaml')


def test_an_unfinished_run_is_not_thrown_away_unasked(tmp_path):
    np.save(tmp_path / 'x.npy', np.random.default_rng(1).normal(size=(60, 1, 28, 28)).astype('f4'))
    command = (pipeline.EXAMPLE, '--dataset', tmp_path / 'x.npy', '--samples', 0, '-o',
               tmp_path / 't.yaml')
    pipeline.run('model_calibrate', *command)
    wanted = (tmp_path / 't.yaml').read_bytes()
    unfinished = tmp_path / 't.yaml.partial.stats'
    unfinished.write_bytes(b'what an interrupted run has left')
    error = pipeline.fails('model_calibrate', *command)
    assert 't.yaml.partial.stats' in error and '--resume' in error and '--restart' in error
    assert unfinished.exists()
    pipeline.run('model_calibrate', *command, '--restart')
    assert (tmp_path / 't.yaml').read_bytes() == wanted and not unfinished.exists()
