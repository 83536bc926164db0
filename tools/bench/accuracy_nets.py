"""The networks of tools/accuracy.py: what each is calibrated and judged on, as arrays, the same for ours and for every peer."""

import dataclasses
import gzip
import pathlib
import random
import sys

import numpy as np
import onnx

from . import environment

sys.path.insert(0, str(environment.ROOT / 'tests/e2e'))
import detectors  # noqa: E402
import pipeline   # noqa: E402

SUFFIXES = ('.jpg', '.jpeg', '.png')


@dataclasses.dataclass(frozen=True)
class Net:
    name: str
    file: str              # below shared/models, or absolute
    figure: str            # top1: of labels; class, boxes, iou: agreement with float; decibels: of the outputs
    calibrate_on: tuple    # folders of shared/images, or one of ARRAYS, or 'fashion'
    judge_on: str
    samples: int           # of the calibration
    preprocess: str = ''
    postprocess: str = ''  # appended to the network
    label_offset: int = 0
    shape: tuple = ()      # of the input, where the model leaves it open
    encoder: bool = False  # has attention


def fashion(name, file='', **options):
    return Net('fashion_' + name, file or f'fashion/{name}.onnx', 'top1', ('fashion',), 'fashion', 500, 'fashion_mnist',
               **options)


def detector(case):
    return Net(case.name, case.file, 'boxes', case.calibrate_on, case.pictures, 200, case.name, case.name)


NETS = (
    fashion('resnet_prelu'), fashion('mobilenet_leaky'), fashion('mobilenet_hostile'),
    fashion('mobilenet_hostile_before_rescale'), fashion('vit_tiny', encoder=True),
    fashion('mobilenet_v3', file=str(environment.ROOT / 'examples/fashion_mnist/mobilenet_v3.onnx')),
    Net('squeezenet_1_1', 'squeezenet_1_1/squeezenet_1_1.onnx', 'top1', ('calibration',), 'imagenet_val', 100, 'squeezenet_1_1'),
    Net('mobilenet_v2', 'mobilenet_v2/mobilenet_v2_float.onnx', 'top1', ('calibration',), 'imagenet_val', 100, 'mobilenet_v2',
        label_offset=1),
    Net('mobilenet_v1_025', 'mobilenet_v1_025/mobilenet_v1_025_float.onnx', 'top1', ('calibration',), 'imagenet_val', 100,
        'mobilenet_v1_025', label_offset=1),
    Net('resnet8_cifar10', 'resnet8_cifar10/pretrainedResnet_float.onnx', 'class', ('calibration',), 'imagenet_val', 100,
        'resnet8_cifar10'),
    Net('vww96', 'vww96/vww_96_float_float.onnx', 'class', ('faces',), 'imagenet_val', 100, 'vww96'),
    Net('dscnn_keywords', 'dscnn_keywords/kws_ref_model_float32_float.onnx', 'class', ('noise',), 'noise', 100),
    Net('autoencoder_ad01', 'autoencoder_ad01/ad01_fp32_float.onnx', 'decibels', ('noise',), 'noise', 100),
    *map(detector, detectors.DETECTORS),
    Net('deeplabv3_dm05', 'deeplabv3_dm05/deeplabv3_dm05_float.onnx', 'iou', ('calibration',), 'coco', 40, 'deeplabv3_dm05'),
    Net('superres_x3', 'superres_x3/pytorch_super_resolution.onnx', 'decibels', ('calibration',), 'coco', 20, 'superres_x3',
        shape=(1, 1, 224, 224)),
    Net('denoiser', str(environment.ROOT / 'examples/denoiser/denoiser.onnx'), 'decibels', ('fashion noise',), 'fashion noise', 200),
    Net('ppocr_recognition', 'ppocr_v2/en_number_mobile_v2.0_rec_infer.onnx', 'decibels', ('text',), 'text', 100, shape=(1, 3, 32, 320)),
)


@dataclasses.dataclass(frozen=True)
class Task:
    """A network as files: its model, with open dimensions set, and arrays [N, ...] that go in."""
    net: Net
    model: pathlib.Path
    calibration: pathlib.Path
    judged: pathlib.Path
    labels: object  # [N], or None
    folder: pathlib.Path

    @property
    def appended(self):
        return ('--append', detectors.POSTPROCESS / f'{self.net.postprocess}.onnx') if self.net.postprocess else ()


def entry_of(model):
    constants = {tensor.name for tensor in model.graph.initializer}
    return next(value for value in model.graph.input if value.name not in constants)


def _closed(net, shared, folder):
    """The model with a batch of 1: peers quantize no open shape."""
    model = onnx.load(shared / 'models' / net.file)
    entry = entry_of(model)
    for i, dim in enumerate(entry.type.tensor_type.shape.dim):
        if net.shape:
            dim.dim_value = net.shape[i]
        elif i == 0 and not dim.dim_value:
            dim.dim_value = 1
    if net.shape:
        for value in model.graph.output:
            value.type.tensor_type.ClearField('shape')
    onnx.save(onnx.shape_inference.infer_shapes(model), folder / 'net.onnx')
    return entry


