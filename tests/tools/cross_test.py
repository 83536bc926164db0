"""The C example of examples/embed for AArch64: cross-built against a cross-built install tree of the integer runtime, run under QEMU.

    cross_test.py <source dir> <build dir>

It must print the outputs that model_runner gives on this machine, bit for bit; so must a program that runs float networks by
portable steps (tests/runtime/portable_run.cc), for every tensor of each, and the statistics that calibration counts of them. Exit code 77, with a message, where Debian's
cross compiler or QEMU's user mode emulation is missing (apt-get install g++-aarch64-linux-gnu qemu-user).
"""
import os
import pathlib
import random
import shutil
import struct
import sys
import tempfile
import unittest

from run_command import run

SOURCE, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
sys.path.insert(0, str(SOURCE / 'tests/contributing'))
import tiny_model  # noqa: E402

MODEL = SOURCE / 'examples/fashion_mnist/model.onnx'
TOOLCHAIN = SOURCE / 'cmake/aarch64.cmake'
SYSTEM = '/usr/aarch64-linux-gnu'
SHARED = pathlib.Path(os.environ.get('RSHIFT_SHARED', SOURCE.parent / 'shared')) / 'models'
# Convolutions of every kind and average pools; a transformer's products, LayerNorm, Softmax and Gelu; a detector.
# Deconvolutions, InstanceNorm and Resize are in the operators' own tests (preset aarch64).
NETWORKS = ('resnet8_cifar10', 'dscnn_keywords', 'vww96', 'blazeface', 'autoencoder_ad01', 'fashion/vit_tiny.onnx',
            'mobilenet_v1_025', 'nanodet_m')
SHAPE, PIXELS, OUTPUT, SEED, SAMPLES = (1, 1, 28, 28), 784, 'logits', 26, 4
# What counts, and the file that it makes.
STATISTICS = ('environment', 'histogram_page', 'statistics', 'statistics_file', 'statistics_stream', 'tensor_counter', 'value_scan')
NEEDED = ('aarch64-linux-gnu-g++', 'qemu-aarch64', 'readelf')


def cross_build(source, build, *options):
    run('cmake', '-G', 'Ninja', '-S', source, '-B', build, f'-DCMAKE_TOOLCHAIN_FILE={TOOLCHAIN}', '-DCMAKE_BUILD_TYPE=Release',
        *options)
    run('cmake', '--build', build)


