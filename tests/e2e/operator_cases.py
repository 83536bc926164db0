"""Small graphs of one or a few operators, with seeded random weights and inputs."""

import dataclasses
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclasses.dataclass
class Case:
    """One graph; its names start with `prefix`, so that several are one model. inputs: {name: (shape, low, high)},
    uniform; f32: the F32 commands an integer program may keep; sqnr: least dB of an integer program's output."""
    prefix: str
    nodes: list
    inputs: dict
    constants: dict
    outputs: list
    opset: int = 13
    f32: tuple = ()
    sqnr: float = 30.0


def model_of(cases):
    """The cases, of one opset, side by side in one model."""
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for c in cases for n, (s, _, _) in c.inputs.items()]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for c in cases for n in c.outputs]
    constants = [numpy_helper.from_array(np.asarray(v), n) for c in cases for n, v in c.constants.items()]
    graph = helper.make_graph([n for c in cases for n in c.nodes], 'cases', inputs, outputs, constants)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid('', cases[0].opset)])
    return onnx.shape_inference.infer_shapes(model)


def sample_of(cases, index):
    """Inputs {name: array}; the same for the same index."""
    sample = {}
    for case in cases:
        rng = np.random.default_rng([zlib.crc32(case.prefix.encode()), index])
        for name, (shape, low, high) in case.inputs.items():
            sample[name] = rng.uniform(low, high, shape).astype(np.float32)
    return sample


CASES = []


def bundles(size=20):
    """All cases by opset, `size` in a model: [[Case]]."""
    by_opset = {opset: [c for c in CASES if c.opset == opset] for opset in sorted({c.opset for c in CASES})}
    return [cases[i:i + size] for cases in by_opset.values() for i in range(0, len(cases), size)]


class Net:
    """Collects the nodes of a case: net('Conv', 'x', array, kernel_shape=...) returns the name of the output.
    Operands are names and constant arrays."""

    def __init__(self, name, shape=(1, 3, 9, 7), low=-1.0, high=1.0, **others):
        prefix = name.replace(' ', '-') + '/'
        assert all(prefix != c.prefix for c in CASES), name
        self.case = Case(prefix, [], {prefix + 'x': (shape, low, high)}, {}, [prefix + 'y'], **others)
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        CASES.append(self.case)

    def full(self, name):
        """'' is an omitted operand."""
        return name if not name or name.startswith(self.case.prefix) else self.case.prefix + name

    def __call__(self, op, *operands, outputs=1, to=None, **attributes):
        names = [self.full(o) if isinstance(o, str) else self.constant(o) for o in operands]
        n = len(self.case.nodes)
        made = [self.full(name) for name in ([to] if to else [f't{n}.{i}' for i in range(outputs)])]
        self.case.nodes.append(helper.make_node(op, names, made, name=self.full(f'{op.lower()}{n}'), **attributes))
        return made[0] if len(made) == 1 else made

    def constant(self, values):
        name = self.full(f'c{len(self.case.constants)}')
        self.case.constants[name] = values
        return name

    def input(self, name, shape, low=-1.0, high=1.0):
        self.case.inputs[self.full(name)] = (shape, low, high)
        return name

    def random(self, *shape, low=-1.0, high=1.0):
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def outputs(self, *names):
        self.case.outputs = [self.full(name) for name in names]


def single(name, op, *operands, shape=(1, 3, 9, 7), low=-1.0, high=1.0, opset=13, f32=(), sqnr=30.0, **attributes):
    """One operator on 'x'; operands are constants after it (a string is another operand of the node as it is)."""
    net = Net(name, shape, low, high, opset=opset, f32=f32, sqnr=sqnr)
    net(op, 'x', *operands, to='y', **attributes)
    return net


def ints(*values):
    return np.array(values, np.int64)


def floats(*values):
    return np.array(values, np.float32)


