"""Real architectures with seeded random weights: the f32 program against ONNX Runtime on a photograph."""

import onnx
import pytest

import oracle
import pipeline
import randomize_light_graph

ARCHITECTURES = ('resnet50', 'vgg19', 'densenet121', 'inception_v1', 'inception_v2', 'shufflenet',
                 'squeezenet')


@pytest.mark.parametrize('name', ARCHITECTURES)
def test_f32_program_agrees_with_onnx_runtime(name, shared, tmp_path, report):
    model = onnx.load(shared / f'models/light_graphs/light_{name}.onnx')
    randomize_light_graph.randomize(model, seed=1)
    path, program = tmp_path / 'model.onnx', tmp_path / 'model.rshift'
    onnx.save(model, path)
    del model
    pipeline.deploy(path, program, mode='f32')
    session = oracle.Session(path)
    photograph = oracle.photographs(shared / 'images/imagenet_val', 1)[0]
    recipe = oracle.read_recipe(pipeline.PREPROCESS / 'squeezenet_1_1.yaml')
    x = oracle.read_image(photograph, recipe)
    expected = session(x)
    actual = pipeline.infer(program, {session.input: x}, tmp_path)
    assert actual.keys() == expected.keys()
    worst = max(oracle.relative_error(actual[k], expected[k]) for k in expected)
    report(f'{name} (random weights): f32 against ONNX Runtime, max |a-b| / max |b| = {worst:.2e}')
    assert worst <= 1e-4
