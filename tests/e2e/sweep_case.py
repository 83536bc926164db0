"""What the graphs of sweep_cases.py are made of, and the model of one of each kind."""

import dataclasses

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20
HALF = 0.5 + 2 ** -7  # one rounding of a number that is exact up to the multipliers' bits and ONNX Runtime's floats


class Case:
    """A graph whose names start with its own prefix. `bound`: units of the output by which an integer may be off; `bits`: the output is
    bool or an index, equal or not; `steps`: of several commands, whose tensors between hold what calibration saw."""

    def __init__(self, name, index, r):
        self.name, self.prefix, self.r = name, f'c{index}_', r
        self.nodes, self.inputs, self.constants, self.bound = [], {}, {}, HALF
        self.output = self.prefix + 'y'
        self.bits = self.steps = False

    def pick(self, *values):
        return values[self.r.integers(len(values))]

    def range(self):
        """Of either sign or both, of any size."""
        size = 10.0 ** self.r.uniform(-3, 3)
        low, high = sorted(self.r.uniform(-1, 1, 2))
        kind = self.pick('both', 'both', 'positive', 'negative')
        low, high = {'both': (min(low, -0.05), max(high, 0.05)), 'positive': (0.0, abs(high) + 0.1),
                     'negative': (-abs(low) - 0.1, 0.0)}[kind]
        return size * low, size * high

    def shape(self, rank=None, most=9):
        rank = rank or int(self.r.integers(1, 5))
        return tuple(int(d) for d in self.r.integers(1, most + 1, rank))

    def image(self, least=1):
        return (int(self.r.integers(1, 3)), int(self.r.integers(1, 20)), int(self.r.integers(least, 11)), int(self.r.integers(least, 11)))

    def input(self, shape, low=None, high=None):
        name = f'{self.prefix}x{len(self.inputs)}'
        self.inputs[name] = (tuple(shape), *(self.range() if low is None else (low, high)))
        return name

    def constant(self, values, dtype=np.float32):
        name = f'{self.prefix}k{len(self.constants)}'
        self.constants[name] = np.asarray(values, dtype)
        return name

    def ints(self, *values):
        return self.constant(values, np.int64)

    def uniform(self, *shape, low=-1.0, high=1.0):
        return self.r.uniform(low, high, shape).astype(np.float32)

    def weights(self, *shape, axis=0):
        """What 8 bits hold exactly: integers, 127 among those of each output channel, times a scale of the channel."""
        w = self.r.integers(-127, 128, shape)
        w.swapaxes(0, axis).reshape(shape[axis], -1)[:, 0] = 127
        flat = np.moveaxis(w, axis, 0).reshape(shape[axis], -1).copy()
        flat[:, 0] = 127
        w = np.moveaxis(flat.reshape([shape[axis], *(d for i, d in enumerate(shape) if i != axis)]), 0, axis)
        scales = 2.0 ** self.r.integers(-12, -6, shape[axis])
        return self.constant(w * scales.reshape([-1 if i == axis else 1 for i in range(len(shape))]))

    def __call__(self, op, *operands, last=False, outputs=1, domain='', **attributes):
        made = [self.output] if last else [f'{self.prefix}t{len(self.nodes)}_{i}' for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(operands), made, name=f'{self.prefix}{op.lower()}{len(self.nodes)}',
                                           domain=domain, **attributes))
        return made[0] if outputs == 1 else made

    def last(self, op, *operands, **attributes):
        return self(op, *operands, last=True, **attributes)

    def sample(self, r):
        return {n: r.uniform(low, high, shape).astype(np.float32) for n, (shape, low, high) in self.inputs.items()}


@dataclasses.dataclass
class Batch:
    cases: list
    model: onnx.ModelProto

    def sample(self, r):
        return {n: a for c in self.cases for n, a in c.sample(r).items()}


def batch_of(kinds, seed):
    """One case of each kind."""
    cases = []
    for i, (name, make) in enumerate(kinds.items()):
        cases.append(Case(name, i, np.random.default_rng([seed, i])))
        make(cases[-1])
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for c in cases for n, (s, _, _) in c.inputs.items()]
    constants = [numpy_helper.from_array(v, n) for c in cases for n, v in c.constants.items()]
    graph = helper.make_graph([n for c in cases for n in c.nodes], 'sweep', inputs,
                              [helper.make_empty_tensor_value_info(c.output) for c in cases], constants)
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid('', OPSET)])
    return Batch(cases, onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True))
