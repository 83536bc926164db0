"""The two target files on the bundled example: the 8-bit multipliers of TPU-MLIR's theory and the precise ones."""

import json
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import oracle
import pipeline
from little_onnx import save

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
    decibels = oracle.sqnr(outputs, reference)
    report(f'example, target {target}, {mode}: top-1 {summary["top1"]:.2f} %, agreement '
           f'{agreement:.2%}, SQNR of the logits {decibels:.2f} dB')
    assert agreement >= 0.985


def shaped_model(path, rng):
    """Few output channels, groups, a depthwise multiplier, a transposed convolution: what the cpu has other forms of."""
    weights = {'few': (4, 3, 3, 3), 'grouped': (16, 2, 3, 3), 'depthwise': (32, 1, 3, 3), 'up': (32, 3, 4, 4)}
    nodes = [helper.make_node('Conv', ['x', 'few'], ['a'], 'few_node', pads=[1, 1, 1, 1]),
             helper.make_node('Conv', ['a', 'grouped'], ['b'], 'grouped_node', group=2, strides=[2, 2]),
             helper.make_node('Conv', ['b', 'depthwise'], ['c'], 'depthwise_node', group=16),
             helper.make_node('ConvTranspose', ['c', 'up'], ['y'], 'up_node', strides=[2, 2], pads=[1] * 4)]
    constants = [numpy_helper.from_array(rng.normal(0, 0.3, s).astype(np.float32), k) for k, s in weights.items()]
    save(path, nodes, {'x': (1, 3, 40, 41)}, ['y'], constants, opset=13)


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_the_shape_of_convolutions_is_the_targets_and_changes_no_byte(mode, tmp_path):
    rng = np.random.default_rng(5)
    model, data, dump = tmp_path / 'm.onnx', tmp_path / 'data.npy', tmp_path / 'graph.txt'
    shaped_model(model, rng)
    np.save(data, rng.normal(0, 1, (8, 3, 40, 41)).astype(np.float32))
    table = pipeline.calibrate(model, data, tmp_path / 't.yaml', samples=8)
    tpu = pipeline.ROOT / 'configs/targets/tpu.yaml'
    shaped = tmp_path / 'shaped.yaml'
    shaped.write_text(tpu.read_text() + 'conv: {}\n')
    outputs, commands, quantized = [], [], []
    for target in (tpu, shaped):
        program = tmp_path / f'{target.stem}.rshift'
        pipeline.deploy(model, program, mode=mode, table=table,
                        extra=['--target', target, '--dump-graph', f'quantized={dump}'])
        outputs.append(pipeline.infer(program, {'x': np.load(data)[:1]}, tmp_path)['y'])
        commands.append(pipeline.run('model_tool', 'disasm', program))
        quantized.append(dump.read_text())
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert quantized[0] == quantized[1] and 'QConvTranspose' in quantized[0]
    assert '; few_node__together' not in commands[0] and '; few_node__together' in commands[1]
    assert '; depthwise_node__repeated' not in commands[0] and '; depthwise_node__repeated' in commands[1]
    assert '; up_node__phase3' in commands[0] and '; up_node__phase3' not in commands[1]
    groups = [next(line for line in text.splitlines() if line.endswith('; grouped_node')) for text in commands]
    assert 'groups=2' in groups[0] and 'groups' not in groups[1]


def test_convolution_with_multipliers_of_eight_bits_and_u8_activations(tmp_path, report):
    """TPU-MLIR's theory: acc * M_i8 >> rshift, asymmetric activations in [0, 255]."""
    rng = np.random.default_rng(8)
    w, b = rng.normal(0, 0.3, (12, 6, 3, 3)).astype(np.float32), rng.normal(0, 0.5, 12).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node('Conv', ['x', 'w', 'b'], ['y'], 'conv', pads=[1, 1, 1, 1])], 'conv',
        [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 6, 20, 20))],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, (1, 12, 20, 20))],
        [numpy_helper.from_array(w, 'w'), numpy_helper.from_array(b, 'b')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), tmp_path / 'm.onnx')
    np.save(tmp_path / 'd.npy', rng.normal(0.5, 1, (8, 6, 20, 20)).astype(np.float32))
    table = pipeline.calibrate(tmp_path / 'm.onnx', tmp_path / 'd.npy', tmp_path / 't.yaml', samples=8)
    (tmp_path / 'eight.yaml').write_text('name: eight\nmultiplier_bits: {conv: 8}\nactivations: u8\n')
    pipeline.deploy(tmp_path / 'm.onnx', tmp_path / 'm.rshift', mode='asymmetric', table=table,
                    extra=['--target', tmp_path / 'eight.yaml'])
    text = pipeline.run('model_tool', 'disasm', tmp_path / 'm.rshift')
    found = {n: (np.float32(s), int(z)) for n, s, z in re.findall(r'([\w]+):u8\[[\dx]+\]\S*\{([^,]+),(-?\d+)\}', text)}
    (sx, zx), (sy, zy) = next(v for n, v in found.items() if n.startswith('x')), found['y']
    assert zx > 0 and zy > 0
    sw = (np.abs(w).max((1, 2, 3)).astype(np.float64) / 127).astype(np.float32)
    qw = np.rint(w / sw[:, None, None, None]).astype(np.int64)
    x = rng.normal(0.5, 1, (1, 6, 20, 20)).astype(np.float32)
    q = np.clip(np.rint(x / sx) + zx, 0, 255).astype(np.int64)
    padded = np.pad(q, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=zx) - zx
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    unit = np.float64(sx) * sw.astype(np.float64)
    acc = np.einsum('nchwij,ocij->nohw', windows, qw) + np.rint(b.astype(np.float64) / unit).astype(np.int64)[:, None, None]
    mantissa, exponent = np.frexp(unit / np.float64(sy))
    multiplier, rshift = np.floor(mantissa * 128 + 0.5).astype(np.int64), 7 - exponent.astype(np.int64)
    multiplier, rshift = multiplier[:, None, None], rshift[:, None, None]
    wanted = np.clip(((acc * multiplier + (1 << (rshift - 1))) >> rshift) + zy, 0, 255)
    actual = np.rint(pipeline.infer(tmp_path / 'm.rshift', {'x': x}, tmp_path)['y'] / sy).astype(np.int64) + zy
    report(f'conv with 8-bit multipliers, u8: {wanted.size} bytes, {int((wanted != actual).sum())} differ')
    assert (wanted == actual).all()
