"""Modules of torch.nn in random settings, exported by torch.onnx: the torch side of exporter_coverage.py.

Runs under a Python that has torch (Debian's python3-torch) and needs nothing else of this repository:

    exporter_modules.py FOLDER --seed 1 --settings 3 [--only REGEX] [--exporter onnx|dynamo|litert-torch]

writes FOLDER/NAME/model.onnx (litert-torch: model.tflite), FOLDER/NAME/data/*.npz (samples to calibrate with; the last one is judged, so that it is no
question of ranges), FOLDER/NAME/torch.npz (what torch makes of that one) and FOLDER/cases.json: for each case its module, its setting, and torch's own message where it has no ONNX form.
"""

import argparse
import json
import os
import pathlib
import random
import re
import warnings

import numpy as np
import torch
from torch import nn

SAMPLES = 24  # exporter_coverage.py judges the last one
OPSETS = (11, 12, 13, 14, 15, 16, 17)


class Setting:
    """One module with its inputs: shapes and how each is filled."""

    def __init__(self, module, *inputs, opset=0, text=''):
        self.module, self.inputs, self.opset, self.text = module, inputs, opset, text


def normal(*shape):
    return lambda g: g.normal(size=shape).astype(np.float32)


def between(low, high, *shape):
    return lambda g: g.uniform(low, high, size=shape).astype(np.float32)


def integers(count, *shape):
    return lambda g: g.integers(count, size=shape)


def signs(*shape):
    return lambda g: (g.integers(2, size=shape) * 2 - 1).astype(np.float32)


def spatial(r, dims, low=6, high=13):
    top = high if dims < 3 else 8
    return [r.randint(low, top) for _ in range(dims)]


def batch_and_channels(r, *channels):
    return r.choice([1, 1, 2]), r.choice(channels or (3, 4, 8, 12))


# --- convolutions and pools ---
def conv(dims):
    def make(r):
        batch, channels = batch_and_channels(r, 4, 6, 8, 16)
        groups = r.choice([1, 1, 2, channels])
        out = groups * r.randint(1, 6)
        kernel = [r.randint(1, 3) for _ in range(dims)]
        mode = r.choice(['zeros'] * 4 + ['reflect', 'replicate', 'circular'])
        padding = [r.randint(0, k - 1) for k in kernel]
        stride = [r.randint(1, 2) for _ in range(dims)]
        if mode != 'zeros' and dims == 3:
            mode = 'replicate'
        size = spatial(r, dims)
        return Setting(getattr(nn, f'Conv{dims}d')(channels, out, kernel, stride, padding, r.randint(1, 2), groups,
                                                   r.random() < 0.7, mode), normal(batch, channels, *size))
    return make


def conv_transpose(dims):
    def make(r):
        batch, channels = batch_and_channels(r, 4, 6, 8)
        groups = r.choice([1, 1, 2, channels])
        kernel = [r.randint(1, 4) for _ in range(dims)]
        stride = [r.randint(1, 3) for _ in range(dims)]
        dilation = [r.choice([1, 1, 2]) for _ in range(dims)]
        padding = [r.randint(0, (k - 1) * d) for k, d in zip(kernel, dilation)]
        more = [r.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation)]
        module = getattr(nn, f'ConvTranspose{dims}d')(channels, groups * r.randint(1, 4), kernel, stride, padding, more,
                                                      groups, r.random() < 0.7, dilation)
        return Setting(module, normal(batch, channels, *spatial(r, dims, 4, 9)))
    return make


