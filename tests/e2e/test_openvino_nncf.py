"""Networks that NNCF quantized, under profile openvino beside OpenVINO: the bytes of each layer from OpenVINO's own inputs, and behind
every FakeQuantize of the whole network."""

import subprocess

import pytest

import openvino_layers as layers
import openvino_networks as networks


@pytest.fixture(autouse=True, scope='module')
def nncf():
    found = networks.PYTHON.exists() and subprocess.run([networks.PYTHON, '-c', 'import nncf, openvino'], capture_output=True,
                                                        check=False).returncode == 0
    if not found:
        pytest.skip('build/benchvenv has no nncf: python3 -m venv build/benchvenv && build/benchvenv/bin/pip install openvino nncf')


CASES = (('resnet8_cifar10', []), ('resnet8_cifar10', ['mixed']), ('fashion_mobilenet_leaky', []), ('fashion_resnet_prelu', []),
         ('fashion_resnet_prelu', ['mixed']), ('mobilenet_v2', []))


@pytest.mark.parametrize(('name', 'preset'), CASES)
def test_layers_and_networks_give_openvinos_bytes(name, preset, shared, tmp_path, report):
    case = networks.CASES[name]
    rows = layers.compare(layers.quantize(case, shared, tmp_path, preset), tmp_path)
    total, wrong = sum(row[1] for row in rows), sum(row[2] for row in rows)
    report(f'{name} {preset}: {total} bytes of {len(rows)} layers from equal inputs, {wrong} differ {[row for row in rows if row[2]]}')
    assert wrong == 0
    (tmp_path / 'parts').mkdir()
    networks.openvino('cut', tmp_path / 'int8.xml', tmp_path / 'x2.npy', tmp_path / 'parts', 1000)
    whole = networks.compare_parts(tmp_path / 'parts', networks.images(case, shared, 2))
    total, wrong = sum(row[1] for row in whole), sum(row[2] for row in whole)
    report(f'{name} {preset}: {total} bytes of the whole network, {wrong} differ')
    assert wrong == 0
