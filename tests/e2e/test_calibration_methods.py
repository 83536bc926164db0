"""One run, a table for each threshold method: the bytes of a run with that method alone."""

import json
import os
import re
import subprocess

import numpy as np
import pytest
from onnx import helper

import pipeline
from little_onnx import constant, save

SEED = 11

pytestmark = pytest.mark.sanitized


def methods():
    definitions = (pipeline.ROOT / 'calibrate/methods.def').read_text()
    return re.findall(r'^RSHIFT_METHOD\(\w+, "([\w-]+)"', definitions, re.MULTILINE)


@pytest.fixture(name='net')
def two_products(tmp_path):
    """x -> MatMul -> Relu -> MatMul -> y, on numbers with long tails."""
    random = np.random.default_rng(SEED)
    weights = [constant(n, random.normal(0, .4, (16, 16)).astype(np.float32)) for n in 'ab']
    nodes = [helper.make_node('MatMul', ['x', 'a'], ['p']), helper.make_node('Relu', ['p'], ['r']),
             helper.make_node('MatMul', ['r', 'b'], ['y'])]
    values = random.standard_t(3, (40, 8, 16)).astype(np.float32)
    np.save(tmp_path / 'x.npy', values)
    return save(tmp_path / 'net.onnx', nodes, {'x': (8, 16)}, ('y',), weights)


def test_all_writes_the_table_of_every_method(net, tmp_path):
    data = ['--dataset', tmp_path / 'x.npy']
    alone = {}
    for method in methods():
        pipeline.run('model_calibrate', net, *data, '--method', method, '-o', tmp_path / 'alone.yaml')
        alone[method] = (tmp_path / 'alone.yaml').read_bytes()
    assert len(alone) >= 6 and len(set(alone.values())) == len(alone)
    pipeline.run('model_calibrate', net, *data, '--method', 'all', '-o', tmp_path / 'net.table.yaml',
                 '--statistics', tmp_path / 'net.stats')
    said = pipeline.run('model_calibrate', net, '--from-statistics', tmp_path / 'net.stats', '--method', 'all',
                        '-o', tmp_path / 'again', '--json')
    listed = {entry['method'].split()[0]: entry['table'] for entry in json.loads(said)['tables']}
    assert list(listed) == methods()
    for method, table in alone.items():
        assert (tmp_path / f'net.table.{method}.yaml').read_bytes() == table, method
        assert listed[method] == str(tmp_path / f'again.{method}')
        assert (tmp_path / f'again.{method}').read_bytes() == table, method
    assert not (tmp_path / 'net.table.yaml').exists() and not (tmp_path / 'again').exists()


def test_omse_sees_a_tensor_through_the_functions_that_read_it(tmp_path):
    """x -> MatMul -> p -> Reshape -> Sigmoid and Tanh: p may end where both are flat; y, an output, may not."""
    random = np.random.default_rng(SEED)
    nodes = [helper.make_node('MatMul', ['x', 'a'], ['p']), helper.make_node('Reshape', ['p', 'shape'], ['q']),
             helper.make_node('Sigmoid', ['q'], ['s']), helper.make_node('Tanh', ['q'], ['t']),
             helper.make_node('MatMul', ['s', 'b'], ['y']), helper.make_node('MatMul', ['t', 'b'], ['z'])]
    save(tmp_path / 'net.onnx', nodes, {'x': (8, 16)}, ('y', 'z'),
         [constant('a', random.normal(0, 8, (16, 16)).astype(np.float32)), constant('b', random.normal(0, .4, (8, 8)).astype(np.float32)),
          constant('shape', np.array([16, 8], np.int64))])
    np.save(tmp_path / 'x.npy', random.normal(0, 1, (40, 8, 16)).astype(np.float32))
    pipeline.run('model_calibrate', tmp_path / 'net.onnx', '--dataset', tmp_path / 'x.npy', '--method', 'all', '-o', tmp_path / 't.yaml')

    def entry(method, tensor):
        line = next(line for line in (tmp_path / f't.{method}.yaml').read_text().splitlines() if re.match(f'  "?{tensor}"?:', line))
        return float(re.search(r'threshold: ([\d.e+-]+)', line)[1]), re.search(r'method: (\w+)', line)[1], line

    for tensor in ('p', 'q'):
        threshold, method, line = entry('omse', tensor)
        assert method == 'omse' and 3 < threshold < entry('mse', tensor)[0] / 3, line
        assert 'what its functions make of' in line
    for tensor in ('x', 'y', 'z'):
        assert entry('omse', tensor)[:2] == entry('mse', tensor)[:2]


