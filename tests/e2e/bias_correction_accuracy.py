"""A script: what bias correction is worth, by network and mode. RSHIFT_SHARED is ../shared.

    bias_correction_accuracy.py FOLDER [--weights] [NAME ...]     a Markdown table on stdout; FOLDER: for programs and outputs

Figures, data and networks as in calibration_accuracy.py, with tables of the default method. NAME:off is calibrated with
--equalize off. --weights: the table of docs/weights.md.
"""

import os
import pathlib
import sys
import time

import numpy as np

import calibration_accuracy
import detectors
import models
import pipeline

GPTQ, MSE, NEAREST = ('--weight-rounding', 'gptq'), ('--weight-clipping', 'mse'), ('--weight-rounding', 'nearest')
FULL, REGRESSION = ('--bias-correction', 'full'), ('--bias-correction', 'regression')
OFF = ('--bias-correction', 'off')
BIASES = {'off': (*OFF, *NEAREST), 'fast': ('--bias-correction', 'fast', *NEAREST), 'full': (*FULL, *NEAREST), 'regression': (*REGRESSION, *NEAREST)}
WEIGHTS = {'off': (*OFF, *NEAREST), 'gptq': (*OFF, *GPTQ), 'mse': (*OFF, *MSE), 'gptq, mse': (*OFF, *GPTQ, *MSE), 'gptq, full': (*GPTQ, *FULL),
           'gptq, regression': (*GPTQ, *REGRESSION)}
NAMES = (*calibration_accuracy.CLASSIFIERS, 'fashion_mobilenet_hostile:off', 'dscnn_keywords', 'yolox_nano')


def keyword_data(folder):
    """As calibration_accuracy.keywords."""
    random = np.random.default_rng(3)
    steps = random.normal(0, 12, (600, 1, 49, 10)).cumsum(axis=2) / 4 + random.normal(0, 8, (600, 1, 1, 10))
    for name, part in (('calibrate.npy', steps[:100]), ('evaluate.npy', steps[100:])):
        np.save(folder / name, part.astype(np.float32))
    return folder / 'calibrate.npy', folder / 'evaluate.npy'


def setting(name, shared, folder):
    """(model, data to calibrate on, samples, preprocessing, options, data to evaluate on, whether it is a detector)"""
    found = next((case for case in detectors.DETECTORS if case.name == name), None)
    if found is not None:
        return (shared / 'models' / found.file, [shared / 'images' / folder_ for folder_ in found.calibrate_on], 200, found.preprocess,
                ('--append', found.postprocess), shared / 'images' / found.pictures, True)
    if name == 'dscnn_keywords':
        calibrate, evaluate = keyword_data(folder)
        return shared / 'models/dscnn_keywords/kws_ref_model_float32_float.onnx', [calibrate], 100, None, (), evaluate, False
    case = next(case for case in models.CASES if case.name == name)
    data = pipeline.TEST_IMAGES if case.evaluate_on == 'fashion' else shared / 'images' / (
        'imagenet_val' if case.evaluate_on == 'faces' else case.evaluate_on)
    return case.model(shared), [case.calibration(shared)], case.samples, case.preprocess, case.shape, data, False


def figure(program, wanted, data, is_detector, folder):
    if is_detector:
        recall, precision, *_ = detectors.recall_and_precision(detectors.detect(program, data, folder), wanted)
        return f'{2 * recall * precision / max(recall + precision, 1e-9):.3f}'
    percent, decibels = calibration_accuracy.compare_classes(calibration_accuracy.run(program, data, folder), wanted)
    return f'{percent:.2f} / {decibels:.1f}'


def calibrated(given, folder, equalize=True):
    """Of what `setting` gives: the table is made and the float program run: its outputs."""
    model, calibrate_on, samples, preprocess, extra, data, is_detector = given
    off = () if equalize else ('--equalize', 'off')
    pipeline.calibrate(model, calibrate_on, folder / 'table.yaml', preprocess=preprocess, samples=samples, extra=(*extra, *off))
    pipeline.deploy(model, folder / 'f32.rshift', mode='f32', preprocess=preprocess, extra=extra)
    return (detectors.detect if is_detector else calibration_accuracy.run)(folder / 'f32.rshift', data, folder)


def rows(name, shared, folder, ways):
    folder.mkdir(parents=True, exist_ok=True)
    name, _, off = name.partition(':')
    given = setting(name, shared, folder)
    model, _, _, _, extra, data, is_detector = given
    wanted = calibrated(given, folder, equalize=not off)
    for mode in pipeline.INTEGER_MODES:
        cells = []
        for how, words in ways.items():
            program, start = folder / f'{mode}.rshift', time.time()
            said = pipeline.run('model_deploy', model, '--calibration', folder / 'table.yaml', '--mode', mode, '--no-check', *extra,
                                *words, '-o', program)
            seconds = time.time() - start
            lost = [line.split(':')[0] for line in said.splitlines() if 'not kept' in line]  # "weights", "bias correction full"
            note = '' if not lost else ' (not kept)' if ',' not in how else f' ({" and ".join(lost)} not kept)'
            cells.append(figure(program, wanted, data, is_detector, folder) + note + ('' if how == 'off' else f', {seconds:.1f} s'))
        yield mode, cells


def main(folder, *names):
    ways = WEIGHTS if '--weights' in names else BIASES
    names = [name for name in names if name != '--weights']
    shared = pathlib.Path(os.environ['RSHIFT_SHARED'])
    print('| network | mode |', ' | '.join(ways), '|')
    print('|' + '---|' * (len(ways) + 2), flush=True)
    for name in names or NAMES:
        for mode, cells in rows(name, shared, pathlib.Path(folder) / name.replace(':', '_'), ways):
            print(f'| `{name}` | {mode} |', ' | '.join(cells), '|', flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
