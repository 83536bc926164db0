"""The Debian packages: built, unpacked into an empty root that has their dependencies and nothing else, and used there.

    packages_test.py <source dir> <build dir>

The root holds the libraries of the Debian packages that ours depend on, directly and indirectly, taken from this system: a
dependency that is not declared is missing there. The programs run by chroot, which takes root's rights: skipped without, as
without dpkg. With RSHIFT_DEBOOTSTRAP=1 apt-get installs them in a new Debian too (debootstrap, a mirror, two minutes).
"""
import os
import pathlib
import re
import shutil
import struct
import sys
import tempfile
import unittest
import zlib

from run_command import run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'e2e'))
import doc_commands  # noqa: E402  pylint: disable=wrong-import-position

SOURCE, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
PACKAGES = ('librshift-runtime0', 'librshift-float0', 'librshift-dev', 'rshift-tools', 'python3-rshift')
MODEL = SOURCE / 'examples/fashion_mnist/model.onnx'
SAMPLE = bytes(4 * 784)
# Of the packages that ours depend on: what runs, not what one compiles with or reads.
RUNS = re.compile(r'(/usr)?/lib(64)?/(.*\.so(\.|$)|python3)|/usr/bin/python3')
PYTHON_PROGRAM = '''
import sys
import numpy, rshift
program = rshift.Program(rshift.deploy(sys.argv[1], mode="f32"))
print(*(repr(float(score)) for score in program.run(numpy.zeros((1, 1, 28, 28)))[0].ravel()))
open("/pixels.txt", "w").write("/photo.png\\n")
table = rshift.calibrate(sys.argv[1], "/pixels.txt", preprocess="/net.preprocess.yaml")  # a PNG: OpenCV's reader
print(len(rshift.Program(rshift.deploy(sys.argv[1], table)).run(numpy.zeros((1, 1, 28, 28)))[0][0]))
'''


def names_of(depends):
    """"a (>= 1), b | c" -> [[a], [b, c]]."""
    return [[re.split(r'[ (:]', name.strip())[0] for name in group.split('|')] for group in depends.split(',') if group.strip()]


def black_png():
    """One gray pixel."""
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(b'\0\0')) + chunk(b'IEND', b''))


