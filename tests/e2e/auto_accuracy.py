"""A script: what model_deploy --auto makes of networks, held against 8 bits and 16 bits everywhere. RSHIFT_SHARED is ../shared.

    auto_accuracy.py FOLDER [NAME[:BUDGET] ...]     a Markdown table on stdout; FOLDER: for programs and outputs

Data, networks and figures as in bias_correction_accuracy.py, tables of the default method. NAME:cosine=0.999 gives that budget.
"""

import json
import os
import pathlib
import sys
import time

import bias_correction_accuracy
import models
import pipeline

NAMES = ('fashion_mobilenet_hostile', 'fashion_mobilenet_hostile/off', 'fashion_vit_tiny', 'fashion_resnet_prelu', 'resnet8_cifar10',
         'squeezenet_1_1', 'mobilenet_v2', 'mobilenet_v2:cosine=0.998', 'mobilenet_v2:cosine=0.999', 'superres_x3', 'yolox_nano')


def setting(name, shared, folder):
    if name == 'superres_x3':
        case = next(case for case in models.CASES if case.name == name)
        return case.model(shared), [case.calibration(shared)], case.samples, case.preprocess, case.shape, shared / 'images/faces', False
    return bias_correction_accuracy.setting(name, shared, folder)


def rows(name, shared, folder):
    folder.mkdir(parents=True, exist_ok=True)
    name, _, budget = name.partition(':')
    name, _, off = name.partition('/')
    given = setting(name, shared, folder)
    model, _, _, _, extra, data, is_detector = given
    wanted = bias_correction_accuracy.calibrated(given, folder, equalize=not off)

    def measure(mode, *words):
        start = time.time()
        pipeline.run('model_deploy', model, '--calibration', folder / 'table.yaml', '--mode', mode, '--no-check', *extra, *words,
                     '-o', folder / 'net.rshift', timeout=3600)
        seconds = time.time() - start
        shown = bias_correction_accuracy.figure(folder / 'net.rshift', wanted, data, is_detector, folder)
        return shown.split(' / ')[1] + ' dB' if name == 'superres_x3' else shown, seconds

    for mode in pipeline.INTEGER_MODES:
        report = folder / f'{mode}.json'
        asked = ('--budget', budget) if budget else ()
        eight, sixteen = measure(mode)[0], measure(mode, '--activation-bits', 16)[0]
        found, seconds = measure(mode, '--auto', *asked, '--auto-report', report)
        search = json.loads(report.read_text())
        chosen = next(point for point in search['points'] if point['chosen'])
        groups = f'{chosen["groups_16"]} + {chosen["groups_float"]} of {len(search["groups"])}'
        counts = f'{search["evaluations"]} ({search["measuring_runs"]}), {search["one_by_one"]}'
        yield mode, (eight, sixteen, found, search['options'].replace('--', '') or 'none', groups, f'{chosen["time"]:.2f}', counts,
                     'yes' if search['reached'] else 'no', f'{seconds:.0f} s')


def main(folder, *names):
    shared = pathlib.Path(os.environ['RSHIFT_SHARED'])
    titles = ('network', 'mode', '8 bits', '16 bits', 'auto', 'methods', 'groups in 16 bits + F32', 'time', 'evaluations (runs), one by one',
              'reached', 'search')
    print('|', ' | '.join(titles), '|')
    print('|' + '---|' * len(titles), flush=True)
    for name in names or NAMES:
        for mode, cells in rows(name, shared, pathlib.Path(folder) / name.translate(str.maketrans(':/=', '___'))):
            print(f'| `{name}` | {mode} |', ' | '.join(cells), '|', flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
