"""Operators that the importer writes as formulas, in random shapes as F32 programs against ONNX Runtime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import pipeline

SEEDS = range(10)
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64}


def floats(r, *shape, low=-1.0, high=1.0):
    return r.uniform(low, high, size=shape).astype(np.float32)


def grid_sample(r):
    dims = int(r.integers(2, 4))
    modes = ['linear', 'nearest'] + (['cubic'] if dims == 2 else [])
    space, places = r.integers(2, 8, size=dims), r.integers(1, 7, size=dims)
    batch, channels = r.integers(1, 3), r.integers(1, 5)
    return dict(x=floats(r, batch, channels, *space), grid=floats(r, batch, *places, dims, low=-1.7, high=1.7)), dict(
        mode=str(r.choice(modes)), padding_mode=str(r.choice(['zeros', 'border', 'reflection'])),
        align_corners=int(r.integers(2))), {}


def deform_conv(r):
    sets, groups = int(r.integers(1, 3)), int(r.integers(1, 3))
    channels, out = 2 * sets * groups, groups * int(r.integers(1, 4))
    kernel, strides, dilations = r.integers(1, 4, size=2), r.integers(1, 3, size=2), r.integers(1, 3, size=2)
    pads = r.integers(0, 2, size=4)
    size = r.integers(6, 10, size=2)
    place = (size + pads[:2] + pads[2:] - dilations * (kernel - 1) - 1) // strides + 1
    taps = int(kernel.prod())
    inputs = dict(x=floats(r, 2, channels, *size), w=floats(r, out, channels // groups, *kernel),
                  offset=floats(r, 2, 2 * sets * taps, *place, low=-2, high=2), b=floats(r, out),
                  mask=floats(r, 2, sets * taps, *place, low=0))
    return inputs, dict(group=groups, offset_group=sets, strides=strides.tolist(), dilations=dilations.tolist(),
                        pads=pads.tolist(), kernel_shape=kernel.tolist()), {'w', 'b'}


def roi_align(r):
    count, size = int(r.integers(1, 6)), r.integers(6, 14, size=2)
    first = r.uniform(-3, 12, size=(count, 2))
    boxes = np.concatenate([first, first + r.uniform(0, 12, size=(count, 2))], axis=1).astype(np.float32)
    return dict(x=floats(r, 3, 4, *size), rois=boxes, images=r.integers(3, size=count)), dict(
        mode=str(r.choice(['avg', 'max'])), output_height=int(r.integers(1, 5)), output_width=int(r.integers(1, 5)),
        sampling_ratio=int(r.integers(1, 4)), spatial_scale=float(r.choice([1.0, 0.5])),
        coordinate_transformation_mode=str(r.choice(['half_pixel', 'output_half_pixel']))), {}


def scatter_elements(r):
    shape = r.integers(2, 6, size=3)
    axis, reduction = int(r.integers(3)), str(r.choice(['none', 'add', 'mul', 'min', 'max']))
    some = [int(r.integers(1, n + 1)) for n in shape]
    indices = r.integers(-shape[axis], shape[axis], size=some)
    if reduction == 'none':  # which of several updates stays is not defined
        order = np.argsort(r.random(shape), axis=axis)
        indices = order[tuple(slice(n) for n in some)]
    return dict(x=floats(r, *shape), i=indices, u=floats(r, *some)), dict(axis=axis, reduction=reduction), {}


def scatter_nd(r):
    shape, depth = r.integers(2, 6, size=3), int(r.integers(1, 4))
    reduction, count = str(r.choice(['none', 'add', 'mul', 'min', 'max'])), int(r.integers(1, 5))
    places = r.permutation(int(np.prod(shape[:depth])))[:count] if reduction == 'none' else r.integers(np.prod(shape[:depth]), size=count)
    indices = np.stack(np.unravel_index(places, shape[:depth]), axis=-1)
    return dict(x=floats(r, *shape), i=indices, u=floats(r, len(places), *shape[depth:])), dict(reduction=reduction), {}


def max_pool(r):
    dims = int(r.integers(1, 4))
    kernel = r.integers(1, 4, size=dims)
    pads = [int(r.integers(0, (k + 1) // 2)) for k in kernel] * 2
    return dict(x=floats(r, 2, 3, *r.integers(5, 9, size=dims))), dict(
        kernel_shape=kernel.tolist(), strides=r.integers(1, 4, size=dims).tolist(), pads=pads,
        storage_order=int(r.integers(2))), {}


def max_unpool(r):
    # Windows that do not overlap, with the indices that their MaxPool gives.
    dims = int(r.integers(1, 4))
    kernel, size = r.integers(1, 4, size=dims), r.integers(1, 4, size=dims)
    whole = kernel * size
    grids = np.meshgrid(*[np.arange(n) for n in size], indexing='ij')
    at = [g * k + r.integers(k, size=(2, 3, *size)) for g, k in zip(grids, kernel)]
    place = np.ravel_multi_index(at, whole) + np.arange(6).reshape(2, 3, *[1] * dims) * int(whole.prod())
    return dict(x=floats(r, 2, 3, *size), i=place), dict(kernel_shape=kernel.tolist(), strides=kernel.tolist()), {}


def conv_transpose(r):
    groups = int(r.integers(1, 3))
    dims = int(r.integers(1, 4))
    kernel, strides, dilations = (r.integers(1, 4, size=dims) for _ in range(3))
    more = [int(r.integers(0, max(s, d))) for s, d in zip(strides, dilations)]
    pads = [int(r.integers(0, min((k - 1) * d, 2) + 1)) for k, d in zip(kernel, dilations)] * 2
    out = int(r.integers(1, 4))
    return dict(x=floats(r, 2, 2 * groups, *r.integers(3, 5, size=dims)), w=floats(r, 2 * groups, out, *kernel),
                b=floats(r, groups * out)), dict(group=groups, strides=strides.tolist(), dilations=dilations.tolist(),
                                                 output_padding=more, pads=pads), {'w', 'b'}


def cross_entropy(r):
    classes, space = int(r.integers(2, 6)), r.integers(1, 4, size=r.integers(0, 3))
    attributes = dict(reduction=str(r.choice(['none', 'mean', 'sum'])))
    if r.random() < 0.5:
        attributes['ignore_index'] = 1
    return dict(x=floats(r, 3, classes, *space, low=-3, high=3), labels=r.integers(classes, size=(3, *space)),
                w=floats(r, classes, low=0.5)), attributes, {'w'}


CASES = {'GridSample': (grid_sample, 1, 20), 'DeformConv': (deform_conv, 1, 19), 'RoiAlign': (roi_align, 1, 16),
         'MaxUnpool': (max_unpool, 1, 11), 'ScatterElements': (scatter_elements, 1, 18),
         'ScatterND': (scatter_nd, 1, 18), 'MaxPool': (max_pool, 2, 12),
         'ConvTranspose': (conv_transpose, 1, 11), 'SoftmaxCrossEntropyLoss': (cross_entropy, 2, 13)}


def model_of(operator, inputs, attributes, constants, outputs, opset):
    """The outputs' names are y0, y1; inputs whose shape or type changes with a run are inputs of the graph."""
    names = [f'y{i}' for i in range(outputs)]
    node = helper.make_node(operator, list(inputs), names, **attributes)
    tensors = [onnx.numpy_helper.from_array(inputs[name], name) for name in constants]
    graph = helper.make_graph([node], 'g', [helper.make_tensor_value_info(n, TYPES[a.dtype], a.shape) for n, a in inputs.items()
                                            if n not in constants],
                              [helper.make_empty_tensor_value_info(n) for n in names], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=8)


