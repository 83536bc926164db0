"""A case as a .tflite file with one operator, through the schema classes of ai-edge-litert."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

TYPES = {'s8': schema.TensorType.INT8, 'u8': schema.TensorType.UINT8, 's32': schema.TensorType.INT32,
         'f32': schema.TensorType.FLOAT32}
ACTIVATIONS = {None: schema.ActivationFunctionType.NONE, 'relu': schema.ActivationFunctionType.RELU,
               'relu6': schema.ActivationFunctionType.RELU6}
PADDINGS = {'SAME': schema.Padding.SAME, 'VALID': schema.Padding.VALID}
# Versions at which these operators took int8 and quantized uint8, high enough for each of them.
OPERATORS = {
    'conv': ('CONV_2D', 3), 'depthwise': ('DEPTHWISE_CONV_2D', 3), 'fc': ('FULLY_CONNECTED', 4),
    'batch_matmul': ('BATCH_MATMUL', 4),
    'add': ('ADD', 2), 'sub': ('SUB', 2), 'mul': ('MUL', 2), 'average_pool': ('AVERAGE_POOL_2D', 2),
    'mean': ('MEAN', 2), 'softmax': ('SOFTMAX', 2), 'leaky_relu': ('LEAKY_RELU', 2),
    'logistic': ('LOGISTIC', 2), 'relu': ('RELU', 2), 'concat': ('CONCATENATION', 2),
    'quantize': ('QUANTIZE', 2), 'requantize': ('QUANTIZE', 2)}


class _Graph:
    def __init__(self):
        self.buffers = [schema.BufferT()]
        self.tensors = []

    def tensor(self, name, shape, kind, quant=None, axis=0, data=None):
        made = schema.TensorT()
        made.name, made.shape, made.type = name, list(shape), TYPES[kind]
        made.buffer = 0
        if data is not None:
            made.buffer = len(self.buffers)
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            self.buffers.append(buffer)
        if quant is not None:
            q = schema.QuantizationParametersT()
            q.scale = [float(s) for s in np.atleast_1d(quant[0])]
            q.zeroPoint = [int(quant[1])] * len(q.scale)
            q.quantizedDimension = axis
            made.quantization = q
        self.tensors.append(made)
        return len(self.tensors) - 1


def _window_options(options, case):
    options.padding = PADDINGS[case.padding]
    options.strideH, options.strideW = case.stride
    options.fusedActivationFunction = ACTIVATIONS[case.activation]
    if hasattr(options, 'dilationHFactor'):
        options.dilationHFactor, options.dilationWFactor = case.dilation
    return options


def _options(case):
    """(name of the union member, its object)."""
    if case.op == 'conv':
        return 'Conv2DOptions', _window_options(schema.Conv2DOptionsT(), case)
    if case.op == 'depthwise':
        options = _window_options(schema.DepthwiseConv2DOptionsT(), case)
        options.depthMultiplier = case.weights.shape[3] // case.inputs[0].shape[3]
        return 'DepthwiseConv2DOptions', options
    if case.op == 'average_pool':
        options = _window_options(schema.Pool2DOptionsT(), case)
        options.filterHeight, options.filterWidth = case.kernel
        return 'Pool2DOptions', options
    plain = {'fc': ('FullyConnectedOptions', schema.FullyConnectedOptionsT),
             'batch_matmul': ('BatchMatMulOptions', schema.BatchMatMulOptionsT),
             'add': ('AddOptions', schema.AddOptionsT), 'sub': ('SubOptions', schema.SubOptionsT),
             'quantize': ('QuantizeOptions', schema.QuantizeOptionsT),
             'requantize': ('QuantizeOptions', schema.QuantizeOptionsT),
             'mul': ('MulOptions', schema.MulOptionsT),
             'mean': ('ReducerOptions', schema.ReducerOptionsT),
             'softmax': ('SoftmaxOptions', schema.SoftmaxOptionsT),
             'leaky_relu': ('LeakyReluOptions', schema.LeakyReluOptionsT),
             'concat': ('ConcatenationOptions', schema.ConcatenationOptionsT)}
    if case.op not in plain:
        return 'NONE', None
    name, kind = plain[case.op]
    options = kind()
    if hasattr(options, 'fusedActivationFunction'):
        options.fusedActivationFunction = ACTIVATIONS[case.activation]
    if case.op == 'mean':
        options.keepDims = True
    elif case.op == 'softmax':
        options.beta = 1.0
    elif case.op == 'leaky_relu':
        options.alpha = case.alpha
    elif case.op == 'concat':
        options.axis = case.axis
    return name, options


def _constants(graph, case):
    if case.op == 'mean':
        return [graph.tensor('axes', [2], 's32', data=np.array([1, 2], np.int32))]
    if case.weights is None:
        return []
    q = case.weight_quant
    axis = 3 if case.op == 'depthwise' and len(q.scale) > 1 else 0
    made = [graph.tensor('w', case.weights.shape, q.type, (q.scales, q.zero), axis, case.weights)]
    if case.bias is not None:
        scales = q.scales * case.input_quants[0].scales[0]
        made.append(graph.tensor('b', case.bias.shape, 's32', (scales, 0), 0, case.bias))
    return made


def build(case):
    """The bytes of the .tflite file."""
    graph = _Graph()
    sources = [graph.tensor(f'x{i}', x.shape, q.type, (q.scales, q.zero))
               for i, (x, q) in enumerate(zip(case.inputs, case.input_quants))]
    if case.op == 'quantize':
        sources = [graph.tensor('x0', case.inputs[0].shape, 'f32')]
    constants = _constants(graph, case)
    q = case.output_quant
    target = graph.tensor('y', case.output_shape(), q.type, (q.scales, q.zero))

    operator = schema.OperatorT()
    operator.opcodeIndex = 0
    operator.inputs, operator.outputs = sources + constants, [target]
    union, operator.builtinOptions = _options(case)
    operator.builtinOptionsType = getattr(schema.BuiltinOptions, union)
    if operator.builtinOptions is None:
        operator.builtinOptionsType = 0

    code = schema.OperatorCodeT()
    name, code.version = OPERATORS[case.op]
    code.builtinCode = getattr(schema.BuiltinOperator, name)
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)

    subgraph = schema.SubGraphT()
    subgraph.tensors, subgraph.operators = graph.tensors, [operator]
    subgraph.inputs, subgraph.outputs, subgraph.name = sources, [target], 'main'
    model = schema.ModelT()
    model.version, model.subgraphs = 3, [subgraph]
    model.operatorCodes, model.buffers = [code], graph.buffers
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b'TFL3')
    return bytes(builder.Output())
