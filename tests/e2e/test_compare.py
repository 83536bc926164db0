"""Comparing layers: model_deploy --test-input --tolerance and model_tool compare judge every tensor."""

import numpy as np
import pytest

import oracle
import pipeline

pytestmark = pytest.mark.sanitized


@pytest.fixture(scope='module')
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp('table') / 'table.yaml'
    return pipeline.calibrate(pipeline.EXAMPLE, pipeline.TRAIN_IMAGES, path, samples=100,
                              preprocess=pipeline.PREPROCESS / 'fashion_mnist.yaml')


def deploy_with(table, folder, mode, tolerance):
    np.save(folder / 'x.npy', oracle.fashion_images(count=4))
    return pipeline.call('model_deploy', pipeline.EXAMPLE, '--calibration', table, '--mode', mode,
                         '-o', folder / 'out.rshift', '--test-input', folder / 'x.npy',
                         '--tolerance', tolerance)


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_every_tensor_of_the_example_is_close(mode, table, tmp_path):
    done = deploy_with(table, tmp_path, mode, '0.98,0.8')
    assert done.returncode == 0, done.stdout + done.stderr


def test_bound_that_is_missed_is_exit_code_1(table, tmp_path):
    done = deploy_with(table, tmp_path, 'symmetric', '0.99999999,0.99999999')
    assert done.returncode == 1
    assert done.stderr.count('error:') == 1, done.stderr


def test_compare_judges_two_files(tmp_path):
    a = np.random.default_rng(1).standard_normal((2, 3)).astype(np.float32)
    spoiled = a.copy()
    spoiled[1, 2] = np.nan
    for name, array in (('a', a), ('near', a * np.float32(1.001)), ('far', -a), ('nan', spoiled)):
        np.savez(tmp_path / f'{name}.npz', t=array)
    first = tmp_path / 'a.npz'
    pipeline.run('model_tool', 'compare', first, tmp_path / 'near.npz', '--tolerance', '0.99,0.9')
    for other in ('far', 'nan'):
        pipeline.fails('model_tool', 'compare', first, tmp_path / f'{other}.npz', '--tolerance',
                       '0.99,0.9')
