"""Graphs with FakeQuantize by a fixed seed, and an independent reading of the operator in numpy (binary32, the formula
of OpenVINO's operation set, one operation at a time)."""

import dataclasses

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPENVINO = 'org.openvinotoolkit'
F = np.float32


def fake_quantize(x, low, high, out_low, out_high, levels):
    steps = F(levels - 1)
    with np.errstate(all='ignore'):
        level = np.rint((x - low) / (high - low) * steps)
        inside = level / steps * (out_high - out_low) + out_low
    lower, upper = np.minimum(low, high), np.maximum(low, high)
    return np.where(x <= lower, out_low + np.zeros_like(x), np.where(x > upper, out_high + np.zeros_like(x), inside)).astype(F)


@dataclasses.dataclass
class Graph:
    nodes: list
    constants: list
    inputs: list
    outputs: list
    spelled: bool = False  # FakeQuantize as Mul, Round, Clip, Mul: nothing is rounded else where scales are powers of two

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def fake(self, x, y, ends, levels, domain=OPENVINO):
        if self.spelled:
            step = ((np.asarray(ends[1], np.float64) - ends[0]) / (levels - 1))
            parts = [('Mul', 1 / step), ('Round', None), ('Max', ends[0] / step), ('Min', ends[1] / step), ('Mul', step)]
            for i, (op, value) in enumerate(parts):
                out = y if i == 4 else f'{y}_{i}'
                inputs = [x] if value is None else [x, self.constant(f'{y}_k{i}', np.asarray(value, F))]
                self.nodes.append(helper.make_node(op, inputs, [out]))
                x = out
            return y
        names = [self.constant(f'{y}_{end}', np.asarray(value, F)) for end, value in zip(('il', 'ih', 'ol', 'oh'), ends)]
        self.nodes.append(helper.make_node('FakeQuantize', [x, *names], [y], name=y, domain=domain, levels=levels))
        return y

    def save(self, path):
        infos = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ports]
                 for ports in (self.inputs, [(name, None) for name in self.outputs])]
        graph = helper.make_graph(self.nodes, 'fq', infos[0], infos[1], self.constants)
        opsets = [helper.make_opsetid('', 17), helper.make_opsetid(OPENVINO, 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def empty():
    return Graph([], [], [], [])


# --- single operators -----------------------------------------------------------------------------------------------

LEVELS = (2, 3, 4, 16, 100, 255, 256, 65536)


FORMS = ('tensor', 'channel', 'rows', 'in only', 'out only', 'plain domain', 'turned round', 'many axes')


def single_operators(seed, forms=FORMS):
    """One graph of many FakeQuantize nodes on one input, and what each must give: {output: (text, ends, levels)}."""
    rng = np.random.default_rng(seed)
    shape, graph, cases = (2, 5, 4, 6), empty(), {}
    graph.inputs.append(('x', shape))
    for levels in LEVELS:
        for form in forms:
            spread = {'channel': (1, 5, 1, 1), 'rows': (4, 1), 'many axes': (5, 4, 6)}.get(form, ())
            ends = [rng.uniform(-3, 0, spread), rng.uniform(0.1, 3, spread), rng.uniform(-3, 0, spread), rng.uniform(0.1, 3, spread)]
            if form == 'in only':
                ends[:2] = rng.uniform(-3, 0, (5, 1, 1)), rng.uniform(0.1, 3, (5, 1, 1))
            if form == 'out only':
                ends[2:] = rng.uniform(-3, 0, (5, 1, 1)), rng.uniform(0.1, 3, (5, 1, 1))
            if form == 'turned round':
                ends[0], ends[1] = ends[1], ends[0]
            ends = [np.asarray(end, F) for end in ends]
            name = f'y{len(cases)}'
            graph.fake('x', name, ends, levels, '' if form == 'plain domain' else OPENVINO)
            graph.outputs.append(name)
            cases[name] = (f'{levels} levels, {form}', ends, levels)
    return graph, cases, shape


def values_around(shape, cases, seed):
    """Random numbers, ends of ranges, and numbers on ties."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-4, 4, shape).astype(F).ravel()
    special = [F(0), F(-0.0), F(1e-38), F(-1e30), F(1e30)]
    for _, ends, levels in list(cases.values())[::3]:
        low, high = F(ends[0].ravel()[0]), F(ends[1].ravel()[0])
        special += [low, high, np.nextafter(low, F(9)), np.nextafter(high, F(-9)), low + (high - low) * F(0.5 / (levels - 1))]
    at = rng.permutation(x.size)[:len(special)]
    x[at] = special[:len(at)]
    return x.reshape(shape)


# --- chains behind a convolution ------------------------------------------------------------------------------------

@dataclasses.dataclass
class Chain:
    graph: Graph
    shape: tuple
    text: str
    unit: float  # what one integer of the output stands for
    exact: bool  # every scale and factor is a power of two: nothing is rounded but by FakeQuantize


def ends_of(scale, levels, signed, channels=None):
    """The range of `levels` multiples of `scale` around 0, or from 0."""
    scale = np.asarray(scale, np.float64)
    below = levels // 2 if signed else 0
    low, high = -below * scale, (levels - 1 - below) * scale
    if channels is not None:
        low, high = low.reshape(channels), high.reshape(channels)
    return [low.astype(F), high.astype(F)] * 2


OPERATORS = {'relu': True, 'leaky': True, 'clip': True, 'mul': True, 'add': True, 'mul channel': True, 'sum': True, 'affine': True,
             'one': True, 'tanh': False, 'sigmoid': False, 'hardswish': False, 'swish': False, 'abs': True}


def chain(seed, exact, spelled=False):
    rng = np.random.default_rng(seed)
    number = (lambda low, high: float(2.0 ** rng.integers(round(np.log2(low)), round(np.log2(high)) + 1))) if exact else (
        lambda low, high: float(rng.uniform(low, high)))
    shape, graph, node = (1, 4, 6, 5), empty(), helper.make_node
    graph.spelled = spelled
    graph.inputs.append(('x', shape))
    levels, signed = int(rng.choice([256, 255, 16])), bool(rng.integers(2))
    graph.fake('x', 'xq', ends_of(number(1 / 128, 1 / 32), levels, signed), levels)
    per_channel = bool(rng.integers(2))
    scale = np.array([number(1 / 128, 1 / 64) for _ in range(6)]) if per_channel else number(1 / 128, 1 / 64)
    weights = rng.normal(size=(6, 4, 3, 3)).astype(F) / 4
    graph.constant('w', weights)
    graph.fake('w', 'wq', ends_of(scale, 256, True, (6, 1, 1, 1) if per_channel else None), 256)
    graph.nodes.append(node('Conv', ['xq', 'wq'], ['c'], name='conv', pads=[1] * 4))
    names = [name for name, keeps in OPERATORS.items() if keeps or not exact]
    wanted = [str(name) for name in rng.choice(names, size=rng.integers(1, 5))]
    if 'sum' in wanted:
        wanted = [name for i, name in enumerate(wanted) if name != 'sum' or i == wanted.index('sum')]
    if 'mul channel' in wanted:  # of channels: where the weights can take it in
        rest = [name for name in wanted if name != 'mul channel']
        wanted = ['relu', 'mul channel', *rest] if rng.integers(2) else ['mul channel', *rest]
    y = 'c'
    for i, name in enumerate(wanted):
        y = write(graph, name, y, f't{i}', number, rng)
    levels, signed = int(rng.choice([256, 255, 16])), bool(rng.integers(2))
    unit = number(1 / 64, 1 / 16) * (4 if levels == 16 else 1)
    graph.fake(y, 'y', ends_of(unit, levels, signed), levels)
    graph.outputs.append('y')
    return Chain(graph, shape, f'{" ".join(wanted)}; per {"channel" if per_channel else "tensor"}; {levels} levels', unit, exact)


def write(graph, name, x, y, number, rng):
    node = helper.make_node

    def scalar(value, what='s', shape=()):
        return graph.constant(f'{y}_{what}', np.full(shape, value, F))

    add = graph.nodes.append
    if name == 'leaky':
        add(node('LeakyRelu', [x], [y], alpha=0.125))
    elif name == 'clip':
        add(node('Clip', [x, scalar(-number(0.5, 1), 'lo'), scalar(number(1, 2), 'hi')], [y]))
    elif name == 'mul':
        add(node('Mul', [x, scalar(number(0.25, 2))], [y]))
    elif name == 'one':
        add(node('Mul', [x, scalar(1)], [f'{y}_one']))
        add(node('Add', [f'{y}_one', scalar(0, 'zero')], [y]))
    elif name == 'add':
        add(node('Add', [x, scalar(number(0.25, 1))], [y]))
    elif name == 'affine':
        add(node('Mul', [x, scalar(number(0.5, 2), 'a')], [f'{y}_m']))
        add(node('Add', [f'{y}_m', scalar(number(0.25, 1), 'b')], [f'{y}_p']))
        add(node('Mul', [f'{y}_p', scalar(number(0.5, 2), 'c')], [y]))
    elif name == 'mul channel':
        factors = np.array([number(0.5, 2) for _ in range(6)], F).reshape(6, 1, 1)
        add(node('Mul', [x, graph.constant(f'{y}_s', factors)], [y]))
    elif name == 'sum':
        graph.inputs.append(('skip', (1, 6, 6, 5)))
        graph.fake('skip', 'skipq', ends_of(number(1 / 64, 1 / 16), 256, bool(rng.integers(2))), 256)
        add(node('Add', [x, 'skipq'], [y]))
    elif name == 'swish':
        add(node('Sigmoid', [x], [f'{y}_g']))
        add(node('Mul', [x, f'{y}_g'], [y]))
    else:
        add(node({'relu': 'Relu', 'tanh': 'Tanh', 'sigmoid': 'Sigmoid', 'hardswish': 'HardSwish', 'abs': 'Abs'}[name], [x], [y]))
    return y
