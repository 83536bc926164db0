"""Computes a chain of layers from the files of `model_tool export --format ascend` alone.

    recompute_ascend.py FOLDER INPUT.npy OUTPUT.npy

AscendQuant, Conv2D / DepthwiseConv2D / FullyConnection in int32, AscendDequant, BiasAdd in float16, by the formulas of the CANN
document; each layer reads what the one before it gives.
"""

import json
import pathlib
import sys

import numpy as np

F16, F32, I64 = np.float16, np.float32, np.int64
TYPES = {'int8': np.int8, 'int32': np.int32, 'uint64': np.uint64, 'float16': F16, 'float32': F32}


def away(v):
    return np.sign(v) * np.floor(np.abs(v) + 0.5)


ROUND = {'Round': np.rint, 'Away': away, 'Floor': np.floor, 'Ceiling': np.ceil, 'Truncate': np.trunc}


def ascend_quant(x, scale, offset, sqrt_mode=False, round_mode='Round'):
    """The attribute `scale` as it is applied: with sqrt_mode the root, twice."""
    v = x.astype(F32) * F32(scale)
    v = (v * F32(scale)).astype(F32) if sqrt_mode else v
    v = np.clip((v + F32(offset)).astype(F32), -1000, 1000).astype(np.float64)
    return np.clip(ROUND[round_mode](v), -128, 127).astype(I64)


def ascend_dequant(acc, deq_scale, sqrt_mode=False, relu_flag=False):
    """`deq_scale`: uint64 words whose lower 32 bits are a float32; one, or one for each channel (axis 1)."""
    assert (deq_scale >> np.uint64(32) == 0).all()
    scale = (deq_scale & np.uint64(0xffffffff)).astype(np.uint32).view(F32)
    scale = scale.reshape(1, -1, *([1] * (acc.ndim - 2)))
    with np.errstate(over='ignore'):
        v = acc.astype(F32) * scale
        v = (v * scale).astype(F32) if sqrt_mode else v
        half = v.astype(F16)
    return np.where(half < 0, F16(0), half) if relu_flag else half


def convolve(q, weights, a, pad_value):
    """int32 sums in NCHW; pads hold the offset."""
    (top, bottom, left, right), (_, _, sh, sw), (_, _, dh, dw) = a['pads'], a['strides'], a['dilations']
    x = np.pad(q, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=pad_value)
    oc, icg, kh, kw = weights.shape
    groups = a['groups']
    oh = (x.shape[2] - dh * (kh - 1) - 1) // sh + 1
    ow = (x.shape[3] - dw * (kw - 1) - 1) // sw + 1
    acc = np.zeros((x.shape[0], oc, oh, ow), I64)
    for g in range(groups):
        part = x[:, g * icg:(g + 1) * icg]
        filters = weights[g * oc // groups:(g + 1) * oc // groups].astype(I64)
        for i in range(kh):
            for j in range(kw):
                taps = part[:, :, i * dh:i * dh + sh * (oh - 1) + 1:sh, j * dw:j * dw + sw * (ow - 1) + 1:sw]
                acc[:, g * oc // groups:(g + 1) * oc // groups] += np.einsum('nchw,oc->nohw', taps, filters[:, :, i, j])
    return acc


def read(folder, layer, name):
    entry = layer['files'].get(name)
    if entry is None:
        return None
    data = np.fromfile(folder / entry['file'], TYPES[entry['type']])
    return data.reshape(entry['shape'])


def run_layer(folder, layer, x):
    quant, dequant = layer['ascend_quant'], layer['ascend_dequant']
    q = ascend_quant(x, quant['scale'], quant['offset'], quant['sqrt_mode'], quant['round_mode'])
    weights = read(folder, layer, 'weights')
    if layer['type'] == 'FullyConnection':
        acc = q @ weights.astype(I64).T
    else:
        acc = convolve(q, weights, layer['attributes'], quant['offset'])
    bias = read(folder, layer, 'bias').astype(I64)
    acc = acc + bias.reshape(1, -1, *([1] * (acc.ndim - 2)))
    half = ascend_dequant(acc, read(folder, layer, 'deq_scale'), dequant['sqrt_mode'], dequant['relu_flag'])
    added = read(folder, layer, 'bias_add')
    if added is not None:
        half = half + added.reshape(1, -1, *([1] * (acc.ndim - 2)))
    return np.where(half < 0, F16(0), half) if layer['relu_behind_bias'] else half


def main(folder, source, target):
    folder = pathlib.Path(folder)
    x = np.load(source)
    for layer in json.loads((folder / 'manifest.json').read_text())['layers']:
        x = run_layer(folder, layer, x)
    np.save(target, x.astype(F32))


if __name__ == '__main__':
    main(*sys.argv[1:])
