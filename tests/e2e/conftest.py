"""Where the end-to-end tests find programs and material, and the numbers they print at the end.

RSHIFT_BIN     folder of the built programs (default build/release/bin)
RSHIFT_SHARED  folder with real models and photographs (default ../shared); tests skip without it
"""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))

import pipeline  # noqa: E402
from chromium import CHROMIUM  # noqa: E402

_LINES = []


@pytest.fixture(scope='session')
def report():
    """report('text') adds a line to the summary printed after the tests."""
    return _LINES.append


def pytest_terminal_summary(terminalreporter):
    if _LINES:
        terminalreporter.section('measured')
        for line in _LINES:
            terminalreporter.write_line(line)


@pytest.fixture(scope='session', autouse=True)
def programs():
    """All tests need the four programs: a build without them is a failure, not a skip."""
    for tool in ('model_calibrate', 'model_deploy', 'model_runner', 'model_tool'):
        if not (pipeline.BIN / tool).exists():
            pytest.exit(f'{pipeline.BIN / tool} is missing: build first, or set RSHIFT_BIN', 3)


@pytest.fixture(scope='session')
def browser():
    if CHROMIUM is None:
        pytest.skip('no chromium: apt-get install chromium')


@pytest.fixture(scope='session')
def shared():
    folder = pathlib.Path(os.environ.get('RSHIFT_SHARED', pipeline.ROOT.parent / 'shared'))
    if not (folder / 'models').is_dir():
        pytest.skip(f'no real models in {folder} (set RSHIFT_SHARED)')
    return folder.resolve()


@pytest.fixture(scope='session')
def deployments(shared, tmp_path_factory):
    """deployments(case) calibrates and deploys a model of models.py once per session."""
    done = {}

    def get(case):
        if case.name not in done:
            folder = tmp_path_factory.mktemp(case.name)
            done[case.name] = pipeline.deploy_all(case, shared, folder)
        return done[case.name]

    return get
