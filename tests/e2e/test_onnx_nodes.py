"""ONNX's own node tests as F32 programs: every case agrees or is refused in one line; none is wrong or crashes."""

import os
import subprocess
import sys

import pipeline

SUITE = os.path.join(os.path.dirname(__file__), '..', 'conformance', 'onnx_node_suite.py')
# What agreed when this was last raised. Less means that an operator was lost.
LEAST_AGREED = 660


def test_onnx_node_suite(report):
    done = subprocess.run([sys.executable, SUITE, '--bin', str(pipeline.BIN)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    report('ONNX node tests: ' + done.stdout.strip().splitlines()[-1])
    assert int(done.stdout.strip().splitlines()[-1].split(' agreed')[0]) >= LEAST_AGREED
