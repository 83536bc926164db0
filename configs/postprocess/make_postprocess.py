#!/usr/bin/env python3
"""Writes the graphs of this folder: what a detector's raw outputs become before they are boxes.

    build/venv/bin/python configs/postprocess/make_postprocess.py [-o FOLDER] [NAME ...]

Each takes the detector's outputs under their own names and gives `boxes` [n, 4] (left, top, right, bottom, in parts of the
network's input picture: 0 to 1), `scores` [n] and `classes` [n], class by class, the best first. The thresholds are those of
the demos that the networks' authors published; --score and --iou give others.
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 13, 8
MOST_BOXES = 100  # of one class


class Graph:
    """Nodes in the order in which they are written; each call gives the name of its result."""

    def __init__(self, name):
        self.name, self.nodes, self.constants, self.inputs, self.wants = name, [], {}, [], {}

    def input(self, name, shape, output=''):
        """output: the detector's name for it, where that is one of our outputs' (model_deploy reads it from the metadata)."""
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        if output:
            self.wants['append:' + name] = output
        return name

    def constant(self, array):
        array = np.asarray(array)
        for name, other in self.constants.items():
            if other.dtype == array.dtype and other.shape == array.shape and (other == array).all():
                return name
        name = f'constant_{len(self.constants)}'
        self.constants[name] = array
        return name

    def floats(self, values):
        return self.constant(np.asarray(values, np.float32))

    def ints(self, values):
        return self.constant(np.asarray(values, np.int64))

    def op(self, operator, *inputs, name='', **attributes):
        name = name or f'{operator.lower()}_{len(self.nodes)}'
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def columns(self, x, begin, end):
        """Elements [begin, end) of the last of three dimensions."""
        return self.op('Slice', x, self.ints([begin]), self.ints([end]), self.ints([2]))

    def boxes(self, boxes, scores, shape, score, iou):
        """boxes [1, B, 4] and scores [1, C, B] -> the outputs. shape: (C, B)."""
        kept = self.op('NonMaxSuppression', boxes, scores, self.ints([MOST_BOXES]), self.floats([iou]), self.floats([score]))
        number = self.op('Gather', kept, self.ints(2), axis=1)
        self.op('Gather', kept, self.ints(1), axis=1, name='classes')
        self.op('Gather', self.op('Squeeze', boxes, self.ints([0])), number, axis=0, name='boxes')
        place = self.op('Add', self.op('Mul', 'classes', self.ints(shape[1])), number)
        self.op('Gather', self.op('Reshape', scores, self.ints([-1])), place, axis=0, name='scores')
        return self

    def model(self):
        outputs = [helper.make_tensor_value_info('boxes', TensorProto.FLOAT, ['n', 4]),
                   helper.make_tensor_value_info('scores', TensorProto.FLOAT, ['n']),
                   helper.make_tensor_value_info('classes', TensorProto.INT64, ['n'])]
        constants = [numpy_helper.from_array(array, name) for name, array in self.constants.items()]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, outputs, constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', OPSET)], ir_version=IR_VERSION,
                                  producer_name='make_postprocess.py')
        helper.set_model_props(model, self.wants)
        return model


def cells(side, stride):
    """The left upper corners of the cells of a square input, [side / stride squared, 2], row by row; and their stride."""
    count = side // stride
    rows, columns = np.meshgrid(np.arange(count), np.arange(count), indexing='ij')
    return np.stack([columns, rows], -1).reshape(-1, 2).astype(np.float32)


def corners(g, center, size):
    """[1, B, 2] each -> left, top, right, bottom."""
    half = g.op('Mul', size, g.floats(0.5))
    return g.op('Concat', g.op('Sub', center, half), g.op('Add', center, half), axis=2)


def ultraface(score=0.7, iou=0.3):
    """version-RFB-320.onnx, the export with the prior boxes decoded inside. Class 0 is a face."""
    g = Graph('ultraface_boxes')
    both = g.input('raw_scores', [1, 4420, 2], 'scores')
    faces = g.op('Transpose', g.columns(both, 1, 2), perm=[0, 2, 1])
    return g, g.input('raw_boxes', [1, 4420, 4], 'boxes'), faces, (1, 4420), score, iou


def blazeface(score=0.75, iou=0.3):
    """128 x 128 (short range): 2 anchors in each cell of 8, 6 in each of 16. Class 0 is a face; the six points are left out."""
    g = Graph('blazeface_boxes')
    raw, logits = g.input('199', [1, 896, 16]), g.input('180', [1, 896, 1])
    anchors = np.concatenate([np.repeat((cells(128, stride) + 0.5) * stride / 128, each, axis=0)
                              for stride, each in ((8, 2), (16, 6))])
    side = g.floats(1 / 128)
    center = g.op('Add', g.op('Mul', g.columns(raw, 0, 2), side), g.floats(anchors[None]))
    boxes = corners(g, center, g.op('Mul', g.columns(raw, 2, 4), side))
    faces = g.op('Transpose', g.op('Sigmoid', logits), perm=[0, 2, 1])
    return g, boxes, faces, (1, 896), score, iou


def fastestdet_coco(score=0.65, iou=0.45):
    """FastestDet.onnx: center and size in pixels of 352 x 352, objectness, 80 classes of COCO."""
    g = Graph('fastestdet_boxes')
    raw = g.input('output', [1, 484, 85])
    side = g.floats(1 / 352)
    boxes = corners(g, g.op('Mul', g.columns(raw, 0, 2), side), g.op('Mul', g.columns(raw, 2, 4), side))
    obj = g.op('Pow', g.columns(raw, 4, 5), g.floats(0.6))
    scores = g.op('Mul', g.op('Pow', g.columns(raw, 5, 85), g.floats(0.4)), obj)
    return g, boxes, g.op('Transpose', scores, perm=[0, 2, 1]), (80, 484), score, iou


def nanodet_m(score=0.4, iou=0.5):
    """nanodet_m_320.onnx: for each side of a box a distribution over 0 to 7 strides; 80 classes of COCO."""
    g = Graph('nanodet_boxes')
    classes, boxes, count = [], [], 0
    for stride in (8, 16, 32):
        grid = cells(320, stride)
        count += len(grid)
        classes.append(g.input(f'cls_pred_stride_{stride}', [1, len(grid), 80]))
        raw = g.op('Reshape', g.input(f'dis_pred_stride_{stride}', [1, len(grid), 32]), g.ints([1, len(grid), 4, 8]))
        bins = g.op('Mul', g.op('Softmax', raw, axis=3), g.floats(np.arange(8)))
        distance = g.op('Mul', g.op('ReduceSum', bins, g.ints([3]), keepdims=0), g.floats(stride / 320))
        center = g.floats((grid * stride + 0.5 * (stride - 1))[None] / 320)
        boxes.append(g.op('Concat', g.op('Sub', center, g.columns(distance, 0, 2)),
                          g.op('Add', center, g.columns(distance, 2, 4)), axis=2))
    scores = g.op('Transpose', g.op('Concat', *classes, axis=1), perm=[0, 2, 1])
    return g, g.op('Concat', *boxes, axis=1), scores, (80, count), score, iou


def yolox_nano(score=0.3, iou=0.45):
    """yolox_nano.onnx: center and the logarithm of the size in cells of 8, 16 and 32, objectness, 80 classes of COCO."""
    g = Graph('yolox_boxes')
    raw = g.input('output', [1, 3549, 85])
    grids = [cells(416, stride) for stride in (8, 16, 32)]
    strides = np.concatenate([np.full((len(grid), 1), stride / 416) for grid, stride in zip(grids, (8, 16, 32))])
    scale = g.floats(strides[None])
    center = g.op('Mul', g.op('Add', g.columns(raw, 0, 2), g.floats(np.concatenate(grids)[None])), scale)
    boxes = corners(g, center, g.op('Mul', g.op('Exp', g.columns(raw, 2, 4)), scale))
    scores = g.op('Mul', g.columns(raw, 5, 85), g.columns(raw, 4, 5))
    return g, boxes, g.op('Transpose', scores, perm=[0, 2, 1]), (80, 3549), score, iou


DETECTORS = {'ultraface_rfb320': ultraface, 'blazeface': blazeface, 'fastestdet_coco': fastestdet_coco,
             'nanodet_m': nanodet_m, 'yolox_nano': yolox_nano}


def make(name, **thresholds):
    """The ONNX model behind the detector of that name; thresholds: score, iou."""
    g, boxes, scores, shape, score, iou = DETECTORS[name](**thresholds)
    return g.boxes(boxes, scores, shape, score, iou).model()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('names', nargs='*', metavar='NAME', help='of ' + ', '.join(DETECTORS) + ' (default: all)')
    parser.add_argument('-o', '--output', type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument('--score', type=float, help='boxes below it are dropped')
    parser.add_argument('--iou', type=float, help='boxes that overlap a better one of their class by more are dropped')
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in DETECTORS]
    if unknown:
        parser.error(f'no detector is called {unknown[0]}, expected one of ' + ', '.join(DETECTORS))
    thresholds = {key: getattr(options, key) for key in ('score', 'iou') if getattr(options, key) is not None}
    for name in options.names or DETECTORS:
        onnx.save(make(name, **thresholds), options.output / f'{name}.onnx')


if __name__ == '__main__':
    main()
