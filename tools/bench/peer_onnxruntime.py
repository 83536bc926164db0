"""ONNX Runtime: QDQ models by its own quantize_static; every optimization is on by default."""

import logging
import os

import numpy as np
import onnxruntime

# label -> (activation type, weight type, weights per channel). The first is what its documentation names for x86-64.
QUANTIZATIONS = {'u8s8 per channel': ('QUInt8', 'QInt8', True), 's8s8 per channel': ('QInt8', 'QInt8', True),
                 'u8s8 per tensor': ('QUInt8', 'QInt8', False), 'u8u8 per channel': ('QUInt8', 'QUInt8', True)}


def quantize(case, path, activation, weight, per_channel):
    from onnxruntime import quantization as q  # slow to import; workers do not need it

    class Reader(q.CalibrationDataReader):
        def __init__(self):
            self.rows = iter(np.load(case.samples))

        def get_next(self):
            row = next(self.rows, None)
            return None if row is None else {case.input_name: row[None]}

    logging.disable(logging.WARNING)
    q.quantize_static(str(case.onnx), str(path), Reader(), quant_format=q.QuantFormat.QDQ, per_channel=per_channel,
                      activation_type=getattr(q.QuantType, activation), weight_type=getattr(q.QuantType, weight))


def qdq(case, store, label):
    """The QDQ model, which other peers read too."""
    return store.file(f'{case.name}_ort.onnx', [case.onnx, case.samples],
                      [label, onnxruntime.__version__, 'minmax'],
                      lambda path: quantize(case, path, *QUANTIZATIONS[label]))


def models(case, store, dtype, quick):
    """[(label, options)], the default first."""
    if dtype == 'f32':
        return [('f32', {'file': str(case.onnx)})]
    labels = list(QUANTIZATIONS)[:1 if quick else None]
    return [(label, {'file': str(qdq(case, store, label))}) for label in labels]


def settings(_dtype, threads, quick):
    """[(label, options)], the default first."""
    found = [('default', {'threads': threads})]
    if quick:
        return found
    if threads == len(os.sched_getaffinity(0)):
        found.append(('its own threads', {'threads': 0}))  # pinned to the cores
    if threads > 1:
        found.append(('no spinning', {'threads': threads, 'config': {'session.intra_op.allow_spinning': '0'}}))
        found.append(('parallel', {'threads': threads, 'parallel': True}))
    found.append(('denormals are zero', {'threads': threads, 'config': {'session.set_denormal_as_zero': '1'}}))
    return found


def session(file, threads, config=None, parallel=False):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    if parallel:
        options.execution_mode = onnxruntime.ExecutionMode.ORT_PARALLEL
        options.inter_op_num_threads = threads
    for key, value in (config or {}).items():
        options.add_session_config_entry(key, value)
    return onnxruntime.InferenceSession(file, options, providers=['CPUExecutionProvider'])


class Model:
    """Inputs and outputs are bound once, so that a step is the inference alone."""

    def __init__(self, file, threads, config=None, parallel=False):
        self.session = session(file, threads, config, parallel)
        source = self.session.get_inputs()[0]
        self.name = source.name
        self.binding = self.session.io_binding()
        shape = [d if isinstance(d, int) else 1 for d in source.shape]
        self.binding.bind_ortvalue_input(
            self.name, onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(shape, np.float32)))
        for output in self.session.get_outputs():
            self.binding.bind_output(output.name)

    def step(self):
        self.session.run_with_iobinding(self.binding)

    def output(self, sample):
        return self.session.run(None, {self.name: sample})[0]
