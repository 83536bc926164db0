"""A real network whose inputs are integers. Too long for the sanitized pass that test_calibration_inputs.py is part of."""

import numpy as np
import onnxruntime
import pytest

import pipeline


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_magika_is_good_as_it_is(tmp_path, shared, mode):
    """Integers as inputs. JAX writes its norms and its softmax as sums of squares, roots and powers: each is one
    integer command here; operator by operator INT8 loses them on prose."""
    model = shared / 'models/magika/magika_v3_3.onnx'
    # File begins: text of many kinds, and padding (256), as magika feeds them. Texts that never change.
    source = b''.join(p.read_bytes() for p in sorted((shared / 'seeds').glob('*.txt')))
    texts = [np.frombuffer(source[i * 997:i * 997 + 2048], np.uint8) for i in range(24)]
    samples = np.full((24, 2048), 256, np.int32)
    for row, text in zip(samples, texts):
        row[:len(text)] = text
    samples[::3, 900:] = 256
    np.save(tmp_path / 'x.npy', samples)
    shape = ('--input-shape', 'bytes:1x2048')
    table = pipeline.calibrate(model, tmp_path / 'x.npy', tmp_path / 'table.yaml', extra=shape)
    found = pipeline.run('model_deploy', model, '--calibration', table, '--mode', mode, *shape,
                         '-o', tmp_path / 'net.rshift')
    assert 'check: good' in found
    session = onnxruntime.InferenceSession(str(model))
    cosines = []
    for sample in samples:
        expected = session.run(None, {'bytes': sample[None]})[0]
        if expected.max() < 0.5:
            continue
        (scores,) = pipeline.infer(tmp_path / 'net.rshift', {'bytes': sample[None]}, tmp_path).values()
        assert np.argmax(scores) == np.argmax(expected)
        cosines.append(pipeline.cosine(scores, expected))
    assert len(cosines) >= 10 and min(cosines) > 0.98, cosines
