#!/usr/bin/env python3
"""Times Rshift against other runtimes on the same models: interleaved rounds, batch 1, median ratios.

ratio = the peer's time / ours: above 1 we are faster. It is the median over the rounds of median times; `least` is
that of the least times of all rounds, which other programs disturb least. Every model is quantized for each peer by
that peer's own tool or as a QDQ model; a peer runs at its default and at the best setting found, and the faster one
counts. Ours has its default settings but for --copy: weights lie in memory, as the peers' do. Missing packages are
installed in build/benchvenv with pinned versions.

  tools/bench_peers.py                                          everything: about an hour
  tools/bench_peers.py --models resnet50 --peers onnxruntime --threads 1 --rounds 20
  tools/bench_peers.py --quick --models mobilenet_v2            one setting per peer, 3 short rounds
  tools/bench_peers.py --models vit_tiny,deit_tiny,bert_mini    encoders
  tools/bench_peers.py --models mobilenet_v2 --per-command      and where our time goes, against the machine's peak
  tools/bench_peers.py --json ratios.json --keep build/bench    models stay in build/bench for the next run
  tools/bench_peers.py --before OLD/bin --peers none            our programs of an earlier state as the only peer
  tools/bench_peers.py --calibration                            model_calibrate --method all beside JPEG decoding plus
                                                                ONNX Runtime, and beside its entropy calibrator
  tools/bench_peers.py --int16                                  layers of LiteRT's 16x8 on one thread: LiteRT's time
                                                                and our 8-bit one's over ours
"""

import argparse
import json
import os
import pathlib
import sys

from bench import environment

PEERS = tuple(environment.PACKAGES)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--models', default='', help='comma separated; default: the seeded graphs and the real models')
    parser.add_argument('--peers', default=','.join(PEERS), help=f'comma separated: {", ".join(PEERS)}; or none')
    parser.add_argument('--dtypes', default='int8,f32', help='comma separated: int8, f32 (default both)')
    parser.add_argument('--threads', default='1,2', help='comma separated thread counts (default 1,2)')
    parser.add_argument('--rounds', type=int, default=0, help='default 10, with --quick 3')
    parser.add_argument('--milliseconds', type=int, default=0, help='of each runtime in a round (default 250; 60)')
    parser.add_argument('--patience', type=int, default=120,
                        help='seconds to wait, per model and thread count, for other programs to end (default 120)')
    parser.add_argument('--quick', action='store_true', help='default settings only, few short rounds')
    parser.add_argument('--per-command', action='store_true', help='also our profile of each model, per command')
    parser.add_argument('--json', metavar='FILE', help='write everything measured to FILE')
    parser.add_argument('--keep', metavar='DIR', default=str(environment.ROOT / 'build/bench'),
                        help='where built models are kept between runs (default build/bench)')
    parser.add_argument('--bin', metavar='DIR', default=str(environment.ROOT / 'build/release/bin'),
                        help='our programs (default build/release/bin)')
    parser.add_argument('--before', metavar='DIR',
                        help='our programs of an earlier state: a peer, each mode against the same mode')
    parser.add_argument('--calibration', action='store_true',
                        help='images per second of calibration; time ratio = ours / theirs, here less is better')
    parser.add_argument('--int16', action='store_true',
                        help='layers of 16-bit activations beside LiteRT and beside 8 bits, on one thread')
    parser.add_argument('--samples', type=int, default=0, help='with --calibration: photographs (default all there are)')
    parser.add_argument('--shared', metavar='DIR', help='real models (default $RSHIFT_SHARED, else ../shared)',
                        default=os.environ.get('RSHIFT_SHARED', str(environment.ROOT.parent / 'shared')))
    options = parser.parse_args(arguments)
    if options.peers == 'none' and not options.before:
        parser.error('--peers none: give --before DIR, or nothing is compared')
    if options.peers == 'none':
        options.peers = ''
    for name, allowed in (('peers', PEERS), ('dtypes', ('int8', 'f32'))):
        chosen = [x for x in getattr(options, name).split(',') if x]
        unknown = [x for x in chosen if x not in allowed]
        if unknown or not (chosen or options.before):
            parser.error(f"--{name} {','.join(unknown) or '(empty)'}: expected some of {', '.join(allowed)}")
        setattr(options, name, chosen)
    try:
        options.threads = [int(t) for t in options.threads.split(',')]
    except ValueError:
        parser.error(f'--threads {options.threads}: expected numbers separated by commas')
    if min(options.threads) < 1 or min(options.rounds, options.milliseconds, options.samples) < 0:
        parser.error('--threads, --rounds, --milliseconds and --samples must be positive')
    options.rounds = options.rounds or (3 if options.quick or options.calibration else 10)
    options.milliseconds = options.milliseconds or (60 if options.quick else 250)
    return options


