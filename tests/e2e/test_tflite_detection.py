"""Ends of detectors in .tflite files against LiteRT: NON_MAX_SUPPRESSION_V4 and V5, and TFLite_Detection_PostProcess."""

import numpy as np
import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

import pipeline  # noqa: E402
from flatbuffers import flexbuffers  # noqa: E402
from frameworks import litert, tflite_net  # noqa: E402


def deployed(content, samples, folder, *how):
    (folder / 'net.tflite').write_bytes(content)
    pipeline.run('model_deploy', folder / 'net.tflite', '-o', folder / 'net.rshift', *(how or ('--mode', 'f32')))
    return pipeline.infer(folder / 'net.rshift', samples, folder, '--raw')


def random_boxes(random, count):
    """[y1, x1, y2, x2], many of which overlap."""
    centers, sizes = random.uniform(.2, .8, (count, 2)), random.uniform(.1, .4, (count, 2))
    return np.concatenate([centers - sizes / 2, centers + sizes / 2], 1).astype(np.float32)


@pytest.mark.parametrize('version', (4, 5))
@pytest.mark.parametrize('most', (3, 12, 60), ids='at_most_{}'.format)
def test_non_max_suppression(version, most, tmp_path):
    for seed in range(4):
        random, net, count = np.random.default_rng(seed), tflite_net.Net(), 40
        boxes, scores = net.tensor('boxes', (count, 4), np.float32), net.tensor('scores', (count,), np.float32)
        constants = [net.constant(name, np.array(value)) for name, value in (
            ('most', np.int32(most)), ('iou', np.float32(.4)), ('least', np.float32(.3)), ('sigma', np.float32(0)))]
        places, count_of = net.tensor('places', (most,), np.int32), net.tensor('count', (), np.int32)
        kept = [net.tensor('kept', (most,), np.float32)] if version == 5 else []
        outputs = [places, *kept, count_of]
        net.operator(f'NON_MAX_SUPPRESSION_V{version}', [boxes, scores, *constants[:version - 1]], outputs, f'NonMaxSuppressionV{version}Options')
        content = net.bytes([boxes, scores], outputs)
        samples = {'boxes': random_boxes(random, count), 'scores': random.permutation(count).astype(np.float32) / count}
        theirs, ours = litert.outputs_of(content, 'tflite-xnnpack', samples), deployed(content, samples, tmp_path)
        found = int(theirs['count'])
        assert 0 < found and ours['count'] == found and ours['count'].dtype == theirs['count'].dtype
        for name in theirs.keys() - {'count'}:
            assert ours[name].shape == (most,) and ours[name].dtype == theirs[name].dtype
            np.testing.assert_array_equal(ours[name][:found], theirs[name][:found])
            assert not ours[name][found:].any()


def test_a_soft_suppression_is_refused(tmp_path):
    net = tflite_net.Net()
    boxes, scores = net.tensor('boxes', (5, 4), np.float32), net.tensor('scores', (5,), np.float32)
    constants = [net.constant(str(i), np.array(value)) for i, value in enumerate((np.int32(3), np.float32(.5), np.float32(.1), np.float32(.5)))]
    outputs = [net.tensor('places', (3,), np.int32), net.tensor('kept', (3,), np.float32), net.tensor('count', (), np.int32)]
    net.operator('NON_MAX_SUPPRESSION_V5', [boxes, scores, *constants], outputs, 'NonMaxSuppressionV5Options')
    (tmp_path / 'net.tflite').write_bytes(net.bytes([boxes, scores], outputs))
    error = pipeline.call('model_deploy', tmp_path / 'net.tflite', '-o', tmp_path / 'net.rshift', '--mode', 'f32').stderr
    assert 'soft_nms_sigma; only hard suppression is supported' in error


def post_process(net, encodings, predictions, anchors, options):
    rows = options['max_detections'] * options['max_classes_per_detection']
    outputs = [net.tensor(name, shape, np.float32) for name, shape in (
        ('boxes', (1, rows, 4)), ('classes', (1, rows)), ('scores', (1, rows)), ('count', (1,)))]
    net.custom('TFLite_Detection_PostProcess', [encodings, predictions, net.constant('anchors', anchors)], outputs, bytes(flexbuffers.Dumps(options)))
    return outputs


OPTIONS = dict(max_detections=10, max_classes_per_detection=1, detections_per_class=100, use_regular_nms=False, num_classes=6,
               nms_score_threshold=.25, nms_iou_threshold=.5, y_scale=10., x_scale=10., h_scale=5., w_scale=5.)
WAYS = {'fast': {}, 'background': {'background': True}, 'regular': {'use_regular_nms': True},
        'few_of_a_class': {'use_regular_nms': True, 'detections_per_class': 2, 'background': True},
        'three_classes': {'max_classes_per_detection': 3}, 'more_classes_than_there_are': {'max_classes_per_detection': 8},
        'more_than_boxes': {'max_detections': 60}, 'more_than_boxes_regular': {'max_detections': 300, 'use_regular_nms': True},
        'nothing': {'nms_score_threshold': 2.}, 'longer_encodings': {'length': 7}}


def anchors_of(random, count):
    return np.concatenate([random.uniform(.2, .8, (count, 2)), random.uniform(.1, .4, (count, 2))], 1).astype(np.float32)


