"""Where, Softmax over any axis, extremes, functions of a constant, as ONNX Runtime computes them: profile onnxruntime, all bytes equal.

QDQ models of random shapes, scales and zero points (the seed is printed); every case is one that ONNX Runtime really
runs by that kernel.
"""

import numpy as np
import onnx
import pytest
from frameworks import ort, qdq_builder
from frameworks.case import quant
from onnx import TensorProto, helper

import pipeline

SEED, CASES = 20261125, 12


class Sweep:
    """One QDQ model of one node, and its inputs."""

    def __init__(self, rng, kind):
        self.rng, self.kind = rng, kind
        self.graph, self.feeds, self.inputs = qdq_builder._Graph(''), {}, []  # pylint: disable=protected-access

    def quant(self, low=-2.5, high=0.0):
        lo, hi = (-128, 127) if self.kind == 's8' else (0, 255)
        return quant(self.kind, 10 ** self.rng.uniform(low, high), int(self.rng.integers(lo, hi, endpoint=True)))

    def activation(self, shape, q):
        name = f'x{len(self.feeds)}'
        lo, hi = q.limits
        data = self.rng.integers(lo, hi, shape, endpoint=True).astype(q.dtype)
        self.feeds[name] = qdq_builder.real(data, q)
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return self.graph.activation(name, f'{name}_in', q)

    def model(self, result, shape, q):
        self.graph.activation(result, 'out', q)
        self.graph.nodes[-1].output[0] = 'y'
        y = helper.make_tensor_value_info('y', TensorProto.FLOAT, shape)
        made = helper.make_graph(self.graph.nodes, 'case', self.inputs, [y], self.graph.constants)
        return helper.make_model(made, opset_imports=[helper.make_opsetid('', 13)], ir_version=8)


def where(sweep):
    shape = tuple(int(s) for s in sweep.rng.integers(1, 40, 3))
    sweep.feeds['x0'] = sweep.rng.integers(0, 2, shape).astype(bool)
    sweep.inputs.append(helper.make_tensor_value_info('x0', TensorProto.BOOL, shape))
    q = sweep.quant()
    branches = [sweep.activation(shape, q if sweep.rng.integers(0, 3) == 0 else sweep.quant()) for _ in range(2)]
    return sweep.model(sweep.graph.node('Where', ['x0', *branches], 'result'), shape, q), q


def softmax(sweep):
    shape = tuple(int(s) for s in sweep.rng.integers(2, 20, 3))
    # ONNX Runtime's products are infinite from about 148 elements a unit on: then it gives zero points.
    scale = 1 / 256 if sweep.rng.integers(0, 2) else 10 ** -sweep.rng.uniform(2.5, 4)
    q = quant(sweep.kind, scale, -128 if sweep.kind == 's8' else 0)
    x = sweep.activation(shape, sweep.quant(-2.3, -0.3))
    result = sweep.graph.node('Softmax', [x], 'result', axis=int(sweep.rng.integers(0, 3)))
    return sweep.model(result, shape, q), q


def extreme(op):
    """Half of the cases in one type, which ONNX Runtime reduces as bytes; the others in float."""
    def build(sweep):
        shape = tuple(int(s) for s in sweep.rng.integers(2, 20, 4))
        axes = sorted(int(a) for a in sweep.rng.choice(4, int(sweep.rng.integers(1, 4)), replace=False))
        q = sweep.quant()
        x = sweep.activation(shape, q if sweep.rng.integers(0, 2) else sweep.quant())
        result = sweep.graph.node(op, [x], 'result', axes=axes, keepdims=1)
        return sweep.model(result, [1 if i in axes else s for i, s in enumerate(shape)], q), q
    return build


def of_constant(op):
    """Of an activation and a float constant of few numbers, that no bytes stand for."""
    def build(sweep):
        shape = tuple(int(s) for s in sweep.rng.integers(2, 20, 3))
        numbers = sweep.rng.standard_normal(int(sweep.rng.integers(2, 200))).astype(np.float32)
        constant = sweep.graph.constant('c', sweep.rng.choice(numbers, shape))
        q = sweep.quant()
        result = sweep.graph.node(op, [sweep.activation(shape, sweep.quant()), constant], 'result')
        return sweep.model(result, shape, q), q
    return build


OPERATORS = {'QLinearWhere': where, 'QLinearSoftmax': softmax,
             **{op: extreme(op) for op in ('ReduceMax', 'ReduceMin')},
             **{op: of_constant(op) for op in ('Sub', 'Div', 'Max', 'Min', 'PRelu')}}


@pytest.mark.parametrize('kind', ('s8', 'u8'))
@pytest.mark.parametrize('kernel', OPERATORS)
def test_operator(kernel, kind, tmp_path, report):
    rng = np.random.default_rng([SEED, *kernel.encode(), *kind.encode()])
    count = differ = 0
    for _ in range(CASES):
        sweep = Sweep(rng, kind)
        model, q = OPERATORS[kernel](sweep)
        onnx.checker.check_model(model)
        assert ort.optimized_operators(model).get(kernel) == 1, ort.optimized_operators(model)
        (tmp_path / 'case.onnx').write_bytes(model.SerializeToString())
        pipeline.run('model_deploy', tmp_path / 'case.onnx', '--profile', 'onnxruntime', '-o', tmp_path / 'case.rshift')
        assert '_f32' not in pipeline.run('model_tool', 'disasm', tmp_path / 'case.rshift')
        theirs = qdq_builder.bytes_of(ort.session(model).run(None, sweep.feeds)[0], q)
        ours = qdq_builder.bytes_of(pipeline.infer(tmp_path / 'case.rshift', sweep.feeds, tmp_path)['y'], q)
        count += theirs.size
        differ += int((ours != theirs).sum())
    report(f'onnxruntime     {kernel:14} {kind} seed {SEED}: {count:>7,} bytes of {CASES} cases, {differ} differ')
    assert differ == 0
