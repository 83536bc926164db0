"""Every real model through calibrate, deploy and run, against ONNX Runtime on real images."""

import numpy as np
import pytest

import models
import oracle
import pipeline

SAMPLES = 3
F32_TOLERANCE = 1e-4

INTEGER = [pytest.param(case, mode, id=f'{case.name}-{mode}')
           for case in models.CASES for mode in case.modes if mode != 'f32']


@pytest.mark.parametrize('case', models.CASES, ids=lambda case: case.name)
def test_f32_program_agrees_with_onnx_runtime(case, shared, deployments, tmp_path, report):
    program = deployments(case)['f32']
    session = oracle.Session(case.model(shared))
    worst = 0.0
    for x in oracle.samples(case, shared, SAMPLES):
        expected = session(x)
        actual = pipeline.infer(program, {session.input: x}, tmp_path)
        assert actual.keys() == expected.keys()
        worst = max(worst, *(oracle.relative_error(actual[k], expected[k]) for k in expected))
    report(f'{case.name}: f32 against ONNX Runtime, max |a-b| / max |b| = {worst:.2e}')
    assert worst <= F32_TOLERANCE


@pytest.mark.parametrize('case, mode', INTEGER)
def test_integer_program_follows_the_float_program(case, mode, shared, deployments, tmp_path,
                                                   report):
    programs = deployments(case)
    name = oracle.Session(case.model(shared)).input
    # Probabilities exaggerate small differences of an undecided image: what the last Softmax reads is compared instead.
    logits = pipeline.undecided(programs['f32'])
    dumps = {'f32': tmp_path / 'f32.npz', mode: tmp_path / 'integer.npz'}
    worst = 1.0
    for x in oracle.samples(case, shared, SAMPLES):
        expected = pipeline.infer(programs['f32'], {name: x}, tmp_path, '--dump-tensors', dumps['f32'])
        actual = pipeline.infer(programs[mode], {name: x}, tmp_path, '--dump-tensors', dumps[mode])
        assert actual.keys() == expected.keys()
        assert all(np.isfinite(actual[k]).all() for k in actual)
        with np.load(dumps['f32']) as floats, np.load(dumps[mode]) as integers:
            for output in expected:
                tensor = logits.get(output)
                a, b = (integers[tensor], floats[tensor]) if tensor else (actual[output], expected[output])
                worst = min(worst, pipeline.cosine(a, b))
    left = pipeline.f32_commands(programs[mode]) or 'none'
    report(f'{case.name}: {mode}, least cosine {worst:.5f}, F32 commands: {left}')
    assert worst >= case.cosine


def test_raw_and_folded_exports_give_the_same_numbers(shared, tmp_path):
    """The same net with and without its shape arithmetic must compile to the same program."""
    x = oracle.fashion_images(count=1)
    for name in ('resnet_prelu', 'mobilenet_leaky', 'mobilenet_hostile', 'vit_tiny'):
        outputs = []
        for folder in ('fashion', 'fashion/clean'):
            program = tmp_path / 'p.rshift'
            pipeline.deploy(shared / 'models' / folder / f'{name}.onnx', program, mode='f32')
            outputs.append(pipeline.infer(program, {'input': x}, tmp_path)['output'])
        assert outputs[0].tobytes() == outputs[1].tobytes(), name
