"""QDQ models with 16-bit integers: under profile tpu they are integers, within a unit of what ONNX Runtime computes in floats between the same
QuantizeLinear nodes; with zero points of their own they are held about 0, with steps of up to twice the model's."""

import gzip
import json

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline
import test_operators_integer
from frameworks import ort

SHAPE = (1, 8, 10, 12)
KINDS = {'s16': (np.int16, 0), 'u16': (np.uint16, 32768)}
OTHERS = {'s16 about 300': (np.int16, 300), 'u16 about 30000': (np.uint16, 30000), 'u16 from 0': (np.uint16, 0), 's16 from -32768': (np.int16, -32768)}
MOVED = 5  # units that other steps of the inputs and of the result come to in these operators, at most


class Net:
    """QuantizeLinear and DequantizeLinear around each operator; weights are s8, constants seeded."""

    def __init__(self, kind, seed=1):
        self.dtype, self.zero = (KINDS | OTHERS)[kind]
        self.rng, self.nodes, self.constants, self.inputs = np.random.default_rng(seed), [], [], {}

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output + '_node', **attributes))
        return output

    def trip(self, x, reach, dtype=None, zero=None):
        scale = self.constant(x + '_s', np.float32(reach / (127 if dtype else 32767)))
        zero = 0 if dtype else self.zero if zero is None else zero
        point = self.constant(x + '_z', np.asarray(zero, dtype or self.dtype))
        q = self.node('QuantizeLinear', [x, scale, point], x + '_q')
        return self.node('DequantizeLinear', [q, scale, point], x + '_dq')

    def input(self, name='x', shape=SHAPE, reach=3.0, low=None):
        self.inputs[name] = (shape, -reach if low is None else low, reach)
        return self.trip(name, reach)

    def weights(self, name, shape, axis, each=True):
        scales = self.rng.uniform(0.002, 0.01, shape[axis]).astype(np.float32) if each else np.float32(0.005)
        w = self.constant(name + '_q', self.rng.integers(-127, 128, shape).astype(np.int8))
        names = [w, self.constant(name + '_s', scales), self.constant(name + '_z', np.zeros(np.shape(scales), np.int8))]
        return self.node('DequantizeLinear', names, name, **({'axis': axis} if each else {})), np.broadcast_to(scales, shape[axis])

    def bias(self, name, scales, reach=3.0):
        unit = (scales * np.float32(reach / 32767)).astype(np.float32)
        q = self.constant(name + '_q', self.rng.integers(-20000, 20000, scales.shape).astype(np.int32))
        names = [q, self.constant(name + '_s', unit), self.constant(name + '_z', np.zeros(scales.shape, np.int32))]
        return self.node('DequantizeLinear', names, name, axis=0)

    def model(self, y):
        ins = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, (s, _, _) in self.inputs.items()]
        graph = helper.make_graph(self.nodes, 'g', ins, [helper.make_tensor_value_info(y, TensorProto.FLOAT, None)], self.constants)
        model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 21)])
        return onnx.shape_inference.infer_shapes(model)

    def sample(self):
        return {n: self.rng.uniform(low, high, s).astype(np.float32) for n, (s, low, high) in self.inputs.items()}


