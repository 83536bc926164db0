"""LiteRT with XNNPACK: the .tflite files of the real models as they are, and models written by tflite_writer.

XNNPACK takes int8 and leaves uint8 to the slower kernels: where the file is uint8, the written model is the best
setting.
"""

import contextlib
import importlib.metadata
import pathlib

import numpy as np
from ai_edge_litert import interpreter

from bench import chain

_RESOLVERS = {'XNNPACK': interpreter.OpResolverType.BUILTIN,
              'ruy': interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES}


def _write(case, path, dtype):
    from bench import tflite_writer  # its schema is slow to import; workers do not need it

    layers = chain.read(case.onnx)
    ranges = chain.ranges(case.onnx, layers, np.load(case.samples)) if dtype == 'int8' else None
    path.write_bytes(tflite_writer.write(layers, ranges))


def models(case, store, dtype, quick):
    """[(label, options)], the default first."""
    if dtype == 'f32' or case.tflite is None:
        return [_written(case, store, dtype)]
    found = [('its own .tflite', {'file': str(case.tflite)})]
    if not quick:
        with contextlib.suppress(chain.Unconvertible):
            found.append(_written(case, store, dtype))
    return found


def _written(case, store, dtype):
    here = pathlib.Path(__file__).parent
    file = store.file(f'{case.name}_{dtype}.tflite',
                      [case.onnx, case.samples, here / 'chain.py', here / 'tflite_writer.py'],
                      [dtype, importlib.metadata.version('ai-edge-litert')],
                      lambda path: _write(case, path, dtype))
    return 'per channel' if dtype == 'int8' else 'f32', {'file': str(file)}


def settings(_dtype, threads, quick):
    """[(label, options)], the default first."""
    return [(name, {'threads': threads, 'resolver': name}) for name in list(_RESOLVERS)[:1 if quick else None]]


class Model:
    """Takes and gives NCHW floats, whatever the model has."""

    def __init__(self, file, threads, resolver):
        self.made = interpreter.Interpreter(model_path=file, num_threads=threads,
                                            experimental_op_resolver_type=_RESOLVERS[resolver])
        self.made.allocate_tensors()
        self.step = self.made.invoke

    def output(self, sample):
        source, result = self.made.get_input_details()[0], self.made.get_output_details()[0]
        x = sample.transpose(0, 2, 3, 1) if sample.ndim == 4 and source['shape'][1] != sample.shape[1] else sample
        if source['dtype'] != np.float32:
            scale, zero = source['quantization']
            limits = np.iinfo(source['dtype'])
            x = np.clip(np.round(x / scale) + zero, limits.min, limits.max).astype(source['dtype'])
        self.made.set_tensor(source['index'], np.ascontiguousarray(x.reshape(source['shape'])))
        self.made.invoke()
        y = self.made.get_tensor(result['index'])
        if result['dtype'] != np.float32:
            scale, zero = result['quantization']
            y = (y.astype(np.float32) - zero) * scale
        return y.transpose(0, 3, 1, 2) if y.ndim == 4 else y
