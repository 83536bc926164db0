"""Layers of 16-bit activations: our time beside LiteRT's 16x8 and beside our own of 8 bits, on one thread.

Each layer is a .tflite file of integers, 8 bits and 16x8, which model_deploy reads under a profile of LiteRT's: both sides
compute the same integers. LiteRT runs with XNNPACK and without it, and its faster way counts. Every round runs all of
them; the least times are compared.
"""

import numpy as np

from bench import chain, ours, quiet, rounds, tflite_writer
from bench.worker import Entrant

# Output channels, kernel, side of the image, input channels; depthwise: a filter for each.
LAYERS = {'conv 3x3 64->64 56x56': (64, 3, 56, 64, 1), 'conv 1x1 128->128 28x28': (128, 1, 28, 128, 1),
          'depthwise 3x3 128 28x28': (128, 3, 28, 128, 128), 'dense 512->512': (512, 1, 1, 512, None)}
PROFILE = 'tflite-ruy'
REQUIRED_RATE = 0.45  # of the 8-bit layer's
WAYS = ('XNNPACK', 'ruy')


def layer(oc, kernel, side, ic, groups, seed=1):
    """The input and the layer; seeded weights whose results have the variance of the input."""
    random = np.random.default_rng(seed)
    shape = (ic,) if groups is None else (ic, side, side)
    source = chain.Layer('input', 'x', [], shape)
    products = (ic // (groups or 1)) * kernel * kernel
    weights = random.standard_normal((oc, ic) if groups is None else (oc, ic // groups, kernel, kernel))
    made = chain.Layer('dense' if groups is None else 'conv', 'y', ['x'], (oc, *shape[1:]),
                       weights=(weights / np.sqrt(products)).astype(np.float32),
                       bias=random.uniform(-.1, .1, oc).astype(np.float32), kernel=(kernel, kernel),
                       pads=(kernel // 2,) * 4, groups=groups or 1)
    return [source, made]


def file(store, name, bits):
    def write(path):
        path.write_bytes(tflite_writer.write(layer(*LAYERS[name]), {'x': (-4, 4), 'y': (-4, 4)}, bits, floats=False))

    stem = name.replace(' ', '_').replace('->', '_')
    return store.file(f'{stem}_{bits}.tflite', [tflite_writer.__file__, __file__], [name, bits], write)


def hold(options, programs, store):
    """[{layer, our_ms, eight_ms, litert_ms, rate, ratio}]; rate: the 8-bit time / ours, ratio: LiteRT's / ours."""
    found = []
    print(f"{'layer':<28}{'16 bits ms':>11}{'8 bits ms':>11}{'rate':>7}{'LiteRT ms':>11}{'ratio':>8}  setting of LiteRT")
    for name in LAYERS:
        files = {bits: file(store, name, bits) for bits in (8, 16)}
        mine = {}
        for bits, path in files.items():
            program = store.file(f'{path.stem}.rshift', [path, programs.path('model_deploy')], PROFILE,
                                 lambda to, path=path: programs.call('model_deploy', path, '--profile', PROFILE, '-o', to))
            mine[bits] = ours.Entrant(programs, program, f'{bits} bits', 1)
        peers = [Entrant('litert', way, 'int16', {'file': str(files[16]), 'threads': 1, 'resolver': way}).load()
                 for way in WAYS]
        try:
            times = rounds.run([*mine.values(), *peers], options.rounds, options.milliseconds,
                               quiet.Patience(options.patience, 1))
        finally:
            for peer in peers:
                peer.close()
        least = {entrant: min(s.least for s in turns) for entrant, turns in times.items()}
        fastest = min(peers, key=least.get)
        row = {'layer': name, 'our_ms': least[mine[16]], 'eight_ms': least[mine[8]], 'litert_ms': least[fastest],
               'rate': least[mine[8]] / least[mine[16]], 'ratio': least[fastest] / least[mine[16]]}
        found.append(row)
        short = '' if row['rate'] >= REQUIRED_RATE else f'; below the {REQUIRED_RATE} of 8 bits that AVX512-VNNI owes'
        print(f"{name:<28}{row['our_ms']:>11.4f}{row['eight_ms']:>11.4f}{row['rate']:>7.2f}{row['litert_ms']:>11.3f}"
              f"{row['ratio']:>8.1f}  {fastest.label}{short}", flush=True)
    return found
