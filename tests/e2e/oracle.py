"""The independent side of the comparison: images through OpenCV, models through ONNX Runtime."""

import gzip
import re

import cv2
import numpy as np
import onnx
import onnxruntime

import pipeline

IMAGE_SUFFIXES = ('.jpg', '.jpeg', '.png')


def read_recipe(path):
    """The one input of a configs/preprocess file, as a dictionary."""
    text = path.read_text()

    def field(pattern):
        found = re.search(pattern, text)
        return found.groups() if found else None

    height, width, mode = field(r'resize: \{height: (\d+), width: (\d+), mode: (\w+)[,}]')
    fill = field(r'fill: \[?([\d, ]+)\]?[,}]')
    crop = field(r'crop: \{height: (\d+), width: (\d+)\}')
    return {
        'name': field(r'name: (\S+)')[0],
        'color': field(r'color: (\w+)')[0],
        'resize': (int(height), int(width)),
        'mode': mode,
        'fill': [int(pixel) for pixel in fill[0].strip(', ').split(', ')] if fill else [0],
        'align': (field(r'align: ([\w-]+)') or ('center',))[0],
        'crop': tuple(map(int, crop)) if crop else None,
        'mean': np.float32(field(r'mean: \[(.*)\]')[0].split(', ')),
        'scale': np.float32(field(r'scale: \[(.*)\]')[0].split(', ')),
    }


def read_image(path, recipe):
    """A preprocessed image, float32 [1,C,H,W]."""
    gray = recipe['color'] == 'GRAY'
    image = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE if gray else cv2.IMREAD_COLOR)
    if recipe['color'] == 'RGB':
        image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
    height, width = recipe['resize']
    if recipe['mode'] == 'short_side':
        factor = height / min(image.shape[:2])
        height, width = (round(side * factor) for side in image.shape[:2])
    if recipe['mode'] == 'letterbox':
        factor = min(height / image.shape[0], width / image.shape[1])
        inner = [round(side * factor) for side in image.shape[:2]]
        rows, columns = height - inner[0], width - inner[1]
        image = cv2.resize(image, inner[::-1], interpolation=cv2.INTER_LINEAR)
        top, left = (rows // 2, columns // 2) if recipe['align'] == 'center' else (0, 0)
        fill = recipe['fill'] * (3 if len(recipe['fill']) == 1 else 1)
        image = cv2.copyMakeBorder(image, top, rows - top, left, columns - left, cv2.BORDER_CONSTANT, value=fill)
    else:
        image = cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR)
    if recipe['crop']:
        ch, cw = recipe['crop']
        top, left = (height - ch) // 2, (width - cw) // 2
        image = image[top:top + ch, left:left + cw]
    image = image.reshape(*image.shape[:2], -1).astype(np.float32)
    return ((image - recipe['mean']) * recipe['scale']).transpose(2, 0, 1)[None]


def sqnr(actual, expected):
    """Signal to noise in dB."""
    actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
    noise = np.sum((actual - expected) ** 2)
    return float(10 * np.log10(np.sum(expected ** 2) / noise)) if noise else np.inf


def photographs(folder, count):
    """The first `count` images of a folder, by name."""
    found = sorted(p for p in folder.iterdir() if p.suffix.lower() in IMAGE_SUFFIXES)
    assert len(found) >= count, f'{folder} holds {len(found)} images'
    return found[:count]


def fashion_images(path=pipeline.TEST_IMAGES, count=None):
    """Preprocessed Fashion-MNIST images, float32 [N,1,28,28]."""
    with gzip.open(path) as f:
        pixels = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)[:count]
    recipe = read_recipe(pipeline.PREPROCESS / 'fashion_mnist.yaml')
    return (pixels.astype(np.float32) - recipe['mean'][0]) * recipe['scale'][0]


def samples(case, shared, count):
    """`count` preprocessed inputs of a models.Case, each [1,C,H,W]."""
    if case.evaluate_on == 'fashion':
        return list(fashion_images(count=count)[:, None])
    recipe = read_recipe(case.preprocess)
    folder = shared / 'images' / case.evaluate_on
    return [read_image(path, recipe) for path in photographs(folder, count)]


def widen(model):
    """A copy of an fp16 model with float32 weights, inputs and outputs: the same real numbers."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    half, single = onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT
    for tensor in wide.graph.initializer:
        if tensor.data_type == half:
            values = onnx.numpy_helper.to_array(tensor).astype(np.float32)
            tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))
    for value in (*wide.graph.input, *wide.graph.output, *wide.graph.value_info):
        if value.type.tensor_type.elem_type == half:
            value.type.tensor_type.elem_type = single
    return wide


class Session:
    """ONNX Runtime on one model, in float32, without graph optimisation."""

    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 2
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        model = widen(onnx.load(path))
        self._session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        self.input = self._session.get_inputs()[0].name

    def __call__(self, x):
        names = [output.name for output in self._session.get_outputs()]
        return dict(zip(names, self._session.run(None, {self.input: x})))


def relative_error(actual, expected):
    """max |a - b| / max |b|; shapes must be equal."""
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    assert np.isfinite(actual).all()
    return float(np.abs(actual - expected).max() / np.abs(expected).max())
