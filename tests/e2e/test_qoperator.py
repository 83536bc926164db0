"""Models as ONNX Runtime's own quantizer writes them: QOperator, QDQ and dynamic form against ONNX Runtime running the
same file, under --profile onnxruntime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, shape_inference
from onnxruntime import quantization

import pipeline
import qoperator_nets
import quantize_real_models
from frameworks import ort

FORMATS = {'QOperator': quantization.QuantFormat.QOperator, 'QDQ': quantization.QuantFormat.QDQ}
TYPES = {'u8': quantization.QuantType.QUInt8, 's8': quantization.QuantType.QInt8}


def session_of(model):
    options = ort.exact_sums(model)
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    names = [o.name for o in session.get_outputs()]
    return lambda x: dict(zip(names, session.run(None, {'x': x})))


def expose(model, kinds):
    """Adds what nodes of these kinds make as outputs: QOperator nodes compute the same whoever reads them."""
    have = {o.name for o in model.graph.output}
    for node in model.graph.node:
        if node.op_type in kinds or node.op_type.startswith('QLinear') or node.op_type == 'QGemm':
            if node.output[0] not in have:
                model.graph.output.append(helper.make_empty_tensor_value_info(node.output[0]))
    return model


def compare(model, net, tmp_path, *options, count=2):
    """{output: (elements, differing, largest difference)}"""
    onnx.save(model, tmp_path / 'q.onnx')
    pipeline.run('model_deploy', tmp_path / 'q.onnx', '-o', tmp_path / 'p.rshift', *options)
    expected_of, found = session_of(model), {}
    for index in range(count):
        x = net.sample(index)
        expected = expected_of(x)
        actual = pipeline.infer(tmp_path / 'p.rshift', {'x': x}, tmp_path, '--raw')
        for name, array in expected.items():
            assert actual[name].dtype == array.dtype and actual[name].shape == array.shape
            difference = np.abs(actual[name].astype(np.float64) - array.astype(np.float64))
            old = found.get(name, (0, 0, 0.0))
            found[name] = (old[0] + array.size, old[1] + int((difference != 0).sum()), max(old[2], float(difference.max())))
    return found


@pytest.mark.parametrize('per_channel', (False, True), ids=('tensor', 'channel'))
@pytest.mark.parametrize('kind', TYPES)
@pytest.mark.parametrize('form', FORMATS)
@pytest.mark.parametrize('name', qoperator_nets.NETS, ids=lambda name: name.replace(' ', '-'))
def test_static(name, form, kind, per_channel, tmp_path, report):
    net = qoperator_nets.make(name)
    onnx.save(net.model(), tmp_path / 'm.onnx')
    quantization.quantize_static(
        tmp_path / 'm.onnx', tmp_path / 's.onnx', ort.Reader({'x': net.sample(100 + i)} for i in range(8)), quant_format=FORMATS[form], per_channel=per_channel,
        activation_type=TYPES[kind], weight_type=quantization.QuantType.QInt8)
    model = onnx.load(tmp_path / 's.onnx')
    if form == 'QOperator':
        model = expose(model, ('QuantizeLinear',))
    found = compare(model, net, tmp_path, '--profile', 'onnxruntime')
    elements, differ = (sum(f[i] for f in found.values()) for i in (0, 1))
    commands = pipeline.f32_commands(tmp_path / 'p.rshift')
    report(f'{form} {name:10} {kind} {"channel" if per_channel else "tensor ":7}: {elements} elements, {differ} differ '
           f'{[(n, f[1:]) for n, f in found.items() if f[1]]}; F32 {commands}')
    assert differ == 0


# Of nets with these the last layers are floats of two libraries (MatMul of floats, Sigmoid, Softmax, means).
FLOAT_PARTS = ('pools', 'gates', 'averages', 'classifier')


def products(program):
    """Commands that multiply integers by dynamic records, and those that multiply floats."""
    text = pipeline.run('model_tool', 'disasm', program)
    return text.count('dynamic_conv ') + text.count('dynamic_matmul '), text.count('conv_f32 ') + text.count('matmul_f32 ')


@pytest.mark.parametrize('per_channel', (False, True), ids=('tensor', 'channel'))
@pytest.mark.parametrize('kind', TYPES)
@pytest.mark.parametrize('name', qoperator_nets.NETS, ids=lambda name: name.replace(' ', '-'))
def test_dynamic(name, kind, per_channel, tmp_path, report):
    """quantize_dynamic: every product on integers; equal to ONNX Runtime but where float functions come between."""
    net = qoperator_nets.make(name)
    kinds = [n.op_type for n in net.nodes]
    onnx.save(net.model(), tmp_path / 'm.onnx')
    quantization.quantize_dynamic(tmp_path / 'm.onnx', tmp_path / 's.onnx', per_channel=per_channel, weight_type=TYPES[kind])
    model = onnx.load(tmp_path / 's.onnx')
    found = compare(model, net, tmp_path, '--mode', 'f32')
    elements, differ = (sum(f[i] for f in found.values()) for i in (0, 1))
    integer, floating = products(tmp_path / 'p.rshift')
    report(f'dynamic {name:10} {kind} {"channel" if per_channel else "tensor ":7}: {elements} elements, {differ} differ '
           f'{[(n, f[1:]) for n, f in found.items() if f[1]]}; {integer} integer products, {floating} float')
    wanted = sum(n.op_type in ('ConvInteger', 'MatMulInteger') for n in model.graph.node)
    assert integer == wanted and wanted > 0
    assert floating == sum(k in ('Conv', 'MatMul', 'Gemm') for k in kinds) - wanted
    assert max(f[2] for f in found.values()) < 1e-5 if name in FLOAT_PARTS else differ == 0


@pytest.mark.parametrize('per_channel', (False, True), ids=('tensor', 'channel'))
@pytest.mark.parametrize('kind', TYPES)
@pytest.mark.parametrize('name', ('tokens', 'classifier', 'long sums'), ids=('tokens', 'classifier', 'long-sums'))
def test_dynamic_as_optimized(name, kind, per_channel, tmp_path, report):
    """The graph that ONNX Runtime makes of it, with DynamicQuantizeMatMul and MatMulIntegerToFloat."""
    net = qoperator_nets.make(name)
    onnx.save(net.model(), tmp_path / 'm.onnx')
    quantization.quantize_dynamic(tmp_path / 'm.onnx', tmp_path / 's.onnx', per_channel=per_channel, weight_type=TYPES[kind])
    options = ort.exact_sums()
    options.optimized_model_filepath = str(tmp_path / 'o.onnx')
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.log_severity_level = 4
    onnxruntime.InferenceSession(str(tmp_path / 's.onnx'), options, providers=['CPUExecutionProvider'])
    model = onnx.load(tmp_path / 'o.onnx')
    kinds = [n.op_type for n in model.graph.node]
    fused = [k for k in kinds if k in ('DynamicQuantizeMatMul', 'MatMulIntegerToFloat')]
    found = compare(model, net, tmp_path, '--mode', 'f32')
    elements, differ = (sum(f[i] for f in found.values()) for i in (0, 1))
    integer, floating = products(tmp_path / 'p.rshift')
    report(f'{"+".join(sorted(set(fused)))} {name} {kind}: {elements} elements, '
           f'{differ} differ by at most {max(f[2] for f in found.values()):.1e}, {integer} integer products')
    assert fused and integer == len(fused) + kinds.count('ConvInteger') and floating == 0
    assert max(f[2] for f in found.values()) < 1e-5 if name in FLOAT_PARTS else differ == 0


@pytest.mark.parametrize('kind', TYPES)
@pytest.mark.parametrize('key', ('ad01', 'kws', 'resnet8', 'vww96', 'vit_tiny'))
def test_dynamic_sums_of_real_networks(key, kind, shared, tmp_path, report):
    """Every s32 sum of every product is ONNX Runtime's."""
    file, reach = quantize_real_models.MODELS[key]
    model = quantize_real_models.float_model(shared / 'models' / file, tmp_path / 'f.onnx')
    name, samples = quantize_real_models.samples_of(model, reach, 2)
    quantization.quantize_dynamic(tmp_path / 'f.onnx', tmp_path / 'q.onnx', per_channel=True, weight_type=TYPES[kind])
    elements, differ = quantize_real_models.compare_sums(tmp_path / 'q.onnx', name, samples, tmp_path)
    report(f'{key} {kind}: {elements} sums, {differ} differ; {products(tmp_path / "s.rshift")[0]} integer products')
    # LayerNormalization, Softmax and Gelu stand before the sums of a transformer: one quantum where a last bit decides.
    assert elements > 0 and differ <= (elements // 100 if key == 'vit_tiny' else 0)


@pytest.mark.parametrize('operator', ('MatMulInteger', 'ConvInteger'))
def test_sums_as_outputs(operator, tmp_path, report):
    """s32 sums that leave the graph, of u8 data with a zero point from DynamicQuantizeLinear."""
    random = np.random.default_rng(11)
    conv = operator == 'ConvInteger'
    shape, weights = ((1, 5, 9, 7), (8, 5, 3, 3)) if conv else ((6, 40), (40, 24))
    attributes = {'pads': [1, 0, 1, 2], 'strides': [2, 1]} if conv else {}
    nodes = [helper.make_node('DynamicQuantizeLinear', ['x'], ['q', 's', 'z']),
             helper.make_node(operator, ['q', 'w', 'z', 'wz'], ['y'], **attributes)]
    constants = [onnx.numpy_helper.from_array(random.integers(0, 256, weights).astype(np.uint8), 'w'),
                 onnx.numpy_helper.from_array(np.array(119, np.uint8), 'wz')]
    graph = helper.make_graph(
        nodes, 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info('y', TensorProto.INT32, None), helper.make_tensor_value_info('s', TensorProto.FLOAT, []),
         helper.make_tensor_value_info('z', TensorProto.UINT8, [])], constants)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid('', 13)])
    onnx.save(model, tmp_path / 'q.onnx')
    pipeline.run('model_deploy', tmp_path / 'q.onnx', '-o', tmp_path / 'p.rshift', '--mode', 'f32')
    assert products(tmp_path / 'p.rshift') == (1, 0)
    for low, high in ((-3, 5), (0, 2), (-7, -1)):
        x = random.uniform(low, high, shape).astype(np.float32)
        actual, expected = pipeline.infer(tmp_path / 'p.rshift', {'x': x}, tmp_path, '--raw'), session_of(model)(x)
        for name, array in expected.items():
            assert actual[name].dtype == array.dtype and np.array_equal(actual[name], array), name
    report(f'{operator}: s32 sums, scale and zero point equal')


