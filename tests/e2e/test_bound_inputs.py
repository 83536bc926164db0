"""--bind: shapes, axes, pads and the like that a model takes as inputs become constants; against ONNX Runtime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import pipeline

X = np.random.default_rng(160712).uniform(-1, 1, (2, 3, 4)).astype(np.float32)


def i64(*values):
    return np.array(values, np.int64)


# operator, opset, the inputs behind x, attributes
FORMS = {
    'reshape': ('Reshape', 13, [i64(4, -1)], {}),
    'pad': ('Pad', 13, [i64(0, 1, 2, 1, 0, 0)], {}),
    'pad_axes': ('Pad', 18, [i64(1, 2), np.array(0.5, np.float32), i64(-1)], {}),
    'reduce_sum': ('ReduceSum', 13, [i64(-1, 0)], {'keepdims': 0}),
    'reduce_mean': ('ReduceMean', 18, [i64(1)], {}),
    'slice': ('Slice', 13, [i64(3, 0), i64(-5, 2), i64(2, 1), i64(-1, 1)], {}),
    'expand': ('Expand', 13, [i64(2, 1, 1, 4)], {}),
    'tile': ('Tile', 13, [i64(1, 2, 3)], {}),
    'unsqueeze': ('Unsqueeze', 13, [i64(0, -1)], {}),
    'top_k': ('TopK', 11, [i64(2)], {'axis': 1}),
    'split': ('Split', 13, [i64(1, 2)], {'axis': 1}),
    'resize': ('Resize', 13, [np.zeros(0, np.float32), np.float32([1, 2, 0.5])], {'mode': 'linear'}),
    'cum_sum': ('CumSum', 14, [np.array(-1)], {}),
    'clip': ('Clip', 13, [np.array(-0.2, np.float32), np.array(0.4, np.float32)], {}),
}


def model_of(op, opset, extra, attributes):
    names = [f'b{i}' for i in range(len(extra))]
    outputs = ['y', 'z'] if op in ('TopK', 'Split') else ['y']
    node = helper.make_node(op, ['x', *names], outputs, **attributes)
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in zip(['x', *names], [X, *extra])]
    graph = helper.make_graph([node], 'bound', infos, [onnx.ValueInfoProto(name=n) for n in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=8), names


@pytest.mark.parametrize('name', FORMS)
def test_bound_inputs_are_constants(name, tmp_path):
    op, opset, extra, attributes = FORMS[name]
    model, names = model_of(op, opset, extra, attributes)
    onnx.save(model, tmp_path / 'model.onnx')
    np.save(tmp_path / 'x.npy', X)
    bindings = []
    for n, array in zip(names, extra):
        np.save(tmp_path / f'{n}.npy', array)
        bindings += ['--bind', f'{n}={tmp_path / n}.npy']
    pipeline.run('model_deploy', tmp_path / 'model.onnx', '--mode', 'f32', '-o', tmp_path / 'program', *bindings)
    pipeline.run('model_runner', tmp_path / 'program', '--input', tmp_path / 'x.npy', '--raw', '--output', tmp_path / 'out.npz')
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=['CPUExecutionProvider'])
    expected = session.run(None, {'x': X, **dict(zip(names, extra))})
    with np.load(tmp_path / 'out.npz') as outputs:
        for output, want in zip(model.graph.output, expected):
            assert outputs[output.name].shape == want.shape
            np.testing.assert_allclose(outputs[output.name], want, rtol=1e-5, atol=1e-6)


def test_without_a_binding_the_missing_constant_is_named(tmp_path):
    model, _ = model_of(*FORMS['reshape'])
    onnx.save(model, tmp_path / 'model.onnx')
    done = pipeline.call('model_deploy', tmp_path / 'model.onnx', '--mode', 'f32', '-o', tmp_path / 'program')
    message = done.stderr
    assert done.returncode == 1
    assert "'b0'" in message and 'expected a constant' in message
    assert not (tmp_path / 'program').exists()
