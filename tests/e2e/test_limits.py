"""What a program may take: predicted, refused above the limits, allowed by --limits; inputs whose memory is used again."""

import json

import numpy as np
import pytest

import oracle
import pipeline


@pytest.fixture(scope='module')
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp('limits')
    pipeline.deploy(pipeline.EXAMPLE, folder / 'net.rshift', mode='f32')
    np.save(folder / 'sample.npy', oracle.fashion_images(count=1))
    return folder / 'net.rshift'


def test_verify_and_info_predict_the_work(program):
    verified = json.loads(pipeline.run('model_tool', 'verify', program, '--json'))
    info = json.loads(pipeline.run('model_tool', 'info', program, '--json'))
    for key in ('macs', 'elements', 'arena_bytes', 'buffer_bytes'):
        assert verified[key] == info[key] > 0
    measured = json.loads(pipeline.run('model_runner', program, '--benchmark', '--iterations', 1, '--json'))
    assert measured['macs'] == verified['macs']
    assert 'multiply-accumulates' in pipeline.run('model_tool', 'verify', program)


def test_what_is_above_the_limits_is_refused_by_name_and_can_be_allowed(program):
    macs = json.loads(pipeline.run('model_tool', 'verify', program, '--json'))['macs']
    for tool, *arguments in (('model_tool', 'verify', program), ('model_runner', program, '--benchmark')):
        error = pipeline.fails(tool, *arguments, '--limits', f'macs={macs - 1}')
        assert f'one run takes {macs} multiply-accumulates, of which command' in error
        assert f'--limits macs={macs}' in error
        for enough in (f'macs={macs}', 'none'):
            pipeline.run(tool, *arguments, '--limits', enough)


def test_a_limit_that_is_none_is_a_usage_error(program):
    assert pipeline.call('model_tool', 'verify', program, '--limits', 'mac=3').returncode == 2


def test_a_benchmark_after_a_run_has_an_input_again(program, tmp_path):
    """Bytes of other tensors taken for floats may be NaN or denormal, with times of their own."""
    sample = program.parent / 'sample.npy'
    for name, extra in (('alone', ()), ('timed', ('--benchmark', '--iterations', 3, '--per-command'))):
        pipeline.run('model_runner', program, '--input', sample, '--output', tmp_path / f'{name}.npz', *extra)
    alone, timed = (np.load(tmp_path / f'{name}.npz') for name in ('alone', 'timed'))
    assert all(np.array_equal(alone[key], timed[key]) for key in alone.files)
