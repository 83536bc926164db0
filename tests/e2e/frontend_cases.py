"""Single-operator graphs of operators that the ONNX front end decomposes, with seeded numbers."""

import dataclasses

import numpy as np
import onnx
from onnx import helper, numpy_helper

SEED = 160711


@dataclasses.dataclass
class Case:
    name: str
    model: onnx.ModelProto
    feeds: dict
    integer: bool = False  # also calibrated and run in integers
    reference: bool = False  # the onnx package's evaluator is the oracle: ONNX Runtime has no such operator, or another answer


def numbers(*shape, seed=0, low=-1.0, high=1.0):
    return np.random.default_rng([SEED, seed, *shape]).uniform(low, high, shape).astype(np.float32)


def ints(*values, dtype=np.int64):
    return np.array(values, dtype)


def case(name, op, data, constants=(), outputs=1, opset=18, domain='', integer=False, ir=8, order=None, reference=False, **attributes):
    """data: arrays the program is fed with; constants: initializers. `order`: the node's inputs by name, '' where there is none:
    x0, x1 ... of data and c0, c1 ... of constants; by default data, then constants."""
    feeds = {f'x{i}': array for i, array in enumerate(data)}
    fixed = {f'c{i}': array for i, array in enumerate(constants)}
    names = [f'y{i}' for i in range(outputs)]
    node = helper.make_node(op, order or [*feeds, *fixed], names, name=name, domain=domain, **attributes)
    graph = helper.make_graph(
        [node], name,
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in feeds.items()],
        [onnx.ValueInfoProto(name=n) for n in names],
        [numpy_helper.from_array(a, n) for n, a in fixed.items()])
    opsets = [helper.make_opsetid('', opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return Case(name, helper.make_model(graph, opset_imports=opsets, ir_version=ir), feeds, integer, reference)


def attentions():
    q, k, v = numbers(2, 4, 5, 8), numbers(2, 4, 6, 8, seed=1), numbers(2, 4, 6, 8, seed=2)
    shared = [q, numbers(2, 2, 6, 8, seed=3), numbers(2, 2, 6, 8, seed=4)]
    flat = [numbers(2, 5, 32), numbers(2, 6, 32, seed=1), numbers(2, 6, 32, seed=2)]
    mask = numbers(2, 1, 5, 6, seed=5) > -0.5
    past = [numbers(2, 4, 3, 8, seed=6), numbers(2, 4, 3, 8, seed=7)]
    return [
        case('attention', 'Attention', [q, k, v], opset=23, ir=11, integer=True),
        case('attention_scale', 'Attention', [q, k, v], opset=23, ir=11, scale=0.2, softcap=1.5),
        case('attention_causal', 'Attention', [q, k, v], opset=23, ir=11, is_causal=1, integer=True),
        case('attention_mask', 'Attention', [q, k, v], [mask], opset=23, ir=11),
        case('attention_added', 'Attention', [q, k, v, numbers(5, 6, seed=8)], opset=23, ir=11),
        case('attention_shared', 'Attention', shared, opset=23, ir=11, is_causal=1),
        case('attention_flat', 'Attention', flat, opset=23, ir=11, q_num_heads=4, kv_num_heads=4, integer=True),
        case('attention_past', 'Attention', [q, k, v, *past], opset=23, ir=11, outputs=3, order=['x0', 'x1', 'x2', '', 'x3', 'x4']),
    ]


def classicals():
    """What exporters of scikit-learn put around a network: ai.onnx.ml, of which ONNX Runtime is the oracle."""
    x = numbers(5, 4)
    gaps = numbers(5, 4, seed=2)
    gaps[2, 1] = -1
    ml = dict(domain='ai.onnx.ml')
    return [
        case('scaler', 'Scaler', [x], offset=[0.1, -0.2, 0.3, 0.0], scale=[2.0, 0.5, 1.0, -1.0], integer=True, **ml),
        case('scaler_of_one', 'Scaler', [x], offset=[0.1], scale=[3.0], **ml),
        case('scaler_of_integers', 'Scaler', [ints(3, -4, 5).reshape(1, 3)], offset=[1.0, 2.0, 3.0], scale=[0.5, 0.5, 2.0], **ml),
        *[case(f'normalizer_{norm}', 'Normalizer', [np.abs(x)], norm=norm, **ml) for norm in ('MAX', 'L1', 'L2')],
        case('normalizer_of_zeros', 'Normalizer', [np.zeros((2, 3), np.float32)], norm='L2', **ml),
        case('binarizer', 'Binarizer', [x], threshold=0.25, **ml),
        case('imputer', 'Imputer', [x], imputed_value_floats=[1.0, 2.0, 3.0, 4.0], replaced_value_float=float('nan'), **ml),
        case('imputer_of_a_number', 'Imputer', [gaps], imputed_value_floats=[0.5], replaced_value_float=-1.0, **ml),
        case('array_feature_extractor', 'ArrayFeatureExtractor', [x], [ints(2, 0)], **ml),
        case('feature_vectorizer', 'FeatureVectorizer', [x, numbers(5, 2, seed=3)], inputdimensions=[4, 2], **ml),
    ]


def recurrents():
    found = []
    for op, gates in (('LSTM', 4), ('GRU', 3), ('RNN', 1)):
        for direction in ('forward', 'reverse', 'bidirectional'):
            d = 2 if direction == 'bidirectional' else 1
            weights = [numbers(d, gates * 6, 4, seed=1), numbers(d, gates * 6, 6, seed=2), numbers(d, gates * 12, seed=3)]
            x, h = numbers(5, 3, 4), numbers(d, 3, 6, seed=4)
            common = dict(opset=14, direction=direction, hidden_size=6, outputs=3 if op == 'LSTM' else 2)
            name = f'{op.lower()}_{direction}'
            found.append(case(name, op, [x], weights, integer=direction != 'reverse', **common))
            lengths = ints(3, 5, 1, dtype=np.int32)
            state = ['x1', 'x2', 'c4'] if op == 'LSTM' else ['x1']
            feeds = [x, h, numbers(d, 3, 6, seed=5)] if op == 'LSTM' else [x, h]
            extra = [numbers(d, 18, seed=6)] if op == 'LSTM' else []
            found.append(case(name + '_lengths', op, feeds, [*weights, lengths, *extra], clip=0.4,
                              order=['x0', 'c0', 'c1', 'c2', 'c3', *state], **common))
    x, weights = numbers(5, 3, 4), [numbers(1, 18, 4, seed=1), numbers(1, 18, 6, seed=2), numbers(1, 36, seed=3)]
    found.append(case('gru_linear', 'GRU', [x], weights, opset=14, outputs=2, hidden_size=6, linear_before_reset=1))
    weights = [numbers(1, 24, 4, seed=1), numbers(1, 24, 6, seed=2), numbers(1, 48, seed=3)]
    found.append(case('lstm_functions', 'LSTM', [x], weights, opset=14, outputs=3, hidden_size=6, input_forget=1,
                      activations=['HardSigmoid', 'Softsign', 'Elu'], activation_alpha=[0.3, 0.7], activation_beta=[0.4]))
    return found


def movements():
    x, index = numbers(3, 4, 5), np.random.default_rng(SEED).integers(-4, 4, (3, 6, 2))
    places = ints([0, 2], [1, -1], [0, 2])
    rows = numbers(4, 6)
    found = [
        case('gather_elements', 'GatherElements', [x, index], axis=1),
        case('gather_elements_constant', 'GatherElements', [x], [index[:2]], axis=-2),
        case('gather_nd', 'GatherND', [x], [ints([0, 1], [-1, 3])]),
        case('gather_nd_batch', 'GatherND', [x, ints([[1], [3]], [[0], [-1]], [[2], [2]])], batch_dims=1),
        case('scatter_elements', 'ScatterElements', [x, numbers(3, 2, 5, seed=1)], [np.tile(ints(1, -1)[None, :, None], (3, 1, 5))],
             order=['x0', 'c0', 'x1'], axis=1),
        case('scatter_nd', 'ScatterND', [rows, numbers(2, 6, seed=1)], [ints([2], [0])], order=['x0', 'c0', 'x1']),
    ]
    for reduction in ('add', 'mul', 'max', 'min'):
        found.append(case(f'scatter_nd_{reduction}', 'ScatterND', [rows, numbers(3, seed=1)], [places], order=['x0', 'c0', 'x1'],
                          reduction=reduction))
        found.append(case(f'scatter_elements_{reduction}', 'ScatterElements', [rows, numbers(3, 2, seed=1)],
                          [ints([1, 1], [1, 3], [0, 1])], order=['x0', 'c0', 'x1'], axis=0, reduction=reduction))
    for upper in (0, 1):
        for k in (-7, -1, 0, 2):
            found.append(case(f'trilu_{upper}_{k}', 'Trilu', [x], [np.array(k)], opset=14, upper=upper))
    found += [
        case('eye_like', 'EyeLike', [rows], k=1),
        case('one_hot', 'OneHot', [ints(1, -2, 0, 7)], [np.array(5), numbers(2)], axis=0),
        case('hardmax', 'Hardmax', [x], axis=1),
        case('hardmax_flat', 'Hardmax', [x], opset=11, axis=1),
        case('reverse_sequence', 'ReverseSequence', [rows], [ints(2, 5, 1, 6)], batch_axis=0, time_axis=1, opset=10),
        case('is_inf', 'IsInf', [x], opset=20, ir=9),
    ]
    for exclusive in (0, 1):
        for reverse in (0, 1):
            for axis in (0, 2):
                found.append(case(f'cum_sum_{exclusive}{reverse}{axis}', 'CumSum', [x], [np.array(axis)], exclusive=exclusive,
                                  reverse=reverse))
    return found


def einsums():
    equations = [
        ('ij,jk->ik', (3, 4), (4, 5)), ('bij,bjk->bik', (2, 3, 4), (2, 4, 5)), ('bhid,bhjd->bhij', (2, 3, 4, 5), (2, 3, 6, 5)),
        ('ii->i', (4, 4)), ('ii', (4, 4)), ('...ij->...ji', (2, 3, 4)), ('ij->', (3, 4)), ('i,j->ij', (3,), (4,)),
        ('...ij,...jk->...ik', (2, 3, 4), (1, 4, 5)), ('ij,ij,ij->i', (3, 4), (3, 4), (3, 4)), ('bnqd,bnkd,bnk->bnqd', (2, 2, 3, 4),
                                                                                               (2, 2, 5, 4), (2, 2, 5)),
        ('ij,jk', (3, 4), (4, 5)), ('bijj->bi', (2, 3, 4, 4)), ('ij,kj->ik', (3, 4), (5, 4)), ('i,i->', (6,), (6,)),
    ]
    return [case(f'einsum_{i}', 'Einsum', [numbers(*shape, seed=j) for j, shape in enumerate(shapes)], equation=text,
                 integer=text == 'ij,jk->ik')
            for i, (text, *shapes) in enumerate(equations)]


def fused():
    ms = dict(domain='com.microsoft')
    x, w, row = numbers(2, 5, 32), numbers(32, 96, seed=1), numbers(32, seed=2)
    picture, kernel = numbers(1, 3, 7, 6), numbers(4, 3, 3, 3, seed=1)
    heads = [numbers(2, 5, 32), numbers(2, 6, 32, seed=1), numbers(2, 6, 32, seed=2)]
    lengths, keys = ints(3, 5, dtype=np.int32), ints([1, 1, 0, 1, 1], [1, 0, 1, 1, 1], dtype=np.int32)
    ids = ints([1, 4, 2], [0, 3, 5], dtype=np.int32)
    tables = [numbers(6, 8, seed=1), numbers(4, 8, seed=2), numbers(2, 8, seed=3), numbers(8, seed=4), numbers(8, seed=5)]
    return [
        case('ms_gelu', 'Gelu', [x], **ms),
        case('ms_bias_gelu', 'BiasGelu', [x], [row], **ms),
        case('ms_fast_gelu', 'FastGelu', [x], [row], **ms),
        case('ms_quick_gelu', 'QuickGelu', [x], alpha=1.5, **ms),
        case('ms_fused_conv', 'FusedConv', [picture], [kernel, row[:4]], activation='Relu', pads=[1, 1, 1, 1], integer=True, **ms),
        case('ms_fused_conv_sum', 'FusedConv', [picture, numbers(1, 4, 5, 4, seed=7)], [kernel, row[:4]],
             order=['x0', 'c0', 'c1', 'x1'], activation='LeakyRelu', activation_params=[0.2], **ms),
        case('ms_fused_gemm', 'FusedGemm', [numbers(3, 8)], [numbers(5, 8, seed=1), numbers(5, seed=2)], transB=1, alpha=0.5,
             activation='Relu', **ms),
        case('ms_fused_matmul', 'FusedMatMul', [numbers(2, 4, 3), numbers(2, 5, 4, seed=1)], transA=1, transB=1, alpha=0.3, **ms),
        case('ms_fused_matmul_batch', 'FusedMatMul', [numbers(4, 2, 3), numbers(2, 3, 5, seed=1)], transBatchA=1, **ms),
        case('ms_skip_norm', 'SkipLayerNormalization', [x, numbers(2, 5, 32, seed=3)], [row, numbers(32, seed=4), numbers(32, seed=5)],
             epsilon=1e-5, integer=True, **ms),
        case('ms_skip_rms', 'SkipSimplifiedLayerNormalization', [x, numbers(2, 5, 32, seed=3)], [row], epsilon=1e-5, **ms),
        case('ms_embed', 'EmbedLayerNormalization', [ids], [ids % 2, *tables], outputs=2, epsilon=1e-5,
             order=['x0', 'c0', 'c1', 'c2', 'c3', 'c4', 'c5'], **ms),
        case('ms_attention', 'Attention', [x], [w, numbers(96, seed=3)], num_heads=4, integer=True, **ms),
        case('ms_attention_lengths', 'Attention', [x], [w, numbers(96, seed=3), lengths], num_heads=4, **ms),
        case('ms_attention_keys', 'Attention', [x], [w, numbers(96, seed=3), keys], num_heads=4, **ms),
        case('ms_attention_causal', 'Attention', [x], [w, numbers(96, seed=3)], num_heads=4, unidirectional=1, **ms),
        case('ms_attention_past', 'Attention', [x, numbers(2, 2, 4, 3, 8, seed=6)], [w, numbers(96, seed=3)], num_heads=4, outputs=2,
             order=['x0', 'c0', 'c1', '', 'x1'], unidirectional=1, **ms),
        case('ms_multi_head', 'MultiHeadAttention', heads, [numbers(96, seed=3)], num_heads=4, **ms),
        case('ms_multi_head_mask', 'MultiHeadAttention', heads, [ints([1, 1, 0, 1, 1, 1], [1, 0, 1, 1, 1, 0], dtype=np.int32)],
             order=['x0', 'x1', 'x2', '', 'c0'], num_heads=4, **ms),
        case('ms_multi_head_added', 'MultiHeadAttention', [*heads, numbers(1, 4, 5, 6, seed=8)], order=['x0', 'x1', 'x2', '', '', 'x3'],
             num_heads=4, scale=0.2, **ms),
        case('ms_rotary', 'RotaryEmbedding', [numbers(2, 4, 5, 8)], [ints(2), numbers(10, 4, seed=1), numbers(10, 4, seed=2)], **ms),
        case('ms_rotary_rows', 'RotaryEmbedding', [numbers(2, 5, 32)],
             [ints([0, 1, 2, 3, 4], [4, 2, 0, 1, 9]), numbers(10, 4, seed=1), numbers(10, 4, seed=2)], interleaved=1, **ms),
    ]


def norms():
    x, row = numbers(2, 6, 4, 5), numbers(5, seed=1)
    return [
        case('layer_norm_statistics', 'LayerNormalization', [x], [row, row], outputs=3, opset=17),
        case('layer_norm_rows', 'LayerNormalization', [x], [numbers(4, 5, seed=1)], outputs=2, axis=2, opset=17),
        case('simplified_norm', 'SimplifiedLayerNormalization', [x], [row], axis=-1),
        case('rms_norm', 'RMSNormalization', [x], [row], opset=23, ir=11, integer=True),
        case('group_norm', 'GroupNormalization', [x], [numbers(6, seed=1), numbers(6, seed=2)], num_groups=3, opset=21, ir=10, integer=True),
        case('mean_variance', 'MeanVarianceNormalization', [x], opset=13),
        case('lp_norm', 'LpNormalization', [x], axis=1, p=1),
    ]


def volumes():
    x, w = numbers(2, 4, 5, 6, 7), numbers(6, 2, 3, 2, 3, seed=1)
    return [
        case('conv_3d', 'Conv', [x], [w, numbers(6, seed=2)], group=2, strides=[2, 1, 2], pads=[1, 0, 1, 0, 1, 2], integer=True),
        case('conv_3d_same', 'Conv', [x], [w], group=2, auto_pad='SAME_LOWER', strides=[2, 2, 1]),
        case('conv_3d_dilated', 'Conv', [x], [w], group=2, dilations=[2, 1, 1]),
        case('conv_transpose_3d_valid', 'ConvTranspose', [x], [numbers(4, 3, 3, 2, 3, seed=1), numbers(3, seed=2)], auto_pad='VALID', strides=[2, 1, 2]),
        case('conv_transpose_3d_upper', 'ConvTranspose', [x], [numbers(4, 3, 3, 2, 3, seed=1)], auto_pad='SAME_UPPER', strides=[2, 1, 2]),
        case('conv_transpose_3d_lower', 'ConvTranspose', [x], [numbers(4, 3, 4, 2, 3, seed=1)], auto_pad='SAME_LOWER', strides=[1, 2, 2], dilations=[2, 1, 1]),
        case('conv_transpose_3d_shape', 'ConvTranspose', [x], [numbers(4, 3, 3, 2, 3, seed=1), numbers(3, seed=2)], output_shape=[10, 7, 16], strides=[2, 1, 2]),
        case('conv_transpose_3d_more', 'ConvTranspose', [x], [numbers(4, 3, 1, 2, 3, seed=1), numbers(3, seed=2)], output_shape=[10, 7, 14], strides=[2, 1, 2]),
        case('max_pool_3d', 'MaxPool', [x], kernel_shape=[3, 2, 3], strides=[2, 1, 2], pads=[1, 0, 1, 1, 1, 1], integer=True),
        case('max_pool_3d_ceil', 'MaxPool', [x], kernel_shape=[2, 2, 2], strides=[2, 2, 2], ceil_mode=1),
        case('average_pool_3d', 'AveragePool', [x], kernel_shape=[3, 3, 3], pads=[1, 1, 1, 1, 1, 1], integer=True),
        case('average_pool_3d_padded', 'AveragePool', [x], kernel_shape=[3, 2, 3], pads=[1, 0, 1, 1, 1, 1], count_include_pad=1),
        case('lp_pool', 'LpPool', [x[0]], kernel_shape=[3, 2], strides=[2, 1], p=2),
        case('lp_pool_1d', 'LpPool', [x[0, 0]], kernel_shape=[3], pads=[1, 1], p=3),
        case('global_lp_pool', 'GlobalLpPool', [x[0]], p=1),
    ]


def signals():
    x, z = numbers(2, 16, 1), numbers(2, 10, 2)
    frames = [np.array(4), numbers(8, seed=1), np.array(8)]
    return [
        case('dft', 'DFT', [x], axis=1, opset=17), case('dft_complex', 'DFT', [z], axis=1, opset=17),
        case('dft_inverse', 'DFT', [z], axis=1, inverse=1, opset=17), case('dft_half', 'DFT', [x], axis=1, onesided=1, opset=17),
        case('dft_longer', 'DFT', [x], [np.array(20), np.array(1)], opset=20, ir=9),
        case('stft', 'STFT', [numbers(2, 32, 1)], frames, opset=17),
        case('mod_float', 'Mod', [x], [np.float32([0.3])], fmod=1),
    ]


def odds():
    x, picture = numbers(3, 6), numbers(2, 3, 5, 6)
    return [
        case('shrink', 'Shrink', [x], lambd=0.3, bias=0.1), case('top_k', 'TopK', [x], [ints(3)], outputs=2),
        case('top_k_smallest', 'TopK', [picture], [ints(2)], outputs=2, axis=1, largest=0),
        case('top_k_of_many', 'TopK', [numbers(1, 20000)], [ints(300)], outputs=2), case('sort', 'TopK', [numbers(2, 3000)], [ints(3000)], outputs=2),
        case('pad_wrap', 'Pad', [x], [ints(1, 2, 0, 3)], mode='wrap', opset=19, ir=9),
        case('pad_wrap_cut', 'Pad', [x], [ints(1, -1, -1, 3)], mode='wrap', opset=19, ir=9),
        case('compress', 'Compress', [x], [np.array([True, False, True])], axis=0),
        case('col2im', 'Col2Im', [numbers(1, 18, 9)], [ints(7, 7), ints(3, 3)], strides=[2, 2]),
        case('col2im_pads', 'Col2Im', [numbers(1, 8, 25)], [ints(6, 6), ints(2, 2)], pads=[0, 0, 1, 1], strides=[1, 1], dilations=[2, 2]),
        case('center_crop_pad', 'CenterCropPad', [x], [ints(5, 3)]),
        case('affine_grid', 'AffineGrid', [numbers(2, 2, 3)], [ints(2, 3, 4, 5)], opset=20, ir=9),
        case('affine_grid_3d', 'AffineGrid', [numbers(1, 3, 4)], [ints(1, 3, 2, 4, 5)], align_corners=1, opset=20, ir=9),
        case('bytes', 'Add', [ints(-100, 3, 9, dtype=np.int8)], [ints(-100, 4, 5, dtype=np.int8)], opset=14),
        case('crop', 'Crop', [picture], border=[1, 1, 2, 1], opset=7), case('affine', 'Affine', [x], alpha=2.0, beta=0.5, opset=7),
        case('image_scaler', 'ImageScaler', [picture], scale=0.5, bias=[0.1, 0.2, 0.3], opset=7),
        case('scaled_tanh', 'ScaledTanh', [x], alpha=1.5, beta=0.5, opset=7),
        case('parametric_softplus', 'ParametricSoftplus', [x], alpha=1.5, beta=0.5, opset=7),
    ]


def linear_attentions():
    """Every rule, several queries to a head of keys, a state before, one decay for a head or one for each column."""
    found = []
    for rule in ('linear', 'gated', 'delta', 'gated_delta'):
        for group, rows, past, wide in ((1, 1, False, True), (2, 5, True, False), (3, 7, False, True), (1, 6, True, True)):
            heads, size, columns = 2, 4, 3
            data = [numbers(2, rows, heads * group * size), numbers(2, rows, heads * size, seed=1), numbers(2, rows, heads * columns, seed=2)]
            order = ['x0', 'x1', 'x2', '', '', '']
            if past:
                order[3] = f'x{len(data)}'
                data.append(numbers(2, heads, size, columns, seed=3))
            if 'gated' in rule:
                order[4] = f'x{len(data)}'
                data.append(numbers(2, rows, heads * (size if wide else 1), seed=4, low=-1, high=-0.1))
            if 'delta' in rule:
                order[5] = f'x{len(data)}'
                data.append(numbers(2, rows, heads if wide else 1, seed=5, low=0.1))
            while not order[-1]:
                order.pop()
            found.append(case(f'linear_attention_{rule}_{group}{rows}', 'LinearAttention', data, outputs=2, opset=27, ir=13, order=order,
                              reference=True, integer=group == 3 and rule in ('linear', 'delta'), update_rule=rule,
                              q_num_heads=heads * group, kv_num_heads=heads, **({'scale': 0.3} if wide else {})))
    return found


def body(name, *nodes, **constants):
    """A graph from x to y."""
    return helper.make_graph([helper.make_node(op, inputs, outputs) for op, inputs, outputs in nodes], name,
                             [helper.make_tensor_value_info('x', onnx.TensorProto.FLOAT, None)],
                             [helper.make_tensor_value_info('y', onnx.TensorProto.FLOAT, None)],
                             [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items()])


def flex_attentions():
    q, k, v = numbers(2, 4, 5, 8), numbers(2, 4, 6, 8, seed=1), numbers(2, 4, 6, 3, seed=2)
    shared = [q, numbers(2, 2, 6, 8, seed=3), numbers(2, 2, 6, 3, seed=4)]
    flex = dict(opset=26, ir=13, domain='ai.onnx.preview', reference=True)
    cap = body('cap', ('Tanh', ['x'], ['t']), ('Mul', ['t', 'c'], ['y']), c=np.float32(1.5))
    mask = body('mask', ('Where', ['m', 'x', 'none'], ['y']), m=np.tri(5, 6, 1, dtype=bool), none=np.float32(-np.inf))
    slopes = body('slopes', ('Mul', ['s', 'd'], ['b']), ('Add', ['x', 'b'], ['y']), s=numbers(1, 4, 1, 1, seed=5),
                  d=(np.arange(6)[None] - np.arange(5)[:, None]).astype(np.float32))
    half = body('half', ('Mul', ['x', 'c'], ['y']), c=np.float32(0.5))
    return [
        case('flex', 'FlexAttention', [q, k, v], integer=True, **flex),
        case('flex_shared', 'FlexAttention', shared, scale=0.7, score_mod=cap, **flex),
        case('flex_mask', 'FlexAttention', [q, k, v], score_mod=mask, integer=True, **flex),
        case('flex_slopes', 'FlexAttention', [q, k, v], score_mod=slopes, prob_mod=half, **flex),
    ]


def caches():
    cache, update = numbers(3, 2, 8, 4), numbers(3, 2, 3, 4, seed=1)
    form = dict(opset=24, ir=10, reference=True)
    return [
        case('tensor_scatter', 'TensorScatter', [cache, update, ints(0, 5, 2)], **form),
        case('tensor_scatter_first', 'TensorScatter', [cache, update], **form),
        case('tensor_scatter_around', 'TensorScatter', [cache, update, ints(7, 6, 0)], mode='circular', **form),
        case('tensor_scatter_constant', 'TensorScatter', [cache, update], [ints(1, 0, 4)], **form),
        case('tensor_scatter_axis', 'TensorScatter', [cache, numbers(3, 2, 8, 2, seed=2), ints(3, 1, 3)], mode='circular', axis=-1, **form),
        case('tensor_scatter_rows', 'TensorScatter', [numbers(2, 5, 3), numbers(2, 2, 3, seed=1), ints(3, 0)], axis=1, **form),
    ]


def determinants():
    swaps = np.float32([[[0, 2, 1], [1, 1, 0], [3, 0, 1]], [[0, 0, 1], [0, 2, 5], [0, 1, 1]]])
    return [case(f'det_{n}', 'Det', [numbers(2, 3, n, n, low=-2, high=2)], opset=22, ir=10, reference=True) for n in (1, 2, 3, 5, 12)] + [
        case('det_swaps', 'Det', [swaps], opset=22, ir=10, reference=True)]


def adaptive_boxes():
    """RoiAlign with a point for every pixel of a cell: boxes that leave the image, are small, or lie in the other picture."""
    found = []
    for seed, (shape, size, scale, mode) in enumerate([((1, 3, 9, 13), (3, 4), 1.0, 'half_pixel'), ((2, 5, 20, 17), (7, 7), 0.25, 'half_pixel'),
                                                       ((3, 2, 6, 5), (2, 8), 0.5, 'output_half_pixel')]):
        random = np.random.default_rng([SEED, 13, seed])
        corners = np.sort(random.uniform(-1, max(shape[2:]) / scale + 1, (9, 2, 2)), 1).reshape(9, 4).astype(np.float32)
        form = dict(order=['x0', 'x1', 'c0'], output_height=size[0], output_width=size[1], spatial_scale=scale, opset=16,
                    coordinate_transformation_mode=mode)
        images = random.integers(0, shape[0], 9)
        found.append(case(f'roi_align_adaptive_{seed}', 'RoiAlign', [numbers(*shape), corners], [images], **form))
    return found


def boxes():
    """MaxRoiPool over boxes that leave the image, are empty, or lie in the other picture."""
    found = []
    for seed, (shape, pooled, scale) in enumerate([((1, 3, 9, 13), (3, 4), 1.0), ((2, 8, 20, 17), (7, 7), 0.25), ((3, 1, 6, 5), (2, 8), 0.5)]):
        random = np.random.default_rng([SEED, 12, seed])
        corners = np.sort(random.uniform(-3, max(shape[2:]) / scale + 3, (9, 2, 2)), 1).reshape(9, 4)
        rois = np.concatenate([random.integers(0, shape[0], (9, 1)), corners], 1).astype(np.float32)
        found.append(case(f'max_roi_pool_{seed}', 'MaxRoiPool', [numbers(*shape)], [rois], pooled_shape=pooled, spatial_scale=scale))
        found.append(case(f'max_roi_pool_computed_{seed}', 'MaxRoiPool', [numbers(*shape), rois], pooled_shape=pooled, spatial_scale=scale))
    pixels = np.random.default_rng(SEED).integers(-128, 128, (2, 9, 7, 5)).astype(np.int8)
    nhwc = dict(domain='com.microsoft', kernel_shape=[3, 2])
    return found + [case('nhwc_max_pool', 'NhwcMaxPool', [pixels], strides=[2, 1], pads=[1, 0, 1, 1], **nhwc),
                    case('nhwc_max_pool_bytes', 'NhwcMaxPool', [pixels.view(np.uint8)], auto_pad='SAME_UPPER', **nhwc)]


def resizes():
    picture, none = numbers(1, 2, 9, 11), np.zeros(0, np.float32)
    sizes = ints(1, 2, 4, 7)
    found = []
    for mode in ('linear', 'cubic'):
        for outside in (0, 1):
            found.append(case(f'resize_antialias_{mode}_{outside}', 'Resize', [picture], [none, none, sizes], mode=mode, antialias=1,
                              exclude_outside=outside, reference=True, integer=mode == 'linear' and not outside))
        found.append(case(f'resize_antialias_{mode}_axes', 'Resize', [picture], [none, np.float32([0.4, 1.5])], mode=mode, antialias=1,
                          axes=[3, 2], order=['x0', 'c0', 'c1'], reference=True))
    for mode in ('nearest', 'linear', 'cubic'):
        for start, end in ((0.2, 0.7), (-0.25, 1.2)):
            roi = np.float32([0, 0, start, 0.1, 1, 1, end, 0.9])
            found.append(case(f'resize_crop_{mode}_{start}', 'Resize', [picture], [roi, none, ints(1, 2, 6, 5)], mode=mode,
                              coordinate_transformation_mode='tf_crop_and_resize', extrapolation_value=0.5,
                              reference=mode == 'cubic'))
    return found


def forms():
    """Forms of operators that other rows of this file have in their usual form."""
    x, x5 = numbers(3, 6), numbers(1, 2 * 12, 8)
    batched = helper.make_graph([helper.make_node('Add', ['s', 'r'], ['t']), helper.make_node('Mul', ['t', 'r'], ['o'])], 'body',
                                [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2]) for n in ('s', 'r')],
                                [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2]) for n in ('t', 'o')])
    rows, scales = numbers(4, 6, low=-3, high=3), numbers(4, 3, low=0.02, high=0.05, seed=1)
    zeros = np.random.default_rng(SEED).integers(100, 150, (4, 3)).astype(np.uint8)
    return [
        case('pad_computed', 'Pad', [x, np.array(0.7, np.float32)], [ints(1, -2, 0, 3)], order=['x0', 'c0', 'x1']),
        case('pad_computed_axes', 'Pad', [x, np.float32([0.7])], [ints(1, 2), ints(-1)], order=['x0', 'c0', 'x1', 'c1']),
        case('col2im_3d', 'Col2Im', [x5], [ints(3, 4, 3), ints(2, 3, 2)], reference=True),
        case('col2im_3d_pads', 'Col2Im', [numbers(2, 3 * 8, 18)], [ints(4, 5, 3), ints(2, 2, 2)], pads=[1, 0, 1, 0, 0, 0],
             strides=[1, 2, 1], dilations=[2, 1, 1], reference=True),
        case('col2im_1d', 'Col2Im', [numbers(2, 6, 5)], [ints(7), ints(3)], reference=True),
        case('scan_batched', 'Scan', [numbers(2, 2), numbers(2, 4, 2, seed=1)], outputs=2, opset=8, ir=3, order=['', 'x0', 'x1'],
             body=batched, num_scan_inputs=1),
        case('scan_batched_back', 'Scan', [numbers(2, 2), numbers(2, 4, 2, seed=1)], outputs=2, opset=8, ir=3, order=['', 'x0', 'x1'],
             body=batched, num_scan_inputs=1, directions=[1]),
        case('quantize_blocks', 'QuantizeLinear', [rows], [scales, zeros], opset=21, ir=10, axis=1, block_size=2),
        case('dequantize_blocks', 'DequantizeLinear', [(rows * 30).astype(np.int8)], [scales], opset=21, ir=10, axis=1, block_size=2),
        case('dequantize_blocks_zero', 'DequantizeLinear', [(rows * 30 + 100).astype(np.uint8)], [scales, zeros], opset=21, ir=10, axis=1,
             block_size=2),
        case('old_softmax', 'Softmax', [numbers(2, 3, 4)], opset=1, ir=3),
    ]


