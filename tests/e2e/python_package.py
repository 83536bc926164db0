"""The Python package of the build tree, which stands beside the programs: build/release/python."""

import sys

import pipeline
import pytest

FOLDER = pipeline.BIN.parent / 'python'


def package():
    """The module; sanitized builds have none."""
    if not (FOLDER / 'rshift').is_dir():
        if 'asan' in pipeline.BIN.parts:
            pytest.skip('a build with sanitizers has no Python package', allow_module_level=True)
        raise FileNotFoundError(f'{FOLDER}/rshift is missing: build the target rshift_python')
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    import rshift
    return rshift
