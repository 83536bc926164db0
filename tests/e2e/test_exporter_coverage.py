"""One setting of each module of torch.nn, as PyTorch exports it: see exporter_coverage.py, which runs more of them."""

import pytest

import exporter_coverage


def test_exported_modules(tmp_path, report):
    if exporter_coverage.torch_python() is None:
        pytest.skip("no Python with torch: install Debian's python3-torch or set RSHIFT_TORCH_PYTHON")
    cases, verdicts, version = exporter_coverage.run(tmp_path, '--seed', 7, '--settings', 1)
    wrong = exporter_coverage.faults(cases, verdicts)
    assert not wrong, '\n'.join(wrong)
    report(f'torch.nn as exported by PyTorch {version}: {len(cases)} modules')
    for line in exporter_coverage.summary(cases, verdicts):
        if not line.startswith('no form'):
            report('  ' + line)
    agreed = sum(v['f32'].word == 'agreed' for v in verdicts)
    assert agreed >= 105, f'{agreed} modules agree in f32: an operator was lost'
