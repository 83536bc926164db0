"""model_runner --benchmark: what it says adds up. No times are asserted."""

import json

import numpy as np
import pytest

import pipeline


@pytest.fixture(scope='module')
def programs(tmp_path_factory):
    """{mode: the bundled model as a program}, calibrated on noise."""
    folder = tmp_path_factory.mktemp('benchmark')
    samples = np.random.default_rng(1).random((8, 1, 28, 28), np.float32)
    np.save(folder / 'samples.npy', samples)
    table = pipeline.calibrate(pipeline.EXAMPLE, folder / 'samples.npy', folder / 'table.yaml', samples=8)
    for mode in ('f32', 'symmetric'):
        pipeline.deploy(pipeline.EXAMPLE, folder / f'{mode}.rshift', mode=mode, table=table)
    return {mode: folder / f'{mode}.rshift' for mode in ('f32', 'symmetric')}


def benchmark(program, *options):
    return json.loads(pipeline.run('model_runner', program, '--benchmark', '--json', '--iterations', 5, *options))


@pytest.mark.parametrize('threads', [1, 2])
def test_commands_have_shares_of_time_and_of_the_peak(programs, threads):
    found = benchmark(programs['symmetric'], '--per-command', '--threads', threads)
    assert found['threads'] == threads and found['iterations'] == 5
    assert found['min_ms'] <= found['median_ms'] <= found['p99_ms']
    assert found['load_ms'] > 0 and found['session_ms'] > 0
    assert found['peak_memory_bytes'] > programs['symmetric'].stat().st_size
    assert found['program_bytes'] == programs['symmetric'].stat().st_size
    assert found['arena_bytes'] > 0 and found['steps_bytes'] > 0
    assert found['arena_bytes'] + found['steps_bytes'] < found['peak_memory_bytes']
    commands = found['commands']
    assert sum(c['share'] for c in commands) == pytest.approx(1)
    for c in commands:
        assert c['bytes'] > 0 and c['predicted_ms'] > 0, c
        assert c['gb_per_s'] == pytest.approx(1e-6 * c['bytes'] / c['median_ms']), c
        assert c['gops'] == pytest.approx(c['peak_share'] * found['peak_gops']), c
    convolutions = [c for c in commands if c['command'] in ('conv', 'depthwise', 'matmul')]
    assert convolutions and all(c['gops'] > 0 for c in convolutions)
    assert sum(c['gops'] * c['median_ms'] for c in commands) == pytest.approx(2e-6 * found['macs'])


def test_what_has_no_peak_has_no_share_of_it(programs):
    found = benchmark(programs['symmetric'], '--per-command', '--isa', 'scalar')
    assert (found['isa'], found['peak_gops']) == ('scalar', 0)
    assert all(c['peak_share'] == 0 for c in found['commands'])
    found = benchmark(programs['f32'], '--per-command')
    floats = [c for c in found['commands'] if c['command'].endswith('_f32')]
    assert floats and all(c['peak_share'] == 0 for c in floats) and any(c['gops'] > 0 for c in floats)


def test_the_table_has_a_line_per_command_and_their_sum(programs):
    text = pipeline.run('model_runner', programs['symmetric'], '--benchmark', '--per-command', '--iterations', 3)
    lines = text.splitlines()
    commands = benchmark(programs['symmetric'], '--per-command')['commands']
    rows = lines[-1 - len(commands):-1]
    assert [row.split()[-2:] for row in rows] == [[c['command'], c['node']] for c in commands]
    assert 'peak memory' in lines[1] and lines[-1].endswith('all commands; predicted for one thread')


def test_without_per_command_nothing_else_is_measured(programs):
    assert not {'commands', 'peak_gops'} & set(benchmark(programs['symmetric']))
