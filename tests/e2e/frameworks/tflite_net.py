"""Graphs of several operators as .tflite files, through the schema classes of ai-edge-litert."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

TYPES = {np.dtype(name): getattr(schema.TensorType, code) for name, code in (
    ('float32', 'FLOAT32'), ('float16', 'FLOAT16'), ('int8', 'INT8'), ('uint8', 'UINT8'),
    ('int16', 'INT16'), ('int32', 'INT32'), ('int64', 'INT64'), ('bool', 'BOOL'), ('complex64', 'COMPLEX64'))}
PADDINGS = {'SAME': schema.Padding.SAME, 'VALID': schema.Padding.VALID}
ACTIVATIONS = {name: getattr(schema.ActivationFunctionType, name.upper())
               for name in ('none', 'relu', 'relu6', 'relu_n1_to_1')}
# Versions under which LiteRT takes the types that are written here; 2 for the others.
VERSIONS = {'BATCH_MATMUL': 4, 'CONV_2D': 3, 'DEPTHWISE_CONV_2D': 3, 'FULLY_CONNECTED': 4, 'TRANSPOSE_CONV': 3} | dict.fromkeys(
    ('ADD_N', 'EMBEDDING_LOOKUP', 'FILL', 'LOGICAL_AND', 'LOGICAL_NOT', 'LOGICAL_OR', 'ONE_HOT', 'RANGE', 'RANK', 'REDUCE_ALL', 'REDUCE_ANY', 'RELU_0_TO_1',
     'SELECT', 'SIGN', 'TOPK_V2', 'ZEROS_LIKE', 'STABLEHLO_ADD', 'STABLEHLO_MULTIPLY', 'STABLEHLO_MAXIMUM', 'STABLEHLO_MINIMUM', 'ASSIGN_VARIABLE', 'ATAN2', 'BROADCAST_ARGS', 'BUCKETIZE', 'CALL_ONCE', 'CEIL', 'CUMSUM', 'DENSIFY', 'DEPTH_TO_SPACE', 'DYNAMIC_UPDATE_SLICE', 'ELU', 'EXPAND_DIMS', 'FLOOR', 'HARD_SWISH', 'NEG', 'NON_MAX_SUPPRESSION_V4', 'NON_MAX_SUPPRESSION_V5', 'POW', 'PRELU',
     'COMPLEX_ABS', 'CONV_3D', 'CONV_3D_TRANSPOSE', 'FLOOR_DIV', 'IMAG', 'REAL', 'RFFT2D', 'SHAPE', 'L2_POOL_2D', 'LOCAL_RESPONSE_NORMALIZATION', 'READ_VARIABLE', 'RELU_N1_TO_1', 'RESHAPE', 'REVERSE_SEQUENCE', 'ROUND', 'SCATTER_ND', 'SQUARE', 'SQUEEZE', 'STABLEHLO_REDUCE_WINDOW', 'STABLEHLO_SCATTER', 'VAR_HANDLE', 'WHILE'), 1)


class Net:
    """tensor() and operator() give indices; bytes() the file."""

    def __init__(self):
        self.buffers, self.tensors = [schema.BufferT()], []
        self.codes, self.operators, self.others = [], [], []

    def handle(self, name):
        """Of the variable of that name."""
        made = schema.TensorT()
        made.name, made.shape, made.type, made.buffer = name, [], schema.TensorType.RESOURCE, 0
        self.tensors.append(made)
        index = len(self.tensors) - 1
        self.operator('VAR_HANDLE', [], [index], 'VarHandleOptions', container='', sharedName=name)
        return index

    def end_other_graph(self):
        """What was added so far becomes subgraph 1, which CALL_ONCE may name."""
        self.others.append(self.graph([], [], 'other'))
        self.tensors, self.operators = [], []

    def body(self, code):
        """The number of a subgraph that makes one number of two by an operator; None: it gives the second one."""
        tensors, operators = self.tensors, self.operators
        self.tensors, self.operators = [], []
        a, b = self.tensor('a', [], np.float32), self.tensor('b', [], np.float32)
        y = b
        if code is not None:
            y = self.tensor('y', [], np.float32)
            options = {'ADD': 'AddOptions', 'MUL': 'MulOptions', 'MAXIMUM': 'MaximumMinimumOptions', 'MINIMUM': 'MaximumMinimumOptions'}
            self.operator(code, [a, b], [y], options.get(code))
        self.others.append(self.graph([a, b], [y], f'body{len(self.others)}'))
        self.tensors, self.operators = tensors, operators
        return len(self.others)

    def sparse(self, name, data):
        """A constant of rows that are stored without their zeros."""
        rows = data.reshape(len(data), -1)
        index = self.tensor(name, data.shape, data.dtype, data=rows[rows != 0])
        levels = []
        for size in data.shape:
            level = schema.DimensionMetadataT()
            level.format, level.denseSize = schema.DimensionType.DENSE, size
            levels.append(level)
        segments, indices = schema.Int32VectorT(), schema.Uint8VectorT()
        segments.values = [0, *np.cumsum((rows != 0).sum(1)).tolist()]
        indices.values = np.nonzero(rows)[1].astype(np.uint8)
        last = levels[-1]
        last.format, last.denseSize = schema.DimensionType.SPARSE_CSR, 0
        last.arraySegmentsType, last.arraySegments = schema.SparseIndexVector.Int32Vector, segments
        last.arrayIndicesType, last.arrayIndices = schema.SparseIndexVector.Uint8Vector, indices
        sparsity = schema.SparsityParametersT()
        sparsity.traversalOrder, sparsity.dimMetadata = list(range(data.ndim)), levels
        self.tensors[index].sparsity = sparsity
        return index

    def tensor(self, name, shape, dtype, quant=None, data=None, axis=0):
        """quant: (scale or scales, zero point or zero points)."""
        made = schema.TensorT()
        made.name, made.shape, made.type = name, list(shape), TYPES[np.dtype(dtype)]
        made.buffer = 0
        if data is not None:
            made.buffer = len(self.buffers)
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            self.buffers.append(buffer)
        if quant is not None:
            q = schema.QuantizationParametersT()
            q.scale = [float(s) for s in np.atleast_1d(quant[0])]
            q.zeroPoint = [int(z) for z in np.broadcast_to(quant[1], len(q.scale))]
            q.quantizedDimension = axis
            made.quantization = q
        self.tensors.append(made)
        return len(self.tensors) - 1

    def variable(self, name, shape, dtype, quant=None):
        """A tensor that keeps its contents between runs: the state of an operator."""
        index = self.tensor(name, shape, dtype, quant)
        self.tensors[index].isVariable = True
        return index

    def constant(self, name, data, quant=None, axis=0):
        data = np.asarray(data)
        return self.tensor(name, data.shape, data.dtype, quant, data, axis)

    def operator(self, code, inputs, outputs, options=None, **fields):
        """options: the table's name, 'Conv2DOptions'; fields: its fields, as the schema classes call them."""
        number = getattr(schema.BuiltinOperator, code)
        if number not in [c.builtinCode for c in self.codes]:
            made = schema.OperatorCodeT()
            made.builtinCode, made.deprecatedBuiltinCode = number, min(number, 127)
            made.version = VERSIONS.get(code, 2)
            self.codes.append(made)
        operator = schema.OperatorT()
        operator.opcodeIndex = [c.builtinCode for c in self.codes].index(number)
        operator.inputs, operator.outputs = list(inputs), list(outputs)
        if options is not None:
            table = getattr(schema, options + 'T')()
            for name, value in fields.items():
                assert hasattr(table, name), (options, name)
                setattr(table, name, value)
            if hasattr(schema.BuiltinOptions2, options):
                operator.builtinOptions2Type, operator.builtinOptions2 = getattr(schema.BuiltinOptions2, options), table
            else:
                operator.builtinOptionsType, operator.builtinOptions = getattr(schema.BuiltinOptions, options), table
        self.operators.append(operator)

    def custom(self, name, inputs, outputs, options):
        """An operator that is no part of LiteRT; options: bytes."""
        made = schema.OperatorCodeT()
        made.builtinCode = made.deprecatedBuiltinCode = schema.BuiltinOperator.CUSTOM
        made.customCode, made.version = name, 1
        self.codes.append(made)
        operator = schema.OperatorT()
        operator.opcodeIndex = len(self.codes) - 1
        operator.inputs, operator.outputs = list(inputs), list(outputs)
        operator.customOptions = np.frombuffer(options, np.uint8)
        self.operators.append(operator)

    def graph(self, inputs, outputs, name):
        graph = schema.SubGraphT()
        graph.tensors, graph.operators = self.tensors, self.operators
        graph.inputs, graph.outputs, graph.name = list(inputs), list(outputs), name
        return graph

    def bytes(self, inputs, outputs):
        model = schema.ModelT()
        model.version, model.subgraphs = 3, [self.graph(inputs, outputs, 'main'), *self.others]
        model.operatorCodes, model.buffers = self.codes, self.buffers
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b'TFL3')
        return bytes(builder.Output())
