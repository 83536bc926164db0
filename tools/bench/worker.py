"""A process that holds one peer's model and waits, without spinning, to be timed.

    python -m bench.worker PEER OPTIONS        (OPTIONS: JSON of the peer's model and settings)

Reads one JSON request per line: {"time": ms} -> {"median": ms, "least": ms, "cpu": s};
{"run": in.npy, "output": out.npy} -> {}; {} -> {} when the model is loaded.
"""

import contextlib
import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from bench.rounds import Slice

WARMUP_MS = 30


def measure(step, milliseconds):
    """Times of single inferences in ms, for about that long and at least five."""
    clock = time.perf_counter_ns
    end = clock() + int(milliseconds * 1e6)
    times = []
    while len(times) < 5 or clock() < end:
        start = clock()
        step()
        times.append((clock() - start) * 1e-6)
    return times


def serve(model, requests, answers):
    for line in requests:
        request, answer = json.loads(line), {}
        if 'time' in request:
            cpu = time.process_time()
            measure(model.step, WARMUP_MS)
            times = measure(model.step, request['time'])
            answer = {'median': statistics.median(times), 'least': min(times), 'cpu': time.process_time() - cpu}
        elif 'run' in request:
            np.save(request['output'], model.output(np.load(request['run'])))
        answers.write(json.dumps(answer) + '\n')
        answers.flush()


class PeerError(Exception):
    """A peer cannot take a model or ended; one line."""


class Entrant:
    """The same from outside: starts the process and talks to it."""

    def __init__(self, peer, label, dtype, options):
        self.peer, self.label, self.dtype = peer, label, dtype
        environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).resolve().parents[1]))
        environment.update(options.pop('environment', {}))
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [sys.executable, '-m', 'bench.worker', peer, json.dumps(options)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def load(self):
        """Waits until the model is loaded; raises PeerError when the peer does not take it."""
        self._ask({})
        return self

    def _ask(self, request):
        try:
            self.process.stdin.write(json.dumps(request) + '\n')
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ''
        if not line:
            text = self.process.stderr.read().strip().splitlines()
            raise PeerError(f'{self.peer} ({self.label}): {" ".join(text[-2:]) if text else "no message"}')
        return json.loads(line)

    def time(self, milliseconds):
        return Slice(**self._ask({'time': milliseconds}))

    def output(self, sample):
        with tempfile.TemporaryDirectory() as folder:
            np.save(f'{folder}/x.npy', sample)
            self._ask({'run': f'{folder}/x.npy', 'output': f'{folder}/y.npy'})
            return np.load(f'{folder}/y.npy')

    def close(self):
        with contextlib.suppress(BrokenPipeError):  # it has ended already
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


def main():
    # The protocol keeps the real stdout; whatever a framework prints goes to stderr.
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    module = importlib.import_module(f'bench.peer_{sys.argv[1]}')
    serve(module.Model(**json.loads(sys.argv[2])), sys.stdin, answers)


if __name__ == '__main__':
    main()
