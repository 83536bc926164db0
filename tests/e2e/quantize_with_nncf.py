"""Quantizes a float model with NNCF's ONNX backend: python quantize_with_nncf.py MODEL OUTPUT INPUTS.npy. Runs in an
environment that has nncf (build/benchvenv), not in that of the tests."""

import sys

import nncf
import numpy as np
import onnx


def main(model, output, inputs):
    float_model = onnx.load(model)
    if float_model.opset_import[0].version < 13:  # scales per channel
        float_model = onnx.version_converter.convert_version(float_model, 13)
    constants = {i.name for i in float_model.graph.initializer}
    name = next(i.name for i in float_model.graph.input if i.name not in constants)
    data = nncf.Dataset(list(np.load(inputs)), lambda sample: {name: sample})
    onnx.save(nncf.quantize(float_model, data, subset_size=8), output)


if __name__ == '__main__':
    main(*sys.argv[1:])
