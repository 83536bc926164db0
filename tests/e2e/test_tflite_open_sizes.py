"""Sizes that a .tflite file computes from those of its tensors, as converters write them where the batch or more is open: against LiteRT."""

import numpy as np
import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

import pipeline  # noqa: E402
from frameworks import litert, tflite_net  # noqa: E402
from frameworks.ours import outputs_of as ours_of  # noqa: E402
from frameworks.tflite_cases import window  # noqa: E402


class Net(tflite_net.Net):
    """With what Keras' layers leave of their dynamic shapes."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def ints(self, *elements):
        self.count += 1
        return self.constant(f'k{self.count}', np.array(elements, np.int32))

    def computed(self, code, inputs, shape, options=None, **fields):
        self.count += 1
        y = self.tensor(f'i{self.count}', shape, np.int32)
        self.operator(code, inputs, [y], options, **fields)
        return y

    def size(self, shape, d):
        """Element d of a computed shape."""
        return self.computed('STRIDED_SLICE', [shape, self.ints(d), self.ints(d + 1), self.ints(1)], (), 'StridedSliceOptions', shrinkAxisMask=1)

    def shape_of(self, x):
        rank = len(self.tensors[x].shape)
        return self.computed('SHAPE', [x], (rank,), 'ShapeOptions', outType=tflite_net.TYPES[np.dtype('int32')])

    def open(self, *dimensions):
        """These dimensions of every activation of 4 are open."""
        for tensor in self.tensors:
            if len(tensor.shape) == 4 and tensor.buffer == 0:
                tensor.shapeSignature = [-1 if d in dimensions else size for d, size in enumerate(tensor.shape)]


H, W, IC, OC = 5, 4, 6, 3


def transposed(dtype=np.float32, computed=False):
    """TRANSPOSE_CONV whose batch is a size; computed: height and width are twice those of x, too."""
    random, net = np.random.default_rng(3), Net()
    quant = {} if dtype == np.float32 else dict(quant=(.05, 3))
    x = net.tensor('x', (1, H, W, IC), dtype, **quant)
    y = net.tensor('y', (1, 2 * H, 2 * W, OC), dtype, **({} if dtype == np.float32 else dict(quant=(.2, -5))))
    weights = random.normal(size=(OC, 3, 3, IC))
    if dtype == np.float32:
        inputs = [net.constant('w', weights.astype(dtype)), x, net.constant('b', random.normal(size=OC).astype(dtype))]
    else:
        scales = random.uniform(.01, .02, OC).astype(np.float32)
        inputs = [net.constant('w', np.clip(weights * 50, -127, 127).astype(np.int8), (scales, 0)), x,
                  net.constant('b', random.integers(-300, 300, OC).astype(np.int32), (scales * np.float32(.05), 0))]
    shape = net.shape_of(x)
    sides = [net.computed('MUL', [net.size(shape, d), net.ints(2)], (1,), 'MulOptions') for d in (1, 2)] if computed else [net.ints(2 * H), net.ints(2 * W)]
    flat = [net.computed('RESHAPE', [side, net.ints()], (), 'ReshapeOptions') for side in sides]
    size = net.computed('PACK', [net.size(shape, 0), *flat, net.computed('RESHAPE', [net.ints(OC), net.ints()], ())], (4,), 'PackOptions', valuesCount=4)
    net.operator('TRANSPOSE_CONV', [size, *inputs], [y], 'TransposeConvOptions', **window('SAME', (2, 2)))
    return net, x, y


def resized(content, shape, sample):
    """LiteRT's result after another shape was given to x."""
    made = litert.interpreter.Interpreter(model_content=content, num_threads=1)
    made.resize_tensor_input(made.get_input_details()[0]['index'], shape)
    made.allocate_tensors()
    made.set_tensor(made.get_input_details()[0]['index'], sample)
    made.invoke()
    return np.array(made.get_tensor(made.get_output_details()[0]['index']))


@pytest.mark.parametrize('computed', (False, True), ids=('batch', 'all'))
def test_transposed_convolution(computed, tmp_path):
    """F32 and integers."""
    for dtype in (np.float32, np.int8):
        net, x, y = transposed(dtype, computed)
        net.open(0)
        content, random = net.bytes([x], [y]), np.random.default_rng(4)
        for profile in litert.WAYS:
            sample = random.normal(size=(1, H, W, IC)).astype(dtype) if dtype == np.float32 else random.integers(-128, 128, (1, H, W, IC)).astype(dtype)
            goal = litert.outputs_of(content, profile, {'x': sample})['y']
            ours = ours_of(content, {'x': sample}, tmp_path, *(('--mode', 'f32') if dtype == np.float32 else ('--profile', profile)))['y']
            assert ours.dtype == goal.dtype and ours.shape == goal.shape
            np.testing.assert_allclose(ours, goal, **(dict(rtol=1e-5, atol=1e-5) if dtype == np.float32 else dict(rtol=0, atol=0)))


