#!/usr/bin/env python3
"""What PyTorch exports, through model_deploy and model_runner: every module of torch.nn that has an ONNX form.

    exporter_coverage.py [--seed 1] [--settings 3] [--only REGEX] [--exporter NAME] [--folder KEEP] [--verbose]

exporter_modules.py exports them under the Python that has torch (RSHIFT_TORCH_PYTHON, default /usr/bin/python3: Debian's
python3-torch); ONNX Runtime judges them here. Exporters: onnx; dynamo (torch.onnx.export of torch 2.9 on, with onnxscript);
litert-torch, of that package on PyPI: .tflite files, which LiteRT judges. Each case has three verdicts:

* f32: every element within 1e-4 of the largest of the judge's; integers equal;
* symmetric, asymmetric (profile tpu, calibrated with minmax on 24 samples, this one among them): ERROR_BOUND against the judge's floats.

A verdict is `agreed`, `wrong`, or `refused` with the tools' message. Wrong results and crashes give exit code 1.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

import pipeline

MODULES = pathlib.Path(__file__).parent / 'exporter_modules.py'
MODES = ('f32', 'symmetric', 'asymmetric')
FLOAT_BOUND = 1e-4
# |ours - float| / |float| in the Euclidean norm over an output. A tensor of normal numbers that reaches four of its standard
# deviations in 127 steps has quanta of 1/32 of one: their noise, uniform, is 0.9 % of it. Input, weight and output have it once
# each, which is 1.6 %; three such operators in a row (a transformer's layer, a recurrent step) have 3 %. Twice that is a fault.
ERROR_BOUND = 0.06


@dataclasses.dataclass(frozen=True)
class Verdict:
    word: str  # agreed, wrong, refused; no form: torch itself does not export it
    text: str = ''


def torch_python():
    """The Python that has torch, or None."""
    program = os.environ.get('RSHIFT_TORCH_PYTHON', '/usr/bin/python3')
    try:
        done = subprocess.run([program, '-c', 'import torch.onnx'], capture_output=True, timeout=120, check=False)
    except OSError:
        return None
    return program if done.returncode == 0 else None


def export(folder, *arguments):
    """The cases that torch exported to the folder, as dictionaries; and torch's version."""
    done = subprocess.run([torch_python(), str(MODULES), str(folder), *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    listing = json.loads((folder / 'cases.json').read_text())
    return listing['cases'], listing['torch']


def litert_expects(path, sample):
    from ai_edge_litert import interpreter  # pylint: disable=import-outside-toplevel
    made = interpreter.Interpreter(str(path), num_threads=1)
    made.allocate_tensors()
    for detail in made.get_input_details():
        made.set_tensor(detail['index'], sample[detail['name']])
    made.invoke()
    return {d['name']: np.array(made.get_tensor(d['index'])) for d in made.get_output_details()}


def onnx_runtime_expects(path, sample):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options)
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, sample)))


def relative_error(ours, floats):
    size = np.linalg.norm(floats)
    return float(np.linalg.norm(ours - floats) / size) if size else float(np.abs(ours).max(initial=0))


def judge(ours, expected, mode, bound):
    for name, theirs in expected.items():
        mine = ours[name]
        if mine.shape != theirs.shape:
            return Verdict('wrong', f'{name}: shape {mine.shape}, expected {theirs.shape}')
        if theirs.dtype.kind != 'f':
            # Places of largest elements: those of the quantized ones are others.
            if mode == 'f32' and not np.array_equal(mine, theirs):
                return Verdict('wrong', f'{name}: {np.count_nonzero(mine != theirs)} integers differ')
            continue
        if not np.array_equal(np.isfinite(mine), np.isfinite(theirs)):
            return Verdict('wrong', f'{name}: infinities or NaN elsewhere')
        mine, theirs = (np.nan_to_num(a.astype(np.float64), posinf=0, neginf=0) for a in (mine, theirs))
        if mode == 'f32':
            worst = np.abs(mine - theirs).max(initial=0)
            if worst > FLOAT_BOUND * np.abs(theirs).max(initial=0):
                return Verdict('wrong', f'{name}: differs by up to {worst:.3g}')
        elif relative_error(mine, theirs) > bound:
            return Verdict('wrong', f'{name}: relative error {relative_error(mine, theirs):.3f}')
    return Verdict('agreed')


def refusal(done):
    """A tool that failed: refused if in one line, else wrong."""
    errors = [line for line in done.stderr.splitlines() if line.startswith('error: ')]
    if done.returncode == 1 and len(errors) == 1:
        return Verdict('refused', ' '.join(done.stderr[done.stderr.index('error: ') + 7:].split())[:300])
    return Verdict('wrong', f'exit code {done.returncode}: {done.stderr[-300:]}')


def model_of(folder):
    return next(folder / name for name in ('model.onnx', 'model.tflite') if (folder / name).exists())


