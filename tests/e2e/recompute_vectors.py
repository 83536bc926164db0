"""Recomputes the commands of a folder of `model_tool vectors` from its files alone, by numpy: a reference that shares
nothing with the runtime. recompute(folder) -> {opcode: elements compared}; raises AssertionError with the first element
that differs.
"""

import json
import pathlib
import sys

import numpy as np


def half_up(product, rshift):
    """floor(product / 2^rshift + 1/2)."""
    rounding = np.where(rshift > 0, np.left_shift(np.int64(1), np.maximum(rshift, 1) - 1), 0)
    return (product + rounding) >> rshift


def per_channel(array):
    """Of [C] for NCHW."""
    return array.astype(np.int64).reshape(1, -1, 1, 1)


def taps(x, attributes, fill):
    """The window's inputs of an NCHW map, one after another: (dy, dx, [N, C, OH, OW])."""
    a = attributes
    padded = np.pad(x, ((0, 0), (0, 0), (a['pad_top'], a['pad_bottom']), (a['pad_left'], a['pad_right'])),
                    constant_values=fill)
    height = (padded.shape[2] - a['dilation_h'] * (a['kernel_h'] - 1) - 1) // a['stride_h'] + 1
    width = (padded.shape[3] - a['dilation_w'] * (a['kernel_w'] - 1) - 1) // a['stride_w'] + 1
    for dy in range(a['kernel_h']):
        for dx in range(a['kernel_w']):
            y, x0 = dy * a['dilation_h'], dx * a['dilation_w']
            yield dy, dx, padded[:, :, y:y + height * a['stride_h']:a['stride_h'],
                                 x0:x0 + width * a['stride_w']:a['stride_w']]


def zero(command, name):
    return command['tensors'][name]['zero_point']


def clamp(command, values):
    return np.clip(values, command['attributes']['clamp_lo'], command['attributes']['clamp_hi'])


def requantize(command, accumulators, arrays, shape):
    def by(multiplier, rshift):
        if command['opcode'].endswith('_s16'):  # accumulators of 39 bits, multipliers that end in 7 zeros
            multiplier, rshift = multiplier >> 7, np.maximum(rshift - 7, 0)
        return half_up(accumulators * shape(multiplier), shape(rshift))

    result = by(arrays['multiplier'], arrays['rshift'])
    if 'multiplier_below_0' in arrays:
        result = np.where(accumulators < 0, by(arrays['multiplier_below_0'], arrays['rshift_below_0']), result)
    return clamp(command, result + zero(command, 'dst'))


def weights_of(arrays, axis):
    w = arrays['weights'].astype(np.int64)
    if 'zero_w' in arrays:
        shape = [1] * w.ndim
        shape[axis] = -1
        w = w - arrays['zero_w'].astype(np.int64).reshape(shape)
    return w


def conv(command, arrays):
    x, w = arrays['src'].astype(np.int64), weights_of(arrays, 0)
    groups = command['attributes'].get('groups', w.shape[0])  # depthwise: one a channel
    accumulators = None
    for dy, dx, values in taps(x, command['attributes'], zero(command, 'src')):
        part = np.concatenate([np.einsum('nchw,oc->nohw', v, k) for v, k in zip(
            np.split(values, groups, axis=1), np.split(w[:, :, dy, dx], groups))], axis=1)
        accumulators = part if accumulators is None else accumulators + part
    return requantize(command, accumulators + per_channel(arrays['bias']), arrays, per_channel)


def matmul(command, arrays):
    accumulators = arrays['src'].astype(np.int64) @ weights_of(arrays, 1) + arrays['bias'].astype(np.int64)
    return requantize(command, accumulators, arrays, lambda a: a.astype(np.int64))


def add(command, arrays):
    a = command['attributes']
    total = ((arrays['src'].astype(np.int64) - zero(command, 'src')) * a['multiplier']
             + (arrays['src2'].astype(np.int64) - zero(command, 'src2')) * a['multiplier2'])
    return clamp(command, half_up(total, np.int64(a['rshift'])) + zero(command, 'dst'))


def max_pool(command, arrays):
    x = arrays['src'].astype(np.int64)
    return np.max([v for _, _, v in taps(x, command['attributes'], np.int64(-1 << 40))], axis=0)


def average_pool(command, arrays):
    a = command['attributes']
    x = arrays['src'].astype(np.int64)
    total = sum(v for _, _, v in taps(x, a, zero(command, 'src') if a['flags'] else 0))
    count = sum(v for _, _, v in taps(np.ones_like(x), a, 1 if a['flags'] else 0))
    factor = np.float32(a['scale_f']) / count.astype(np.float32)
    values = factor * total.astype(np.float32) + np.float32(a['offset_f'])
    return clamp(command, np.rint(values).astype(np.int64))


def leaky_relu(command, arrays):
    a = command['attributes']
    v = arrays['src'].astype(np.int64) - zero(command, 'src')
    negative = half_up(v * a['multiplier'], np.int64(a['rshift']))
    positive = half_up(v * a['multiplier2'], np.int64(a['rshift2'])) if a['multiplier2'] else v
    return clamp(command, np.where(v >= 0, positive, negative) + zero(command, 'dst'))


def table(command, arrays):
    found = arrays['table'][np.ascontiguousarray(arrays['src']).view(np.uint8)]
    return found.view(np.int8) if command['tensors']['dst']['dtype'] == 's8' else found


def quantize(command, arrays):
    """Ties to even, as mode 0 has it."""
    tensor = command['tensors']['dst']
    bits = 16 if tensor['dtype'] == 's16' else 8
    low = 0 if tensor['dtype'] == 'u8' else -(1 << (bits - 1))
    return np.clip(np.rint(arrays['src'] / np.float32(tensor['scale'])) + tensor['zero_point'], low, low + (1 << bits) - 1)


RULES = {'conv': conv, 'depthwise': conv, 'matmul': matmul, 'add': add, 'max_pool': max_pool,
         'average_pool': average_pool, 'leaky_relu': leaky_relu, 'quantize': quantize, 'table': table, 'conv_s16': conv,
         'matmul_s16': matmul}


def is_half_up(command):
    """The arithmetic of the profile tpu: the rules above know no other."""
    a = command['attributes']
    return a.get('rounding', 0) == 0 and (command['opcode'] not in ('average_pool', 'quantize') or a['mode'] == 0)


def recompute(folder):
    folder = pathlib.Path(folder)
    compared = {}
    for command in json.loads((folder / 'manifest.json').read_text())['commands']:
        rule = RULES.get(command['opcode'])
        with np.load(folder / command['file']) as file:
            arrays = dict(file)
        if rule is None or not is_half_up(command) or 'dst' not in arrays:
            continue
        expected, found = rule(command, arrays), arrays['dst']
        assert expected.shape == found.shape, (command['index'], expected.shape, found.shape)
        wrong = np.argwhere(expected != found)
        assert wrong.size == 0, f"{command['index']} {command['opcode']}: {len(wrong)} differ, first at {wrong[0]}"
        compared[command['opcode']] = compared.get(command['opcode'], 0) + found.size
    return compared


if __name__ == '__main__':
    print('equal elements by command:', recompute(pathlib.Path(sys.argv[1])))
