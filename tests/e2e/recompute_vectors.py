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
    if command['tensors']['dst']['dtype'] == 's32':
        return accumulators
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


def operands(command, arrays):
    """Of a command on 16-bit integers: both without their zero points, the second one spread out."""
    pair = [arrays[name].astype(np.int64) - zero(command, name) for name in ('src', 'src2')]
    return pair[0], np.broadcast_to(pair[1], pair[0].shape)


def mul_s16(command, arrays):
    a, b = operands(command, arrays)
    return clamp(command, half_up(a * b * command['attributes']['multiplier'], np.int64(command['attributes']['rshift'])) + zero(command, 'dst'))


def div_s16(command, arrays):
    (a, b), at = operands(command, arrays), command['attributes']
    over, under = np.where(b < 0, -a, a) * at['multiplier'], np.maximum(np.abs(b), 1) << at['rshift']
    ends = np.where(a == 0, zero(command, 'dst'), np.where(a < 0, at['clamp_lo'], at['clamp_hi']))
    return clamp(command, np.where(b == 0, ends, (2 * over + under) // (2 * under) + zero(command, 'dst')))


def requantize_s16(command, arrays):
    v, at = arrays['src'].astype(np.int64) - zero(command, 'src'), command['attributes']
    scaled = half_up(v * at['multiplier'], np.int64(at['rshift'])) if at['multiplier'] else v
    return clamp(command, scaled + zero(command, 'dst'))


def table_s16(command, arrays):
    """2^n + 1 numbers with 8 fraction bits, between which it is a straight line, or one for each of 65,536."""
    at = arrays['src'].astype(np.int64) + 32768
    if arrays['table'].nbytes == 131072:
        return clamp(command, arrays['table'].view(np.int16)[at].astype(np.int64) + zero(command, 'dst'))
    entries = arrays['table'].view(np.int32).astype(np.int64)
    s = 16 - (entries.size - 1).bit_length() + 1
    i, f = at >> s, at & ((1 << s) - 1)
    return clamp(command, half_up(entries[i] * ((1 << s) - f) + entries[i + 1] * f, np.int64(s + 8)) + zero(command, 'dst'))


def average_pool_s16(command, arrays):
    at, x = command['attributes'], arrays['src'].astype(np.int64) - zero(command, 'src')
    total = sum(v for _, _, v in taps(x, at, 0))
    n = sum(v for _, _, v in taps(np.ones_like(x), at, 1 if at['flags'] else 0))
    return clamp(command, (2 * total * at['multiplier'] + (n << at['rshift'])) // (n << at['rshift'] + 1) + zero(command, 'dst'))


def resize_s16(command, arrays):
    """The list is in the order of memory: [N, H, W, C] of a map."""
    maps = command['tensors']['src']['layout'] == 'nhwc'
    x = arrays['src'].astype(object)  # integers without an end
    x = np.moveaxis(x, 1, -1) if maps else x
    numbers = arrays['list']
    at, out = x.ndim, command['tensors']['dst']['shape']
    out = [out[0], *out[2:], out[1]] if maps else out
    for d in range(x.ndim):
        if numbers[d] == 0:
            continue
        pairs = numbers[at:at + 2 * numbers[d] * out[d]].reshape(out[d], numbers[d], 2)
        at += pairs.size
        moved = np.moveaxis(x, d, 0)
        x = np.moveaxis(np.stack([sum(moved[i] * int(c) for i, c in row) for row in pairs]), 0, d)
    m, r = command['attributes']['multiplier'], command['attributes']['rshift']
    x = np.moveaxis(x, -1, 1) if maps else x
    return clamp(command, (x * m * 2 + (1 << r)) // (1 << r + 1) + zero(command, 'dst')).astype(np.int64)


class Gates:
    """What cells make of their products (NUMERICS.md, section 28). a, b: the fields of those."""

    def __init__(self, command, arrays, a, b, gates):
        self.at, self.hidden = command['attributes'], command['tensors']['dst']['shape'][-1]
        batch = arrays['dst'].size // self.hidden
        width = gates * self.hidden
        self.table = arrays['table'].view(np.int32).astype(np.int64)
        self.a = self.b = None
        if a in arrays:
            self.a = arrays[a].reshape(-1, width)[self.at['offset']:][:batch].astype(np.int64)
        if b in arrays:
            self.b = arrays[b].reshape(batch, width).astype(np.int64)
        if 'list' in arrays:
            self.offsets, self.factors = arrays['list'], arrays['list2'].astype(np.int64).reshape(2, width)

    def sum(self, gate, first=True, second=True, offset=None, most=2**19 - 1):
        columns = slice(gate * self.hidden, (gate + 1) * self.hidden)
        offset = gate if offset is None else offset
        total = self.offsets[offset * self.hidden:(offset + 1) * self.hidden]
        if first:
            total = total + self.a[:, columns] * self.factors[0, columns]
        if second and self.b is not None:
            total = total + self.b[:, columns] * self.factors[1, columns]
        return np.clip(np.broadcast_to(total >> self.at['rshift'], (1, self.hidden) if self.a is None else (len(self.a), self.hidden)), -most, most)

    def tanh(self, t):
        u = np.minimum(np.abs(t), 2**19 - 1)
        i, f = u >> 9, u & 511
        return np.sign(t) * (self.table[i] * (512 - f) + self.table[i + 1] * f + 2**13 >> 14)

    def sigmoid(self, gate):
        return 2**15 + self.tanh(self.sum(gate)) + 1 >> 1

    def state(self, keep, old, take, fresh):
        return np.clip(keep * old + (take * fresh >> 15 - self.at['rshift2']) + 2**14 >> 15, -32768, 32767)


def lstm_cell(command, arrays):
    g = Gates(command, arrays, 'src', 'src2', 4)
    old = arrays['src3'].astype(np.int64).reshape(-1, g.hidden) if 'src3' in arrays else 0
    return g.state(g.sigmoid(1), old, g.sigmoid(0), g.tanh(g.sum(2))).reshape(arrays['dst'].shape)


def gru_cell(command, arrays):
    g = Gates(command, arrays, 'src', 'src2', 3)
    old = arrays['src3'].astype(np.int64).reshape(-1, g.hidden) if 'src3' in arrays else 0
    keep, memory = g.sigmoid(0), g.sum(2)
    if command['attributes']['flags']:
        part, own = g.sum(2, second=False, most=2**27), g.sum(2, first=False, offset=3, most=2**27)
        memory = np.clip(part + (g.sigmoid(1) * own + 2**14 >> 15), 1 - 2**19, 2**19 - 1)
    return g.state(keep, old, 2**15 - keep, g.tanh(memory)).reshape(arrays['dst'].shape)


def gated_output(command, arrays):
    at, width = command['attributes'], command['tensors']['dst']['shape'][-1]
    v = arrays['src'].astype(np.int64).reshape(-1, width)
    if at['flags'] or 'src2' in arrays:
        g = Gates(command, arrays, 'src2', 'src3', arrays['src2'].shape[-1] // width if 'src2' in arrays else 0)
        most = 1 << at['rshift2'] + 3
        v = g.tanh(np.clip(v, -most, most) << 16 - at['rshift2']) if at['flags'] else v
        v = v * g.sigmoid(at['mode']) if 'src2' in arrays else v
    return clamp(command, half_up(v * at['multiplier3'], np.int64(at['rshift3'])) + zero(command, 'dst')).reshape(arrays['dst'].shape)


RULES = {'conv': conv, 'depthwise': conv, 'matmul': matmul, 'add': add, 'max_pool': max_pool,
         'average_pool': average_pool, 'leaky_relu': leaky_relu, 'quantize': quantize, 'table': table, 'conv_s16': conv,
         'matmul_s16': matmul, 'add_s16': add, 'mul_s16': mul_s16, 'div_s16': div_s16, 'requantize_s16': requantize_s16, 'table_s16': table_s16,
         'average_pool_s16': average_pool_s16, 'resize_s16': resize_s16, 'lstm_cell': lstm_cell, 'gru_cell': gru_cell, 'gated_output': gated_output}


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