class System:
    """The packages of this system."""

    def __init__(self):
        self.depends, self.provider = {}, {}
        listing = run('dpkg-query', '-W', '-f', '${Package}\t${Pre-Depends},${Depends}\t${Provides}\n')
        for line in listing.splitlines():
            name, depends, provides = line.split('\t')
            self.depends[name] = names_of(depends)
            for group in names_of(provides):
                self.provider.setdefault(group[0], name)

    def closure(self, groups, ours):
        """Every package that the groups of alternatives lead to; ours stand for themselves."""
        found, left = set(), list(groups)
        while left:
            group = left.pop()
            if any(name in ours for name in group):
                continue
            here = [self.provider.get(n, n) for n in group if n in self.depends or n in self.provider]
            if not here:
                raise AssertionError(f'dependency {" | ".join(group)}: no package of Debian that is installed here')
            if here[0] not in found:
                found.add(here[0])
                left += self.depends[here[0]]
        return found


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / 'build').mkdir()
        (cls.folder / 'build/release').symlink_to(BUILD)
        page = (SOURCE / 'docs/embedding.md').read_text()
        block, = (b for b in re.findall(r'^```bash\n(.*?)^```', page, re.S | re.M) if 'cpack' in b)
        run('bash', '-euo', 'pipefail', '-c', block, cwd=cls.folder)
        cls.files = {name: next((cls.folder / 'packages').glob(f'{name}_*.deb')) for name in PACKAGES}
        cls.depends = {name: names_of(run('dpkg-deb', '-f', file, 'Depends')) for name, file in cls.files.items()}

    def root_with(self, *packages):
        """A folder with these packages, the libraries they depend on, and nothing else."""
        root = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for name in ('bin', 'sbin', 'lib', 'lib64'):
            (root / 'usr' / name).mkdir(parents=True)
            (root / name).symlink_to(f'usr/{name}')
        system = System()
        folders = set()
        for package in system.closure([group for p in packages for group in self.depends[p]], packages):
            for path in run('dpkg-query', '-L', package).splitlines():
                if RUNS.match(path) and not os.path.isdir(path):
                    target = root / path[1:]
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(path, target, follow_symlinks=False)
                    if re.search(r'\.so(\.|$)', path):
                        folders.add(os.path.dirname(path))
        for package in packages:
            run('dpkg', '-x', self.files[package], root)
        (root / 'etc').mkdir(exist_ok=True)
        (root / 'etc/ld.so.conf').write_text('\n'.join(sorted(folders | {'/usr/lib'})) + '\n')
        run('/sbin/ldconfig', '-r', root)
        return root

    def chroot(self, root, *command, **keywords):
        return run('/usr/sbin/chroot', root, *command, env={'OMP_WAIT_POLICY': 'passive', 'LC_ALL': 'C'}, **keywords)

    def test_names_and_dependencies(self):
        flat = {name: {n for group in groups for n in group} for name, groups in self.depends.items()}
        self.assertEqual(flat['librshift-runtime0'] - {'libc6', 'libgcc-s1', 'libgomp1', 'libstdc++6'}, set())
        self.assertEqual(flat['librshift-float0'] - flat['librshift-runtime0'], {'libdnnl2'})
        self.assertLessEqual({'librshift-runtime0', 'librshift-float0'}, flat['librshift-dev'])
        self.assertTrue(any(name.startswith('libopencv-imgcodecs') for name in flat['rshift-tools']))
        self.assertLessEqual({'python3', 'python3-numpy', 'libdnnl2', 'libprotobuf32'}, flat['python3-rshift'])
        for name, file in self.files.items():
            self.assertIn(f'./usr/share/doc/{name}/copyright', run('dpkg-deb', '-c', file))

    @unittest.skipUnless(os.geteuid() == 0, 'chroot takes root\'s rights')
    def test_the_library_and_the_tools_work_in_a_root_of_their_own(self):
        tools = self.root_with('rshift-tools')
        shutil.copy(MODEL, tools / 'model.onnx')
        for tool in ('model_calibrate', 'model_deploy', 'model_runner', 'model_tool'):
            self.assertIn('Usage:', self.chroot(tools, f'/usr/bin/{tool}', '--help'))
        self.chroot(tools, '/usr/bin/model_deploy', '/model.onnx', '--mode', 'f32', '-o', '/net.rshift')
        self.assertIn('logits', self.chroot(tools, '/usr/bin/model_tool', 'info', '/net.rshift'))
        (tools / 'photo.png').write_bytes(black_png())  # its reader is loaded when a picture is met
        best = self.chroot(tools, '/usr/bin/model_runner', '/net.rshift', '--input', '/photo.png', '--preprocess', 'raw',
                           '--resize', '28x28', '--color', 'gray')
        self.assertIn('1 sample', best)

        # Compiled against the development package, run where the library alone is.
        devel = self.root_with('librshift-runtime0', 'librshift-float0', 'librshift-dev')
        flags = run('pkg-config', '--cflags', '--libs', 'rshift-float', env=dict(
            os.environ, PKG_CONFIG_LIBDIR=f'{devel}/usr/lib/pkgconfig')).split()
        library = self.root_with('librshift-float0')
        run('c++', SOURCE / 'examples/embed/cpp/main.cc', '-o', library / 'embed', *flags)
        shutil.copy(tools / 'net.rshift', library)
        printed = self.chroot(library, '/embed', '/net.rshift', input=SAMPLE)
        self.assertEqual(len(set(printed.split())), 10)

    @unittest.skipUnless(os.geteuid() == 0, 'chroot takes root\'s rights')
    def test_the_python_package_works_in_a_root_of_its_own(self):
        root = self.root_with('python3-rshift')
        shutil.copy(MODEL, root / 'model.onnx')
        shutil.copy(SOURCE / 'configs/preprocess/fashion_mnist.yaml', root / 'net.preprocess.yaml')
        (root / 'photo.png').write_bytes(black_png())
        scores, classes = self.chroot(root, '/usr/bin/python3', '-c', PYTHON_PROGRAM, '/model.onnx').splitlines()
        self.assertEqual((len(set(scores.split())), classes), (10, '10'))

    @unittest.skipUnless(os.environ.get('RSHIFT_DEBOOTSTRAP') and os.geteuid() == 0, 'RSHIFT_DEBOOTSTRAP=1 asks for it')
    def test_apt_get_installs_them_in_a_new_debian(self):
        root = self.folder / 'debian'
        run('debootstrap', '--variant=minbase', 'bookworm', root)
        shutil.copytree(SOURCE / 'examples/embed', root / 'work/embed')
        shutil.copy(MODEL, root / 'work/model.onnx')
        (root / 'work/input.f32').write_bytes(SAMPLE)
        for file in self.files.values():
            shutil.copy(file, root / 'work')
        for folder in ('examples', 'configs'):
            shutil.copytree(SOURCE / folder, root / 'work/tutorial' / folder)
        # All but the training, which takes PyTorch.
        tutorial = [command.text for command in doc_commands.commands('docs/tutorial.md') if 'train.py' not in command.text]
        (root / 'work/tutorial/commands.sh').write_text(''.join(tutorial))
        printed = run('/usr/sbin/chroot', root, 'sh', '-euc', '''
            export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
            cd /work
            exec 3>&1 >/dev/null
            apt-get update
            apt-get install -y --no-install-recommends ./rshift-tools_*.deb ./librshift-*.deb ./python3-rshift_*.deb g++ cmake make pkg-config dataset-fashion-mnist
            model_deploy model.onnx --mode f32 -o net.rshift
            cmake -S embed/cpp -B build && cmake --build build
            build/embed_cpp net.rshift <input.f32 >&3
            cc embed/c/main.c -o embed_c $(pkg-config --cflags --libs rshift-float)
            ./embed_c net.rshift <input.f32 >&3
            python3 -c 'import numpy, rshift
for score in rshift.Program("net.rshift").run(numpy.fromfile("input.f32", "f4").reshape(1, 1, 28, 28))[0][0]: print("%.9g" % score)' >&3
            cd tutorial
            bash -euo pipefail commands.sh >tutorial.log
            ''').split()
        tutorial = (root / 'work/tutorial/tutorial.log').read_text()
        self.assertIn('check: good', tutorial)
        accuracy = [float(percent) for percent in re.findall(r'top-1 ([\d.]+) %', tutorial)]
        print(f'the tutorial in a new Debian: top-1 {accuracy}')
        self.assertGreater(min(accuracy), 92)
        self.assertEqual(len(set(printed[:10])), 10)
        self.assertEqual(printed[:10], printed[10:20])
        self.assertEqual(printed[:10], printed[20:])


if __name__ == '__main__':
    if not all(map(shutil.which, ('dpkg-deb', 'dpkg-shlibdeps', 'cpack', 'pkg-config'))):
        print('dpkg-dev, cpack or pkg-config is missing')
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
