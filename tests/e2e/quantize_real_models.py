"""Real networks as ONNX Runtime's quantizer writes them, against ONNX Runtime: equal outputs under --profile onnxruntime?

    python tests/e2e/quantize_real_models.py [--dynamic] [name ...]        needs ../shared (RSHIFT_SHARED) and the programs

Each network of MODELS in QDQ and QOperator form, u8 and s8, one scale or one a channel, and quantize_dynamic (`--mode f32`). One line a form.
The calibration samples are random numbers of the input's usual range: what is compared is arithmetic, not accuracy.
"""

import json
import os
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import shape_inference, version_converter
from onnxruntime import quantization

import pipeline
from frameworks import ort, whole

MODELS = {
    'ad01': ('autoencoder_ad01/ad01_fp32_float.onnx', 1.0), 'kws': ('dscnn_keywords/kws_ref_model_float32_float.onnx', 40.0),
    'resnet8': ('resnet8_cifar10/pretrainedResnet_float.onnx', 255.0), 'vww96': ('vww96/vww_96_float_float.onnx', 1.0),
    'mobilenet_v1_025': ('mobilenet_v1_025/mobilenet_v1_025_float.onnx', 1.0),
    'mobilenet_v2': ('mobilenet_v2/mobilenet_v2_float.onnx', 1.0), 'squeezenet': ('squeezenet_1_1/squeezenet_1_1.onnx', 128.0),
    'mnist_conv': ('mnist_conv/model.onnx', 255.0), 'mobilenet_leaky': ('fashion/clean/mobilenet_leaky.onnx', 1.0),
    'superres': ('superres_x3/pytorch_super_resolution.onnx', 1.0), 'vit_tiny': ('fashion/clean/vit_tiny_op17.onnx', 1.0)}
FORMATS = {'QDQ': quantization.QuantFormat.QDQ, 'QOperator': quantization.QuantFormat.QOperator}
TYPES = {'u8': quantization.QuantType.QUInt8, 's8': quantization.QuantType.QInt8}


def float_model(path, target):
    """The model with batch 1, opset 13 or later and shapes."""
    model = onnx.load(path)
    constants = {t.name for t in model.graph.initializer}
    for value in model.graph.input:
        for dim in [] if value.name in constants else value.type.tensor_type.shape.dim[:1]:
            dim.dim_value = 1
    if model.opset_import[0].version < 13:
        model = version_converter.convert_version(model, 13)
    onnx.save(shape_inference.infer_shapes(model), target)
    return model


def samples_of(model, reach, count):
    constants = {t.name for t in model.graph.initializer}
    entry = next(i for i in model.graph.input if i.name not in constants)
    shape = [d.dim_value or 1 for d in entry.type.tensor_type.shape.dim]
    random = np.random.default_rng(8)
    return entry.name, [(random.uniform(-0.5, 1, shape) * reach).astype(np.float32) for _ in range(count)]


def session_of(model):
    settings = ort.exact_sums(model)
    settings.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=['CPUExecutionProvider'])


def compare(path, name, samples, folder, *options):
    """What was found, as text. With differences in s8 tensors: also against the same model with u8 activations, where
    ONNX Runtime computes in integers what it computes in float here (NUMERICS.md section 18)."""
    done = pipeline.call('model_deploy', path, '-o', folder / 'p.rshift', '--report-json', folder / 'report.json', *options)
    if done.returncode:
        return 'refused: ' + done.stderr.splitlines()[0][:200]
    model = onnx.load(path)
    session = session_of(model)
    is_qdq = not any(n.op_type.startswith('QLinear') for n in model.graph.node)
    try:
        unsigned = session_of(whole.with_unsigned_activations(model)) if is_qdq else session
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        unsigned = None  # a QGemm between types that this ONNX Runtime has no kernel for
    elements = differ = differ_unsigned = 0
    worst = 0.0
    for x in samples:
        ours = pipeline.infer(folder / 'p.rshift', {name: x}, folder, '--raw')
        outputs = session.run(None, {name: x})
        others = unsigned.run(None, {name: x}) if unsigned else [None] * len(outputs)
        for output, theirs, other in zip(session.get_outputs(), outputs, others):
            off = np.abs(ours[output.name].astype(np.float64) - theirs)
            elements, differ, worst = elements + off.size, differ + int((off != 0).sum()), max(worst, float(off.max()))
            differ_unsigned += int((ours[output.name] != other).sum()) if unsigned else 0
    note = f' ({differ_unsigned} from the model with u8 activations)' if differ and unsigned and '--profile' in options else ''
    report = json.loads((folder / 'report.json').read_text())
    return f'{elements} elements, {differ} differ{note}, at most {worst:.2e}; F32 {len(report["float_nodes"])}'


