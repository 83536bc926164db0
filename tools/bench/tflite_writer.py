"""Layers (chain.py) as a .tflite file, float or int8 by the rules of TensorFlow Lite's post-training quantization.

int8: activations s8 with a zero point, concatenation and pooling keep the scale of what they read; weights symmetric
per output channel, biases s32 at input scale x weight scale; float input and output, quantized inside. NHWC.
16x8: activations s16 without a zero point, biases s64; the rest as of int8.
"""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from bench.chain import Unconvertible

_OPERATORS = {'conv': ('CONV_2D', 3), 'depthwise': ('DEPTHWISE_CONV_2D', 3), 'max_pool': ('MAX_POOL_2D', 2),
              'add': ('ADD', 2), 'concat': ('CONCATENATION', 2), 'average': ('MEAN', 2), 'flatten': ('RESHAPE', 1),
              'dense': ('FULLY_CONNECTED', 4), 'softmax': ('SOFTMAX', 2), 'quantize': ('QUANTIZE', 1),
              'dequantize': ('DEQUANTIZE', 2)}
_TYPES = {np.dtype(np.int8): schema.TensorType.INT8, np.dtype(np.int16): schema.TensorType.INT16,
          np.dtype(np.int32): schema.TensorType.INT32, np.dtype(np.int64): schema.TensorType.INT64,
          np.dtype(np.float32): schema.TensorType.FLOAT32}
_ACTIVATIONS = {None: schema.ActivationFunctionType.NONE, 'relu': schema.ActivationFunctionType.RELU,
                'relu6': schema.ActivationFunctionType.RELU6}


def _activation_parameters(low, high, bits):
    """(scale, zero point) of s8 that holds low..high and 0 exactly, or of s16."""
    if bits == 16:
        return max(high, -low, 1e-6) / 32767, 0
    scale = max(high - low, 1e-6) / 255
    return scale, int(np.clip(round(-128 - low / scale), -128, 127))


