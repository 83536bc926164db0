"""A whole program on emulated CPUs without AVX-512, AVX2 or anything past x86-64's baseline."""

import os
import shutil
import subprocess

import numpy as np
import pytest

import oracle
import pipeline

QEMU = shutil.which('qemu-x86_64') or shutil.which('qemu-x86_64-static')
CPUS = {'qemu64': 'avx2', 'Nehalem': 'avx2', 'Haswell': 'avx512vnni'}  # -> what it lacks


@pytest.mark.skipif(QEMU is None, reason='no qemu-x86_64 here (Debian: apt-get install qemu-user)')
@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_bytes_are_those_of_this_cpu(mode, tmp_path):
    table, program = tmp_path / 'table.yaml', tmp_path / 'net.rshift'
    pipeline.calibrate(pipeline.EXAMPLE, pipeline.TRAIN_IMAGES, table, samples=20,
                       preprocess=pipeline.PREPROCESS / 'fashion_mnist.yaml')
    pipeline.deploy(pipeline.EXAMPLE, program, mode=mode, table=table)
    x = oracle.fashion_images(count=1)
    native = pipeline.infer(program, {'input': x}, tmp_path, '--raw', '--isa', 'scalar')
    best = pipeline.infer(program, {'input': x}, tmp_path, '--raw')
    assert same(best, native)
    for cpu, lacks in CPUS.items():
        done = emulate(cpu, program, tmp_path)
        assert done.returncode == 0, f'{cpu}: {done.stderr[-1000:]}'
        assert same(pipeline.arrays_of(tmp_path / 'old.npz'), native), cpu
        refused = emulate(cpu, program, tmp_path, '--isa', lacks)
        assert refused.returncode == 1 and lacks in refused.stderr, f'{cpu} is not that old'


def emulate(cpu, program, folder, *extra):
    command = [QEMU, '-cpu', cpu, pipeline.BIN / 'model_runner', program, '--raw', '--input',
               folder / 'in.npz', '--output', folder / 'old.npz', *extra]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300,
                          check=False, env=dict(os.environ, OMP_WAIT_POLICY='passive'))


def same(a, b):
    return {k: v.tobytes() for k, v in a.items()} == {k: v.tobytes() for k, v in b.items()}
