"""A small net that tells colours, pictures of it, and the ills that model_tool diagnose must name."""

import re
import types

import cv2
import numpy as np
from onnx import helper

import pipeline
from little_onnx import constant, save

SEED = 11
SIDE = 16
# What a class looks like, RGB from 0 to 255; pictures are noise around it.
COLOURS = np.array([[200, 70, 70], [70, 200, 70], [70, 70, 200], [40, 40, 40], [215, 215, 215]])
RECIPE = """inputs:
  - color: RGB
    layout: NCHW
    mean: [127.5]
    scale: [0.00784314]
"""
# Rows: the logits of red, green, blue, dark, bright; columns: r, g, b from -1 to 1.
CLASSES = np.array([[4, -2, -2], [-2, 4, -2], [-2, -2, 4], [-2.5, -2.5, -2.5], [2.5, 2.5, 2.5]], np.float32)


def pixels(count=30):
    """[(RGB picture, class)]."""
    random = np.random.default_rng(SEED)
    for i in range(count):
        label = i % len(COLOURS)
        noise = random.normal(0, 12, (SIDE, SIDE, 3))
        yield np.clip(COLOURS[label] + noise, 0, 255).astype(np.uint8), label


def pictures(folder, offset=0):
    """A folder of .png files and their labels, each with `offset` added: the folder, the file of labels."""
    place = folder / 'pictures'
    place.mkdir(exist_ok=True)
    lines = []
    for i, (picture, label) in enumerate(pixels()):
        cv2.imwrite(str(place / f'{i:02}.png'), picture[:, :, ::-1])
        lines.append(f'{i:02}.png {label + offset}')
    labels = folder / f'labels{offset}.txt'
    labels.write_text('\n'.join(lines) + '\n')
    return place, labels


def samples(folder, change=None):
    """The same pictures as the net takes them, in one .npy; `change` is called with the array."""
    array = np.stack([(picture.transpose(2, 0, 1).astype(np.float32) - 127.5) / 127.5 for picture, _ in pixels()])
    if change:
        change(array)
    np.save(folder / 'x.npy', array)
    return folder / 'x.npy'


def weights():
    """of a healthy net; an ill one changes them before it is written."""
    random = np.random.default_rng(SEED + 1)
    kernel = np.full((3, 3), 1 / 9, np.float32)
    first = np.zeros((6, 3, 3, 3), np.float32)
    for c in range(3):
        first[c, c], first[c + 3, c] = kernel, -kernel
    first += random.normal(0, .01, first.shape).astype(np.float32)
    # The second layer takes the halves together again: r, g, b and what they are without a sign.
    second = np.zeros((8, 6, 1, 1), np.float32)
    for c in range(3):
        second[c, c, 0, 0], second[c, c + 3, 0, 0] = 1, -1
        second[c + 3, c, 0, 0] = second[c + 3, c + 3, 0, 0] = 1
    second[6:, :, 0, 0] = random.normal(0, .5, (2, 6))
    head = np.zeros((8, 5), np.float32)
    head[:3] = CLASSES.T
    return types.SimpleNamespace(first=first, first_bias=np.full(6, .02, np.float32), second=second,
                                 second_bias=np.full(8, .01, np.float32), head=head, head_bias=np.full(5, .1, np.float32),
                                 function='Relu')


def write(folder, w, middle=()):
    """conv1 -> Relu -> conv2 -> [middle: b -> c] -> mean -> Gemm -> Softmax."""
    nodes = [helper.make_node('Conv', ['x', 'w1', 'bias1'], ['c1'], name='conv1', pads=[1, 1, 1, 1]),
             helper.make_node(w.function, ['c1'], ['a'], name='act'),
             helper.make_node('Conv', ['a', 'w2', 'bias2'], ['b'], name='conv2'),
             *(middle[0] if middle else [helper.make_node('Identity', ['b'], ['c'])]),
             helper.make_node('GlobalAveragePool', ['c'], ['p'], name='pool'),
             helper.make_node('Flatten', ['p'], ['f']),
             helper.make_node('Gemm', ['f', 'w3', 'bias3'], ['logits'], name='head'),
             helper.make_node('Softmax', ['logits'], ['y'], axis=1)]
    constants = [constant('w1', w.first), constant('bias1', w.first_bias), constant('w2', w.second), constant('bias2', w.second_bias),
                 constant('w3', w.head), constant('bias3', w.head_bias), *(middle[1] if middle else [])]
    return save(folder / 'net.onnx', nodes, {'x': (1, 3, SIDE, SIDE)}, ('y',), constants)


