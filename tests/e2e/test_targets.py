"""The two target files on the bundled example: the seed's 8-bit multipliers and the precise ones."""

import json

import numpy as np
import pytest

import pipeline

PREPROCESS = pipeline.PREPROCESS / 'fashion_mnist.yaml'


@pytest.fixture(scope='module')
def example(tmp_path_factory):
    """(folder with the calibration table, outputs of the float program [10000, 10])"""
    folder = tmp_path_factory.mktemp('targets')
    pipeline.calibrate(pipeline.EXAMPLE, pipeline.TRAIN_IMAGES, folder / 'table.yaml',
                       preprocess=PREPROCESS, samples=500)
    pipeline.deploy(pipeline.EXAMPLE, folder / 'f32.rshift', mode='f32', preprocess=PREPROCESS)
    pipeline.evaluate(folder / 'f32.rshift', pipeline.TEST_IMAGES, pipeline.TEST_LABELS,
                      output=folder / 'f32.npz')
    return folder, pipeline.single(folder / 'f32.npz')


def add_bits(proofs):
    """Bits, sign included, of the widest multiplier among the additions."""
    return max(max(p['multiplier']) for p in proofs if p['op'] == 'QAdd').bit_length() + 1


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
@pytest.mark.parametrize('target, bits', (('tpu', 8), ('cpu', 16)))
def test_target(mode, target, bits, example, report):
    folder, reference = example
    program = folder / f'{mode}_{target}.rshift'
    proofs = program.with_suffix('.json')
    pipeline.deploy(pipeline.EXAMPLE, program, mode=mode, table=folder / 'table.yaml',
                    extra=['--target', pipeline.ROOT / f'configs/targets/{target}.yaml',
                           '--report-json', proofs])
    if mode == 'symmetric':  # asymmetric additions are made in float: they have no multiplier
        assert add_bits(json.loads(proofs.read_text())['proofs']) <= bits
    summary = pipeline.evaluate(program, pipeline.TEST_IMAGES, pipeline.TEST_LABELS,
                                output=folder / 'out.npz')
    outputs = pipeline.single(folder / 'out.npz')
    agreement = np.mean(outputs.argmax(1) == reference.argmax(1))
    noise = np.sum((outputs - reference) ** 2)
    decibels = 10 * np.log10(np.sum(reference ** 2) / noise)
    report(f'example, target {target}, {mode}: top-1 {summary["top1"]:.2f} %, agreement '
           f'{agreement:.2%}, SQNR of the logits {decibels:.2f} dB')
    assert agreement >= 0.985
