"""A disk that is full under a calibration's checkpoint or its results: one error line, what was there is kept, --resume carries on."""

import os
import resource
import subprocess

import numpy as np
import pytest

import oracle
import pipeline
import test_process

COUNT = 1500


@pytest.fixture(scope='module', name='whole')
def _whole(tmp_path_factory):
    """The data, and what an undisturbed run writes."""
    folder = tmp_path_factory.mktemp('whole')
    np.save(folder / 'x.npy', oracle.fashion_images(count=COUNT))
    assert test_process.finish(command(folder, folder))[0] == 0
    return folder


def command(whole, folder):
    return ['model_calibrate', pipeline.EXAMPLE, '--dataset', whole / 'x.npy', '--samples', 0, '--threads', 1,
            '--statistics', folder / 'stats', '-o', folder / 'out', '--resume']


def put_old_results(folder):
    for name in ('out', 'stats'):
        (folder / name).write_text(f'the old {name}')


def assert_refused(done, reason, folder):
    """Whether a checkpoint is left: the one before the disk was full."""
    code, _, err = done
    assert code == 1
    test_process.assert_clean(code, err, folder)
    assert reason in err and str(folder) in err
    left = sorted(os.listdir(folder))
    assert left in (['out', 'stats'], ['out', 'out.partial.stats', 'stats'])
    return 'out.partial.stats' in left


def assert_carries_on(whole, folder):
    code, _, err = test_process.finish(command(whole, folder))
    assert code == 0, err
    for name in ('out', 'stats'):
        assert (folder / name).read_bytes() == (whole / name).read_bytes(), name
    assert sorted(os.listdir(folder)) == ['out', 'stats']


def test_file_that_cannot_grow(whole, tmp_path):
    kept, size = 0, (whole / 'stats').stat().st_size
    for bytes_left in (1024, size // 2, size * 2 // 3, size * 9 // 10, size - 1):
        folder = tmp_path / str(bytes_left)
        folder.mkdir()
        put_old_results(folder)
        done = test_process.finish(command(whole, folder), test_process.limit(resource.RLIMIT_FSIZE, bytes_left))
        kept += assert_refused(done, 'File too large', folder)
        assert (folder / 'out').read_text() == 'the old out' and (folder / 'stats').read_text() == 'the old stats'
        assert_carries_on(whole, folder)
    assert kept > 1


def test_disk_without_room_for_a_second_checkpoint(whole, tmp_path):
    """The new one is written beside the old one, which stays until it is whole."""
    size = (whole / 'stats').stat().st_size
    disk = tmp_path / 'disk'
    disk.mkdir()
    mount = ['mount', '-t', 'tmpfs', '-o', f'size={size * 3 // 2}', 'tmpfs', disk]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip('a small file system cannot be mounted here')
    try:
        put_old_results(disk)
        done = test_process.finish(command(whole, disk))
        assert assert_refused(done, 'No space left', disk)
        mount[4] = f'remount,size={4 * size + (1 << 20)}'
        subprocess.run(mount, check=True)
        assert_carries_on(whole, disk)
    finally:
        subprocess.run(['umount', disk], check=True)
