"""Networks in OpenVINO and NNCF beside ours: python openvino_networks.py [name ...] prints a row for each network and preset.

Float: the largest difference of the outputs to OpenVINO's, relative to the largest output. Integer: each tensor behind a
FakeQuantize, from the model cut off there, on real images: numbers that are not OpenVINO's, under --profile openvino."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import models
import oracle
import pipeline

PYTHON = pipeline.ROOT / 'build/benchvenv/bin/python'
ORACLE = pipeline.ROOT / 'tests/e2e/openvino_oracle.py'
CASES = {case.name: case for case in models.CASES if case.name in (
    'resnet8_cifar10', 'vww96', 'mobilenet_v2', 'squeezenet_1_1', 'fashion_resnet_prelu', 'fashion_mobilenet_leaky',
    'fashion_mobilenet_hostile', 'fashion_vit_tiny')}


def openvino(*args):
    done = subprocess.run([PYTHON, ORACLE, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def images(case, shared, count):
    """[count, 1, ...] f32, as the model takes them."""
    taken = [array for _, array in zip(range(count), inputs_of(case, shared, count))]
    return np.stack([np.asarray(array, np.float32) for array in taken])


def inputs_of(case, shared, count):
    for sample in oracle.samples(case, shared, count):
        yield next(iter(sample.values())) if isinstance(sample, dict) else sample


def run_ours(model, program, x, *extra):
    pipeline.run('model_deploy', model, '-o', program, '--report-json', f'{program}.json', *extra)
    np.save(f'{program}.npy', x[:, 0])
    pipeline.run('model_runner', program, '--dataset', f'{program}.npy', '--output', f'{program}.npz')
    told = json.loads(pathlib.Path(f'{program}.json').read_text())
    return pipeline.single(f'{program}.npz'), told


def compare_float(case, shared, folder, count=4):
    openvino('ir', case.model(shared), folder / 'float.xml')
    x = images(case, shared, count)
    np.save(folder / 'x.npy', x)
    ours, _ = run_ours(folder / 'float.xml', folder / 'float.rshift', x, '--mode', 'f32')
    name = next(iter(session_inputs(folder / 'float.xml')))
    np.savez(folder / 'x.npz', **{name: x})
    openvino('run', folder / 'float.xml', folder / 'x.npz', folder / 'y.npz')
    theirs = next(iter(pipeline.arrays_of(folder / 'y.npz').values())).reshape(ours.shape)
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def session_inputs(path):
    text = path.read_text()
    import re
    layer = next(part for part in text.split('<layer ') if 'type="Parameter"' in part)
    names = re.search(r'names="([^"]*)"', layer)
    return [names[1].split(',')[0] if names else re.search(r'name="([^"]*)"', layer)[1]]


def compare_int8(case, shared, folder, words=(), count=2, most=1000):
    """After compare_float."""
    x = images(case, shared, count)
    np.save(folder / 'calibration.npy', images(case, shared, 8))
    np.save(folder / 'x2.npy', x)
    model = folder / 'int8.xml'
    openvino('nncf', folder / 'float.xml', folder / 'calibration.npy', model, *words)
    ours, told = run_ours(model, folder / 'int8.rshift', x, '--profile', 'openvino', '--no-check', '--drop-residual-round')
    name = session_inputs(model)[0]
    np.savez(folder / 'x2.npz', **{name: x})
    openvino('run', model, folder / 'x2.npz', folder / 'y2.npz')
    theirs = next(iter(pipeline.arrays_of(folder / 'y2.npz').values())).reshape(ours.shape)
    (folder / 'parts').mkdir(exist_ok=True)
    openvino('cut', model, folder / 'x2.npy', folder / 'parts', most)
    layers = compare_parts(folder / 'parts', x)
    fell = [n['node'] for n in told['float_nodes'] if n['op'] in ('Conv', 'ConvTranspose')]
    products = [n['node'] for n in told['float_nodes'] if n['op'] == 'MatMul']
    commands = pipeline.f32_commands(folder / 'int8.rshift')
    return {'tuned': len(told['range_changes']), 'conv_f32': len(fell), 'matmul_f32': len(products), 'commands': commands,
            'cosine': pipeline.cosine(ours, theirs), 'class': float(np.mean(ours.argmax(1) == theirs.argmax(1))),
            'layers': layers, 'elements': sum(n for _, n, _ in layers), 'differ': sum(d for _, _, d in layers)}


def compare_parts(folder, x):
    """(part, elements, elements that are another level than OpenVINO's)."""
    results, rows = pipeline.arrays_of(folder / 'results.npz'), []
    for part in sorted((key for key in results if key.isdigit()), key=int):
        dropped = ('--drop-residual-round',) if 'FakeQuantize' in (folder / f'{part}.xml').read_text() else ()
        ours, _ = run_ours(folder / f'{part}.xml', folder / f'{part}.rshift', x, '--profile', 'openvino', '--no-check', *dropped)
        theirs = results[part]
        step = (results[f'{part}_high'] - results[f'{part}_low']) / (float(results[f'{part}_levels']) - 1)
        difference = np.abs(ours.reshape(theirs.shape) - theirs) / step
        rows.append((int(part), theirs.size, int((difference > 0.5).sum())))
    return rows


def main(names):
    shared = pathlib.Path(os.environ.get('RSHIFT_SHARED', pipeline.ROOT.parent / 'shared')).resolve()
    print('network            preset       float   conv, MatMul in F32   cosine    class    elements   differ      share  ranges tuned')
    for name in names or CASES:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            error = compare_float(CASES[name], shared, folder)
            kind = ['transformer'] if 'vit' in name else []
            for preset in ([], ['mixed']):
                row = compare_int8(CASES[name], shared, folder, kind + preset)
                print(f'{name:18} {" ".join(kind + preset) or "performance":12} {error:.1e} {row["conv_f32"]:4} {row["matmul_f32"]:4} '
                      f'{row["cosine"]:18.6f} {row["class"]:8.3f} {row["elements"]:11,} {row["differ"]:8,} '
                      f'{row["differ"] / row["elements"]:10.2e} {row["tuned"]}', flush=True)
                print('    layers that differ:', [r for r in row['layers'] if r[2]], 'F32 commands:', row['commands'], flush=True)


if __name__ == '__main__':
    main(sys.argv[1:])
