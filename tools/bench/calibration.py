"""`bench_peers.py --calibration`: model_calibrate beside decoding plus ONNX Runtime, and beside its entropy calibrator.

Our side is the whole program, from its start to the last of the tables of all methods. Of the peers, imports are left out;
`time ratio` leaves out the making of their sessions, too, `with sessions` does not, as neither does our side. All sides read the same JPEG files. For T threads decoding plus ONNX Runtime is run in two ways
(calibration_peer.py) and the faster one counts. Rounds are interleaved.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from bench.environment import ROOT

# Below $RSHIFT_SHARED/models, and what configs/preprocess/<name>.yaml says of pixels.
MODELS = {
    'squeezenet_1_1': ('squeezenet_1_1/squeezenet_1_1.onnx', {'color': 'BGR', 'mean': [104, 117, 123], 'scale': 1}),
    'mobilenet_v2': ('mobilenet_v2/mobilenet_v2_float.onnx', {'color': 'RGB', 'mean': 128, 'scale': 0.0078125})}
ENTROPY_IMAGES = 100  # it keeps every tensor of every image in memory: 28 MB an image for mobilenet_v2
HEADER = (f"{'model':<16}{'':>3} {'images':>6} {'ours: img/s':>11}{'CPU s':>7}{'decode + ONNX Runtime: img/s':>30}{'CPU s':>7}"
          f"{'time ratio':>12}{'with sessions':>15}{'CPU ratio':>11}{'entropy: img/s':>16}{'slower':>8}{'statistics':>12}")


def child(command):
    """(standard output, seconds, CPU seconds) of a program."""
    begin = time.monotonic()
    with tempfile.TemporaryFile('w+') as out, tempfile.TemporaryFile('w+') as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors, env=os.environ | {'OMP_WAIT_POLICY': 'passive'})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begin
        out.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            sys.exit(f"error: {' '.join(map(str, command))[:300]}: exit code {process.returncode}: "
                     f"{errors.read().strip().splitlines()[-1:]}")
        return out.read(), seconds, usage.ru_utime + usage.ru_stime


class Contest:
    """One model at one number of threads."""

    def __init__(self, name, threads, images, shared, programs):
        file, self.recipe = MODELS[name]
        self.name, self.threads, self.images, self.programs = name, threads, images, programs
        self.model = str(shared / 'models' / file)

    def ours(self):
        with tempfile.TemporaryDirectory() as folder:
            names = pathlib.Path(folder) / 'images.txt'
            names.write_text(''.join(f'{image}\n' for image in self.images))
            out, seconds, cpu = child([
                str(self.programs.path('model_calibrate')), self.model, '--dataset', str(names), '--preprocess',
                str(ROOT / f'configs/preprocess/{self.name}.yaml'), '--samples', '0', '--method', 'all', '--threads',
                str(self.threads), '--json', '-o', f'{folder}/table.yaml'])
        spent = json.loads(out)['time']
        return {'seconds': seconds, 'cpu': cpu, 'ns': spent['statistics_seconds'] / spent['elements'] * 1e9,
                'elements': spent['elements']}

    def peer(self, kind, images=None):
        out, _, _ = child([sys.executable, str(ROOT / 'tools/bench/calibration_peer.py'), kind, self.model,
                           str(self.threads), json.dumps(self.recipe), *(images or self.images)])
        return json.loads(out.splitlines()[-1])  # ONNX Runtime's calibrator prints, too

    def hold(self, rounds):
        ways = ('run', 'pool') if self.threads > 1 else ('run',)
        found = [{'ours': self.ours(), **{way: self.peer(way) for way in ways}} for _ in range(rounds)]

        def median(side, what):
            return statistics.median(r[side][what] for r in found)

        way = min(ways, key=lambda w: median(w, 'seconds'))
        few = self.images[:ENTROPY_IMAGES]
        slow = self.peer('entropy', few)
        count = len(self.images)
        return {'model': self.name, 'threads': self.threads, 'images': count, 'our_images_s': count / median('ours', 'seconds'),
                'our_cpu': median('ours', 'cpu'), 'peer': way, 'peer_images_s': count / median(way, 'seconds'),
                'peer_cpu': median(way, 'cpu'),
                'ratio': statistics.median(r['ours']['seconds'] / r[way]['seconds'] for r in found),
                'whole_ratio': statistics.median(r['ours']['seconds'] / r[way]['whole'] for r in found),
                'cpu_ratio': statistics.median(r['ours']['cpu'] / r[way]['cpu'] for r in found),
                'entropy_images_s': len(few) / slow['seconds'], 'entropy_cpu': slow['cpu'],
                'entropy_ratio': slow['seconds'] / len(few) * count / median('ours', 'seconds'),
                'statistics_ns': min(r['ours']['ns'] for r in found), 'elements': found[0]['ours']['elements'],
                'rounds': found}


def row_text(r):
    way = {'run': f"one session, {r['threads']}T", 'pool': f"{r['threads']} sessions"}[r['peer']]
    peer = f"{r['peer_images_s']:.1f} ({way})"
    return (f"{r['model']:<16}{r['threads']:>2}T {r['images']:>6} {r['our_images_s']:>11.1f}{r['our_cpu']:>7.2f}{peer:>30}"
            f"{r['peer_cpu']:>7.2f}{r['ratio']:>12.2f}{r['whole_ratio']:>15.2f}{r['cpu_ratio']:>11.2f}{r['entropy_images_s']:>16.2f}"
            f"{r['entropy_ratio']:>7.0f}x{r['statistics_ns']:>9.2f} ns")


def hold(options, programs, shared, models):
    """All rows, printed and in options.json."""
    images = sorted(str(p) for p in (shared / 'images/imagenet_val').glob('*') if p.suffix.lower() in ('.jpg', '.jpeg'))
    if not images:
        sys.exit(f"error: {shared / 'images/imagenet_val'}: no photographs; give --shared DIR")
    rows = []
    print(HEADER, flush=True)
    for name in models:
        for threads in options.threads:
            rows.append(Contest(name, threads, images[:options.samples or None], shared, programs).hold(options.rounds))
            print(row_text(rows[-1]), flush=True)
            if options.json:
                pathlib.Path(options.json).write_text(json.dumps({'rows': rows}, indent=1) + '\n', encoding='utf-8')
    return rows