@pytest.mark.parametrize('computed', (False, True), ids=('batch', 'all'))
def test_a_batch_that_is_bound(computed, tmp_path):
    net, x, y = transposed(computed=computed)
    net.open(0)
    content, sample = net.bytes([x], [y]), np.random.default_rng(5).normal(size=(3, H, W, IC)).astype(np.float32)
    ours = ours_of(content, {'x': sample}, tmp_path, '--mode', 'f32', '--input-shape', f'x:3x{H}x{W}x{IC}')['y']
    np.testing.assert_allclose(ours, resized(content, sample.shape, sample), rtol=1e-5, atol=1e-5)


def test_sides_of_a_transposed_convolution_that_are_bound_are_refused(tmp_path):
    net, x, y = transposed(computed=True)
    net.open(0, 1, 2)
    (tmp_path / 'net.tflite').write_bytes(net.bytes([x], [y]))
    done = pipeline.call('model_deploy', tmp_path / 'net.tflite', '--mode', 'f32', '--input-shape', f'x:1x8x8x{IC}', '-o', tmp_path / 'net.rshift')
    assert done.returncode == 1 and 'depend on dimensions that the file leaves open' in done.stderr


def test_sides_that_the_network_reads_are_refused(tmp_path):
    net = Net()
    x, size, y = net.tensor('x', (1, H, W, IC), np.float32), net.tensor('size', (4,), np.int32), net.tensor('y', (1, H, W, OC), np.float32)
    weights = net.constant('w', np.ones((OC, 3, 3, IC), np.float32))
    net.operator('TRANSPOSE_CONV', [size, weights, x], [y], 'TransposeConvOptions', **window('SAME', (1, 1)))
    (tmp_path / 'net.tflite').write_bytes(net.bytes([x, size], [y]))
    done = pipeline.call('model_deploy', tmp_path / 'net.tflite', '--mode', 'f32', '-o', tmp_path / 'net.rshift')
    assert done.returncode == 1 and "sizes of the result 'size' are computed from what the network reads" in done.stderr


@pytest.mark.parametrize('code', ('RESIZE_BILINEAR', 'RESIZE_NEAREST_NEIGHBOR'))
def test_an_image_resized_by_its_own_size(code, tmp_path):
    """Keras' UpSampling2D: its height and width times 2, also of sides that are bound."""
    net = Net()
    x, y = net.tensor('x', (1, H, W, IC), np.float32), net.tensor('y', (1, 2 * H, 2 * W, IC), np.float32)
    sides = net.computed('STRIDED_SLICE', [net.shape_of(x), net.ints(1), net.ints(3), net.ints(1)], (2,), 'StridedSliceOptions')
    size = net.computed('MUL', [sides, net.ints(2, 2)], (2,), 'MulOptions')
    options = {'RESIZE_BILINEAR': 'ResizeBilinearOptions', 'RESIZE_NEAREST_NEIGHBOR': 'ResizeNearestNeighborOptions'}[code]
    net.operator(code, [x, size], [y], options, halfPixelCenters=True)
    net.open(0, 1, 2)
    content, random = net.bytes([x], [y]), np.random.default_rng(6)
    for shape, how in (((1, H, W, IC), ()), ((2, 7, 9, IC), ('--input-shape', f'x:2x7x9x{IC}'))):
        sample = random.normal(size=shape).astype(np.float32)
        ours = ours_of(content, {'x': sample}, tmp_path, '--mode', 'f32', *how)['y']
        goal = resized(content, shape, sample)
        assert ours.shape == goal.shape
        np.testing.assert_allclose(ours, goal, rtol=1e-5, atol=1e-5)


def test_blocks_of_an_open_batch(tmp_path):
    """A dilated Conv1D: converters write 1 for the batch in between, too."""
    net = Net()
    x, cut, y = net.tensor('x', (1, 8, 5), np.float32), net.tensor('cut', (1, 5, 5), np.float32), net.tensor('y', (1, 8, 5), np.float32)
    for tensor in net.tensors:
        tensor.shapeSignature = [-1, *tensor.shape[1:]]
    none = net.constant('none', np.array([[2, 0]], np.int32))
    net.operator('SPACE_TO_BATCH_ND', [x, net.ints(2), none], [cut])
    made = net.tensor('made', (1, 5, 5), np.float32)
    net.operator('ABS', [cut], [made])
    net.operator('BATCH_TO_SPACE_ND', [made, net.ints(2), none], [y])
    content = net.bytes([x], [y])
    for batch, how in ((1, ()), (3, ('--input-shape', 'x:3x8x5'))):
        sample = np.random.default_rng(7).normal(size=(batch, 8, 5)).astype(np.float32)
        ours = ours_of(content, {'x': sample}, tmp_path, '--mode', 'f32', *how)['y']
        np.testing.assert_array_equal(ours, resized(content, sample.shape, sample))
