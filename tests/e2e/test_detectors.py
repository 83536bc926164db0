"""Detectors end in boxes, scores and classes: F32 against ONNX Runtime, INT8 against F32 on photographs, and what goes wrong."""

import json
import re
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import detectors
import pipeline
import test_docs
from detectors import DETECTORS, POSTPROCESS


@pytest.fixture(scope='module', params=DETECTORS, ids=lambda d: d.name)
def deployed(request, shared, tmp_path_factory):
    """(detector, {mode: program})"""
    return request.param, detectors.deploy(request.param, shared, tmp_path_factory.mktemp(request.param.name))


@pytest.fixture(scope='module')
def wanted(deployed, shared, tmp_path_factory):
    """The boxes of the float program on all pictures."""
    detector, programs = deployed
    return detectors.detect(programs['f32'], shared / 'images' / detector.pictures, tmp_path_factory.mktemp('f32'))


def test_f32_boxes_are_those_of_onnx_runtime(deployed, shared, tmp_path):
    detector, programs = deployed
    network = onnxruntime.InferenceSession(shared / 'models' / detector.file)
    behind = onnxruntime.InferenceSession(detector.postprocess)
    wants = behind.get_modelmeta().custom_metadata_map
    boxes = 0
    for picture in sorted((shared / 'images' / detector.pictures).glob('*.jpg'))[:6]:
        pipeline.run('model_runner', programs['f32'], '--input', picture, '--dump-tensors', tmp_path / 'all.npz', '--output',
                     tmp_path / 'out.npz')
        with np.load(tmp_path / 'all.npz') as tensors:
            feeds = {i.name: tensors[i.name] for i in network.get_inputs()}
        raw = dict(zip([o.name for o in network.get_outputs()], network.run(None, feeds)))
        given = {i.name: raw[wants.get('append:' + i.name, i.name)] for i in behind.get_inputs()}
        expected = dict(zip([o.name for o in behind.get_outputs()], behind.run(None, given)))
        ours = pipeline.arrays_of(tmp_path / 'out.npz')
        assert ours['boxes.count'] == len(expected['boxes'])
        np.testing.assert_array_equal(ours['classes'], expected['classes'])
        np.testing.assert_allclose(ours['scores'], expected['scores'], atol=1e-4)
        np.testing.assert_allclose(ours['boxes'], expected['boxes'], atol=1e-4)
        boxes += len(expected['boxes'])
    assert boxes > 0


def test_int8_boxes_against_f32(deployed, wanted, shared, tmp_path, report):
    detector, programs = deployed
    pictures = shared / 'images' / detector.pictures
    reached = {}
    for mode in pipeline.INTEGER_MODES:
        recall, precision, count, found = detectors.recall_and_precision(detectors.detect(programs[mode], pictures, tmp_path), wanted)
        report(f'{detector.name}, {len(wanted)} pictures, {count} boxes, {mode}: {found} boxes, recall {recall:.3f}, '
               f'precision {precision:.3f}')
        reached[mode] = recall, precision
    for mode, floors in detector.floors.items():
        assert all(got >= floor for got, floor in zip(reached[mode], floors, strict=True)), (mode, reached[mode], floors)


def test_sixteen_bits_keep_the_boxes(deployed, wanted, shared, tmp_path, report):
    detector, programs = deployed
    pictures = shared / 'images' / detector.pictures
    pipeline.deploy(shared / 'models' / detector.file, tmp_path / 'p.rshift', mode='asymmetric',
                    table=programs['f32'].parent / 'table.yaml', preprocess=detector.preprocess,
                    extra=('--append', detector.postprocess, '--activation-bits', 16))
    recall, precision, *_ = detectors.recall_and_precision(detectors.detect(tmp_path / 'p.rshift', pictures, tmp_path), wanted)
    report(f'{detector.name} in 16 bits: recall {recall:.3f}, precision {precision:.3f}')
    assert min(recall, precision) >= 0.95


