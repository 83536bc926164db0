"""Which of ONNX's node tests we refuse, and why: onnx_node_suite.py holds the list against what happens, both ways. A
refused case that no rule explains is a failure, and so is a rule that explains none."""

import dataclasses

from onnx import TensorProto


@dataclasses.dataclass(frozen=True)
class Rule:
    """Explains a case that has one of these element types in its inputs or outputs, one of these kinds of values, an
    operator, a domain, or its name. A case that is named must be refused."""
    reason: str
    types: tuple = ()
    kinds: tuple = ()  # sequence_type, optional_type, map_type
    operators: tuple = ()
    domains: tuple = ()
    cases: tuple = ()


def _types(*names):
    return tuple(getattr(TensorProto, name) for name in names if hasattr(TensorProto, name))


RULES = (
    Rule('random numbers: no two runtimes give the same', cases=(
        'test_training_dropout', 'test_training_dropout_default', 'test_training_dropout_default_mask', 'test_training_dropout_mask'),
         operators=('Bernoulli', 'RandomNormal', 'RandomNormalLike', 'RandomUniform', 'RandomUniformLike', 'Multinomial')),
    Rule('strings', types=_types('STRING'), operators=('TfIdfVectorizer', 'RegexFullMatch', 'StringNormalizer')),
    Rule('sequences and optional values', kinds=('sequence_type', 'optional_type', 'map_type'), operators=(
        'OptionalHasElement', 'OptionalGetElement')),
    Rule('training', domains=('ai.onnx.preview.training',), cases=('test_batchnorm_epsilon_training_mode',
                                                                   'test_batchnorm_example_training_mode')),
    Rule('decoding of images', operators=('ImageDecoder',)),
    Rule('classical machine learning', domains=('ai.onnx.ml',)),
    Rule('floats of 8 and 4 bits', types=_types('FLOAT8E4M3FN', 'FLOAT8E4M3FNUZ', 'FLOAT8E5M2', 'FLOAT8E5M2FNUZ', 'FLOAT8E8M0',
                                                'FLOAT4E2M1')),
    Rule('tensors of 4 and 2 bits as inputs or outputs of a model', types=_types('INT4', 'UINT4', 'INT2', 'UINT2')),
    Rule('the bits of a double: it has become a float when BitCast sees it', cases=('test_bitcast_float64_to_int64',)),
)


def _elements(kind):
    """Types and kinds that a value's type is made of."""
    which = kind.WhichOneof('value')
    if which in ('tensor_type', 'sparse_tensor_type'):
        return {getattr(kind, which).elem_type}
    if which in ('sequence_type', 'optional_type'):
        return {which} | _elements(getattr(kind, which).elem_type)
    return {which}


def rule_of(case):
    """The first rule that explains the case, or None."""
    graph = case.model.graph
    found = set().union(*(_elements(info.type) for info in (*graph.input, *graph.output)))
    operators = {node.op_type for node in graph.node} | {node.op_type for f in case.model.functions for node in f.node}
    domains = {node.domain for node in graph.node}
    for rule in RULES:
        if (found & {*rule.types, *rule.kinds} or operators & {*rule.operators} or domains & {*rule.domains}
                or case.name in rule.cases):
            return rule
    return None
