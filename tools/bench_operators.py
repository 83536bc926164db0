#!/usr/bin/env python3
"""Times 60 operators of common shapes beside ONNX Runtime's F32, one thread: interleaved rounds, median ratios.

ratio = our time / ONNX Runtime's: below 1 we are faster. Ours as F32 and as symmetric and asymmetric INT8, whose inputs and outputs
are integers, as inside a network; --float-ends: as the float graph has them, with the conversions.

  tools/bench_operators.py                                      all of them, F32 and INT8
  tools/bench_operators.py --only Softmax --modes f32           those whose name holds Softmax
  tools/bench_operators.py --json operators.json --limit 1.2    exit code 1 where a ratio is above 1.2
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from bench import environment

MODES = ('f32', 'symmetric', 'asymmetric')


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', default='', help='part of the names')
    parser.add_argument('--modes', default=','.join(MODES), help=f'comma separated: {", ".join(MODES)}')
    parser.add_argument('--rounds', type=int, default=7, help='default 7')
    parser.add_argument('--milliseconds', type=int, default=40, help='of each turn (default 40)')
    parser.add_argument('--float-ends', action='store_true', help='INT8: floats in and out')
    parser.add_argument('--limit', type=float, default=0, help='exit code 1 where a ratio is above it')
    parser.add_argument('--json', metavar='FILE', help='write everything measured to FILE')
    parser.add_argument('--bin', metavar='DIR', default=str(environment.ROOT / 'build/release/bin'),
                        help='our programs (default build/release/bin)')
    options = parser.parse_args(arguments)
    options.modes = [m for m in options.modes.split(',') if m]
    if unknown := [m for m in options.modes if m not in MODES]:
        parser.error(f'--modes {",".join(unknown)}: expected some of {", ".join(MODES)}')
    return options


def run(options, name, *arguments):
    return subprocess.run([f'{options.bin}/{name}', *map(str, arguments)], capture_output=True, text=True, check=False)


def call(options, name, *arguments):
    done = run(options, name, *arguments)
    if done.returncode != 0:
        raise SystemExit(f'error: {name} {" ".join(map(str, arguments))}: {done.stderr.strip().splitlines()[-1:]}')
    return done.stdout


class Ours:
    def __init__(self, options, program):
        self.options, self.program, self.iterations = options, program, 5

    def run(self, iterations):
        return json.loads(call(self.options, 'model_runner', self.program, '--benchmark', '--json', '--threads', 1,
                               '--iterations', iterations, '--warmup', 3, '--copy'))['median_ms']

    def time(self, milliseconds):
        self.iterations = max(5, int(milliseconds / max(self.run(self.iterations), 1e-4)))
        return self.run(self.iterations)


class OnnxRuntime:
    def __init__(self, file, feed):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(str(file), options, providers=['CPUExecutionProvider'])
        self.binding = self.session.io_binding()  # as model_runner: tensors stay where they are
        for name, array in feed.items():
            self.binding.bind_cpu_input(name, array)
        for output in self.session.get_outputs():
            self.binding.bind_output(output.name)

    def time(self, milliseconds):
        times, end = [], time.perf_counter() + milliseconds / 1e3
        while len(times) < 5 or time.perf_counter() < end:
            start = time.perf_counter()
            self.session.run_with_iobinding(self.binding)
            times.append(time.perf_counter() - start)
        return 1e3 * statistics.median(times)


def entrants(options, case, folder):
    import numpy as np
    import onnx

    onnx.save(case.model, folder / 'm.onnx')
    rng = np.random.default_rng(1)
    samples = {i.name: rng.standard_normal([8] + [d.dim_value for d in i.type.tensor_type.shape.dim][1:]).astype(np.float32)
               for i in case.model.graph.input}
    np.savez(folder / 'samples.npz', **samples)
    made = {'onnxruntime': OnnxRuntime(folder / 'm.onnx', {n: a[:1] for n, a in samples.items()})}
    if set(options.modes) - {'f32'}:
        call(options, 'model_calibrate', folder / 'm.onnx', '--dataset', folder / 'samples.npz', '--method', 'minmax',
             '-o', folder / 't.yaml', '--json')
    for mode in options.modes:
        how = [] if mode == 'f32' else ['--calibration', folder / 't.yaml']
        made[mode] = Ours(options, deploy(options, folder, mode, how, {node.op_type for node in case.model.graph.node}))
    return made


def deploy(options, folder, mode, how, operators):
    """With integers at both ends; at the inputs alone where the last operator is F32. A Softmax that is the result stays F32
    unless it is told."""
    program = folder / f'{mode}.rshift'
    command = ['model_deploy', folder / 'm.onnx', '--mode', mode, *how, '-o', program]
    if mode != 'f32' and not options.float_ends:
        config = folder / 'config.yaml'
        config.write_text('types:\n  Softmax: {mode: int8}\n', encoding='utf-8')
        if 'Softmax' in operators:
            command += ['--config', config]
    if mode != 'f32' and not options.float_ends:
        for ends in (['--input-type', 's8', '--output-type', 's8'], ['--input-type', 's8']):
            if run(options, *command, *ends).returncode == 0:
                return program
    call(options, *command)
    return program


def measure(options, case):
    with tempfile.TemporaryDirectory() as name:
        made = entrants(options, case, pathlib.Path(name))
        times = {label: [] for label in made}
        order = list(made)
        for r in range(options.rounds):
            for label in order[r % len(order):] + order[:r % len(order)]:
                times[label].append(made[label].time(options.milliseconds))
    peer = times['onnxruntime']
    row = {'name': case.name, 'onnxruntime_ms': min(peer)}
    for mode in options.modes:
        row[f'{mode}_ms'] = min(times[mode])
        row[f'{mode}_ratio'] = statistics.median(a / b for a, b in zip(times[mode], peer))
    return row


def main():
    options = parse(sys.argv[1:])
    environment.enter(('onnxruntime',))
    from bench import operator_shapes  # needs the packages

    print(f"CPU: {environment.cpu()['model']}; {', '.join(f'{n} {v}' for n, v in environment.versions(('onnxruntime',)).items())}")
    print(f"{'':<56}{'ort ms':>9}" + ''.join(f'{m + " ms":>15}{"ratio":>7}' for m in options.modes))
    rows = []
    for case in operator_shapes.cases():
        if options.only not in case.name:
            continue
        rows.append(measure(options, case))
        r = rows[-1]
        print(f"{r['name']:<56}{r['onnxruntime_ms']:>9.4f}"
              + ''.join(f"{r[m + '_ms']:>15.4f}{r[m + '_ratio']:>7.2f}" for m in options.modes), flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + '\n', encoding='utf-8')
    slow = [(r['name'], m, round(r[f'{m}_ratio'], 2)) for r in rows for m in options.modes
            if options.limit and r[f'{m}_ratio'] > options.limit]
    for name, mode, ratio in slow:
        print(f'slower than {options.limit}: {name} {mode} {ratio}')
    return 1 if slow else 0


if __name__ == '__main__':
    os.environ.setdefault('OMP_WAIT_POLICY', 'passive')
    sys.exit(main())