@pytest.mark.parametrize('way', WAYS)
def test_detection_post_process(way, tmp_path):
    changed = dict(WAYS[way])
    background, length = changed.pop('background', False), changed.pop('length', 4)
    options = OPTIONS | changed
    for seed in range(4):
        random, net, count = np.random.default_rng(seed), tflite_net.Net(), 50
        classes = options['num_classes'] + background
        x, s = net.tensor('x', (1, count, length), np.float32), net.tensor('s', (1, count, classes), np.float32)
        outputs = post_process(net, x, s, anchors_of(random, count), options)
        content = net.bytes([x, s], outputs)
        scores = random.permutation(count * classes).reshape(1, count, classes).astype(np.float32) / (count * classes)
        samples = {'x': random.normal(size=(1, count, length)).astype(np.float32), 's': scores}
        theirs, ours = litert.outputs_of(content, 'tflite-ref', samples), deployed(content, samples, tmp_path)
        found = int(theirs['count'][0])
        assert (found == 0) == (way == 'nothing') and ours['count'] == theirs['count']
        each = 1 if options['use_regular_nms'] else options['max_classes_per_detection']
        real = np.arange(each * found) % each < classes  # LiteRT leaves what was there before in places of classes that there are not
        for name in ('boxes', 'classes', 'scores'):
            assert ours[name].shape == theirs[name].shape, name
            np.testing.assert_allclose(ours[name][0, :each * found][real], theirs[name][0, :each * found][real], rtol=1e-5, atol=1e-6, err_msg=name)
            assert not ours[name][0, each * found:].any()


def test_options_that_are_no_map_are_refused(tmp_path):
    net = tflite_net.Net()
    x, s = net.tensor('x', (1, 5, 4), np.float32), net.tensor('s', (1, 5, 3), np.float32)
    outputs = [net.tensor(str(i), (1, 5, 4), np.float32) for i in range(4)]
    for content, expected in ((b'\1\2\3', 'no flexbuffer'), (bytes(flexbuffers.Dumps(5)), 'no map'), (b'', 'no flexbuffer')):
        damaged = tflite_net.Net()
        x, s = damaged.tensor('x', (1, 5, 4), np.float32), damaged.tensor('s', (1, 5, 3), np.float32)
        outputs = [damaged.tensor(str(i), (1, 5, 4), np.float32) for i in range(4)]
        damaged.custom('TFLite_Detection_PostProcess', [x, s, damaged.constant('a', np.ones((5, 4), np.float32))], outputs, content)
        (tmp_path / 'net.tflite').write_bytes(damaged.bytes([x, s], outputs))
        error = pipeline.fails('model_deploy', tmp_path / 'net.tflite', '-o', tmp_path / 'net.rshift', '--mode', 'f32')
        assert expected in error and error.count('\n') <= 3


def small_detector(random):
    """Convolutions, a head of boxes and one of classes, as SSD has them, ending in its detections."""
    net, side, anchors = tflite_net.Net(), 16, 2
    at = net.tensor('image', (1, side, side, 3), np.float32)
    image = at
    for layer, (inputs, outputs) in enumerate(((3, 16), (16, 32))):
        made = net.tensor(f'features{layer}', (1, side >> (layer + 1), side >> (layer + 1), outputs), np.float32)
        weights = random.normal(size=(outputs, 3, 3, inputs)).astype(np.float32) / np.float32(np.sqrt(4.5 * inputs))
        net.operator('CONV_2D', [at, net.constant(f'w{layer}', weights), net.constant(f'b{layer}', np.zeros(outputs, np.float32))], [made], 'Conv2DOptions',
                     strideH=2, strideW=2, fusedActivationFunction=1)
        at = made
    count, heads = anchors * (side // 4) ** 2, []
    for name, width, scale in (('encodings', 4, .5), ('logits', 6, 1.5)):
        made = net.tensor(f'{name}_map', (1, side // 4, side // 4, anchors * width), np.float32)
        weights = random.normal(size=(anchors * width, 1, 1, 32)).astype(np.float32) * np.float32(scale / 5)
        net.operator('CONV_2D', [at, net.constant(f'w_{name}', weights), net.constant(f'b_{name}', np.zeros(anchors * width, np.float32))], [made], 'Conv2DOptions',
                     strideH=1, strideW=1)
        flat = net.tensor(name, (1, count, width), np.float32)
        net.operator('RESHAPE', [made, net.constant(f's_{name}', np.array([1, count, width], np.int32))], [flat], 'ReshapeOptions')
        heads.append(flat)
    scores = net.tensor('probabilities', (1, count, 6), np.float32)
    net.operator('LOGISTIC', [heads[1]], [scores])
    outputs = post_process(net, heads[0], scores, anchors_of(random, count), OPTIONS | {'nms_score_threshold': .4})
    return net.bytes([image], outputs)


def test_a_detector_in_integers_ends_in_its_boxes(tmp_path):
    random = np.random.default_rng(5)
    content = small_detector(random)
    (tmp_path / 'net.tflite').write_bytes(content)
    np.savez(tmp_path / 'images.npz', image=random.uniform(-1, 1, (16, 16, 16, 3)).astype(np.float32))
    pipeline.run('model_calibrate', tmp_path / 'net.tflite', '--dataset', tmp_path / 'images.npz', '-o', tmp_path / 'table.yaml')
    out = pipeline.run('model_deploy', tmp_path / 'net.tflite', '--calibration', tmp_path / 'table.yaml', '-o', tmp_path / 'net.rshift', '--activation-bits', '16')
    assert 'check: good' in out, out
    sample = {'image': random.uniform(-1, 1, (1, 16, 16, 3)).astype(np.float32)}
    theirs = litert.outputs_of(content, 'tflite-ref', sample)
    ours = pipeline.infer(tmp_path / 'net.rshift', sample, tmp_path, '--raw')
    found = int(theirs['count'][0])
    assert found > 2 and abs(int(ours['count'][0]) - found) <= 1
    np.testing.assert_allclose(ours['scores'][0, :found - 1], theirs['scores'][0, :found - 1], atol=.02)
