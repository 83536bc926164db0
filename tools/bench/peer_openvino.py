"""OpenVINO on the CPU, latency hint, one request: its own tool's models (NNCF), and QDQ models read as they are."""

import contextlib
import io
import logging
import os
import tempfile

import numpy as np
import openvino

from bench import peer_onnxruntime, transformers

PRESETS = ('mixed', 'performance')  # asymmetric where values are negative, or symmetric everywhere
QDQ = ('u8s8 per channel', 's8s8 per channel', 'u8s8 per tensor')


def quantize(case, path, preset):
    """Writes NNCF's model as the two arrays xml and bin of an .npz."""
    import nncf  # slow to import; workers do not need it

    logging.getLogger('nncf').setLevel(logging.ERROR)
    model = openvino.Core().read_model(str(case.onnx))
    rows = nncf.Dataset([{case.input_name: row[None]} for row in np.load(case.samples)])
    with contextlib.redirect_stdout(io.StringIO()):  # its progress bars
        if preset == 'transformer':
            made = nncf.quantize(model, rows, model_type=nncf.ModelType.TRANSFORMER)
        else:
            made = nncf.quantize(model, rows, preset=nncf.QuantizationPreset(preset))
    with tempfile.TemporaryDirectory() as folder:
        openvino.save_model(made, f'{folder}/m.xml', compress_to_fp16=False)
        files = {end: np.fromfile(os.path.join(folder, f'm.{end}'), np.uint8) for end in ('xml', 'bin')}
    np.savez(path, **files)


def read(file):
    core = openvino.Core()
    if not file.endswith('.npz'):
        return core, core.read_model(file)
    with np.load(file) as files:
        return core, core.read_model(files['xml'].tobytes(), files['bin'].tobytes())


def models(case, store, dtype, quick):
    """[(label, options)], the default first."""
    if dtype == 'f32':  # its default is bfloat16 where the CPU has it
        return [('f32', {'file': str(case.onnx), 'config': {'INFERENCE_PRECISION_HINT': 'f32'}})]
    found = []
    presets = ('transformer', *PRESETS) if case.name in transformers.NETWORKS else PRESETS
    for preset in presets[:1 if quick else None]:
        file = store.file(f'{case.name}_nncf.npz', [case.onnx, case.samples], [preset, openvino.__version__],
                          lambda path, preset=preset: quantize(case, path, preset))
        found.append((f'nncf {preset}', {'file': str(file), 'config': {}}))
    for label in () if quick else QDQ:
        found.append((f'qdq {label}', {'file': str(peer_onnxruntime.qdq(case, store, label)), 'config': {}}))
    return found


def settings(_dtype, threads, quick):
    """[(label, options)], the default first."""
    found = [('default', {'threads': threads})]
    if not quick:
        found += [('pinned', {'threads': threads, 'extra': {'ENABLE_CPU_PINNING': True}}),
                  ('not pinned', {'threads': threads, 'extra': {'ENABLE_CPU_PINNING': False}}),
                  ('denormals are zero', {'threads': threads, 'extra': {'CPU_DENORMALS_OPTIMIZATION': True}})]
    return found


class Model:
    """The input tensor is set once, so that a step is the inference alone."""

    def __init__(self, file, threads, config, extra=None):
        core, model = read(file)
        if model.is_dynamic():
            model.reshape([d.get_length() if d.is_static else 1 for d in model.input(0).get_partial_shape()])
        compiled = core.compile_model(model, 'CPU', {
            'PERFORMANCE_HINT': 'LATENCY', 'INFERENCE_NUM_THREADS': threads, 'NUM_STREAMS': 1, **config,
            **(extra or {})})
        self.request = compiled.create_infer_request()
        self.request.set_input_tensor(openvino.Tensor(np.zeros(list(compiled.input(0).shape), np.float32)))

    def step(self):
        self.request.infer()

    def output(self, sample):
        self.request.set_input_tensor(openvino.Tensor(np.ascontiguousarray(sample)))
        self.request.infer()
        return self.request.get_output_tensor(0).data.copy()
