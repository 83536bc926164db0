"""Our image preprocessing equals the one written in Python with OpenCV."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import oracle
import pipeline

# Of pictures: test_audio.py has those of sounds.
RECIPES = sorted(path.stem for path in pipeline.PREPROCESS.glob('*.yaml') if 'audio:' not in path.read_text())


def shifted_input(path, recipe, channels):
    """A model that adds 1 to its input, so that its output shows the preprocessed image."""
    height, width = recipe['crop'] or recipe['resize']
    shape = [1, channels, height, width]
    name = recipe['name']
    graph = helper.make_graph(
        [helper.make_node('Add', [name, 'one'], ['shifted'])], 'shift',
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info('shifted', TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.ones((1, channels, 1, 1), np.float32), 'one')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7),
              path)


@pytest.mark.parametrize('name', RECIPES)
def test_matches_opencv(name, shared, tmp_path):
    path = pipeline.PREPROCESS / f'{name}.yaml'
    recipe = oracle.read_recipe(path)
    channels = len(recipe['mean'])
    model, program = tmp_path / 'shift.onnx', tmp_path / 'shift.rshift'
    shifted_input(model, recipe, channels)
    pipeline.deploy(model, program, mode='f32')
    images = [*oracle.photographs(shared / 'images/digits', 1),
              *oracle.photographs(shared / 'images/imagenet_val', 3)]
    for image in images:
        output = tmp_path / 'out.npz'
        pipeline.run('model_runner', program, '--input', image, '--preprocess', path, '--output',
                     output)
        with np.load(output) as outputs:
            actual = outputs['shifted'] - 1.0
        expected = oracle.read_image(image, recipe)
        assert actual.shape == expected.shape
        # OpenCV releases round a bilinear pixel differently now and then: one step of 256.
        step = recipe['scale'].reshape(1, -1, 1, 1)
        difference = np.abs(actual - expected) / step
        assert difference.max() <= 1.01, image
        assert difference.mean() <= 0.05, image
