"""The tools in a hostile system: little memory, small files, closed and full streams, kill -9.

Exit code 1 comes with one `error:` line where there is somewhere to print it; no signal, no half-written file, no
temporary file left.
"""

import json
import os
import random
import re
import resource
import shutil
import subprocess
import time

import numpy as np
import pytest

import oracle
import pipeline

RECIPE = pipeline.PREPROCESS / 'fashion_mnist.yaml'
MEGABYTE = 1 << 20


@pytest.fixture(scope='module')
def good(tmp_path_factory):
    """A table, an f32 program and 64 samples of the bundled model."""
    folder = tmp_path_factory.mktemp('good')
    np.save(folder / 'x.npy', oracle.fashion_images(count=64))
    pipeline.calibrate(pipeline.EXAMPLE, folder / 'x.npy', folder / 'table.yaml')
    pipeline.deploy(pipeline.EXAMPLE, folder / 'net.rshift', mode='f32')
    return folder


def commands(good, folder):
    """One working command line of each tool, writing into `folder` where it writes."""
    model = pipeline.EXAMPLE
    return {
        'model_calibrate': ['model_calibrate', model, '--dataset', good / 'x.npy', '--threads', 3, '-o', folder / 'out'],
        'model_deploy': ['model_deploy', model, '--calibration', good / 'table.yaml', '-o', folder / 'out'],
        'model_runner': ['model_runner', good / 'net.rshift', '--dataset', good / 'x.npy', '--threads', 3,
                         '--output', folder / 'out'],
        'model_tool': ['model_tool', 'disasm', good / 'net.rshift'],
    }


WRITERS = ('model_calibrate', 'model_deploy', 'model_runner')
TOOLS = (*WRITERS, 'model_tool')


def start(command, before=None, **streams):
    words = [str(pipeline.BIN / command[0]), *map(str, command[1:])]
    return subprocess.Popen(words, preexec_fn=before, text=True, **streams)


