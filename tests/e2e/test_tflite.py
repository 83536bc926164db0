"""TensorFlow Lite files read directly, against LiteRT: every operator alone, the real models, the schema, bad files."""

import pathlib
import re

import numpy as np
import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

import pipeline  # noqa: E402
from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from frameworks import litert, tflite_cases, tflite_net, tflite_streaming  # noqa: E402
from frameworks.ours import outputs_of as ours_of  # noqa: E402

CASES = {case.name: case for case in tflite_cases.cases()}
# LiteRT's reference gives -128 for every int8 sum; what is not computed in integers equals its other kernels.
SKIPPED = {(f'sum_{form}', 'tflite-ref') for form in ('space', 'flat', 'last')}
MODELS = {'ad01_int8': 'autoencoder_ad01', 'kws_ref_model': 'dscnn_keywords', 'vww_96_int8': 'vww96',
          'mobilenet_v1_0.25_128_quant': 'mobilenet_v1_025', 'mobilenet_v2_uint8': 'mobilenet_v2',
          'pretrainedResnet_quant': 'resnet8_cifar10',
          'deeplabv3_mnv2_dm05_pascal_quant': 'deeplabv3_dm05'}


@pytest.mark.parametrize('name', CASES)
def test_float_operator(name, tmp_path):
    """F32 equals LiteRT within float error."""
    content, samples = tflite_cases.build(CASES[name], int8=False)
    theirs = litert.outputs_of(content, 'tflite-xnnpack', samples)
    ours = ours_of(content, samples, tmp_path, '--mode', 'f32')
    for key, goal in theirs.items():
        assert ours[key].shape == goal.shape and ours[key].dtype == goal.dtype, key
        near = CASES[name].near
        np.testing.assert_allclose(ours[key].astype(np.float64), goal.astype(np.float64), rtol=1e-5, atol=near)


@pytest.mark.parametrize('name', [name for name, case in CASES.items() if case.int8])
def test_int8_operator(name, tmp_path):
    """The bytes of LiteRT in each of its three ways."""
    content, samples = tflite_cases.build(CASES[name], int8=True)
    for profile in litert.WAYS:
        if (name, profile) in SKIPPED:
            continue
        try:
            theirs = litert.outputs_of(content, profile, samples)
        except ValueError as error:
            assert "Didn't find op" in str(error), error  # LiteRT has no int8 form of it
            pytest.skip(str(error).split('.', maxsplit=1)[0])
        try:
            ours = ours_of(content, samples, tmp_path, '--profile', profile)
        except AssertionError as error:  # movement alone: nothing that a profile could compute
            assert 'needs --calibration' in str(error), error
            ours = ours_of(content, samples, tmp_path, '--mode', 'f32')
        for key, goal in theirs.items():
            assert ours[key].shape == goal.shape and ours[key].dtype == goal.dtype, key
            assert (ours[key] == goal).all(), (profile, int((ours[key] != goal).sum()))


# One way is enough for the large image of deeplabv3: LiteRT's reference kernels take half a minute.
PAIRS = [(name, way) for name in MODELS for way in litert.WAYS if 'deeplab' not in name or way == 'tflite-xnnpack']