def conv(name, out, kernel, shape=(1, 3, 9, 7), groups=1, bias=True, opset=13, low=-1.0, high=1.0, change=None, **attributes):
    net = Net('conv ' + name, shape, low, high, opset=opset)
    w = net.random(out, shape[1] // groups, *kernel)
    if change:
        change(w)
    b = [net.random(out)] if bias else []
    net('Conv', 'x', w, *b, to='y', kernel_shape=list(kernel), group=groups, **attributes)


def convolutions():
    conv('3x3', 5, (3, 3))
    conv('no bias', 8, (3, 3), bias=False)
    conv('1x1 17 channels', 17, (1, 1), shape=(1, 5, 4, 3))
    conv('5x3 strides', 3, (5, 3), strides=[2, 3], shape=(1, 1, 11, 13))
    conv('asymmetric pads', 4, (3, 3), pads=[1, 0, 2, 1])
    conv('asymmetric pads positive', 4, (3, 3), pads=[1, 0, 2, 1], low=0.5, high=3.0)
    conv('dilation', 3, (3, 3), dilations=[2, 3], pads=[2, 3, 2, 3])
    conv('groups', 6, (3, 3), shape=(1, 4, 7, 7), groups=2, pads=[1, 1, 1, 1])
    conv('groups of one output', 3, (3, 3), shape=(1, 9, 7, 7), groups=3)
    conv('depthwise', 17, (3, 3), shape=(1, 17, 6, 5), groups=17, pads=[1, 1, 1, 1])
    conv('depthwise multiplier', 10, (3, 3), shape=(1, 5, 6, 5), groups=5, pads=[1, 1, 1, 1])
    conv('depthwise stride dilation', 32, (3, 3), shape=(1, 32, 9, 9), groups=32, strides=[2, 2], dilations=[2, 2])
    conv('same upper', 4, (3, 3), auto_pad='SAME_UPPER', strides=[2, 2], shape=(1, 3, 8, 9))
    conv('same lower', 4, (4, 2), auto_pad='SAME_LOWER', strides=[3, 1], shape=(1, 3, 8, 9))
    conv('valid', 4, (3, 3), auto_pad='VALID')
    conv('1-d', 5, (3,), shape=(1, 3, 16), pads=[1, 1], strides=[2])
    conv('1-d depthwise', 4, (5,), shape=(1, 4, 16), groups=4, dilations=[2])
    conv('spatial 1x1', 7, (1, 1), shape=(1, 33, 1, 1))
    conv('batch 2', 5, (3, 3), shape=(2, 3, 6, 6), pads=[1, 1, 1, 1])
    conv('kernel larger than image', 3, (5, 5), shape=(1, 2, 2, 2), pads=[2, 2, 2, 2])
    conv('64 channels', 64, (3, 3), shape=(1, 64, 5, 5), pads=[1, 1, 1, 1])
    conv('one input one output', 1, (3, 3), shape=(1, 1, 8, 8))
    conv('unsigned', 5, (3, 3), low=0.0, high=6.0)
    conv('negative', 5, (3, 3), low=-6.0, high=-1.0, pads=[1, 1, 1, 1])
    conv('large scale', 5, (3, 3), low=-1e4, high=1e4)
    conv('small scale', 5, (3, 3), low=-1e-4, high=1e-4)
    conv('zero channel', 5, (3, 3), change=lambda w: w[2].fill(0))
    conv('all zero weights', 5, (3, 3), change=lambda w: w.fill(0))
    conv('zero input', 5, (3, 3), low=0.0, high=0.0)
    for opset in (7, 9, 11, 17, 21):
        conv(f'opset {opset}', 5, (3, 3), opset=opset, pads=[1, 1, 1, 1])


def element_wise():
    for name, shape in {'equal': (1, 3, 5, 4), 'channel': (1, 3, 1, 1), 'row': (4,), 'scalar': (1, 1, 1, 1)}.items():
        net = Net(f'add {name}', (1, 3, 5, 4), opset=7)
        net('Add', 'x', net.input('b', shape, -3.0, 3.0), to='y')
        net = Net(f'add constant {name}', (1, 3, 5, 4), opset=14)
        net('Add', net.random(*shape, low=-0.5, high=2.0), 'x', to='y')
    net = Net('add both broadcast', (1, 3, 1, 4))
    net('Add', 'x', net.input('b', (2, 1, 5, 1)), to='y')
    net = Net('add other rank', (3, 5, 4))
    net('Add', 'x', net.input('b', (2, 3, 5, 4)), to='y')
    net = Net('add unsigned', (1, 3, 5, 4), 0.0, 1.0)
    net('Add', 'x', net.input('b', (1, 3, 5, 4), 0.0, 5.0), to='y')
    net = Net('add mixed signs', (1, 3, 5, 4), 0.0, 1.0)
    net('Add', 'x', net.input('b', (1, 3, 5, 4), -2.0, 1.0), to='y')
    net = Net('add of very different ranges', (1, 3, 5, 4), 0.0, 1000.0)
    net('Add', 'x', net.input('b', (1, 3, 5, 4), -1.0, 1.0), to='y')
    net = Net('add that cancels', (1, 3, 5, 4), 100.0, 101.0, sqnr=0.0)
    net('Add', 'x', net.input('b', (1, 3, 5, 4), -101.0, -100.0), to='y')
    single('add itself', 'Add', 'x')
    net = Net('add relu', (1, 3, 5, 4))
    net('Relu', net('Add', 'x', net.input('b', (1, 3, 5, 4))), to='y')
    for op in ('Sub', 'Mul', 'Div', 'Max', 'Min'):
        single(f'{op} scalar', op, floats(0.7))
    single('Pow square', 'Pow', floats(2.0))
    for op in ('Sub', 'Mul'):
        net = Net(f'{op} tensors', (1, 3, 5, 4))
        net(op, 'x', net.input('b', (1, 3, 5, 4)), to='y')
    two_operands()


def two_operands():
    """Max, Min, Div, Pow, comparisons and choices of tensors."""
    for op in ('Max', 'Min'):
        net = Net(f'{op} tensors', (1, 3, 5, 4))
        net(op, 'x', net.input('b', (1, 3, 5, 4), -0.5, 2.0), to='y')
        net = Net(f'{op} of three', (1, 3, 5, 4))
        net(op, 'x', net.input('b', (1, 3, 1, 4)), net.random(3, 1, 1), to='y')
    for low in (0.5, -3.0):
        net = Net(f'Div tensors {low}', (1, 3, 5, 4))
        net('Div', 'x', net.input('b', (1, 3, 5, 1), low, low + 2.0), to='y')
    net = Net('Div by constant', (1, 3, 5, 4))
    net('Div', 'x', net.random(3, 1, 1, low=0.1, high=2.0), to='y')
    net = Net('Div of constant', (1, 3, 5, 4), 1.0, 2.0)
    net('Div', net.random(3, 1, 1), 'x', to='y')
    net = Net('Pow tensors', (1, 3, 5, 4), 0.5, 2.0)
    net('Pow', 'x', net.input('b', (1, 3, 5, 4), -1.0, 2.0), to='y')
    net = Net('Mod of numbers', (1, 3, 5, 4), 0.1, 0.9)
    net('Mod', 'x', net.input('b', (1, 3, 5, 4), 1.0, 2.0), to='y', fmod=1)
    net = Net('PRelu of elements', (1, 3, 5, 4))
    net('PRelu', 'x', net.random(3, 5, 4, low=0.0, high=0.5), to='y')
    net = Net('Where of a comparison', (1, 3, 5, 4), sqnr=20.0)
    s = net('Add', 'x', net.input('b', (1, 3, 5, 4)))
    net('Where', net('Greater', s, floats(0.25)), net('Sub', s, floats(0.5)), net('Mul', s, floats(0.5)), to='y')
    net = Net('Where of two comparisons', (1, 3, 5, 4), sqnr=15.0)
    s = net('Relu', net('Add', 'x', net.input('b', (1, 3, 5, 4))))
    less, more = net('Less', s, 'b'), net('Greater', s, floats(1.0))
    net('Where', net('Or', less, more), s, net.random(3, 1, 1), to='y')


def reductions():
    for op in ('ReduceSum', 'ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceL1', 'ReduceL2', 'ReduceSumSquare'):
        for axes in ([1], [3], [0, 2], [1, 3], [1, 2, 3]):
            single(f'{op} {axes}', op, ints(*axes), opset=18, keepdims=len(axes) % 2, shape=(2, 3, 5, 17),
                   sqnr=30.0 if len(axes) < 3 else 20.0)


def interpolations():
    for mode in ('linear', 'cubic'):
        for coordinates in ('half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric'):
            single(f'Resize {mode} {coordinates}', 'Resize', '', '', ints(1, 3, 13, 11), shape=(1, 3, 7, 5), mode=mode,
                   coordinate_transformation_mode=coordinates)
    single('Resize linear x2', 'Resize', '', floats(1, 1, 2, 2), mode='linear', shape=(1, 32, 6, 5))
    single('Resize linear 1-d', 'Resize', '', floats(1, 1, 1.7), mode='linear', shape=(1, 3, 20))
    single('Resize cubic wide', 'Resize', '', floats(1, 1, 1.5, 0.75), mode='cubic', cubic_coeff_a=-0.5, shape=(1, 8, 9, 8))


def pools():
    for op in ('AveragePool', 'MaxPool'):
        single(f'{op} plain', op, kernel_shape=[2, 2], strides=[2, 2], opset=7)
        single(f'{op} pads', op, kernel_shape=[3, 3], pads=[1, 0, 1, 2])
        single(f'{op} pads positive', op, kernel_shape=[3, 3], pads=[1, 1, 1, 1], low=1.0, high=2.0)
        single(f'{op} pads negative', op, kernel_shape=[3, 3], pads=[1, 1, 1, 1], low=-2.0, high=-1.0)
        single(f'{op} ceil', op, kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1, shape=(1, 5, 10, 9), opset=11)
        single(f'{op} ceil beyond', op, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, shape=(1, 5, 2, 2), opset=11)
        single(f'{op} ceil pads', op, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1, shape=(1, 5, 10, 8))
        single(f'{op} same upper', op, kernel_shape=[3, 3], strides=[2, 2], auto_pad='SAME_UPPER', shape=(1, 1, 8, 7))
        single(f'{op} 1-d', op, kernel_shape=[3], strides=[2], shape=(1, 3, 12))
        single(f'{op} batch', op, kernel_shape=[2, 3], shape=(2, 17, 5, 6))
    single('MaxPool dilations', 'MaxPool', kernel_shape=[2, 3], dilations=[3, 2], pads=[1, 1, 1, 1])
    single('AveragePool include', 'AveragePool', kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    single('AveragePool include asymmetric pads', 'AveragePool', kernel_shape=[3, 3], pads=[0, 1, 2, 1], count_include_pad=1, low=0.5, high=1)
    single('AveragePool include ceil', 'AveragePool', kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1,
           ceil_mode=1, shape=(1, 3, 10, 8), opset=19)
    single('GlobalAveragePool', 'GlobalAveragePool')
    single('GlobalAveragePool 1x1', 'GlobalAveragePool', shape=(1, 17, 1, 1))
    single('GlobalAveragePool batch', 'GlobalAveragePool', shape=(2, 5, 6, 3), low=0.0)
    single('GlobalMaxPool', 'GlobalMaxPool')
    single('ReduceMean spatial', 'ReduceMean', axes=[2, 3], keepdims=0, low=0.0)
    single('ReduceMean spatial 18', 'ReduceMean', ints(2, 3), opset=18, low=0.0)


def activations():
    for alpha in (0.01, 0.3, 1.0, 2.5, 200.0, -0.5, 0.0):
        single(f'LeakyRelu {alpha}', 'LeakyRelu', alpha=alpha)
    single('LeakyRelu positive', 'LeakyRelu', alpha=0.1, low=0.0)
    single('LeakyRelu negative', 'LeakyRelu', alpha=0.1, low=-3.0, high=-0.5)
    net = Net('PRelu after 1-d convolution', (1, 3, 16))
    net('PRelu', net('Conv', 'x', net.random(4, 3, 3), kernel_shape=[3]), net.random(4, 1), to='y')
    net = Net('Sigmoid after 1-d convolution', (1, 3, 16))
    net('Sigmoid', net('Conv', 'x', net.random(4, 3, 3), kernel_shape=[3]), to='y')
    single('PRelu 1-d', 'PRelu', floats(0.3, 0.1, -0.4).reshape(3, 1), shape=(1, 3, 12))
    single('PRelu column', 'PRelu', floats(*range(7)) / 7)
    for name, values in {'scalar': [0.25], 'channel': [0.1, 0.5, 0.9], 'negative': [-0.5, 0.2, -1.5],
                         'steep': [3.0, 0.01, 1.0], 'zero': [0.0, 0.0, 0.0]}.items():
        single(f'PRelu {name}', 'PRelu', floats(*values).reshape(-1, 1, 1), opset=9)
    single('PRelu flat scalar', 'PRelu', floats(-0.25))
    single('PRelu 2-d', 'PRelu', floats(0.1, 0.5, -0.9, 2), shape=(2, 4))
    single('Relu', 'Relu', opset=7)
    single('Relu negative', 'Relu', low=-2.0, high=-1.0)
    single('Relu 2-d', 'Relu', shape=(3, 5))
    single('Relu 1-d', 'Relu', shape=(7,))
    single('Clip 6', 'Clip', min=0.0, max=6.0, low=-8.0, high=8.0, opset=7)
    single('Clip 11', 'Clip', floats(-0.3).reshape(()), floats(0.45).reshape(()), opset=11)
    single('Clip positive', 'Clip', floats(0.25).reshape(()), floats(0.7).reshape(()))
    single('Clip max only', 'Clip', '', floats(0.5).reshape(()))
    single('Clip negative', 'Clip', floats(-0.7).reshape(()), floats(-0.2).reshape(()))
    for op, opset in {'Sigmoid': 9, 'HardSwish': 14, 'HardSigmoid': 11, 'Tanh': 9, 'Mish': 18, 'Gelu': 20, 'Exp': 13, 'Abs': 13,
                      'Neg': 13, 'Elu': 9, 'Selu': 9, 'Softplus': 9, 'Softsign': 9, 'Erf': 13, 'Celu': 12, 'Sin': 9,
                      'ThresholdedRelu': 11}.items():
        single(op, op, low=-4.0, high=4.0, opset=opset)
    single('Gelu tanh', 'Gelu', approximate='tanh', opset=20, low=-4.0, high=4.0)
    single('HardSigmoid odd', 'HardSigmoid', alpha=0.3, beta=0.4, low=-3.0, high=3.0)
    single('Sqrt', 'Sqrt', low=0.05, high=4.0)
    single('Log', 'Log', low=0.3, high=4.0)
    single('Reciprocal', 'Reciprocal', low=0.5, high=4.0)
    net = Net('SiLU', low=-4.0, high=4.0)
    net('Mul', 'x', net('Sigmoid', 'x'), to='y')
    net = Net('HardSwish composed', low=-4.0, high=4.0, opset=11)
    gate = net('Clip', net('Add', 'x', floats(3.0)), floats(0).reshape(()), floats(6).reshape(()))
    net('Div', net('Mul', 'x', gate), floats(6.0), to='y')
    net = Net('Gelu composed', low=-4.0, high=4.0)
    half = net('Mul', 'x', floats(0.5))
    net('Mul', half, net('Add', net('Erf', net('Div', 'x', floats(np.sqrt(2)))), floats(1.0)), to='y')


def movements():
    for value in (0.0, 0.5, -3.0, 20.0):
        single(f'Pad {value}', 'Pad', ints(0, 0, 1, 2, 0, 0, 0, 1), floats(value).reshape(()))
    single('Pad positive with negative', 'Pad', ints(0, 0, 1, 2, 0, 0, 0, 1), floats(-1.0).reshape(()), low=0.0)
    single('Pad channels', 'Pad', ints(0, 1, 0, 0, 0, 2, 0, 0))
    single('Pad crop', 'Pad', ints(0, 0, -1, 1, 0, 0, 0, -2))
    single('Pad old', 'Pad', pads=[0, 0, 1, 1, 0, 0, 1, 1], value=0.25, opset=7)
    single('Pad reflect', 'Pad', ints(0, 0, 2, 1, 0, 0, 1, 3), mode='reflect')
    single('Pad edge', 'Pad', ints(0, 0, 2, 1, 0, 0, 1, 3), mode='edge', opset=11)
    single('Reshape', 'Reshape', ints(1, -1, 7))
    single('Reshape zero', 'Reshape', ints(0, 0, -1))
    single('Flatten', 'Flatten', axis=1)
    single('Flatten 2', 'Flatten', axis=2)
    single('Transpose', 'Transpose', perm=[0, 2, 3, 1])
    single('Transpose all', 'Transpose', shape=(2, 3, 4))
    single('Squeeze old', 'Squeeze', axes=[0, 3], shape=(1, 3, 5, 1), opset=11)
    single('Squeeze', 'Squeeze', ints(3), shape=(1, 3, 5, 1))
    single('Unsqueeze', 'Unsqueeze', ints(0, 4))
    single('Slice', 'Slice', ints(1, -5), ints(3, 100), ints(1, 2), ints(1, 2))
    single('Slice reversed', 'Slice', ints(-1), ints(-100), ints(3), ints(-1))
    single('Slice old', 'Slice', starts=[0, 1], ends=[2, 8], axes=[1, 2], opset=9)
    net = Net('Split', (1, 6, 4, 5))
    net.outputs(*net('Split', 'x', ints(1, 2, 3), outputs=3, axis=1))
    net = Net('Split equal', (1, 6, 4, 6), opset=11)
    net.outputs(*net('Split', 'x', outputs=2, axis=3))
    net = Net('Split 18', (1, 6, 4, 7), opset=18)
    net.outputs(*net('Split', 'x', outputs=3, axis=3, num_outputs=3))
    single('DepthToSpace', 'DepthToSpace', blocksize=2, shape=(1, 12, 3, 2))
    single('DepthToSpace CRD', 'DepthToSpace', blocksize=2, mode='CRD', shape=(1, 12, 3, 2))
    single('SpaceToDepth', 'SpaceToDepth', blocksize=2, shape=(1, 3, 4, 6))
    single('Identity', 'Identity')
    single('Dropout', 'Dropout', opset=9)
    single('Dropout 13', 'Dropout', opset=13)
    single('Gather', 'Gather', ints(2, 0), axis=1)
    single('Expand', 'Expand', ints(2, 3, 4, 5), shape=(1, 3, 1, 5))
    single('Tile', 'Tile', ints(1, 2, 1, 3))
    nearest = {'mode': 'nearest', 'nearest_mode': 'floor', 'coordinate_transformation_mode': 'asymmetric'}
    single('Resize x2', 'Resize', '', floats(1, 1, 2, 2), **nearest)
    single('Resize default', 'Resize', '', floats(1, 1, 2, 3), mode='nearest', opset=11 + 2)
    single('Resize fractional', 'Resize', '', floats(1, 1, 1.5, 0.6), mode='nearest')
    single('Resize sizes', 'Resize', '', '', ints(1, 3, 13, 5), **nearest)
    single('Upsample', 'Upsample', floats(1, 1, 2, 3), mode='nearest', opset=9)
    single('Resize 10', 'Resize', floats(1, 1, 2, 2), mode='nearest', opset=10)
    single('Resize linear', 'Resize', '', floats(1, 1, 2, 2), mode='linear')


def concats():
    for axis, shapes in {1: ((1, 3, 4, 5), (1, 2, 4, 5)), 2: ((1, 3, 4, 5), (1, 3, 1, 5)), 3: ((1, 3, 4, 5), (1, 3, 4, 7))}.items():
        net = Net(f'Concat axis {axis}', shapes[0])
        net('Concat', 'x', net.input('b', shapes[1], -4.0, 2.0), to='y', axis=axis)
    net = Net('Concat mixed signs', (1, 3, 4, 5), 0.0, 1.0)
    net('Concat', 'x', net.input('b', (1, 3, 4, 5), -2.0, 2.0), net.input('c', (1, 1, 4, 5), -5.0, -1.0), to='y', axis=1)
    net = Net('Concat batch', (1, 3, 4, 5))
    net('Concat', 'x', net.input('b', (2, 3, 4, 5)), to='y', axis=0)
    single('Concat itself', 'Concat', 'x', axis=-1)
    net = Net('Concat constant', (1, 3, 4, 5))
    net('Concat', 'x', net.random(1, 2, 4, 5, low=0.0, high=3.0), to='y', axis=1)
    for name, factor, f32 in (('after convolutions', 2, ()), ('of ranges far apart', 20, ('transpose',))):
        net = Net(f'Concat {name}', (1, 3, 6, 6), f32=f32)
        a = net('Relu', net('Conv', 'x', net.random(5, 3, 3, 3), kernel_shape=[3, 3]))
        b = net('Conv', 'x', net.random(7, 3, 3, 3) * factor, kernel_shape=[3, 3])
        net('Concat', a, b, to='y', axis=1)


def matrices():
    for name, attributes, x, w, c in (
            ('plain', {}, (2, 5), (5, 3), (3,)), ('transB', {'transB': 1}, (1, 17), (10, 17), (10,)),
            ('transA', {'transA': 1}, (5, 2), (5, 3), (3,)), ('alpha beta', {'alpha': 0.5, 'beta': 2.0}, (2, 5), (5, 3), (1, 3)),
            ('alpha transA transB', {'alpha': 2.0, 'transA': 1, 'transB': 1}, (6, 3), (4, 6), (4,)),
            ('scalar bias', {}, (2, 5), (5, 3), (1,)), ('column bias', {}, (2, 5), (5, 3), (2, 1)),
            ('full bias', {}, (2, 5), (5, 3), (2, 3))):
        net = Net('Gemm ' + name, x)
        net('Gemm', 'x', net.random(*w), net.random(*c), to='y', **attributes)
    net = Net('Gemm no bias', (2, 5), opset=11)
    net('Gemm', 'x', net.random(5, 3), to='y')
    net = Net('Gemm old', (2, 5), opset=7)
    net('Gemm', 'x', net.random(5, 3), net.random(3), to='y')
    for shape in ((4, 6), (2, 3, 6), (2, 2, 3, 6), (6,)):
        net = Net(f'MatMul {len(shape)}-d', shape)
        net('MatMul', 'x', net.random(6, 5), to='y')
    net = Net('MatMul bias', (2, 3, 6))
    net('Add', net('MatMul', 'x', net.random(6, 5)), net.random(5), to='y')
    net = Net('MatMul vector', (2, 3, 6))
    net('MatMul', 'x', net.random(6), to='y')
    net = Net('MatMul constant left', (6, 5))
    net('MatMul', net.random(4, 6), 'x', to='y')
    # Large enough that no product of the fresh sample lies outside the calibrated range.
    net = Net('MatMul tensors', (2, 14, 6))
    net('MatMul', 'x', net.input('b', (2, 6, 13)), to='y')
    single('Softmax', 'Softmax', axis=1, f32=('softmax_f32',))


def attention():
    """Whole in integers."""
    net = Net('attention', (2, 3, 7, 8), sqnr=25.0)
    scores = net('Mul', net('MatMul', 'x', net.input('k', (2, 3, 8, 7))), floats(8 ** -0.5))
    net('MatMul', net('Softmax', scores, axis=-1), net.input('v', (2, 3, 7, 8)), to='y')
    net = Net('Softmax middle', (2, 6, 5), sqnr=25.0)
    net('MatMul', net('Softmax', 'x', axis=1), net.random(5, 4), to='y')
    for axis in (1, 2):
        net = Net(f'LogSoftmax axis {axis}', (2, 6, 5), low=-4)
        net('MatMul', net('LogSoftmax', 'x', axis=axis), net.random(5, 4), to='y')
    single('LogSoftmax', 'LogSoftmax', axis=2, shape=(2, 6, 5), f32=('softmax_f32',))
    single('LayerNorm', 'LayerNormalization', net.random(24), net.random(24), shape=(2, 5, 24), opset=17, axis=-1)
    single('LayerNorm rows', 'LayerNormalization', net.random(5, 6), shape=(2, 4, 5, 6), opset=17, axis=2)
    net = Net('RMSNorm', (2, 5, 24))
    root = net('Sqrt', net('Add', net('ReduceMean', net('Pow', 'x', floats(2)), axes=[-1], keepdims=1), floats(1e-5)))
    net('Mul', net('Div', 'x', root), net.random(24), to='y')
    single('L2 normalize', 'LpNormalization', shape=(2, 24, 5), axis=1, p=2)
    single('InstanceNorm', 'InstanceNormalization', net.random(3), net.random(3), shape=(2, 3, 9, 7))
    net = Net('GroupNorm', (2, 6, 5, 4), sqnr=25.0)
    rows = net('InstanceNormalization', net('Reshape', 'x', ints(2, 3, -1)), floats(1, 1, 1), floats(0, 0, 0))
    y = net('Mul', net('Reshape', rows, ints(2, 6, 5, 4)), net.random(6, 1, 1))
    net('Add', y, net.random(6, 1, 1), to='y')


def small_graphs():
    def layer(net, x, out, of, relu=True, **attributes):
        y = net('Conv', x, net.random(out, of, 3, 3), net.random(out), kernel_shape=[3, 3], pads=[1, 1, 1, 1], **attributes)
        return net('Relu', y) if relu else y

    net = Net('conv bn relu')
    y = layer(net, 'x', 5, 3, relu=False)
    y = net('BatchNormalization', y, net.random(5, low=-2.0), net.random(5), net.random(5), net.random(5, low=0.1))
    net('Relu', y, to='y')
    net = Net('bn alone', sqnr=25.0, f32=('binary_f32',))
    net('BatchNormalization', 'x', net.random(3), net.random(3), net.random(3), net.random(3, low=0.1), to='y')
    net = Net('residual', sqnr=25.0)
    a = layer(net, 'x', 5, 3)
    net('Relu', net('Add', layer(net, a, 5, 5, relu=False), a), to='y')
    net = Net('two consumers', sqnr=25.0)
    a = layer(net, 'x', 5, 3, relu=False)
    net('Concat', net('Relu', a), net('LeakyRelu', a, alpha=0.2), net('Sigmoid', a), to='y', axis=1)
    net = Net('two inputs')
    a = layer(net, 'x', 5, 3)
    net('Add', a, layer(net, net.input('b', (1, 2, 9, 7), 0.0, 2.0), 5, 2), to='y')
    net = Net('output used inside')
    a = layer(net, 'x', 5, 3)
    net.outputs(a, layer(net, a, 4, 5, relu=False))
    net = Net('output before relu')
    a = layer(net, 'x', 5, 3, relu=False)
    net.outputs(a, net('Relu', a), net('MaxPool', a, kernel_shape=[2, 2]))
    net = Net('input is an output')
    net.outputs(net('Reshape', 'x', ints(1, -1)), layer(net, 'x', 4, 3))
    net = Net('constant output')
    net('Add', net.constant(net.random(2, 3)), net.constant(net.random(3)), to='k')
    net('Relu', 'x', to='y')
    net.outputs('k', 'y')
    net = Net('relu of a negative convolution', low=0.0)
    y = net('Conv', 'x', -np.abs(net.random(3, 3, 3, 3)), kernel_shape=[3, 3])
    net('Relu', y, to='y')
    net = Net('pool chain', (1, 4, 12, 12))
    a = net('MaxPool', layer(net, 'x', 8, 4), kernel_shape=[2, 2], strides=[2, 2])
    net('Flatten', net('GlobalAveragePool', a), to='y')
    net = Net('classifier', (2, 3, 8, 8), sqnr=25.0)
    a = net('AveragePool', layer(net, 'x', 6, 3), kernel_shape=[2, 2], strides=[2, 2])
    net('Gemm', net('Flatten', a), net.random(96, 10), net.random(10), to='y')
    for name, op, operands in (('pool', 'MaxPool', []), ('pad', 'Pad', [ints(0, 0, 1, 1, 0, 0, 1, 1), floats(0).reshape(())])):
        net = Net(f'{name} of an activation with two readers', (1, 3, 8, 8))
        a = layer(net, 'x', 4, 3, relu=False)
        b = net(op, a, *operands, **({'kernel_shape': [2, 2]} if op == 'MaxPool' else {}))
        net.outputs(net('PRelu', a, net.random(4, 1, 1)), net('Clip', b, floats(-0.5).reshape(()), floats(0.75).reshape(())))
    net = Net('pre-activation', (1, 3, 8, 8), sqnr=25.0, f32=('binary_f32', 'clip_f32'))
    a = net('BatchNormalization', layer(net, 'x', 4, 3), net.random(4), net.random(4), net.random(4), net.random(4, low=0.1))
    layer(net, net('Relu', a), 5, 4, relu=False)
    net.case.outputs = [net.case.nodes[-1].output[0]]
    net = Net('dense block', (1, 3, 8, 8), sqnr=25.0)
    a = layer(net, 'x', 4, 3)
    b = net('Concat', a, layer(net, a, 3, 4), axis=1)
    c = net('Concat', b, layer(net, b, 3, 7), axis=1)
    net('GlobalAveragePool', c, to='y')
    net = Net('inverted residual', (1, 4, 8, 8), sqnr=25.0)
    a = net('Clip', net('Conv', 'x', net.random(12, 4, 1, 1)), floats(0).reshape(()), floats(6).reshape(()))
    a = net('Conv', a, net.random(12, 1, 3, 3), net.random(12), group=12, pads=[1, 1, 1, 1])
    a = net('Conv', net('Clip', a, floats(0).reshape(()), floats(6).reshape(())), net.random(4, 12, 1, 1))
    net('Add', 'x', a, to='y')
    net = Net('pad before convolution', (1, 3, 8, 8))
    a = net('Pad', 'x', ints(0, 0, 0, 0, 0, 0, 1, 1), floats(0.3).reshape(()))
    net('Conv', a, net.random(4, 3, 3, 3), strides=[2, 2], to='y')
    net = Net('mlp', (2, 3, 8), sqnr=25.0)
    a = net('Add', net('MatMul', 'x', net.random(8, 16)), net.random(16))
    a = net('Mul', a, net('Sigmoid', net('Mul', a, floats(1.702))))
    net('Add', 'x', net('Add', net.random(8), net('MatMul', a, net.random(16, 8))), to='y')
    net.case.f32 = ('binary_f32',)
    net = Net('squeeze and excite', (1, 8, 6, 6), sqnr=25.0)
    a = layer(net, 'x', 8, 8)
    s = net('Conv', net('GlobalAveragePool', a), net.random(8, 8, 1, 1), kernel_shape=[1, 1])
    net('Mul', a, net('Sigmoid', s), to='y')
    net = Net('shuffle', (1, 6, 4, 5))
    a = layer(net, 'x', 6, 6)
    a = net('Transpose', net('Reshape', a, ints(1, 2, 3, 4, 5)), perm=[0, 2, 1, 3, 4])
    net('Reshape', a, ints(1, 6, 4, 5), to='y')
    net = Net('split and concat', (1, 6, 4, 5))
    a, b = net('Split', layer(net, 'x', 6, 6, relu=False), ints(2, 4), outputs=2, axis=1)
    net('Concat', net('Relu', b), a, to='y', axis=1)
    net = Net('feature pyramid', (1, 3, 8, 8), sqnr=25.0)
    a = layer(net, 'x', 4, 3)
    up = net('Resize', layer(net, a, 4, 4, strides=[2, 2]), '', floats(1, 1, 2, 2), mode='nearest',
             coordinate_transformation_mode='asymmetric', nearest_mode='floor')
    net('Add', a, up, to='y')


for family in (convolutions, element_wise, reductions, interpolations, pools, activations, movements, concats, matrices,
               attention, small_graphs):
    family()
