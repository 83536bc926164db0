"""A script: the accuracy of every calibration method and of auto, by network and mode. RSHIFT_SHARED is ../shared.

    calibration_accuracy.py FOLDER [NAME ...]     a Markdown table on stdout; FOLDER: for programs and outputs

Classifiers: how often the class is the float program's, in %, and the mean SQNR of the outputs in dB; Fashion-MNIST on its
10,000 test images. Detectors: recall and precision of the boxes against the float program's, as their F1.
"""

import os
import pathlib
import re
import sys

import numpy as np

import detectors
import models
import pipeline

METHODS = re.findall(r'^RSHIFT_METHOD\(\w+, "([\w-]+)"', (pipeline.ROOT / 'calibrate/methods.def').read_text(), re.MULTILINE)
CHOICES = (*METHODS, 'auto')
CLASSIFIERS = ('fashion_resnet_prelu', 'fashion_mobilenet_leaky', 'fashion_mobilenet_hostile', 'fashion_vit_tiny',
               'squeezenet_1_1', 'mobilenet_v2', 'resnet8_cifar10', 'vww96', 'mobilenet_v1_025')


def tables_of(model, data, folder, preprocess, samples, extra=()):
    """{method: table} of one run and its statistics."""
    recipe = ['--preprocess', preprocess] if preprocess else []
    pipeline.run('model_calibrate', model, '--dataset', *data, '--samples', samples, *recipe, *extra, '--method', 'all',
                 '-o', folder / 'table.yaml', '--statistics', folder / 'net.stats')
    only_the_model = [word for word in extra if word != '--equalize']
    pipeline.run('model_calibrate', model, '--from-statistics', folder / 'net.stats', *only_the_model, '--method', 'auto',
                 '-o', folder / 'table.auto.yaml')
    return {method: folder / f'table.{method}.yaml' for method in CHOICES}


def programs_of(model, data, folder, preprocess, samples, extra=()):
    """{(mode, method): program}, and that of f32 as ('f32', '')."""
    tables = tables_of(model, data, folder, preprocess, samples, extra)
    programs = {('f32', ''): folder / 'f32.rshift'}
    pipeline.deploy(model, folder / 'f32.rshift', mode='f32', preprocess=preprocess, extra=extra)
    for mode in pipeline.INTEGER_MODES:
        for method, table in tables.items():
            programs[mode, method] = folder / f'{mode}.{method}.rshift'
            pipeline.deploy(model, programs[mode, method], mode=mode, table=table, extra=extra)
    return programs


def run(program, data, folder):
    """{output: array} of a data set."""
    pipeline.run('model_runner', program, '--dataset', data, '--output', folder / 'out.npz', timeout=3600)
    return pipeline.arrays_of(folder / 'out.npz')


def compare_classes(found, wanted):
    """(% of equal classes, SQNR in dB) of the last output."""
    a, b = (next(reversed(arrays.values())).astype(np.float64) for arrays in (found, wanted))
    a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
    noise = ((a - b) ** 2).sum()
    return 100 * (a.argmax(1) == b.argmax(1)).mean(), 10 * np.log10((b ** 2).sum() / max(noise, 1e-30))


def classifier(name, shared, folder):
    case = next(case for case in models.CASES if case.name == name)
    programs = programs_of(case.model(shared), [case.calibration(shared)], folder, case.preprocess, case.samples, case.shape)
    data = pipeline.TEST_IMAGES if case.evaluate_on == 'fashion' else shared / 'images' / (
        'imagenet_val' if case.evaluate_on == 'faces' else case.evaluate_on)
    wanted = run(programs['f32', ''], data, folder)
    for mode in pipeline.INTEGER_MODES:
        results = (compare_classes(run(programs[mode, method], data, folder), wanted) for method in CHOICES)
        yield mode, [f'{percent:.2f} / {db:.1f}' for percent, db in results]


def keywords(shared, folder):
    """No recordings are at hand: seeded noise, smooth along time, in place of the 49 x 10 cepstral coefficients."""
    random = np.random.default_rng(3)
    steps = random.normal(0, 12, (600, 1, 49, 10)).cumsum(axis=2) / 4 + random.normal(0, 8, (600, 1, 1, 10))
    for name, part in (('calibrate.npy', steps[:100]), ('evaluate.npy', steps[100:])):
        np.save(folder / name, part.astype(np.float32))
    model = shared / 'models/dscnn_keywords/kws_ref_model_float32_float.onnx'
    programs = programs_of(model, [folder / 'calibrate.npy'], folder, None, 100)
    wanted = run(programs['f32', ''], folder / 'evaluate.npy', folder)
    for mode in pipeline.INTEGER_MODES:
        results = (compare_classes(run(programs[mode, method], folder / 'evaluate.npy', folder), wanted) for method in CHOICES)
        yield mode, [f'{percent:.2f} / {db:.1f}' for percent, db in results]


def detector(case, shared, folder):
    data = [shared / 'images' / name for name in case.calibrate_on]
    programs = programs_of(shared / 'models' / case.file, data, folder, case.preprocess, 200, ('--append', case.postprocess))
    pictures = shared / 'images' / case.pictures
    wanted = detectors.detect(programs['f32', ''], pictures, folder)
    for mode in pipeline.INTEGER_MODES:
        cells = []
        for method in CHOICES:
            recall, precision, *_ = detectors.recall_and_precision(detectors.detect(programs[mode, method], pictures, folder), wanted)
            cells.append(f'{2 * recall * precision / max(recall + precision, 1e-9):.3f}')
        yield mode, cells


def rows(name, shared, folder):
    folder.mkdir(parents=True, exist_ok=True)
    case = next((case for case in detectors.DETECTORS if case.name == name), None)
    if case is not None:
        return detector(case, shared, folder)
    return keywords(shared, folder) if name == 'dscnn_keywords' else classifier(name, shared, folder)


def main(folder, *names):
    shared = pathlib.Path(os.environ['RSHIFT_SHARED'])
    names = names or (*CLASSIFIERS, 'dscnn_keywords', *(case.name for case in detectors.DETECTORS))
    print('| network | mode |', ' | '.join(CHOICES), '|')
    print('|' + '---|' * (len(CHOICES) + 2), flush=True)
    for name in names:
        for mode, cells in rows(name, shared, pathlib.Path(folder) / name):
            print(f'| `{name}` | {mode} |', ' | '.join(cells), '|', flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
