"""LiteRT in its three ways; each is a profile of its own."""

import numpy as np
from ai_edge_litert import interpreter

from frameworks import tflite_builder

_RESOLVERS = interpreter.OpResolverType
WAYS = {'tflite-ref': _RESOLVERS.BUILTIN_REF,
        'tflite-ruy': _RESOLVERS.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        'tflite-xnnpack': _RESOLVERS.BUILTIN}


def load(content, profile, keep=False):
    """An interpreter of the bytes of a .tflite file; keep: intermediate tensors stay readable."""
    made = interpreter.Interpreter(
        model_content=content, experimental_op_resolver_type=WAYS[profile], num_threads=1,
        experimental_preserve_all_tensors=keep)
    made.allocate_tensors()
    return made


def outputs_of(content, profile, samples):
    """{output: array} of one run over {input: array}."""
    made = load(content, profile)
    for detail in made.get_input_details():
        made.set_tensor(detail['index'], samples[detail['name']])
    made.invoke()
    return {d['name']: np.array(made.get_tensor(d['index'])) for d in made.get_output_details()}


def delegated(made):
    return any('DELEGATE' in op['op_name'].upper() for op in made._get_ops_details())  # pylint: disable=protected-access


def run(case, profile):
    """(output, whether a delegate took the operator)."""
    made = load(tflite_builder.build(case), profile)
    for detail, x in zip(made.get_input_details(), case.inputs):
        made.set_tensor(detail['index'], x)
    made.invoke()
    return np.array(made.get_tensor(made.get_output_details()[0]['index'])), delegated(made)


class Model:
    """tensors(bytes NHWC) -> {N: array}, of one way."""

    def __init__(self, content, profile):
        self.made = load(content, profile, keep=True)
        self.plain = load(content, profile)

    def tensors(self, image, indices):
        found = {}
        self.made.set_tensor(self.made.get_input_details()[0]['index'], image)
        self.made.invoke()
        for n in indices:
            found[n] = np.array(self.made.get_tensor(n))
        return found

    def output(self, image):
        """(N, array) of the interpreter that keeps nothing: its delegate holds the whole graph."""
        self.plain.set_tensor(self.plain.get_input_details()[0]['index'], image)
        self.plain.invoke()
        index = self.plain.get_output_details()[0]['index']
        return index, np.array(self.plain.get_tensor(index))
