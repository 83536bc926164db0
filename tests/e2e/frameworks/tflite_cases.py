"""Every TensorFlow Lite operator that is translated, as graphs of one operator: float, and int8 where LiteRT has it.

Each case: a name, the code, shapes of the inputs, constant inputs, options. An entry of `inputs` is a shape (an
activation) or an array (a constant; floats are quantized with the activations).
"""

import dataclasses

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from frameworks.tflite_net import ACTIVATIONS, PADDINGS, Net

RANDOM = np.random.default_rng(20261122)


def ints(*elements):
    return np.array(elements, np.int32)


@dataclasses.dataclass
class Case:
    name: str
    code: str
    inputs: list
    output: tuple
    options: str | None = None
    fields: dict = dataclasses.field(default_factory=dict)
    int8: str = ''  # '' none; 'free': the output has a scale of its own; 'same': that of the input
    low: float = -3.0
    high: float = 3.0
    quant: tuple | None = None  # what the format prescribes for the int8 output
    outputs: int = 1
    out_type: str | None = None
    near: float = 1e-5


def window(padding='SAME', stride=(1, 1), act='none', **more):
    return dict(padding=PADDINGS[padding], strideH=stride[0], strideW=stride[1],
                fusedActivationFunction=ACTIVATIONS[act], **more)


