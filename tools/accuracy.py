#!/usr/bin/env python3
"""The accuracy of Rshift's integer programs beside those of other quantizers, on the same arrays: a Markdown table.

Every network of ../shared/models with a task; each row is a network and a mode. Ours are the columns of --ways; the peers come
from PyPI (build/benchvenv, pinned) and calibrate on the same samples: ONNX Runtime's quantize_static with its three calibrators,
NNCF with fast and full bias correction and, for encoders, as a transformer; symmetric activations in the symmetric row, the others'
default in the asymmetric one. ONNX Runtime's run there, NNCF's in OpenVINO.

Figures: top-1 in % where there are labels; else how often the class is the float network's, in %; mean intersection over union of
class maps with the float network's, in %; F1 of the boxes against the float network's; the SQNR of the outputs in dB. +- is one
binomial standard error of a share (of boxes: 2 matches / (boxes of one + boxes of the other), of half as many pairs).

  tools/accuracy.py                                             everything: about two hours
  tools/accuracy.py --nets mobilenet_v2 --ways default,auto     one network
  tools/accuracy.py --peers none --ways steps                   what each step brings, switched on or off alone
  tools/accuracy.py --peers none --ways weights4 --sizes        weights of 4 bits beside those of 8, with the files' sizes
  tools/accuracy.py --peers none --ways widths --decibels --sizes --times    8 bits, residual sums of 16, everything of 16
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

from bench import environment

ALL_WEIGHTS_4 = str(environment.ROOT / 'configs/quantize/weights_of_4_bits.yaml')
CHOSEN_WEIGHTS = ('--weight-rounding', 'gptq', '--weight-clipping', 'mse')
# What is added to model_calibrate and to model_deploy.
WAYS = {
    'default': ((), ()),
    'auto': ((), ('--auto',)),
    'equalize off': (('--equalize', 'off'), ()),
    'equalize table': ((), ('--equalize', 'table')),
    'equalize all': ((), ('--equalize', 'all')),
    'shift off': ((), ('--shift-negative', 'off')),
    'method auto': (('--method', 'auto'), ()),
    'weights nearest': ((), ('--weight-rounding', 'nearest')),
    'gptq': ((), ('--weight-rounding', 'gptq')),
    'gptq + mse': ((), CHOSEN_WEIGHTS),
    'weights 4': ((), ('--weight-bits', '4', '--weight-rounding', 'nearest')),
    'weights 4 + mse': ((), ('--weight-bits', '4', '--weight-rounding', 'nearest', '--weight-clipping', 'mse')),
    'weights 4 + gptq': ((), ('--weight-bits', '4', '--weight-rounding', 'gptq')),
    'weights 4 + gptq + mse': ((), ('--weight-bits', '4', '--weight-rounding', 'gptq', '--weight-clipping', 'mse')),
    'all weights 4': ((), ('--config', ALL_WEIGHTS_4, '--weight-rounding', 'nearest')),
    'all weights 4 + gptq': ((), ('--config', ALL_WEIGHTS_4, '--weight-rounding', 'gptq')),
    'all weights 4 + gptq + mse': ((), ('--config', ALL_WEIGHTS_4, '--weight-rounding', 'gptq', '--weight-clipping', 'mse')),
    'residual 16': ((), ('--residual-bits', '16')),
    'all 16': ((), ('--activation-bits', '16')),
    'all 16 + bias full': ((), ('--activation-bits', '16', '--bias-correction', 'full')),
    'all 16 + gptq + mse + bias full': ((), ('--activation-bits', '16', *CHOSEN_WEIGHTS, '--bias-correction', 'full')),
    'bias off': ((), ('--bias-correction', 'off')),
    'bias fast': ((), ('--bias-correction', 'fast')),
    'bias full': ((), ('--bias-correction', 'full')),
    'bias regression': ((), ('--bias-correction', 'regression')),
}
WEIGHTS_4 = tuple(way for way in WAYS if 'weights 4' in way)
WIDTHS = tuple(way for way in WAYS if '16' in way)
STEPS = tuple(way for way in WAYS if way != 'auto' and way not in (*WEIGHTS_4, *WIDTHS))
MODES = ('symmetric', 'asymmetric')


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--nets', default='', help='comma separated; default: all')
    parser.add_argument('--ways', default='default,auto', help=f'comma separated: {", ".join(WAYS)}; steps, weights4 and widths are several (default default,auto)')
    parser.add_argument('--peers', default='all', help='comma separated, all (default) or none')
    parser.add_argument('--folder', default=str(environment.ROOT / 'build/accuracy'), help='for models and outputs')
    parser.add_argument('--sizes', action='store_true', help='the size of our programs beside their figures')
    parser.add_argument('--decibels', action='store_true', help='the SQNR of our outputs beside shares of right classes')
    parser.add_argument('--times', action='store_true', help='milliseconds of our programs, one thread: the least of 200')
    parser.add_argument('--json', metavar='FILE', help='write the figures to FILE')
    parser.add_argument('--bin', default=str(environment.ROOT / 'build/release/bin'), help='our programs (default build/release/bin)')
    parser.add_argument('--shared', default=os.environ.get('RSHIFT_SHARED', str(environment.ROOT.parent / 'shared')),
                        help='models and photographs (default $RSHIFT_SHARED, else ../shared)')
    options = parser.parse_args(arguments)
    groups = {'steps': STEPS, 'weights4': ('default', *WEIGHTS_4), 'widths': ('default', *WIDTHS)}
    asked = [way for name in options.ways.split(',') for way in groups.get(name, (name,))]
    options.ways = tuple(dict.fromkeys(asked))
    unknown = [way for way in options.ways if way not in WAYS]
    if unknown:
        parser.error(f"--ways {','.join(unknown)}: expected some of {', '.join(WAYS)}")
    return options


class Judge:
    """Figures of one network against its labels or its float outputs."""

    def __init__(self, task):
        import numpy as np
        from bench import accuracy_nets, accuracy_peers
        self.np, self.detectors, self.pipeline, self.peers = np, accuracy_nets.detectors, accuracy_nets.pipeline, accuracy_peers
        self.task = task
        self.inputs = np.load(task.judged)
        self.wanted = self._rows_of_peer(task.model)

    def _rows_of_peer(self, model):
        appended = self.task.appended
        rows = self.peers.run(model, self.inputs, appended[1] if appended else None)
        if appended:
            return [tuple(row[name] for name in ('boxes', 'scores', 'classes')) for row in rows]
        return self.np.stack([self.np.ravel(list(row.values())[-1]) for row in rows]).astype(self.np.float64)

    def ours(self, program):
        if self.task.appended:
            return self.detectors.detect(program, self.task.judged, self.task.folder)
        self.pipeline.run('model_runner', program, '--dataset', self.task.judged, '--output', self.task.folder / 'out.npz', timeout=3600)
        last = list(self.pipeline.arrays_of(self.task.folder / 'out.npz').values())[-1]
        return last.reshape(len(last), -1).astype(self.np.float64)

    def figure(self, found):
        """(figure, its standard error or None); larger is better."""
        np, wanted = self.np, self.wanted
        kind = self.task.net.figure
        if kind == 'boxes':
            recall, precision, of_float, of_ours = self.detectors.recall_and_precision(found, wanted)
            share, pairs = 2 * recall * precision / max(recall + precision, 1e-9), max((of_float + of_ours) / 2, 1)
            return share, np.sqrt(max(share * (1 - share), 1 / pairs ** 2) / pairs)
        if kind == 'decibels':
            return self.decibels(found), None
        if kind == 'iou':
            shares = [((found == c) & (wanted == c)).sum() / ((found == c) | (wanted == c)).sum() for c in np.unique(wanted)]
            return 100 * np.mean(shares), None
        right = found.argmax(1) == (wanted.argmax(1) if kind == 'class' else self.task.labels)
        share = right.mean()
        return 100 * share, 100 * np.sqrt(max(share * (1 - share), 1 / len(right) ** 2) / len(right))

    def decibels(self, found):
        wanted = self.wanted
        return 10 * self.np.log10((wanted ** 2).sum() / max(((found - wanted) ** 2).sum(), 1e-30))

    def of_model(self, model):
        return self.figure(self._rows_of_peer(model))

    def of_float(self):
        return self.figure(self.wanted)


def text(figure, kind, options):
    if isinstance(figure, str):
        return figure
    value, error, *more = figure
    program = more[0] if more else {}
    parts = [] if value is None else [plain(value, error, kind)]
    if options.decibels and 'decibels' in program and kind != 'decibels':
        parts.append(f"{program['decibels']:.1f} dB")
    if options.sizes and 'bytes' in program:
        parts.append(f"{program['bytes'] / 1e6:.2f} MB")
    if options.times and 'milliseconds' in program:
        parts.append(f"{program['milliseconds']:.3g} ms")
    return ', '.join(parts) or '-'


def plain(value, error, kind):
    shown = f'{value:.3f}' if kind == 'boxes' else f'{value:.1f} dB' if kind == 'decibels' else f'{value:.2f}'
    return shown if error is None else f'{shown} +- {error:.3f}' if kind == 'boxes' else f'{shown} +- {error:.2f}'


def failed(error):
    last = str(error).strip().splitlines()
    print(f'note: {last[-1] if last else type(error).__name__}', file=sys.stderr)
    return 'failed'


def facts_of(program, judge, found, options):
    """What is known of our program beside its figure."""
    facts = {'bytes': program.stat().st_size}
    if judge.task.net.figure in ('top1', 'class', 'decibels'):
        facts['decibels'] = judge.decibels(found)
    if options.times:
        done = judge.pipeline.run('model_runner', program, '--benchmark', '--threads', 1, '--iterations', 200, '--json', timeout=3600)
        facts['milliseconds'] = json.loads(done)['min_ms']
    return facts


def float_figure(task, judge, options):
    """Shares of right classes, and our F32 program's size and time beside them; the other figures are against the float network itself."""
    facts = {}
    if options.sizes or options.times:
        program = task.folder / 'float.rshift'
        judge.pipeline.run('model_deploy', task.model, '--mode', 'f32', *task.appended, '-o', program)
        facts = facts_of(program, judge, judge.wanted, options)
        facts.pop('decibels', None)
    return (*(judge.of_float() if task.net.figure == 'top1' else (None, None)), facts)


