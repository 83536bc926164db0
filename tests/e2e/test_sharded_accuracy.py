"""model_runner --shard: the counts of shards, added up by model_tool accuracy, are those of one run."""

import itertools
import json

import numpy as np
import pytest

import oracle
import pipeline

SAMPLES, SHARDS = 100, 3


@pytest.fixture(scope='module')
def runs(tmp_path_factory):
    """Folder of 0.json to 2.json and whole.json, x.npy, labels.npy and f32.rshift."""
    folder = tmp_path_factory.mktemp('sharded')
    np.save(folder / 'x.npy', oracle.fashion_images(count=SAMPLES))
    np.save(folder / 'labels.npy', np.random.default_rng(6).integers(0, 10, SAMPLES))
    pipeline.deploy(pipeline.EXAMPLE, folder / 'f32.rshift', mode='f32')
    (folder / 'whole.json').write_text(run(folder))
    for i in range(SHARDS):
        (folder / f'{i}.json').write_text(run(folder, '--shard', f'{i}/{SHARDS}'))
    return folder


def run(folder, *extra, top='1,3'):
    return pipeline.run('model_runner', folder / 'f32.rshift', '--dataset', folder / 'x.npy', '--labels', folder / 'labels.npy',
                        '--top', top, '--json', *extra)


def test_shards_add_up_to_the_run_in_any_order(runs):
    whole = json.loads((runs / 'whole.json').read_text())
    parts = [json.loads((runs / f'{i}.json').read_text()) for i in range(SHARDS)]
    assert [part['images'] for part in parts] == [34, 33, 33]
    assert len({json.dumps(part['hits']) for part in parts}) > 1  # an exchange would show
    for order in itertools.permutations(range(SHARDS)):
        found = json.loads(pipeline.run('model_tool', 'accuracy', *(runs / f'{i}.json' for i in order), '--json'))
        assert (found['images'], found['hits'], found['shards']) == (SAMPLES, whole['hits'], SHARDS)
        assert (found['top1'], found['top3']) == (whole['top1'], whole['top3'])
    said = pipeline.run('model_tool', 'accuracy', *(runs / f'{i}.json' for i in range(SHARDS)))
    assert said == f"{SAMPLES} samples, top-1 {whole['top1']:.2f} %, top-3 {whole['top3']:.2f} %\n"


def test_outputs_of_a_shard_are_those_of_its_samples(runs, tmp_path):
    pipeline.run('model_runner', runs / 'f32.rshift', '--dataset', runs / 'x.npy', '--output', tmp_path / 'all.npz')
    pipeline.run('model_runner', runs / 'f32.rshift', '--dataset', runs / 'x.npy', '--output', tmp_path / 'part.npz',
                 '--shard', f'1/{SHARDS}')
    assert np.array_equal(pipeline.single(tmp_path / 'part.npz'), pipeline.single(tmp_path / 'all.npz')[1::SHARDS])


def test_what_does_not_belong_together_is_named(runs, tmp_path):
    zero, one, two = (runs / f'{i}.json' for i in range(SHARDS))
    assert 'shard 2/3 of the same samples is missing' in pipeline.fails('model_tool', 'accuracy', zero, one)
    assert '0.json: shard 0/3 is there already' in pipeline.fails('model_tool', 'accuracy', zero, one, two, zero)
    (tmp_path / 'other.json').write_text(run(runs, '--shard', f'2/{SHARDS}', top='1'))
    assert 'another --top' in pipeline.fails('model_tool', 'accuracy', zero, one, tmp_path / 'other.json')
    np.save(tmp_path / 'x.npy', np.load(runs / 'x.npy')[::-1][:90])
    np.save(tmp_path / 'labels.npy', np.load(runs / 'labels.npy')[:90])
    (tmp_path / 'other.json').write_text(pipeline.run(
        'model_runner', runs / 'f32.rshift', '--dataset', tmp_path / 'x.npy', '--labels', tmp_path / 'labels.npy', '--top', '1,3',
        '--json', '--shard', f'2/{SHARDS}'))
    assert 'other.json: a share of other samples' in pipeline.fails('model_tool', 'accuracy', zero, one, tmp_path / 'other.json')
    assert "no 'shard'" in pipeline.fails('model_tool', 'accuracy', runs / 'whole.json')
    (tmp_path / 'bad.json').write_text('{')
    assert 'bad.json' in pipeline.fails('model_tool', 'accuracy', tmp_path / 'bad.json')
    done = pipeline.call('model_runner', runs / 'f32.rshift', '--dataset', runs / 'x.npy', '--shard', '3/3')
    assert done.returncode == 2 and 'expected I/N' in done.stderr
