"""Layers (chain.py) as ncnn's .param text and .bin weights, float or int8.

int8 as its own quantizer has it: symmetric scales 127 / greatest magnitude, per tensor for activations and per
channel for weights; a convolution whose readers are all convolutions hands on int8. Weights stay float in the file:
ncnn quantizes them when it loads.
"""

import numpy as np

from bench.chain import Unconvertible

_ACTIVATION = {None: '', 'relu': ' 9=1', 'relu6': ' 9=3 -23310=2,0.000000e+00,6.000000e+00'}
_WEIGHTED = ('conv', 'dense')


class _Writer:
    def __init__(self, layers, ranges):
        self.layers, self.ranges = layers, ranges
        self.lines, self.blobs, self.bytes = [], 0, []
        self.readers = {layer.output: [r for r in layers for i in r.inputs if i == layer.output] for layer in layers}
        self.copies = {}  # value -> names of its copies that nobody has taken yet

    def line(self, kind, name, inputs, outputs, fields):
        self.blobs += len(outputs)
        self.lines.append(f'{kind} {name} {len(inputs)} {len(outputs)} {" ".join([*inputs, *outputs])}{fields}')

    def made(self, value):
        """ncnn gives a blob to one reader: several get copies."""
        count = len(self.readers[value])
        if count > 1:
            self.copies[value] = [f'{value}_{i}' for i in range(count)]
            self.line('Split', f'split_{value}', [value], list(self.copies[value]), '')

    def take(self, value):
        return self.copies[value].pop(0) if value in self.copies else value

    def scale(self, value):
        return 127 / max(abs(limit) for limit in (*self.ranges[value], 1e-8))

    def weights(self, layer):
        """Appends weights, bias and scales; returns the int8_scale_term."""
        self.bytes += [np.zeros(1, np.uint32), layer.weights, layer.bias]
        if self.ranges is None:
            return 0
        channels = layer.weights.reshape(len(layer.weights), -1)
        self.bytes += [127 / np.maximum(np.abs(channels).max(1), 1e-8), np.array([self.scale(layer.inputs[0])])]
        readers = self.readers[layer.output]
        if layer.kind == 'conv' and readers and all(r.kind == 'conv' for r in readers):
            self.bytes.append(np.array([self.scale(layer.output)]))
            return 101
        return 1

    def window(self, layer):
        (kh, kw), (sh, sw), (top, left, bottom, right) = layer.kernel, layer.stride, layer.pads
        return kh, kw, sh, sw, top, left, bottom, right

    def conv(self, layer, inputs):
        if any(before.kind == 'average' and before.output == layer.inputs[0] for before in self.layers):
            return self.dense(layer, inputs)  # a global average has one dimension
        kh, kw, sh, sw, top, left, bottom, right = self.window(layer)
        channels = len(layer.weights)
        if layer.groups not in (1, channels):
            raise Unconvertible(f"'{layer.output}': {layer.groups} groups have no conversion")
        fields = (f' 0={channels} 1={kw} 11={kh} 3={sw} 13={sh} 4={left} 14={top} 15={right} 16={bottom} 5=1'
                  f' 6={layer.weights.size}')
        fields += f' 7={layer.groups}' if layer.groups > 1 else ''
        kind = 'ConvolutionDepthWise' if layer.groups > 1 else 'Convolution'
        return self.line(kind, layer.output, inputs, [layer.output],
                         f'{fields} 8={self.weights(layer)}{_ACTIVATION[layer.activation]}')

    def dense(self, layer, inputs):
        self.line('InnerProduct', layer.output, inputs, [layer.output],
                  f' 0={len(layer.weights)} 1=1 2={layer.weights.size} 8={self.weights(layer)}'
                  f'{_ACTIVATION[layer.activation]}')

    def max_pool(self, layer, inputs):
        kh, kw, sh, sw, top, left, bottom, right = self.window(layer)
        self.line('Pooling', layer.output, inputs, [layer.output],
                  f' 0=0 1={kw} 11={kh} 2={sw} 12={sh} 3={left} 13={top} 14={right} 15={bottom} 5=1')

    def average(self, layer, inputs):
        self.line('Pooling', layer.output, inputs, [layer.output], ' 0=1 4=1')

    def add(self, layer, inputs):
        if layer.activation not in (None, 'relu'):
            raise Unconvertible(f"'{layer.output}': {layer.activation} after an addition has no conversion")
        sum_name = layer.output if layer.activation is None else f'{layer.output}_sum'
        self.line('BinaryOp', sum_name, inputs, [sum_name], ' 0=0')
        if layer.activation == 'relu':
            self.line('ReLU', layer.output, [sum_name], [layer.output], '')

    def concat(self, layer, inputs):
        self.line('Concat', layer.output, inputs, [layer.output], ' 0=0')

    def flatten(self, layer, inputs):
        self.line('Flatten', layer.output, inputs, [layer.output], '')

    def softmax(self, layer, inputs):
        self.line('Softmax', layer.output, inputs, [layer.output], ' 0=0 1=1')


def write(layers, ranges=None):
    """(.param text, .bin bytes); ranges (chain.ranges) make it int8."""
    writer = _Writer(layers, ranges)
    source = layers[0]
    c, h, w = source.shape
    writer.line('Input', source.output, [], [source.output], f' 0={w} 1={h} 2={c}')
    writer.made(source.output)
    for layer in layers[1:]:
        getattr(writer, layer.kind)(layer, [writer.take(i) for i in layer.inputs])
        writer.made(layer.output)
    text = '\n'.join(['7767517', f'{len(writer.lines)} {writer.blobs}', *writer.lines]) + '\n'
    parts = [p if p.dtype == np.uint32 else np.ascontiguousarray(p, np.float32) for p in writer.bytes]
    return text, b''.join(p.tobytes() for p in parts)
