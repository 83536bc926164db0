"""`cmake --install` into an empty folder, and the examples of examples/embed built against what is there.

    install_test.py <source dir> <build dir>

Each example is configured by find_package and by pkg-config, run on a program that the installed tools made, and must
print what the installed model_runner gives; the commands of docs/embedding.md run. Says the size of a static program with the integer runtime alone and what
it links.
"""
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from run_command import run

SOURCE, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
sys.path.insert(0, str(SOURCE / 'tests/contributing'))
import tiny_model  # noqa: E402

MODEL = SOURCE / 'examples/fashion_mnist/model.onnx'
SHAPE, PIXELS = (1, 1, 28, 28), 784
OUTPUT = 'logits'
SEED = 20
RUNTIME_NEEDS = {'linux-vdso.so.1', 'libgomp.so.1', 'libstdc++.so.6', 'libm.so.6', 'libgcc_s.so.1', 'libc.so.6',
                 'ld-linux-x86-64.so.2'}

TOOLCHAIN_PROGRAM = r'''
#include <rshift/toolchain.h>
#include <stdio.h>
int main(int argc, char** argv) {
  rshift_calibrate_options measure = {0};
  rshift_deploy_options make = {0};
  char* table = NULL;
  char* warnings = NULL;
  void* program = NULL;
  size_t size = 0;
  if (argc != 5) return 2;
  measure.model = make.model = argv[1];
  measure.dataset = argv[2];
  make.mode = argv[3];
  if (rshift_calibrate(&measure, &table) != RSHIFT_OK) return fprintf(stderr, "%s\n", rshift_error_text()), 1;
  make.table = table;
  if (rshift_deploy(&make, &program, &size, &warnings) != RSHIFT_OK) return fprintf(stderr, "%s\n", rshift_error_text()), 1;
  FILE* file = fopen(argv[4], "wb");
  if (file == NULL || fwrite(program, 1, size, file) != size || fclose(file) != 0) return 3;
  rshift_free(table);
  rshift_free(warnings);
  rshift_free(program);
  return 0;
}
'''


def files_below(folder):
    return {str(p.relative_to(folder)) for p in folder.rglob('*') if not p.is_dir()}