class _Writer:
    def __init__(self, ranges, bits=8):
        self.quantized, self.bits = ranges is not None, bits
        self.parameters = {name: _activation_parameters(*r, bits) for name, r in (ranges or {}).items()}
        self.buffers, self.tensors, self.operators, self.codes = [schema.BufferT()], [], [], {}
        self.of_value = {}

    def tensor(self, name, shape, dtype, data=None, quant=None, axis=0):
        made = schema.TensorT()
        made.name, made.shape, made.type, made.buffer = name, list(shape), _TYPES[np.dtype(dtype)], 0
        if data is not None:
            made.buffer = len(self.buffers)
            self.buffers.append(schema.BufferT())
            self.buffers[-1].data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
        if quant is not None:
            q = made.quantization = schema.QuantizationParametersT()
            q.scale = [float(s) for s in np.atleast_1d(quant[0])]
            q.zeroPoint, q.quantizedDimension = [quant[1]] * len(q.scale), axis
        self.tensors.append(made)
        return len(self.tensors) - 1

    def value(self, name, shape):
        """A new activation, NHWC."""
        shape = (1, *shape[1:], shape[0]) if len(shape) == 3 else (1, *shape)
        dtype = np.float32 if not self.quantized else np.int16 if self.bits == 16 else np.int8
        self.of_value[name] = self.tensor(name, shape, dtype, quant=self.parameters.get(name))
        return self.of_value[name]

    def operator(self, kind, inputs, output, union=None, options=None):
        made = schema.OperatorT()
        made.opcodeIndex = self.codes.setdefault(kind, len(self.codes))
        made.inputs, made.outputs = inputs, [output]
        if options is not None:
            made.builtinOptionsType, made.builtinOptions = getattr(schema.BuiltinOptions, union), options
        self.operators.append(made)

    def weights(self, layer, weights, axis):
        """[weights, bias] of a layer, `axis` being that of the output channels."""
        if not self.quantized:
            return [self.tensor(f'{layer.output}_w', weights.shape, np.float32, weights),
                    self.tensor(f'{layer.output}_b', layer.bias.shape, np.float32, layer.bias)]
        others = tuple(a for a in range(weights.ndim) if a != axis)
        input_scale = self.parameters[layer.inputs[0]][0]
        fits_bias = np.abs(layer.bias) / (input_scale * 2**30)  # decides where a channel has no weights
        scales = np.maximum(np.maximum(np.abs(weights).max(others) / 127, fits_bias), 1e-12)
        along = scales.reshape([-1 if a == axis else 1 for a in range(weights.ndim)])
        bias_scales, bias_type = scales * input_scale, np.int64 if self.bits == 16 else np.int32
        return [self.tensor(f'{layer.output}_w', weights.shape, np.int8,
                            np.clip(np.round(weights / along), -127, 127).astype(np.int8), (scales, 0), axis),
                self.tensor(f'{layer.output}_b', layer.bias.shape, bias_type,
                            np.round(layer.bias / bias_scales).astype(bias_type), (bias_scales, 0))]

    # --- one method per kind; each appends its operators ---
    def window(self, layer, options):
        options.strideH, options.strideW = layer.stride
        options.fusedActivationFunction = _ACTIVATIONS[layer.activation]
        side = self.tensors[self.of_value[layer.inputs[0]]].shape[1:3]
        same = [max((-(-i // s) - 1) * s + k - i, 0) for i, s, k in zip(side, layer.stride, layer.kernel)]
        if layer.pads == (same[0] // 2, same[1] // 2, same[0] - same[0] // 2, same[1] - same[1] // 2):
            options.padding = schema.Padding.SAME
        elif not any(layer.pads):
            options.padding = schema.Padding.VALID
        else:
            raise Unconvertible(f"'{layer.output}': pads {layer.pads} are neither SAME nor VALID")
        return options

    def conv(self, layer, sources):
        channels = layer.weights.shape[0]
        if layer.groups == 1:
            options = self.window(layer, schema.Conv2DOptionsT())
            weights = self.weights(layer, layer.weights.transpose(0, 2, 3, 1), 0)
            self.operator('conv', sources + weights, self.value(layer.output, layer.shape), 'Conv2DOptions', options)
        elif layer.groups == channels and layer.weights.shape[1] == 1:
            options = self.window(layer, schema.DepthwiseConv2DOptionsT())
            options.depthMultiplier = 1
            weights = self.weights(layer, layer.weights.transpose(1, 2, 3, 0), 3)
            self.operator('depthwise', sources + weights, self.value(layer.output, layer.shape),
                          'DepthwiseConv2DOptions', options)
        else:
            raise Unconvertible(f"'{layer.output}': {layer.groups} groups have no conversion")

    def max_pool(self, layer, sources):
        options = self.window(layer, schema.Pool2DOptionsT())
        options.filterHeight, options.filterWidth = layer.kernel
        self.operator('max_pool', sources, self.value(layer.output, layer.shape), 'Pool2DOptions', options)

    def add(self, layer, sources):
        options = schema.AddOptionsT()
        options.fusedActivationFunction = _ACTIVATIONS[layer.activation]
        self.operator('add', sources, self.value(layer.output, layer.shape), 'AddOptions', options)

    def concat(self, layer, sources):
        options = schema.ConcatenationOptionsT()
        options.axis = 3
        self.operator('concat', sources, self.value(layer.output, layer.shape), 'ConcatenationOptions', options)

    def average(self, layer, sources):
        options = schema.ReducerOptionsT()
        options.keepDims = True
        axes = self.tensor(f'{layer.output}_axes', [2], np.int32, np.array([1, 2], np.int32))
        self.operator('average', [*sources, axes], self.value(layer.output, layer.shape), 'ReducerOptions', options)

    def flatten(self, layer, sources):
        options = schema.ReshapeOptionsT()
        options.newShape = [1, *layer.shape]
        shape = self.tensor(f'{layer.output}_shape', [2], np.int32, np.array([1, *layer.shape], np.int32))
        self.operator('flatten', [*sources, shape], self.value(layer.output, layer.shape), 'ReshapeOptions', options)

    def dense(self, layer, sources):
        options = schema.FullyConnectedOptionsT()
        options.fusedActivationFunction = _ACTIVATIONS[layer.activation]
        self.operator('dense', sources + self.weights(layer, layer.weights, 0),
                      self.value(layer.output, layer.shape), 'FullyConnectedOptions', options)

    def softmax(self, layer, sources):
        options = schema.SoftmaxOptionsT()
        options.beta = 1.0
        if self.quantized:
            self.parameters[layer.output] = (1 / 256, -128)  # what its specification asks for
        self.operator('softmax', sources, self.value(layer.output, layer.shape), 'SoftmaxOptions', options)

    def finish(self, sources, outputs):
        graph = schema.SubGraphT()
        graph.tensors, graph.operators, graph.name = self.tensors, self.operators, 'main'
        graph.inputs, graph.outputs = sources, outputs
        model = schema.ModelT()
        model.version, model.subgraphs, model.buffers, model.operatorCodes = 3, [graph], self.buffers, []
        for kind in self.codes:
            code = schema.OperatorCodeT()
            name, code.version = _OPERATORS[kind]
            code.builtinCode = getattr(schema.BuiltinOperator, name)
            code.deprecatedBuiltinCode = min(code.builtinCode, 127)
            model.operatorCodes.append(code)
        builder = flatbuffers.Builder(1 << 20)
        builder.Finish(model.Pack(builder), b'TFL3')
        return bytes(builder.Output())


def _share_scales(layers, ranges):
    """What concatenation, pooling and flattening read and make has one range: the union, until nothing changes."""
    shared = {name: tuple(r) for name, r in ranges.items()}
    while True:
        before = dict(shared)
        for layer in layers:
            if layer.kind in ('concat', 'max_pool', 'flatten'):
                names = [layer.output, *layer.inputs]
                union = (min(shared[n][0] for n in names), max(shared[n][1] for n in names))
                shared.update((n, union) for n in names)
        if shared == before:
            return shared


def write(layers, ranges=None, bits=8, floats=True):
    """The bytes of the file; ranges (chain.ranges) make it int8, or 16x8. floats: it reads and writes float."""
    writer = _Writer(None if ranges is None else _share_scales(layers, ranges), bits)
    source = writer.value(layers[0].output, layers[0].shape)
    if ranges is not None and floats:
        plain = writer.tensor('float_input', writer.tensors[source].shape, np.float32)
        writer.operator('quantize', [plain], source, 'QuantizeOptions', schema.QuantizeOptionsT())
        source = plain
    for layer in layers[1:]:
        getattr(writer, layer.kind)(layer, [writer.of_value[i] for i in layer.inputs])
    output = writer.of_value[layers[-1].output]
    if ranges is not None and floats:
        plain = writer.tensor('float_output', writer.tensors[output].shape, np.float32)
        writer.operator('dequantize', [output], plain, 'DequantizeOptions', schema.DequantizeOptionsT())
        output = plain
    return writer.finish([source], [output])
