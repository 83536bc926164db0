#!/usr/bin/env python3
"""Both networks of dtln (two LSTMs each), frame by frame with the state carried, in 8 and in 16 bits: the table of docs/int16.md.

    dtln_accuracy.py FOLDER       for models and programs; $RSHIFT_BIN and $RSHIFT_SHARED as for the suite

Calibrated on 60 frames of noise that swells, with the float network's states; SQNR of the first output over the 60 frames behind them, against
ONNX Runtime's. The states are each program's own."""

import os
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime

import oracle
import pipeline

WAYS = {'8 bits': (), 'residual 16': ('--residual-bits', 16), 'all 16': ('--activation-bits', 16),
        'all 16, biases full': ('--activation-bits', 16, '--bias-correction', 'full')}


def sound(part, width, count=120):
    """Of part 1 the magnitudes of a spectrum, of part 2 samples."""
    generator = np.random.RandomState(11)
    for i in range(count):
        frame, loud = generator.randn(1, 1, width), 0.2 + np.sin(i / 9) ** 2
        yield ((np.abs(frame) if part == 1 else 0.1 * frame) * loud).astype(np.float32)


class Network:
    def __init__(self, shared, part, folder):
        self.folder, self.path = folder, folder / f'model_{part}.onnx'
        onnx.save(onnx.load(shared / 'models/dtln' / f'model_{part}.onnx'), self.path)
        self.session = onnxruntime.InferenceSession(str(self.path))
        self.names = [output.name for output in self.session.get_outputs()]
        self.frame, self.state = (entry.name for entry in self.session.get_inputs())
        self.frames = list(sound(part, self.session.get_inputs()[0].shape[-1]))

    def stream(self, step):
        state = np.zeros((1, 2, 128, 2), np.float32)
        for frame in self.frames:
            sample = {self.frame: frame, self.state: state}
            outputs = step(sample)
            yield sample, outputs[self.names[0]]
            state = outputs[self.names[1]]

    def reference(self):
        return list(self.stream(lambda sample: dict(zip(self.names, self.session.run(None, sample)))))

    def own(self, program):
        return np.stack([output for _, output in self.stream(lambda sample: pipeline.infer(program, sample, self.folder))])


def main(folder):
    (folder / 'frames').mkdir(parents=True, exist_ok=True)
    shared = pathlib.Path(os.environ.get('RSHIFT_SHARED', pipeline.ROOT.parent / 'shared'))
    print('| network | mode |', ' | '.join(WAYS), '|')
    print('|' + '---|' * (len(WAYS) + 2))
    for part in (1, 2):
        net = Network(shared, part, folder)
        reference = net.reference()
        for i, (sample, _) in enumerate(reference[:60]):
            np.savez(folder / 'frames' / f'{i:03}.npz', **sample)
        table = pipeline.calibrate(net.path, folder / 'frames', folder / 'table.yaml', samples=0)
        wanted = np.stack([output for _, output in reference[60:]])
        for mode in pipeline.INTEGER_MODES:
            row = []
            for extra in WAYS.values():
                pipeline.run('model_deploy', net.path, '--calibration', table, '--mode', mode, '--no-check', *extra, '-o', folder / 'net.rshift')
                noise = oracle.sqnr(net.own(folder / 'net.rshift')[60:], wanted)
                size = (folder / 'net.rshift').stat().st_size
                row.append(f'{noise:.1f} dB, {size / 1e6:.2f} MB')
            print(f'| `dtln_{part}` | {mode} |', ' | '.join(row), '|', flush=True)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
