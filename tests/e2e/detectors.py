"""Whole detectors: a network of ../shared/models with the graph of configs/postprocess behind it, and boxes held against boxes."""

import dataclasses

import numpy as np

import pipeline

POSTPROCESS = pipeline.ROOT / 'configs/postprocess'


@dataclasses.dataclass(frozen=True)
class Detector:
    name: str           # of the files in configs/
    file: str           # below shared/models
    pictures: str       # below shared/images: what is evaluated
    calibrate_on: tuple  # other pictures
    floors: dict        # mode: (recall, precision), just below what was measured; the aim is 0.95 for each

    @property
    def preprocess(self):
        return pipeline.PREPROCESS / f'{self.name}.yaml'

    @property
    def postprocess(self):
        return POSTPROCESS / f'{self.name}.onnx'


DETECTORS = (
    Detector('ultraface_rfb320', 'ultraface_rfb320/version-RFB-320.onnx', 'faces', ('calibration', 'coco'),
             {'symmetric': (0.94, 0.96), 'asymmetric': (0.94, 0.97)}),
    Detector('blazeface', 'blazeface/blazeface.onnx', 'faces', ('calibration', 'coco'),
             {'symmetric': (0.9, 0.96), 'asymmetric': (0.9, 0.93)}),
    Detector('fastestdet_coco', 'fastestdet_coco/FastestDet.onnx', 'coco', ('calibration', 'faces'),
             {'symmetric': (0.89, 0.9), 'asymmetric': (0.89, 0.9)}),
    Detector('nanodet_m', 'nanodet_m/nanodet_m_320.onnx', 'coco', ('calibration', 'faces'),
             {'symmetric': (0.78, 0.93), 'asymmetric': (0.84, 0.92)}),
    Detector('yolox_nano', 'yolox_nano/yolox_nano.onnx', 'coco', ('calibration', 'faces'),
             {'symmetric': (0.89, 0.93), 'asymmetric': (0.9, 0.93)}),
)


def deploy(detector, shared, folder):
    """{mode: program} of the detector that ends in boxes."""
    model, table = shared / 'models' / detector.file, folder / 'table.yaml'
    pipeline.calibrate(model, [shared / 'images' / name for name in detector.calibrate_on], table, preprocess=detector.preprocess,
                       samples=200, extra=('--append', detector.postprocess))
    programs = {}
    for mode in ('f32', *pipeline.INTEGER_MODES):
        programs[mode] = folder / f'{mode}.rshift'
        pipeline.deploy(model, programs[mode], mode=mode, table=table, preprocess=detector.preprocess,
                        extra=('--append', detector.postprocess))
    return programs


def detect(program, pictures, folder):
    """[(boxes, scores, classes)] of each picture."""
    output = folder / 'detected.npz'
    pipeline.run('model_runner', program, '--dataset', pictures, '--output', output, timeout=1800)
    arrays = pipeline.arrays_of(output)
    ends = np.cumsum(arrays['boxes.count'])
    assert ends[-1] == len(arrays['boxes']) == len(arrays['scores']) == len(arrays['classes'])
    return [tuple(arrays[name][end - count:end] for name in ('boxes', 'scores', 'classes'))
            for count, end in zip(arrays['boxes.count'], ends)]


def iou(box, boxes):
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    both = np.prod(np.clip(high - low, 0, None), axis=1)
    area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    return both / np.maximum(np.prod(box[2:] - box[:2]) + area - both, 1e-12)


def matches(found, wanted):
    """How many boxes have a partner: the same class, IoU >= 0.5, the best scores first, each partner once."""
    boxes, scores, classes = found
    free = np.ones(len(wanted[0]), bool)
    count = 0
    for i in np.argsort(-scores, kind='stable'):
        overlap = np.where(free & (wanted[2] == classes[i]), iou(boxes[i], wanted[0]) if len(wanted[0]) else 0.0, 0.0)
        if overlap.size and overlap.max() >= 0.5:
            free[overlap.argmax()] = False
            count += 1
    return count


def recall_and_precision(found, wanted):
    """Of all pictures together; and the number of boxes wanted and found."""
    matched = sum(matches(f, w) for f, w in zip(found, wanted, strict=True))
    count_found, count_wanted = (sum(len(one[0]) for one in many) for many in (found, wanted))
    return matched / max(count_wanted, 1), matched / max(count_found, 1), count_wanted, count_found
