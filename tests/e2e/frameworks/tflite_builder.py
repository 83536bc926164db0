"""A case as a .tflite file with one operator."""

import numpy as np

from frameworks.tflite_net import ACTIVATIONS, PADDINGS, Net

OPERATORS = {  # the code, the table of options
    'conv': ('CONV_2D', 'Conv2DOptions'), 'depthwise': ('DEPTHWISE_CONV_2D', 'DepthwiseConv2DOptions'),
    'fc': ('FULLY_CONNECTED', 'FullyConnectedOptions'), 'batch_matmul': ('BATCH_MATMUL', 'BatchMatMulOptions'),
    'add': ('ADD', 'AddOptions'), 'sub': ('SUB', 'SubOptions'), 'mul': ('MUL', 'MulOptions'),
    'average_pool': ('AVERAGE_POOL_2D', 'Pool2DOptions'), 'mean': ('MEAN', 'ReducerOptions'),
    'softmax': ('SOFTMAX', 'SoftmaxOptions'), 'leaky_relu': ('LEAKY_RELU', 'LeakyReluOptions'), 'logistic': ('LOGISTIC', None),
    'relu': ('RELU', None), 'concat': ('CONCATENATION', 'ConcatenationOptions'), 'quantize': ('QUANTIZE', 'QuantizeOptions'),
    'requantize': ('QUANTIZE', 'QuantizeOptions')}


def _fields(case):
    """The options that are not their defaults."""
    fields = {}
    if case.op in ('conv', 'depthwise', 'average_pool'):
        fields.update(padding=PADDINGS[case.padding], strideH=case.stride[0], strideW=case.stride[1])
    if case.op in ('conv', 'depthwise'):
        fields.update(dilationHFactor=case.dilation[0], dilationWFactor=case.dilation[1])
    if case.op in ('conv', 'depthwise', 'average_pool', 'fc', 'add', 'sub', 'mul', 'concat'):
        fields.update(fusedActivationFunction=ACTIVATIONS[case.activation or 'none'])
    if case.op == 'depthwise':
        fields.update(depthMultiplier=case.weights.shape[3] // case.inputs[0].shape[3])
    more = {'average_pool': dict(filterHeight=case.kernel[0], filterWidth=case.kernel[1]), 'mean': dict(keepDims=True),
            'softmax': dict(beta=1.0), 'leaky_relu': dict(alpha=case.alpha), 'concat': dict(axis=case.axis)}
    return fields | more.get(case.op, {})


def _constants(net, case):
    if case.op == 'mean':
        return [net.constant('axes', np.array([1, 2], np.int32))]
    if case.weights is None:
        return []
    q = case.weight_quant
    axis = 3 if case.op == 'depthwise' and len(q.scale) > 1 else 0
    made = [net.constant('w', case.weights, (q.scales, q.zero), axis)]
    if case.bias is not None:
        made.append(net.constant('b', case.bias, (q.scales * case.input_quants[0].scales[0], 0)))
    return made


def build(case):
    """The bytes of the .tflite file."""
    net = Net()
    if case.op == 'quantize':
        sources = [net.tensor('x0', case.inputs[0].shape, np.float32)]
    else:
        sources = [net.tensor(f'x{i}', x.shape, q.dtype, (q.scales, q.zero))
                   for i, (x, q) in enumerate(zip(case.inputs, case.input_quants))]
    constants = _constants(net, case)
    q = case.output_quant
    target = net.tensor('y', case.output_shape(), q.dtype, (q.scales, q.zero))
    code, options = OPERATORS[case.op]
    net.operator(code, sources + constants, [target], options, **_fields(case))
    return net.bytes(sources, [target])
