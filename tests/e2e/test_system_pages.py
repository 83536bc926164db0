"""The commands of docs/from_*.md run, on a network with the names the pages use."""

import pathlib
import re
import shlex
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline

PAGES = ('from_ascend.md', 'from_snps.md', 'from_mkldnn.md')


def network(folder):
    rng = np.random.default_rng(1)
    constants = {'w0': rng.normal(0, 0.3, (24, 20, 3, 3)), 'b0': rng.normal(0, 0.3, 24), 'w1': rng.normal(0, 0.3, (6, 24, 1, 1))}
    nodes = [helper.make_node('Conv', ['x', 'w0', 'b0'], ['c'], 'layer/0', pads=[1] * 4),
             helper.make_node('Conv', ['c', 'w1'], ['y'], 'layer/1')]
    graph = helper.make_graph(nodes, 'net', [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 20, 8, 8))],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, (1, 6, 8, 8))],
                              [numpy_helper.from_array(v.astype(np.float32), k) for k, v in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8), folder / 'net.onnx')
    np.save(folder / 'data.npy', rng.normal(0, 1, (8, 20, 8, 8)).astype(np.float32))
    np.save(folder / 'x.npy', rng.normal(0, 1, (1, 20, 8, 8)).astype(np.float32))


@pytest.mark.parametrize('page', PAGES)
def test_every_command_runs(page, tmp_path):
    text = (pipeline.ROOT / 'docs' / page).read_text(encoding='utf-8')
    network(tmp_path)
    for kind, block in re.findall(r'^```(\w*)\n(.*?)^```$', text, re.MULTILINE | re.DOTALL):
        if kind == 'yaml':
            name = re.match(r'# (\S+\.yaml)\n', block).group(1)
            (tmp_path / name).write_text(block)
        elif kind == '':
            (tmp_path / 'records.txt').write_text(block)
    commands = [line for block in re.findall(r'^```bash\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)
                for line in block.splitlines() if line.strip()]
    assert len(commands) >= 4
    for line in commands:
        parts = line.split('|')
        source = parts[0].split()[1] + '\n' if len(parts) == 2 else None
        tool, *arguments = shlex.split(parts[-1])
        done = subprocess.run([str(pipeline.BIN / tool), *arguments], input=source, capture_output=True, text=True, cwd=tmp_path,
                              timeout=600, check=False)
        assert done.returncode == 0, (line, done.stderr)
    assert all(pathlib.Path(tmp_path / name).exists() for name in ('net.rshift',))
