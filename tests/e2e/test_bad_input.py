"""Bad input: exit code 1 and exactly one `error:` line that says what is wrong; never a crash."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import oracle
import pipeline
from little_onnx import save

RECIPE = pipeline.PREPROCESS / 'fashion_mnist.yaml'
IMAGE = (1, 1, 28, 28)

pytestmark = pytest.mark.sanitized


@pytest.fixture(scope='module')
def good(tmp_path_factory):
    """A folder with a calibration table, an integer program and a sample of the bundled model."""
    folder = tmp_path_factory.mktemp('good')
    pipeline.calibrate(pipeline.EXAMPLE, pipeline.TRAIN_IMAGES, folder / 'table.yaml', samples=20,
                       preprocess=RECIPE)
    pipeline.deploy(pipeline.EXAMPLE, folder / 'program.rshift', mode='symmetric',
                    table=folder / 'table.yaml')
    np.save(folder / 'sample.npy', oracle.fashion_images(count=1))
    return folder


def calibrate_fails(model, dataset, folder, *extra):
    error = pipeline.fails('model_calibrate', model, '--dataset', dataset, '-o',
                           folder / 'table.yaml', *extra)
    assert not (folder / 'table.yaml').exists()
    return error


def deploy_fails(model, table, folder):
    error = pipeline.fails('model_deploy', model, '--calibration', table, '-o',
                           folder / 'out.rshift')
    assert not (folder / 'out.rshift').exists()
    return error


def run_fails(program, sample, folder):
    error = pipeline.fails('model_runner', program, '--input', sample, '--output',
                           folder / 'out.npz')
    assert not (folder / 'out.npz').exists()
    return error


def small_model(path, nodes, shape=IMAGE):
    """Saves a graph from `x` to `y`."""
    save(path, nodes, {'x': shape}, ['y'], opset=13)
    return path


def test_missing_file(good, tmp_path):
    absent = tmp_path / 'absent'
    sample = good / 'sample.npy'
    assert 'absent' in calibrate_fails(absent, sample, tmp_path)
    assert 'absent' in calibrate_fails(pipeline.EXAMPLE, absent, tmp_path)
    assert 'absent' in calibrate_fails(pipeline.EXAMPLE, sample, tmp_path, '--preprocess', absent)
    assert 'absent' in deploy_fails(absent, good / 'table.yaml', tmp_path)
    assert 'absent' in deploy_fails(pipeline.EXAMPLE, absent, tmp_path)
    assert 'absent' in run_fails(absent, sample, tmp_path)
    assert 'absent' in run_fails(good / 'program.rshift', absent, tmp_path)
    assert 'absent' in pipeline.fails('model_tool', 'support', absent)
    assert 'absent' in pipeline.fails('model_tool', 'info', absent)


@pytest.mark.parametrize('content', (b'', b'this is a text file\nnamed like a model\n'),
                         ids=('empty', 'text'))
def test_file_that_is_no_model(content, good, tmp_path):
    model, program = tmp_path / 'bad.onnx', tmp_path / 'bad.rshift'
    model.write_bytes(content)
    program.write_bytes(content)
    calibrate_fails(model, good / 'sample.npy', tmp_path)
    deploy_fails(model, good / 'table.yaml', tmp_path)
    run_fails(program, good / 'sample.npy', tmp_path)
    pipeline.fails('model_tool', 'support', model)
    pipeline.fails('model_tool', 'verify', program)


@pytest.mark.parametrize('keep', (0.001, 0.3, 0.7, 0.999))
def test_truncated_model(keep, good, tmp_path):
    content = pipeline.EXAMPLE.read_bytes()
    model = tmp_path / 'short.onnx'
    model.write_bytes(content[:int(len(content) * keep)])
    calibrate_fails(model, good / 'sample.npy', tmp_path)
    deploy_fails(model, good / 'table.yaml', tmp_path)


def test_unsupported_operators_are_all_named(good, tmp_path):
    model = small_model(tmp_path / 'odd.onnx', [
        helper.make_node('Bernoulli', ['x'], ['a'], name='first_odd'),
        helper.make_node('Relu', ['a'], ['b'], name='fine'),
        helper.make_node('Multinomial', ['x'], ['c'], name='second_odd'),
        helper.make_node('Cast', ['c'], ['y'], name='last', to=TensorProto.FLOAT)])
    np.save(tmp_path / 'x.npy', np.zeros(IMAGE, np.float32))
    done = pipeline.call('model_calibrate', model, '--dataset', tmp_path / 'x.npy', '-o',
                         tmp_path / 'table.yaml')
    assert done.returncode == 1
    assert done.stderr.count('error:') == 1
    for word in ('first_odd', 'Bernoulli', 'second_odd', 'Multinomial'):
        assert word in done.stderr, done.stderr
    deploy_fails(model, good / 'table.yaml', tmp_path)
    listed = pipeline.call('model_tool', 'support', model)
    for word in ('first_odd', 'Bernoulli', 'second_odd', 'Multinomial'):
        assert word in listed.stdout, listed.stdout


@pytest.mark.parametrize('file', ('silero_vad/silero_vad_16k_op15.onnx', 'qlstm/model.onnx',
                                  'qonnx/TFC_2W2A.onnx', 'qonnx/nn_resize_quant_model.onnx'))
def test_models_beyond_us_are_refused_by_name(file, shared, tmp_path):
    np.save(tmp_path / 'x.npy', np.zeros((1, 3), np.float32))
    assert len(calibrate_fails(shared / 'models' / file, tmp_path / 'x.npy', tmp_path)) > 40


def test_dynamic_shape_without_input_shape(good, tmp_path):
    model = onnx.load(pipeline.EXAMPLE)
    shape = model.graph.input[0].type.tensor_type.shape
    shape.dim[0].dim_param = 'batch'
    path = tmp_path / 'dynamic.onnx'
    onnx.save(model, path)
    done = pipeline.call('model_calibrate', path, '--dataset', good / 'sample.npy', '-o', tmp_path / 'batch.yaml')
    assert done.returncode == 0 and "input 'input' has the shape [batch,1,28,28]: a batch of 1 is taken" in done.stderr
    shape.dim[2].dim_param = 'height'
    onnx.save(model, path)
    assert '--input-shape' in calibrate_fails(path, good / 'sample.npy', tmp_path)
    pipeline.calibrate(path, good / 'sample.npy', tmp_path / 'table.yaml',
                       extra=('--input-shape', 'input:1x1x28x28'))


def test_unreadable_image_in_a_folder(shared, tmp_path):
    photographs = tmp_path / 'photographs'
    photographs.mkdir()
    for path in oracle.photographs(shared / 'images/digits', 2):
        (photographs / path.name).write_bytes(path.read_bytes())
    (photographs / 'broken.png').write_bytes(b'\x89PNG\r\n\x1a\n then nothing')
    error = calibrate_fails(pipeline.EXAMPLE, photographs, tmp_path, '--preprocess', RECIPE)
    assert 'broken.png' in error


def test_wrong_channel_count(good, tmp_path):
    np.save(tmp_path / 'rgb.npy', np.zeros((1, 3, 28, 28), np.float32))
    calibrate_fails(pipeline.EXAMPLE, tmp_path / 'rgb.npy', tmp_path)
    run_fails(good / 'program.rshift', tmp_path / 'rgb.npy', tmp_path)
    colour = tmp_path / 'rgb.yaml'
    text = RECIPE.read_text().replace('GRAY', 'RGB')
    colour.write_text(text.replace('[72.93]', '[1, 1, 1]').replace('[0.0111', '[1, 1, 0.0111'))
    calibrate_fails(pipeline.EXAMPLE, pipeline.TRAIN_IMAGES, tmp_path, '--preprocess', colour)


def test_empty_data_set(tmp_path):
    empty, listing = tmp_path / 'empty', tmp_path / 'empty.txt'
    empty.mkdir()
    listing.write_text('')
    np.save(tmp_path / 'none.npy', np.zeros((0, 1, 28, 28), np.float32))
    for dataset in (empty, listing, tmp_path / 'none.npy'):
        calibrate_fails(pipeline.EXAMPLE, dataset, tmp_path, '--preprocess', RECIPE)


@pytest.mark.parametrize('value', (np.nan, np.inf))
def test_sample_that_is_not_finite(value, good, tmp_path):
    samples = np.zeros((3, 1, 28, 28), np.float32)
    samples[1, 0, 5, 5] = value
    np.save(tmp_path / 'nan.npy', samples)
    calibrate_fails(pipeline.EXAMPLE, tmp_path / 'nan.npy', tmp_path)
    np.save(tmp_path / 'one.npy', samples[1:2])
    run_fails(good / 'program.rshift', tmp_path / 'one.npy', tmp_path)


def test_table_of_another_model(good, tmp_path):
    other = small_model(tmp_path / 'other.onnx', [
        helper.make_node('Relu', ['x'], ['a']), helper.make_node('Sigmoid', ['a'], ['y'])])
    deploy_fails(other, good / 'table.yaml', tmp_path)


def test_table_that_lacks_a_tensor(good, tmp_path):
    lines = (good / 'table.yaml').read_text().splitlines(keepends=True)
    entries = [i for i, line in enumerate(lines) if 'threshold:' in line]
    victim = entries[len(entries) // 2]
    name = lines[victim].split(': {')[0].strip().strip('"\'')
    table = tmp_path / 'table.yaml'
    table.write_text(''.join(lines[:victim] + lines[victim + 1:]))
    assert name in deploy_fails(pipeline.EXAMPLE, table, tmp_path)


@pytest.mark.parametrize('line', ('  surprise: {min: 0, max: 1, threshold: 1, low: 0, high: 1, method: kl}\n',
                                  'surprise: 1\n'), ids=('tensor', 'key'))
def test_table_with_something_unknown(line, good, tmp_path):
    text = (good / 'table.yaml').read_text()
    table = tmp_path / 'table.yaml'
    table.write_text(text + line)
    assert 'surprise' in deploy_fails(pipeline.EXAMPLE, table, tmp_path)


@pytest.mark.parametrize('keep', (0.0, 0.0005, 0.01, 0.5, 0.999))
def test_truncated_program(keep, good, tmp_path):
    content = (good / 'program.rshift').read_bytes()
    program = tmp_path / 'short.rshift'
    program.write_bytes(content[:int(len(content) * keep)])
    run_fails(program, good / 'sample.npy', tmp_path)
    pipeline.fails('model_tool', 'verify', program)


def test_changed_byte_in_a_program(good, tmp_path):
    content = (good / 'program.rshift').read_bytes()
    program = tmp_path / 'changed.rshift'
    step = len(content) // 40
    for position in (*range(0, 64, 4), *range(64, len(content), step), len(content) - 1):
        changed = bytearray(content)
        changed[position] ^= 0x10
        program.write_bytes(changed)
        run_fails(program, good / 'sample.npy', tmp_path)
    pipeline.fails('model_tool', 'verify', program)


def test_wrong_usage_is_exit_code_2():
    for tool in ('model_calibrate', 'model_deploy', 'model_runner', 'model_tool'):
        assert pipeline.call(tool, '--no-such-option').returncode == 2, tool
        assert pipeline.call(tool, '--help').returncode == 0, tool
        assert pipeline.call(tool, '--version').returncode == 0, tool


def usage_fails(tool, *args):
    done = pipeline.call(tool, *args)
    assert done.returncode == 2, f'{tool} {args}\n{done.returncode} {done.stderr}'
    assert done.stdout == ''
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith('error:') and len(lines[0]) < 200, done.stderr


def test_arguments_that_cannot_be_meant_are_exit_code_2_before_any_work(good, tmp_path):
    calibrate = ('model_calibrate', pipeline.EXAMPLE, '-o', tmp_path / 't.yaml')
    usage_fails(*calibrate)
    data = (*calibrate, '--dataset', good / 'sample.npy')
    for extra in (('--method', 'guess'), ('--percentile', 99), ('--shard', '2/2'), ('--shard', 'x'),
                  ('--method', 'percentile', '--percentile', 0), ('--threads', 0), ('--samples', -1),
                  ('--input-shape', 'input:1x'), ('--bind', 'input'), ('--from-statistics', 'x')):
        usage_fails(*data, *extra)
    deploy = ('model_deploy', pipeline.EXAMPLE, '-o', tmp_path / 'p.rshift')
    usage_fails(*deploy)
    table = (*deploy, '--calibration', good / 'table.yaml')
    for extra in (('--mode', 'int4'), ('--tolerance', '0.9,0.9'), ('--dump-graph', 'last'),
                  ('--no-check', '--bias-correction', 'off', '--weight-rounding', 'nearest', '--threads', 2), ('--no-check', '--check-samples', 2),
                  ('--force-preprocess',), ('--test-input', 'x', '--tolerance', '0.9')):
        usage_fails(*table, *extra)
    usage_fails(*deploy, '--mode', 'f32', '--config', 'layers.yaml')
    run = ('model_runner', good / 'program.rshift')
    usage_fails(*run)
    usage_fails(*run, '--benchmark', '--output', tmp_path / 'o.npz')
    sample = (*run, '--input', good / 'sample.npy')
    for extra in (('--isa', 'mmx'), ('--threads', 2000), ('--raw',), ('--top', '1'), ('--per-command',),
                  ('--label-offset', 1), ('--iterations', 5)):
        usage_fails(*sample, *extra)
    usage_fails('model_tool', 'compare', 'a.npz', 'b.npz', '--tolerance', '1')
    assert not list(tmp_path.iterdir())


def test_unwritable_output_is_found_before_the_work(good, tmp_path):
    nowhere = tmp_path / 'no' / 'such'
    sample = good / 'sample.npy'
    deploy = ('model_deploy', pipeline.EXAMPLE, '--calibration', good / 'table.yaml')
    calibrate = ('model_calibrate', pipeline.EXAMPLE, '--dataset', sample)
    for command in ((*calibrate, '-o', nowhere),
                    (*calibrate, '-o', tmp_path / 't.yaml', '--statistics', nowhere),
                    (*deploy, '-o', nowhere), (*deploy, '-o', tmp_path / 'p', '--report', nowhere),
                    ('model_runner', good / 'program.rshift', '--input', sample, '--output', nowhere)):
        assert str(nowhere) in pipeline.fails(*command)
        assert pipeline.call(*command).stdout == ''
    assert not list(tmp_path.iterdir())


def test_data_and_benchmark_together_are_one_json_object(good):
    out = pipeline.run('model_runner', good / 'program.rshift', '--input', good / 'sample.npy', '--benchmark',
                       '--iterations', 2, '--json')
    result = json.loads(out)
    assert result['images'] == 1 and result['iterations'] == 2
