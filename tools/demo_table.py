#!/usr/bin/env python3
"""Prints the demo's table and writes result.json, from what model_runner left in a folder.

Reads MODE.json (accuracy and time), MODE.npz (the outputs of every image) and MODE.rshift (its size)
for the modes f32, symmetric and asymmetric. Standard library only: the demo needs no Python packages.
"""

import array
import ast
import json
import os
import struct
import sys
import zipfile

MODES = ('f32', 'symmetric', 'asymmetric')


def read_npy_f32(data):
    """(shape, values) of a little-endian float32 .npy file in C order."""
    if data[:6] != b'\x93NUMPY':
        raise ValueError('not a .npy file')
    wide = data[6] >= 2
    length, = struct.unpack_from('<I' if wide else '<H', data, 8)
    start = (12 if wide else 10) + length
    header = ast.literal_eval(data[start - length:start].decode('latin1'))
    if header['descr'] != '<f4' or header['fortran_order']:
        raise ValueError(f'expected C-ordered float32, found {header}')
    values = array.array('f', data[start:])
    if sys.byteorder == 'big':
        values.byteswap()
    return header['shape'], values


def argmax_per_image(path):
    """The class of each image: the index of the largest value of the only output."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(names) != 1:
            raise ValueError(f'{path}: expected one output, found {names}')
        shape, values = read_npy_f32(archive.read(names[0]))
    images = shape[0]
    classes = len(values) // images
    rows = (values[i * classes:(i + 1) * classes] for i in range(images))
    return [max(range(classes), key=row.__getitem__) for row in rows]


def collect(folder):
    result = {}
    reference = None
    for mode in MODES:
        with open(os.path.join(folder, mode + '.json'), encoding='utf-8') as f:
            run = json.load(f)
        picks = argmax_per_image(os.path.join(folder, mode + '.npz'))
        if len(picks) != run['images']:
            raise ValueError(f"{mode}: {run['images']} images but {len(picks)} outputs")
        reference = reference or picks
        agree = sum(a == b for a, b in zip(picks, reference, strict=True))
        result.setdefault('images', run['images'])
        result['float_top1' if mode == 'f32' else mode + '_top1'] = run['top1']
        result[mode] = {
            'top1': run['top1'],
            'agreement': round(100.0 * agree / len(picks), 4),
            'file_bytes': os.path.getsize(os.path.join(folder, mode + '.rshift')),
            'median_ms': run['median_ms'],
        }
    return result


def print_table(result):
    print(f"Fashion-MNIST, {result['images']} test images, one thread")
    print(f"{'mode':<12}{'top-1':>9}{'agreement':>12}{'file size':>13}{'ms/image':>11}{'speed-up':>10}")
    base = result['f32']['median_ms']
    for mode in MODES:
        r = result[mode]
        print(f"{mode:<12}{r['top1']:>7.2f} %{r['agreement']:>10.2f} %{r['file_bytes']:>11,} B"
              f"{r['median_ms']:>11.4f}{base / r['median_ms']:>9.2f}x")


def main():
    folder = sys.argv[1]
    result = collect(folder)
    print_table(result)
    target = os.path.join(folder, 'result.json')
    with open(target + '.tmp', 'w', encoding='utf-8') as f:
        json.dump(result, f, indent=2)
        f.write('\n')
    os.replace(target + '.tmp', target)
    print(f'written: {target}')


if __name__ == '__main__':
    main()