def test_the_equalization_that_is_tried_finds_more_faces(shared, tmp_path, report):
    """On 350 photographs of other things, where more boxes are at stake than in those of faces."""
    detector = next(d for d in DETECTORS if d.name == 'ultraface_rfb320')
    model, table, pictures = shared / 'models' / detector.file, tmp_path / 'table.yaml', tmp_path / 'pictures'
    pictures.mkdir()
    for folder in ('coco', 'imagenet_val'):
        for picture in (shared / 'images' / folder).iterdir():
            if picture.suffix.lower() in ('.jpg', '.jpeg'):
                (pictures / f'{folder}_{picture.stem}.jpg').symlink_to(picture)
    appended = ('--append', detector.postprocess)
    pipeline.calibrate(model, [shared / 'images' / name for name in detector.calibrate_on], table, preprocess=detector.preprocess,
                       samples=200, extra=appended)

    def boxes(mode, *options):
        pipeline.deploy(model, tmp_path / 'p.rshift', mode=mode, table=table, preprocess=detector.preprocess, extra=(*appended, *options))
        return detectors.detect(tmp_path / 'p.rshift', pictures, tmp_path)

    wanted = boxes('f32')
    for mode in pipeline.INTEGER_MODES:
        found = {}
        for equalize in ('table', 'auto'):
            found[equalize] = detectors.recall_and_precision(boxes(mode, '--equalize', equalize), wanted)[:2]
            report(f'{detector.name}, --equalize {equalize}, {mode}: recall and precision {found[equalize]}')
        # One box moves a figure by .009, and CPU types with other sums of the float network move one box.
        assert min(found['auto']) >= 0.94 and found['auto'] != found['table'], (mode, found)
        assert all(a >= b for a, b in zip(found['auto'], found['table'])), (mode, found)


def test_boxes_are_judged(shared, tmp_path):
    """By model_deploy's check, by the search, and by a budget of their own."""
    detector = next(d for d in DETECTORS if d.name == 'blazeface')
    model, table = shared / 'models' / detector.file, tmp_path / 'table.yaml'
    pipeline.calibrate(model, shared / 'images/faces', table, preprocess=detector.preprocess, samples=16,
                       extra=('--append', detector.postprocess))
    words = ['model_deploy', model, '--calibration', table, '--preprocess', detector.preprocess, '--append', detector.postprocess,
             '-o', tmp_path / 'net.rshift']
    assert re.search(r'check: .*boxes: recall [01][.]\d+ [(]\d+ of \d+ boxes[)], precision [01]', pipeline.run(*words))
    said = json.loads(pipeline.run(*words, '--json'))['check']['boxes']
    assert 0 < said['matched'] <= min(said['found'], said['wanted'])
    found = pipeline.run(*words, '--auto', '--budget', 'boxes=0.5')
    assert 'auto: 0 of' in found and 'recall' in found and 'not reached' not in found


def test_only_what_makes_boxes_is_f32(deployed):
    _, programs = deployed
    for mode in pipeline.INTEGER_MODES:
        commands = pipeline.f32_commands(programs[mode])
        assert commands['non_max_suppression'] == 1
        assert not commands.keys() & {'conv_f32', 'matmul_f32', 'conv_transpose_f32', 'average_pool_f32'}, commands


def test_the_class_map_of_deeplab(shared, tmp_path, report):
    model, recipe = shared / 'models/deeplabv3_dm05/deeplabv3_dm05_float.onnx', pipeline.PREPROCESS / 'deeplabv3_dm05.yaml'
    table = pipeline.calibrate(model, shared / 'images/calibration', tmp_path / 'table.yaml', preprocess=recipe, samples=40)
    maps = {}
    for mode in ('f32', *pipeline.INTEGER_MODES):
        program, output = tmp_path / mode, tmp_path / 'out.npz'
        pipeline.deploy(model, program, mode=mode, table=table, preprocess=recipe)
        pipeline.run('model_runner', program, '--dataset', shared / 'images/coco', '--output', output, timeout=1800)
        maps[mode] = pipeline.arrays_of(output)['output']
        assert np.issubdtype(maps[mode].dtype, np.integer) and maps[mode].shape[1:] == (513, 513)
    for mode in pipeline.INTEGER_MODES:
        agreement = np.mean(maps[mode] == maps['f32'])
        report(f'deeplabv3_dm05, {len(maps[mode])} pictures, {mode}: {agreement:.4f} of the pixels have the class of F32')
        assert agreement >= 0.98, mode


