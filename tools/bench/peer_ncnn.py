"""ncnn: float and int8 models written by ncnn_writer (its converters are not in its Python package)."""

import pathlib

import ncnn
import numpy as np

from bench import chain


def _write(case, path, dtype):
    from bench import ncnn_writer

    layers = chain.read(case.onnx)
    ranges = chain.ranges(case.onnx, layers, np.load(case.samples)) if dtype == 'int8' else None
    text, weights = ncnn_writer.write(layers, ranges)
    np.savez(path, param=np.frombuffer(text.encode(), np.uint8), bin=np.frombuffer(weights, np.uint8),
             shape=layers[0].shape, names=np.array([layers[0].output, layers[-1].output]))


def models(case, store, dtype, _quick):
    """[(label, options)], the default first."""
    here = pathlib.Path(__file__).parent
    file = store.file(f'{case.name}_{dtype}_ncnn.npz',
                      [case.onnx, case.samples, here / 'chain.py', here / 'ncnn_writer.py'],
                      [dtype, ncnn.__version__], lambda path: _write(case, path, dtype))
    return [(f'{dtype} weights', {'file': str(file)})]


def settings(_dtype, threads, quick):
    """[(label, options)], the default first."""
    found = [('default', {'threads': threads})]
    if not quick:
        found += [('no Winograd', {'threads': threads, 'set_options': {'use_winograd_convolution': False}}),
                  ('no sgemm', {'threads': threads, 'set_options': {'use_sgemm_convolution': False}})]
    return found


class Model:
    def __init__(self, file, threads, set_options=None):
        self.net = ncnn.Net()
        self.net.opt.num_threads = threads
        # Half precision would be another data type than the row says.
        self.net.opt.use_fp16_storage = self.net.opt.use_fp16_arithmetic = self.net.opt.use_fp16_packed = False
        for name, value in (set_options or {}).items():
            setattr(self.net.opt, name, value)
        with np.load(file) as files:
            self.source, self.target = map(str, files['names'])
            shape = files['shape'].tolist()
            self.param, self.weights = files['param'].tobytes().decode(), files['bin'].tobytes()
        if self.net.load_param_mem(self.param) != 0:
            raise RuntimeError(f'{file}: ncnn refuses the graph')
        self.net.load_model_mem(self.weights)
        self.image = ncnn.Mat(np.zeros(shape, np.float32))

    def step(self):
        extractor = self.net.create_extractor()
        extractor.input(self.source, self.image)
        return extractor.extract(self.target)[1]

    def output(self, sample):
        self.image = ncnn.Mat(np.ascontiguousarray(sample[0]))
        return np.array(self.step())[None]