def test_all_takes_the_percentile(net, tmp_path):
    for rank in ('99', '99.9'):
        pipeline.run('model_calibrate', net, '--dataset', tmp_path / 'x.npy', '--method', 'all', '--percentile', rank,
                     '-o', tmp_path / 't.yaml')
        assert f'method: "percentile {rank}"' in (tmp_path / 't.percentile.yaml').read_text()


def test_all_writes_over_no_input(net, tmp_path):
    """The tables' own names count, not the one that was given."""
    pipeline.run('model_calibrate', net, '--dataset', tmp_path / 'x.npy', '-o', tmp_path / 't.mse.yaml')
    before = (tmp_path / 't.mse.yaml').read_bytes()
    done = pipeline.call('model_calibrate', net, '--dataset', tmp_path / 'x.npy', '--method', 'all',
                         '--equalize', tmp_path / 't.mse.yaml', '-o', tmp_path / 't.yaml')
    assert done.returncode == 2
    assert 'the table of --method mse' in done.stderr and 't.mse.yaml' in done.stderr
    assert (tmp_path / 't.mse.yaml').read_bytes() == before


def tensors_of(table):
    return table.read_text().split('\ntensors:\n')[1]


def test_auto_is_the_same_from_shards_threads_and_statistics(net, tmp_path):
    """What it measures on is recorded in the statistics: 16 samples, those with the lowest content hashes."""
    data = ['--dataset', tmp_path / 'x.npy', '--samples', 0]
    whole = tmp_path / 'whole.yaml'
    pipeline.run('model_calibrate', net, *data, '--method', 'auto', '--threads', 1, '-o', whole)
    assert '\nmethod: auto\n' in whole.read_text() and 'integer output of MatMul' in whole.read_text()
    pipeline.run('model_calibrate', net, *data, '--method', 'auto', '--threads', 3, '-o', tmp_path / 'again.yaml')
    assert (tmp_path / 'again.yaml').read_bytes() == whole.read_bytes()
    shards = []
    for i in range(3):
        shards.append(tmp_path / f'{i}.stats')
        pipeline.run('model_calibrate', net, *data, '--shard', f'{i}/3', '--statistics', shards[-1], '-o', tmp_path / 's.yaml')
    for order in (shards, shards[::-1], [shards[1], shards[2], shards[0]]):
        pipeline.run('model_calibrate', net, '--from-statistics', *order, '--method', 'auto', '-o', tmp_path / 'merged.yaml')
        assert (tmp_path / 'merged.yaml').read_bytes() == whole.read_bytes()


def test_auto_does_not_depend_on_the_order_of_the_data(net, tmp_path):
    values = np.load(tmp_path / 'x.npy')
    tables = []
    for name, part in (('a', values), ('b', values[::-1])):
        np.save(tmp_path / f'{name}.npy', part)
        pipeline.run('model_calibrate', net, '--dataset', tmp_path / f'{name}.npy', '--method', 'auto', '-o', tmp_path / f'{name}.yaml')
        tables.append(tensors_of(tmp_path / f'{name}.yaml'))
    # In an array a sample's place is its name.
    assert re.sub(r'\w\.npy:\d+', '', tables[0]) == re.sub(r'\w\.npy:\d+', '', tables[1])


def test_auto_needs_its_samples(net, tmp_path):
    pipeline.run('model_calibrate', net, '--dataset', tmp_path / 'x.npy', '--statistics', tmp_path / 'x.stats', '-o', tmp_path / 't.yaml')
    values = np.load(tmp_path / 'x.npy')
    np.save(tmp_path / 'x.npy', values + 1)
    said = pipeline.fails('model_calibrate', net, '--from-statistics', tmp_path / 'x.stats', '--method', 'auto', '-o', tmp_path / 'u.yaml')
    assert '--method auto reads 16 samples again' in said and 'has changed since the calibration' in said
    (tmp_path / 'x.npy').unlink()
    said = pipeline.fails('model_calibrate', net, '--from-statistics', tmp_path / 'x.stats', '--method', 'auto', '-o', tmp_path / 'u.yaml')
    assert 'x.npy is gone' in said
    assert not (tmp_path / 'u.yaml').exists()


