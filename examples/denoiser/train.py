#!/usr/bin/python3
"""Trains a small U-Net that takes Gaussian noise out of grey pictures, and exports it to ONNX.

Noise that is left over is what eyes see first, so that a denoiser asks more of an integer program than a classifier: a few
quanta of error in 8 bits are visible. Pictures are Fashion-MNIST's, padded to 32 x 32, as numbers from 0 to 1.

Needs Debian's python3-torch, python3-numpy and dataset-fashion-mnist:

    python3 examples/denoiser/train.py --output build/denoiser.onnx

Everything is seeded, the algorithms are deterministic and the number of threads is fixed.
"""

import argparse
import gzip
import math

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

DATA_DIR = '/usr/share/datasets/fashion-mnist'
SIGMA = 0.2  # of the noise


def load(data_dir, split, limit):
    """Pictures [N,1,32,32] from 0 to 1; the first `limit`, 0: all."""
    with gzip.open(f'{data_dir}/{split}-images-idx3-ubyte.gz') as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 1, 28, 28)[:limit or None]
    return F.pad(torch.from_numpy(pixels.astype(np.float32) / 255), (2, 2, 2, 2))


def twice(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.ReLU(), nn.Conv2d(cout, cout, 3, padding=1), nn.ReLU())


class Denoiser(nn.Module):
    """Two levels down and up with Concats between them; the last convolution estimates the noise. About 120,000 parameters."""

    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = twice(1, 16), twice(16, 32), twice(32, 64)
        self.up2, self.up1 = nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)
        self.join2, self.join1 = twice(64, 32), twice(32, 16)
        self.noise = nn.Conv2d(16, 1, 3, padding=1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.up2(self.bottom(F.max_pool2d(b, 2)))
        d = self.up1(self.join2(torch.cat((c, b), 1)))
        return x - self.noise(self.join1(torch.cat((d, a), 1)))


def peak_ratio(net, clean, generator):
    """PSNR of the network's pictures against the clean ones, in dB, and of the noisy ones."""
    noisy = clean + SIGMA * torch.randn(clean.shape, generator=generator)
    with torch.no_grad():
        found = torch.cat([net(part) for part in noisy.split(256)])
    return [10 * math.log10(1 / float(((x - clean) ** 2).mean())) for x in (found, noisy)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--output', default='denoiser.onnx')
    parser.add_argument('--data', default=DATA_DIR)
    parser.add_argument('--epochs', type=int, default=4)
    parser.add_argument('--batch', type=int, default=64)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--limit', type=int, default=20000, help='only the first N training pictures (0: all)')
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)
    generator = torch.Generator().manual_seed(options.seed)
    clean = load(options.data, 'train', options.limit)
    net = Denoiser()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    steps = options.epochs * math.ceil(len(clean) / options.batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for epoch in range(options.epochs):
        losses = []
        for chosen in torch.randperm(len(clean), generator=generator).split(options.batch):
            x = clean[chosen]
            loss = F.mse_loss(net(x + SIGMA * torch.randn(x.shape, generator=generator)), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        print(f'epoch {epoch + 1}/{options.epochs}: loss {np.mean(losses):.5f}', flush=True)
    net.eval()
    denoised, noisy = peak_ratio(net, load(options.data, 't10k', 2000), generator)
    print(f'PSNR of 2,000 test pictures: {denoised:.2f} dB, noisy {noisy:.2f} dB')
    torch.onnx.export(net, torch.zeros(1, 1, 32, 32), options.output, opset_version=13, input_names=['noisy'],
                      output_names=['clean'])
    print(f'wrote {options.output}')


if __name__ == '__main__':
    main()
