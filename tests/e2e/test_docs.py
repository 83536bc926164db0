"""The commands of the pages in docs/ run as they are written."""

import os
import re
import subprocess

import numpy as np
import pytest

import pipeline


def run_blocks(page, folder):
    """Every ```bash block of the page, in order, in `folder`."""
    blocks = re.findall(r'```bash\n(.*?)```', (pipeline.ROOT / 'docs' / page).read_text(), re.S)
    assert blocks
    environment = os.environ | {'PATH': f"{pipeline.BIN.resolve()}:{os.environ['PATH']}"}
    for block in blocks:
        done = subprocess.run(['bash', '-e', '-c', block], cwd=folder, env=environment, text=True,
                              capture_output=True, timeout=300, check=False)
        assert done.returncode == 0, f'{block}\n{done.stdout}\n{done.stderr}'


def test_from_tflite(tmp_path):
    pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed')
    from frameworks import tflite_cases  # pylint: disable=import-outside-toplevel
    case = next(c for c in tflite_cases.cases() if c.name == 'conv_same22relu6')
    for kind, int8 in (('int8', True), ('float', False)):
        content, samples = tflite_cases.build(case, int8)
        (tmp_path / f'net_{kind}.tflite').write_bytes(content)
        np.save(tmp_path / f'x_{kind}.npy', samples['x0'])
    np.save(tmp_path / 'samples.npy', np.random.default_rng(0).uniform(-3, 3, (30, 8, 6, 8)).astype(np.float32))
    run_blocks('from_tflite.md', tmp_path)
