#!/usr/bin/python3
"""Trains the bundled Fashion-MNIST classifier and exports it to ONNX.

The network is small on purpose, and holds one of each operator that an INT8
post-training quantizer has to get right: convolution, depthwise convolution,
BatchNorm, ReLU, LeakyReLU, per-channel PReLU, residual Add, Concat, Pad,
MaxPool, AveragePool, GlobalAveragePool and Gemm.

Needs Debian's python3-torch, python3-numpy and dataset-fashion-mnist:

    python3 examples/fashion_mnist/train.py --output build/model.onnx

Everything is seeded, the algorithms are deterministic and the number of
threads is fixed.
"""

import argparse
import gzip
import math
import struct
import time

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

from mobilenet_v3 import MobileNetV3

DATA_DIR = '/usr/share/datasets/fashion-mnist'
MEAN = 0.2860  # of pixel / 255 over the training images
STD = 0.3530


def read_idx(path):
    """Reads an idx-ubyte .gz file into a uint8 array."""
    with gzip.open(path, 'rb') as f:
        zero, dtype, rank = struct.unpack('>HBB', f.read(4))
        if zero != 0 or dtype != 8:
            raise ValueError(f'{path}: not an idx-ubyte file')
        shape = struct.unpack('>' + 'I' * rank, f.read(4 * rank))
        return np.frombuffer(f.read(), dtype=np.uint8).reshape(shape)


def load(data_dir, split, limit):
    """Images as normalised float [N,1,28,28], labels as int64 [N]; the first `limit`, 0: all."""
    images = read_idx(f'{data_dir}/{split}-images-idx3-ubyte.gz')[:limit or None]
    labels = read_idx(f'{data_dir}/{split}-labels-idx1-ubyte.gz')[:limit or None]
    x = (images.astype(np.float32) / 255.0 - MEAN) / STD
    return torch.from_numpy(x).unsqueeze(1), torch.from_numpy(labels.astype(np.int64))


class ConvBn(nn.Sequential):
    """Convolution without bias, then BatchNorm."""

    def __init__(self, cin, cout, kernel, padding=0, groups=1):
        super().__init__(
            nn.Conv2d(cin, cout, kernel, padding=padding, groups=groups, bias=False),
            nn.BatchNorm2d(cout))


class Residual(nn.Module):
    """x + pointwise(act(depthwise(x))), then ReLU."""

    def __init__(self, channels, act):
        super().__init__()
        self.depthwise = ConvBn(channels, channels, 3, padding=1, groups=channels)
        self.act = act
        self.pointwise = ConvBn(channels, channels, 1)

    def forward(self, x):
        return F.relu(x + self.pointwise(self.act(self.depthwise(x))))


class Net(nn.Module):
    """About 57,000 parameters and 3.5 million multiply-accumulates."""

    def __init__(self):
        super().__init__()
        self.stem = ConvBn(1, 16, 3)
        self.conv2 = ConvBn(16, 32, 3, padding=1)
        self.res2 = Residual(32, nn.PReLU(32))
        self.branch = ConvBn(32, 32, 1)
        self.conv3 = ConvBn(64, 64, 3, padding=1)
        self.res3 = Residual(64, nn.LeakyReLU(0.1))
        self.conv4 = ConvBn(64, 96, 1)
        self.prelu4 = nn.PReLU(96)
        self.fc = nn.Linear(96, 10)

    def forward(self, x):
        x = F.pad(x, (1, 1, 1, 1), value=-MEAN / STD)  # a border of black pixels
        x = F.leaky_relu(self.stem(x), 0.1)
        x = F.max_pool2d(x, 2)
        x = self.res2(F.relu(self.conv2(x)))
        smooth = F.avg_pool2d(x, 3, stride=1, padding=1, count_include_pad=False)
        x = torch.cat([F.relu(self.branch(x)), smooth], dim=1)
        x = F.max_pool2d(x, 2)
        x = self.res3(F.relu(self.conv3(x)))
        x = self.prelu4(self.conv4(x))
        x = F.adaptive_avg_pool2d(x, 1)
        return self.fc(torch.flatten(x, 1))


