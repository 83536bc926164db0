"""A program that takes pixels gives what the program of preprocessed floats gives."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import pipeline


@pytest.mark.parametrize('types', [('u8', 's8'), ('s8', 'u8')], ids='-'.join)
def test_photographs_are_not_preprocessed_twice(types, shared, tmp_path):
    model = shared / 'models/resnet8_cifar10/pretrainedResnet_float.onnx'
    preprocess = pipeline.PREPROCESS / 'resnet8_cifar10.yaml'
    photographs, table = shared / 'images/calibration', tmp_path / 'net.table.yaml'
    pipeline.calibrate(model, photographs, table, preprocess=preprocess, samples=8)
    outputs = []
    for flags in ([], ['--input-type', types[0]]):
        program, output = tmp_path / f'{len(outputs)}.rshift', tmp_path / f'{len(outputs)}.npz'
        pipeline.deploy(model, program, mode='symmetric', table=table, extra=flags)
        pipeline.run('model_runner', program, '--dataset', shared / 'images/coco', '--output',
                     output)
        with np.load(output) as arrays:
            outputs.append(next(iter(arrays.values())))
    assert np.array_equal(outputs[0], outputs[1])
    info = json.loads(pipeline.run('model_tool', 'info', program, '--json'))
    assert info['inputs'][0]['type'] == types[0]
    assert info['inputs'][0]['scale'] == 1
    assert info['inputs'][0]['zero_point'] == (0 if types[0] == 'u8' else -128)


def test_an_f32_input_without_preprocessing_has_no_bytes(shared, tmp_path):
    model = shared / 'models/autoencoder_ad01/ad01_fp32_float.onnx'
    error = pipeline.fails('model_deploy', model, '--mode', 'f32', '--input-type', 's8', '-o',
                           tmp_path / 'net.rshift')
    assert 'is read in F32 and has no scale; give --preprocess' in str(error)
    assert not (tmp_path / 'net.rshift').exists()


def two_inputs(folder):
    """y = conv(image) and z = the sum of two numbers' relus."""
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    rng = np.random.default_rng(1)
    weights = onnx.numpy_helper.from_array(rng.normal(size=(4, 3, 3, 3)).astype(np.float32), 'w')
    nodes = [helper.make_node('Conv', ['image', 'w'], ['y']), helper.make_node('Relu', ['y'], ['r']),
             helper.make_node('Add', ['more', 'more'], ['z'])]
    graph = helper.make_graph(nodes, 'two', [value('image', [1, 3, 8, 8]), value('more', [1, 5])],
                              [value('r', [1, 4, 6, 6]), value('z', [1, 5])], [weights])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8),
              folder / 'net.onnx')
    np.savez(folder / 'x.npz', image=rng.normal(size=(1, 3, 8, 8)).astype(np.float32),
             more=rng.normal(size=(1, 5)).astype(np.float32))
    pipeline.calibrate(folder / 'net.onnx', folder / 'x.npz', folder / 't.yaml')
    return folder / 'net.onnx', folder / 't.yaml'


def types_of(program):
    info = json.loads(pipeline.run('model_tool', 'info', program, '--json'))
    return [port['type'] for key in ('inputs', 'outputs') for port in info[key]]


def test_each_input_and_output_has_the_type_that_is_given_for_it(tmp_path):
    model, table = two_inputs(tmp_path)
    program = tmp_path / 'net.rshift'
    for flags, types in (((), ['f32', 'f32', 'f32', 'f32']),
                         (('--input-type', 'image=u8'), ['u8', 'f32', 'f32', 'f32']),
                         (('--input-type', 's8', '--input-type', 'more=f32', '--output-type', 'z=u8'),
                          ['s8', 'f32', 'f32', 'u8'])):
        pipeline.deploy(model, program, mode='symmetric', table=table, extra=flags)
        assert types_of(program) == types, flags


def test_sixteen_bits_inside_are_sixteen_outside(tmp_path):
    model, table = two_inputs(tmp_path)
    common = ('--activation-bits', '16')
    values = dict(np.load(tmp_path / 'x.npz'))
    pipeline.deploy(model, tmp_path / 'f.rshift', mode='symmetric', table=table, extra=common)
    floats = pipeline.infer(tmp_path / 'f.rshift', values, tmp_path, '--raw')
    pipeline.deploy(model, tmp_path / 'i.rshift', mode='symmetric', table=table,
                    extra=(*common, '--input-type', 's16', '--output-type', 's16'))
    assert types_of(tmp_path / 'i.rshift') == ['s16'] * 4
    assert not pipeline.f32_commands(tmp_path / 'i.rshift')
    info = json.loads(pipeline.run('model_tool', 'info', tmp_path / 'i.rshift', '--json'))
    scales = {port['name']: port['scale'] for key in ('inputs', 'outputs') for port in info[key]}
    integers = {n: np.clip(np.rint(v / np.float32(scales[n])), -32768, 32767).astype(np.int16) for n, v in values.items()}
    found = pipeline.infer(tmp_path / 'i.rshift', integers, tmp_path, '--raw')
    for name, expected in floats.items():
        assert found[name].dtype == np.int16
        assert np.array_equal(found[name] * np.float32(scales[name]), expected)
    refused = pipeline.fails('model_runner', tmp_path / 'i.rshift', '--input', tmp_path / 'x.npz', '--output', tmp_path / 'y.npz')
    assert "does not fit the input's integer type s16, expected q of the number" in str(refused)


