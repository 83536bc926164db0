"""STABLEHLO_COMPOSITE: operators of a .tflite file that stand for a subgraph, as exporters of PyTorch write attention and
normalisation. LiteRT runs the subgraph; here its operators take the place of the one."""

import copy

import flatbuffers
import numpy as np
import pytest
from flatbuffers import flexbuffers

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

import pipeline  # noqa: E402
from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from frameworks import litert, tflite_cases  # noqa: E402
from frameworks.ours import outputs_of as ours_of  # noqa: E402

CASES = {case.name: case for case in tflite_cases.cases()}
NAMES = ['conv_same11none', 'conv_same22relu6', 'depthwise_valid21relu', 'fully_connected', 'softmax', 'mirror_pad', 'split']


def model_of(content):
    return schema.ModelT.InitFromPackedBuf(content, 0)


def bytes_of(model):
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b'TFL3')
    return bytes(builder.Output())


def composite(model, name, number, inputs, outputs):
    """An operator that calls subgraph `number`."""
    made = schema.OperatorT()
    codes = [code.builtinCode for code in model.operatorCodes]
    if schema.BuiltinOperator.STABLEHLO_COMPOSITE not in codes:
        code = schema.OperatorCodeT()
        code.builtinCode, code.deprecatedBuiltinCode, code.version = schema.BuiltinOperator.STABLEHLO_COMPOSITE, 127, 1
        model.operatorCodes.append(code)
        codes.append(code.builtinCode)
    made.opcodeIndex = codes.index(schema.BuiltinOperator.STABLEHLO_COMPOSITE)
    made.inputs, made.outputs = inputs, outputs
    options = schema.StableHLOCompositeOptionsT()
    options.name, options.decompositionSubgraphIndex = name, number
    options.compositeAttributes = list(flexbuffers.Dumps({}))
    made.builtinOptions2Type, made.builtinOptions2 = schema.BuiltinOptions2.StableHLOCompositeOptions, options
    return made


def wrapped(content, times):
    """The graph becomes subgraph 1, which subgraph 0 calls: `times` deep."""
    model = model_of(content)
    for level in range(times):
        inner, outer = model.subgraphs[0], copy.deepcopy(model.subgraphs[0])
        ends = [*inner.inputs, *inner.outputs]
        outer.tensors = [copy.deepcopy(inner.tensors[i]) for i in ends]
        outer.inputs, outer.outputs = list(range(len(inner.inputs))), list(range(len(inner.inputs), len(ends)))
        model.subgraphs.append(inner)
        outer.operators = [composite(model, f'rshift.test{level}', len(model.subgraphs) - 1, outer.inputs, outer.outputs)]
        model.subgraphs[0] = outer
    return bytes_of(model)


@pytest.mark.parametrize('times', [1, 3])
@pytest.mark.parametrize('name', NAMES)
def test_float(name, times, tmp_path):
    content, samples = tflite_cases.build(CASES[name], int8=False)
    content = wrapped(content, times)
    theirs = litert.outputs_of(content, 'tflite-xnnpack', samples)
    ours = ours_of(content, samples, tmp_path, '--mode', 'f32')
    for key, goal in theirs.items():
        np.testing.assert_allclose(ours[key], goal, rtol=1e-5, atol=CASES[name].near)


@pytest.mark.parametrize('name', [name for name in NAMES if CASES[name].int8 == 'free'])
def test_int8_gives_the_bytes_of_litert(name, tmp_path):
    content, samples = tflite_cases.build(CASES[name], int8=True)
    content = wrapped(content, 1)
    theirs = litert.outputs_of(content, 'tflite-ref', samples)
    ours = ours_of(content, samples, tmp_path, '--profile', 'tflite-ref')
    for key, goal in theirs.items():
        assert (ours[key] == goal).all(), key


def test_two_calls_of_one_subgraph_have_tensors_of_their_own(tmp_path):
    content, samples = tflite_cases.build(CASES['softmax'], int8=False)
    model = model_of(wrapped(content, 1))
    graph = model.subgraphs[0]
    middle = copy.deepcopy(graph.tensors[graph.outputs[0]])
    middle.name = b'middle'
    graph.tensors.append(middle)
    last = len(graph.tensors) - 1
    graph.operators = [composite(model, 'twice', 1, [graph.inputs[0]], [last]),
                       composite(model, 'twice', 1, [last], [graph.outputs[0]])]
    content = bytes_of(model)
    theirs = litert.outputs_of(content, 'tflite-xnnpack', samples)
    ours = ours_of(content, samples, tmp_path, '--mode', 'f32')
    for key, goal in theirs.items():
        np.testing.assert_allclose(ours[key], goal, rtol=1e-5, atol=1e-5)


def refusal_of(model, folder):
    (folder / 'net.tflite').write_bytes(bytes_of(model))
    return pipeline.fails('model_deploy', folder / 'net.tflite', '--mode', 'f32', '-o', folder / 'net.rshift')


@pytest.mark.parametrize('harm', ['itself', 'number', 'count', 'options', 'output', 'made', 'bomb'])
def test_what_cannot_be_called_is_refused_in_one_line(harm, tmp_path):
    content, _ = tflite_cases.build(CASES['softmax'], int8=False)
    model = model_of(wrapped(content, 1))
    inner, op = model.subgraphs[1], model.subgraphs[0].operators[0]
    if harm == 'itself':
        inner.operators = [composite(model, 'loop', 1, inner.inputs, inner.outputs)]
    elif harm == 'number':
        op.builtinOptions2.decompositionSubgraphIndex = 7
    elif harm == 'count':
        inner.inputs = [*inner.inputs, inner.inputs[0]]
    elif harm == 'options':
        op.builtinOptions2Type, op.builtinOptions2 = 0, None
    elif harm == 'made':
        inner.operators[0].outputs = list(inner.inputs)
        op.inputs = [-1]
    elif harm == 'bomb':  # each subgraph calls the next one forty times
        model.subgraphs += [copy.deepcopy(inner) for _ in range(12)]
        for level in range(1, 13):
            model.subgraphs[level].operators = [composite(model, 'more', level + 1, inner.inputs, inner.outputs)] * 40
    else:
        inner.outputs = list(inner.inputs)
    error = refusal_of(model, tmp_path)
    expected = {'itself': 'within itself', 'number': 'subgraph 7 of 2', 'count': '1 inputs and 1 outputs, its subgraph 2 and 1',
                'options': 'has no options', 'output': '1 of 1 nodes is not supported',
                'made': "a subgraph's input is what", 'bomb': 'counted at each call'}[harm]
    assert expected in error, error
