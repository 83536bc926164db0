"""ResNet-50, MobileNetV1, MobileNetV2 and SqueezeNet 1.1 as float ONNX models with seeded random weights.

Batch norms are folded: a convolution has a bias. Weights are drawn with the variance that keeps activations in
range (gain / fan-in; gain 2 before a Relu, 1 before none). Padding is TensorFlow's, so that every framework can
take the same graph: a 3x3 convolution of stride 2 pads below and right, SqueezeNet pads nothing but its 3x3
expansions. The outputs are logits, before any Softmax: with random weights probabilities would hide errors.
"""

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 13


class Builder:
    """Appends nodes to a graph; a value is (name, channels, side of its square)."""

    def __init__(self, seed, side):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.initializers = [], []
        self.input = ('data', 3, side)

    def _constant(self, name, array):
        self.initializers.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def _node(self, op, inputs, **attributes):
        name = f'{op.lower()}{len(self.nodes)}'
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def _activation(self, name, activation):
        if activation == 'relu':
            return self._node('Relu', [name])
        if activation == 'relu6':
            limits = [self._limit('zero', 0), self._limit('six', 6)]
            return self._node('Clip', [name, *limits])
        return name

    def _limit(self, name, value):
        if not any(t.name == name for t in self.initializers):
            self._constant(name, np.array(value))
        return name

    def conv(self, x, channels, kernel=1, stride=1, activation='relu', groups=1, same=True, gain=None):
        source, ic, side = x
        fan_in = ic // groups * kernel * kernel
        gain = gain if gain is not None else (2 if activation else 1)
        weights = self.rng.standard_normal((channels, ic // groups, kernel, kernel))
        bias = self.rng.uniform(-0.1, 0.1, channels)
        out, pads = _window(side, kernel, stride, same)
        index = len(self.nodes)
        name = self._node(
            'Conv', [source, self._constant(f'w{index}', weights * np.sqrt(gain / fan_in)),
                     self._constant(f'b{index}', bias)],
            kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads, group=groups)
        return self._activation(name, activation), channels, out

    def depthwise(self, x, stride, activation):
        return self.conv(x, x[1], 3, stride, activation, groups=x[1])

    def max_pool(self, x, kernel, stride, same):
        out, pads = _window(x[2], kernel, stride, same)
        name = self._node('MaxPool', [x[0]], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads)
        return name, x[1], out

    def add(self, a, b, activation=None):
        return self._activation(self._node('Add', [a[0], b[0]]), activation), a[1], a[2]

    def concat(self, a, b):
        return self._node('Concat', [a[0], b[0]], axis=1), a[1] + b[1], a[2]

    def classify(self, x, classes):
        """Global average, then a fully connected layer."""
        pooled = self._node('Flatten', [self._node('GlobalAveragePool', [x[0]])], axis=1)
        weights = self.rng.standard_normal((classes, x[1])) * np.sqrt(1 / x[1])
        return self._node('Gemm', [pooled, self._constant('w_fc', weights),
                                   self._constant('b_fc', self.rng.uniform(-0.1, 0.1, classes))],
                          transB=1), classes, 0

    def average(self, x):
        return self._node('Flatten', [self._node('GlobalAveragePool', [x[0]])], axis=1), x[1], 0

    def model(self, name, output):
        side = self.input[2]
        graph = helper.make_graph(
            self.nodes, name,
            [helper.make_tensor_value_info(self.input[0], onnx.TensorProto.FLOAT, [1, 3, side, side])],
            [helper.make_tensor_value_info(output[0], onnx.TensorProto.FLOAT, [1, output[1]])],
            self.initializers)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid('', OPSET)],
                                 producer_name='bench_peers')
        made.ir_version = 8
        onnx.checker.check_model(made, full_check=True)
        return made


def _window(side, kernel, stride, same):
    """(output side, ONNX pads): `same` as TensorFlow has it, else none."""
    if not same:
        return (side - kernel) // stride + 1, [0] * 4
    out = -(-side // stride)
    total = max((out - 1) * stride + kernel - side, 0)
    return out, [total // 2, total // 2, total - total // 2, total - total // 2]


def resnet50(side=224):
    net = Builder(50, side)
    x = net.max_pool(net.conv(net.input, 64, 7, 2), 3, 2, True)
    for stage, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = net.conv(net.conv(x, width), width, 3, stride)
            y = net.conv(y, 4 * width, activation=None, gain=0.3)
            shortcut = net.conv(x, 4 * width, 1, stride, None) if block == 0 else x
            x = net.add(y, shortcut, 'relu')
    return net.model('resnet50', net.classify(x, 1000))


def mobilenet_v1(side=224):
    net = Builder(1, side)
    x = net.conv(net.input, 32, 3, 2, 'relu6')
    for channels, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1),
                             (512, 1), (512, 1), (512, 1), (1024, 2), (1024, 1)):
        x = net.conv(net.depthwise(x, stride, 'relu6'), channels, activation='relu6')
    return net.model('mobilenet_v1', net.classify(x, 1000))


def mobilenet_v2(side=224):
    net = Builder(2, side)
    x = net.conv(net.input, 32, 3, 2, 'relu6')
    for expansion, channels, blocks, first_stride in (
            (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            y = net.conv(x, expansion * x[1], activation='relu6') if expansion > 1 else x
            y = net.conv(net.depthwise(y, stride, 'relu6'), channels, activation=None)
            x = net.add(x, y) if stride == 1 and x[1] == channels else y
    return net.model('mobilenet_v2', net.classify(net.conv(x, 1280, activation='relu6'), 1000))


def squeezenet_1_1(side=224):
    net = Builder(11, side)
    x = net.conv(net.input, 64, 3, 2, same=False)
    for squeeze, expand, pool in ((16, 64, True), (16, 64, False), (32, 128, True), (32, 128, False),
                                  (48, 192, True), (48, 192, False), (64, 256, False), (64, 256, False)):
        if pool:
            x = net.max_pool(x, 3, 2, same=False)
        s = net.conv(x, squeeze)
        x = net.concat(net.conv(s, expand), net.conv(s, expand, 3))
    return net.model('squeezenet_1_1', net.average(net.conv(x, 1000)))


def tiny(side=32):
    """All the operators of the four in a few milliseconds of preparation: for tests."""
    net = Builder(7, side)
    x = net.max_pool(net.conv(net.input, 16, 3, 2), 3, 2, True)
    y = net.conv(net.depthwise(x, 1, 'relu6'), 16, activation=None)
    x = net.add(x, y, 'relu')
    x = net.concat(net.conv(x, 16), net.conv(x, 16, 3))
    return net.model('tiny', net.classify(x, 10))


NETWORKS = {'resnet50': resnet50, 'mobilenet_v1': mobilenet_v1, 'mobilenet_v2': mobilenet_v2,
            'squeezenet_1_1': squeezenet_1_1, 'tiny': tiny}
