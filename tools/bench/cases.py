"""The models that are timed: float ONNX, data to calibrate on, one input to compare outputs with."""

import dataclasses
import pathlib

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime

from bench import networks, ours, transformers
from bench.environment import ROOT

GRAPHS = ('resnet50', 'mobilenet_v1', 'mobilenet_v2', 'squeezenet_1_1', *transformers.NETWORKS)
# Below $RSHIFT_SHARED: float model, configs/preprocess file, photographs, .tflite of the same network.
REAL = {
    'squeezenet_1_1_real': ('squeezenet_1_1/squeezenet_1_1.onnx', 'squeezenet_1_1', 'calibration', None),
    'mobilenet_v2_real': ('mobilenet_v2/mobilenet_v2_float.onnx', 'mobilenet_v2', 'calibration',
                          'mobilenet_v2/mobilenet_v2_uint8.tflite'),
    'mobilenet_v1_025_real': ('mobilenet_v1_025/mobilenet_v1_025_float.onnx', 'mobilenet_v1_025', 'calibration',
                              'mobilenet_v1_025/mobilenet_v1_0.25_128_quant.tflite'),
    'resnet8_real': ('resnet8_cifar10/pretrainedResnet_float.onnx', 'resnet8_cifar10', 'calibration',
                     'resnet8_cifar10/pretrainedResnet_quant.tflite'),
    'vww96_real': ('vww96/vww_96_float_float.onnx', 'vww96', 'faces', 'vww96/vww_96_int8.tflite'),
    'ultraface_real': ('ultraface_rfb320/version-RFB-320_simplified.onnx', 'ultraface_rfb320', 'faces', None),
}
SAMPLES = 16


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    onnx: pathlib.Path       # float, one input, batch 1
    samples: pathlib.Path    # .npy [samples, ...]: calibration; the first is the input that is compared
    input_name: str
    tflite: pathlib.Path | None = None  # the network as its makers quantized it


def names(shared):
    """All models there are; the real ones only where their files exist."""
    real = [name for name, (file, *_) in REAL.items() if (shared / 'models' / file).exists()]
    return [*GRAPHS, *real]


def _image_like(shape, seed):
    """Seeded noise with large and small structures, of about unit variance."""
    rng = np.random.default_rng(seed)
    if len(shape) != 4:  # tokens
        return rng.standard_normal(shape).astype(np.float32)
    n, c, h, w = shape
    coarse = rng.standard_normal((n, c, -(-h // 16), -(-w // 16))).repeat(16, 2).repeat(16, 3)[:, :, :h, :w]
    return (0.8 * coarse + 0.6 * rng.standard_normal(shape)).astype(np.float32)


def _make_graph(name, store):
    builders = networks if name in networks.NETWORKS else transformers
    model = store.file(f'{name}.onnx', [pathlib.Path(builders.__file__)], name,
                       lambda path: onnx.save(builders.NETWORKS[name](), str(path)))
    shape = [d.dim_value for d in onnx.load(model, load_external_data=False).graph.input[0].type.tensor_type.shape.dim]
    shape[0] = SAMPLES
    samples = store.file(f'{name}_samples.npy', [], ['image_like', shape, 1],
                         lambda path: np.save(path, _image_like(shape, 1)))
    return Case(name, model, samples, 'data')


def _modern(source, path):
    """A copy whose opset knows quantization per channel, which the quantizers want, its constant parts folded."""
    model = onnx.load(source)
    if any(o.domain in ('', 'ai.onnx') and o.version < networks.OPSET for o in model.opset_import):
        model = onnx.version_converter.convert_version(model, networks.OPSET)
    constants = {t.name for t in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in constants]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath, options.log_severity_level = str(path), 3
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=['CPUExecutionProvider'])


def _make_real(name, store, shared, programs):
    file, recipe, folder, tflite = REAL[name]
    model = store.file(f'{name}.onnx', [shared / 'models' / file], ['folded', networks.OPSET, onnxruntime.__version__],
                       lambda path: _modern(shared / 'models' / file, path))
    graph = onnx.load(model).graph
    constants = {t.name for t in graph.initializer}
    (source,) = [i for i in graph.input if i.name not in constants]
    photographs = sorted(p for p in (shared / 'images' / folder).glob('*')
                         if p.suffix.lower() in ('.jpg', '.jpeg', '.png'))[:SAMPLES]
    if not photographs:
        raise SystemExit(f'error: {shared / "images" / folder}: no photographs to calibrate {name} on')
    preprocess = ROOT / 'configs/preprocess' / f'{recipe}.yaml'
    samples = store.file(f'{name}_samples.npy', [model, preprocess, *photographs], 'preprocessed',
                         lambda path: ours.preprocess(programs, source, preprocess, photographs, path))
    return Case(name, model, samples, source.name, shared / 'models' / tflite if tflite else None)


def make(name, store, shared, programs):
    if name in networks.NETWORKS or name in transformers.NETWORKS:
        return _make_graph(name, store)
    return _make_real(name, store, shared, programs)