def conv(net, groups=1, dtype=None):
    w, scales = net.weights('w', (8, 8 // groups, 3, 3), 0)
    y = net.node('Conv', [net.input(), w, net.bias('b', scales)], 'y', pads=[1, 1, 1, 1], group=groups)
    return net.trip(y, 8.0, dtype), 8.0


def from_bytes(net):
    """8 bits in, 16 out."""
    net.inputs['x'] = (SHAPE, -3.0, 3.0)
    w, scales = net.weights('w', (8, 8, 3, 3), 0)
    y = net.node('Conv', [net.trip('x', 3.0, np.int8), w, net.bias('b', scales * np.float32(32767 / 127))], 'y', pads=[1, 1, 1, 1])
    return net.trip(y, 8.0), 8.0


def one_scale(net):
    """600,000 weights with one scale for all channels."""
    w, scales = net.weights('w', (256, 256, 3, 3), 0, False)
    y = net.node('Conv', [net.input(shape=(1, 256, 3, 3)), w, net.bias('b', scales)], 'y')
    return net.trip(y, 200.0), 200.0


def divided(net):
    d = net.constant('d', np.array([0.01, 5, 1, 0.3, 2, 0.02, 0.5, 4], np.float32).reshape(8, 1, 1))
    return net.trip(net.node('Div', [net.input(), d], 'y'), 300.0), 300.0


def masked(net):
    """-inf is no integer: the sum is F32, named."""
    mask = np.zeros(SHAPE, np.float32)
    mask[..., 3] = -np.inf
    summed = net.node('Add', [net.input(), net.constant('mask', mask)], 's')
    return net.trip(net.node('Softmax', [summed], 'y', axis=-1), 1.0), 1.0


def transposed(net):
    w, scales = net.weights('w', (8, 6, 2, 2), 1)
    return net.trip(net.node('ConvTranspose', [net.input(), w, net.bias('b', scales)], 'y', strides=[2, 2]), 5.0), 5.0


def dense(net):
    w, scales = net.weights('w', (12, 20), 1)
    return net.trip(net.node('Gemm', [net.input(shape=(5, 12)), w, net.bias('b', scales)], 'y'), 6.0), 6.0


def batched(net):
    a, b = net.input('a', (2, 5, 16)), net.input('b', (2, 16, 7))
    return net.trip(net.node('MatMul', [a, b], 'y'), 30.0), 30.0


def pair(op, reach, constant=False, low=None):
    def build(net):
        a = net.input('a')
        if constant:
            c = net.constant('c_int', net.rng.integers(5000, 32767, (8, 1, 1)).astype(np.int16))
            names = [c, net.constant('c_s', np.float32(1e-4)), net.constant('c_z', np.int16(0))]
            b = net.node('DequantizeLinear', names, 'c')
        else:
            b = net.input('b', reach=2.0, low=low)
        return net.trip(net.node(op, [a, b], 'y'), reach), reach
    return build


def one(op, reach, shape=SHAPE, **attributes):
    return lambda net: (net.trip(net.node(op, [net.input(shape=shape)], 'y', **attributes), reach), reach)


def clipped(net):
    w, scales = net.weights('w', (8, 8, 1, 1), 0)
    y = net.node('Relu', [net.node('Conv', [net.input(), w, net.bias('b', scales)], 'c')], 'y')
    return net.trip(y, 4.0), 4.0


def resized(net):
    scales = net.constant('scales', np.array([1, 1, 2, 2], np.float32))
    return net.trip(net.node('Resize', [net.input(), '', scales], 'y', mode='linear'), 3.0), 3.0


def mean(net):
    return net.trip(net.node('ReduceMean', [net.input(), net.constant('axes', np.array([2]))], 'y'), 2.0), 2.0


def chosen(net):
    mask = net.constant('mask', net.rng.integers(0, 2, SHAPE).astype(bool))
    return net.trip(net.node('Where', [mask, net.input('a'), net.input('b')], 'y'), 3.0), 3.0


def joined(net):
    return net.trip(net.node('Concat', [net.input('a'), net.input('b', reach=2.0)], 'y', axis=1), 3.0), 3.0


def normalized(net):
    factors = net.constant('f', net.rng.uniform(0.5, 1.5, 16).astype(np.float32))
    offsets = net.constant('o', net.rng.uniform(-1, 1, 16).astype(np.float32))
    return net.trip(net.node('LayerNormalization', [net.input(shape=(3, 5, 16)), factors, offsets], 'y', axis=-1), 6.0), 6.0


# Name, how it is built, units of the result that it may be off by: functions are lines between points.
CASES = (
    ('Conv', conv, 1), ('Conv, groups', lambda net: conv(net, 2), 1), ('Conv, depthwise', lambda net: conv(net, 8), 1),
    ('Conv of bytes', from_bytes, 1), ('Conv, one scale', one_scale, 1), ('Div by constants', divided, 1), ('Mask', masked, 1),
    ('Conv to 8 bits', lambda net: conv(net, 1, np.int8), 1), ('ConvTranspose', transposed, 1), ('Conv and Relu', clipped, 1), ('Gemm', dense, 1),
    ('MatMul of two', batched, 1), ('Add', pair('Add', 5.0), 1), ('Sub', pair('Sub', 5.0), 1), ('Mul', pair('Mul', 6.0), 1),
    ('Mul by s16', pair('Mul', 9.0, True), 1), ('Div', pair('Div', 6.0, low=0.5), 1), ('Max', pair('Max', 3.0), 1),
    ('Sigmoid', one('Sigmoid', 1.0), 2), ('Tanh', one('Tanh', 1.0), 2), ('HardSwish', one('HardSwish', 3.0), 2), ('LeakyRelu', one('LeakyRelu', 3.0, alpha=0.1), 1),
    ('MaxPool', one('MaxPool', 3.0, kernel_shape=[2, 2]), 1), ('AveragePool', one('AveragePool', 3.0, kernel_shape=[3, 3]), 1),
    ('GlobalAveragePool', one('GlobalAveragePool', 1.0), 1), ('ReduceMean', mean, 1), ('Softmax', one('Softmax', 1.0, (3, 5, 17), axis=-1), 1),
    ('LayerNormalization', normalized, 2), ('Resize', resized, 3), ('Where', chosen, 1), ('Concat', joined, 1), ('Transpose', one('Transpose', 3.0, perm=[0, 2, 3, 1]), 0),
)


def oracle(model, sample):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, sample)[0]


@pytest.mark.parametrize('kind', KINDS | OTHERS)
@pytest.mark.parametrize('name, build, units', CASES, ids=[c[0].replace(' ', '-') for c in CASES])
def test_operator(name, build, units, kind, tmp_path, report):
    net = Net(kind, seed=sum(map(ord, name)))
    y, reach = build(net)
    model, path, program = net.model(y), tmp_path / 'm.onnx', tmp_path / 'p.rshift'
    onnx.save(model, path)
    pipeline.run('model_deploy', path, '-o', program)
    inputs = {'clip_f32'} if kind in OTHERS else set()  # what the model's integers cannot hold is cut off in F32
    if name == 'Mask':
        assert set(pipeline.f32_commands(program)) - inputs == {'binary_f32', 'softmax_f32'}
    else:
        assert set(pipeline.f32_commands(program)) - inputs <= {'where'}  # of the float class, and moves any numbers
    pipeline.run('model_deploy', path, '-o', tmp_path / 'f32.rshift', '--mode', 'f32')
    unit = reach / (127 if 'to 8 bits' in name else 32767)
    differ = total = 0
    for _ in range(3):
        sample = net.sample()
        expected = oracle(model, sample)
        steps = np.rint((pipeline.infer(program, sample, tmp_path)[y].astype(np.float64) - expected) / unit)
        assert np.abs(steps).max() <= units + (MOVED if kind in OTHERS else 0)
        floating = np.rint((pipeline.infer(tmp_path / 'f32.rshift', sample, tmp_path)[y].astype(np.float64) - expected) / unit)
        assert np.abs(floating).max() <= 1 and (floating != 0).sum() <= max(4, floating.size / 20)  # sums of floats in another order
        differ, total = differ + int((steps != 0).sum()), total + steps.size
    assert len(np.unique(expected)) >= min(50, expected.size) or name == 'Div' and 'from' in kind
    report(f'16-bit QDQ {name:20} {kind}: {total} numbers, {differ} differ by a unit or two from ONNX Runtime')


def bared(model):
    """The model with the integers of its input's QuantizeLinear as input and those before its last DequantizeLinear as output."""
    graph = model.graph
    inside = {i.name: i for i in graph.value_info}
    first, = (n for n in graph.node if n.op_type == 'QuantizeLinear' and n.input[0] == graph.input[0].name)
    last = graph.node[-1]
    kept = [n for n in graph.node if n not in (first, last)]
    ports = [inside[first.output[0]], inside[last.input[0]]]
    graph.ClearField('node')
    graph.node.extend(kept)
    for field, port in zip(('input', 'output'), ports):
        graph.ClearField(field)
        getattr(graph, field).extend([port])
    return model, *(port.name for port in ports)


@pytest.mark.parametrize('kind', KINDS | OTHERS)
@pytest.mark.parametrize('build', (conv, clipped, one('MaxPool', 3.0, kernel_shape=[2, 2])), ids=('conv', 'clipped', 'pool'))
def test_integers_outside(build, kind, tmp_path):
    """s16 and u16 as input and output of the model itself, as they are in and as they are out."""
    net = Net(kind)
    y, _ = build(net)
    model, x, q = bared(net.model(y))
    onnx.save(model, tmp_path / 'm.onnx')
    sample = {x: net.rng.integers(np.iinfo(net.dtype).min, np.iinfo(net.dtype).max, SHAPE, net.dtype, endpoint=True)}
    expected = oracle(model, sample)
    np.savez(tmp_path / 'x.npz', **sample)
    units = 0 if 'MaxPool' in {n.op_type for n in model.graph.node} else 1
    for flags, off in (((), MOVED if kind in OTHERS else units), (('--mode', 'f32'), 1)):
        flags = flags or ('--test-input', tmp_path / 'x.npz')
        said = pipeline.run('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'p.rshift', *flags)
        found = pipeline.infer(tmp_path / 'p.rshift', sample, tmp_path, '--raw')[q]
        assert found.dtype == net.dtype and np.abs(found.astype(np.int64) - expected).max() <= off
        if 'f32' not in flags:
            assert 'check: good' in said
            assert not pipeline.f32_commands(tmp_path / 'p.rshift') or kind != 's16'
        info = json.loads(pipeline.run('model_tool', 'info', tmp_path / 'p.rshift', '--json'))
        for port in info['inputs'] + info['outputs']:
            assert port['type'] == kind[:3]
            if kind[0] == 'u':
                assert port['zero_point'] == net.zero


def wrapped(nodes, constants, kind, shape=(1, 4, 6), out=None):
    """A model with an input x of 16-bit integers and an output y of such, scales 1e-4: `nodes` between."""
    dtype, _ = (KINDS | OTHERS).get(kind, (np.uint16, 0))
    tensor = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', tensor, shape)], [helper.make_tensor_value_info('y', tensor, out or shape)], constants)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 21)])


def ends(dtype, zero, zero_y=None):
    return [numpy_helper.from_array(np.float32(1e-4), 's'), numpy_helper.from_array(np.asarray(zero, dtype), 'z'),
            numpy_helper.from_array(np.asarray(zero if zero_y is None else zero_y, dtype), 'zy')]


def run_raw(model, x, tmp_path, *flags):
    onnx.save(model, tmp_path / 'm.onnx')
    pipeline.run('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'p.rshift', *flags)
    return pipeline.infer(tmp_path / 'p.rshift', {'x': x}, tmp_path, '--raw')['y']


@pytest.mark.parametrize('dtype', (np.uint16, np.int16))
def test_outputs_saturate_at_the_models_ends(dtype, tmp_path):
    """Whatever the zero point is: an end of our steps may lie beyond the model's last integer."""
    rng, info = np.random.default_rng(3), np.iinfo(dtype)
    points = [info.min, info.min + 7, info.max - 535, info.max, *rng.integers(info.min, info.max, 12)]
    x = rng.integers(info.min, info.max, (1, 4, 60), dtype, endpoint=True)
    x[0, 0, :2] = info.min, info.max
    node = helper.make_node
    for point in points:
        nodes = [node('DequantizeLinear', ['x', 's', 'z'], ['a']), node('Add', ['a', 'c'], ['b']), node('QuantizeLinear', ['b', 's', 'zy'], ['y'])]
        constants = [*ends(dtype, 0 if info.min else 32768, point), numpy_helper.from_array(rng.normal(size=(1, 4, 60)).astype(np.float32), 'c')]
        model = wrapped(nodes, constants, 's16' if info.min else 'u16', (1, 4, 60))
        expected = oracle(model, {'x': x})
        assert (expected == info.min).any() or (expected == info.max).any()
        for flags in ((), ('--mode', 'f32')):
            found = run_raw(model, x, tmp_path, *flags)
            assert np.abs(found.astype(np.int64) - expected).max() <= 2, (point, flags)


MOVES = {'Identity': {}, 'Transpose': {'perm': [0, 2, 1]}, 'Flatten': {}, 'Unsqueeze': [0], 'Reshape': [1, 6, 4], 'Gather': [2, 1], 'Slice': [1]}


@pytest.mark.parametrize('kind', KINDS | OTHERS)
@pytest.mark.parametrize('op', MOVES)
@pytest.mark.parametrize('first', (True, False))
def test_moved_integers_outside(op, kind, first, tmp_path):
    """Integers that are moved before the DequantizeLinear or behind the QuantizeLinear keep their type, scale and zero point."""
    dtype, zero = (KINDS | OTHERS)[kind]
    node, more = helper.make_node, MOVES[op]
    constants = ends(dtype, zero)
    inputs = []
    if isinstance(more, list):
        constants.append(numpy_helper.from_array(np.array(more, np.int64), 'm'))
        inputs = ['m', 'm2', 'm'] if op == 'Slice' else ['m']
        constants.append(numpy_helper.from_array(np.array([3], np.int64), 'm2'))
    attributes = more if isinstance(more, dict) else {'axis': 1} if op == 'Gather' else {}
    chain = [node('DequantizeLinear', ['a', 's', 'z'], ['d']), node('Relu', ['d'], ['r']), node('QuantizeLinear', ['r', 's', 'zy'], ['q'])]
    move = node(op, ['x' if first else 'q', *inputs], ['a' if first else 'y'], **attributes)
    if first:
        chain[2].output[0] = 'y'
    else:
        chain[0].input[0] = 'x'
    nodes = [move, *chain] if first else [*chain, move]
    x = np.random.default_rng(5).integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (1, 4, 6), dtype, endpoint=True)
    model = wrapped(nodes, constants, kind)
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.output[0].type.tensor_type.ClearField('shape')
    expected = oracle(model, {'x': x})
    found = run_raw(model, x, tmp_path)
    assert found.dtype == dtype and np.abs(found.astype(np.int64) - expected.astype(np.int64)).max() <= (2 if kind in OTHERS else 0)
    info = json.loads(pipeline.run('model_tool', 'info', tmp_path / 'p.rshift', '--json'))
    for port in info['inputs'] + info['outputs']:
        assert port['type'] == kind[:3] and (kind[0] == 's' or port['zero_point'] == zero)
    if kind == 's16':
        assert not pipeline.f32_commands(tmp_path / 'p.rshift')


def test_other_readers_of_an_output(tmp_path):
    """Those of its shape, an addition of integers' numbers, and a Concat of several scales: outputs keep the model's type."""
    node, scales = helper.make_node, ends(np.uint16, 32768, 40000)
    two = numpy_helper.from_array(np.float32(3e-4), 's2')
    x = np.random.default_rng(6).integers(0, 65536, (1, 4, 6), dtype=np.uint16)
    quantize = [node('DequantizeLinear', ['x', 's', 'z'], ['d']), node('QuantizeLinear', ['d', 's', 'z'], ['y'])]
    shape = [*quantize, node('Shape', ['y'], ['n']), node('Cast', ['n'], ['unused'], to=TensorProto.FLOAT)]
    joined = [quantize[0], node('QuantizeLinear', ['d', 's2', 'z'], ['p']), node('QuantizeLinear', ['d', 's', 'zy'], ['q']), node('Shape', ['q'], ['n']),
              node('Concat', ['p', 'q'], ['y'], axis=1)]
    for nodes, out in ((shape, (1, 4, 6)), (joined, (1, 8, 6))):
        model = wrapped(nodes, [*scales, two], 'u16', out=out)
        expected = oracle(model, {'x': x})
        for flags in ((), ('--mode', 'f32')):
            found = run_raw(model, x, tmp_path, *flags)
            assert found.dtype == np.uint16 and np.abs(found.astype(np.int64) - expected).max() <= 1, flags


@pytest.mark.parametrize('spread', (3, 20))
def test_a_mask_takes_every_number_out_of_the_range(spread, tmp_path):
    """8 bits: inputs far beyond the range of the sum."""
    node, mask = helper.make_node, np.where(np.arange(48).reshape(1, 6, 8) % 3 == 0, np.float32(-np.inf), np.float32(0))
    named = {'sx': np.float32(spread / 127), 'sy': np.float32(1 / 127), 'z': np.int8(0), 'mask': mask}
    nodes = [node('QuantizeLinear', ['x', 'sx', 'z'], ['q']), node('DequantizeLinear', ['q', 'sx', 'z'], ['d']), node('Add', ['d', 'mask'], ['a']),
             node('QuantizeLinear', ['a', 'sy', 'z'], ['p']), node('DequantizeLinear', ['p', 'sy', 'z'], ['y'])]
    port = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 6, 8)) for n in 'xy']
    graph = helper.make_graph(nodes, 'g', port[:1], port[1:], [numpy_helper.from_array(np.asarray(v), k) for k, v in named.items()])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 21)])
    onnx.save(model, tmp_path / 'm.onnx')
    x = {'x': np.random.default_rng(4).uniform(-spread, spread, (1, 6, 8)).astype(np.float32)}
    pipeline.run('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'p.rshift')
    assert np.abs(pipeline.infer(tmp_path / 'p.rshift', x, tmp_path)['y'] - oracle(model, x)).max() <= 1.01 / 127


@pytest.mark.parametrize('dtype, zero, scale', ((np.uint16, 65535, 5.192376e+33), (np.uint8, 255, 1.33e36), (np.int8, 127, 1.33e36)))
@pytest.mark.parametrize('least', (-np.inf, np.finfo(np.float32).min))
def test_the_mask_of_an_attention(dtype, zero, scale, least, tmp_path):
    """ONNX Runtime's quantizer gives scores and mask together a scale near the largest number."""
    mask = np.where(np.triu(np.ones((8, 8)), 1) > 0, np.float32(least), np.float32(0)).astype(np.float32)
    info, node = np.iinfo(dtype), helper.make_node
    levels = info.max - info.min
    named = {'sx': np.float32(8 / (levels + 1)), 'zx': np.asarray((info.max + info.min + 1) // 2, dtype), 'sm': np.float32(scale), 'zm': np.asarray(zero, dtype),
             'sy': np.float32(1 / levels), 'zy': np.asarray(info.min, dtype), 'mask': mask}
    nodes = []
    for source, scales, op in (('x', 'x', None), ('a', 'm', node('Add', ['x_d', 'mask'], ['a'])), ('p', 'y', node('Softmax', ['a_d'], ['p'], axis=-1))):
        nodes += [op] if op else []
        nodes += [node('QuantizeLinear', [source, 's' + scales, 'z' + scales], [source + '_q']), node('DequantizeLinear', [source + '_q', 's' + scales, 'z' + scales], [source + '_d'])]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 2, 8, 8))],
                              [helper.make_tensor_value_info('p_d', TensorProto.FLOAT, (1, 2, 8, 8))], [numpy_helper.from_array(v, k) for k, v in named.items()])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 21)])
    onnx.save(model, tmp_path / 'm.onnx')
    x = {'x': np.random.default_rng(2).normal(size=(1, 2, 8, 8)).astype(np.float32)}
    expected = oracle(model, x)
    for flags in ((), ('--mode', 'f32')):
        pipeline.run('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'p.rshift', *flags)
        found = pipeline.infer(tmp_path / 'p.rshift', x, tmp_path)['p_d']
        assert np.abs(found - expected).max() <= 2 / levels, flags


def test_types_of_a_model_stay_and_are_said(tmp_path):
    """--input-type has nothing to change; scales of other tools' formats have 16 bits."""
    net = Net('u16')
    model, x, q = bared(net.model(conv(net)[0]))
    onnx.save(model, tmp_path / 'm.onnx')
    for option, name in (('--input-type', x), ('--output-type', q)):
        error = pipeline.fails('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'p.rshift', option, 's8')
        assert f"'{name}' is u16 in the model and stays so; leave it out" in str(error)
    pipeline.run('model_tool', 'scales', 'convert', tmp_path / 'm.onnx', tmp_path / 's.encodings')
    entries = json.loads((tmp_path / 's.encodings').read_text())['activation_encodings']
    assert entries and {entry['bw'] for entry in entries} == {16}


def test_same_integers_everywhere(tmp_path):
    net = Net('s16')
    y, _ = clipped(net)
    onnx.save(net.model(y), tmp_path / 'm.onnx')
    pipeline.run('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'p.rshift')
    sample = net.sample()
    found = [pipeline.infer(tmp_path / 'p.rshift', sample, tmp_path, '--raw', '--isa', isa, '--threads', threads)[y].tobytes()
             for isa, threads in test_operators_integer.instruction_sets()]
    assert len(set(found)) == 1


@pytest.mark.parametrize('kind', OTHERS)
def test_other_zero_points_are_named(kind, tmp_path):
    """Each tensor that has other steps than the model says is in the report; another profile computes in F32."""
    net = Net(kind)
    y, _ = conv(net)
    onnx.save(net.model(y), tmp_path / 'm.onnx')
    pipeline.run('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'p.rshift', '--report-json', tmp_path / 'r.json')
    report = json.loads((tmp_path / 'r.json').read_text())
    assert [n['node'] for n in report['float_nodes']] == ['x_q__clip']  # of the network's input
    assert [n['node'] for n in report['notes'] if 'held about 0' in n['text']] == ['x_q', 'y_q']
    pipeline.run('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'p.rshift', '--profile', 'onnxruntime', '--report-json', tmp_path / 'r.json')
    assert 'y_node' in {n['node'] for n in json.loads((tmp_path / 'r.json').read_text())['float_nodes']}


def test_the_check_compares_with_the_models_own_steps(tmp_path):
    """Not with the numbers held about 0: ONNX Runtime says the same decibels."""
    net = Net('u16 from 0')
    y, _ = conv(net)
    sample = net.sample()
    onnx.save(net.model(y), tmp_path / 'm.onnx')
    np.savez(tmp_path / 'x.npz', **sample)
    pipeline.run('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'p.rshift', '--test-input', tmp_path / 'x.npz', '--report-json', tmp_path / 'r.json')
    expected = oracle(net.model(y), sample).astype(np.float64)
    error = pipeline.infer(tmp_path / 'p.rshift', sample, tmp_path)[y] - expected
    decibels = 10 * np.log10((expected ** 2).sum() / (error ** 2).sum())
    said = json.loads((tmp_path / 'r.json').read_text())['check']['outputs'][0]['sqnr_db']
    assert 60 < decibels < 90 and abs(said - decibels) < 1


def test_integers_that_others_read_are_numbers(tmp_path):
    """u16 that a Cast reads, and a DequantizeLinear without the zero point: nothing is off by 32768 steps."""
    scale, point = numpy_helper.from_array(np.float32(1e-4), 's'), numpy_helper.from_array(np.uint16(32768), 'z')
    cast = [helper.make_node('QuantizeLinear', ['x', 's', 'z'], ['q']), helper.make_node('Cast', ['q'], ['y'], to=TensorProto.FLOAT)]
    bare = [helper.make_node('QuantizeLinear', ['x', 's', 'z'], ['q']), helper.make_node('DequantizeLinear', ['q', 's'], ['y'])]
    x = {'x': np.linspace(-4, 4, 60, dtype=np.float32).reshape(1, 60)}
    for nodes in (cast, bare):
        graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [1, 60])],
                                  [helper.make_tensor_value_info('y', TensorProto.FLOAT, [1, 60])], [scale, point])
        model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', 21)])
        onnx.save(model, tmp_path / 'm.onnx')
        done = pipeline.call('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'p.rshift', '--mode', 'f32')
        if nodes is cast:
            assert (pipeline.infer(tmp_path / 'p.rshift', x, tmp_path)['y'] == oracle(model, x)).all()
        else:  # its zero point is 0: another number for the same integer
            assert done.returncode == 1 and 'a tensor has one scale' in done.stderr


@pytest.mark.parametrize('dedicated', (False, True))
@pytest.mark.parametrize('kind, symmetric', (('QInt16', True), ('QInt16', False), ('QUInt16', True), ('QUInt16', False)))
def test_what_onnx_runtime_quantizes_to_sixteen_bits(kind, symmetric, dedicated, tmp_path, report):
    """quantize_static in 16 bits: a whole network in integers, next to ONNX Runtime's own numbers."""
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    graph = onnx.load(pipeline.EXAMPLE).graph
    name, shape = graph.input[0].name, [d.dim_value or 1 for d in graph.input[0].type.tensor_type.shape.dim]
    pixels = np.frombuffer(gzip.decompress(pipeline.TRAIN_IMAGES.read_bytes())[16:], np.uint8)[:40 * 784].reshape(40, *shape)
    pictures = [{name: p.astype(np.float32) / 255} for p in pixels]

    quant_pre_process(str(pipeline.EXAMPLE), str(tmp_path / 'pre.onnx'), skip_symbolic_shape=True)  # BatchNormalization goes into the convolutions
    quantize_static(str(tmp_path / 'pre.onnx'), str(tmp_path / 'q.onnx'), ort.Reader(pictures[:32]), quant_format=QuantFormat.QDQ, activation_type=getattr(QuantType, kind),
                    weight_type=QuantType.QInt8, per_channel=True, extra_options={'ActivationSymmetric': symmetric, 'WeightSymmetric': True, 'DedicatedQDQPair': dedicated})
    said = pipeline.run('model_deploy', tmp_path / 'q.onnx', '-o', tmp_path / 'p.rshift')
    assert set(pipeline.f32_commands(tmp_path / 'p.rshift')) <= {'clip_f32'}, said  # of the network's input
    model = onnx.load(tmp_path / 'q.onnx')
    signal = noise = 0
    for picture in pictures[32:]:
        expected = oracle(model, picture)
        found = next(iter(pipeline.infer(tmp_path / 'p.rshift', picture, tmp_path).values()))
        signal, noise = signal + float((expected ** 2).sum()), noise + float(((found - expected) ** 2).sum())
    decibels = 10 * np.log10(signal / max(noise, 1e-30))
    report(f'quantize_static, {kind}, symmetric {symmetric}: {decibels:.1f} dB from ONNX Runtime')
    assert decibels > 60
