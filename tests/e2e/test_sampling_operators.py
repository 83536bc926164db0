"""Integer programs that read and write at places of the data. The operators alone, in F32: test_formula_operators.py."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import oracle
import pipeline
from test_formula_operators import TYPES, floats


def net_of(operator, r):
    """A feature map by a convolution, read at places of the data, and a convolution behind: (model, inputs)."""
    def conv(x, y, channels, out, scale=1.0):
        w = onnx.numpy_helper.from_array(floats(r, out, channels, 3, 3) * np.float32(scale), y + '_w')
        return helper.make_node('Conv', [x, w.name], [y], pads=[1] * 4), w
    first, last = conv('x', 'f', 3, 8), conv('s', 'y', 8, 4)
    inputs, nodes, constants = {'x': floats(r, 1, 3, 24, 24)}, [first[0]], [first[1], last[1]]
    if operator.startswith('GridSample'):
        inputs['grid'] = floats(r, 1, 20, 20, 2, low=-1.2, high=1.2)
        _, mode, padding = operator.split()
        nodes.append(helper.make_node('GridSample', ['f', 'grid'], ['s'], mode=mode, padding_mode=padding))
    elif operator == 'DeformConv':
        offset = conv('x', 'o', 3, 18, 0.3)
        constants += [offset[1], onnx.numpy_helper.from_array(floats(r, 8, 8, 3, 3), 'w')]
        nodes += [offset[0], helper.make_node('DeformConv', ['f', 'w', 'o'], ['s'], pads=[1] * 4)]
    elif operator == 'RoiAlign':
        corner = r.uniform(0, 12, size=(5, 2))
        inputs['rois'] = np.concatenate([corner, corner + r.uniform(2, 11, size=(5, 2))], axis=1).astype(np.float32)
        constants.append(onnx.numpy_helper.from_array(np.zeros(5, np.int64), 'images'))
        nodes.append(helper.make_node('RoiAlign', ['f', 'rois', 'images'], ['s'], output_height=7, output_width=7, sampling_ratio=2))
    else:  # with places of its own: those of a MaxPool in 8 bits are others where two elements nearly tie
        row, column = np.meshgrid(np.arange(12), np.arange(12), indexing='ij')
        tap = r.integers(2, size=(2, 1, 8, 12, 12))
        inputs['i'] = (np.arange(8)[None, :, None, None] * 24 + row * 2 + tap[0]) * 24 + column * 2 + tap[1]
        nodes += [helper.make_node('MaxPool', ['f'], ['p'], kernel_shape=[2, 2], strides=[2, 2]),
                  helper.make_node('MaxUnpool', ['p', 'i'], ['s'], kernel_shape=[2, 2], strides=[2, 2])]
    graph = helper.make_graph([*nodes, last[0]], 'g', [helper.make_tensor_value_info(n, TYPES[a.dtype], a.shape) for n, a in
                                                       inputs.items()], [helper.make_empty_tensor_value_info('y')], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 20)], ir_version=9), inputs


@pytest.mark.parametrize('operator', ['GridSample linear zeros', 'GridSample nearest border', 'GridSample cubic reflection',
                                      'DeformConv', 'RoiAlign', 'MaxUnpool'])
def test_integer_programs_read_at_the_same_places(operator, tmp_path):
    """Coordinates in 8 bits would read elsewhere: noise as features tells."""
    model, _ = net_of(operator, np.random.default_rng(1))
    onnx.save(model, tmp_path / 'm.onnx')
    (tmp_path / 'data').mkdir()
    samples = [net_of(operator, np.random.default_rng([1, i]))[1] for i in range(24)]
    for i, sample in enumerate(samples[1:]):
        np.savez(tmp_path / 'data' / f'{i:02}.npz', **sample)
    expected = onnxruntime.InferenceSession(str(tmp_path / 'm.onnx')).run(None, samples[0])[0]
    table = pipeline.calibrate(tmp_path / 'm.onnx', tmp_path / 'data', tmp_path / 't.yaml', samples=0,
                               extra=('--method', 'minmax'))
    for mode in pipeline.INTEGER_MODES:
        pipeline.deploy(tmp_path / 'm.onnx', tmp_path / 'p.rshift', mode=mode, table=table)
        actual = pipeline.infer(tmp_path / 'p.rshift', samples[0], tmp_path)['y']
        noise = oracle.sqnr(actual, expected)
        assert noise > 28, f'{mode}: {noise:.1f} dB'