def dynamic_lstm(direction, batch, per_channel, tmp_path, random):
    """An LSTM of 5 steps as quantize_dynamic writes it."""
    ways = 2 if direction == 'bidirectional' else 1
    constants = {'w': (ways, 32, 6), 'r': (ways, 32, 8), 'b': (ways, 64), 'h': (ways, batch, 8), 'c': (ways, batch, 8)}
    node = helper.make_node('LSTM', ['x', 'w', 'r', 'b', '', 'h', 'c'], ['y', 'y_h', 'y_c'], hidden_size=8,
                            direction=direction)
    graph = helper.make_graph(
        [node], 'g', [helper.make_tensor_value_info('x', TensorProto.FLOAT, [5, batch, 6])],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in node.output],
        [onnx.numpy_helper.from_array(random.normal(size=s).astype(np.float32) / 2, n) for n, s in constants.items()])
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid('', 13)]), tmp_path / 'm.onnx')
    quantization.quantize_dynamic(tmp_path / 'm.onnx', tmp_path / 's.onnx', per_channel=per_channel,
                                  weight_type=quantization.QuantType.QInt8)
    model = onnx.load(tmp_path / 's.onnx')
    assert [n.op_type for n in model.graph.node] == ['DynamicQuantizeLSTM']
    return model


