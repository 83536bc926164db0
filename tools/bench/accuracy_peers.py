"""Quantizers of other tools for tools/accuracy.py, and their runtimes: ONNX Runtime, and OpenVINO for NNCF."""

import contextlib
import io
import logging
import os

import numpy as np
import onnx
import onnxruntime
from onnxruntime import quantization
from onnxruntime.quantization.shape_inference import quant_pre_process

from .accuracy_nets import entry_of

METHODS = {'minmax': quantization.CalibrationMethod.MinMax, 'entropy': quantization.CalibrationMethod.Entropy,
           'percentile': quantization.CalibrationMethod.Percentile}


class Reader(quantization.CalibrationDataReader):
    def __init__(self, name, samples):
        self.left = iter([{name: sample[None]} for sample in samples])

    def get_next(self):
        return next(self.left, None)


def _prepared_model(task):
    """Opset 13 for scales a channel, and what ONNX Runtime asks to be done before quantization."""
    model = onnx.load(task.model)
    if model.opset_import[0].version < 13:
        model = onnx.version_converter.convert_version(model, 13)
    onnx.save(model, task.folder / 'opset13.onnx')
    prepared = task.folder / 'prepared.onnx'
    quant_pre_process(str(task.folder / 'opset13.onnx'), str(prepared), skip_symbolic_shape=True)
    return prepared


def _onnxruntime(task, symmetric, method):
    prepared, made = _prepared_model(task), task.folder / 'peer.onnx'
    reader = Reader(entry_of(onnx.load(prepared)).name, np.load(task.calibration))
    quantization.quantize_static(
        str(prepared), str(made), reader, quant_format=quantization.QuantFormat.QDQ, per_channel=True,
        activation_type=quantization.QuantType.QInt8 if symmetric else quantization.QuantType.QUInt8,
        weight_type=quantization.QuantType.QInt8, calibrate_method=METHODS[method],
        extra_options={'ActivationSymmetric': symmetric, 'WeightSymmetric': True})
    return made


def _nncf(task, symmetric, kind):
    """NNCF on its own framework, OpenVINO: its ONNX backend has no full bias correction for models with shared results."""
    import nncf  # both take seconds
    import openvino
    model = openvino.convert_model(task.model)
    samples = np.load(task.calibration)
    return nncf.quantize(
        model, nncf.Dataset([sample[None] for sample in samples]), subset_size=len(samples),
        preset=nncf.QuantizationPreset.PERFORMANCE if symmetric else nncf.QuantizationPreset.MIXED,
        fast_bias_correction=kind != 'full', model_type=nncf.ModelType.TRANSFORMER if kind == 'transformer' else None)


PEERS = {**{f'ORT {method}': (_onnxruntime, method) for method in METHODS},
         'NNCF': (_nncf, 'fast'), 'NNCF full': (_nncf, 'full'), 'NNCF transformer': (_nncf, 'transformer')}


def quantize(peer, task, symmetric):
    """The model that the peer makes, for run(); what it prints is dropped."""
    make, how = PEERS[peer]
    logging.disable(logging.WARNING)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return make(task, symmetric, how)


def _session(model):
    """A function from one input to {output: array}."""
    if not isinstance(model, (str, os.PathLike)):
        import openvino
        compiled = openvino.Core().compile_model(model, 'CPU', {'INFERENCE_PRECISION_HINT': 'f32', 'INFERENCE_NUM_THREADS': 1})
        return lambda sample: {output.any_name: array for output, array in compiled(sample).items()}
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), settings, providers=['CPUExecutionProvider'])
    names, entries = [o.name for o in session.get_outputs()], [i.name for i in session.get_inputs()]
    sources = session.get_modelmeta().custom_metadata_map  # of a model that is appended: which output an input reads
    return lambda given: dict(zip(names, session.run(
        None, {entry: given[sources.get('append:' + entry, entry)] for entry in entries} if isinstance(given, dict)
        else {entries[0]: given})))


def run(model, inputs, append=None):
    """[{output: array}] of a QDQ model or what NNCF made, one sample at a time; `append`: a model that reads the outputs by name."""
    first, after = _session(model), _session(append) if append else None
    rows = (first(sample[None]) for sample in inputs)
    return [after(row) for row in rows] if after else list(rows)
