"""ONNX's own node tests as F32 programs: every case agrees, or is refused in one line for a reason that
tests/conformance/onnx_node_skips.py lists; none is wrong or crashes.

Two resize cases give ONNX Runtime's values, not the suite's (tests/conformance/README.md): named in the report."""

import os
import subprocess
import sys

import pipeline

SUITE = os.path.join(os.path.dirname(__file__), '..', 'conformance', 'onnx_node_suite.py')
# What agreed when this was last raised. Less means that an operator was lost.
LEAST_AGREED = 1618


def test_onnx_node_suite(report):
    done = subprocess.run([sys.executable, SUITE, '--bin', str(pipeline.BIN)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    differing = [line for line in done.stdout.splitlines() if line.startswith('differs ')]
    refused = [line for line in done.stdout.splitlines() if line.startswith('refused ')]
    assert len(refused) >= 9, done.stdout[-4000:]
    for line in [done.stdout.strip().splitlines()[-1], *differing, *refused]:
        report('ONNX node tests: ' + line)
    assert len(differing) == 2, differing
    assert int(done.stdout.strip().splitlines()[-1].split(' agreed')[0]) >= LEAST_AGREED


def test_the_suite_by_portable_steps(report):
    """Of the operators whose steps are others then."""
    for operator, least in (('conv', 50), ('matmul', 51)):
        done = subprocess.run([sys.executable, SUITE, '--bin', str(pipeline.BIN), '--portable', '--filter', operator],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
        last = done.stdout.strip().splitlines()[-1]
        report(f'ONNX node tests, --portable, {operator}: {last}')
        assert int(last.split(' agreed')[0]) >= least