def recipe(folder, **fields):
    text = RECIPE
    for key, value in fields.items():
        text = re.sub(rf'{key}: .*', f'{key}: {value}', text)
    (folder / 'recipe.yaml').write_text(text)
    return folder / 'recipe.yaml'


def on_pictures(folder, offset=0, **fields):
    """diagnose's words for pictures with labels and a recipe that may be wrong."""
    place, labels = pictures(folder, offset)
    return ['--dataset', place, '--labels', labels, '--preprocess', recipe(folder, **fields)]


def healthy(folder):
    return [write(folder, weights()), *on_pictures(folder)]


def wrong_mean(folder):
    return [write(folder, weights()), *on_pictures(folder, mean='[0]')]


def bgr_for_rgb(folder):
    return [write(folder, weights()), *on_pictures(folder, color='BGR')]


def unnormalised_input(folder):
    return [write(folder, weights()), *on_pictures(folder, mean='[0]', scale='[1]')]


def labels_off_by_one(folder):
    return [write(folder, weights()), *on_pictures(folder, offset=-1)]


def dead_channel(folder):
    w = weights()
    w.first[2], w.first_bias[2] = 0, 0
    return [write(folder, w), '--dataset', samples(folder)]


def nan_weight(folder):
    w = weights()
    w.second[4, 1] = np.nan
    return [write(folder, w), '--dataset', samples(folder)]


def outlier_sample(folder):
    def enlarge(array):
        array[17] *= 30
    return [write(folder, weights()), '--dataset', samples(folder, enlarge)]


def hidden_scale(folder):
    """Channels 600 times apart that the next layer takes back, and a table without --equalize."""
    w = weights()
    # A positive factor passes through Relu: the floats are the same.
    factors = np.array([600, 1, 1, 1, 1, 1], np.float32)
    w.first *= factors[:, None, None, None]
    w.first_bias *= factors
    w.second /= factors[None, :, None, None]
    model, data = write(folder, w), samples(folder)
    table = folder / 'table.yaml'
    pipeline.calibrate(model, data, table, extra=('--equalize', 'off'))
    return [model, '--dataset', data, '--calibration', table]


def clipped_head(folder):
    """A table whose logits end at a fifth of what they reach."""
    model, data = write(folder, weights()), samples(folder)
    table = folder / 'table.yaml'
    pipeline.calibrate(model, data, table)
    text = table.read_text()
    place = re.search(r'^ +logits: .*(?:\n {6,}.*)*', text, re.M) or re.search(r'^.*logits.*(?:\n {4,}.*)*', text, re.M)
    entry = re.sub(r'\b(threshold|low|high): ([-+.\de]+)', lambda found: f'{found[1]}: {float(found[2]) / 5!r}', place[0])
    assert entry != place[0], place[0]
    table.write_text(text.replace(place[0], entry))
    return [model, '--dataset', data, '--calibration', table]


def unlike_scales(folder):
    """Half of the channels 1/500 of the others where they are joined; the head takes it back."""
    w = weights()
    small, large = np.full((1, 4, 1, 1), 1 / 500, np.float32), np.full((1, 4, 1, 1), 1, np.float32)
    w.head[:4] *= 500
    nodes = [helper.make_node('Split', ['b', 'parts'], ['b0', 'b1'], axis=1),
             helper.make_node('HardSwish', ['b0'], ['h0']), helper.make_node('HardSwish', ['b1'], ['h1']),
             helper.make_node('Mul', ['h0', 'small'], ['s0']), helper.make_node('Mul', ['h1', 'large'], ['s1']),
             helper.make_node('Concat', ['s0', 's1'], ['c'], name='join', axis=1)]
    constants = [constant('parts', np.array([4, 4], np.int64)), constant('small', small), constant('large', large)]
    return [write(folder, w, (nodes, constants)), '--dataset', samples(folder)]


# Each with the rule that must name it, and the tensor, weight or sample where there is one.
ILLS = {wrong_mean: ('wrong-preprocessing', None), bgr_for_rgb: ('wrong-preprocessing', None),
        unnormalised_input: ('unnormalised-input', None), labels_off_by_one: ('label-offset', None),
        dead_channel: ('dead-channel', 'conv1'), nan_weight: ('bad-weight', 'w2'), outlier_sample: ('outlier-sample', 'x.npy:17'),
        hidden_scale: ('hidden-channel-scale', 'conv1'), clipped_head: ('clipped-head', 'logits'),
        unlike_scales: ('unlike-scales', 'join')}
