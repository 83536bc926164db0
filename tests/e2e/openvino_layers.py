"""Each layer of networks that NNCF quantized, given OpenVINO's own inputs, beside OpenVINO: python openvino_layers.py [name ...]

A layer is what lies between a FakeQuantize and those before it: a byte that differs is that layer's, not one that an earlier one moved."""

import os
import pathlib
import sys
import tempfile

import numpy as np

import openvino_networks as networks
import pipeline


def quantize(case, shared, folder, words=(), count=2):
    """FOLDER/int8.xml, and the images that its layers are compared on."""
    networks.openvino('ir', case.model(shared), folder / 'float.xml')
    np.save(folder / 'calibration.npy', networks.images(case, shared, 8))
    np.save(folder / 'x2.npy', networks.images(case, shared, count))
    networks.openvino('nncf', folder / 'float.xml', folder / 'calibration.npy', folder / 'int8.xml', *words)
    return folder / 'int8.xml'


def compare(model, folder):
    """[(name, elements, elements that are another level than OpenVINO's)]"""
    parts = folder / 'layers'
    parts.mkdir(exist_ok=True)
    networks.openvino('layers', model, folder / 'x2.npy', parts)
    results, rows = pipeline.arrays_of(parts / 'results.npz'), []
    for part in sorted((key for key in results if key.isdigit()), key=int):
        dropped = ('--drop-residual-round',) if 'FakeQuantize' in (parts / f'{part}.xml').read_text() else ()
        pipeline.run('model_deploy', parts / f'{part}.xml', '-o', parts / 'p.rshift', '--profile', 'openvino', '--no-check', *dropped)
        theirs, names = results[part], results[f'{part}_inputs']
        step = (results[f'{part}_high'] - results[f'{part}_low']) / (float(results[f'{part}_levels']) - 1)
        wrong = 0
        for sample, expected in enumerate(theirs):
            inputs = {str(name): results[f'{part}_in{i}'][sample] for i, name in enumerate(names)}
            ours = next(iter(pipeline.infer(parts / 'p.rshift', inputs, parts).values()))
            wrong += int((np.abs(ours.reshape(expected.shape) - expected) / step > 0.5).sum())
        rows.append((str(results[f'{part}_name']), theirs.size, wrong))
    return rows


def main(names):
    shared = pathlib.Path(os.environ.get('RSHIFT_SHARED', pipeline.ROOT.parent / 'shared')).resolve()
    for name in names or networks.CASES:
        for preset in ([], ['mixed']):
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                words = preset + (['transformer'] if 'vit' in name else [])
                rows = compare(quantize(networks.CASES[name], shared, folder, words), folder)
            total, wrong = sum(row[1] for row in rows), sum(row[2] for row in rows)
            print(f'{name:26} {" ".join(words) or "performance":12} {len(rows):3} layers {total:11,} elements {wrong:6,} differ {wrong / total:.1e}',
                  [(row[0], row[2]) for row in rows if row[2]], flush=True)


if __name__ == '__main__':
    main(sys.argv[1:])
