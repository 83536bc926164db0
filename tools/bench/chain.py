"""A float ONNX model as the few layers that image classifiers are made of, for peers with formats of their own.

An activation is part of the layer before it; a layer is named after the value it makes. Raises Unconvertible for
anything else.
"""

import dataclasses

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper


class Unconvertible(Exception):
    """The model holds something that is no Layer; one line."""


@dataclasses.dataclass
class Layer:
    kind: str           # input, conv, max_pool, add, concat, average (global), flatten, dense, softmax
    output: str
    inputs: list
    shape: tuple        # of the output, NCHW without N
    weights: np.ndarray | None = None   # conv: OIHW; dense: [out, in]
    bias: np.ndarray | None = None
    kernel: tuple = (1, 1)
    stride: tuple = (1, 1)
    pads: tuple = (0, 0, 0, 0)          # top, left, bottom, right
    groups: int = 1
    activation: str | None = None       # relu, relu6


def _attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


class _Reader:
    def __init__(self, model):
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        self.graph = inferred.graph
        self.constants = {t.name: numpy_helper.to_array(t) for t in self.graph.initializer}
        self.shapes = {v.name: tuple(d.dim_value for d in v.type.tensor_type.shape.dim)[1:]
                       for v in [*self.graph.value_info, *self.graph.input, *self.graph.output]}
        self.same_as = {}   # value that a dropped node makes -> the value it stands for
        self.layers = {}

    def _layer(self, kind, node, inputs, **fields):
        name = node.output[0]
        self.layers[name] = Layer(kind, name, [self.same_as.get(i, i) for i in inputs], self.shapes[name], **fields)

    def window(self, node, attributes):
        if attributes.get('auto_pad', b'NOTSET') != b'NOTSET' or any(d != 1 for d in attributes.get('dilations', [])):
            raise Unconvertible(f"{node.op_type} '{node.name}': auto_pad and dilation have no conversion")
        ceil = attributes.get('ceil_mode', 0)
        kernel, stride = tuple(attributes['kernel_shape']), tuple(attributes.get('strides', (1, 1)))
        pads = tuple(attributes.get('pads', (0, 0, 0, 0)))
        if ceil:
            out, side = self.shapes[node.output[0]][1:], self.shapes[node.input[0]][1:]
            if any((o - 1) * s + k > i + pads[d] + pads[d + 2]
                   for d, (o, s, k, i) in enumerate(zip(out, stride, kernel, side))):
                raise Unconvertible(f"{node.op_type} '{node.name}': its last window leaves the image")
        return {'kernel': kernel, 'stride': stride, 'pads': pads}

    def activation(self, node):
        """Into the layer before, which makes the activated value from now on."""
        kind = 'relu'
        if node.op_type == 'Clip':
            attributes = _attributes(node)
            limits = [self.constants[i].item() for i in node.input[1:]] or [attributes['min'], attributes['max']]
            if limits != [0, 6]:
                raise Unconvertible(f"Clip '{node.name}': only 0..6 has a conversion")
            kind = 'relu6'
        source = self.same_as.get(node.input[0], node.input[0])
        readers = [n for n in self.graph.node if node.input[0] in n.input]
        layer = self.layers.pop(source)
        if layer.kind not in ('conv', 'add', 'dense') or layer.activation or len(readers) != 1:
            raise Unconvertible(f"{node.op_type} '{node.name}' follows no layer of its own")
        layer.output, layer.activation = node.output[0], kind
        self.layers[layer.output] = layer

    def read(self, node):
        attributes = _attributes(node)
        constant = [self.constants.get(i) for i in node.input[1:]]
        if node.op_type == 'Conv':
            bias = constant[1] if len(constant) > 1 else np.zeros(len(constant[0]), np.float32)
            self._layer('conv', node, node.input[:1], weights=constant[0], bias=bias,
                        groups=attributes.get('group', 1), **self.window(node, attributes))
        elif node.op_type == 'MaxPool':
            self._layer('max_pool', node, node.input, **self.window(node, attributes))
        elif node.op_type == 'Add' and constant[0] is None and node.input[0] not in self.constants:
            self._layer('add', node, node.input)
        elif node.op_type == 'Concat' and attributes['axis'] == 1:
            self._layer('concat', node, node.input)
        elif node.op_type == 'GlobalAveragePool':
            self._layer('average', node, node.input)
        elif node.op_type == 'Reshape' and self.shapes[node.output[0]][1:] == (1, 1):  # [n] as [n, 1, 1]
            self.same_as[node.output[0]] = self.same_as.get(node.input[0], node.input[0])
        elif node.op_type in ('Flatten', 'Reshape') and len(self.shapes[node.output[0]]) == 1:
            self._layer('flatten', node, node.input[:1])
        elif node.op_type == 'Gemm' and attributes.get('transB') and attributes.get('alpha', 1) == 1:
            self._layer('dense', node, node.input[:1], weights=constant[0], bias=constant[1])
        elif node.op_type == 'Softmax':
            self._layer('softmax', node, node.input)
        elif node.op_type in ('Relu', 'Clip'):
            self.activation(node)
        elif node.op_type == 'Constant' and 'value' in attributes:
            self.constants[node.output[0]] = numpy_helper.to_array(attributes['value'])
        elif node.op_type in ('Dropout', 'Identity'):
            self.same_as[node.output[0]] = self.same_as.get(node.input[0], node.input[0])
        else:
            raise Unconvertible(f"{node.op_type} '{node.name}' has no conversion")


def read(path):
    """The layers in order, the input first, the only output last."""
    reader = _Reader(onnx.load(path))
    (source,) = [i.name for i in reader.graph.input if i.name not in reader.constants]
    reader.layers[source] = Layer('input', source, [], reader.shapes[source])
    for node in reader.graph.node:
        reader.read(node)
    layers = list(reader.layers.values())
    (output,) = reader.graph.output
    if layers[-1].output != reader.same_as.get(output.name, output.name):
        raise Unconvertible(f"output '{output.name}' is not the last layer")
    return layers


def ranges(path, layers, samples):
    """{value: (least, greatest)} over the samples, 0 included."""
    model = onnx.load(path)
    given = {o.name for o in model.graph.output}
    names = [layer.output for layer in layers[1:]]
    model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in given)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=['CPUExecutionProvider'])
    found = {name: [0.0, 0.0] for name in (layers[0].output, *names)}
    for row in samples:
        values = [row, *session.run(names, {layers[0].output: row[None]})]
        for limits, value in zip(found.values(), values):
            limits[:] = min(limits[0], float(value.min())), max(limits[1], float(value.max()))
    return {name: tuple(limits) for name, limits in found.items()}
