"""tools/bench_peers.py on its smallest network: every row is there and every runtime computes the same. No times."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import pipeline

TOOLS = pipeline.ROOT / 'tools'
SHARED = pathlib.Path(os.environ.get('RSHIFT_SHARED', pipeline.ROOT.parent / 'shared'))
sys.path.insert(0, str(TOOLS))

from bench import chain, networks, rounds, store  # noqa: E402

PACKAGES = {'onnxruntime': 'onnxruntime', 'litert': 'ai_edge_litert', 'openvino': 'nncf', 'ncnn': 'ncnn'}
PEERS = [peer for peer, package in PACKAGES.items() if importlib.util.find_spec(package)]


def bench(*arguments):
    return subprocess.run([sys.executable, str(TOOLS / 'bench_peers.py'), '--bin', str(pipeline.BIN), *arguments],
                          capture_output=True, text=True, timeout=300, check=False)


def test_every_peer_agrees_with_float_and_has_its_rows(tmp_path):
    if not {'onnxruntime', 'litert'} <= set(PEERS):
        pytest.skip('ONNX Runtime and LiteRT are not both installed')
    done = bench('--models', 'tiny', '--peers', ','.join(PEERS), '--quick', '--rounds', '2', '--milliseconds', '10',
                 '--patience', '0', '--keep', str(tmp_path / 'kept'), '--json', str(tmp_path / 'rows.json'))
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / 'rows.json').read_text())
    rows = found['rows']
    assert found['not_measured'] == []
    assert found['versions']['onnxruntime'] in done.stdout and found['cpu']['model'] in done.stdout
    assert {(r['peer'], r['dtype'], r['mode'], r['threads']) for r in rows} == {
        (peer, dtype, mode, threads) for peer in PEERS for threads in (1, 2)
        for dtype, mode in (('int8', 'symmetric'), ('int8', 'asymmetric'), ('f32', 'f32'))}
    for row in rows:
        least = 0.99999 if row['dtype'] == 'f32' else 0.999
        assert row['cosine'] > least and row['our_cosine'] > least, row
        assert 0 < row['spread'][0] <= row['ratio'] <= row['spread'][1], row
        assert row['setting'] in row['settings'] and row['rounds'] in (1, 2)  # 1: a program disturbed the other
        assert (row['our_peak_share'] is None) == (row['dtype'] == 'f32' or found['profiles'][0]['peak_gops'] == 0)
    assert [(p['model'], p['mode'], p['threads']) for p in found['profiles']] == [
        ('tiny', mode, threads) for threads in (1, 2) for mode in ('symmetric', 'asymmetric', 'f32')]
    assert all(p['commands'] for p in found['profiles'])


def test_calibration_beside_decoding_and_the_entropy_calibrator(tmp_path):
    if 'onnxruntime' not in PEERS or not (SHARED / 'images/imagenet_val').exists():
        pytest.skip('ONNX Runtime is not installed, or there are no photographs')
    done = bench('--calibration', '--models', 'squeezenet_1_1', '--samples', '3', '--rounds', '1', '--threads', '2',
                 '--shared', str(SHARED), '--json', str(tmp_path / 'rows.json'))
    assert done.returncode == 0, done.stderr
    (row,) = json.loads((tmp_path / 'rows.json').read_text())['rows']
    assert (row['model'], row['threads'], row['images'], len(row['rounds'])) == ('squeezenet_1_1', 2, 3, 1)
    assert set(row['rounds'][0]) == {'ours', 'run', 'pool'} and row['peer'] in ('run', 'pool')
    assert min(row[k] for k in ('our_images_s', 'peer_images_s', 'entropy_images_s', 'ratio', 'cpu_ratio', 'entropy_ratio')) > 0
    assert row['elements'] > 3 * 2e6 and 0 < row['statistics_ns'] < 100  # every tensor of every image
    assert 'squeezenet_1_1' in done.stdout


def test_layers_of_int16_beside_litert_and_8_bits(tmp_path):
    if 'litert' not in PEERS or 'onnxruntime' not in PEERS:
        pytest.skip('LiteRT is not installed')
    done = bench('--int16', '--rounds', '1', '--milliseconds', '5', '--patience', '0', '--keep', str(tmp_path / 'kept'),
                 '--json', str(tmp_path / 'rows.json'))
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / 'rows.json').read_text())['rows']
    assert [row['layer'].split()[0] for row in rows] == ['conv', 'conv', 'depthwise', 'dense']
    for row in rows:
        assert row['layer'] in done.stdout and min(row[k] for k in ('our_ms', 'eight_ms', 'litert_ms')) > 0
        assert abs(row['rate'] - row['eight_ms'] / row['our_ms']) < 1e-9 and abs(row['ratio'] - row['litert_ms'] / row['our_ms']) < 1e-9


@pytest.mark.parametrize('arguments, says', [
    (['--calibration', '--models', 'resnet50'], '--models resnet50: expected some of squeezenet_1_1'),
    (['--models', 'resnet51'], '--models resnet51: expected some of resnet50'),
    (['--peers', 'tvm'], '--peers tvm: expected some of onnxruntime'),
    (['--threads', 'two'], '--threads two: expected numbers'),
    (['--bin', '/nowhere'], '/nowhere/model_calibrate is missing')])
def test_wrong_arguments_get_one_line(arguments, says):
    if 'onnxruntime' not in PEERS:
        pytest.skip('ONNX Runtime is not installed')
    done = bench('--peers', 'onnxruntime', *arguments)
    lines = [line for line in done.stderr.splitlines() if 'error:' in line]
    assert done.returncode != 0 and len(lines) == 1 and says in lines[0], done.stderr


def slices(*medians, disturbed=()):
    return [rounds.Slice(m, m, 0, i in disturbed) for i, m in enumerate(medians)]


def test_ratio_is_the_median_of_the_rounds_nobody_disturbed():
    row = rounds.ratio(slices(2, 3, 4, 90, disturbed=(3,)), slices(1, 1, 1, 1))
    assert (row['ratio'], row['rounds'], row['disturbed_rounds'], row['range']) == (3, 3, 1, [2, 4])
    row = rounds.ratio(slices(2, 4, disturbed=(0,)), slices(1, 1, disturbed=(1,)))
    assert (row['ratio'], row['rounds'], row['disturbed_rounds']) == (3, 2, 2)  # nothing better is left


def test_a_kept_model_is_made_again_only_when_its_inputs_change(tmp_path):
    source, made = tmp_path / 'source', []
    kept = store.Store(tmp_path / 'kept')

    def get(options):
        store.digest.cache_clear()
        return kept.file('m.bin', [source], options, lambda path: (made.append(path), path.write_bytes(b'x')))

    source.write_bytes(b'1')
    first = get('a')
    assert get('a') == first and len(made) == 1
    assert get('b') != first and len(made) == 2
    source.write_bytes(b'2')
    assert get('a') != first and len(made) == 3


@pytest.mark.parametrize('name, macs, layers', [
    ('resnet50', 4.1e9, 74), ('mobilenet_v1', 5.7e8, 31), ('mobilenet_v2', 3.0e8, 66), ('squeezenet_1_1', 3.5e8, 40)])
def test_the_networks_have_the_size_of_their_names(tmp_path, name, macs, layers):
    """Multiply-accumulates as published, within 2 %."""
    path = tmp_path / 'net.onnx'
    path.write_bytes(networks.NETWORKS[name]().SerializeToString())
    found = chain.read(path)
    total = sum(layer.weights[0].size * np.prod(layer.shape) for layer in found if layer.weights is not None)
    assert len(found) == layers and abs(total / macs - 1) < 0.02, (len(found), total)
