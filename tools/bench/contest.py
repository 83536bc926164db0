"""One model at one thread count: who takes part, with which settings, and what came out."""

import importlib

import numpy as np

from bench import ours, peer_onnxruntime, rounds
from bench.chain import Unconvertible
from bench.worker import Entrant, PeerError

SELECTION_MS = 120


def cosine(a, b):
    a, b = np.ravel(a).astype(np.float64), np.ravel(b).astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def float_output(case):
    """(one sample, what the float model gives for it)."""
    sample = np.load(case.samples)[:1]
    model = peer_onnxruntime.Model(str(case.onnx), 1)
    return sample, model.output(sample)


def _select(peer, dtype, candidates, options):
    """The fastest of [(label, options)] and its entrant; the others are closed."""
    entrants = [(option, Entrant(peer, option[0], dtype, dict(option[1]))) for option in candidates]
    by_entrant = {entrant: option for option, entrant in entrants}
    try:
        best = rounds.fastest(list(by_entrant), 2 if options.quick else 4, SELECTION_MS,
                              options.patience) if len(entrants) > 1 \
            else entrants[0][1]
    finally:
        for entrant in by_entrant:
            entrant.close()
    return by_entrant[best]


def enter_peer(peer, case, store, dtype, threads, options):
    """A peer at its default and, where that is another, at its best setting found."""
    module = importlib.import_module(f'bench.peer_{peer}')
    models = module.models(case, store, dtype, options.quick)
    settings = module.settings(dtype, threads, options.quick)
    if not models:
        return []

    def joined(model, setting):
        return f'{model[0]}, {setting[0]}', {**model[1], **setting[1]}

    default = joined(models[0], settings[0])
    best_model = _select(peer, dtype, [joined(m, settings[0]) for m in models], options)
    model = next(m for m in models if joined(m, settings[0])[0] == best_model[0])
    best = _select(peer, dtype, [joined(model, s) for s in settings], options)
    chosen = [default] if best[0] == default[0] else [default, best]
    return [Entrant(peer, label, dtype, dict(files)) for label, files in chosen]


def _rows(case, threads, entrants, times, cosines):
    """One row per peer, data type and mode of ours: against the peer's faster setting."""
    mine = [e for e in entrants if e.peer == ours.NAME]
    found = []
    for peer, dtype in dict.fromkeys((e.peer, e.dtype) for e in entrants if e.peer != ours.NAME):
        settings = [e for e in entrants if (e.peer, e.dtype) == (peer, dtype)]
        for our in (e for e in mine if e.dtype == dtype):
            measured = {e.label: rounds.ratio(times[e], times[our]) for e in settings}
            best = min(settings, key=lambda e: measured[e.label]['peer_ms'])
            found.append({'model': case.name, 'peer': peer, 'dtype': dtype, 'threads': threads, 'mode': our.label,
                          **measured[best.label], 'setting': best.label, 'cosine': cosines[best],
                          'our_cosine': cosines[our],
                          'settings': {label: m['peer_ms'] for label, m in measured.items()}})
    return found


def hold(case, store, programs, options, threads):
    """(rows, [{peer, why it is missing}])."""
    sample, expected = float_output(case)
    entrants, missing = [], []
    try:
        for dtype in options.dtypes:
            for mode in ours.MODES[dtype]:
                entrants.append(ours.Entrant(programs, ours.deploy(programs, store, case, mode), mode, threads))
            for peer in options.peers:
                try:
                    entrants += enter_peer(peer, case, store, dtype, threads, options)
                except (PeerError, Unconvertible) as error:
                    missing.append({'model': case.name, 'peer': peer, 'dtype': dtype, 'threads': threads,
                                    'why': str(error)})
        cosines = {e: cosine(e.output(sample, case.input_name), expected) for e in entrants}
        times = rounds.run(entrants, options.rounds, options.milliseconds, options.patience)
        return _rows(case, threads, entrants, times, cosines), missing
    finally:
        for entrant in entrants:
            entrant.close()
