"""What model_deploy says of the program it has made: the check on samples that the table recorded."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline

RECIPE = pipeline.PREPROCESS / 'fashion_mnist.yaml'


def chain(path, *operators, shape=(1, 16)):
    """A model of unary operators one after another."""
    names = ['x', *(f't{i}' for i in range(1, len(operators))), 'y']
    nodes = [helper.make_node(op, [names[i]], [names[i + 1]], name=f'n{i}', **attributes)
             for i, (op, attributes) in enumerate(operators)]
    value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in ('x', 'y')]
    graph = helper.make_graph(nodes, 'chain', value[:1], value[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)]), path)
    return path


def two_products(path, spread):
    """x W1 W2 where the columns of W1 differ in size by `spread` and W2 takes that back."""
    rng = np.random.default_rng(3)
    scales = np.where(np.arange(16) == 0, 1, 1 / spread).astype(np.float32)
    w1 = rng.standard_normal((16, 16)).astype(np.float32) * scales
    w2 = (rng.standard_normal((16, 16)).astype(np.float32).T / scales).T
    nodes = [helper.make_node('MatMul', ['x', 'w1'], ['wide'], name='one'),
             helper.make_node('MatMul', ['wide', 'w2'], ['y'], name='two')]
    value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 16)) for n in ('x', 'y')]
    graph = helper.make_graph(nodes, 'two', value[:1], value[1:],
                              [numpy_helper.from_array(w, n) for n, w in (('w1', w1), ('w2', w2))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)]), path)
    return path


# What calibration would mend by itself has to stay broken for the check to find.
AS_IT_IS = ('--equalize', 'off')


def calibrated(model, folder, values, *method):
    np.save(folder / 'x.npy', values.astype(np.float32))
    return pipeline.calibrate(model, folder / 'x.npy', folder / 'table.yaml', samples=0,
                              extra=(*(method or ('--method', 'minmax')), *AS_IT_IS))


def deploy(model, folder, *extra):
    """(check line, warning line or '', report) of a deploy that must succeed."""
    done = pipeline.call('model_deploy', model, '-o', folder / 'p.rshift', '--report-json', folder / 'r.json', *extra)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith('check:')]
    warnings = [line for line in done.stderr.splitlines() if line.startswith('warning:')]
    assert len(warnings) <= 1, done.stderr
    return (lines or [''])[0], (warnings or [''])[0], json.loads((folder / 'r.json').read_text())


def normal(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape)


def test_a_good_program_gets_one_line_and_no_warning(tmp_path):
    model = two_products(tmp_path / 'm.onnx', spread=1)
    table = calibrated(model, tmp_path, normal(40, 16))
    line, warning, report = deploy(model, tmp_path, '--calibration', table)
    assert line.startswith('check: good: 4 calibration samples, outputs'), line
    assert warning == ''
    assert report['check']['grade'] == 'good' and len(report['layers']) >= 2


def test_a_useless_program_is_called_bad_and_says_what_to_do(tmp_path):
    model = two_products(tmp_path / 'm.onnx', spread=1000)
    table = calibrated(model, tmp_path, normal(40, 16))
    line, warning, report = deploy(model, tmp_path, '--calibration', table)
    assert line.startswith('check: BAD') and "'wide'" in line, line
    assert 'next: --activation-bits 16 (' in warning
    wide = next(layer for layer in report['layers'] if layer['tensor'] == 'wide')
    assert wide['sqnr_db'] > 30 and wide['channels']['median_db'] < 10
    assert [trial['options'] for trial in report['check']['trials']] == ['--activation-bits 16', '--mode asymmetric']
    assert report['check']['trials'][0]['grade'] == 'good'


def test_advice_is_what_helped_on_the_samples(tmp_path):
    model = two_products(tmp_path / 'm.onnx', spread=1)
    table = calibrated(model, tmp_path, normal(40, 16), '--method', 'percentile', '--percentile', 60)
    line, warning, report = deploy(model, tmp_path, '--calibration', table)
    assert line.startswith('check: BAD'), line
    assert 'next: a table of model_calibrate --method minmax' in warning, warning
    assert report['check']['trials'][0]['grade'] == 'good'


def test_a_function_with_poles_is_caught(tmp_path):
    model = chain(tmp_path / 'm.onnx', ('Tan', {}))
    values = normal(40, 16)
    values[7, 3] = np.pi / 2 - 4e-6  # a range of 250,000
    table = calibrated(model, tmp_path, values)
    line, warning, _ = deploy(model, tmp_path, '--calibration', table)
    assert line.startswith('check: BAD') and warning, line


def test_a_logarithm_behind_a_sigmoid_is_named(tmp_path):
    """Where a byte stands between them; else they are one table, which loses nothing."""
    turned = ('Transpose', {'perm': [1, 0]})
    model = chain(tmp_path / 'm.onnx', ('Sigmoid', {}), turned, ('Log', {}), turned)
    table = calibrated(model, tmp_path, 6 * normal(40, 16) - 6)
    line, _, _ = deploy(model, tmp_path, '--calibration', table)
    assert "'t3'" in line, line
    model = chain(tmp_path / 'm.onnx', ('Sigmoid', {}), ('Log', {}))
    table = calibrated(model, tmp_path, 6 * normal(40, 16) - 6)
    line, _, report = deploy(model, tmp_path, '--calibration', table)
    assert line.startswith('check: good') and 'weakest' not in line
    assert report['check']['outputs'][0]['sqnr_db'] > 40


def test_the_check_changes_no_byte_and_can_be_left_out(tmp_path):
    model = two_products(tmp_path / 'm.onnx', spread=1000)
    table = calibrated(model, tmp_path, normal(40, 16))
    deploy(model, tmp_path, '--calibration', table)
    checked = (tmp_path / 'p.rshift').read_bytes()
    line, warning, report = deploy(model, tmp_path, '--calibration', table, '--no-check')
    assert (line, warning) == ('', '') and 'check' not in report
    assert (tmp_path / 'p.rshift').read_bytes() == checked


def test_samples_that_are_gone_or_changed_are_said(tmp_path):
    model = two_products(tmp_path / 'm.onnx', spread=1)
    table = calibrated(model, tmp_path, normal(40, 16))
    np.save(tmp_path / 'x.npy', normal(40, 16, seed=2).astype(np.float32))
    line, warning, _ = deploy(model, tmp_path, '--calibration', table)
    assert line.startswith('check: not done:') and 'has changed since the calibration' in line
    assert warning == ''
    (tmp_path / 'x.npy').unlink()
    line, _, _ = deploy(model, tmp_path, '--calibration', table)
    assert line.startswith('check: not done:') and 'x.npy is gone' in line
    line, _, _ = deploy(model, tmp_path, '--calibration', table, '--mode', 'f32')
    assert line == ''


def test_relative_samples_are_found_beside_the_table_and_above(tmp_path, monkeypatch):
    model = two_products(tmp_path / 'm.onnx', spread=1)
    np.save(tmp_path / 'x.npy', normal(40, 16).astype(np.float32))
    (tmp_path / 'out').mkdir()
    monkeypatch.chdir(tmp_path)
    pipeline.calibrate(model, 'x.npy', 'out/table.yaml', samples=0)
    monkeypatch.chdir('/')
    line, _, _ = deploy(model, tmp_path, '--calibration', tmp_path / 'out/table.yaml')
    assert line.startswith('check: good'), line


def test_tables_without_samples_still_deploy_and_say_so(tmp_path):
    model = two_products(tmp_path / 'm.onnx', spread=1)
    table = calibrated(model, tmp_path, normal(40, 16))
    text = table.read_text().splitlines()
    begin = text.index('check_samples:')
    end = next(i for i in range(begin + 1, len(text)) if not text[i].startswith('  '))
    table.write_text('\n'.join(text[:begin] + text[end:]) + '\n')
    line, _, _ = deploy(model, tmp_path, '--calibration', table)
    assert line.startswith('check: not done: the table records no samples'), line
    line, _, _ = deploy(model, tmp_path, '--calibration', table, '--test-input', tmp_path / 'x.npy')
    assert line.startswith('check: good: 4 test inputs'), line


def qdq_product(path, in_scale=0.05, weight_scale=0.05):
    """A QDQ model: y = 20 weight_scale x in integers that are those of x."""
    number = lambda value, name: numpy_helper.from_array(np.float32(value), name)
    nodes = [helper.make_node('QuantizeLinear', ['x', 's', 'z'], ['xq']),
             helper.make_node('DequantizeLinear', ['xq', 's', 'z'], ['xd']),
             helper.make_node('DequantizeLinear', ['wq', 'sw', 'z'], ['w']),
             helper.make_node('MatMul', ['xd', 'w'], ['m']),
             helper.make_node('QuantizeLinear', ['m', 'sy', 'z'], ['mq']),
             helper.make_node('DequantizeLinear', ['mq', 'sy', 'z'], ['y'])]
    constants = [number(in_scale, 's'), number(weight_scale, 'sw'), number(20 * in_scale * weight_scale, 'sy'),
                 numpy_helper.from_array(np.int8(0), 'z'),
                 numpy_helper.from_array(np.eye(16, dtype=np.int8) * 20, 'wq')]
    value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 16)) for n in ('x', 'y')]
    graph = helper.make_graph(nodes, 'qdq', value[:1], value[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)]), path)
    return path


def test_a_model_with_its_own_parameters_is_checked_on_test_inputs(tmp_path):
    model = qdq_product(tmp_path / 'm.onnx')
    line, _, _ = deploy(model, tmp_path)
    assert line.startswith('check: not done:') and '--test-input' in line
    np.save(tmp_path / 'x.npy', normal(4, 16).astype(np.float32))
    line, _, _ = deploy(model, tmp_path, '--test-input', tmp_path / 'x.npy')
    assert line.startswith('check: good: 4 test inputs'), line


def test_other_profiles_are_tried_on_a_model_with_its_own_parameters(tmp_path):
    """Numbers too small for fp16, in which the ascend profile leaves its products."""
    model = qdq_product(tmp_path / 'm.onnx', in_scale=1e-5, weight_scale=1e-5)
    np.save(tmp_path / 'x.npy', 2e-4 * normal(4, 16).astype(np.float32))
    line, _, _ = deploy(model, tmp_path, '--test-input', tmp_path / 'x.npy')
    assert line.startswith('check: good: 4 test inputs'), line
    line, warning, _ = deploy(model, tmp_path, '--test-input', tmp_path / 'x.npy', '--profile', 'ascend')
    assert line.startswith('check: BAD: 4 test inputs'), line
    assert 'next: --profile tpu (' in warning, warning


def test_another_preprocessing_than_the_tables_is_refused_unless_forced(tmp_path):
    table = pipeline.calibrate(pipeline.EXAMPLE, pipeline.TRAIN_IMAGES, tmp_path / 'table.yaml', samples=20,
                               preprocess=RECIPE)
    args = ('model_deploy', pipeline.EXAMPLE, '--calibration', table, '-o', tmp_path / 'p.rshift', '--no-check')
    other, same = tmp_path / 'other.yaml', tmp_path / 'same.yaml'
    other.write_text(RECIPE.read_text().replace('mean: [72.93]', 'mean: [0]'))
    same.write_text('# the same in other words\n' + RECIPE.read_text())
    error = pipeline.fails(*args, '--preprocess', other)
    assert '--force-preprocess' in error and '(pixel - 72.93)' in error and '(pixel - 0)' in error, error
    assert not (tmp_path / 'p.rshift').exists()
    pipeline.run(*args, '--preprocess', same)
    pipeline.run(*args, '--preprocess', other, '--force-preprocess')


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_the_hostile_net_is_called_bad(shared, tmp_path, mode):
    model = shared / 'models/fashion/mobilenet_hostile.onnx'
    table = pipeline.calibrate(model, pipeline.TRAIN_IMAGES, tmp_path / 'table.yaml', samples=50, preprocess=RECIPE,
                               extra=AS_IT_IS)
    line, warning, report = deploy(model, tmp_path, '--calibration', table, '--mode', mode)
    assert line.startswith('check: BAD') and '--auto --budget cosine=0.999' in warning, line
    layer = next(layer for layer in report['layers'] if layer['tensor'] == '/Relu_output_0')
    assert layer['sqnr_db'] > 30 and layer['channels']['worst_decile_db'] < 10


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_the_hostile_net_is_called_good_once_it_is_equalized(shared, tmp_path, mode):
    model = shared / 'models/fashion/mobilenet_hostile.onnx'
    table = pipeline.calibrate(model, pipeline.TRAIN_IMAGES, tmp_path / 'table.yaml', samples=50, preprocess=RECIPE)
    line, warning, report = deploy(model, tmp_path, '--calibration', table, '--mode', mode)
    assert line.startswith('check: good') and warning == '' and report['equalized_tensors'] == 10, line


def test_the_configuration_of_sensitivity_restores_the_hostile_net(shared, tmp_path, report):
    model, config = shared / 'models/fashion/mobilenet_hostile.onnx', tmp_path / 'f32.yaml'
    table = pipeline.calibrate(model, pipeline.TRAIN_IMAGES, tmp_path / 'table.yaml', samples=100, preprocess=RECIPE,
                               extra=AS_IT_IS)
    deploy(model, tmp_path, '--calibration', table, '--sensitivity', config, '--json')
    line, warning, _ = deploy(model, tmp_path, '--calibration', table, '--config', config)
    assert line.startswith('check: good') and warning == '', line
    top1 = pipeline.evaluate(tmp_path / 'p.rshift', pipeline.TEST_IMAGES, pipeline.TEST_LABELS)['top1']
    kept = config.read_text().count('mode: f32')
    report(f'mobilenet_hostile with {kept} nodes in F32 by --sensitivity: top-1 {top1:.2f} %')
    assert top1 > 90 and kept < 20


def test_sensitivity_writes_a_configuration_that_deploys(tmp_path):
    model = two_products(tmp_path / 'm.onnx', spread=1000)
    table = calibrated(model, tmp_path, normal(40, 16))
    config = tmp_path / 'f32.yaml'
    _, _, report = deploy(model, tmp_path, '--calibration', table, '--sensitivity', config, '--keep-f32', 2)
    assert {node['tensor'] for node in report['sensitivity']['ranking']} == {'wide', 'y'}
    line, _, _ = deploy(model, tmp_path, '--calibration', table, '--config', config)
    assert line.startswith('check: good'), line
    (tmp_path / 'x.npy').unlink()
    error = pipeline.fails('model_deploy', model, '--calibration', table, '-o', tmp_path / 'q.rshift',
                           '--sensitivity', config)
    assert 'x.npy is gone' in error and not (tmp_path / 'q.rshift').exists()


def test_sensitivity_leaves_a_good_program_as_it_is(tmp_path):
    model = two_products(tmp_path / 'm.onnx', spread=1)
    table = calibrated(model, tmp_path, normal(40, 16))
    _, _, report = deploy(model, tmp_path, '--calibration', table, '--sensitivity', tmp_path / 'f32.yaml')
    assert report['sensitivity']['kept'] == [] and len(report['sensitivity']['ranking']) == 2
    deploy(model, tmp_path, '--calibration', table, '--config', tmp_path / 'f32.yaml')
