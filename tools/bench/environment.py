"""The Python environment with the peers, their versions, and the machine."""

import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / 'build/benchvenv'
# Peer -> its packages; the versions are what a venv of our own gets.
PACKAGES = {'onnxruntime': ('onnxruntime',), 'openvino': ('openvino', 'nncf'), 'litert': ('ai-edge-litert',),
            'ncnn': ('ncnn',)}
TOOLS = ('numpy', 'onnx', 'flatbuffers')
PINNED = {'numpy': '2.4.6', 'onnx': '1.23.2', 'flatbuffers': '25.12.19', 'onnxruntime': '1.31.1',
          'opencv-python-headless': '5.0.0.93', 'openvino': '2026.4.1', 'nncf': '3.4.0', 'ai-edge-litert': '2.3.0', 'ncnn': '1.0.20261020'}
_IMPORTED_AS = {'ai-edge-litert': 'ai_edge_litert', 'opencv-python-headless': 'cv2'}


def _importable(packages, python=sys.executable):
    names = [_IMPORTED_AS.get(p, p) for p in packages]
    code = f'import importlib.util as u, sys; sys.exit(any(u.find_spec(n) is None for n in {names!r}))'
    return subprocess.run([python, '-c', code], check=False).returncode == 0


def needed(peers):
    """Packages for these peers; ONNX Runtime always: it quantizes the models and gives the float outputs."""
    return [*TOOLS, *dict.fromkeys(['onnxruntime', *(package for p in peers for package in PACKAGES[p])])]


def enter(peers, others=()):
    """Returns when everything is importable here; else runs the program again in a venv that has it."""
    packages = [*needed(peers), *others]
    if _importable(packages):
        return
    python = VENV / 'bin/python'
    if pathlib.Path(sys.prefix) == VENV:
        sys.exit(f'error: {VENV}: packages are missing after installation; remove the folder and try again')
    if not (python.exists() and _importable(packages, str(python))):
        wanted = [f'{p}=={PINNED[p]}' for p in packages]
        print(f"bench_peers: installing in {VENV.relative_to(ROOT)}: {' '.join(wanted)}", file=sys.stderr)
        try:
            subprocess.run([sys.executable, '-m', 'venv', str(VENV)], check=True)
            subprocess.run([str(python), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', *wanted],
                           check=True)
        except subprocess.CalledProcessError as failed:
            sys.exit(f'error: {" ".join(failed.cmd)}: exit code {failed.returncode}; leave peers out with --peers')
    os.execv(str(python), [str(python), *sys.argv])


def versions(peers):
    return {name: importlib.metadata.version(name) for name in needed(peers)}


def cpu():
    """{model, cores, instruction sets that matter}."""
    text = pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8')
    model = re.search(r'^model name\s*:\s*(.*)$', text, re.MULTILINE)
    flags = re.search(r'^flags\s*:\s*(.*)$', text, re.MULTILINE)
    present = flags[1].split() if flags else []
    return {'model': model[1] if model else 'unknown', 'cores': len(os.sched_getaffinity(0)),
            'isa': [f for f in ('avx2', 'avx_vnni', 'avx512_vnni', 'avx512_bf16', 'amx_int8') if f in present]}
