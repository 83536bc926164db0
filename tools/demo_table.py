#!/usr/bin/env python3
"""Prints the demo's table and writes result.json, from what model_runner left in a folder.

    demo_table.py FOLDER
    demo_table.py FOLDER --update README.md     writes the table into the file, in place of the one it has
    demo_table.py FOLDER --compare README.md    exit code 1 when the file's table is of other figures

Times differ from run to run and are not compared. File sizes are, to the byte. Accuracy may differ by three images of
10,000: calibration measures a float model, whose last bits depend on the CPU.

Reads MODE.json (accuracy and time), MODE.npz (the outputs of every image) and MODE.rshift (its size)
for the modes f32, symmetric and asymmetric. Standard library only: the demo needs no Python packages.
"""

import array
import ast
import json
import os
import re
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
        names = [name for name in archive.namelist() if name != 'sample_names.npy']
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


def table(result):
    """The lines of the table."""
    lines = [f"Fashion-MNIST, {result['images']} test images, one thread",
             f"{'mode':<12}{'top-1':>9}{'agreement':>12}{'file size':>13}{'ms/image':>11}{'speed-up':>10}"]
    base = result['f32']['median_ms']
    for mode in MODES:
        r = result[mode]
        lines.append(f"{mode:<12}{r['top1']:>7.2f} %{r['agreement']:>10.2f} %{r['file_bytes']:>11,} B"
                     f"{r['median_ms']:>11.4f}{base / r['median_ms']:>9.2f}x")
    return lines


TABLE = re.compile(r'^Fashion-MNIST, .*\n(?:.+\n)*?(?=```)', re.M)
ROW = re.compile(r'^(\w+) +([\d.]+) % +([\d.]+) % +([\d,]+) B ', re.M)
MOST_POINTS = 0.03


def find_table(path):
    with open(path, encoding='utf-8') as f:
        text = f.read()
    found = TABLE.search(text)
    if found is None:
        sys.exit(f'error: {path}: no table of the demo (a code block with a line "Fashion-MNIST, ...")')
    return text, found


def update(path, result):
    text, found = find_table(path)
    with open(path + '.tmp', 'w', encoding='utf-8') as f:
        f.write(text[:found.start()] + '\n'.join(table(result)) + '\n' + text[found.end():])
    os.replace(path + '.tmp', path)
    print(f'updated: {path}')


def compare(path, result):
    """The lines that say where the table of the file is of other figures."""
    rows = {row[1]: row.groups()[1:] for row in ROW.finditer(find_table(path)[1][0])}
    wrong = []
    if rows.keys() != set(MODES):
        wrong.append(f'{path}: the table has the rows {sorted(rows)}, expected {sorted(MODES)}')
    for mode in rows.keys() & set(MODES):
        top1, agreement, size = rows[mode]
        r = result[mode]
        same = (abs(float(top1) - r['top1']) < MOST_POINTS + 1e-9 and
                abs(float(agreement) - r['agreement']) < MOST_POINTS + 0.005 and
                int(size.replace(',', '')) == r['file_bytes'])
        if not same:
            wrong.append(f"{path}: {mode} has {top1} %, {agreement} %, {size} B; the demo gives {r['top1']:.2f} %, "
                         f"{r['agreement']:.2f} %, {r['file_bytes']:,} B: run tools/demo.sh --update-readme")
    return wrong


def main():
    if len(sys.argv) not in (2, 4) or (len(sys.argv) == 4 and sys.argv[2] not in ('--update', '--compare')):
        sys.exit(__doc__)
    folder = sys.argv[1]
    result = collect(folder)
    if sys.argv[2:3] == ['--compare']:
        wrong = compare(sys.argv[3], result)
        print('\n'.join(wrong) or f'{sys.argv[3]}: the figures of the demo')
        sys.exit(1 if wrong else 0)
    print('\n'.join(table(result)))
    target = os.path.join(folder, 'result.json')
    with open(target + '.tmp', 'w', encoding='utf-8') as f:
        json.dump(result, f, indent=2)
        f.write('\n')
    os.replace(target + '.tmp', target)
    print(f'written: {target}')
    if sys.argv[2:3] == ['--update']:
        update(sys.argv[3], result)


if __name__ == '__main__':
    main()