def static_forms(key, samples, name, folder):
    for form, kind, each in ((f, k, c) for f in FORMATS for k in TYPES for c in (False, True)):
        try:
            quantization.quantize_static(folder / 'f.onnx', folder / 'q.onnx', ort.Reader({name: x} for x in samples[:4]),
                                         quant_format=FORMATS[form], per_channel=each,
                                         activation_type=TYPES[kind], weight_type=quantization.QuantType.QInt8)
        except Exception as error:  # pylint: disable=broad-except
            print(f'{key:17} {form:9} {kind} ONNX Runtime cannot quantize it: {str(error)[:100]}', flush=True)
            continue
        found = compare(folder / 'q.onnx', name, samples[4:], folder, '--profile', 'onnxruntime')
        print(f'{key:17} {form:9} {kind} {"channel" if each else "tensor ":7} {found}', flush=True)


def compare_sums(path, name, samples, folder):
    """The s32 sums of all integer products, as outputs of the model: how many there are, how many differ."""
    model = onnx.load(path)
    sums = [n.output[0] for n in model.graph.node if n.op_type in ('ConvInteger', 'MatMulInteger')]
    model.graph.output.extend(onnx.helper.make_tensor_value_info(s, onnx.TensorProto.INT32, None) for s in sums)
    onnx.save(model, folder / 's.onnx')
    pipeline.run('model_deploy', folder / 's.onnx', '-o', folder / 's.rshift', '--mode', 'f32')
    session = session_of(model)
    elements = differ = 0
    for x in samples:
        ours = pipeline.infer(folder / 's.rshift', {name: x}, folder, '--raw')
        for found, theirs in zip(sums, session.run(sums, {name: x})):
            elements, differ = elements + theirs.size, differ + int((ours[found] != theirs).sum())
    return elements, differ


def dynamic_forms(key, samples, name, folder):
    for kind, each in ((k, c) for k in TYPES for c in (False, True)):
        quantization.quantize_dynamic(folder / 'f.onnx', folder / 'q.onnx', per_channel=each, weight_type=TYPES[kind])
        found = compare(folder / 'q.onnx', name, samples[4:], folder, '--mode', 'f32')
        text = pipeline.run('model_tool', 'disasm', folder / 'p.rshift')
        count = text.count('dynamic_conv ') + text.count('dynamic_matmul ')
        floats = text.count('conv_f32 ') + text.count('matmul_f32 ')
        elements, differ = compare_sums(folder / 'q.onnx', name, samples[4:], folder)
        print(f'{key:17} dynamic   {kind} {"channel" if each else "tensor ":7} products: {count} integer, {floats} F32; '
              f'{elements} sums, {differ} differ; outputs: {found}', flush=True)


def main(wanted):
    shared = pathlib.Path(os.environ.get('RSHIFT_SHARED', pipeline.ROOT.parent / 'shared')) / 'models'
    forms = [dynamic_forms] if '--dynamic' in wanted else [static_forms, dynamic_forms]
    names = [name for name in wanted if name != '--dynamic']
    for key, (file, reach) in MODELS.items():
        if names and key not in names:
            continue
        with tempfile.TemporaryDirectory() as name_of_folder:
            folder = pathlib.Path(name_of_folder)
            model = float_model(shared / file, folder / 'f.onnx')
            name, samples = samples_of(model, reach, 6)
            for run in forms:
                run(key, samples, name, folder)


if __name__ == '__main__':
    main(sys.argv[1:])