def needed(program, environment):
    lines = run('ldd', program, env=environment).splitlines()
    return {pathlib.PurePath(line.split()[0]).name for line in lines}


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix, cls.parts = cls.folder / 'prefix', {}
        for component in ('runtime', 'float', 'tools', 'development'):
            before = files_below(cls.prefix)
            run('cmake', '--install', BUILD, '--prefix', cls.prefix, '--component', component)
            cls.parts[component] = files_below(cls.prefix) - before
        cls.environment = dict(os.environ, OMP_WAIT_POLICY='passive', LD_LIBRARY_PATH=str(cls.prefix / 'lib'),
                               PKG_CONFIG_PATH=str(cls.prefix / 'lib/pkgconfig'))
        cls.make_programs()

    @classmethod
    def make_programs(cls):
        """An integer and a float program of the example network; what model_runner makes of a sample."""
        values = random.Random(SEED)
        samples = [[values.uniform(-1, 1) for _ in range(PIXELS)] for _ in range(4)]
        for i, sample in enumerate(samples):
            (cls.folder / f'{i}.npy').write_bytes(tiny_model.npy(sample, SHAPE))
        cls.sample = struct.pack(f'<{PIXELS}f', *samples[0])
        cls.run_tool('model_calibrate', MODEL, '--dataset', *[cls.folder / f'{i}.npy' for i in range(4)],
                     '-o', cls.folder / 'table.yaml')
        cls.run_tool('model_deploy', MODEL, '--calibration', cls.folder / 'table.yaml', '--no-check',
                     '-o', cls.folder / 'int8.rshift')
        cls.run_tool('model_deploy', MODEL, '--mode', 'f32', '-o', cls.folder / 'f32.rshift')
        cls.expected = {}
        for name in ('int8', 'f32'):
            cls.run_tool('model_runner', cls.folder / f'{name}.rshift', '--input', cls.folder / '0.npy',
                         '--output', cls.folder / 'out.npz')
            cls.expected[name] = tiny_model.read_npz(cls.folder / 'out.npz', OUTPUT)

    @classmethod
    def run_tool(cls, name, *arguments):
        # Without the library path: the tools need none of the installed libraries.
        return run(cls.prefix / 'bin' / name, *arguments)

    def outputs_equal(self, program, name):
        """The example prints nine digits: each float comes back as it was."""
        printed = run(program, self.folder / f'{name}.rshift', input=self.sample, env=self.environment)
        got = [struct.pack('<f', float(line)) for line in printed.split()]
        self.assertEqual(got, [struct.pack('<f', value) for value in self.expected[name]], program)

    def pictures_equal(self, program):
        """Of a picture the example gives what model_runner gives, which reads it by OpenCV."""
        recipe = ('--preprocess', SOURCE / 'configs/preprocess/fashion_mnist.yaml')
        for kind in ('f32', 'u8', 's8'):
            self.run_tool('model_deploy', MODEL, '--calibration', self.folder / 'table.yaml', *recipe, '--no-check',
                          '--input-type', kind, '-o', self.folder / f'as_{kind}.rshift')
        for name, kind, shape, types in (('p.ppm', 'P6', (45, 61, 3), 'f32'), ('p.pgm', 'P5', (56, 56, 1), 'u8'),
                                         ('q.pgm', 'P5', (9, 200, 1), 's8')):
            # Gray, also in three channels: OpenCV's reader of PPM files rounds its luma otherwise.
            pixels = b''.join(bytes([x]) * shape[2] for x in random.Random(SEED).randbytes(shape[0] * shape[1]))
            (self.folder / name).write_bytes(f'{kind}\n{shape[1]} {shape[0]}\n255\n'.encode() + pixels)
            self.run_tool('model_runner', self.folder / f'as_{types}.rshift', '--input', self.folder / name,
                          '--output', self.folder / 'picture.npz')
            expected = tiny_model.read_npz(self.folder / 'picture.npz', OUTPUT)
            printed = run(program, self.folder / f'as_{types}.rshift', self.folder / name, env=self.environment)
            self.assertEqual([struct.pack('<f', float(line)) for line in printed.split()],
                             [struct.pack('<f', value) for value in expected], name)
        done = subprocess.run([program, self.folder / 'int8.rshift', self.folder / 'p.ppm'], env=self.environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('deploy the model with --preprocess', done.stderr)

    def built_by_cmake(self, example):
        build = self.folder / f'build_{example}'
        run('cmake', '-G', 'Ninja', '-S', SOURCE / 'examples/embed' / example, '-B', build,
            f'-DCMAKE_PREFIX_PATH={self.prefix}')
        run('cmake', '--build', build)
        return build / f'embed_{example}'

    def pkg_config(self, *arguments):
        return run('pkg-config', *arguments, env=self.environment).split()

    def test_components_hold_what_they_should(self):
        for name in ('runtime', 'float'):
            library = f'lib/librshift_{name}.so.0'
            self.assertEqual(self.parts[name], {library, f'{library}.1.0', f'share/doc/librshift-{name}0/copyright'})
        tools = {f for f in self.parts['tools'] if f.startswith('bin/')}
        self.assertEqual(tools, {f'bin/model_{n}' for n in ('calibrate', 'deploy', 'runner', 'tool')})
        self.assertIn('share/rshift/configs/preprocess/README.md', self.parts['tools'])
        headers = {f for f in self.parts['development'] if f.startswith('include/')}
        self.assertEqual(headers, {f'include/rshift/{n}' for n in ('rshift.h', 'rshift.hpp', 'preprocess.h', 'toolchain.h')})

    def test_man_pages_and_completion_have_every_option(self):
        for name in ('calibrate', 'deploy', 'runner', 'tool'):
            tool = f'model_{name}'
            page = (self.prefix / 'share/man/man1' / f'{tool}.1').read_text().replace('\\-', '-')
            completion = self.prefix / 'share/bash-completion/completions' / tool
            options = set(re.findall(r'^ +(?:-\w,)?(--[\w-]+)', self.run_tool(tool, '--help'), re.M))
            self.assertGreater(len(options), 1 if name == 'tool' else 10)
            for option in options:
                self.assertIn(f'\\fB{option}\\fR', page)
            words = self.completed(completion, tool, '-')
            self.assertLessEqual(options, set(words))
            self.assertNotIn('--print-man-page', words)
            for section in ('NAME', 'SYNOPSIS', 'OPTIONS', 'EXAMPLES', 'EXIT STATUS'):
                self.assertIn(f'.SH {section}\n', page)
            if shutil.which('groff'):
                shown = subprocess.run(['groff', '-man', '-Tutf8', '-ww', self.prefix / 'share/man/man1' / f'{tool}.1'],
                                       capture_output=True, text=True, check=True)
                self.assertEqual(shown.stderr, '')
                self.assertIn(f'{tool} - ', shown.stdout)
        folder = self.prefix / 'share/bash-completion/completions'
        self.assertEqual(self.completed(folder / 'model_deploy', 'model_deploy', 'n.onnx', '--mode', 'a'), ['asymmetric'])
        self.assertEqual(self.completed(folder / 'model_tool', 'model_tool', 'dis'), ['disasm'])
        self.assertEqual(self.completed(folder / 'model_tool', 'model_tool', 'verify', 'f', '--li'), ['--limits'])

    @staticmethod
    def completed(completion, *words):
        """What bash offers for the last word."""
        script = (f'source {completion}; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _{words[0]};'
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        return run('bash', '-eu', '-c', script).split()

    def test_public_headers_stand_alone_in_older_languages(self):
        include = f'-I{self.prefix}/include'
        for compiler, language, header in (('cc', 'c99', 'rshift.h'), ('c++', 'c++11', 'rshift.h'), ('cc', 'c99', 'toolchain.h'), ('cc', 'c99', 'preprocess.h'),
                                           ('c++', 'c++17', 'rshift.hpp')):
            run(compiler, f'-std={language}', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', include, '-x',
                'c' if compiler == 'cc' else 'c++', self.prefix / 'include/rshift' / header)

    def test_c_example_by_cmake_and_by_pkg_config(self):
        built = self.built_by_cmake('c')
        self.outputs_equal(built, 'int8')
        self.pictures_equal(built.parent / 'embed_picture')
        flags = self.pkg_config('--cflags', '--libs', 'rshift-runtime')
        run('cc', SOURCE / 'examples/embed/c/main.c', '-o', self.folder / 'by_pkg_config', *flags)
        self.outputs_equal(self.folder / 'by_pkg_config', 'int8')
        self.assertIn('librshift_runtime.so.0', needed(self.folder / 'by_pkg_config', self.environment))

    def test_cpp_example_by_cmake_and_by_pkg_config(self):
        by_cmake = self.built_by_cmake('cpp')
        flags = self.pkg_config('--cflags', '--libs', 'rshift-float')
        run('c++', SOURCE / 'examples/embed/cpp/main.cc', '-o', self.folder / 'by_pkg_config_cpp', *flags)
        for program in (by_cmake, self.folder / 'by_pkg_config_cpp'):
            self.outputs_equal(program, 'int8')
            self.outputs_equal(program, 'f32')

    def test_a_static_program_with_the_integer_runtime_needs_only_openmp(self):
        program = self.folder / 'static'
        archive = self.prefix / 'lib/librshift_runtime.a'
        names = [flag for flag in self.pkg_config('--libs-only-l', '--static', 'rshift-runtime')
                 if flag != '-lrshift_runtime']
        run('cc', '-s', SOURCE / 'examples/embed/c/main.c', f'-I{self.prefix}/include', '-o', program, archive, *names)
        self.outputs_equal(program, 'int8')
        libraries = needed(program, os.environ)
        print(f'static program, integer runtime alone: {program.stat().st_size} bytes, links {" ".join(sorted(libraries))}')
        self.assertLessEqual(libraries, RUNTIME_NEEDS)
        self.assertLess(program.stat().st_size, 2800000)
        # F32 layers are refused by their name, not run on something else.
        done = subprocess.run([program, self.folder / 'f32.rshift'], input=self.sample, capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('has no implementation here: link Rshift::float', done.stderr.decode())
        self.assertEqual(done.stderr.count(b'\n'), 1)

    def test_static_targets_of_find_package(self):
        source = self.folder / 'static_by_cmake'
        source.mkdir()
        (source / 'CMakeLists.txt').write_text(
            'cmake_minimum_required(VERSION 3.18)\nproject(s LANGUAGES C CXX)\nfind_package(Rshift 0.1 REQUIRED)\n'
            f'add_executable(s {SOURCE}/examples/embed/c/main.c)\ntarget_link_libraries(s PRIVATE Rshift::float_static)\n')
        run('cmake', '-G', 'Ninja', '-S', source, '-B', source / 'build', f'-DCMAKE_PREFIX_PATH={self.prefix}')
        run('cmake', '--build', source / 'build')
        self.outputs_equal(source / 'build/s', 'f32')
        self.assertNotIn('librshift_float.so.0', needed(source / 'build/s', os.environ))

    def test_the_toolchain_calibrates_and_deploys_in_memory(self):
        source = self.folder / 'toolchain'
        source.mkdir()
        (source / 'main.c').write_text(TOOLCHAIN_PROGRAM)
        (source / 'CMakeLists.txt').write_text(
            'cmake_minimum_required(VERSION 3.18)\nproject(t LANGUAGES C)\nfind_package(Rshift REQUIRED)\n'
            'add_executable(t main.c)\ntarget_link_libraries(t PRIVATE Rshift::toolchain)\n')
        run('cmake', '-G', 'Ninja', '-S', source, '-B', source / 'build', f'-DCMAKE_PREFIX_PATH={self.prefix}')
        run('cmake', '--build', source / 'build')
        flags = self.pkg_config('--cflags', '--libs', 'rshift-toolchain')
        run('cc', source / 'main.c', '-o', source / 'by_pkg_config', *flags)
        (self.folder / 'list.txt').write_text(''.join(f'{self.folder}/{i}.npy\n' for i in range(4)))
        for program in (source / 'build/t', source / 'by_pkg_config'):
            run(program, MODEL, self.folder / 'list.txt', 'symmetric', self.folder / 'from_c.rshift')
            self.run_tool('model_runner', self.folder / 'from_c.rshift', '--input', self.folder / '0.npy', '--output',
                          self.folder / 'from_c.npz')
            self.assertEqual(tiny_model.read_npz(self.folder / 'from_c.npz', OUTPUT), self.expected['int8'])
        for arguments, line in (((MODEL, self.folder / 'list.txt', 'both'), "mode is 'both', expected symmetric"),
                                ((MODEL, self.folder / 'none.txt', 'f32'), 'none.txt')):
            done = subprocess.run([program, *arguments, self.folder / 'x'], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr.count('\n')), (1, 1), done.stderr)
            self.assertIn(line, done.stderr)

    def test_a_part_of_another_project_needs_no_googletest(self):
        source = self.folder / 'parent'
        source.mkdir()
        (source / 'CMakeLists.txt').write_text(
            'cmake_minimum_required(VERSION 3.25)\nproject(parent LANGUAGES C CXX)\nset(RSHIFT_RUNTIME_ONLY ON)\n'
            f'add_subdirectory({SOURCE} rshift)\nadd_executable(s {SOURCE}/examples/embed/c/main.c)\n'
            'target_link_libraries(s PRIVATE Rshift::runtime)\n')
        run('cmake', '-G', 'Ninja', '-S', source, '-B', source / 'build', '-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON')
        planned = run('ninja', '-C', source / 'build', '-t', 'commands', 's')
        self.assertIn('librshift_runtime.a', planned)
        self.assertNotIn('tests/', planned)

    def test_the_commands_of_the_page_run(self):
        blocks = re.findall(r'^```bash\n(.*?)^```', (SOURCE / 'docs/embedding.md').read_text(), re.S | re.M)
        # packages_test.py and cross_test.py run these.
        blocks = [block for block in blocks if 'cpack' not in block and 'aarch64' not in block]
        self.assertEqual(len(blocks), 4)
        home = self.folder / 'page'
        (home / 'build').mkdir(parents=True)
        (home / 'examples').symlink_to(SOURCE / 'examples')
        (home / 'build/release').symlink_to(BUILD)
        printed = run('bash', '-euo', 'pipefail', '-c', '\n'.join(blocks), cwd=home,
                      env=dict(os.environ, PREFIX=str(self.folder / 'page_prefix')))
        scores = [float(line) for line in printed.splitlines()[-10:]]
        self.assertEqual(len(set(scores)), 10)

    def test_the_shared_library_shows_its_c_interface_alone(self):
        for name in ('runtime', 'float'):
            symbols = run('nm', '-D', '--defined-only', self.prefix / f'lib/librshift_{name}.so.0').splitlines()
            names = {line.split()[-1].split('@')[0] for line in symbols} - {'RSHIFT_0'}
            self.assertNotIn('rshift_deploy', names)
            header = ''.join((self.prefix / 'include/rshift' / name).read_text() for name in ('rshift.h', 'preprocess.h'))
            self.assertTrue(all(f'{symbol}(' in header for symbol in names), names)
            self.assertEqual(len(names), header.count('\nRSHIFT_API '))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
