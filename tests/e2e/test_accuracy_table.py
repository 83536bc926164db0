"""tools/accuracy.py on one network: ours and a live peer on the same arrays, and its refusals."""

import importlib.util
import json
import subprocess
import sys

import pytest

import pipeline

TOOL = pipeline.ROOT / 'tools/accuracy.py'


def table(*arguments):
    if importlib.util.find_spec('onnxruntime') is None:
        pytest.skip('ONNX Runtime is not installed')
    return subprocess.run([sys.executable, str(TOOL), '--bin', str(pipeline.BIN), *map(str, arguments)], capture_output=True, text=True,
                          timeout=600, check=False)


def test_a_row_for_each_mode(shared, tmp_path, report):
    done = table('--nets', 'fashion_mobilenet_leaky', '--ways', 'default,shift off', '--peers', 'ORT minmax', '--shared', shared,
                 '--folder', tmp_path, '--json', tmp_path / 'rows.json')
    assert done.returncode == 0, done.stderr
    head, _, *rows = done.stdout.splitlines()
    assert head == '| network | mode | float | default | shift off | ORT minmax |'
    for row in rows:
        report('accuracy: ' + row)
    found = json.loads((tmp_path / 'rows.json').read_text())['fashion_mobilenet_leaky']
    assert found.keys() == set(pipeline.INTEGER_MODES)
    assert found['asymmetric']['shift off'] == '-'
    assert found['symmetric']['shift off'] != found['symmetric']['default']
    for row in found.values():
        for way in ('default', 'ORT minmax'):
            assert abs(row[way][0] - row['float'][0]) <= 1.0, (way, row)
    # NUMERICS.md section 1.1: one binomial standard error of 10,000 images is 0.27.
    assert found['symmetric']['default'][0] >= found['symmetric']['shift off'][0] - 0.55


@pytest.mark.parametrize('arguments, says', [
    (['--nets', 'resnet51'], '--nets resnet51: expected some of fashion_resnet_prelu'),
    (['--ways', 'best'], '--ways best: expected some of default'),
    (['--peers', 'AIMET'], '--peers AIMET: expected some of ORT minmax')])
def test_wrong_arguments_get_one_line(arguments, says):
    done = table('--peers', 'none', *arguments)
    assert done.returncode != 0 and says in done.stderr and 'Traceback' not in done.stderr