def finish(command, before=None):
    process = start(command, before, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


def fits(megabytes):
    """False under a sanitizer, which reserves terabytes."""
    return finish(['model_tool', '--version'], limit(resource.RLIMIT_AS, megabytes * MEGABYTE))[0] == 0


def assert_clean(code, err, what):
    """Done, or one error line. 127: the dynamic loader could not even load the libraries."""
    assert code in (0, 1, 127), f'{what}: exit code {code}\n{err}'
    if code != 127:
        errors = [line for line in err.splitlines() if not re.match(r'[\w ]+: \d+%', line)]
        assert len(errors) == code, f'{what}: {err}'
        assert all(line.startswith('error: ') for line in errors), f'{what}: {err}'


@pytest.mark.parametrize('tool', TOOLS)
def test_little_memory_is_one_error_line(tool, good, tmp_path):
    if not fits(1000):
        pytest.skip('these programs need more address space than a limit can allow')
    codes = set()
    for megabytes in range(20, 1000, 10):
        code, _, err = finish(commands(good, tmp_path)[tool], limit(resource.RLIMIT_AS, megabytes * MEGABYTE))
        assert_clean(code, err, f'{tool} at {megabytes} MB')
        codes.add(code)
        if code == 0:
            break
    assert 0 in codes and len(codes) > 1


@pytest.mark.parametrize('megabytes', (90, 110, 150, 210, 240, 380))
def test_float_library_out_of_memory_is_one_error_line(megabytes, shared, tmp_path):
    """oneDNN generates code, starts threads and allocates while it runs: each can fail."""
    if not fits(1000):
        pytest.skip('these programs need more address space than a limit can allow')
    model = shared / 'models/squeezenet_1_1/squeezenet_1_1.onnx'
    program = tmp_path / 'net.rshift'
    pipeline.run('model_deploy', model, '--mode', 'f32', '-o', program)
    np.save(tmp_path / 'x.npy', np.zeros((4, 3, 224, 224), np.float32))
    for command in (['model_runner', program, '--benchmark', '--iterations', 1, '--warmup', 0, '--threads', 4],
                    ['model_calibrate', model, '--dataset', tmp_path / 'x.npy', '--threads', 4, '-o', tmp_path / 't']):
        code, _, err = finish(command, limit(resource.RLIMIT_AS, megabytes * MEGABYTE))
        assert_clean(code, err, f'{command[0]} at {megabytes} MB')


LIBGOMP_GETS_NO_MEMORY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
extern void* __libc_malloc(size_t);
extern void* __libc_realloc(void*, size_t);
static int Fails(const void* caller) {
  static int good = -1;
  Dl_info info;
  if (!dladdr(caller, &info) || !info.dli_fname || !strstr(info.dli_fname, "libgomp")) return 0;
  if (good < 0) good = atoi(getenv("GOOD_ALLOCATIONS"));
  if (good > 0) return good--, 0;
  errno = ENOMEM;
  return 1;
}
void* malloc(size_t n) { return Fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n); }
void* realloc(void* p, size_t n) { return Fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n); }
"""


def test_openmp_out_of_memory_is_one_error_line(shared, tmp_path):
    """Every allocation of libgomp fails in turn, whatever the other libraries are given."""
    if not fits(1000) or shutil.which('cc') is None:
        pytest.skip('needs a C compiler, and programs without a sanitizer')
    (tmp_path / 'malloc.c').write_text(LIBGOMP_GETS_NO_MEMORY)
    subprocess.run(['cc', '-shared', '-fPIC', '-o', tmp_path / 'malloc.so', tmp_path / 'malloc.c'], check=True)
    program = tmp_path / 'net.rshift'
    pipeline.run('model_deploy', shared / 'models/squeezenet_1_1/squeezenet_1_1.onnx', '--mode', 'f32', '-o', program)
    command = ['model_runner', program, '--benchmark', '--iterations', 1, '--warmup', 0, '--threads', 4]
    codes = []
    for good_allocations in range(50):
        def before(count=good_allocations):
            os.environ.update(LD_PRELOAD=str(tmp_path / 'malloc.so'), GOOD_ALLOCATIONS=str(count))
        code, _, err = finish(command, before)
        assert_clean(code, err, f'{good_allocations} good allocations')
        codes.append(code)
        if code == 0:
            break
    assert codes[0] == 1 and codes[-1] == 0


@pytest.mark.parametrize('tool', WRITERS)
def test_file_size_limit_is_one_error_line_and_leaves_the_old_file(tool, good, tmp_path):
    (tmp_path / 'out').write_text('the old file')
    code, _, err = finish(commands(good, tmp_path)[tool], limit(resource.RLIMIT_FSIZE, 1024))
    assert code == 1
    assert_clean(code, err, tool)
    assert 'File too large' in err and str(tmp_path / 'out') in err
    assert os.listdir(tmp_path) == ['out']
    assert (tmp_path / 'out').read_text() == 'the old file'


@pytest.mark.parametrize('tool', WRITERS)
def test_full_disk_is_one_error_line(tool, good, tmp_path):
    disk = tmp_path / 'disk'
    disk.mkdir()
    mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', disk], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip('a small file system cannot be mounted here')
    try:
        (disk / 'out').write_text('the old file')
        code, _, err = finish(commands(good, disk)[tool])
        assert code == 1
        assert_clean(code, err, tool)
        assert 'No space left' in err
        assert os.listdir(disk) == ['out'] and (disk / 'out').read_text() == 'the old file'
    finally:
        subprocess.run(['umount', disk], check=True)


def close(*streams):
    return lambda: [os.close(stream) for stream in streams]


@pytest.mark.parametrize('tool', TOOLS)
def test_closed_streams_show_in_the_exit_code_alone(tool, good, tmp_path):
    command = commands(good, tmp_path)[tool]
    assert finish(command)[0] == 0
    wanted = (tmp_path / 'out').read_bytes() if tool in WRITERS else None
    for closed, code in (((0,), 0), ((2,), 0), ((1,), 1), ((1, 2), 1), ((0, 1, 2), 1)):
        (tmp_path / 'out').unlink(missing_ok=True)
        process = start(command, close(*closed), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)
        assert process.wait(300) == code, f'closed: {closed}'
        # The file got no stream's number, and holds nothing but what belongs into it.
        assert tool not in WRITERS or (tmp_path / 'out').read_bytes() == wanted


def test_closed_standard_input_cannot_be_read():
    process = start(['model_tool', 'requantize', '--scale', '0.5'], close(0), stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, '') and err.count('error:') == 1


@pytest.mark.parametrize('tool', TOOLS)
@pytest.mark.parametrize('extra', ((), ('--json',)), ids=('text', 'json'))
def test_full_standard_output_is_exit_code_1(tool, extra, good, tmp_path):
    command = commands(good, tmp_path)[tool]
    if extra and tool == 'model_tool':
        command[1] = 'info'
    for words in ([*command, *extra], [tool, '--help']):
        with open('/dev/full', 'w', encoding='ascii') as full:
            process = start(words, stdout=full, stderr=subprocess.PIPE)
            err = process.communicate(timeout=300)[1]
        assert process.returncode == 1
        assert_clean(1, err, tool)
        assert 'cannot write to the standard output' in err


def test_reader_that_leaves_is_exit_code_1_and_the_file_is_written(good, tmp_path):
    for tool in TOOLS:
        reading, writing = os.pipe()
        os.close(reading)
        process = start(commands(good, tmp_path)[tool], stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)
        err = process.communicate(timeout=300)[1]
        assert process.returncode == 1
        assert_clean(1, err, tool)
        assert 'cannot write to the standard output' in err
        assert (tmp_path / 'out').exists()


def test_endless_input_ends_with_the_reader_of_the_output():
    with subprocess.Popen(['yes', '12'], stdout=subprocess.PIPE) as numbers:
        process = start(['model_tool', 'requantize', '--scale', '0.5'], stdin=numbers.stdout, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE)
        assert process.stdout.readline() == '6\n'
        process.stdout.close()
        assert process.wait(60) == 1
        numbers.kill()


def no_temporaries(folder):
    return not [name for name in os.listdir(folder) if name.startswith('.rshift')]


@pytest.mark.parametrize('tool', ('model_deploy', 'model_runner'))
def test_killed_writer_leaves_the_old_or_the_new_file(tool, good, tmp_path):
    command = commands(good, tmp_path)[tool]
    output = tmp_path / 'out'
    before = time.monotonic()
    assert finish(command)[0] == 0
    duration = time.monotonic() - before
    new = output.read_bytes()
    delays = random.Random(20)
    for _ in range(10):
        output.write_bytes(b'old')
        process = start(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delays.uniform(0, 1.2 * duration))
        process.kill()
        process.wait()
        assert output.read_bytes() in (b'old', new)
    assert finish(command)[0] == 0
    assert no_temporaries(tmp_path) and output.read_bytes() == new


def test_killed_calibration_is_resumed_to_the_same_bytes(tmp_path):
    """kill -9 at 20 seeded moments of a run; what ends before its moment is begun anew."""
    np.save(tmp_path / 'x.npy', oracle.fashion_images(count=600))
    command = ['model_calibrate', pipeline.EXAMPLE, '--dataset', tmp_path / 'x.npy', '--samples', 0, '--threads', 1,
               '--statistics', tmp_path / 'stats', '-o', tmp_path / 'out']
    before = time.monotonic()
    assert finish(command)[0] == 0
    duration = time.monotonic() - before
    wanted = {name: (tmp_path / name).read_bytes() for name in ('out', 'stats')}
    delays, kills, carried_on = random.Random(17), 0, 0
    while kills < 20:
        carried_on += (tmp_path / 'out.partial.stats').exists()
        process = start([*command, '--resume'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delays.uniform(0, duration / 2))
        process.kill()
        code = process.wait()
        kills += code != 0
        duration *= .7 if code == 0 else 1  # the machine has become faster
        for name, content in wanted.items():
            assert (tmp_path / name).read_bytes() == content, name
    assert carried_on > 3
    for name in wanted:
        (tmp_path / name).unlink()
    assert finish([*command, '--resume'])[0] == 0
    assert {name: (tmp_path / name).read_bytes() for name in wanted} == wanted
    assert sorted(os.listdir(tmp_path)) == ['out', 'stats', 'x.npy']


@pytest.mark.parametrize('tool', WRITERS)
def test_folder_that_does_not_exist_is_named(tool, good, tmp_path):
    error = pipeline.fails(*commands(good, tmp_path / 'missing')[tool])
    assert f"the folder {tmp_path / 'missing'} does not exist" in error
    assert not os.listdir(tmp_path)


def test_json_is_complete_where_the_exit_code_is_0(good, tmp_path):
    for tool in WRITERS:
        code, out, _ = finish([*commands(good, tmp_path)[tool], '--json'])
        assert code == 0 and isinstance(json.loads(out), dict)