def expected_of(model, sample):
    """What the judge makes of the sample; of what it cannot run, torch's own result."""
    with np.load(model.parent / 'torch.npz') as arrays:
        results = [arrays[str(i)] for i in range(len(arrays.files))]
    if model.suffix == '.tflite':
        try:
            return litert_expects(model, sample)
        except (ValueError, RuntimeError):  # STABLEHLO_CONVOLUTION and others have no kernel there
            return {f'serving_default_output_{i}_output': result for i, result in enumerate(results)}
    try:
        return onnx_runtime_expects(model, sample)
    except onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument:
        # ConvTranspose with more output_padding than stride.
        return dict(zip([output.name for output in onnx.load(model).graph.output], results))


def run_mode(folder, expected, mode, bound):
    model, table, program = model_of(folder), folder / 'table.yaml', folder / f'{mode}.rshift'
    calibration = []
    if mode != 'f32':
        if not table.exists():
            done = pipeline.call('model_calibrate', model, '--dataset', folder / 'data', '--method', 'minmax', '--samples', 0,
                                 '--threads', 1, '-o', table)
            if done.returncode:
                return refusal(done)
        calibration = ['--calibration', table, '--no-check']
    done = pipeline.call('model_deploy', model, '--mode', mode, *calibration, '-o', program)
    if done.returncode:
        return refusal(done)
    out = folder / f'{mode}.npz'
    done = pipeline.call('model_runner', program, '--input', sorted((folder / 'data').iterdir())[-1], '--output', out, '--threads', 1)
    return refusal(done) if done.returncode else judge(pipeline.arrays_of(out), expected, mode, bound)


def run_case(case, root, bounds):
    """{mode: Verdict}"""
    if 'no_form' in case:
        return {mode: Verdict('no form', case['no_form']) for mode in MODES}
    folder = root / case['name']
    with np.load(sorted((folder / 'data').iterdir())[-1]) as arrays:
        sample = dict(arrays)
    expected = expected_of(model_of(folder), sample)
    bound = next((b for pattern, (b, _) in bounds.items() if re.fullmatch(pattern, case['module'])), ERROR_BOUND)
    return {mode: run_mode(folder, expected, mode, bound) for mode in MODES}


# Modules that make small errors of their input large, with the bound that is theirs and why.
BOUNDS = {
    'CosineSimilarity': (0.15, 'products of opposite signs cancel: the result is a tenth of its parts'),
    'GaussianNLLLoss': (0.15, 'divides by variances from 0.1 on, which quanta of 2 / 255 change by up to 4 %'),
    'Triplet.*': (0.15, 'the difference of two distances is a fraction of them'),
    'MultiheadAttention': (0.15, 'exponentials of scores: an error of the score is a factor of the weight'),
}


def run(root, *arguments):
    """(cases, [{mode: Verdict}], torch's version)"""
    cases, version = export(root, *arguments)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda case: run_case(case, root, BOUNDS), cases))
    return cases, verdicts, version


def summary(cases, verdicts):
    """Lines with the count by verdict, and for each message of a refusal the cases."""
    lines = []
    for mode in MODES:
        words = collections.Counter(v[mode].word for v in verdicts)
        lines.append(f'{mode:10} ' + ', '.join(f'{n} {word}' for word, n in sorted(words.items())))
    groups = collections.defaultdict(list)
    for case, verdict in zip(cases, verdicts):
        for mode in MODES:
            if verdict[mode].word != 'agreed':
                text = re.sub(r'^\S*model.(onnx|tflite): ', '', verdict[mode].text)
                groups[verdict[mode].word, re.sub(r"'[^']*'", "'...'", text)].append(f"{case['name']} {mode}")
    for (word, text), names in sorted(groups.items()):
        if word != 'wrong':
            lines.append(f'{word} ({len(names)}): {text}: {", ".join(sorted({n.split()[0] for n in names}))}')
    return lines


def faults(cases, verdicts):
    return [f"{case['name']} {mode} (opset {case['opset']}, {case['setting']}): {verdict[mode].text}"
            for case, verdict in zip(cases, verdicts) for mode in MODES if verdict[mode].word == 'wrong']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seed', default='1')
    parser.add_argument('--settings', type=int, default=3, help='of each module')
    parser.add_argument('--only', default='', help='modules or cases whose name matches')
    parser.add_argument('--exporter', default='onnx', help='onnx (default), dynamo or litert-torch')
    parser.add_argument('--folder', help='keep the models there')
    parser.add_argument('--verbose', action='store_true')
    options = parser.parse_args()
    if torch_python() is None:
        sys.exit('error: no Python with torch; install python3-torch or set RSHIFT_TORCH_PYTHON')
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(options.folder or folder)
        root.mkdir(parents=True, exist_ok=True)
        cases, verdicts, version = run(root, '--seed', options.seed, '--settings', options.settings, '--only', options.only,
                                      '--exporter', options.exporter)
    if options.verbose:
        for case, verdict in zip(cases, verdicts):
            print(case['name'], ' '.join(f'{mode}: {verdict[mode].word}' for mode in MODES), case['setting'])
    wrong = faults(cases, verdicts)
    print('\n'.join([*(f'wrong {line}' for line in wrong), *summary(cases, verdicts),
                     f'torch {version}, {len(cases)} cases of {len({c["module"] for c in cases})} modules, seed {options.seed}']))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