@pytest.mark.parametrize('detector', DETECTORS, ids=lambda d: d.name)
def test_the_files_are_what_the_script_writes(detector, tmp_path):
    subprocess.run([sys.executable, str(POSTPROCESS / 'make_postprocess.py'), '-o', str(tmp_path), detector.name],
                            check=True)
    assert onnx.load(tmp_path / f'{detector.name}.onnx') == onnx.load(detector.postprocess)


def test_the_commands_of_the_page(shared, tmp_path):
    (tmp_path / 'configs').symlink_to(pipeline.ROOT / 'configs')
    (tmp_path / 'ultraface.onnx').symlink_to(shared / 'models' / DETECTORS[0].file)
    (tmp_path / 'photos').mkdir()
    pictures = sorted((shared / 'images/faces').glob('*.jpg'))[:8]
    for i, picture in enumerate(pictures):
        (tmp_path / 'photos' / ('group.jpg' if i == 0 else picture.name)).symlink_to(picture)
    test_docs.run_blocks('detectors.md', tmp_path)
    found = pipeline.arrays_of(tmp_path / 'faces.npz')
    assert found['boxes.count'] == len(found['boxes']) > 0 and not found['classes'].any()


def gather_of(folder):
    """x [5], i [2] -> x at i."""
    graph = helper.make_graph([helper.make_node('Gather', ['x', 'i'], ['y'], name='rows')], 'g',
                              [helper.make_tensor_value_info('x', TensorProto.FLOAT, [5]),
                               helper.make_tensor_value_info('i', TensorProto.INT64, [2])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, [2])])
    path = folder / 'gather.onnx'
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path)
    return path


@pytest.mark.parametrize('operator', ['Gather', 'GatherElements', 'GatherND', 'ScatterElements', 'ScatterND'])
def test_an_index_the_data_do_not_have_is_an_error(operator, tmp_path):
    nd, scatters = operator.endswith('ND'), operator.startswith('Scatter')
    inputs = [helper.make_tensor_value_info('x', TensorProto.FLOAT, [5]),
              helper.make_tensor_value_info('i', TensorProto.INT64, [2, 1] if nd else [2])]
    if scatters:
        inputs.append(helper.make_tensor_value_info('u', TensorProto.FLOAT, [2]))
    node = helper.make_node(operator, [i.name for i in inputs], ['y'], name='rows')
    graph = helper.make_graph([node], 'g', inputs, [helper.make_tensor_value_info('y', TensorProto.FLOAT, None)])
    model, program = tmp_path / 'model.onnx', tmp_path / 'program'
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 16)], ir_version=8), model)
    pipeline.run('model_deploy', model, '--mode', 'f32', '-o', program)
    for index, outside in ((4, False), (-5, False), (5, True), (-6, True)):
        arrays = {'x': np.arange(5, dtype=np.float32), 'i': np.array([0, index]), 'u': np.array([7, 8], np.float32)}
        arguments = []
        for info in inputs:
            shape = [d.dim_value for d in info.type.tensor_type.shape.dim]
            np.save(tmp_path / f'{info.name}.npy', arrays[info.name].reshape(shape))
            arguments += ['--input', f'{info.name}={tmp_path / info.name}.npy']
        arguments += ['--output', tmp_path / 'out.npz']
        if outside:
            message = pipeline.fails('model_runner', program, *arguments)
            assert f'index {index} (element 1 of src2) is outside an axis of 5' in message and "'rows" in message, message
        else:
            pipeline.run('model_runner', program, *arguments)


def test_what_cannot_be_appended_is_an_error_of_one_line(tmp_path):
    model = gather_of(tmp_path)
    behind = POSTPROCESS / 'ultraface_rfb320.onnx'
    deploy = ['model_deploy', model, '--mode', 'f32', '-o', tmp_path / 'program', '--append']
    message = pipeline.fails(*deploy, behind)
    assert "input 'raw_scores' wants the model's output 'scores', but the model has 'y'" in message, message
    message = pipeline.fails(*deploy, behind, '--append-map', 'raw_scores=y', '--append-map', 'raw_boxes=y')
    assert "has the shape 1x4420x2, but the model's output 'y' is 2" in message, message
    assert 'no_such.onnx' in pipeline.fails(*deploy, tmp_path / 'no_such.onnx')
    done = pipeline.call(*deploy, behind, '--append-map', 'raw_scores')
    assert done.returncode == 2 and 'expected INPUT=OUTPUT' in done.stderr
