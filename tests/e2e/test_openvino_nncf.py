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


# Bytes of the whole network that may differ. resnet_prelu: one sum is 193.5 levels exactly, OpenVINO's is one binary32 below; 153 bytes follow.
CASES = (('resnet8_cifar10', [], 0), ('resnet8_cifar10', ['mixed'], 0), ('fashion_mobilenet_leaky', [], 0), ('fashion_resnet_prelu', [], 200),
         ('fashion_resnet_prelu', ['mixed'], 0))


@pytest.mark.parametrize(('name', 'preset', 'most'), CASES)
def test_layers_and_networks_give_openvinos_bytes(name, preset, most, shared, tmp_path, report):
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
    assert wrong <= most
