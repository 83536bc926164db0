"""Small seeded float networks that ONNX Runtime's quantizer turns into QDQ, QOperator and dynamic form."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Net:
    def __init__(self, name, shape):
        self.rng = np.random.default_rng([ord(c) for c in name])
        self.shape, self.nodes, self.constants, self.outputs = shape, [], [], []

    def constant(self, values):
        name = f'k{len(self.constants)}'
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def op(self, kind, *inputs, **attributes):
        output = f't{len(self.nodes)}'
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=f'{kind}_{len(self.nodes)}', **attributes))
        return output

    def conv(self, x, ic, oc, k=3, group=1, **attributes):
        w = self.rng.normal(0, 1 / np.sqrt(ic // group * k * k), (oc, ic // group, k, k)).astype(np.float32)
        w *= self.rng.uniform(0.3, 1.5, (oc, 1, 1, 1)).astype(np.float32)
        bias = self.rng.normal(0, 0.3, oc).astype(np.float32)
        return self.op('Conv', x, self.constant(w), self.constant(bias), group=group, pads=[k // 2] * 4, **attributes)

    def gemm(self, x, n_in, n_out):
        w = self.rng.normal(0, 1 / np.sqrt(n_in), (n_out, n_in)).astype(np.float32)
        return self.op('Gemm', x, self.constant(w), self.constant(self.rng.normal(0, 0.3, n_out).astype(np.float32)), transB=1)

    def model(self):
        graph = helper.make_graph(
            self.nodes, 'net', [helper.make_tensor_value_info('x', TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in self.outputs], self.constants)
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid('', 13)])

    def sample(self, index):
        return np.random.default_rng([index, 7]).normal(0, 1, self.shape).astype(np.float32)


IMAGE = (1, 3, 13, 11)


def plain(n):
    y = n.op('Relu', n.conv('x', 3, 16, strides=[2, 2]))
    return n.op('Relu', n.conv(y, 16, 24, 1))


def residual(n):
    y = n.op('Relu', n.conv('x', 3, 16))
    return n.op('Relu', n.op('Add', n.conv(n.op('Relu', n.conv(y, 16, 16)), 16, 16), y))


def depthwise(n):
    y = n.op('Relu', n.conv('x', 3, 16))
    return n.conv(n.op('Relu', n.conv(y, 16, 16, group=16)), 16, 8, 1)


def concat(n):
    y = n.op('Relu', n.conv('x', 3, 8))
    return n.conv(n.op('Concat', y, n.conv(y, 8, 5, 1), axis=1), 13, 8, 1)


def pools(n):
    y = n.op('MaxPool', n.op('Relu', n.conv('x', 3, 16)), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = n.op('AveragePool', y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = n.op('GlobalAveragePool', n.conv(y, 16, 20, 1))
    return n.gemm(n.op('Flatten', y), 20, 10)


def gates(n):
    y = n.conv('x', 3, 16)
    y = n.op('Mul', y, n.op('Sigmoid', y))
    return n.conv(n.op('LeakyRelu', n.conv(y, 16, 12), alpha=0.1), 12, 6, 1)


def averages(n):
    y = n.op('AveragePool', n.conv('x', 3, 8), kernel_shape=[2, 2])
    return n.op('AveragePool', n.conv(y, 8, 8), kernel_shape=[3, 2], strides=[1, 2], count_include_pad=1, pads=[1, 0, 1, 0])


def upsampled(n):
    """Resize reads and writes bytes, of whose scale it is not told."""
    y = n.op('Relu', n.conv('x', 3, 8, strides=[2, 2]))
    y = n.op('Resize', y, '', n.constant(np.array([1, 1, 2, 2], np.float32)), mode='nearest')
    return n.conv(y, 8, 6, 1)


def classifier(n):
    y = n.op('Flatten', n.op('Relu', n.conv('x', 3, 8, strides=[2, 2])))
    return n.op('Softmax', n.gemm(n.op('Relu', n.gemm(y, 8 * 7 * 6, 32)), 32, 10), axis=1)


def tokens(n):
    y = n.op('MatMul', 'x', n.constant(n.rng.normal(0, 0.2, (24, 40)).astype(np.float32)))
    y = n.op('Add', y, n.constant(n.rng.normal(0, 0.3, 40).astype(np.float32)))
    return n.op('MatMul', n.op('Relu', y), n.constant(n.rng.normal(0, 0.2, (40, 12)).astype(np.float32)))


def long_sums(n):
    """Sums of integers beyond 2^24."""
    y = n.op('MatMul', 'x', n.constant(n.rng.uniform(0.1, 0.2, (1500, 16)).astype(np.float32)))
    return n.op('MatMul', n.op('Relu', y), n.constant(n.rng.normal(0, 0.2, (16, 12)).astype(np.float32)))


NETS = {'plain': (plain, IMAGE), 'residual': (residual, IMAGE), 'depthwise': (depthwise, IMAGE), 'concat': (concat, IMAGE),
        'pools': (pools, IMAGE), 'gates': (gates, IMAGE), 'averages': (averages, IMAGE), 'upsampled': (upsampled, IMAGE), 'classifier': (classifier, IMAGE),
        'tokens': (tokens, (2, 5, 24)), 'long sums': (long_sums, (3, 1500))}


def make(name):
    build, shape = NETS[name]
    net = Net(name, shape)
    net.outputs.append(build(net))
    return net
