"""What a program costs before it does anything: at most 30 ms of CPU for --help and for a small network's run."""

import resource
import subprocess

import numpy as np
import pytest

import pipeline

MOST_MS = 30
RUNS = 7


def cpu_ms(*command):
    """The least of several runs: what others do on the machine is not ours."""
    least = float('inf')
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(list(map(str, command)), capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return least


@pytest.mark.parametrize('tool', ('model_calibrate', 'model_deploy', 'model_runner', 'model_tool'))
def test_help(tool, report):
    took = cpu_ms(pipeline.BIN / tool, '--help')
    report(f'{tool} --help: {took:.1f} ms of CPU')
    assert took <= MOST_MS


def test_a_small_program(tmp_path, report):
    array = tmp_path / 'x.npy'
    np.save(array, np.random.default_rng(1).normal(size=(4, 1, 28, 28)).astype(np.float32))
    pipeline.calibrate(pipeline.EXAMPLE, array, tmp_path / 't.yaml')
    pipeline.deploy(pipeline.EXAMPLE, tmp_path / 'net.rshift', mode='symmetric', table=tmp_path / 't.yaml')
    took = cpu_ms(pipeline.BIN / 'model_runner', tmp_path / 'net.rshift', '--dataset', array, '--threads', 1)
    report(f'model_runner of the bundled network on four samples: {took:.1f} ms of CPU')
    assert took <= MOST_MS
