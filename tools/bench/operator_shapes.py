"""Graphs of one operator, or of a block, of the shapes that networks have: what tools/bench_operators.py times."""

import dataclasses

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 17
RANDOM_SEED = 60


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    model: onnx.ModelProto  # inputs x0, x1 ...


class Graph:
    def __init__(self):
        self.rng = np.random.default_rng(RANDOM_SEED)
        self.nodes, self.constants = [], []

    def constant(self, array, dtype=np.float32):
        name = f'c{len(self.constants)}'
        self.constants.append(numpy_helper.from_array(np.asarray(array, dtype), name))
        return name

    def numbers(self, *shape):
        return self.constant(self.rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) or 1))

    def node(self, op, *inputs, **attributes):
        name = f'n{len(self.nodes)}'
        self.nodes.append(helper.make_node(op, list(inputs), [name], name, **attributes))
        return name

    def case(self, name, shapes, y):
        inputs = [helper.make_tensor_value_info(f'x{i}', onnx.TensorProto.FLOAT, s) for i, s in enumerate(shapes)]
        graph = helper.make_graph(self.nodes, name, inputs, [helper.make_empty_tensor_value_info(y)], self.constants)
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid('', OPSET)])
        return Case(name, onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True))


def _text(shape):
    return 'x'.join(map(str, shape))


def _conv(shape, channels, kernel, stride=1, groups=1, activation=None):
    g = Graph()
    kinds = 'depthwise' if groups > 1 else 'conv'
    y = g.node('Conv', 'x0', g.numbers(channels, shape[1] // groups, kernel, kernel), g.numbers(channels),
               kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, group=groups)
    if activation:
        y = g.node(activation, y)
    return g.case(f'{kinds} {kernel}x{kernel}/{stride} {_text(shape)} {activation or ""}'.strip(), [shape], y)


def _unary(op, shape, **attributes):
    g = Graph()
    return g.case(f'{op} {_text(shape)}', [shape], g.node(op, 'x0', **attributes))


def _binary(op, a, b, constant=False):
    g = Graph()
    other = g.numbers(*b) if constant else 'x1'
    return g.case(f'{op} {_text(a)} {_text(b)}{" constant" if constant else ""}', [a] if constant else [a, b],
                  g.node(op, 'x0', other))


def _reduce(op, shape, axes):
    g = Graph()
    return g.case(f'{op} {_text(shape)} axes {axes}', [shape], g.node(op, 'x0', axes=axes, keepdims=1))


def _pool(op, shape, kernel, stride, pads=0):
    g = Graph()
    y = g.node(op, 'x0', kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pads] * 4)
    return g.case(f'{op} {kernel}x{kernel}/{stride} {_text(shape)}', [shape], y)


def _norm(shape):
    g = Graph()
    return g.case(f'LayerNormalization {_text(shape)}', [shape],
                  g.node('LayerNormalization', 'x0', g.numbers(shape[-1]), g.numbers(shape[-1]), axis=-1))


def _norm_of_channels(shape):
    """ConvNeXt's: channels last for the normalization alone."""
    g = Graph()
    last = g.node('Transpose', 'x0', perm=[0, 2, 3, 1])
    y = g.node('LayerNormalization', last, g.numbers(shape[1]), g.numbers(shape[1]), axis=-1)
    return g.case(f'LayerNormalization between Transposes {_text(shape)}', [shape],
                  g.node('Transpose', y, perm=[0, 3, 1, 2]))


def _batch_norm(shape):
    g = Graph()
    parts = [g.numbers(shape[1]) for _ in range(3)] + [g.constant(g.rng.uniform(0.5, 2, shape[1]))]
    return g.case(f'BatchNormalization {_text(shape)}', [shape], g.node('BatchNormalization', 'x0', *parts))


def _squeeze_excite(shape, squeezed):
    g = Graph()
    y = g.node('GlobalAveragePool', 'x0')
    y = g.node('Relu', g.node('Conv', y, g.numbers(squeezed, shape[1], 1, 1), g.numbers(squeezed)))
    y = g.node('Sigmoid', g.node('Conv', y, g.numbers(shape[1], squeezed, 1, 1), g.numbers(shape[1])))
    return g.case(f'squeeze and excite {_text(shape)} {squeezed}', [shape], g.node('Mul', 'x0', y))


def _dense(rows, inputs, outputs):
    g = Graph()
    y = g.node('Add', g.node('MatMul', 'x0', g.numbers(inputs, outputs)), g.numbers(outputs))
    return g.case(f'MatMul {rows}x{inputs} {inputs}x{outputs} and bias', [[1, rows, inputs]], y)


def _moved(op, shape, name, **attributes):
    g = Graph()
    return g.case(f'{op} {_text(shape)} {name}', [shape], g.node(op, 'x0', **attributes))