def expected_of(operator, path, inputs, attributes, constants, opset):
    """ONNX Runtime's results. It refuses output_padding from the stride on, which PyTorch exports: there by definition, from
    its result without padding and cropping."""
    feeds = {name: array for name, array in inputs.items() if name not in constants}
    if operator != 'ConvTranspose':
        return onnxruntime.InferenceSession(str(path)).run(None, feeds)
    whole = {name: value for name, value in attributes.items() if name not in ('pads', 'output_padding')}
    bare = {name: inputs[name] for name in ('x', 'w')}
    model = model_of(operator, bare, whole, {'w'}, 1, opset)
    full = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]
    pads, dims = attributes['pads'], full.ndim - 2
    full = np.pad(full, [(0, 0), (0, 0), *[(0, more) for more in attributes['output_padding']]])
    full = full[(..., *[slice(pads[d], full.shape[d + 2] - pads[dims + d]) for d in range(dims)])]
    return [full + inputs['b'].reshape(-1, *[1] * dims)]


@pytest.mark.parametrize('operator', CASES)
def test_operator(operator, tmp_path):
    make, outputs, opset = CASES[operator]
    faults = []
    for seed in SEEDS:
        inputs, attributes, constants = make(np.random.default_rng(seed))
        model = model_of(operator, inputs, attributes, constants, outputs, opset)
        path, program = tmp_path / f'{seed}.onnx', tmp_path / f'{seed}.rshift'
        onnx.save(model, path)
        feeds = {name: array for name, array in inputs.items() if name not in constants}
        expected = expected_of(operator, path, inputs, attributes, constants, opset)
        pipeline.deploy(path, program, mode='f32')
        actual = pipeline.infer(program, feeds, tmp_path)
        for i, theirs in enumerate(expected):
            mine = actual[f'y{i}']
            if mine.shape != theirs.shape or not np.allclose(mine, theirs, rtol=1e-4, atol=1e-5):
                off = np.abs(mine - theirs).max() if mine.shape == theirs.shape else f'{mine.shape}, not {theirs.shape}'
                faults.append(f'seed {seed}, output {i}: {off} off, {attributes}')
    assert not faults, '\n'.join(faults)