def pool(kind, dims):
    def make(r):
        kernel = [r.randint(1, 4) for _ in range(dims)]
        stride = [r.randint(1, 3) for _ in range(dims)]
        padding = [r.randint(0, k // 2) for k in kernel]
        batch, channels = batch_and_channels(r)
        arguments = dict(ceil_mode=r.random() < 0.3)
        if kind == 'MaxPool':
            arguments.update(dilation=[r.choice([1, 1, 2]) for _ in range(dims)])
        else:
            arguments.update(count_include_pad=r.random() < 0.5)
        return Setting(getattr(nn, f'{kind}{dims}d')(kernel, stride, padding, **arguments),
                       normal(batch, channels, *spatial(r, dims, 8, 14)))
    return make


def max_pool_indices(dims):
    def make(r):
        stride = [r.randint(1, 3) for _ in range(dims)]
        batch, channels = batch_and_channels(r)
        module = getattr(nn, f'MaxPool{dims}d')([r.randint(1, 3) for _ in range(dims)], stride, return_indices=True)
        return Setting(module, normal(batch, channels, *spatial(r, dims, 8, 14)))
    return make


def max_unpool(dims):
    class Both(nn.Module):
        def __init__(self, kernel):
            super().__init__()
            self.pool = getattr(nn, f'MaxPool{dims}d')(kernel, return_indices=True)
            self.unpool = getattr(nn, f'MaxUnpool{dims}d')(kernel)

        def forward(self, x):
            return self.unpool(*self.pool(x))

    def make(r):
        kernel = [r.randint(1, 3) for _ in range(dims)]
        return Setting(Both(kernel), normal(1, 4, *[k * r.randint(2, 4) for k in kernel]))
    return make


def lp_pool(dims):
    def make(r):
        batch, channels = batch_and_channels(r)
        return Setting(getattr(nn, f'LPPool{dims}d')(r.choice([1, 2, 3]), r.randint(1, 3), r.randint(1, 3)),
                       between(0.1, 2, batch, channels, *spatial(r, dims)))
    return make


def adaptive(kind, dims):
    def make(r):
        size = [r.randint(1, 4) for _ in range(dims)]
        module = getattr(nn, f'Adaptive{kind}Pool{dims}d')(size if dims > 1 else size[0])
        batch, channels = batch_and_channels(r)
        return Setting(module, normal(batch, channels, *[n * r.randint(1, 3) for n in size]))
    return make


def fractional(dims):
    def make(r):
        return Setting(getattr(nn, f'FractionalMaxPool{dims}d')(2, output_ratio=0.5), normal(1, 4, *spatial(r, dims, 8)))
    return make


# --- normalization ---
def randomize(module, r):
    """Statistics and factors as a trained module has them."""
    generator = torch.Generator().manual_seed(r.randrange(1 << 30))
    for name, value in list(module.named_buffers()) + list(module.named_parameters()):
        if name.endswith('running_var'):
            value.data.uniform_(0.5, 2, generator=generator)
        elif name.endswith('running_mean') or value.dim() == 1 and name.endswith('bias'):
            value.data.normal_(0, 0.5, generator=generator)
        elif value.dim() == 1 and name.endswith('weight'):
            value.data.uniform_(0.5, 1.5, generator=generator)
    return module


def batch_norm(dims):
    def make(r):
        batch, channels = batch_and_channels(r)
        shape = [batch, channels, *spatial(r, dims)]
        if dims == 1 and r.random() < 0.3:
            shape = shape[:2]
        module = getattr(nn, f'BatchNorm{dims}d')(channels, eps=r.choice([1e-5, 1e-3]), affine=r.random() < 0.8)
        return Setting(randomize(module, r), normal(*shape))
    return make


def instance_norm(dims):
    def make(r):
        batch, channels = batch_and_channels(r)
        module = getattr(nn, f'InstanceNorm{dims}d')(channels, affine=r.random() < 0.5,
                                                     track_running_stats=r.random() < 0.3)
        return Setting(randomize(module, r), normal(batch, channels, *spatial(r, dims)))
    return make


def group_norm(r):
    batch, channels = batch_and_channels(r, 4, 6, 8, 12)
    groups = r.choice([g for g in (1, 2, 3, 4, channels) if channels % g == 0])
    return Setting(randomize(nn.GroupNorm(groups, channels, affine=r.random() < 0.8), r),
                   normal(batch, channels, *spatial(r, r.randint(1, 3))))


def layer_norm(r):
    shape = [r.randint(2, 9) for _ in range(r.randint(2, 4))]
    count = r.randint(1, len(shape) - 1)
    return Setting(randomize(nn.LayerNorm(shape[-count:], elementwise_affine=r.random() < 0.8), r), normal(*shape))


def response_norm(r):
    return Setting(nn.LocalResponseNorm(r.choice([1, 3, 5]), r.choice([1e-4, 0.1]), 0.75, r.choice([1.0, 2.0])),
                   normal(1, 8, *spatial(r, 2)))


# --- one element ---
def element(make_module, low=None, high=None):
    def make(r):
        shape = [r.randint(1, 9) for _ in range(r.randint(1, 4))] + [r.randint(4, 20)]
        return Setting(make_module(r), normal(*shape) if low is None else between(low, high, *shape))
    return make


def per_channel(make_module, rank=(3, 4)):
    def make(r):
        shape = [r.choice([1, 2]), r.choice([4, 6, 8]), *[r.randint(4, 8) for _ in range(r.choice(rank) - 2)]]
        return Setting(make_module(r, shape), normal(*shape))
    return make


def prelu(r, shape):
    module = nn.PReLU(r.choice([1, shape[1]]))
    module.weight.data.uniform_(-0.5, 0.5)
    return module


# --- linear, recurrent, attention ---
def linear(r):
    n = r.randint(4, 40)
    shape = [r.randint(1, 6) for _ in range(r.randint(1, 3))] + [n]
    return Setting(nn.Linear(n, r.randint(1, 30), r.random() < 0.7), normal(*shape))


def bilinear(r):
    a, b, batch = r.randint(3, 9), r.randint(3, 9), r.randint(2, 5)
    return Setting(nn.Bilinear(a, b, r.randint(2, 6)), normal(batch, a), normal(batch, b))


def embedding(r):
    count, width = r.randint(5, 30), r.randint(4, 16)
    return Setting(nn.Embedding(count, width, padding_idx=r.choice([None, 0])), integers(count, r.randint(1, 3), 7))


def embedding_bag(r):
    class Bag(nn.Module):
        def __init__(self, mode):
            super().__init__()
            self.bag = nn.EmbeddingBag(20, 8, mode=mode)

        def forward(self, x):
            return self.bag(x)
    return Setting(Bag(r.choice(['sum', 'mean', 'max'])), integers(20, 3, 5))


def recurrent(kind):
    def make(r):
        width, hidden, layers = r.randint(3, 12), r.randint(3, 12), r.choice([1, 1, 2])
        both, first = r.random() < 0.4, r.random() < 0.5
        arguments = {'nonlinearity': r.choice(['tanh', 'relu'])} if kind == 'RNN' else {}
        module = getattr(nn, kind)(width, hidden, layers, bias=r.random() < 0.8, batch_first=first,
                                   bidirectional=both, **arguments)
        batch, length = r.choice([1, 2]), r.randint(2, 9)
        inputs = [normal(batch, length, width) if first else normal(length, batch, width)]
        if r.random() < 0.5:
            state = (layers * (2 if both else 1), batch, hidden)
            inputs += [normal(*state)] * (2 if kind == 'LSTM' else 1)

        class Wrapped(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = module

            def forward(self, x, *states):
                if not states:
                    y, last = self.cell(x)
                else:
                    y, last = self.cell(x, states if kind == 'LSTM' else states[0])
                return (y, *last) if kind == 'LSTM' else (y, last)
        return Setting(Wrapped(), *inputs, text=repr(module))
    return make


def cell(kind):
    def make(r):
        width, hidden, batch = r.randint(3, 12), r.randint(3, 12), r.randint(1, 3)
        module = getattr(nn, kind)(width, hidden, bias=r.random() < 0.8)
        if kind != 'LSTMCell':
            return Setting(module, normal(batch, width), normal(batch, hidden))

        class Wrapped(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = module

            def forward(self, x, h, c):
                return self.cell(x, (h, c))
        return Setting(Wrapped(), normal(batch, width), normal(batch, hidden), normal(batch, hidden), text=repr(module))
    return make


def attention(r):
    heads = r.choice([1, 2, 4])
    width, first = heads * r.randint(2, 6), r.random() < 0.5
    kwargs = r.choice([{}, {'add_bias_kv': True}, {'add_zero_attn': True}, {'kdim': 5, 'vdim': 7}])
    module = nn.MultiheadAttention(width, heads, bias=r.random() < 0.8, batch_first=first, **kwargs)
    batch, length, keys = r.choice([1, 2]), r.randint(2, 8), r.randint(2, 8)

    def shape(n, w):
        return (batch, n, w) if first else (n, batch, w)
    return Setting(module, normal(*shape(length, width)), normal(*shape(keys, kwargs.get('kdim', width))),
                   normal(*shape(keys, kwargs.get('vdim', width))))


class Training(nn.Module):
    """A transformer outside of torch's fused path, which has no ONNX form in PyTorch 1.13."""

    def __init__(self, module):
        super().__init__()
        self.module = module
        for part in module.modules():
            if isinstance(part, nn.Dropout):
                part.p = 0.0

    def forward(self, *inputs):
        self.module.train()
        return self.module(*inputs)


def transformer(kind):
    def make(r):
        heads = r.choice([1, 2])
        width, feed, layers = heads * r.choice([4, 8]), r.choice([8, 16]), r.choice([1, 2])
        kwargs = dict(dropout=0.0, activation=r.choice(['relu', 'gelu']), norm_first=r.random() < 0.5,
                      batch_first=r.random() < 0.5)
        encoder = nn.TransformerEncoderLayer(width, heads, feed, **kwargs)
        decoder = nn.TransformerDecoderLayer(width, heads, feed, **kwargs)
        batch, a, b = r.choice([1, 2]), r.randint(2, 7), r.randint(2, 7)
        source, target = [(batch, n, width) if kwargs['batch_first'] else (n, batch, width) for n in (a, b)]
        if kind == 'Transformer':
            module = nn.Transformer(width, heads, layers, layers, feed, **kwargs)
        elif kind == 'TransformerEncoder':
            module = nn.TransformerEncoder(encoder, layers, enable_nested_tensor=False)
        elif kind == 'TransformerDecoder':
            module = nn.TransformerDecoder(decoder, layers)
        else:
            module = encoder if kind == 'TransformerEncoderLayer' else decoder
        inputs = [normal(*source)] + ([] if 'Encoder' in kind else [normal(*target)])
        return Setting(Training(module), *inputs, text=f'{kind}({width}, {heads}, {kwargs})')
    return make


# --- movement ---
def pad(kind, dims):
    def make(r):
        pads = [r.randint(0, 3) for _ in range(2 * dims)]
        value = [r.choice([0.0, 1.5, -2.0])] if kind == 'Constant' else []
        if kind == 'Constant' and r.random() < 0.3:
            pads[0] = -1
        return Setting(getattr(nn, f'{kind}Pad{dims}d')(pads, *value), normal(1, r.randint(2, 5), *spatial(r, dims)))
    return make


def shuffle(r):
    n = r.choice([2, 3])
    return Setting(nn.PixelShuffle(n), normal(1, n * n * r.randint(1, 3), *spatial(r, 2)))


def unshuffle(r):
    n = r.choice([2, 3])
    return Setting(nn.PixelUnshuffle(n), normal(1, r.randint(1, 3), n * r.randint(2, 4), n * r.randint(2, 4)))


def channel_shuffle(r):
    return Setting(nn.ChannelShuffle(r.choice([2, 4])), normal(1, 8, *spatial(r, 2)))


def fold(r):
    kernel, stride = [r.randint(1, 3) for _ in range(2)], [r.randint(1, 2) for _ in range(2)]
    dilation, padding = [r.choice([1, 1, 2]) for _ in range(2)], [r.randint(0, 1) for _ in range(2)]
    size = spatial(r, 2)
    count = 1
    for n, k, s, d, p in zip(size, kernel, stride, dilation, padding):
        count *= (n + 2 * p - d * (k - 1) - 1) // s + 1
    return Setting(nn.Fold(size, kernel, dilation, padding, stride), normal(1, 3 * kernel[0] * kernel[1], count), opset=18)


def unfold(r):
    return Setting(nn.Unfold([r.randint(1, 3), r.randint(1, 3)], r.choice([1, 2]), r.choice([0, 1]), r.choice([1, 2])),
                   normal(1, r.randint(1, 4), *spatial(r, 2)))


def upsample(r):
    mode, dims = r.choice([('nearest', 1), ('nearest', 2), ('nearest', 3), ('linear', 1), ('bilinear', 2),
                           ('bicubic', 2), ('trilinear', 3)])
    corners = None if mode == 'nearest' else r.random() < 0.5
    size = spatial(r, dims, 4, 7)
    if r.random() < 0.5:
        module = nn.Upsample(scale_factor=r.choice([2, 3, 1.5, 0.5]), mode=mode, align_corners=corners)
    else:
        module = nn.Upsample(size=[r.randint(3, 14) for _ in size], mode=mode, align_corners=corners)
    return Setting(module, normal(1, r.randint(1, 6), *size))


# --- losses ---
def loss(make_module, *kinds):
    def make(r):
        shape = [r.randint(2, 5), r.randint(3, 8)]
        reduction = r.choice(['none', 'mean', 'sum'])
        fill = {'n': normal(*shape), 'p': between(0.05, 0.95, *shape), 's': signs(*shape), 'v': signs(shape[0]),
                'c': integers(shape[1], shape[0]), 'b': lambda g: g.integers(2, size=shape).astype(np.float32),
                '+': between(0.1, 2.0, *shape), 'l': between(-3, -0.1, *shape)}
        return Setting(make_module(reduction), *[fill[kind] for kind in kinds])
    return make


def class_loss(kind):
    def make(r):
        classes, batch = r.randint(3, 6), r.randint(2, 4)
        extent = spatial(r, r.choice([0, 1, 2]), 3, 5)
        arguments = dict(reduction=r.choice(['none', 'mean', 'sum']))
        if r.random() < 0.4:
            arguments['weight'] = torch.rand(classes) + 0.5
        if r.random() < 0.3:
            arguments['ignore_index'] = 1
        return Setting(getattr(nn, kind)(**arguments), normal(batch, classes, *extent), integers(classes, batch, *extent))
    return make


def triplet(kind):
    def make(r):
        shape = (r.randint(2, 5), r.randint(4, 9))
        return Setting(getattr(nn, kind)(margin=1.0, reduction=r.choice(['none', 'mean', 'sum'])), *[normal(*shape)] * 3)
    return make


def pair(make_module):
    def make(r):
        shape = (r.randint(2, 5), r.randint(4, 9))
        return Setting(make_module(r), normal(*shape), normal(*shape))
    return make


def multi_label(r):
    def classes(g):
        return np.stack([np.append(g.permutation(6)[:2], [-1] * 4) for _ in range(3)])
    return Setting(nn.MultiLabelMarginLoss(reduction=r.choice(['none', 'mean', 'sum'])), normal(3, 6), classes)


class Function(nn.Module):
    """What torch.nn has as a function alone."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def grid_sample(r):
    kwargs = dict(mode=r.choice(['bilinear', 'nearest', 'bicubic']), align_corners=r.random() < 0.5,
                  padding_mode=r.choice(['zeros', 'border', 'reflection']))
    batch, channels = batch_and_channels(r)
    return Setting(Function(lambda x, grid: nn.functional.grid_sample(x, grid, **kwargs)),
                   normal(batch, channels, *spatial(r, 2)), between(-1.2, 1.2, batch, r.randint(3, 9), r.randint(3, 9), 2),
                   opset=16, text=f'grid_sample({kwargs})')


def normalize(r):
    p, dim = r.choice([1.0, 2.0]), r.choice([1, -1])
    return Setting(Function(lambda x: nn.functional.normalize(x, p=p, dim=dim)), normal(2, 6, *spatial(r, 2)),
                   text=f'normalize(p={p}, dim={dim})')


def adaptive_softmax(r):
    class Predict(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.AdaptiveLogSoftmaxWithLoss(16, 20, [5, 10])

        def forward(self, x):
            return self.inner.log_prob(x)
    del r
    return Setting(Predict(), normal(3, 16))


def families():
    """{name of the module: function of a random.Random that makes a Setting}"""
    table = {}
    for d in (1, 2, 3):
        table.update({
            f'Conv{d}d': conv(d), f'ConvTranspose{d}d': conv_transpose(d), f'MaxPool{d}d': pool('MaxPool', d),
            f'AvgPool{d}d': pool('AvgPool', d), f'MaxUnpool{d}d': max_unpool(d),
            f'MaxPool{d}d (indices)': max_pool_indices(d),
            f'AdaptiveAvgPool{d}d': adaptive('Avg', d), f'AdaptiveMaxPool{d}d': adaptive('Max', d),
            f'BatchNorm{d}d': batch_norm(d), f'InstanceNorm{d}d': instance_norm(d), f'ConstantPad{d}d': pad('Constant', d),
            f'ReflectionPad{d}d': pad('Reflection', d), f'ReplicationPad{d}d': pad('Replication', d)})
    for d in (1, 2):
        table[f'LPPool{d}d'] = lp_pool(d)
    table.update({f'FractionalMaxPool{d}d': fractional(d) for d in (2, 3)})
    for name in ('Hardsigmoid', 'Hardswish', 'LogSigmoid', 'Mish', 'ReLU', 'ReLU6', 'SELU', 'SiLU', 'Sigmoid', 'Softsign',
                 'Tanh', 'Tanhshrink', 'Identity', 'RReLU', 'Dropout', 'AlphaDropout', 'FeatureAlphaDropout'):
        table[name] = element(lambda r, name=name: getattr(nn, name)())
    table.update({
        'CELU': element(lambda r: nn.CELU(r.choice([0.5, 1.0, 2.0]))), 'ELU': element(lambda r: nn.ELU(r.choice([0.5, 1.0]))),
        'GELU': element(lambda r: nn.GELU(r.choice(['none', 'tanh']))),
        'GLU': per_channel(lambda r, s: nn.GLU(1)), 'Hardshrink': element(lambda r: nn.Hardshrink(r.choice([0.5, 1.0]))),
        'Hardtanh': element(lambda r: nn.Hardtanh(-r.random() - 0.1, r.random() + 0.1)),
        'LeakyReLU': element(lambda r: nn.LeakyReLU(r.choice([0.01, 0.2]))), 'PReLU': per_channel(prelu),
        'Softplus': element(lambda r: nn.Softplus(r.choice([1, 1, 2]))),
        'Softshrink': element(lambda r: nn.Softshrink(r.choice([0.5, 0.2]))),
        'Threshold': element(lambda r: nn.Threshold(0, 0)),
        'Softmax': per_channel(lambda r, s: nn.Softmax(r.randrange(len(s)))),
        'Softmin': per_channel(lambda r, s: nn.Softmin(r.randrange(len(s)))),
        'LogSoftmax': per_channel(lambda r, s: nn.LogSoftmax(r.randrange(len(s)))),
        'Softmax2d': per_channel(lambda r, s: nn.Softmax2d(), (4,)),
        'Dropout1d': per_channel(lambda r, s: nn.Dropout1d(), (3,)), 'Dropout2d': per_channel(lambda r, s: nn.Dropout2d(), (4,)),
        'Dropout3d': per_channel(lambda r, s: nn.Dropout3d(), (5,)),
        'Flatten': per_channel(lambda r, s: nn.Flatten(r.choice([0, 1]), r.choice([-1, 2]))),
        'Unflatten': per_channel(lambda r, s: nn.Unflatten(1, (2, s[1] // 2))),
        'GroupNorm': group_norm, 'LayerNorm': layer_norm, 'LocalResponseNorm': response_norm,
        'CrossMapLRN2d': per_channel(lambda r, s: nn.CrossMapLRN2d(3), (4,)), 'Linear': linear, 'Bilinear': bilinear,
        'Embedding': embedding, 'EmbeddingBag': embedding_bag, 'MultiheadAttention': attention,
        'PixelShuffle': shuffle, 'PixelUnshuffle': unshuffle, 'ChannelShuffle': channel_shuffle, 'Fold': fold,
        'Unfold': unfold, 'Upsample': upsample, 'ZeroPad2d': lambda r: Setting(nn.ZeroPad2d(r.randint(1, 3)), normal(1, 3, 7, 6)),
        'UpsamplingNearest2d': per_channel(lambda r, s: nn.UpsamplingNearest2d(scale_factor=r.choice([2, 3])), (4,)),
        'UpsamplingBilinear2d': per_channel(lambda r, s: nn.UpsamplingBilinear2d(scale_factor=r.choice([2, 3])), (4,)),
        'AdaptiveLogSoftmaxWithLoss': adaptive_softmax,
        'CosineSimilarity': pair(lambda r: nn.CosineSimilarity(r.choice([0, 1]))),
        'PairwiseDistance': pair(lambda r: nn.PairwiseDistance(2.0, keepdim=r.random() < 0.5)),
        'CrossEntropyLoss': class_loss('CrossEntropyLoss'), 'NLLLoss': class_loss('NLLLoss'),
        'TripletMarginLoss': triplet('TripletMarginLoss'),
        'TripletMarginWithDistanceLoss': triplet('TripletMarginWithDistanceLoss'),
        'BCELoss': loss(lambda m: nn.BCELoss(reduction=m), 'p', 'b'),
        'CosineEmbeddingLoss': loss(lambda m: nn.CosineEmbeddingLoss(0.1, reduction=m), 'n', 'n', 'v'),
        'GaussianNLLLoss': loss(lambda m: nn.GaussianNLLLoss(reduction=m), 'n', 'n', '+'),
        'KLDivLoss': loss(lambda m: nn.KLDivLoss(reduction=m), 'l', 'p'),
        'MarginRankingLoss': loss(lambda m: nn.MarginRankingLoss(0.2, reduction=m), 'n', 'n', 's'),
        'MultiLabelSoftMarginLoss': loss(lambda m: nn.MultiLabelSoftMarginLoss(reduction=m), 'n', 'b'),
        'MultiLabelMarginLoss': multi_label, 'grid_sample': grid_sample, 'normalize': normalize,
        'MultiMarginLoss': loss(lambda m: nn.MultiMarginLoss(reduction=m), 'n', 'c'),
        'PoissonNLLLoss': loss(lambda m: nn.PoissonNLLLoss(reduction=m), 'n', '+'),
        'SoftMarginLoss': loss(lambda m: nn.SoftMarginLoss(reduction=m), 'n', 's'),
        'HingeEmbeddingLoss': loss(lambda m: nn.HingeEmbeddingLoss(reduction=m), 'n', 's')})
    for name in ('L1Loss', 'MSELoss', 'SmoothL1Loss', 'HuberLoss'):
        table[name] = loss(lambda m, name=name: getattr(nn, name)(reduction=m), 'n', 'n')
    table['BCEWithLogitsLoss'] = loss(lambda m: nn.BCEWithLogitsLoss(reduction=m), 'n', 'b')
    table.update({name: recurrent(name) for name in ('LSTM', 'GRU', 'RNN')})
    table.update({name: cell(name) for name in ('LSTMCell', 'GRUCell', 'RNNCell')})
    table.update({name: transformer(name) for name in ('Transformer', 'TransformerEncoder', 'TransformerDecoder',
                                                       'TransformerEncoderLayer', 'TransformerDecoderLayer')})
    return table


def write_onnx(module, arguments, names, target, opset):
    training = torch.onnx.TrainingMode.PRESERVE if isinstance(module, Training) else torch.onnx.TrainingMode.EVAL
    torch.onnx.export(module, arguments, str(target / 'model.onnx'), opset_version=opset, input_names=names,
                      training=training, do_constant_folding=True)


def write_dynamo(module, arguments, names, target, _):
    """By the exporter that is torch's default from 2.9 on; needs onnxscript."""
    torch.onnx.export(module, arguments, str(target / 'model.onnx'), dynamo=True, input_names=names, external_data=False)


def write_tflite(module, arguments, _, target, __):
    """A child process does it: the converter may abort."""
    import litert_torch  # pylint: disable=import-outside-toplevel,import-error
    child = os.fork()
    if child == 0:
        status = 1
        try:
            litert_torch.convert(module, arguments).export(str(target / 'model.tflite'))
            status = 0
        except Exception as error:  # pylint: disable=broad-except
            (target / 'error.txt').write_text(str(error) or repr(error))
        finally:
            os._exit(status)  # pylint: disable=protected-access
    if os.waitpid(child, 0)[1] != 0:
        said = target / 'error.txt'
        raise RuntimeError(said.read_text() if said.exists() else 'the converter crashed')


# By name: what writes a model, and what the model calls its inputs.
EXPORTERS = {'onnx': (write_onnx, 'in'), 'dynamo': (write_dynamo, 'in'), 'litert-torch': (write_tflite, 'serving_default_args_')}


def export(name, index, seed, folder, exporter='onnx'):
    """One case: the entry of cases.json."""
    write, prefix = EXPORTERS[exporter]
    r = random.Random(f'{seed} {name} {index}')
    torch.manual_seed(r.randrange(1 << 30))
    setting = families()[name](r)
    opset = min(17, setting.opset) or r.choice(OPSETS)
    entry = {'name': f'{name}-{index}'.replace(' ', ''), 'module': name, 'opset': opset,
             'setting': re.sub(r'\s+', ' ', setting.text or repr(setting.module))[:200]}
    target = folder / entry['name']
    (target / 'data').mkdir(parents=True)
    names = [f'{prefix}{i}' for i in range(len(setting.inputs))]
    generator = np.random.default_rng(r.randrange(1 << 30))
    for i in range(SAMPLES):
        arrays = {n: fill(generator) for n, fill in zip(names, setting.inputs)}
        if exporter == 'litert-torch':  # its files have integers of 32 bits
            arrays = {n: a.astype(np.int32) if a.dtype == np.int64 else a for n, a in arrays.items()}
        np.savez(target / f'data/{i:02}.npz', **arrays)
    arguments = tuple(torch.from_numpy(np.ascontiguousarray(a)) for a in arrays.values())
    module = setting.module.eval()
    try:
        with torch.no_grad():
            results = module(*arguments)
        write(module, arguments, names, target, opset)
    except Exception as error:  # pylint: disable=broad-except
        (target / 'model.onnx').unlink(missing_ok=True)
        entry['no_form'] = (str(error).strip() or repr(error)).splitlines()[0].split(' Please ')[0][:160]
        return entry
    flat = [results] if isinstance(results, torch.Tensor) else list(results)
    np.savez(target / 'torch.npz', **{f'{i}': value.numpy() for i, value in enumerate(flat)})
    return entry


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--seed', default='1')
    parser.add_argument('--settings', type=int, default=3, help='of each module')
    parser.add_argument('--only', default='', help='modules or cases whose name matches')
    parser.add_argument('--exporter', default='onnx', choices=list(EXPORTERS))
    options = parser.parse_args()
    warnings.filterwarnings('ignore')
    torch.set_num_threads(1)
    entries = []
    for name in sorted(families()):
        for i in range(options.settings):
            if re.search(options.only, f'{name}-{i}'):
                entries.append(export(name, i, options.seed, options.folder, options.exporter))
                if 'is not supported' in entries[-1].get('no_form', ''):
                    break
    (options.folder / 'cases.json').write_text(json.dumps({'torch': torch.__version__, 'cases': entries}, indent=1))


if __name__ == '__main__':
    main()
