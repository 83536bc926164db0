"""The wheel: built over an installed Rshift, installed into a new virtual environment, and used there.

    wheel_test.py <source dir> <build dir>

By the commands of docs/python.md. The toolchain is not compiled again: `cmake --install` of the build is what the extension links.
What pip needs comes from a package index: exit code 77, a skipped test, where none is within reach.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

from run_command import run

SOURCE, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
MODULES = {path.relative_to(SOURCE / 'python').as_posix() for path in (SOURCE / 'python/rshift').glob('[!.]*') if path.is_file()}
TYPED = '''
import numpy as np
import rshift

table: rshift.CalibrationTable = rshift.calibrate('net.onnx', np.zeros((1, 3)), samples=None, input_shapes={'x': (1, 3)})
program = rshift.Program(rshift.deploy('net.onnx', table, input_type={'x': 'u8'}))
first: np.ndarray = program.run(np.zeros((1, 3)))[0]
names: list[str] = [tensor.name for tensor in program.outputs]
'''


QUIET = ('--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '20')


def new_environment(name):
    """The interpreter of a new one."""
    run(sys.executable, '-m', 'venv', FOLDER / name)
    return FOLDER / name / 'bin/python'


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder, cls.python = FOLDER, PYTHON
        page = (SOURCE / 'docs/python.md').read_text()
        block, = (b for b in re.findall(r'^```bash\n(.*?)^```', page, re.S | re.M) if 'RSHIFT_INSTALLED' in b)
        launcher = re.search(r'^CMAKE_CXX_COMPILER_LAUNCHER:\w+=(.+)$', (BUILD / 'CMakeCache.txt').read_text(), re.M)
        environment = dict(os.environ, PATH=f"{cls.python.parent}:{os.environ['PATH']}", PREFIX=f'{cls.folder}/prefix',
                           CMAKE_CXX_COMPILER_LAUNCHER=launcher[1] if launcher else '')
        run('bash', '-euo', 'pipefail', '-c', block.replace('build/release', str(BUILD)), cwd=SOURCE, env=environment)
        cls.wheel, = (cls.folder / 'prefix').glob('*.whl')

    def test_what_the_wheel_holds(self):
        self.assertRegex(self.wheel.name, r'^rshift-\d+\.\d+\.\d+-cp3\d+-cp3\d+-linux_x86_64\.whl$')
        with zipfile.ZipFile(self.wheel) as archive:
            names = {name for name in archive.namelist() if '.dist-info/' not in name}
            metadata = archive.read(next(name for name in archive.namelist() if name.endswith('METADATA'))).decode()
        extension, = names - MODULES
        self.assertRegex(extension, r'^rshift/_core\.cpython-3\d+-x86_64-linux-gnu\.so$')
        self.assertEqual(names - {extension}, MODULES)
        run('cmake', '--install', BUILD, '--prefix', self.folder / 'component', '--component', 'python')
        folder = self.folder / 'component/lib/python3/dist-packages'
        self.assertEqual({str(file.relative_to(folder)) for file in folder.rglob('*.*')}, names)
        self.assertIn('Requires-Dist: numpy', metadata)
        self.assertIn(f"Version: {self.wheel.name.split('-')[1]}\n", metadata)

    def test_the_notebook_runs_in_a_new_environment(self):
        python = new_environment('fresh')
        run(python, '-m', 'pip', 'install', *QUIET, self.wheel)
        home = self.folder / 'home'
        home.mkdir()
        printed = run(python, SOURCE / 'examples/notebook.py', cwd=home, env={'PATH': os.environ['PATH'], 'OMP_WAIT_POLICY': 'passive'})
        agreed = float(re.search(r'the same class: ([\d.]+)%', printed)[1])
        self.assertGreater(agreed, 97)
        self.assertEqual(list(home.iterdir()), [])
        missing = subprocess.run([python, '-c', 'import rshift.backend'], capture_output=True, text=True, check=False)
        self.assertIn("No module named 'onnx'", missing.stderr)

    def test_types(self):
        run(self.python, '-m', 'pip', 'install', *QUIET, 'mypy')  # where the page has installed the package
        user = self.folder / 'user.py'
        user.write_text(TYPED)
        mypy = (self.python, '-m', 'mypy', '--cache-dir', self.folder / 'mypy')
        run(*mypy, '--strict', '--allow-any-generics', user, cwd=self.folder)
        run(*mypy, '--strict', *[f'-mrshift.{name}' for name in ('_errors', '_program', '_session', '_tensor', '_toolchain')],
            cwd=self.folder)
        user.write_text(TYPED.replace('list[str]', 'list[int]'))
        with self.assertRaisesRegex(AssertionError, 'List comprehension has incompatible type'):
            run(*mypy, user, cwd=self.folder)

    def test_without_an_installed_one_pip_builds_the_toolchain(self):
        """What `pip install .` would compile, by its configuration alone."""
        build = self.folder / 'whole'
        run('cmake', '-G', 'Ninja', '-S', SOURCE, '-B', build, '-DSKBUILD=2', '-DRSHIFT_PYTHON=ON', '-DRSHIFT_BUILD_TESTS=OFF',
            '-DRSHIFT_SHARED_RUNTIME=OFF', '-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON')
        planned = run('ninja', '-C', build, '-t', 'commands', 'rshift_python')
        self.assertIn('librshift_toolchain.a', planned)
        for compiled in ('tests/', 'tools/model_'):
            self.assertNotIn(f'{SOURCE}/{compiled}', planned)
        parts = [line for line in planned.splitlines() if f'{SOURCE}/graph/graph.cc' in line]
        self.assertTrue(parts and all('-fPIC' in line for line in parts))


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as name:
        FOLDER = pathlib.Path(name)
        PYTHON = new_environment('tools')
        reached = subprocess.run([PYTHON, '-m', 'pip', 'download', *QUIET, '--no-deps', '-d', FOLDER / 'index', 'pybind11'],
                                 capture_output=True, check=False)
        if reached.returncode != 0:
            print('no Python package index within reach: no wheel is built')
            sys.exit(77)
        sys.exit(not unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful())
