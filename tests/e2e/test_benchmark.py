"""model_runner --benchmark: what it says adds up. No times are asserted."""

import json
import os
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import pipeline

sys.path.insert(0, str(pipeline.ROOT / 'tools/bench'))
import fit_cost  # noqa: E402


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


@pytest.mark.parametrize('threads', [1, 3])
def test_the_number_of_threads_is_that_of_openmp(programs, threads):
    done = subprocess.run([pipeline.BIN / 'model_runner', programs['symmetric'], '--benchmark', '--json', '--iterations', '5'],
                          env=os.environ | {'OMP_NUM_THREADS': str(threads)}, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)['threads'] == threads


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
    assert 'peak memory' in lines[1] and 'all commands; correlation with the prediction' in lines[-1]


def test_without_per_command_nothing_else_is_measured(programs):
    assert not {'commands', 'peak_gops'} & set(benchmark(programs['symmetric']))


def cost_of(program):
    """The cost model of a program, as its metadata has it."""
    lines = [line for line in pipeline.run('model_tool', 'info', program).splitlines() if ' cost = ' in line]
    assert len(lines) == 1
    return {key: float(value) for key, value in (item.split('=') for item in lines[0].split(' cost = ')[1].split())}


@pytest.mark.parametrize('mode', ['f32', 'symmetric'])
def test_predictions_are_the_formula_on_the_recorded_constants(programs, mode):
    found = benchmark(programs[mode], '--per-command', '--threads', 1)
    cost = cost_of(programs[mode])
    assert cost == {key: float(value) for key, value in (item.split('=') for item in found['cost'].split())}
    for command in found['commands']:
        row = {**command, 'constant_bytes': found['constant_bytes']}
        assert 1e6 * command['predicted_ms'] == pytest.approx(fit_cost.predict(cost, row)), command
        assert command['bytes'] == sum(part['constants'] + part['bytes'] for part in command['work'])
        assert '+'.join(part['command'] for part in command['work']) == command['command']
    assert -1 <= found['predicted_correlation'] <= 1


def test_the_cost_block_of_a_target_is_recorded(programs, tmp_path):
    (tmp_path / 't.yaml').write_text('name: slow\ncost:\n  command_ns: 1e9\n')
    samples = programs['symmetric'].parent
    pipeline.deploy(pipeline.EXAMPLE, tmp_path / 'p.rshift', mode='symmetric', table=samples / 'table.yaml',
                    extra=('--target', tmp_path / 't.yaml'))
    assert cost_of(tmp_path / 'p.rshift') == {**cost_of(programs['symmetric']), 'command_ns': 1e9}
    commands = benchmark(tmp_path / 'p.rshift', '--per-command', '--threads', 2)['commands']
    assert all(1000 < c['predicted_ms'] < 1001 for c in commands)


def test_fit_finds_the_constants_that_made_the_times(programs, tmp_path, capsys):
    found = benchmark(programs['symmetric'], '--per-command', '--threads', 1)
    cost = {**cost_of(programs['symmetric']), 'conv_macs_per_ns': 3.0, 'requant_ns': 0.7, 'command_ns': 4000.0}
    for command in found['commands']:
        row = {**command, 'constant_bytes': found['constant_bytes']}
        command['median_ms'] = 1e-6 * fit_cost.predict(cost, row)
    (tmp_path / 'net.json').write_text(json.dumps(found))
    fit_cost.main([str(tmp_path / 'net.json')])
    printed = capsys.readouterr().out
    fitted = {name.strip(': '): float(value) for name, value, *_ in
              (line.split() for line in printed.splitlines() if line.startswith('  '))}
    assert list(fitted) == list(cost)
    for name in ('conv_macs_per_ns', 'requant_ns', 'command_ns'):
        assert fitted[name] == pytest.approx(cost[name], rel=0.05), printed
    assert fitted['dram_bytes_per_ns'] == cost['dram_bytes_per_ns']
    assert 'dram_bytes_per_ns: 11.9   # not fitted' in printed


def test_fit_refuses_what_is_no_profile(tmp_path):
    for text in ('{}', 'x', '{"threads": 2}'):
        (tmp_path / 'x.json').write_text(text)
        with pytest.raises(SystemExit, match='error: .*x.json'):
            fit_cost.main([str(tmp_path / 'x.json')])


def test_images_and_inferences_of_a_batch_are_counted_apart(tmp_path):
    graph = helper.make_graph([helper.make_node('Relu', ['x'], ['y'])], 'batch',
                              [helper.make_tensor_value_info('x', TensorProto.FLOAT, (8, 3, 4, 4))],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, (8, 3, 4, 4))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7), tmp_path / 'b.onnx')
    np.save(tmp_path / 'x.npy', np.zeros((8, 3, 4, 4), np.float32))
    pipeline.deploy(tmp_path / 'b.onnx', tmp_path / 'b.rshift', mode='f32')
    timed = json.loads(pipeline.run('model_runner', tmp_path / 'b.rshift', '--benchmark', '--iterations', 3, '--json'))
    assert timed['batch'] == 8 and timed['images_per_s'] == pytest.approx(8 * timed['inferences_per_s'])
    ran = json.loads(pipeline.run('model_runner', tmp_path / 'b.rshift', '--dataset', tmp_path / 'x.npy', '--json'))
    assert (ran['images'], ran['inferences'], ran['batch']) == (8, 1, 8)
    assert '8 samples in 1 inference of 8, ' in pipeline.run('model_runner', tmp_path / 'b.rshift', '--dataset',
                                                             tmp_path / 'x.npy')
    assert 'inferences/s of 8 images: ' in pipeline.run('model_runner', tmp_path / 'b.rshift', '--benchmark',
                                                        '--iterations', 3)


def test_a_trace_has_every_command_once_on_each_track(programs, tmp_path):
    path = tmp_path / 't.json'
    found = benchmark(programs['symmetric'], '--trace', path, '--threads', 1)
    events = json.loads(path.read_text())['traceEvents']
    names = {e['tid']: e['args']['name'] for e in events if e['name'] == 'thread_name'}
    assert sorted(names.values()) == ['measured, median', 'predicted']
    for track, key in (('measured, median', 'median_ms'), ('predicted', 'predicted_ms')):
        rows = [e for e in events if e['ph'] == 'X' and names[e['tid']] == track]
        assert [(e['name'], e['args']['node']) for e in rows] == [(c['command'], c['node']) for c in found['commands']]
        assert all(abs(e['dur'] - 1000 * c[key]) <= 1e-9 * e['dur'] for e, c in zip(rows, found['commands'], strict=True))
        ends = [e['ts'] + e['dur'] for e in rows]
        assert all(a <= b['ts'] * (1 + 1e-12) for a, b in zip(ends, rows[1:]))
    assert pipeline.call('model_runner', programs['symmetric'], '--benchmark', '--trace', path, '--streams', 2).returncode == 2