def weights(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


IMAGE = (1, 8, 6, 8)


def cases():
    found = []

    def add(*args, **more):
        found.append(Case(*args, **more))

    for padding, stride, act in (('SAME', (1, 1), 'none'), ('VALID', (2, 1), 'relu'),
                                 ('SAME', (2, 2), 'relu6')):
        size = (8, 6) if padding == 'SAME' else (6, 4)
        size = tuple(-(-s // t) for s, t in zip(size, stride))
        name = f'{padding.lower()}{stride[0]}{stride[1]}{act}'
        add(f'conv_{name}', 'CONV_2D', [IMAGE, weights(5, 3, 3, 8), weights(5)], (1, *size, 5),
            'Conv2DOptions', window(padding, stride, act), int8='free')
        add(f'depthwise_{name}', 'DEPTHWISE_CONV_2D', [IMAGE, weights(1, 3, 3, 16), weights(16)],
            (1, *size, 16), 'DepthwiseConv2DOptions',
            window(padding, stride, act, depthMultiplier=2), int8='free')
        add(f'average_{name}', 'AVERAGE_POOL_2D', [IMAGE], (1, *size, 8), 'Pool2DOptions',
            window(padding, stride, act, filterHeight=3, filterWidth=3), int8='same')
        add(f'max_{name}', 'MAX_POOL_2D', [IMAGE], (1, *size, 8), 'Pool2DOptions',
            window(padding, stride, act, filterHeight=3, filterWidth=3), int8='same')
    add('conv_dilated', 'CONV_2D', [IMAGE, weights(5, 3, 3, 8), weights(5)], (1, 8, 6, 5),
        'Conv2DOptions', window(dilationHFactor=2, dilationWFactor=2), int8='free')
    add('conv_groups', 'CONV_2D', [IMAGE, weights(4, 3, 3, 4), weights(4)], (1, 8, 6, 4),
        'Conv2DOptions', window())
    for padding, size in (('SAME', (16, 12)), ('VALID', (17, 13))):
        add(f'transpose_conv_{padding.lower()}', 'TRANSPOSE_CONV',
            [ints(1, *size, 5), weights(5, 3, 3, 8), IMAGE, weights(5)], (1, *size, 5),
            'TransposeConvOptions', window(padding, (2, 2)), int8='free')
    add('fully_connected', 'FULLY_CONNECTED', [(3, 16), weights(7, 16), weights(7)], (3, 7),
        'FullyConnectedOptions', dict(fusedActivationFunction=ACTIVATIONS['relu']), int8='free')
    add('fully_connected_rows', 'FULLY_CONNECTED', [(2, 3, 16), weights(7, 16)], (2, 3, 7),
        'FullyConnectedOptions', dict(keepNumDims=True), int8='free')
    add('batch_matmul', 'BATCH_MATMUL', [(2, 3, 8), (2, 5, 8)], (2, 3, 5), 'BatchMatMulOptions',
        dict(adjY=True), int8='free')
    for code, options, int8 in (('ADD', 'AddOptions', 'free'), ('SUB', 'SubOptions', 'free'),
                                ('MUL', 'MulOptions', 'free'), ('DIV', 'DivOptions', '')):
        low = 0.5 if code == 'DIV' else -3.0
        add(code.lower(), code, [IMAGE, IMAGE], IMAGE, options,
            dict(fusedActivationFunction=ACTIVATIONS['relu6']), int8=int8, low=low)
        add(f'{code.lower()}_row', code, [IMAGE, (8,)], IMAGE, options, int8=int8, low=low)
    for code in ('MAXIMUM', 'MINIMUM'):
        add(code.lower(), code, [IMAGE, (1, 8, 6, 1)], IMAGE, 'MaximumMinimumOptions', int8='same')
    add('pow', 'POW', [IMAGE, (8,)], IMAGE, low=0.5)
    add('atan2', 'ATAN2', [IMAGE, IMAGE], IMAGE, near=1e-6)
    add('squared_difference', 'SQUARED_DIFFERENCE', [IMAGE, IMAGE], IMAGE, int8='free')
    add('floor_div', 'FLOOR_DIV', [IMAGE, IMAGE], IMAGE, low=0.5)
    add('floor_mod', 'FLOOR_MOD', [IMAGE, IMAGE], IMAGE, low=0.5)
    add('add_n', 'ADD_N', [IMAGE, IMAGE, IMAGE], IMAGE)
    for code in ('LESS', 'LESS_EQUAL', 'GREATER', 'GREATER_EQUAL', 'EQUAL', 'NOT_EQUAL'):
        add(code.lower(), code, [IMAGE, (8,)], IMAGE, out_type='bool')
    for code, near in (('RELU', 0), ('RELU6', 0), ('RELU_N1_TO_1', 0), ('LOGISTIC', 1e-6), ('TANH', 1e-6),
                       ('HARD_SWISH', 1e-6), ('ELU', 1e-6), ('ABS', 0), ('NEG', 0), ('EXP', 1e-5),
                       ('SIN', 1e-6), ('COS', 1e-6), ('SQUARE', 0), ('FLOOR', 0), ('CEIL', 0),
                       ('ROUND', 0)):
        int8 = 'free' if code in ('RELU', 'RELU6', 'RELU_N1_TO_1', 'HARD_SWISH', 'ELU', 'ABS') else ''
        add(code.lower(), code, [IMAGE], IMAGE, int8=int8, near=near)
    add('logistic_s8', 'LOGISTIC', [IMAGE], IMAGE, int8='free', quant=(1 / 256, -128), near=1e-6)
    add('tanh_s8', 'TANH', [IMAGE], IMAGE, int8='free', quant=(1 / 128, 0), near=1e-6)
    for code in ('SQRT', 'RSQRT', 'LOG'):
        add(code.lower(), code, [IMAGE], IMAGE, low=0.2, int8='' if code == 'LOG' else 'free')
    add('leaky_relu', 'LEAKY_RELU', [IMAGE], IMAGE, 'LeakyReluOptions', dict(alpha=0.1), int8='free')
    add('prelu', 'PRELU', [IMAGE, weights(1, 1, 8)], IMAGE, int8='free')
    add('gelu', 'GELU', [IMAGE], IMAGE, 'GeluOptions', dict(approximate=False), near=1e-6)
    add('gelu_tanh', 'GELU', [IMAGE], IMAGE, 'GeluOptions', dict(approximate=True), near=1e-6)
    add('softmax', 'SOFTMAX', [(4, 20)], (4, 20), 'SoftmaxOptions', dict(beta=1.0), int8='free',
        quant=(1 / 256, -128), near=1e-6)
    add('softmax_beta', 'SOFTMAX', [(4, 20)], (4, 20), 'SoftmaxOptions', dict(beta=0.5), near=1e-6)
    add('log_softmax', 'LOG_SOFTMAX', [(4, 20)], (4, 20), int8='free', quant=(16 / 256, 127))
    add('l2_norm', 'L2_NORMALIZATION', [IMAGE], IMAGE, 'L2NormOptions', int8='free',
        quant=(1 / 128, 0))
    add('lrn', 'LOCAL_RESPONSE_NORMALIZATION', [IMAGE], IMAGE, 'LocalResponseNormalizationOptions',
        dict(radius=2, bias=1.0, alpha=0.5, beta=0.75))
    for code in ('MEAN', 'SUM', 'REDUCE_MAX', 'REDUCE_MIN', 'REDUCE_PROD'):
        int8 = {'MEAN': 'free', 'SUM': 'free', 'REDUCE_MAX': 'same', 'REDUCE_MIN': 'same'}.get(code, '')
        add(f'{code.lower()}_space', code, [IMAGE, ints(1, 2)], (1, 1, 1, 8), 'ReducerOptions',
            dict(keepDims=True), int8=int8)
        add(f'{code.lower()}_flat', code, [IMAGE, ints(1, 2)], (1, 8), 'ReducerOptions',
            dict(keepDims=False), int8=int8)
        add(f'{code.lower()}_last', code, [IMAGE, ints(-1)], (1, 8, 6), 'ReducerOptions', int8=int8)
    for code in ('ARG_MAX', 'ARG_MIN'):
        add(code.lower(), code, [IMAGE, ints(3)], (1, 8, 6), code.title().replace('_', '') + 'Options',
            dict(outputType=schema.TensorType.INT32), out_type='int32')
    add('cumsum', 'CUMSUM', [IMAGE, np.array(1, np.int32)], IMAGE, 'CumsumOptions')
    add('reshape', 'RESHAPE', [IMAGE, ints(1, 48, -1)], (1, 48, 8), 'ReshapeOptions', int8='same')
    add('squeeze', 'SQUEEZE', [(1, 4, 1, 5)], (4, 1, 5), 'SqueezeOptions', dict(squeezeDims=[0]), int8='same')
    add('expand_dims', 'EXPAND_DIMS', [(4, 5), ints(-1)], (4, 5, 1), int8='same')
    add('transpose', 'TRANSPOSE', [IMAGE, ints(0, 3, 1, 2)], (1, 8, 8, 6), int8='same')
    add('concat', 'CONCATENATION', [IMAGE, (1, 8, 6, 3)], (1, 8, 6, 11), 'ConcatenationOptions',
        dict(axis=3), int8='same')
    add('pack', 'PACK', [(4, 5), (4, 5)], (4, 2, 5), 'PackOptions', dict(valuesCount=2, axis=1), int8='same')
    add('unpack', 'UNPACK', [(3, 4, 5)], (3, 5), 'UnpackOptions', dict(num=4, axis=1), int8='same',
        outputs=4)
    add('split', 'SPLIT', [np.array(3, np.int32), IMAGE], (1, 8, 6, 4), 'SplitOptions', dict(numSplits=2),
        int8='same', outputs=2)
    add('split_v', 'SPLIT_V', [IMAGE, ints(4, -1), np.array(3, np.int32)], (1, 8, 6, 4), 'SplitVOptions',
        dict(numSplits=2), int8='', outputs=2)
    add('slice', 'SLICE', [IMAGE, ints(0, 2, 1, 0), ints(1, 3, -1, 8)], (1, 3, 5, 8), int8='same')
    add('strided_slice', 'STRIDED_SLICE', [IMAGE, ints(0, 1, 5, 0), ints(1, 7, 0, 8), ints(1, 2, -2, 1)],
        (1, 3, 3, 8), 'StridedSliceOptions', dict(endMask=8, shrinkAxisMask=0), int8='same')
    add('strided_slice_shrink', 'STRIDED_SLICE', [IMAGE, ints(0, -1), ints(1, 0), ints(1, 1)],
        (6, 8), 'StridedSliceOptions', dict(shrinkAxisMask=3), int8='same')
    add('strided_slice_ellipsis', 'STRIDED_SLICE', [IMAGE, ints(0, 0, 2), ints(1, 0, 7), ints(1, 1, 2)],
        (1, 8, 6, 3), 'StridedSliceOptions', dict(ellipsisMask=2), int8='same')
    # With a dropped dimension, too, LiteRT 2.3 puts a new one behind the ellipsis elsewhere than TensorFlow.
    add('strided_slice_new_axes', 'STRIDED_SLICE', [(3, 8), ints(0, 0, 0, 0), ints(0, 0, 0, 8), ints(1, 1, 1, 3)],
        (1, 3, 1, 3), 'StridedSliceOptions', dict(newAxisMask=5, ellipsisMask=2), int8='same')
    add('strided_slice_new_and_dropped', 'STRIDED_SLICE', [(3, 8), ints(1, 0, 0), ints(2, 0, 8), ints(1, 1, 3)],
        (1, 3), 'StridedSliceOptions', dict(newAxisMask=2, shrinkAxisMask=1), int8='same')
    add('reverse', 'REVERSE_V2', [IMAGE, ints(2)], IMAGE)
    add('gather', 'GATHER', [IMAGE, ints(3, 0, 3)], (1, 3, 6, 8), 'GatherOptions', dict(axis=1), int8='same')
    for batch, axis, shape in ((1, 1, (2, 3, 6, 8)), (1, 2, (2, 5, 3, 8)), (2, 3, (2, 5, 6, 3)), (1, 3, (2, 5, 6, 3))):
        indices = RANDOM.integers(0, 5, shape[:batch] + (3,)).astype(np.int32)
        add(f'gather_batch{batch}{axis}', 'GATHER', [(2, 5, 6, 8), indices], shape, 'GatherOptions',
            dict(axis=axis, batchDims=batch))
    for start in ((0, 1, 2, 0), (0, 5, 9, 3)):
        add(f'update_slice_{start[1]}', 'DYNAMIC_UPDATE_SLICE', [IMAGE, (1, 3, 2, 8), ints(*start)], IMAGE)
    add('update_slice_whole', 'DYNAMIC_UPDATE_SLICE', [IMAGE, (1, 3, 6, 8), ints(0, 2, 0, 0)], IMAGE)
    add('gather_nd', 'GATHER_ND', [(4, 5), np.array([[0, 1], [3, 4]], np.int32)], (2,))
    add('tile', 'TILE', [(2, 3), ints(2, 2)], (4, 6))
    add('broadcast_to', 'BROADCAST_TO', [(1, 3), ints(4, 3)], (4, 3))
    add('pad', 'PAD', [IMAGE, np.array([[0, 0], [1, 2], [0, 1], [0, 0]], np.int32)], (1, 11, 7, 8), int8='same')
    add('pad_v2', 'PADV2', [IMAGE, np.array([[0, 0], [1, 2], [0, 1], [1, 0]], np.int32),
                            np.array(-1.5, np.float32)], (1, 11, 7, 9))
    add('mirror_pad', 'MIRROR_PAD', [IMAGE, np.array([[0, 0], [1, 2], [0, 1], [0, 0]], np.int32)],
        (1, 11, 7, 8), 'MirrorPadOptions', dict(mode=schema.MirrorPadMode.REFLECT), int8='same')
    add('mirror_pad_symmetric', 'MIRROR_PAD', [IMAGE, np.array([[0, 1], [8, 2], [0, 1], [3, 0]], np.int32)],
        (2, 18, 7, 11), 'MirrorPadOptions', dict(mode=schema.MirrorPadMode.SYMMETRIC), int8='same')
    for align, half in ((False, False), (True, False), (False, True)):
        suffix = '_corners' if align else '_half' if half else ''
        fields = dict(alignCorners=align, halfPixelCenters=half)
        add(f'bilinear{suffix}', 'RESIZE_BILINEAR', [IMAGE, ints(13, 17)], (1, 13, 17, 8),
            'ResizeBilinearOptions', fields, int8='same')
        add(f'nearest{suffix}', 'RESIZE_NEAREST_NEIGHBOR', [IMAGE, ints(13, 17)], (1, 13, 17, 8),
            'ResizeNearestNeighborOptions', fields, int8='same')
    add('space_to_depth', 'SPACE_TO_DEPTH', [IMAGE], (1, 4, 3, 32), 'SpaceToDepthOptions',
        dict(blockSize=2), int8='same')
    add('depth_to_space', 'DEPTH_TO_SPACE', [IMAGE], (1, 16, 12, 2), 'DepthToSpaceOptions',
        dict(blockSize=2), int8='same')
    add('space_to_batch', 'SPACE_TO_BATCH_ND', [IMAGE, ints(2, 2), np.array([[1, 1], [0, 2]], np.int32)],
        (4, 5, 4, 8), int8='same')
    add('batch_to_space', 'BATCH_TO_SPACE_ND', [(4, 5, 4, 8), ints(2, 2), np.array([[1, 1], [0, 2]], np.int32)],
        (1, 8, 6, 8), int8='same')
    add('bucketize', 'BUCKETIZE', [(2, 30)], (2, 30), 'BucketizeOptions', dict(boundaries=[-1.5, 0, 0.25, 2]), out_type='int32')
    add('space_to_batch_row', 'SPACE_TO_BATCH_ND', [(2, 9, 5), ints(4), np.array([[3, 0]], np.int32)], (8, 3, 5), int8='same')
    add('batch_to_space_row', 'BATCH_TO_SPACE_ND', [(8, 3, 5), ints(4), np.array([[2, 1]], np.int32)], (2, 9, 5), int8='same')
    volume = dict(strideD=1, strideH=2, strideW=1, fusedActivationFunction=ACTIVATIONS['relu'])
    for padding, size in (('SAME', (4, 3, 4)), ('VALID', (3, 2, 2))):
        add(f'conv_3d_{padding.lower()}', 'CONV_3D', [(2, 4, 6, 4, 3), weights(2, 3, 3, 3, 5), weights(5)], (2, *size, 5),
            'Conv3DOptions', dict(padding=PADDINGS[padding], **volume))
    add('conv_3d_dilated', 'CONV_3D', [(1, 6, 6, 7, 3), weights(2, 2, 2, 3, 4)], (1, 6, 6, 7, 4), 'Conv3DOptions',
        dict(padding=PADDINGS['SAME'], strideD=1, strideH=1, strideW=1, dilationDFactor=2, dilationWFactor=3))
    for padding, size in (('SAME', (4, 12, 4)), ('VALID', (5, 13, 6))):
        add(f'conv_3d_transpose_{padding.lower()}', 'CONV_3D_TRANSPOSE',
            [ints(1, *size, 5), weights(2, 3, 3, 5, 3), (1, 4, 6, 4, 3), weights(5)], (1, *size, 5), 'Conv3DOptions',
            dict(padding=PADDINGS[padding], **volume))
    for padding, size in (('SAME', (4, 3)), ('VALID', (3, 2))):
        add(f'l2_pool_{padding.lower()}', 'L2_POOL_2D', [IMAGE], (1, *size, 8), 'Pool2DOptions',
            window(padding, (2, 2), filterHeight=3, filterWidth=3))
    add('reverse_sequence', 'REVERSE_SEQUENCE', [(3, 5, 4), ints(2, 5, 1)], (3, 5, 4), 'ReverseSequenceOptions',
        dict(seqDim=1, batchDim=0))
    add('reverse_sequence_time_first', 'REVERSE_SEQUENCE', [(5, 3, 4), ints(2, 5, 1)], (5, 3, 4), 'ReverseSequenceOptions',
        dict(seqDim=0, batchDim=1))
    add('scatter_nd', 'SCATTER_ND', [np.array([[3], [0], [3]], np.int32), (3, 4), ints(5, 4)], (5, 4))
    add('select_v2', 'SELECT_V2', [RANDOM.integers(0, 2, IMAGE).astype(bool), IMAGE, IMAGE], IMAGE)
    return found


def quantize(x, scale, zero):
    return np.clip(np.rint(x / scale) + zero, -128, 127).astype(np.int8)


WEIGHTED = {'CONV_2D': 0, 'DEPTHWISE_CONV_2D': 3, 'FULLY_CONNECTED': 0, 'TRANSPOSE_CONV': 0}


def build(case, int8, seed=0):
    """(file, {input name: sample})."""
    net, random = Net(), np.random.default_rng(seed)
    kind = np.int8 if int8 else np.float32
    scale, zero = (case.high - case.low) / 255, 0
    if int8:
        zero = int(np.clip(np.rint(-128 - case.low / scale), -128, 127))
    indices, sources, samples, weight_scales = [], [], {}, None
    for i, entry in enumerate(case.inputs):
        if isinstance(entry, tuple):
            own = scale * (1.0 if case.int8 == 'same' else 1 + 0.3 * i)
            indices.append(net.tensor(f'x{i}', entry, kind, (own, zero) if int8 else None))
            sources.append(indices[-1])
            samples[f'x{i}'] = (random.integers(-128, 128, entry).astype(np.int8) if int8 else
                                random.uniform(case.low, case.high, entry).astype(np.float32))
        elif entry.dtype != np.float32 or not int8:
            indices.append(net.constant(f'c{i}', entry))
        elif case.code in WEIGHTED and weight_scales is None:
            axis = WEIGHTED[case.code]
            rest = tuple(a for a in range(entry.ndim) if a != axis)
            weight_scales = np.abs(entry).max(rest) / 127
            shape = [-1 if a == axis else 1 for a in range(entry.ndim)]
            indices.append(net.constant(f'c{i}', quantize(entry, weight_scales.reshape(shape), 0),
                                        (weight_scales, 0), axis))
        elif case.code in WEIGHTED:
            own = np.float32(scale) * weight_scales.astype(np.float32)
            indices.append(net.constant(f'c{i}', np.rint(entry / own).astype(np.int32), (own, 0)))
        else:
            own = np.abs(entry).max() / 127
            indices.append(net.constant(f'c{i}', quantize(entry, own, 0), (own, 0)))
    goal = case.quant or ((scale, zero) if case.int8 == 'same' else (scale * 1.7, zero + 5))
    targets = [net.tensor(f'y{o}', case.output, case.out_type or kind,
                          goal if int8 and not case.out_type else None) for o in range(case.outputs)]
    net.operator(case.code, indices, targets, case.options, **case.fields)
    return net.bytes(sources, targets), samples