@pytest.mark.parametrize('name,profile', PAIRS)
def test_model_gives_the_bytes_of_litert_at_every_layer(shared, name, profile, tmp_path, report):
    path = shared / 'models' / MODELS[name] / f'{name}.tflite'
    theirs = litert.Model(path.read_bytes(), profile)
    pipeline.run('model_deploy', path, '--profile', profile, '-o', tmp_path / 'net.rshift')
    detail = theirs.made.get_input_details()[0]
    random = np.random.default_rng(11)
    limits = np.iinfo(detail['dtype'])
    elements = wrong = tensors = 0
    for _ in range(1 if 'deeplab' in name else 3):
        middle = (limits.max + limits.min + 1) // 2
        x = np.clip(random.normal(middle, 40, detail['shape']), limits.min, limits.max).astype(detail['dtype'])
        for made in (theirs.made, theirs.plain):
            made.set_tensor(made.get_input_details()[0]['index'], x)
            made.invoke()
        output = pipeline.infer(tmp_path / 'net.rshift', {detail['name']: x}, tmp_path, '--raw',
                                '--dump-tensors', tmp_path / 'all.npz')
        with np.load(tmp_path / 'all.npz') as dumped:
            for tensor in theirs.made.get_tensor_details():
                if tensor['name'] not in dumped or tensor['dtype'] != dumped[tensor['name']].dtype.type:
                    continue
                ours, goal = dumped[tensor['name']], theirs.made.get_tensor(tensor['index'])
                assert ours.shape == goal.shape, tensor['name']
                tensors += 1
                elements += goal.size
                wrong += int((ours != goal).sum())
        last = theirs.plain.get_output_details()[0]
        goal = theirs.plain.get_tensor(last['index'])
        assert output[last['name']].dtype == goal.dtype
        assert (output[last['name']] == goal).all()
    report(f'{profile:15} {name:34} {tensors:4} tensors, {elements:>11,} bytes, {wrong} differ')
    assert tensors > 5
    assert wrong == 0


def test_float16_weights_and_weights_quantized_alone_are_read(tmp_path):
    """f16 and int8 weights of float networks: the numbers that DEQUANTIZE gives."""
    random = np.random.default_rng(3)
    net = tflite_net.Net()
    x = net.tensor('x', (2, 16), np.float32)
    half = random.normal(size=(8, 16)).astype(np.float16)
    w16 = net.constant('w16', half)
    w32 = net.tensor('w32', (8, 16), np.float32)
    net.operator('DEQUANTIZE', [w16], [w32])
    mid = net.tensor('mid', (2, 8), np.float32)
    net.operator('FULLY_CONNECTED', [x, w32, -1], [mid], 'FullyConnectedOptions')
    scales = random.uniform(0.01, 0.02, 5).astype(np.float32)
    bytes_ = random.integers(-127, 128, (5, 8)).astype(np.int8)
    w8 = net.constant('w8', bytes_, (scales, 0))
    y = net.tensor('y', (2, 5), np.float32)
    net.operator('FULLY_CONNECTED', [mid, w8, -1], [y], 'FullyConnectedOptions')
    sample = random.normal(size=(2, 16)).astype(np.float32)
    ours = ours_of(net.bytes([x], [y]), {'x': sample}, tmp_path, '--mode', 'f32')['y']
    goal = sample @ half.astype(np.float32).T @ (bytes_ * scales[:, None]).T
    np.testing.assert_allclose(ours, goal, rtol=1e-5, atol=1e-5)


def test_a_float_model_is_calibrated_and_deployed(tmp_path):
    """model_calibrate and model_deploy take a .tflite file as they take ONNX."""
    case = CASES['conv_same11none']
    content, _ = tflite_cases.build(case, int8=False)
    (tmp_path / 'net.tflite').write_bytes(content)
    samples = np.random.default_rng(1).uniform(-3, 3, (20, *case.inputs[0][1:])).astype(np.float32)
    np.save(tmp_path / 'x.npy', samples)
    pipeline.run('model_calibrate', tmp_path / 'net.tflite', '--dataset', tmp_path / 'x.npy', '-o',
                 tmp_path / 't.yaml')
    text = pipeline.run('model_deploy', tmp_path / 'net.tflite', '--calibration', tmp_path / 't.yaml',
                        '-o', tmp_path / 'net.rshift')
    assert 'F32 nodes: none' in text
    assert 'CONV' in pipeline.run('model_tool', 'support', tmp_path / 'net.tflite').upper()


