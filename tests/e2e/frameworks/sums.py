"""The exact integer sums behind Conv, Gemm and the pools, the same for every framework."""

import dataclasses

import numpy as np

from frameworks.fixed_point import F32, F64, I64


def windows(case, fill):
    """[N, H, W, taps, C] int64 of the input under each output; pads hold `fill`."""
    x = case.inputs[0].astype(I64)
    top, left, bottom, right = case.pads()
    x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=fill)
    _, height, width, _ = case.output_shape()
    taps = []
    for i in range(case.window()[0]):
        for j in range(case.window()[1]):
            y0, x0 = i * case.dilation[0], j * case.dilation[1]
            taps.append(x[:, y0:y0 + (height - 1) * case.stride[0] + 1:case.stride[0],
                          x0:x0 + (width - 1) * case.stride[1] + 1:case.stride[1]])
    return np.stack(taps, 3)


def _grouped(taps, weights):
    depth = weights.shape[3]
    groups = taps.shape[4] // depth
    per = weights.shape[0] // groups
    parts = []
    for g in range(groups):
        rows = taps[..., g * depth:(g + 1) * depth].reshape(-1, taps.shape[3] * depth)
        parts.append(rows @ weights[g * per:(g + 1) * per].reshape(per, -1).T)
    return np.concatenate(parts, -1).reshape(*taps.shape[:3], -1)


def accumulate(case):
    """sum (q_x - Z_x)(q_w - Z_w) + bias, channels last; float64 holds these sums exactly."""
    weights = case.weights.astype(F64) - case.weight_quant.zero
    zero = case.input_quants[0].zero
    if case.op in ('fc', 'matmul'):
        acc = (case.inputs[0].astype(F64) - zero) @ (weights.T if case.op == 'fc' else weights)
    else:
        taps = (windows(case, zero) - zero).astype(F64)
        if case.op == 'depthwise':
            acc = np.einsum('nhwtc,tc->nhwc', taps, weights.reshape(-1, weights.shape[3]))
        else:
            acc = _grouped(taps, weights)
    acc = acc.astype(I64) + (0 if case.bias is None else case.bias.astype(I64))
    assert np.abs(acc).max() < 2**31, 'the accumulator wraps: not a case to compare'
    return acc


def products(case):
    """sum (q_a - Z_a)(q_b - Z_b) of two activations."""
    return np.matmul(*centred(case))


def pool_sums(case):
    """(sum of q under each window, number of taps inside the image), [N, H, W, C]."""
    ones = np.ones_like(case.inputs[0][:1, :, :, :1])
    counted = dataclasses.replace(case, inputs=[ones])
    return windows(case, 0).sum(3), windows(counted, 0).sum(3)


def image_sums(case):
    """(sum of q over height and width, their number)."""
    x = case.inputs[0].astype(I64)
    return x.sum((1, 2), keepdims=True), x.shape[1] * x.shape[2]


def centred(case):
    return [x.astype(I64) - q.zero for x, q in zip(case.inputs, case.input_quants)]


def scales(case):
    return [F32(q.scales[0]) for q in case.input_quants], F32(case.output_quant.scales[0])


def by_channel(case, acc, requantize):
    """requantize(acc, S_w) with each channel's weight scale, or with the only one."""
    w = case.weight_quant.scales
    if len(w) == 1:
        return requantize(acc, w[0])
    return np.stack([requantize(acc[..., c], w[c]) for c in range(len(w))], -1)


def finish(case, values, upper=None):
    """Bytes: values clamped to the output's type and the fused Relu, Relu6.

    values hold the zero point; upper(6 / S_y, Z_y) quantizes the bound of Relu6.
    """
    q = case.output_quant
    lo, hi = q.limits
    if case.activation:
        lo = max(lo, q.zero)
    if case.activation == 'relu6':
        hi = min(hi, int(upper(F32(6) / F32(q.scales[0]), q.zero)))
    return np.clip(values, lo, hi).astype(q.dtype)