NETWORKS = {'bundled': (Net, 13), 'mobilenet_v3': (MobileNetV3, 14)}  # and the opset: 14 has HardSwish


def augment(x, generator, shift=2):
    """A random shift of up to `shift` pixels and a random mirror, per image."""
    n, _, h, w = x.shape
    padded = F.pad(x, (shift,) * 4, value=-MEAN / STD)
    dy = torch.randint(0, 2 * shift + 1, (n, 1), generator=generator)
    dx = torch.randint(0, 2 * shift + 1, (n, 1), generator=generator)
    flip = torch.rand(n, 1, generator=generator) < 0.5
    rows = dy + torch.arange(h)
    cols = dx + torch.where(flip, torch.arange(w - 1, -1, -1), torch.arange(w))
    index = torch.arange(n)
    return padded[index[:, None, None], 0, rows[:, :, None], cols[:, None, :]].unsqueeze(1)


@torch.no_grad()
def accuracy(net, x, y, batch=500):
    net.eval()
    hits = sum(int((net(x[i:i + batch]).argmax(1) == y[i:i + batch]).sum())
               for i in range(0, len(x), batch))
    net.train()
    return 100.0 * hits / len(x)


def parameter_groups(net, weight_decay):
    """Weight decay on convolution and Gemm weights only."""
    decay = [p for p in net.parameters() if p.dim() > 1]
    plain = [p for p in net.parameters() if p.dim() <= 1]
    return [{'params': decay, 'weight_decay': weight_decay},
            {'params': plain, 'weight_decay': 0.0}]


def train(net, x, y, args, generator):
    optimiser = torch.optim.SGD(parameter_groups(net, args.weight_decay), lr=args.lr,
                                momentum=0.9, nesterov=True)
    steps = math.ceil(len(x) / args.batch) * args.epochs
    warmup = max(1, steps // 10)
    step, start = 0, time.time()
    for epoch in range(args.epochs):
        order = torch.randperm(len(x), generator=generator)
        total = 0.0
        for i in range(0, len(x), args.batch):
            lr = args.lr * min((step + 1) / warmup,
                               0.5 * (1 + math.cos(math.pi * step / steps)))
            for group in optimiser.param_groups:
                group['lr'] = lr
            pick = order[i:i + args.batch]
            loss = F.cross_entropy(net(augment(x[pick], generator)), y[pick],
                                   label_smoothing=args.label_smoothing)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += float(loss) * len(pick)
            step += 1
        print(f'epoch {epoch + 1}/{args.epochs}: loss {total / len(x):.4f}, '
              f'{time.time() - start:.0f} s', flush=True)


def export(net, path, opset):
    """BatchNorm stays a node of its own: folding it is the quantizer's work."""
    net = net.eval().to(memory_format=torch.contiguous_format)
    torch.onnx.export(net, torch.zeros(1, 1, 28, 28), path, opset_version=opset,
                      input_names=['input'], output_names=['logits'],
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--output', default='model.onnx')
    parser.add_argument('--network', choices=NETWORKS, default='bundled')
    parser.add_argument('--data', default=DATA_DIR)
    parser.add_argument('--epochs', type=int, default=20)
    parser.add_argument('--batch', type=int, default=128)
    parser.add_argument('--lr', type=float, default=0.1)
    parser.add_argument('--weight-decay', type=float, default=5e-4)
    parser.add_argument('--label-smoothing', type=float, default=0.05)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--limit', type=int, default=0, help='only the first N images, training and test')
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    torch.use_deterministic_algorithms(True)
    generator = torch.Generator().manual_seed(args.seed)

    x, y = load(args.data, 'train', args.limit)
    test_x, test_y = load(args.data, 't10k', args.limit)
    network, opset = NETWORKS[args.network]
    net = network().to(memory_format=torch.channels_last)  # twice as fast on a CPU
    print(f'{sum(p.numel() for p in net.parameters())} parameters, {len(x)} images')
    train(net, x, y, args, generator)
    print(f'top-1 on {len(test_x)} test images: {accuracy(net, test_x, test_y):.2f} %')
    export(net, args.output, opset)
    print(f'wrote {args.output}')


if __name__ == '__main__':
    main()
