"""Whole quantized models: every tensor of our program against LiteRT and ONNX Runtime, on photographs.

The *_qdq.onnx go through model_deploy with each live profile; LiteRT runs the .tflite beside them in
each of its three ways, ONNX Runtime the QDQ file. Compared are the bytes of every activation.
"""

import dataclasses

import cv2
import numpy as np
import onnx
import pytest

import oracle
import pipeline
from frameworks import ort, qdq_builder, whole
from frameworks.case import LIMITS, NUMPY, quant
from frameworks.table import table  # noqa: F401  pylint: disable=unused-import

LITERT = ('tflite-ref', 'tflite-ruy', 'tflite-xnnpack')


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    folder: str
    qdq: str
    tflite: str
    images: int


MODELS = {m.name: m for m in (
    Model('mobilenet_v2', 'mobilenet_v2', 'mobilenet_v2_qdq', 'mobilenet_v2_uint8', 4),
    Model('resnet8', 'resnet8_cifar10', 'pretrainedResnet_quant_qdq', 'pretrainedResnet_quant', 20),
    Model('vww96', 'vww96', 'vww_96_int8_qdq', 'vww_96_int8', 10),
    Model('mobilenet_v1_025', 'mobilenet_v1_025', 'mobilenet_v1_025_qdq',
          'mobilenet_v1_0.25_128_quant', 10),
    Model('kws', 'dscnn_keywords', 'kws_ref_model_qdq', 'kws_ref_model', 20),
    Model('ad01', 'autoencoder_ad01', 'ad01_int8_qdq', 'ad01_int8', 20))}


def input_quant(model):
    """(Quant, shape NCHW) of the model's only input."""
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    entry = next(n for n in model.graph.node if n.op_type == 'QuantizeLinear'
                 and n.input[0] == model.graph.input[0].name)
    scale, zero = (constants[name].reshape(-1)[0] for name in entry.input[1:])
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    return quant('s8' if zero.dtype == np.int8 else 'u8', scale, zero), shape


def photographs(shared, count, kind, shape):
    """`count` photographs as bytes of the input's type, NHWC."""
    images = []
    for path in oracle.photographs(shared / 'images/imagenet_val', count):
        image = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)
        side = min(image.shape[:2])
        if len(shape) == 4 and shape[1] == 3:
            image = cv2.resize(image[:side, :side], (shape[3], shape[2]), interpolation=cv2.INTER_AREA)
        else:  # no image goes in: grey bytes in the shape of the features
            image = cv2.resize(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), (int(np.prod(shape)), 1))
            image = image.reshape(shape) if len(shape) != 4 else \
                image.reshape(shape[0], *shape[2:], shape[1])
        image = image.reshape(1, *image.shape) if image.ndim == 3 else image
        images.append((image.astype(np.int16) + LIMITS[kind][0]).astype(NUMPY[kind]))
    return images


class Ours:
    """A program of one profile."""

    def __init__(self, path, profile, folder):
        self.folder, self.program = folder, folder / 'model.rshift'
        pipeline.run('model_deploy', path, '--profile', profile, '-o', self.program)

    def tensors(self, name, x, names):
        """({N: bytes NHWC}, the float output) for a float input NCHW."""
        dump = self.folder / 'all.npz'
        output = pipeline.infer(self.program, {name: x}, self.folder, '--threads', '1', '--raw',
                                '--dump-tensors', dump)
        with np.load(dump) as found:
            tensors = {n: qdq_builder.to_nhwc(found[key]) for n, key in names.items()}
        return tensors, next(iter(output.values()))


class Layers:
    """Equal and differing bytes of each tensor."""

    def __init__(self):
        self.bytes, self.wrong = {}, {}

    def add(self, tensors, theirs):
        for n, actual in tensors.items():
            assert actual.dtype == theirs[n].dtype and actual.shape == theirs[n].shape, n
            self.bytes[n] = self.bytes.get(n, 0) + actual.size
            self.wrong[n] = self.wrong.get(n, 0) + int((actual != theirs[n]).sum())

    def row(self):
        """What a row of the table says."""
        return {'elements': sum(self.bytes.values()), 'mismatches': sum(self.wrong.values()),
                'layers': {f't{n}': [self.bytes[n] - self.wrong[n], self.bytes[n]]
                           for n in self.bytes}}

    def faults(self):
        return [f't{n}: {self.wrong[n]} of {self.bytes[n]} bytes differ'
                for n in self.bytes if self.wrong[n]]


def load(shared, name):
    """(Model, path of the QDQ file, its ModelProto, {N: name}, input's Quant, photographs)."""
    model = MODELS[name]
    path = shared / 'models' / model.folder / f'{model.qdq}.onnx'
    proto = onnx.load(path)
    q, shape = input_quant(proto)
    images = photographs(shared, model.images, q.type, shape)
    return model, path, proto, whole.quantized_names(proto), q, images


def finish(layers, extra, report, table, **keys):  # noqa: F811
    row = layers.row()
    table(**keys, **row)
    share = 1 - row['mismatches'] / row['elements']
    report(f"{keys['profile']:15} {keys['operator']:17} {len(row['layers'])} tensors, "
           f"{row['elements']:,} bytes: {100 * share:.4f} % equal {' '.join(extra)}")
    assert not layers.faults(), '\n'.join(layers.faults())


@pytest.mark.parametrize('profile', LITERT)
@pytest.mark.parametrize('name', MODELS)
def test_litert(shared, name, profile, tmp_path, table, report):  # noqa: F811
    litert = pytest.importorskip('frameworks.litert', reason='ai-edge-litert is not installed')
    model, path, proto, names, q, images = load(shared, name)
    content = (shared / 'models' / model.folder / f'{model.tflite}.tflite').read_bytes()
    ours, theirs = Ours(path, profile, tmp_path), litert.Model(content, profile)
    layers = Layers()
    for image in images:
        x = qdq_builder.to_nchw(qdq_builder.real(image, q))
        tensors, _ = ours.tensors(proto.graph.input[0].name, x, names)
        layers.add(tensors, theirs.tensors(image, names))
        last, output = theirs.output(image)
        layers.add({last: tensors[last]}, {last: output})  # the delegate holding the whole graph
    finish(layers, [], report, table, profile=profile, operator=name, type=q.type,
           oracle='LiteRT 2.3.0')


@pytest.mark.parametrize('name', MODELS)
def test_onnxruntime(shared, name, tmp_path, table, report):  # noqa: F811
    _, path, proto, names, q, images = load(shared, name)
    ours, theirs = Ours(path, 'onnxruntime', tmp_path), whole.OnnxRuntime(proto)
    float_operators = {'Conv', 'FusedConv', 'Gemm', 'FusedGemm', 'Add'}
    assert not float_operators & {*theirs.operators, *theirs.operators_inside}, theirs.operators
    layers, as_it_is = Layers(), 0
    for image in images:
        x = qdq_builder.to_nchw(qdq_builder.real(image, q))
        tensors, output = ours.tensors(proto.graph.input[0].name, x, names)
        layers.add(tensors, {n: qdq_builder.to_nhwc(v) for n, v in theirs.tensors(x).items()})
        original, unsigned = theirs.outputs(x)
        assert (output == unsigned).all()
        as_it_is += int((output != original).sum())
    extra = [f'(outputs of the file as it is: {as_it_is} differ, '
             f'{theirs.float_convolutions} Conv of it run in float)']
    finish(layers, extra, report, table, profile='onnxruntime', operator=name, type=q.type,
           oracle=ort.NAME)
