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

FORMATS = {'QOperator': quantization.QuantFormat.QOperator, 'QDQ': quantization.QuantFormat.QDQ}
TYPES = {'u8': quantization.QuantType.QUInt8, 's8': quantization.QuantType.QInt8}


class Samples(quantization.CalibrationDataReader):
    def __init__(self, net):
        self.left = iter([{'x': net.sample(100 + i)} for i in range(8)])

    def get_next(self):
        return next(self.left, None)


def session_of(model):
    options = onnxruntime.SessionOptions()
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
        tmp_path / 'm.onnx', tmp_path / 's.onnx', Samples(net), quant_format=FORMATS[form], per_channel=per_channel,
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


@pytest.mark.parametrize('name', qoperator_nets.NETS, ids=lambda name: name.replace(' ', '-'))
def test_dynamic(name, tmp_path, report):
    net = qoperator_nets.make(name)
    onnx.save(net.model(), tmp_path / 'm.onnx')
    quantization.quantize_dynamic(tmp_path / 'm.onnx', tmp_path / 's.onnx', per_channel=False,
                                  weight_type=quantization.QuantType.QUInt8 if 'Conv' in [n.op_type for n in net.nodes]
                                  else quantization.QuantType.QInt8)
    model = onnx.load(tmp_path / 's.onnx')
    found = compare(model, net, tmp_path, '--mode', 'f32')
    elements, differ = (sum(f[i] for f in found.values()) for i in (0, 1))
    report(f'dynamic {name:10}: {elements} elements, {differ} differ {[(n, f[1:]) for n, f in found.items() if f[1]]}')
    assert max(f[2] for f in found.values()) < 1e-5


@pytest.mark.parametrize('per_channel', (False, True), ids=('tensor', 'channel'))
@pytest.mark.parametrize('direction,batch', (('forward', 1), ('bidirectional', 1), ('forward', 2)))
def test_dynamic_lstm(direction, batch, per_channel, tmp_path, report):
    """DynamicQuantizeLSTM: input and state quantized at each step, all three outputs."""
    random, ways = np.random.default_rng(5), 2 if direction == 'bidirectional' else 1
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
    onnx.save(model, tmp_path / 'q.onnx')
    pipeline.run('model_deploy', tmp_path / 'q.onnx', '-o', tmp_path / 'p.rshift', '--mode', 'f32')
    x = random.normal(size=(5, batch, 6)).astype(np.float32)
    actual, expected = pipeline.infer(tmp_path / 'p.rshift', {'x': x}, tmp_path), session_of(model)(x)
    worst = max(float(np.abs(actual[n] - expected[n]).max()) for n in expected)
    report(f'DynamicQuantizeLSTM {direction} batch {batch}: at most {worst:.1e}')
    assert worst < 1e-5