HEADER = (f"{'model':<22}{'peer':<12}{'type':<5}{'':>4} {'our mode':<12}{'peer ms':>8}{'our ms':>9}{'ratio':>8}"
          f"{'quartiles':>14}{'least':>7}{'cosine':>8}{'ours':>7}{'of peak':>9}  setting of the peer")


def row_text(r):
    part = r['our_peak_share']
    share = '' if part is None else f'{100 * part:.0f} %'
    spread = f"{r['spread'][0]:.2f}..{r['spread'][1]:.2f}"
    disturbed = '' if r['disturbed_rounds'] == 0 else (
        f"; others ran in {r['disturbed_rounds']} of {r['all_rounds']} rounds"
        + (', so in all of these' if r['disturbed_rounds'] == r['all_rounds'] else ', left out'))
    return (f"{r['model']:<22}{r['peer']:<12}{r['dtype']:<5}{r['threads']:>2}T  {r['mode']:<11}"
            f"{r['peer_ms']:>9.3f}{r['our_ms']:>9.3f}{r['ratio']:>8.2f}{spread:>14}{r['least_ratio']:>7.2f}"
            f"{r['cosine']:>8.4f}{r['our_cosine']:>7.4f}{share:>9}  {r['setting']}{disturbed}")


def print_contest(name, threads, rows, missing, profiles, per_command):
    for row in rows:
        print(row_text(row), flush=True)
    for m in missing:
        print(f"{name:<22}{m['peer']:<12}{m['dtype']:<5}{threads:>2}T  not measured: {m['why']}", flush=True)
    found = next(iter(profiles.values())).found
    print(f"{'':<22}peak of {found['isa']} beside it: {found['peak_gops']:.0f} GOPS at {threads}T", flush=True)
    for mode, profile in profiles.items() if per_command else ():
        print(f'\n{name}, {mode}, {threads}T')
        print('\n'.join(profile.lines()), flush=True)


def choose(models, known):
    chosen = [m for m in models.split(',') if m]
    unknown = [m for m in chosen if m not in [*known, 'tiny']]
    if unknown:
        sys.exit(f"error: --models {','.join(unknown)}: expected some of {', '.join(known)}, tiny")
    return chosen or known


def calibrations(options):
    environment.enter(['onnxruntime'], ['opencv-python-headless'])
    from bench import calibration, ours

    shared = pathlib.Path(options.shared).resolve()
    calibration.hold(options, ours.Programs(options.bin), shared, choose(options.models, list(calibration.MODELS)))
    return 0


def layers_of_int16(options):
    environment.enter(['litert'])
    from bench import int16, ours, store as stores

    rows = int16.hold(options, ours.Programs(options.bin), stores.Store(options.keep))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({'rows': rows}, indent=1) + '\n', encoding='utf-8')
    return 0


def main():
    options = parse(sys.argv[1:])
    if options.calibration:
        return calibrations(options)
    if options.int16:
        return layers_of_int16(options)
    environment.enter(options.peers)
    from bench import cases, contest, ours, store as stores  # need the packages

    shared = pathlib.Path(options.shared).resolve()
    chosen = choose(options.models, cases.names(shared))
    programs, store = ours.Programs(options.bin), stores.Store(options.keep)
    found = {'cpu': environment.cpu(), 'versions': environment.versions(options.peers), 'rounds': options.rounds,
             'milliseconds': options.milliseconds, 'rows': [], 'not_measured': [], 'profiles': []}
    print(f"CPU: {found['cpu']['model']}, {found['cpu']['cores']} cores, {' '.join(found['cpu']['isa'])}")
    print('versions:', ', '.join(f'{name} {version}' for name, version in found['versions'].items()))
    print(HEADER, flush=True)
    for name in chosen:
        case = cases.make(name, store, shared, programs)
        for threads in options.threads:
            rows, missing, profiles = contest.Contest(case, store, programs, options, threads).hold()
            print_contest(name, threads, rows, missing, profiles, options.per_command)
            found['rows'] += rows
            found['not_measured'] += missing
            found['profiles'] += [{'model': name, 'mode': mode, **p.found} for mode, p in profiles.items()]
            if options.json:  # after each model: a long run that is interrupted leaves what it has
                pathlib.Path(options.json).write_text(json.dumps(found, indent=1) + '\n', encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
