"""A program that takes pixels gives what the program of preprocessed floats gives."""

import json

import numpy as np
import pytest

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