def our_figures(task, judge, mode, options):
    from bench.accuracy_nets import pipeline
    for way in options.ways:
        calibrate, deploy = WAYS[way]
        table, program = task.folder / 'table.yaml', task.folder / 'net.rshift'
        if way == 'shift off' and mode == 'asymmetric':
            yield way, '-'
            continue
        pipeline.calibrate(task.model, task.calibration, table, samples=0, extra=(*task.appended, *calibrate))
        pipeline.run('model_deploy', task.model, '--calibration', table, '--mode', mode, '--no-check', *task.appended, *deploy,
                     '-o', program, timeout=7200)
        found = judge.ours(program)
        yield way, (*judge.figure(found), facts_of(program, judge, found, options))


def peer_figures(task, judge, mode, peers):
    from bench import accuracy_peers
    for peer in peers:
        if peer == 'NNCF transformer' and not task.net.encoder:
            yield peer, '-'
            continue
        try:
            yield peer, judge.of_model(accuracy_peers.quantize(peer, task, mode == 'symmetric'))
        except Exception as error:  # whatever a peer throws is its result
            yield peer, failed(error)


def main(arguments):
    options = parse(arguments)
    environment.enter(('openvino',) if options.peers == 'all' or 'NNCF' in options.peers else (), ('opencv-python-headless',))
    os.environ['RSHIFT_BIN'] = options.bin
    from bench import accuracy_nets, accuracy_peers
    names = [name for name in options.nets.split(',') if name]
    unknown = set(names) - {net.name for net in accuracy_nets.NETS}
    if unknown:
        sys.exit(f"error: --nets {','.join(sorted(unknown))}: expected some of {', '.join(net.name for net in accuracy_nets.NETS)}")
    peers = {'all': list(accuracy_peers.PEERS), 'none': []}.get(options.peers, options.peers.split(','))
    if not set(peers) <= set(accuracy_peers.PEERS):
        sys.exit(f"error: --peers {options.peers}: expected some of {', '.join(accuracy_peers.PEERS)}, all or none")
    columns = ['float', *options.ways, *peers]
    print('| network | mode |', ' | '.join(columns), '|')
    print('|' + '---|' * (len(columns) + 2), flush=True)
    found = {}
    for net in accuracy_nets.NETS:
        if names and net.name not in names:
            continue
        task = accuracy_nets.prepare(net, pathlib.Path(options.shared), pathlib.Path(options.folder) / net.name)
        judge = Judge(task)
        floats = float_figure(task, judge, options)
        for mode in MODES:
            row = {'float': floats, **dict(our_figures(task, judge, mode, options)),
                   **dict(peer_figures(task, judge, mode, peers))}
            found.setdefault(net.name, {})[mode] = row
            print(f'| `{net.name}` | {mode} |', ' | '.join(text(row[column], net.figure, options) for column in columns), '|', flush=True)
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(found, indent=1, default=float) + '\n', encoding='utf-8')


if __name__ == '__main__':
    try:
        main(sys.argv[1:])
    except (AssertionError, subprocess.CalledProcessError) as error:  # ours failed: no table without it
        sys.exit(f'error: {error}')
