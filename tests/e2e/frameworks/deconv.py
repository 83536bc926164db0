"""Quantized transposed convolutions: cases, their sums by definition, and their QDQ models."""

import dataclasses

import numpy as np
import onnx
from onnx import TensorProto, helper

from frameworks import qdq_builder
from frameworks.case import Case, quant
from frameworks.fixed_point import F64, I64
from frameworks.random_cases import Maker


@dataclasses.dataclass
class Deconv(Case):
    """weights: [IC, OC / groups, KH, KW]; padding: (top, left, bottom, right)."""
    groups: int = 1
    output_pad: tuple = (0, 0)

    def output_shape(self):
        top, left, bottom, right = self.pads()
        n, height, width, _ = self.inputs[0].shape

        def size(axis, length, pads):
            reach = (self.weights.shape[2 + axis] - 1) * self.dilation[axis] + 1
            return (length - 1) * self.stride[axis] + reach + self.output_pad[axis] - pads
        return (n, size(0, height, top + bottom), size(1, width, left + right),
                self.weights.shape[1] * self.groups)

    def accumulate(self):
        """Every input adds its product with every tap to the output it reaches."""
        x = self.inputs[0].astype(F64) - self.input_quants[0].zero
        w = self.weights.astype(F64) - self.weight_quant.zero
        n, height, width, channels = x.shape
        _, out_h, out_w, out_channels = self.output_shape()
        depth, per = channels // self.groups, w.shape[1]
        top, left, _, _ = self.pads()
        full = np.zeros((n, out_h + top + 1000, out_w + left + 1000, out_channels))
        for g in range(self.groups):
            part, to = x[..., g * depth:(g + 1) * depth], slice(g * per, (g + 1) * per)
            for i in range(w.shape[2]):
                for j in range(w.shape[3]):
                    y0, x0 = i * self.dilation[0], j * self.dilation[1]
                    full[:, y0:y0 + (height - 1) * self.stride[0] + 1:self.stride[0],
                         x0:x0 + (width - 1) * self.stride[1] + 1:self.stride[1], to] += \
                        part @ w[g * depth:(g + 1) * depth, :, i, j]
        acc = full[:, top:top + out_h, left:left + out_w].astype(I64)
        return acc + (0 if self.bias is None else self.bias.astype(I64))


def random_case(kind, seed, per_channel):
    maker = Maker('deconv', kind, 'formulas', seed)
    groups = maker.pick(1, 1, 2, 'depthwise')
    kernel = (maker.integer(1, 4), maker.integer(1, 4))
    stride, dilation = ((maker.integer(1, 3), maker.integer(1, 3)),
                        (maker.integer(1, 2), maker.integer(1, 2)))
    depth = maker.integer(1, 9) * 2
    if groups == 'depthwise':
        shape, groups = (depth, 1, *kernel), depth
    else:
        shape = (depth, maker.integer(1, 12), *kernel)
    channels = shape[1] * groups
    per_channel = per_channel and groups == 1
    w, w_quant = maker.weights(shape, channels if per_channel else 1)
    x_quant = maker.quant()
    products = float(x_quant.scale[0]) * np.array(w_quant.scale)
    taps = max(1, depth // groups * kernel[0] * kernel[1] // (stride[0] * stride[1]))
    y = quant(kind, products.mean() * 50 * taps ** 0.5 * maker.rng.uniform(0.5, 3), maker.zero())
    bias = np.round(maker.rng.uniform(-50, 50, channels) * y.scale[0]
                    / np.broadcast_to(products, channels)).astype(np.int32)
    pads = tuple(maker.integer(0, (k - 1) * d) for k, d in zip(kernel, dilation)) * 2
    output_pad = tuple(maker.integer(0, max(s, d) - 1) for s, d in zip(stride, dilation))
    output_pad = tuple(min(p, s - 1) for p, s in zip(output_pad, stride))
    return Deconv('deconv', [maker.bytes((2, 21, 19, depth))], [x_quant], y, w, w_quant, bias,
                  stride=stride, dilation=dilation, padding=pads, groups=groups,
                  output_pad=output_pad, activation=maker.pick(None, 'relu', 'relu6'))


def build(case):
    """The case as a QDQ model: input x0, output y."""
    graph = qdq_builder._Graph('')
    source = graph.activation('x0', 'in0', case.input_quants[0])
    q = case.weight_quant
    many = len(q.scale) > 1
    weights = graph.node('DequantizeLinear', [graph.constant('w_q', case.weights),
                                              *graph.parameters('w', q)], 'w_dq',
                         **({'axis': 1} if many else {}))
    unit = case.input_quants[0].scales[0] * q.scales
    unit = unit if many else unit[0]
    bias = graph.node('DequantizeLinear', [
        graph.constant('b_q', case.bias), graph.constant('b_s', np.asarray(unit, np.float32)),
        graph.constant('b_z', np.zeros(np.shape(unit), np.int32))], 'b_dq',
        **({'axis': 0} if many else {}))
    result = graph.node('ConvTranspose', [source, weights, bias], 'result',
                        kernel_shape=list(case.weights.shape[2:]), strides=list(case.stride),
                        dilations=list(case.dilation), pads=list(case.pads()), group=case.groups,
                        output_padding=list(case.output_pad))
    if case.activation == 'relu':
        result = graph.node('Relu', [result], 'clipped')
    elif case.activation == 'relu6':
        bounds = [graph.constant('c0', np.float32(0)), graph.constant('c6', np.float32(6))]
        result = graph.node('Clip', [result, *bounds], 'clipped')
    graph.activation(result, 'out', case.output_quant)
    graph.nodes[-1].output[0] = 'y'
    n, height, width, channels = case.output_shape()
    x = qdq_builder.to_nchw(case.inputs[0])
    made = helper.make_graph(
        graph.nodes, 'deconv', [helper.make_tensor_value_info('x0', TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, (n, channels, height, width))],
        graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
    onnx.checker.check_model(model)
    return model