def distance_of_lstm(model, batch, tmp_path, random):
    """Of all three outputs, from ONNX Runtime's."""
    onnx.save(model, tmp_path / 'q.onnx')
    pipeline.run('model_deploy', tmp_path / 'q.onnx', '-o', tmp_path / 'p.rshift', '--mode', 'f32')
    x = random.normal(size=(5, batch, 6)).astype(np.float32)
    actual, expected = pipeline.infer(tmp_path / 'p.rshift', {'x': x}, tmp_path), session_of(model)(x)
    return max(float(np.abs(actual[n] - expected[n]).max()) for n in expected)


@pytest.mark.parametrize('per_channel', (False, True), ids=('tensor', 'channel'))
@pytest.mark.parametrize('direction,batch', (('forward', 1), ('bidirectional', 1), ('forward', 2)))
def test_dynamic_lstm(direction, batch, per_channel, tmp_path, report):
    """DynamicQuantizeLSTM: input and state quantized at each step, products of integers."""
    random = np.random.default_rng(5)
    worst = distance_of_lstm(dynamic_lstm(direction, batch, per_channel, tmp_path, random), batch, tmp_path, random)
    report(f'DynamicQuantizeLSTM {direction} batch {batch}: at most {worst:.1e}')
    ways = 2 if direction == 'bidirectional' else 1
    assert products(tmp_path / 'p.rshift') == (ways * 6, 0)  # the input's, and one a step
    assert worst < 1e-5


def test_dynamic_lstm_whose_scale_no_command_has(tmp_path, report):
    """Scales below 0: products of floats."""
    random = np.random.default_rng(6)
    model = dynamic_lstm('forward', 1, False, tmp_path, random)
    scales = model.graph.node[0].input[8], model.graph.node[0].input[10]
    for tensor in model.graph.initializer:
        if tensor.name in scales:
            tensor.CopyFrom(onnx.numpy_helper.from_array(-onnx.numpy_helper.to_array(tensor), tensor.name))
    worst = distance_of_lstm(model, 1, tmp_path, random)
    report(f'DynamicQuantizeLSTM with scales below 0: at most {worst:.1e}')
    assert products(tmp_path / 'p.rshift') == (0, 5)  # the first state is constant
    assert worst < 1e-5
