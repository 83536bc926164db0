"""model_runner --draw: boxes and class maps on the pictures, at the places where they belong."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline

cv2 = pytest.importorskip('cv2')

SIDE = 40
# left, top, right, bottom in parts of the network's picture; the second lies below the text of none.
BOXES = np.array([[.25, .5, .75, .9], [.5, .55, .95, .8]], np.float32)


def network(path):
    """x -> its mean, from which the graph behind it makes two boxes that never change."""
    node = helper.make_node
    graph = helper.make_graph([node('GlobalAveragePool', ['x'], ['mean'])], 'net',
                              [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 3, SIDE, SIDE))],
                              [helper.make_tensor_value_info('mean', TensorProto.FLOAT, (1, 3, 1, 1))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path / 'net.onnx')
    zeros = numpy_helper.from_array(np.zeros((1, 3, 1, 1), np.float32), 'zeros')
    nodes = [node('Mul', ['mean', 'zeros'], ['nothing']), node('ReduceSum', ['nothing'], ['none'], keepdims=0),
             node('Add', ['none', 'b'], ['boxes']), node('Add', ['none', 's'], ['scores']), node('Add', ['none', 'c'], ['classes'])]
    values = {'b': BOXES, 's': np.array([.9, .8], np.float32), 'c': np.array([1, 2], np.float32)}
    graph = helper.make_graph(nodes, 'post', [helper.make_tensor_value_info('mean', TensorProto.FLOAT, (1, 3, 1, 1))],
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
                               for n, s in (('boxes', (2, 4)), ('scores', (2,)), ('classes', (2,)))],
                              [zeros, *(numpy_helper.from_array(v, n) for n, v in values.items())])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), path / 'post.onnx')


RESIZES = {'stretch': f'resize: {{height: {SIDE}, width: {SIDE}, mode: stretch}}',
           'letterbox': f'resize: {{height: {SIDE}, width: {SIDE}, mode: letterbox}}',
           'top-left': f'resize: {{height: {SIDE}, width: {SIDE}, mode: letterbox, align: top-left}}',
           'crop': f'resize: {{height: {2 * SIDE}, width: {2 * SIDE}, mode: stretch}}, crop: {{height: {SIDE}, width: {SIDE}}}'}


def deploy(path, resize, append=True):
    recipe = path / 'p.yaml'
    recipe.write_text('inputs:\n  - {name: x, color: RGB, mean: [0], scale: [1], ' + RESIZES[resize] + '}\n')
    program = path / 'p.rshift'
    pipeline.run('model_deploy', path / 'net.onnx', *(['--append', path / 'post.onnx'] if append else []), '--mode', 'f32',
                 '--preprocess', recipe, '-o', program)
    return program


def place(resize, width, height):
    """(scale x, left, scale y, top): where the picture lies in the network's, by the words of the preprocessing."""
    if resize == 'stretch':
        return SIDE / width, 0, SIDE / height, 0
    if resize == 'crop':
        return 2 * SIDE / width, -SIDE / 2, 2 * SIDE / height, -SIDE / 2
    inside = [round(side * SIDE / max(width, height)) for side in (width, height)]  # whole pixels
    free = (0, 0) if resize == 'top-left' else [(SIDE - side) // 2 for side in inside]
    return inside[0] / width, free[0], inside[1] / height, free[1]


@pytest.mark.parametrize('resize', RESIZES)
@pytest.mark.parametrize('width,height', ((400, 200), (160, 240)))
def test_edges_lie_where_the_boxes_are(tmp_path, resize, width, height):
    network(tmp_path)
    program = deploy(tmp_path, resize)
    grey = np.full((height, width, 3), 128, np.uint8)
    cv2.imwrite(str(tmp_path / 'x.png'), grey)
    pipeline.run('model_runner', program, '--input', tmp_path / 'x.png', '--draw', tmp_path / 'out.png')
    changed = (cv2.imread(str(tmp_path / 'out.png')) != grey).any(axis=2)
    sx, left, sy, top = place(resize, width, height)
    expected = np.zeros((height, width), bool)
    for box in BOXES:
        x = np.clip([round((box[i] * SIDE - left) / sx) for i in (0, 2)], 0, width - 1)
        y = np.clip([round((box[i] * SIDE - top) / sy) for i in (1, 3)], 0, height - 1)
        for at in x:
            assert changed[y[0]:y[1] + 1, at].all(), (resize, box)
            expected[y[0]:y[1] + 1, at] = True
        for at in y:
            assert changed[at, x[0]:x[1] + 1].all(), (resize, box)
            expected[at, x[0]:x[1] + 1] = True
        expected[max(0, y[0] - 20):y[0] + (20 if y[0] < 20 else 0), max(0, min(x[0], width - 70)):x[0] + 70] = True  # the text
    assert not (changed & ~expected).any(), 'pixels away from edges and text are as they were'


def test_several_pictures_and_names(tmp_path):
    network(tmp_path)
    program = deploy(tmp_path, 'stretch')
    random = np.random.default_rng(1)
    for name in ('a/1.png', 'b/1.png'):
        (tmp_path / 'set' / name).parent.mkdir(parents=True)
        cv2.imwrite(str(tmp_path / 'set' / name), random.integers(0, 256, (60, 80, 3)).astype(np.uint8))
    (tmp_path / 'names.txt').write_text('none\ncat\ndog\n')
    draw = ('--dataset', tmp_path / 'set', '--draw')
    pipeline.run('model_runner', program, *draw, tmp_path / 'out', '--names', tmp_path / 'names.txt')
    assert sorted(p.name for p in (tmp_path / 'out').iterdir()) == ['a_1.png', 'b_1.png']
    assert 'give a folder' in pipeline.fails('model_runner', program, *draw, tmp_path / 'out.png')
    (tmp_path / 'names.txt').write_text('none\ncat\n')
    error = pipeline.fails('model_runner', program, *draw, tmp_path / 'out', '--names', tmp_path / 'names.txt')
    assert 'has 2 lines, a box is of class 2' in error
    error = pipeline.fails('model_runner', program, '--input', tmp_path / 'set/a/1.png', '--draw', tmp_path / 'set/a')
    assert 'which it would overwrite' in error
    np.save(tmp_path / 'x.npy', np.zeros((1, 3, SIDE, SIDE), np.float32))
    assert 'no picture' in pipeline.fails('model_runner', program, '--input', tmp_path / 'x.npy', '--draw', tmp_path / 'y.png')


def test_outputs_without_a_known_meaning_are_refused(tmp_path):
    network(tmp_path)
    program = deploy(tmp_path, 'stretch', append=False)
    cv2.imwrite(str(tmp_path / 'x.png'), np.zeros((30, 30, 3), np.uint8))
    error = pipeline.fails('model_runner', program, '--input', tmp_path / 'x.png', '--draw', tmp_path / 'out.png')
    assert "what the program's outputs mean is unknown" in error and not (tmp_path / 'out.png').exists()


def test_class_map(tmp_path):
    """ArgMax over channels: what is red is class 0 and stays, blue is class 2 and is blended."""
    graph = helper.make_graph([helper.make_node('ArgMax', ['x'], ['map'], axis=1, keepdims=0)], 'net',
                              [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 3, SIDE, SIDE))],
                              [helper.make_tensor_value_info('map', TensorProto.INT64, (1, SIDE, SIDE))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), tmp_path / 'net.onnx')
    program = deploy(tmp_path, 'letterbox', append=False)
    picture = np.zeros((100, 200, 3), np.uint8)
    picture[:, :100, 2] = 200  # BGR: red
    picture[:, 100:, 0] = 200
    cv2.imwrite(str(tmp_path / 'x.png'), picture)
    pipeline.run('model_runner', program, '--input', tmp_path / 'x.png', '--draw', tmp_path / 'out.png')
    changed = (cv2.imread(str(tmp_path / 'out.png')) != picture).any(axis=2)
    assert not changed[:, :98].any() and changed[:, 102:].all()