def suppressions():
    """Boxes of both forms, with and without thresholds and limits, in several batches and classes."""
    found = []
    for seed in range(16):
        random = np.random.default_rng([SEED, 11, seed])
        batches, classes, count = random.integers(1, 4), random.integers(1, 5), random.integers(1, 60)
        scores = random.integers(0, 30, (batches, classes, count)).astype(np.float32) / 30  # many are equal
        limits = [ints(random.integers(0, 20)), np.array([random.uniform(0, 0.7)], np.float32),
                  np.array([random.uniform(-0.5, 0.9)], np.float32)]
        given = int(random.integers(1, 4)) if seed else 3
        found.append(case(f'nms_{seed}', 'NonMaxSuppression', [numbers(batches, count, 4, seed=seed, low=0.05), scores], limits[:given],
                          opset=11, center_point_box=int(seed % 2)))
    return found


def selections():
    found = []
    for seed in range(12):
        random = np.random.default_rng([SEED, 12, seed])
        shape = tuple(int(d) for d in random.integers(1, 7, random.integers(1, 5)))
        few = random.integers(-1, 2, shape).astype((np.float32, np.int32, np.int64, np.float32)[seed % 4])
        axis = int(random.integers(-len(shape), len(shape)))
        flags = random.integers(0, 2, random.integers(1, shape[axis] + 1)).astype(bool)
        found += [case(f'non_zero_{seed}', 'NonZero', [few if seed % 4 < 3 else few > 0], opset=13),
                  case(f'compress_axis_{seed}', 'Compress', [few, flags], opset=11, axis=axis),
                  case(f'compress_flat_{seed}', 'Compress', [few, np.resize(flags, few.size)], opset=11)]
        # ONNX Runtime has Unique of f32, s64, s8 and f64.
        rows = few if few.dtype != np.int32 else few.astype(np.int8)
        along = {'axis': axis} if seed % 3 else {}
        found.append(case(f'unique_{seed}', 'Unique', [rows], opset=11, outputs=4, sorted=int(seed % 2), **along))
    return found


def cases():
    families = (suppressions, selections, classicals, volumes, signals, odds, attentions, recurrents, movements, einsums, fused, norms,
                linear_attentions, flex_attentions, caches, determinants, boxes, adaptive_boxes, resizes, forms)
    return [found for family in families for found in family()]
