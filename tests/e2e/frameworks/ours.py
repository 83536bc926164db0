"""Cases through model_deploy and model_runner: one program for many cases."""

import pathlib

import pipeline
from frameworks import qdq_builder

# What --isa may name, and the CPU flag each needs.
INSTRUCTION_SETS = {'scalar': '', 'avx2': 'avx2', 'avxvnni': 'avx_vnni', 'avx512vnni': 'avx512_vnni'}


def instruction_sets(op):
    """Those of this CPU; scalar and the best one where no kernel has more than these."""
    flags = pathlib.Path('/proc/cpuinfo').read_text().split()
    found = [isa for isa, flag in INSTRUCTION_SETS.items() if not flag or flag in flags]
    return found if op in ('conv', 'depthwise', 'fc', 'add') else sorted({found[0], found[-1]})


def deploy(cases, profile, folder):
    """One program that holds all cases side by side."""
    model, program = folder / 'cases.onnx', folder / 'cases.rshift'
    model.write_bytes(qdq_builder.build_all(cases).SerializeToString())
    pipeline.run('model_deploy', model, '--profile', profile, '-o', program)
    return program


def outputs_of(content, samples, folder, *how):
    """What litert.outputs_of() gives, of our tools: {output: array} of the bytes of a .tflite file, deployed by the options `how`."""
    (folder / 'net.tflite').write_bytes(content)
    pipeline.run('model_deploy', folder / 'net.tflite', '-o', folder / 'net.rshift', *how)
    return pipeline.infer(folder / 'net.rshift', samples, folder, '--raw')


def run(program, cases, folder, isa):
    """The output bytes of each case, NHWC."""
    inputs = {name: x for i, case in enumerate(cases)
              for name, x in qdq_builder.feeds(case, qdq_builder.prefix(i)).items()}
    outputs = pipeline.infer(program, inputs, folder, '--isa', isa, '--threads', '1')
    return [qdq_builder.to_nhwc(qdq_builder.bytes_of(outputs[qdq_builder.prefix(i) + 'y'],
                                                     case.output_quant))
            for i, case in enumerate(cases)]
