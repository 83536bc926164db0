"""ONNX Runtime at its default optimisation level on QDQ models: the profile onnxruntime."""

import collections
import os
import tempfile

import numpy as np
import onnx
import onnxruntime

from frameworks import qdq_builder


NAME = f'ONNX Runtime {onnxruntime.__version__}'


def exact_sums(model=None):
    """SessionOptions under which CPUs without VNNI sum products of s8 weights as others do.

    Their kernels for u8 activations and s8 weights add two products in 16 bits, which saturate. The option makes the
    weights u8 too, also those of s8 activations, which have no such kernel and are exact as they are: a model
    with QLinear nodes of these is left alone.
    """
    options = onnxruntime.SessionOptions()
    zeros = {n.input[2] for n in model.graph.node if n.op_type.startswith(('QLinear', 'QGemm'))} if model else set()
    constants = model.graph.initializer if model else ()
    if not any(t.name in zeros and t.data_type == onnx.TensorProto.INT8 for t in constants):
        options.add_session_config_entry('session.x64quantprecision', '1')
    return options


class Reader:
    """Samples, {input: array} each, for the calibration of onnxruntime.quantization."""

    def __init__(self, samples):
        self.left = iter(samples)

    def get_next(self):
        return next(self.left, None)


def session(model, optimized=None):
    """optimized: where to write the optimized model."""
    options = exact_sums()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    if optimized:
        options.optimized_model_filepath = str(optimized)
    content = model if isinstance(model, bytes) else model.SerializeToString()
    return onnxruntime.InferenceSession(content, options, providers=['CPUExecutionProvider'])


def optimized_operators(model):
    """{operator: count} of the graph that ONNX Runtime really runs."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'optimized.onnx')
        session(model, path)
        return dict(collections.Counter(n.op_type for n in onnx.load(path).graph.node))


def run(case):
    """The output bytes of a case, NHWC."""
    y = session(qdq_builder.build(case)).run(None, qdq_builder.feeds(case))[0]
    return qdq_builder.to_nhwc(qdq_builder.bytes_of(np.asarray(y), case.output_quant))
