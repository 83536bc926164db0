"""Our side: model_calibrate, model_deploy and model_runner on the same float models."""

import dataclasses
import json
import pathlib
import resource
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import helper

from bench.rounds import Slice

NAME = 'rshift'
BEFORE = 'before'  # the peer that is an earlier state of our own programs
WARMUP_MS = 30
MODES = {'int8': ('symmetric', 'asymmetric'), 'f32': ('f32',)}


class Programs:
    """The built programs of a folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for name in ('model_calibrate', 'model_deploy', 'model_runner'):
            if not (self.folder / name).exists():
                raise SystemExit(f'error: {self.folder / name} is missing: build first, or give --bin DIR')

    def path(self, name):
        return self.folder / name

    def call(self, name, *arguments):
        done = subprocess.run([str(self.folder / name), *map(str, arguments)], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise SystemExit(f'error: {name} {" ".join(map(str, arguments))}: exit code {done.returncode}: '
                             f'{done.stderr.strip().splitlines()[-1:]}')
        return done.stdout


def preprocess(programs, source, recipe, photographs, path):
    """Writes photographs as a network with the input `source` gets them: through a network that does nothing."""
    shape = [d.dim_value or 1 for d in source.type.tensor_type.shape.dim]
    nothing = helper.make_model(helper.make_graph(
        [helper.make_node('Identity', [source.name], ['same'])], 'nothing',
        [helper.make_tensor_value_info(source.name, onnx.TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info('same', onnx.TensorProto.FLOAT, shape)]),
        opset_imports=[helper.make_opsetid('', 13)])
    nothing.ir_version = 8
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        onnx.save(nothing, folder / 'nothing.onnx')
        programs.call('model_deploy', folder / 'nothing.onnx', '--mode', 'f32', '--preprocess', recipe,
                      '-o', folder / 'nothing.rshift')
        (folder / 'list.txt').write_text(''.join(f'{p}\n' for p in photographs), encoding='utf-8')
        programs.call('model_runner', folder / 'nothing.rshift', '--dataset', folder / 'list.txt',
                      '--output', folder / 'out.npz', '--json')
        with np.load(folder / 'out.npz') as outputs:
            np.save(path, outputs['same'].reshape(len(photographs), *shape[1:]))


def deploy(programs, store, case, mode):
    """The .rshift program of a float model."""
    tools = [programs.path('model_calibrate'), programs.path('model_deploy')]
    if mode == 'f32':
        return store.file(f'{case.name}_f32.rshift', [case.onnx, *tools], mode, lambda path: programs.call(
            'model_deploy', case.onnx, '--mode', 'f32', '-o', path))
    table = store.file(
        f'{case.name}.table.yaml', [case.onnx, case.samples, *tools], 'minmax', lambda path: programs.call(
            'model_calibrate', case.onnx, '--dataset', case.samples, '--method', 'minmax', '-o', path, '--json'))
    return store.file(f'{case.name}_{mode}.rshift', [case.onnx, table, *tools], mode, lambda path: programs.call(
        'model_deploy', case.onnx, '--calibration', table, '--mode', mode, '-o', path))


@dataclasses.dataclass(frozen=True)
class Profile:
    """What `model_runner --per-command` says: all of it as JSON, and as its table."""
    found: dict

    def share(self, milliseconds):
        """Of the peak of our instruction set, for an inference that takes so long; None for a float program."""
        peak = self.found['peak_gops']
        integer = any(c['peak_share'] > 0 for c in self.found['commands'])
        return 2e-6 * self.found['macs'] / milliseconds / peak if integer and peak > 0 else None

    def lines(self):
        yield f"{'ms':>10}{'share':>8}{'GOPS':>9}{'of peak':>9}{'bytes':>11}{'GB/s':>8}{'predicted':>11}"
        for c in self.found['commands']:
            yield (f"{c['median_ms']:>10.4f}{100 * c['share']:>6.1f} %{c['gops']:>9.1f}{100 * c['peak_share']:>7.1f} %"
                   f"{c['bytes']:>11}{c['gb_per_s']:>8.1f}{c['predicted_ms']:>11.4f}  {c['command']} {c['node']}")


class Entrant:
    """One program at one thread count; each timing is a fresh process of model_runner."""

    def __init__(self, programs, program, mode, threads, peer=NAME):
        self.programs, self.program, self.threads = programs, program, threads
        self.peer, self.label, self.dtype = peer, mode, 'f32' if mode == 'f32' else 'int8'
        self.expected_ms = None

    def _run(self, iterations, warmup, *options):
        return json.loads(self.programs.call(
            'model_runner', self.program, '--benchmark', '--json', '--threads', self.threads,
            '--iterations', iterations, '--warmup', warmup, '--copy', *options))

    def time(self, milliseconds):
        """A Slice of about that long."""
        if self.expected_ms is None:
            self.expected_ms = max(self._run(3, 1)['median_ms'], 1e-4)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        measured = self._run(max(5, int(milliseconds / self.expected_ms)),
                             max(2, int(WARMUP_MS / self.expected_ms)))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Slice(measured['median_ms'], measured['min_ms'], cpu)

    def profile(self):
        return Profile(self._run(20, 5, '--per-command'))

    def output(self, sample):
        with tempfile.TemporaryDirectory() as folder:
            np.save(f'{folder}/x.npy', sample)
            self.programs.call('model_runner', self.program, '--input', f'{folder}/x.npy',
                               '--output', f'{folder}/y.npz', '--threads', self.threads, '--json')
            with np.load(f'{folder}/y.npz') as outputs:
                return outputs[outputs.files[0]]

    def close(self):
        pass
