"""One model at one thread count: who takes part, with which settings, and what came out."""

import importlib

import numpy as np

from bench import ours, peer_onnxruntime, quiet, rounds
from bench.chain import Unconvertible
from bench.worker import Entrant, PeerError

SELECTION_MS = 120


def cosine(a, b):
    a, b = np.ravel(a).astype(np.float64), np.ravel(b).astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


class Contest:
    """options: rounds, milliseconds, patience, quick, dtypes, peers of the command line."""

    def __init__(self, case, store, programs, options, threads):
        self.case, self.store, self.programs, self.options = case, store, programs, options
        self.threads = threads
        # Most of the patience is for the rounds that count.
        self.selecting, self.patience = (quiet.Patience(options.patience * part, threads) for part in (0.3, 0.7))
        self.entrants, self.missing = [], []

    def _fastest(self, peer, dtype, candidates):
        """Of [(label, options)] those that the peer takes; each has a worker of its own while it is tried."""
        tried = {Entrant(peer, label, dtype, dict(given)): (label, given) for label, given in candidates}
        try:
            loaded, refusal = [], None
            for entrant in tried:
                try:
                    loaded.append(entrant.load())
                except PeerError as error:
                    refusal = error
            if not loaded:
                raise refusal
            if len(loaded) == 1:
                return tried[loaded[0]]
            return tried[rounds.fastest(loaded, 2 if self.options.quick else 4, SELECTION_MS, self.selecting)]
        finally:
            for entrant in tried:
                entrant.close()

    def _enter_peer(self, peer, dtype):
        """At its default and, where that is another, at its best setting found: first the model, then the rest."""
        module = importlib.import_module(f'bench.peer_{peer}')
        models = module.models(self.case, self.store, dtype, self.options.quick)
        settings = module.settings(dtype, self.threads, self.options.quick)

        def joined(model, setting):
            return f'{model[0]}, {setting[0]}', {**model[1], **setting[1]}

        with_default = {joined(model, settings[0])[0]: model for model in models}
        label, _ = self._fastest(peer, dtype, [joined(model, settings[0]) for model in models])
        best = self._fastest(peer, dtype, [joined(with_default[label], setting) for setting in settings])
        for label, given in dict([joined(models[0], settings[0]), best]).items():
            self.entrants.append(Entrant(peer, label, dtype, dict(given)))
            try:
                self.entrants[-1].load()
            except PeerError:  # the default may be what it does not take; the best was tried
                self.entrants.pop().close()

    def _enter(self):
        for dtype in self.options.dtypes:
            for mode in ours.MODES[dtype]:
                program = ours.deploy(self.programs, self.store, self.case, mode)
                self.entrants.append(ours.Entrant(self.programs, program, mode, self.threads))
                if self.options.before:
                    earlier = ours.Programs(self.options.before)
                    program = ours.deploy(earlier, self.store, self.case, mode)
                    self.entrants.append(ours.Entrant(earlier, program, mode, self.threads, ours.BEFORE))
            for peer in self.options.peers:
                try:
                    self._enter_peer(peer, dtype)
                except (PeerError, Unconvertible) as error:
                    self._miss(peer, dtype, str(error))

    def _miss(self, peer, dtype, why):
        self.missing.append({'model': self.case.name, 'peer': peer, 'dtype': dtype, 'threads': self.threads,
                             'why': why})

    def _cosines(self):
        """{entrant: cosine of its output with the float one, on one sample}; who gives something else leaves."""
        sample = np.load(self.case.samples)[:1]
        expected = peer_onnxruntime.Model(str(self.case.onnx), 1).output(sample)
        outputs = {e: e.output(sample) for e in self.entrants}
        for entrant in [e for e in self.entrants if outputs[e].size != expected.size]:
            self._miss(entrant.peer, entrant.dtype,
                       f'{entrant.label}: gives {outputs[entrant].size} values, the float model {expected.size}')
            self.entrants.remove(entrant)
            entrant.close()
        return {e: cosine(outputs[e], expected) for e in self.entrants}

    def _rows(self, times, cosines, profiles):
        """One row per peer, data type and mode of ours: against the peer's faster setting.

        Our earlier programs are compared mode by mode.
        """
        mine = [e for e in self.entrants if e.peer == ours.NAME]
        found = []
        for peer, dtype in dict.fromkeys((e.peer, e.dtype) for e in self.entrants if e.peer != ours.NAME):
            settings = [e for e in self.entrants if (e.peer, e.dtype) == (peer, dtype)]
            for our in (e for e in mine if e.dtype == dtype):
                comparable = [e for e in settings if peer != ours.BEFORE or e.label == our.label]
                measured = {e.label: rounds.ratio(times[e], times[our]) for e in comparable}
                best = min(comparable, key=lambda e: measured[e.label]['peer_ms'])
                row = measured[best.label]
                found.append({
                    'model': self.case.name, 'peer': peer, 'dtype': dtype, 'threads': self.threads, 'mode': our.label,
                    **row, 'setting': best.label, 'cosine': cosines[best], 'our_cosine': cosines[our],
                    'our_peak_share': profiles[our.label].share(row['our_ms']),
                    'settings': {label: m['peer_ms'] for label, m in measured.items()}})
        return found

    def hold(self):
        """(rows, [{peer, why it is missing}], {mode: our per-command profile as model_runner gives it})."""
        try:
            self._enter()
            cosines = self._cosines()
            times = rounds.run(self.entrants, self.options.rounds, self.options.milliseconds, self.patience)
            profiles = {e.label: e.profile() for e in self.entrants if e.peer == ours.NAME}
            return self._rows(times, cosines, profiles), self.missing, profiles
        finally:
            for entrant in self.entrants:
                entrant.close()
