"""Encoders as float ONNX models with seeded random weights, as PyTorch's exporter writes them: LayerNormalization, MatMul, Softmax,
the Gelu of Erf.

vit_tiny and deit_tiny take a picture (patches by a convolution, a class token), bert_mini embedded tokens. Weights have the variance
1 / fan-in, so that the residual stream grows slowly and attention is neither uniform nor one-hot.
"""

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 17


class Encoder:
    """Appends nodes; a value is a name of shape [1, tokens, width]."""

    def __init__(self, seed, tokens, width, heads):
        self.rng = np.random.default_rng(seed)
        self.tokens, self.width, self.heads = tokens, width, heads
        self.nodes, self.constants = [], []

    def constant(self, array, dtype=np.float32):
        name = f'c{len(self.constants)}'
        self.constants.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def node(self, op, *inputs, **attributes):
        name = f'{op.lower()}{len(self.nodes)}'
        self.nodes.append(helper.make_node(op, list(inputs), [name], name, **attributes))
        return name

    def shape(self, x, *sizes):
        return self.node('Reshape', x, self.constant(sizes, np.int64))

    def dense(self, x, inputs, outputs):
        weights = self.constant(self.rng.standard_normal((inputs, outputs)) / np.sqrt(inputs))
        return self.node('Add', self.node('MatMul', x, weights), self.constant(self.rng.uniform(-0.1, 0.1, outputs)))

    def norm(self, x):
        ones = self.constant(self.rng.uniform(0.8, 1.2, self.width))
        return self.node('LayerNormalization', x, ones, self.constant(self.rng.uniform(-0.1, 0.1, self.width)), axis=-1)

    def gelu(self, x):
        halved = self.node('Div', x, self.constant(np.sqrt(2)))
        weight = self.node('Add', self.node('Erf', halved), self.constant(1))
        return self.node('Mul', self.node('Mul', x, weight), self.constant(0.5))

    def part(self, x, order):
        """One of query, key and value, of each head."""
        made = self.shape(self.dense(x, self.width, self.width), 1, self.tokens, self.heads, self.width // self.heads)
        return self.node('Transpose', made, perm=order)

    def attention(self, x):
        query, key = self.part(x, [0, 2, 1, 3]), self.part(x, [0, 2, 3, 1])
        value = self.part(x, [0, 2, 1, 3])
        scores = self.node('Mul', self.node('MatMul', query, key), self.constant((self.width // self.heads) ** -0.5))
        mixed = self.node('MatMul', self.node('Softmax', scores, axis=-1), value)
        joined = self.shape(self.node('Transpose', mixed, perm=[0, 2, 1, 3]), 1, self.tokens, self.width)
        return self.dense(joined, self.width, self.width)

    def block(self, x):
        x = self.node('Add', x, self.attention(self.norm(x)))
        hidden = self.gelu(self.dense(self.norm(x), self.width, 4 * self.width))
        return self.node('Add', x, self.dense(hidden, 4 * self.width, self.width))

    def patches(self, side, patch, channels=3):
        """A class token before those of the picture, and positions."""
        weights = self.rng.standard_normal((self.width, channels, patch, patch)) / np.sqrt(channels * patch * patch)
        image = self.node('Conv', 'data', self.constant(weights), self.constant(np.zeros(self.width)),
                          kernel_shape=[patch] * 2, strides=[patch] * 2)
        count = (side // patch) ** 2
        flat = self.node('Transpose', self.shape(image, 1, self.width, count), perm=[0, 2, 1])
        token = self.constant(0.5 * self.rng.standard_normal((1, 1, self.width)))
        return self.node('Add', self.node('Concat', token, flat, axis=1),
                         self.constant(0.3 * self.rng.standard_normal((1, self.tokens, self.width))))

    def model(self, name, shape, x, classes):
        first = self.node('Gather', self.norm(x), self.constant(0, np.int64), axis=1)
        y = self.dense(first, self.width, classes)
        graph = helper.make_graph(
            self.nodes, name, [helper.make_tensor_value_info('data', onnx.TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(y, onnx.TensorProto.FLOAT, [1, classes])], self.constants)
        made = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid('', OPSET)],
                                 producer_name='bench_peers')
        onnx.checker.check_model(made, full_check=True)
        return made


def vision(name, side, patch, width, heads, depth, channels=3, classes=1000):
    net = Encoder(depth, (side // patch) ** 2 + 1, width, heads)
    x = net.patches(side, patch, channels)
    for _ in range(depth):
        x = net.block(x)
    return net.model(name, [1, channels, side, side], x, classes)


def vit_tiny():
    """The Fashion-MNIST net of ../shared: 50 tokens of 64 numbers, 4 heads, 4 blocks."""
    return vision('vit_tiny', 28, 4, 64, 4, 4, channels=1, classes=10)


def deit_tiny():
    return vision('deit_tiny', 224, 16, 192, 3, 12)


def bert_mini():
    """BERT-mini's encoder on 128 embedded tokens."""
    net = Encoder(4, 128, 256, 4)
    x = net.norm('data')
    for _ in range(4):
        x = net.block(x)
    return net.model('bert_mini', [1, 128, 256], x, 2)


NETWORKS = {'vit_tiny': vit_tiny, 'deit_tiny': deit_tiny, 'bert_mini': bert_mini}