class Crossed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        # The runtime stays in the build folder: the next run compiles what has changed.
        runtime, prefix = BUILD / 'cross_aarch64', cls.folder / 'prefix'
        launcher = ['-DCMAKE_CXX_COMPILER_LAUNCHER=ccache'] if shutil.which('ccache') else []
        cross_build(SOURCE, runtime, '-DRSHIFT_RUNTIME_ONLY=ON', '-DRSHIFT_BUILD_TESTS=OFF', *launcher)
        run('cmake', '--install', runtime, '--prefix', prefix, '--component', 'development')
        cross_build(SOURCE / 'examples/embed/c', cls.folder / 'example', f'-DRshift_DIR={prefix}/lib/cmake/Rshift',
                    '-DCMAKE_EXE_LINKER_FLAGS=-static')
        cls.portable = cls.folder / 'portable_run'
        run('aarch64-linux-gnu-g++', '-std=c++20', '-O2', '-static', '-fopenmp', '-I', SOURCE, '-o', cls.portable,
            '-DRSHIFT_VERSION="none"', SOURCE / 'tests/runtime/portable_run.cc', SOURCE / 'tests/runtime/no_onednn.cc',
            *(SOURCE / f'calibrate/{name}.cc' for name in STATISTICS), SOURCE / 'quantize/ranges/recorded_sample.cc', runtime / 'runtime/librshift_runtime.a',
            runtime / 'isa/librshift_format.a', runtime / 'base/librshift_base.a')
        cls.example = cls.folder / 'example/embed_c'
        values = random.Random(SEED)
        cls.samples = [[values.uniform(-1, 1) for _ in range(PIXELS)] for _ in range(SAMPLES)]
        for i, sample in enumerate(cls.samples):
            (cls.folder / f'{i}.npy').write_bytes(tiny_model.npy(sample, SHAPE))

    def test_it_is_a_static_program_for_aarch64(self):
        header = run('readelf', '--file-header', '--program-headers', self.example)
        self.assertIn('AArch64', header)
        self.assertNotIn('INTERP', header, 'a static program asks for no loader')

    def test_the_outputs_are_those_of_this_machine(self):
        files = [self.folder / f'{i}.npy' for i in range(SAMPLES)]
        run(BUILD / 'bin/model_calibrate', MODEL, '--dataset', *files, '-o', self.folder / 't.yaml')
        for mode in ('symmetric', 'asymmetric'):
            program = self.folder / f'{mode}.rshift'
            run(BUILD / 'bin/model_deploy', MODEL, '--calibration', self.folder / 't.yaml', '--mode', mode, '--no-check', '-o', program)
            for sample, file in zip(self.samples, files):
                run(BUILD / 'bin/model_runner', program, '--input', file, '--output', self.folder / 'out.npz')
                expected = [struct.pack('<f', v) for v in tiny_model.read_npz(self.folder / 'out.npz', OUTPUT)]
                for cpu in ('max', 'cortex-a53'):  # with the dot product, and without it
                    printed = run('qemu-aarch64', '-cpu', cpu, '-L', SYSTEM, self.example, program,
                                  input=struct.pack(f'<{PIXELS}f', *sample))
                    self.assertEqual([struct.pack('<f', float(line)) for line in printed.split()], expected, (mode, cpu))

    def test_a_picture_gives_the_outputs_of_this_machine(self):
        """embed_picture prepares it without OpenCV; model_runner with it, on x86."""
        (self.folder / 'p.pgm').write_bytes(b'P5\n61 45\n255\n' + random.Random(SEED).randbytes(61 * 45))
        run(BUILD / 'bin/model_calibrate', MODEL, '--dataset', self.folder / 'p.pgm', '--preprocess',
            SOURCE / 'configs/preprocess/fashion_mnist.yaml', '-o', self.folder / 'p.yaml')
        program = self.folder / 'p.rshift'
        run(BUILD / 'bin/model_deploy', MODEL, '--calibration', self.folder / 'p.yaml', '--no-check', '-o', program)
        run(BUILD / 'bin/model_runner', program, '--input', self.folder / 'p.pgm', '--output', self.folder / 'p.npz')
        expected = [struct.pack('<f', v) for v in tiny_model.read_npz(self.folder / 'p.npz', OUTPUT)]
        printed = run('qemu-aarch64', '-L', SYSTEM, self.example.parent / 'embed_picture', program, self.folder / 'p.pgm')
        self.assertEqual([struct.pack('<f', float(line)) for line in printed.split()], expected)

    def test_portable_float_runs_are_those_of_this_machine(self):
        models = [MODEL]
        for name in NETWORKS:
            found = SHARED / name
            found = [found] if found.is_file() else sorted(found.glob('*.onnx'))
            models += [f for f in found if 'qdq' not in f.name][:1]
        print(f'\nportable runs of {", ".join(m.stem for m in models)}')
        for model in models:
            program = self.folder / 'f32.rshift'
            run(BUILD / 'bin/model_deploy', model, '--mode', 'f32', '-o', program)
            expected = run(BUILD / 'bin/runtime_portable_run', program)
            self.assertGreater(len(expected.splitlines()), 5)
            for isa in self.instruction_sets():
                for threads in (1, 3):
                    self.assertEqual(run(BUILD / 'bin/runtime_portable_run', program, isa, threads), expected, (model, isa, threads))
            self.assertEqual(run('qemu-aarch64', '-cpu', 'max', '-L', SYSTEM, self.portable, program), expected, model)

    @staticmethod
    def instruction_sets():
        flags = pathlib.Path('/proc/cpuinfo').read_text().split()
        return ['scalar'] + [isa for isa, flag in (('avx2', 'avx2'), ('avx512vnni', 'avx512_vnni')) if flag in flags]


if __name__ == '__main__':
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        print(f'skipped: {", ".join(missing)} missing: apt-get install g++-aarch64-linux-gnu qemu-user')
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
