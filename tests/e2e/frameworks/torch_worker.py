"""Runs quantized operators in PyTorch's qnnpack engine: torch_worker.py IN.npz OUT.npz.

Run by the Python that has torch (it need not be the tests' own). IN holds, for case i, arrays named
i_...: op, x0, x1 (u8), their scales and zeros, w (s8) with scales and zero, bias (float), window.
OUT holds the bytes of each output under i_y, and the engine's name.
"""
import sys

import numpy as np
import torch

torch.set_num_threads(1)
torch.backends.quantized.engine = 'qnnpack'


def weights(w, scales, zero):
    if len(scales) == 1:
        return torch._make_per_tensor_quantized_tensor(torch.from_numpy(w), float(scales[0]), int(zero))
    return torch._make_per_channel_quantized_tensor(
        torch.from_numpy(w), torch.from_numpy(scales.astype(np.float64)),
        torch.full((len(scales),), int(zero), dtype=torch.int64), 0)


def run(get):
    op = str(get('op'))
    x = torch._make_per_tensor_quantized_tensor(torch.from_numpy(get('x0')), float(get('x0_s')), int(get('x0_z')))
    y = (float(get('y_s')), int(get('y_z')))
    if op == 'add':
        other = torch._make_per_tensor_quantized_tensor(
            torch.from_numpy(get('x1')), float(get('x1_s')), int(get('x1_z')))
        return torch.ops.quantized.add(x, other, *y)
    w = weights(get('w'), get('w_s'), get('w_z'))
    bias = torch.from_numpy(get('bias'))
    if op == 'fc':
        return torch.ops.quantized.linear(x, torch.ops.quantized.linear_prepack(w, bias), *y)
    stride, pads, dilation, groups = (get(k).tolist() for k in ('stride', 'pads', 'dilation', 'groups'))
    if op == 'deconv':
        packed = torch.ops.quantized.conv_transpose2d_prepack(
            w, bias, stride, pads, get('output_pad').tolist(), dilation, groups)
        return torch.ops.quantized.conv_transpose2d(x, packed, *y)
    packed = torch.ops.quantized.conv2d_prepack(w, bias, stride, pads, dilation, groups)
    return torch.ops.quantized.conv2d(x, packed, *y)


def main():
    cases = np.load(sys.argv[1])
    outputs = {'engine': torch.backends.quantized.engine, 'version': torch.__version__}
    for i in range(int(cases['count'])):
        outputs[f'{i}_y'] = run(lambda name, i=i: cases[f'{i}_{name}']).int_repr().numpy()
    np.savez(sys.argv[2], **outputs)


if __name__ == '__main__':
    main()