@pytest.mark.parametrize('flags', (('--input-type', 's8'), ('--activation-bits', '16', '--input-type', 's16')))
def test_pictures_become_the_integers_of_an_input(flags, tmp_path):
    """Preprocessing gives numbers: the program of integers is fed what that of numbers makes of them."""
    model, table = two_inputs(tmp_path)
    rng = np.random.default_rng(2)
    pixels = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
    (tmp_path / 'photo.ppm').write_bytes(b'P6 8 8 255\n' + pixels.tobytes())
    np.save(tmp_path / 'more.npy', np.zeros((1, 5), np.float32))
    for name, types in (('f', flags[:-2]), ('i', (*flags, '--input-type', 'more=f32'))):
        pipeline.deploy(model, tmp_path / f'{name}.rshift', mode='symmetric', table=table, extra=types)
        pipeline.run('model_runner', tmp_path / f'{name}.rshift', '--input', f"image={tmp_path / 'photo.ppm'}", f"more={tmp_path / 'more.npy'}",
                     '--preprocess', 'raw', '--mean', '100,120,140', '--scale', '0.02', '--output', tmp_path / f'{name}.npz')
    assert types_of(tmp_path / 'i.rshift')[0] == flags[-1]
    floats, integers = (pipeline.arrays_of(tmp_path / f'{name}.npz') for name in 'fi')
    assert floats['r'].any() and np.array_equal(floats['r'], integers['r'])


def test_sizes_that_do_not_fit_are_refused(tmp_path):
    model, table = two_inputs(tmp_path)
    common = (model, '--calibration', table, '--no-check', '-o', tmp_path / 'net.rshift')
    for option, port in (('--input-type', 'image'), ('--output-type', 'r')):
        assert f"{option}: {'input' if port == 'image' else 'output'} '{port}' has 16 bits and s8 has 8: give {option} {port}=s16" in str(
            pipeline.fails('model_deploy', *common, '--activation-bits', '16', option, f'{port}=s8'))
        assert f"'{port}' has 8 bits and s16 has 16: give {option} {port}=s8" in str(pipeline.fails('model_deploy', *common, option, f'{port}=s16'))
    assert not (tmp_path / 'net.rshift').exists()


def test_numbers_of_samples_are_a_list(tmp_path):
    """An output that is one number without dimensions."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node('ReduceMax', ['x'], ['y'], keepdims=0)], 'g', [value('x', TensorProto.FLOAT, [2, 3])],
                              [value('y', TensorProto.FLOAT, [])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), tmp_path / 'm.onnx')
    x = np.random.default_rng(1).normal(size=(5, 2, 3)).astype(np.float32)
    np.save(tmp_path / 'x.npy', x.reshape(10, 3))
    pipeline.run('model_deploy', tmp_path / 'm.onnx', '--mode', 'f32', '-o', tmp_path / 'p')
    pipeline.run('model_runner', tmp_path / 'p', '--dataset', tmp_path / 'x.npy', '--output', tmp_path / 'y.npz')
    assert np.array_equal(np.load(tmp_path / 'y.npz')['y'], x.max(axis=(1, 2)))


def test_types_that_name_nothing_are_refused(tmp_path):
    model, table = two_inputs(tmp_path)
    common = (model, '--calibration', table, '--no-check', '-o', tmp_path / 'net.rshift')
    assert "'picture' is no input of the model, which has 'image', 'more'" in pipeline.fails(
        'model_deploy', *common, '--input-type', 'picture=u8')
    assert "'picture' is no input of the model" in pipeline.fails(
        'model_deploy', *common, '--input-type', 'picture=f32')
    assert 'given twice' in pipeline.fails('model_deploy', *common, '--input-type', 'image=u8',
                                           '--input-type', 'image=s8')
    assert pipeline.call('model_deploy', *common, '--input-type', 'image=u9').returncode == 2
    assert not (tmp_path / 'net.rshift').exists()