def test_batch_dimensions_that_the_file_leaves_open_can_be_bound(tmp_path):
    net = tflite_net.Net()
    x, y = net.tensor('x', (1, 16), np.float32), net.tensor('y', (1, 4), np.float32)
    net.tensors[x].shapeSignature = [-1, 16]
    net.operator('FULLY_CONNECTED', [x, net.constant('w', np.eye(4, 16, dtype=np.float32)), -1], [y],
                 'FullyConnectedOptions')
    sample = np.arange(48, dtype=np.float32).reshape(3, 16)
    ours = ours_of(net.bytes([x], [y]), {'x': sample}, tmp_path, '--mode', 'f32', '--input-shape', 'x:3x16')
    np.testing.assert_array_equal(ours['y'], sample[:, :4])


def test_bad_files_are_refused_in_one_line(tmp_path):
    content, _ = tflite_cases.build(CASES['add'], int8=True)
    (tmp_path / 'net.tflite').write_bytes(content[:len(content) // 2])
    error = pipeline.fails('model_deploy', tmp_path / 'net.tflite', '-o', tmp_path / 'net.rshift')
    assert 'the FlatBuffers structure is broken' in error
    assert not (tmp_path / 'net.rshift').exists()


@pytest.mark.parametrize('padding', (1, 2), ids=('same', 'valid'))
def test_the_transposed_convolution_of_mediapipe(padding, tmp_path):
    """A custom operator of its segmentation nets, which XNNPACK computes."""
    for seed in range(4):
        random, net = np.random.default_rng(seed), tflite_net.Net()
        ic, oc, kh, kw, sh, sw = (int(v) for v in random.integers(1, (9, 9, 5, 5, 4, 4)))
        kh, kw, h, w = max(kh, sh), max(kw, sw), 5, 7
        size = (h * sh, w * sw) if padding == 1 else ((h - 1) * sh + kh, (w - 1) * sw + kw)
        x, y = net.tensor('x', (1, h, w, ic), np.float32), net.tensor('y', (1, *size, oc), np.float32)
        weights = net.constant('w', random.normal(size=(oc, kh, kw, ic)).astype(np.float32))
        bias = net.constant('b', random.normal(size=oc).astype(np.float32))
        net.custom('Convolution2DTransposeBias', [x, weights, bias], [y], np.array([padding, sw, sh], np.int32).tobytes())
        content, samples = net.bytes([x], [y]), {'x': random.normal(size=(1, h, w, ic)).astype(np.float32)}
        goal = litert.outputs_of(content, 'tflite-xnnpack', samples)['y']
        ours = ours_of(content, samples, tmp_path, '--mode', 'f32')['y']
        np.testing.assert_allclose(ours, goal, rtol=1e-5, atol=1e-5)


def test_options_of_a_custom_operator_that_are_cut_off_are_refused(tmp_path):
    net = tflite_net.Net()
    x, y = net.tensor('x', (1, 2, 2, 1), np.float32), net.tensor('y', (1, 4, 4, 1), np.float32)
    weights = net.constant('w', np.ones((1, 2, 2, 1), np.float32))
    net.custom('Convolution2DTransposeBias', [x, weights, net.constant('b', np.ones(1, np.float32))], [y], b'\1\0\0\0')
    (tmp_path / 'net.tflite').write_bytes(net.bytes([x], [y]))
    error = pipeline.fails('model_deploy', tmp_path / 'net.tflite', '-o', tmp_path / 'net.rshift', '--mode', 'f32')
    assert 'has options of 4 bytes, expected 12 or more' in error


def test_the_angle_on_the_axes(tmp_path):
    net, numbers = tflite_net.Net(), np.array([-2, 0, 3], np.float32)
    y, x, angle = (net.tensor(name, (9,), np.float32) for name in ('y', 'x', 'angle'))
    net.operator('ATAN2', [y, x], [angle])
    samples = {'y': np.repeat(numbers, 3), 'x': np.tile(numbers, 3)}
    content = net.bytes([y, x], [angle])
    theirs = litert.outputs_of(content, 'tflite-xnnpack', samples)['angle']
    np.testing.assert_allclose(ours_of(content, samples, tmp_path, '--mode', 'f32')['angle'], theirs, atol=1e-6)


@pytest.mark.parametrize('shape', ((7,), (3, 5), (2, 3, 4)), ids=str)
def test_places_of_what_is_true(shape, tmp_path):
    """As many rows as there are; none where nothing is."""
    for share in (0, .4, 1):
        net = tflite_net.Net()
        x, places = net.tensor('x', shape, bool), net.tensor('places', (0, len(shape)), np.int64)
        net.operator('WHERE', [x], [places])
        samples = {'x': np.random.default_rng(3).uniform(size=shape) < share}
        content = net.bytes([x], [places])
        expected = np.argwhere(samples['x'])
        if share > 0:  # LiteRT's interpreter gives no array without elements
            np.testing.assert_array_equal(litert.outputs_of(content, 'tflite-xnnpack', samples)['places'], expected)
        ours = ours_of(content, samples, tmp_path, '--mode', 'f32')['places']
        assert ours.dtype == np.int64
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize('parts', (['COMPLEX_ABS'], ['CAST'], ['REAL', 'IMAG']), ids='_'.join)
@pytest.mark.parametrize('length', (64, 40))
def test_spectra(parts, length, tmp_path):
    """tf.signal.rfft as its converter writes it, against numpy, and LiteRT, which transforms powers of two."""
    random, net = np.random.default_rng(6), tflite_net.Net()
    x = net.tensor('x', (2, 5, 1, length), np.float32)
    spectrum = net.tensor('spectrum', (2, 5, 1, length // 2 + 1), np.complex64)
    flat = net.tensor('flat', (2, 5, length // 2 + 1), np.complex64)
    net.operator('RFFT2D', [x, net.constant('lengths', np.array([1, length], np.int32))], [spectrum], 'Rfft2dOptions')
    net.operator('SQUEEZE', [spectrum], [flat], 'SqueezeOptions', squeezeDims=[-2])
    outputs = [net.tensor(part, (2, 5, length // 2 + 1), np.float32) for part in parts]
    for part, y in zip(parts, outputs):
        net.operator(part, [flat], [y], **({'options': 'CastOptions'} if part == 'CAST' else {}))
    content, sample = net.bytes([x], outputs), random.normal(size=(2, 5, 1, length)).astype(np.float32)
    made = np.fft.rfft(sample.astype(np.float64))[:, :, 0]
    numpy_goal = {'COMPLEX_ABS': np.abs(made), 'CAST': made.real, 'REAL': made.real, 'IMAG': made.imag}
    ours = ours_of(content, {'x': sample}, tmp_path, '--mode', 'f32')
    goal = litert.outputs_of(content, 'tflite-ruy', {'x': sample}) if length == 64 else numpy_goal
    for part in parts:
        np.testing.assert_allclose(ours[part], numpy_goal[part], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(ours[part], goal[part], rtol=1e-4, atol=1e-4)


def test_what_cannot_read_complex_numbers_is_refused(tmp_path):
    net = tflite_net.Net()
    x, spectrum = net.tensor('x', (2, 1, 8), np.float32), net.tensor('spectrum', (2, 1, 5), np.complex64)
    moved, y = net.tensor('moved', (5, 1, 2), np.complex64), net.tensor('y', (5, 1, 2), np.float32)
    net.operator('RFFT2D', [x, net.constant('lengths', np.array([1, 8], np.int32))], [spectrum], 'Rfft2dOptions')
    net.operator('TRANSPOSE', [spectrum, net.constant('order', np.array([2, 1, 0], np.int32))], [moved], 'TransposeOptions')
    net.operator('COMPLEX_ABS', [moved], [y])
    (tmp_path / 'net.tflite').write_bytes(net.bytes([x], [y]))
    said = pipeline.call('model_deploy', tmp_path / 'net.tflite', '-o', tmp_path / 'net.rshift', '--mode', 'f32')
    assert said.returncode == 1 and "'moved' (tflite:TRANSPOSE): reads complex numbers" in said.stderr


@pytest.mark.parametrize('open_rows', (False, True))
def test_sizes_that_the_model_computes_from_its_shapes(open_rows, tmp_path):
    """As tf.signal.frame: whole divisions of a length, and ends of a slice that they give."""
    random, net = np.random.default_rng(8), tflite_net.Net()
    x, shape = net.tensor('x', (3, 37), np.float32), net.tensor('shape', (2,), np.int32)
    whole, ends = net.tensor('whole', (2,), np.int32), net.tensor('ends', (2,), np.int32)
    tens = net.constant('tens', np.array([1, 10], np.int32))
    y = net.tensor('y', (3, 28), np.float32)
    net.operator('SHAPE', [x], [shape], 'ShapeOptions', outType=2)
    net.operator('FLOOR_DIV', [shape, tens], [whole])
    net.operator('MUL', [whole, tens], [ends], 'MulOptions')
    net.operator('STRIDED_SLICE', [x, net.constant('begins', np.array([0, 2], np.int32)), ends, net.constant('ones', np.ones(2, np.int32))], [y],
                 'StridedSliceOptions', endMask=int(open_rows))
    content, sample = net.bytes([x], [y]), random.normal(size=(3, 37)).astype(np.float32)
    goal = litert.outputs_of(content, 'tflite-ref', {'x': sample})['y']
    ours = ours_of(content, {'x': sample}, tmp_path, '--mode', 'f32')['y']
    assert goal.shape == (3, 28) and (ours == goal).all()


@pytest.mark.parametrize('shape,other,whole', [([3, 1], [4], (3, 4)), ([4], [3, 1], (3, 4)), ([3, 4], [3, 4], (3, 4))])
def test_a_shape_that_two_shapes_broadcast_to(shape, other, whole, tmp_path):
    net = tflite_net.Net()
    x = net.tensor('x', (1, 4), np.float32)
    lists = [net.constant(f'c{i}', np.array(sizes, np.int32)) for i, sizes in enumerate((shape, other))]
    sizes = net.tensor('sizes', (2,), np.int32)
    net.operator('BROADCAST_ARGS', lists, [sizes])
    y = net.tensor('y', whole, np.float32)
    net.operator('BROADCAST_TO', [x, sizes], [y])
    content = net.bytes([x], [y])
    samples = {'x': np.arange(4, dtype=np.float32)[None]}
    theirs = litert.outputs_of(content, 'tflite-ref', samples)['y']
    ours = ours_of(content, samples, tmp_path, '--mode', 'f32')['y']
    assert theirs.shape == whole and (ours == theirs).all()


def test_whole_divisions_of_integers_round_down(tmp_path):
    net = tflite_net.Net()
    a, b = net.tensor('a', (6,), np.int32), net.tensor('b', (6,), np.int32)
    y = net.tensor('y', (6,), np.int32)
    net.operator('FLOOR_DIV', [a, b], [y], 'FloorDivOptions')
    samples = {'a': np.array([7, -7, 7, -7, 6, 0], np.int32), 'b': np.array([3, 3, -3, -3, -2, 5], np.int32)}
    content = net.bytes([a, b], [y])
    goal = litert.outputs_of(content, 'tflite-ref', samples)['y']
    assert (ours_of(content, samples, tmp_path, '--mode', 'f32')['y'] == goal).all()


@pytest.mark.parametrize('profile', litert.WAYS)
def test_variables_are_carried_from_run_to_run(profile, tmp_path):
    """The bytes of LiteRT, whose interpreter keeps the variables, frame by frame."""
    random = np.random.default_rng(5)
    content = tflite_streaming.network(random)
    frames = random.integers(-100, 100, (30, 2, 1, 8)).astype(np.int8)
    theirs = litert.load(content, profile)
    goal = []
    for frame in frames:
        theirs.set_tensor(theirs.get_input_details()[0]['index'], frame[None])
        theirs.invoke()
        goal.append(np.array(theirs.get_tensor(theirs.get_output_details()[0]['index'])))
    goal = np.concatenate(goal)
    (tmp_path / 'net.tflite').write_bytes(content)
    np.save(tmp_path / 'frames.npy', frames)
    made = pipeline.call('model_deploy', tmp_path / 'net.tflite', '-o', tmp_path / 'net.rshift', '--profile', profile)
    assert "2 variables, contents that stay from run to run: an input here, as 'frames'" in made.stderr
    for carry in (['auto'], ['total=total/next', 'frames=frames/next']):
        pipeline.run('model_runner', tmp_path / 'net.rshift', '--dataset', tmp_path / 'frames.npy', '--raw', '--output',
                     tmp_path / 'out.npz', *(word for pair in carry for word in ('--carry', pair)))
        with np.load(tmp_path / 'out.npz') as ours:
            assert (ours['y'] == goal).all(), (carry, int((ours['y'] != goal).sum()))
            assert (ours['total/next'] == goal).all()
    assert len(np.unique(goal)) > 20
    for wrong, why in ((['x=y'], "input 'x' takes s8 1x2x1x8"), (['x'], 'expected INPUT=OUTPUT or auto'),
                       (['total=total/next', 'total=y'], "gives input 'total' two outputs")):
        error = pipeline.fails('model_runner', tmp_path / 'net.rshift', '--dataset', tmp_path / 'frames.npy',
                               *(word for pair in wrong for word in ('--carry', pair)))
        assert why in error, error


def test_sparse_weights_equal_litert(tmp_path):
    random = np.random.default_rng(9)
    net = tflite_net.Net()
    x = net.tensor('x', (3, 40), np.float32)
    weights = (random.normal(size=(24, 40)) * (random.random((24, 40)) < 0.3)).astype(np.float32)
    dense, y = net.tensor('dense', weights.shape, np.float32), net.tensor('y', (3, 24), np.float32)
    net.operator('DENSIFY', [net.sparse('w', weights)], [dense])
    net.operator('FULLY_CONNECTED', [x, dense, -1], [y], 'FullyConnectedOptions')
    content, samples = net.bytes([x], [y]), {'x': random.normal(size=(3, 40)).astype(np.float32)}
    goal = litert.outputs_of(content, 'tflite-ref', samples)['y']
    ours = ours_of(content, samples, tmp_path, '--mode', 'f32')['y']
    np.testing.assert_allclose(ours, goal, rtol=1e-5, atol=1e-5)


def test_the_schema_has_the_field_ids_of_the_format():
    """graph/tflite/schema.fbs against the classes that LiteRT ships."""
    text = (pipeline.ROOT / 'graph/tflite/schema.fbs').read_text()
    text = re.sub(r'//.*', '', text)
    source = pathlib.Path(schema.__file__).read_text(encoding='utf-8')
    tables = dict(re.findall(r'^class (\w+)\(object\):\n(.*?)(?=^class |^def |\Z)', source, re.S | re.M))
    checked = 0
    for name, body in re.findall(r'table (\w+) \{(.*?)\}', text, re.S):
        if name == 'NoOptions':
            continue
        place = 4
        for field, kind, deprecated in re.findall(r'(\w+): ([^;(]+?)\s*(\(deprecated\))?;', body):
            union = kind in ('BuiltinOptions', 'BuiltinOptions2', 'QuantizationDetails', 'SparseIndexVector')
            camel = ''.join(part.title() for part in field.split('_'))
            offset = re.search(rf'    def {camel}\(self.*?Offset\((\d+)\)', tables[name], re.S)
            if not deprecated:
                assert offset and int(offset[1]) == place + (2 if union else 0), (name, field)
                checked += 1
            place += 4 if union else 2
    assert checked > 100
    for kind in ('BuiltinOperator', 'BuiltinOptions', 'BuiltinOptions2', 'DimensionType', 'SparseIndexVector', 'TensorType'):
        body = re.search(rf'(?:enum|union) {kind}[^{{]*\{{(.*?)\}}', text, re.S)[1]
        number = int(kind == 'SparseIndexVector')  # 0 is none
        for entry in body.split(','):
            entry_name, *value = (part.strip() for part in entry.split('='))
            number = int(value[0]) if value else number
            assert getattr(getattr(schema, kind), entry_name) == number, (kind, entry_name)
            number += 1