def run_with(variables, *args):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(('SLURM_', 'OMPI_', 'PMI_', 'JOB_COMP', 'PARALLEL_'))}
    return subprocess.run([str(pipeline.BIN / 'model_calibrate'), *map(str, args)], env=clean | variables, capture_output=True, text=True,
                          timeout=600, check=False)


def test_the_tasks_of_an_array_take_the_shares_of_one_run(net, tmp_path):
    data = [net, '--dataset', tmp_path / 'x.npy', '--samples', 0]
    pipeline.run('model_calibrate', *data, '-o', tmp_path / 'whole.yaml')
    stats = []
    for task in (5, 1, 3):
        array = {'ID': task, 'MIN': 1, 'MAX': 5, 'STEP': 2, 'COUNT': 3}
        variables = {f'SLURM_ARRAY_TASK_{key}': str(value) for key, value in array.items()}
        stats.append(tmp_path / f'{task}.stats')
        done = run_with(variables, *data, '--shard', 'auto', '--statistics', stats[-1], '-o', tmp_path / 's.yaml')
        assert done.returncode == 0 and f'--shard auto: {task // 2}/3' in done.stderr, done.stderr
    pipeline.run('model_calibrate', net, '--from-statistics', *stats, '-o', tmp_path / 'merged.yaml')
    assert (tmp_path / 'merged.yaml').read_bytes() == (tmp_path / 'whole.yaml').read_bytes()
    said = pipeline.fails('model_calibrate', net, '--from-statistics', stats[1], '-o', tmp_path / 'less.yaml')
    assert 'shard 1/3, 2/3' in said
    said = pipeline.fails('model_calibrate', net, '--from-statistics', *stats, stats[0], '-o', tmp_path / 'twice.yaml')
    assert 'both hold sample' in said and f'{stats[0]} and those before it' in said
    assert not (tmp_path / 'twice.yaml').exists() and not (tmp_path / 'less.yaml').exists()


def test_shard_auto_outside_of_any_job_is_wrong_usage(net, tmp_path):
    done = run_with({}, net, '--dataset', tmp_path / 'x.npy', '--shard', 'auto', '-o', tmp_path / 's.yaml')
    assert done.returncode == 2 and 'give --shard I/N' in done.stderr
    done = run_with({'JOB_COMPLETION_INDEX': '1'}, net, '--dataset', tmp_path / 'x.npy', '--shard', 'auto/2', '-o', tmp_path / 's.yaml')
    assert done.returncode == 0 and '--shard auto/2: 1/2' in done.stderr


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_tables_say_what_their_ranges_do(net, tmp_path, mode):
    """SQNR and clipped share of the input by numpy, of the very range in the table."""
    pipeline.run('model_calibrate', net, '--dataset', tmp_path / 'x.npy', '--samples', 0, '--method', 'percentile', '--percentile', 99,
                 '-o', tmp_path / 't.yaml')
    line = next(line for line in tensors_of(tmp_path / 't.yaml').splitlines() if line.startswith('  x: '))
    assert 'reason: "holds the given share of the values"' in line
    number = {key: float(re.search(rf'\b{key}: ([-\d.e]+)', line)[1]) for key in ('threshold', 'low', 'high')}
    clipped, sqnr = map(float, re.search(rf'\b{mode}: {{clipped: ([-\d.e]+), sqnr_db: ([-\d.e]+)}}', line).groups())
    values = np.load(tmp_path / 'x.npy').astype(np.float64)
    low, high = (-number['threshold'], number['threshold']) if mode == 'symmetric' else (number['low'], number['high'])
    scale, zero = (high / 128, 0) if mode == 'symmetric' else ((high - low) / 255, np.rint(-128 - low / ((high - low) / 255)))
    integers = np.clip(np.rint(values / scale) + zero, -128, 127)
    noise = ((values - (integers - zero) * scale) ** 2).sum()
    assert abs(sqnr - 10 * np.log10((values ** 2).sum() / noise)) < 0.15
    assert abs(clipped - ((values < low) | (values > high)).mean()) < 5e-4