def _resize(shape, mode, coordinates, factor=2):
    g = Graph()
    y = g.node('Resize', 'x0', '', g.constant([1, 1, factor, factor]), mode=mode,
               coordinate_transformation_mode=coordinates, **({'nearest_mode': 'floor'} if mode == 'nearest' else {}))
    return g.case(f'Resize {mode} {_text(shape)}', [shape], y)


def _concat(shape, parts):
    g = Graph()
    return g.case(f'Concat of {parts} {_text(shape)}', [shape] * parts,
                  g.node('Concat', *[f'x{i}' for i in range(parts)], axis=1))


def _gelu(shape):
    g = Graph()
    weight = g.node('Add', g.node('Erf', g.node('Div', 'x0', g.constant(np.sqrt(2)))), g.constant(1))
    return g.case(f'Gelu {_text(shape)}', [shape], g.node('Mul', g.node('Mul', 'x0', weight), g.constant(0.5)))


def _hard_swish(shape):
    return _unary('HardSwish', shape)


def cases():
    return [
        _conv([1, 3, 224, 224], 32, 3, 2, activation='Relu'), _conv([1, 3, 224, 224], 64, 7, 2),
        _conv([1, 64, 56, 56], 64, 3, activation='Relu'), _conv([1, 256, 14, 14], 256, 3),
        _conv([1, 512, 7, 7], 512, 3), _conv([1, 64, 56, 56], 256, 1), _conv([1, 256, 56, 56], 64, 1, activation='Relu'),
        _conv([1, 320, 7, 7], 1280, 1, activation='Relu'), _conv([1, 16, 112, 112], 96, 1), _conv([1, 24, 56, 56], 24, 3, 2),
        _conv([1, 96, 112, 112], 96, 3, 2, 96), _conv([1, 144, 56, 56], 144, 3, 1, 144, 'Relu'),
        _conv([1, 384, 14, 14], 384, 3, 1, 384), _conv([1, 120, 28, 28], 120, 5, 1, 120), _conv([1, 240, 28, 28], 240, 5, 2, 240),
        _conv([1, 96, 56, 56], 96, 7, 1, 96), _conv([1, 3, 224, 224], 192, 16, 16),
        _dense(1, 1280, 1000), _dense(197, 192, 576), _dense(197, 192, 768), _dense(128, 256, 1024), _dense(128, 1024, 256),
        _binary('MatMul', [1, 3, 197, 64], [1, 3, 64, 197]), _binary('MatMul', [1, 3, 197, 197], [1, 3, 197, 64]),
        _binary('MatMul', [1, 8, 128, 64], [1, 8, 64, 128]),
        _unary('Softmax', [1, 3, 197, 197], axis=-1), _unary('Softmax', [1, 8, 128, 128], axis=-1),
        _unary('Softmax', [1, 1000], axis=-1), _unary('Softmax', [1, 21, 65, 65], axis=1),
        _norm([1, 197, 192]), _norm([1, 128, 256]), _norm([1, 50, 64]), _norm_of_channels([1, 96, 56, 56]),
        _batch_norm([1, 64, 56, 56]), _batch_norm([1, 512, 14, 14]),
        _squeeze_excite([1, 72, 28, 28], 24), _squeeze_excite([1, 480, 14, 14], 120), _squeeze_excite([1, 960, 7, 7], 240),
        _reduce('ReduceMax', [1, 64, 56, 56], [1]), _reduce('ReduceMean', [1, 64, 56, 56], [2, 3]),
        _reduce('ReduceMean', [1, 197, 192], [1]), _reduce('ReduceMax', [1, 256, 14, 14], [2, 3]),
        _pool('MaxPool', [1, 64, 112, 112], 3, 2, 1), _pool('MaxPool', [1, 128, 28, 28], 2, 2),
        _pool('AveragePool', [1, 128, 28, 28], 2, 2), _unary('GlobalAveragePool', [1, 1280, 7, 7]),
        _binary('Add', [1, 256, 56, 56], [1, 256, 56, 56]), _binary('Mul', [1, 128, 28, 28], [1, 128, 28, 28]),
        _binary('Add', [1, 197, 192], [1, 197, 192], True), _binary('Mul', [1, 64, 56, 56], [1, 64, 1, 1], True),
        _unary('Relu', [1, 64, 112, 112]), _unary('Sigmoid', [1, 64, 56, 56]), _unary('Tanh', [1, 128, 256]),
        _hard_swish([1, 120, 28, 28]), _gelu([1, 197, 768]), _unary('LeakyRelu', [1, 64, 56, 56], alpha=0.1),
        _moved('Transpose', [1, 197, 3, 64], '0213', perm=[0, 2, 1, 3]), _concat([1, 64, 56, 56], 2),
        _resize([1, 64, 28, 28], 'nearest', 'asymmetric'), _resize([1, 21, 33, 33], 'linear', 'half_pixel'),
    ]
