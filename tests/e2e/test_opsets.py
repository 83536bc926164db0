"""Models of the newest opsets: the table in graph/onnx/opset.cc against the operators of the installed onnx package."""

import re

import numpy as np
import onnx
import onnx.defs
import pytest

import oracle
import pipeline

GRAPH = pipeline.ROOT / 'graph' / 'onnx'
FIRST = 24


def newest():
    return int(re.search(r'kNewestOpset = (\d+)', (GRAPH / 'opset.h').read_text())[1])


def importable():
    """The operators that have an import function."""
    return {name for path in GRAPH.glob('*.cc') for name in re.findall(r'\{"(\w+)",\s*(?:Import|\[)', path.read_text())}


def surface(schema):
    """Everything that an operator is, but the element types it takes."""
    attributes = {name: (a.type, str(a.default_value), a.required) for name, a in schema.attributes.items()}
    return attributes, [(i.name, i.option) for i in schema.inputs], [(o.name, o.option) for o in schema.outputs], schema.doc


def test_every_changed_operator_has_been_looked_at():
    last = min(newest(), onnx.defs.onnx_opset_version())
    changed = set()
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain or not FIRST <= schema.since_version <= last or schema.name not in importable():
            continue
        if not onnx.defs.has(schema.name, FIRST - 1, ''):
            continue  # new: what has an import function has been looked at
        if surface(schema) != surface(onnx.defs.get_schema(schema.name, schema.since_version - 1, '')):
            changed.add((schema.name, schema.since_version))
    listed = re.findall(r'^    \{"(\w+)", (\d+),', (GRAPH / 'opset.cc').read_text(), re.M)
    assert changed == {(name, int(version)) for name, version in listed if int(version) <= last}


def test_operators_of_the_oldest_opsets_are_those_that_did_not_change():
    listed = re.search(r'kUnchanged\[\] = \{(.*?)\};', (GRAPH / 'opset.cc').read_text(), re.S)[1]
    for name in re.findall(r'"(\w+)"', listed):
        assert onnx.defs.get_schema(name, 6, '').since_version == 1, name
        assert name in importable()


def test_newest_opset_of_the_package_is_read():
    assert newest() >= onnx.defs.onnx_opset_version(), 'look at what changed, then raise kNewestOpset'


@pytest.mark.parametrize('opset', (FIRST, newest()))
def test_model_of_a_newer_opset_is_the_same_program(opset, tmp_path):
    model = onnx.load(pipeline.EXAMPLE)
    model.opset_import[0].version = opset
    onnx.save(model, tmp_path / 'newer.onnx')
    np.save(tmp_path / 'x.npy', oracle.fashion_images(count=1))
    results = []
    for name, path in (('old', pipeline.EXAMPLE), ('new', tmp_path / 'newer.onnx')):
        pipeline.deploy(path, tmp_path / f'{name}.rshift', mode='f32')
        pipeline.run('model_runner', tmp_path / f'{name}.rshift', '--input', tmp_path / 'x.npy', '--output',
                     tmp_path / f'{name}.npz')
        results.append((tmp_path / f'{name}.npz').read_bytes())
    assert results[0] == results[1]
