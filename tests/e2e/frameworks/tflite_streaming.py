"""A network with variables, as a .tflite file."""

import numpy as np

from frameworks import tflite_net


def network(random):
    """int8: a convolution over the last frames, which a variable keeps; its result is added up in another one."""
    net = tflite_net.Net()
    frames, total = (0.05, -12), (0.2, 7)
    shapes = {'frames': (1, 3, 1, 8), 'total': (1, 1, 1, 4)}
    for name, quant in (('frames', frames), ('total', total)):
        first = net.constant('first', np.full(shapes[name], quant[1], np.int8), quant)
        net.operator('ASSIGN_VARIABLE', [net.handle(name), first], [])
    net.end_other_graph()
    net.operator('CALL_ONCE', [], [], 'CallOnceOptions', initSubgraphIndex=1)
    handles = {name: net.handle(name) for name in shapes}
    x = net.tensor('x', (1, 2, 1, 8), np.int8, frames)
    before = net.tensor('before', shapes['frames'], np.int8, frames)
    net.operator('READ_VARIABLE', [handles['frames']], [before])
    both = net.tensor('both', (1, 5, 1, 8), np.int8, frames)
    net.operator('CONCATENATION', [before, x], [both], 'ConcatenationOptions', axis=1)
    last = net.tensor('last', shapes['frames'], np.int8, frames)
    net.operator('STRIDED_SLICE', [both, *(net.constant(name, np.int32(ends)) for name, ends in (
        ('begin', [0, 2, 0, 0]), ('end', [1, 5, 1, 8]), ('step', [1, 1, 1, 1])))], [last], 'StridedSliceOptions')
    net.operator('ASSIGN_VARIABLE', [handles['frames'], last], [])
    scales = random.uniform(0.005, 0.02, 4)
    w = net.constant('w', random.integers(-127, 128, (4, 5, 1, 8)).astype(np.int8), (scales, 0))
    bias = net.constant('bias', random.integers(-900, 900, 4).astype(np.int32), (scales * frames[0], 0))
    conv = net.tensor('conv', shapes['total'], np.int8, (0.1, 3))
    net.operator('CONV_2D', [both, w, bias], [conv], 'Conv2DOptions', padding=tflite_net.PADDINGS['VALID'],
                 strideH=1, strideW=1)
    old = net.tensor('old', shapes['total'], np.int8, total)
    net.operator('READ_VARIABLE', [handles['total']], [old])
    y = net.tensor('y', shapes['total'], np.int8, total)
    net.operator('ADD', [old, conv], [y], 'AddOptions')
    net.operator('ASSIGN_VARIABLE', [handles['total'], y], [])
    return net.bytes([x], [y])