def _pictures(folders, count):
    """All pictures of the folders in order of their names, or a seeded choice of them."""
    found = sorted(path for folder in folders for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    return found if count is None or count >= len(found) else sorted(random.Random(0).sample(found, count))


def _prepared(net, entry, pictures, folder):
    """What the recorded preprocessing makes of pictures: a program that hands its input on."""
    shape = [dim.dim_value for dim in entry.type.tensor_type.shape.dim]
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name in (entry.name, 'same')]
    graph = onnx.helper.make_graph([onnx.helper.make_node('Identity', [entry.name], ['same'])], 'same', values[:1], values[1:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', 13)]), folder / 'same.onnx')
    pipeline.deploy(folder / 'same.onnx', folder / 'same.rshift', mode='f32',
                    preprocess=pipeline.PREPROCESS / f'{net.preprocess}.yaml')
    pipeline.run('model_runner', folder / 'same.rshift', '--dataset', *pictures, '--output', folder / 'same.npz', timeout=1800)
    return pipeline.single(folder / 'same.npz').reshape(-1, *shape[1:])


def _noise(entry, count, seed):
    """Smooth along time, in the place of recordings that are not at hand."""
    shape = [dim.dim_value for dim in entry.type.tensor_type.shape.dim][1:]
    generator, count = np.random.default_rng(seed), count or 500
    steps = generator.normal(0, 12, (count, *shape)).cumsum(axis=min(2, len(shape))) / 4
    return (steps + generator.normal(0, 8, (count, *shape))).astype(np.float32)


def _noisy_clothes(entry, count, seed):
    """What examples/denoiser was trained for."""
    del entry
    with gzip.open(pipeline.TRAIN_IMAGES if count else pipeline.TEST_IMAGES) as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)[:count or 1000]
    clean = np.pad(pixels.astype(np.float32) / 255, ((0, 0), (0, 0), (2, 2), (2, 2)))
    return clean + np.random.default_rng(seed).normal(0, 0.2, clean.shape).astype(np.float32)


def _text(entry, count, seed):
    """Lines of letters and digits, dark on light, from -1 to 1."""
    import cv2
    _, channels, height, width = (dim.dim_value for dim in entry.type.tensor_type.shape.dim)
    generator = np.random.default_rng(seed)
    letters = np.array(list('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'))
    lines = []
    for _ in range(count or 200):
        picture = np.full((height, width, channels), int(generator.integers(170, 256)), np.uint8)
        ink = tuple(int(v) for v in generator.integers(0, 90, channels))
        line = ''.join(generator.choice(letters, int(generator.integers(5, 14))))
        cv2.putText(picture, line, (int(generator.integers(2, 12)), 24), cv2.FONT_HERSHEY_SIMPLEX, 0.8, ink, 2, cv2.LINE_AA)
        noisy = picture + generator.normal(0, 6, picture.shape)
        lines.append(((np.clip(noisy, 0, 255) / 255 - 0.5) / 0.5).transpose(2, 0, 1))
    return np.array(lines, np.float32)


# Made here, of (input, how many or None for those that are judged, seed).
ARRAYS = {'noise': _noise, 'fashion noise': _noisy_clothes, 'text': _text}


def _arrays(net, shared, entry, kinds, count, seed, folder):
    if kinds == ('fashion',):
        images = _prepared(net, entry, [pipeline.TRAIN_IMAGES if count else pipeline.TEST_IMAGES], folder)
        return images[np.sort(np.random.default_rng(0).choice(len(images), count, replace=False))] if count else images
    if kinds[0] in ARRAYS:
        return ARRAYS[kinds[0]](entry, count, seed)
    return _prepared(net, entry, _pictures([shared / 'images' / kind for kind in kinds], count), folder)


def _labels(net, shared):
    if net.figure != 'top1':
        return None
    if net.judge_on == 'fashion':
        with gzip.open(pipeline.TEST_LABELS) as file:
            return np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)
    lines = (shared / 'images' / net.judge_on / 'labels.txt').read_text().splitlines()
    of = dict(line.rsplit(' ', 1) for line in lines if line.strip())
    return np.array([int(of[path.name]) + net.label_offset for path in _pictures([shared / 'images' / net.judge_on], None)])


def prepare(net, shared, folder):
    folder.mkdir(parents=True, exist_ok=True)
    entry = _closed(net, shared, folder)
    for name, kinds, count, seed in (('calibration', net.calibrate_on, net.samples, 0), ('judged', (net.judge_on,), None, 1)):
        np.save(folder / f'{name}.npy', _arrays(net, shared, entry, kinds, count, seed, folder))
    return Task(net, folder / 'net.onnx', folder / 'calibration.npy', folder / 'judged.npy', _labels(net, shared), folder)
