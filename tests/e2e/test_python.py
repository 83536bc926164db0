"""The Python package gives the bytes of the programs, refuses in one line, and lets other threads work meanwhile."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import cv2
import numpy as np
import onnx
import pipeline
import pytest
import python_package
from onnx import TensorProto, helper

rshift = python_package.package()

SEED = 20
SHAPE = (1, 1, 28, 28)
MODES = ('symmetric', 'asymmetric', 'f32')


@pytest.fixture(scope='module', name='samples')
def _samples():
    return np.random.default_rng(SEED).normal(size=(12, *SHAPE[1:])).astype(np.float32)


@pytest.fixture(scope='module', name='table')
def _table(samples):
    return rshift.calibrate(pipeline.EXAMPLE, samples)


@pytest.fixture(scope='module', name='int8')
def _int8(table):
    return rshift.deploy(pipeline.EXAMPLE, table)


@pytest.fixture(scope='module', name='files')
def _files(samples, tmp_path_factory):
    """The same samples as files, and the table that model_calibrate makes of them."""
    folder = tmp_path_factory.mktemp('python')
    np.save(folder / 'samples.npy', samples)
    pipeline.calibrate(pipeline.EXAMPLE, folder / 'samples.npy', folder / 'table.yaml')
    return folder


def ranges(table):
    # The samples of min and max have names by the place that they were given in.
    found = [re.sub(r', min_sample.*', '', line) for line in table.text.splitlines() if 'threshold:' in line]
    assert len(found) > 20
    return found


def add_model(dtype, shape=(2, 3)):
    """y = x + x."""
    infos = [helper.make_tensor_value_info(name, dtype, shape) for name in 'xy']
    graph = helper.make_graph([helper.make_node('Add', ['x', 'x'], ['y'])], 'add', infos[:1], infos[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)


@pytest.mark.parametrize('mode', MODES)
def test_the_bytes_are_those_of_the_programs(mode, files, samples, tmp_path):
    table = rshift.CalibrationTable.load(files / 'table.yaml')
    pipeline.deploy(pipeline.EXAMPLE, tmp_path / 'tool.rshift', mode=mode, table=files / 'table.yaml')
    made = rshift.deploy(pipeline.EXAMPLE, None if mode == 'f32' else table, mode=mode, check=mode == 'f32')
    expected = pipeline.infer(tmp_path / 'tool.rshift', {'input': samples[:1]}, tmp_path)['logits']
    for program in (rshift.Program(made), rshift.Program(tmp_path / 'tool.rshift', threads=1)):
        np.testing.assert_array_equal(program.run(samples[:1])[0], expected)
    if mode != 'f32':  # whose file names the table
        assert len(made.program) == (tmp_path / 'tool.rshift').stat().st_size
    made.save(tmp_path / 'saved.rshift')
    assert (tmp_path / 'saved.rshift').read_bytes() == made.program
    assert (tmp_path / 'saved.rshift').stat().st_mode & 0o777 == (tmp_path / 'tool.rshift').stat().st_mode & 0o777


def test_biases_are_corrected_as_by_the_program(files, samples, tmp_path):
    pipeline.deploy(pipeline.EXAMPLE, tmp_path / 'tool.rshift', mode='asymmetric', table=files / 'table.yaml',
                    extra=('--bias-correction', 'full', '--weight-rounding', 'gptq', '--weight-clipping', 'mse'))
    made = rshift.deploy(pipeline.EXAMPLE, files / 'table.yaml', mode='asymmetric', check=False, bias_correction='full', threads=2,
                         weight_rounding='gptq', weight_clipping='mse')
    assert 'bias correction full: ' in made.summary and 'weights: rounding gptq, clipping mse: ' in made.summary
    expected = pipeline.infer(tmp_path / 'tool.rshift', {'input': samples[:1]}, tmp_path)['logits']
    np.testing.assert_array_equal(rshift.Program(made).run(samples[:1])[0], expected)
    with pytest.raises(rshift.InvalidInput, match='expected auto, off, fast, full or regression'):
        rshift.deploy(pipeline.EXAMPLE, files / 'table.yaml', bias_correction='slow')


def test_weights_of_4_bits_are_the_programs(files, samples, tmp_path):
    pipeline.deploy(pipeline.EXAMPLE, tmp_path / 'tool.rshift', mode='symmetric', table=files / 'table.yaml', extra=('--weight-bits', '4'))
    made = rshift.deploy(pipeline.EXAMPLE, files / 'table.yaml', mode='symmetric', check=False, weight_bits=4)
    assert 'weights of 4 bits: ' in made.summary and len(made.program) == (tmp_path / 'tool.rshift').stat().st_size
    expected = pipeline.infer(tmp_path / 'tool.rshift', {'input': samples[:1]}, tmp_path)['logits']
    np.testing.assert_array_equal(rshift.Program(made).run(samples[:1])[0], expected)
    with pytest.raises(rshift.InvalidInput, match='expected 8 or 4'):
        rshift.deploy(pipeline.EXAMPLE, files / 'table.yaml', weight_bits=5)


def test_the_search_is_the_programs(files, samples, tmp_path):
    pipeline.deploy(pipeline.EXAMPLE, tmp_path / 'tool.rshift', mode='symmetric', table=files / 'table.yaml',
                    extra=('--auto', '--budget', 'cosine=0.99999', '--budget', 'time=12evaluations', '--auto-config', tmp_path / 'tool.yaml'))
    made = rshift.deploy(pipeline.EXAMPLE, files / 'table.yaml', mode='symmetric', check=False, auto=True,
                         budget=('cosine=0.99999', 'time=12evaluations'))
    assert 'auto: ' in made.summary and made.auto_config == (tmp_path / 'tool.yaml').read_text()
    expected = pipeline.infer(tmp_path / 'tool.rshift', {'input': samples[:1]}, tmp_path)['logits']
    np.testing.assert_array_equal(rshift.Program(made).run(samples[:1])[0], expected)
    with pytest.raises(rshift.InvalidInput, match='cosine'):
        rshift.deploy(pipeline.EXAMPLE, files / 'table.yaml', auto=True, budget='cosin=0.9')
    with pytest.raises(rshift.InvalidInput, match='automatic is 0'):
        rshift.deploy(pipeline.EXAMPLE, files / 'table.yaml', budget='cosine=0.9')


def test_calibration_does_not_depend_on_threads_and_is_the_tools(files, samples, table):
    path = files / 'samples.npy'
    from_file = rshift.calibrate(pipeline.EXAMPLE, path)
    assert from_file == rshift.calibrate(pipeline.EXAMPLE, path, threads=1)
    assert from_file.text == (files / 'table.yaml').read_text()
    assert table == rshift.calibrate(pipeline.EXAMPLE.read_bytes(), list(samples), threads=3)
    assert table != rshift.calibrate(pipeline.EXAMPLE, samples, method='minmax')
    for method in ('percentile', 'auto'):
        pipeline.calibrate(pipeline.EXAMPLE, path, files / f'{method}.yaml', extra=('--method', method))
        assert rshift.calibrate(pipeline.EXAMPLE, path, method=method).text == (files / f'{method}.yaml').read_text()
    assert ranges(table) == ranges(from_file)  # whatever the samples are called


def test_statistics_of_shards_are_those_of_one_run(files, table):
    model, path = pipeline.EXAMPLE, files / 'samples.npy'
    whole = rshift.collect(model, path)
    shards = [rshift.collect(model, path, shard=(i, 3)) for i in range(3)]
    assert rshift.merge(shards) == rshift.merge(reversed(shards)) == whole
    assert rshift.calibrate(model, statistics=shards) == rshift.calibrate(model, statistics=whole)
    with pytest.raises(rshift.InvalidInput, match='shard 0/3'):
        rshift.calibrate(model, statistics=shards[1:])
    assert rshift.calibrate(model, statistics=shards[1:], partial=True) != table
    with pytest.raises(rshift.Error):
        rshift.merge([whole, whole])
    with pytest.raises(rshift.Error, match='statistics 1'):
        rshift.merge([whole, whole[:-1]])


def test_machines_with_samples_of_their_own(samples):
    model = pipeline.EXAMPLE
    parts = [rshift.collect(model, samples[i::2], equalize='off') for i in range(2)]
    assert ranges(rshift.calibrate(model, statistics=parts)) == ranges(rshift.calibrate(model, samples, equalize='off'))


def test_reports_and_comparison(table, samples):
    made = rshift.deploy(pipeline.EXAMPLE, table, test_data=samples[:3], emit_qdq=True)
    assert made.report['compared_samples'] == 3 and made.report['check']['grade'] == 'good'
    assert made.summary.startswith('program: symmetric') and made.html.startswith('<!doctype html>')
    onnx.checker.check_model(onnx.load_from_string(made.qdq))
    whole = rshift.Program(rshift.deploy(pipeline.EXAMPLE, mode='f32'))
    outputs = {'int8': rshift.Program(made).run(samples[:1])[0], 'f32': whole.run(samples[:1])[0]}
    found = rshift.compare(outputs, {name: outputs['f32'] for name in outputs})
    assert found['f32'].equal and found['f32'].sqnr_db == 200 and not found['int8'].equal
    a, b = (outputs[name].astype(np.float64) for name in ('int8', 'f32'))
    assert found['int8'].max_abs == pytest.approx(np.abs(a - b).max())
    assert found['int8'].sqnr_db == pytest.approx(10 * np.log10((b * b).sum() / ((a - b) ** 2).sum()))
    assert found['int8'].cosine == pytest.approx((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


def test_an_input_of_pixels(table, files, samples):
    made = rshift.deploy(pipeline.EXAMPLE, table, input_type='s8', output_type={'logits': 's8'}, check=False)
    program = rshift.Program(made)
    source, target = program.inputs[0], program.outputs[0]
    assert source.quantized and source.dtype == target.dtype == np.int8
    integers = np.clip(np.rint(samples[:1] / np.float32(source.scale)) + source.zero_point, -128, 127).astype(np.int8)
    real, = program.run(samples[:1])
    raw, = program.run(integers, raw=True)
    np.testing.assert_array_equal(real, (raw.astype(np.float32) - target.zero_point) * np.float32(target.scale))
    with pytest.raises(rshift.InvalidInput, match='got an array of uint8, expected int8'):
        program.run(integers.astype(np.uint8))
    session = rshift.InferenceSession(made)
    assert session.get_outputs()[0].type == 'tensor(int8)'
    np.testing.assert_array_equal(session.run(None, {source.name: integers})[0], raw)


def test_sixteen_bits_outside(table, samples):
    as_photographs = {'preprocess': pipeline.PREPROCESS / 'fashion_mnist.yaml', 'activation_bits': 16, 'check': False}
    program = rshift.Program(rshift.deploy(pipeline.EXAMPLE, table, input_type='s16', output_type='s16', **as_photographs))
    floats = rshift.Program(rshift.deploy(pipeline.EXAMPLE, table, **as_photographs))
    photograph = np.random.default_rng(SEED).integers(0, 256, (28, 28), np.uint8)
    taken, = program.run(program.preprocess(photograph, order='GRAY'))
    np.testing.assert_array_equal(taken, floats.run(floats.preprocess(photograph, order='GRAY'))[0])
    source, target = program.inputs[0], program.outputs[0]
    assert source.dtype == target.dtype == np.int16 and source.zero_point == target.zero_point == 0
    integers = np.clip(np.rint(samples[:1] / np.float32(source.scale)), -32768, 32767).astype(np.int16)
    raw, = program.run(integers, raw=True)
    assert raw.dtype == np.int16
    np.testing.assert_array_equal(program.run(samples[:1])[0], raw.astype(np.float32) * np.float32(target.scale))
    with pytest.raises(rshift.InvalidInput, match="'input' has 8 bits and s16 has 16: give --input-type input=s8"):
        rshift.deploy(pipeline.EXAMPLE, table, input_type='s16', check=False)


@pytest.mark.parametrize('dtype', (np.float32, np.int32, np.int64, np.int8))
def test_arrays_of_every_kind(dtype):
    program = rshift.Program(rshift.deploy(add_model(helper.np_dtype_to_tensor_dtype(np.dtype(dtype))), mode='f32'))
    assert program.inputs[0].dtype == dtype
    x = np.arange(6, dtype=dtype).reshape(2, 3)
    for given in (x, np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2], x.tolist(), x.astype(np.float64), x.astype(np.int16)):
        y, = program.run(given)
        assert y.dtype == dtype and y.flags.owndata and y.flags.writeable
        np.testing.assert_array_equal(y, x + x)
    for wrong in (x + 0.5, x.astype(np.int64) + 2**40):
        if np.dtype(dtype).itemsize < wrong.dtype.itemsize and dtype != np.float32 or dtype == np.int64 and wrong.dtype.kind == 'f':
            with pytest.raises(rshift.InvalidInput, match="input 'x'.*does not hold"):
                program.run(wrong)
    with pytest.raises(rshift.InvalidInput, match="input 'x': got an array of complex128"):
        program.run(x.astype(np.complex128))


def test_models_with_open_dimensions():
    model = add_model(TensorProto.FLOAT, ('N', 3))
    program = rshift.Program(rshift.deploy(model, mode='f32', input_shapes={'x': (4, 3)}))
    assert program.run(np.ones((4, 3)))[0].sum() == 24
    with pytest.raises(rshift.InvalidInput, match='positive sizes'):
        rshift.deploy(model, mode='f32', input_shapes={'x': (0, 3)})


def test_sessions_write_and_read_in_place(int8, samples):
    program = rshift.Program(int8)
    session = program.session(threads=1)
    place = session.input(0)
    for sample in samples[:3]:
        place[...] = sample[np.newaxis]
        session.run()
        scores = session.output(0)
        assert not scores.flags.owndata and not scores.flags.writeable
        np.testing.assert_array_equal(scores, program.run(sample[np.newaxis])[0])
        assert session.output(0, copy=True).flags.owndata
    del session, program
    assert place.shape == SHAPE and scores.shape == (1, 10)  # the memory outlives its names
    fresh = rshift.Program(int8).session()
    with pytest.raises(rshift.InvalidInput, match='before rshift_session_run'):
        fresh.output(0)
    with pytest.raises(rshift.InvalidInput, match='input 1: the program has 1'):
        fresh.input(1)


@pytest.mark.parametrize('input_type', ('f32', 'u8', 's8'))
def test_pictures_by_the_recorded_preprocessing(input_type, tmp_path):
    values = np.random.default_rng(SEED)
    (tmp_path / 'photos').mkdir()
    for i, size in enumerate(((28, 28), (40, 31), (300, 400))):
        cv2.imwrite(str(tmp_path / f'photos/{i}.{("png", "jpg", "bmp")[i]}'), values.integers(0, 256, (*size, 3), np.uint8))
    preprocess = pipeline.PREPROCESS / 'fashion_mnist.yaml'
    table = rshift.calibrate(pipeline.EXAMPLE, tmp_path / 'photos', preprocess=preprocess)
    rshift.deploy(pipeline.EXAMPLE, table, input_type=input_type, output_type='s8').save(tmp_path / 'net.rshift')
    program = rshift.Program(tmp_path / 'net.rshift')
    assert program.inputs[0].dtype == {'f32': np.float32, 'u8': np.uint8, 's8': np.int8}[input_type]
    samples = program.samples(tmp_path / 'photos')
    ours = np.concatenate([program.run(*sample, raw=True)[0] for sample in samples])
    pipeline.run('model_runner', tmp_path / 'net.rshift', '--dataset', tmp_path / 'photos', '--raw', '--output', tmp_path / 'out.npz')
    np.testing.assert_array_equal(ours, pipeline.arrays_of(tmp_path / 'out.npz')['logits'])
    assert len(samples) == 3 and len(np.unique(ours, axis=0)) == 3
    np.testing.assert_array_equal(samples[-1][0], samples[1:][1][0])
    for i, sample in enumerate(samples):  # what a decoder has left, without OpenCV in between
        gray = cv2.imread(str(next((tmp_path / 'photos').glob(f'{i}.*'))), cv2.IMREAD_GRAYSCALE)
        made = program.preprocess(gray, order='GRAY')
        assert made.dtype == program.inputs[0].dtype
        np.testing.assert_array_equal(made, sample[0])
    np.testing.assert_array_equal(program.preprocess(cv2.merge([gray] * 3)), made)
    with pytest.raises(rshift.InvalidInput, match=r"uint8\[300, 400\], expected uint8\[height, width, 3\] for order 'RGB'"):
        program.preprocess(gray)
    with pytest.raises(rshift.InvalidInput, match="order is 'GBR', expected GRAY, RGB"):
        program.preprocess(gray, order='GBR')
    with pytest.raises(rshift.InvalidInput, match='Program.preprocess makes it of a decoded picture'):
        program.run(cv2.merge([gray] * 3))
    with pytest.raises(rshift.InvalidInput, match='got 2 pictures, its batch is 1'):
        program.preprocess(gray, gray, order='GRAY')
    with pytest.raises(IndexError, match='sample 3: the data set has 3'):
        samples[3]
    raw = program.samples(tmp_path / 'photos', preprocess='raw')[0][0]
    assert raw.max() > 100 if input_type == 'f32' else np.array_equal(raw, samples[0][0])
    (tmp_path / 'photos/3.png').write_bytes(b'no picture')
    with pytest.raises(rshift.InvalidInput, match='3.png'):
        program.samples(tmp_path / 'photos')[3]
    with pytest.raises(rshift.Error, match='nowhere'):
        program.samples(tmp_path / 'nowhere')


def test_names_of_onnxruntime(int8, samples):
    import onnxruntime
    theirs = onnxruntime.InferenceSession(str(pipeline.EXAMPLE), providers=['CPUExecutionProvider'])
    ours = rshift.InferenceSession(int8.program)
    for get in ('get_inputs', 'get_outputs'):
        for mine, other in zip(getattr(ours, get)(), getattr(theirs, get)(), strict=True):
            assert (mine.name, mine.shape, mine.type) == (other.name, other.shape, other.type)
    feed = {'input': samples[:1]}
    got, = ours.run(['logits'], feed)
    np.testing.assert_array_equal(got, ours.run(None, feed)[0])
    assert rshift.compare(got, theirs.run(None, feed)[0]).cosine > 0.99
    with pytest.raises(rshift.InvalidInput, match="output 'x': the program has no such output, expected logits"):
        ours.run(['x'], feed)


def test_bad_input_is_one_line_and_leaves_no_state(int8, samples, tmp_path):
    program = rshift.Program(int8)
    expected = program.run(samples[:1])[0]
    nan = samples[:1].copy()
    nan[0, 0, 0, 0] = np.nan
    cases = [
        (rshift.InvalidInput, 'shape .12, 1, 28, 28., expected .1, 1, 28, 28.', lambda: program.run(samples)),
        (rshift.InvalidInput, 'got 2 arrays, expected 1, for input', lambda: program.run(nan, nan)),
        (rshift.InvalidInput, "input 'x': the program has no such input, expected input", lambda: program.run({'x': nan})),
        (rshift.InvalidInput, "input 'input': no array is given", lambda: program.run({})),
        (OSError, '/none: cannot open', lambda: rshift.Program('/none')),
        (rshift.Corrupt, 'program in memory', lambda: rshift.Program(int8.program[:5000] + bytes(64) + int8.program[5064:])),
        (ValueError, 'expected at least 64', lambda: rshift.Program(b'')),
        (rshift.InvalidInput, 'mode is', lambda: rshift.deploy(pipeline.EXAMPLE, mode='int4')),
        (rshift.InvalidInput, 'needs --calibration', lambda: rshift.deploy(pipeline.EXAMPLE)),
        (rshift.InvalidInput, "input_type is 's4'", lambda: rshift.deploy(pipeline.EXAMPLE, mode='f32', input_type='s4')),
        (rshift.InvalidInput, 'has 28 values, expected 784', lambda: rshift.calibrate(pipeline.EXAMPLE, samples[0, 0])),
        (rshift.InvalidInput, 'element 0 is nan', lambda: rshift.calibrate(pipeline.EXAMPLE, nan)),
        (rshift.InvalidInput, 'give one of', lambda: rshift.calibrate(pipeline.EXAMPLE)),
        (rshift.InvalidInput, 'no samples', lambda: rshift.calibrate(pipeline.EXAMPLE, [])),
        (rshift.InvalidInput, 'samples is 0', lambda: rshift.calibrate(pipeline.EXAMPLE, samples, samples=0)),
        (rshift.InvalidInput, 'method', lambda: rshift.calibrate(pipeline.EXAMPLE, samples, method='best')),
        (TypeError, 'the model is a int, expected a path', lambda: rshift.deploy(3)),
        (FileNotFoundError, 'none.yaml', lambda: rshift.deploy(pipeline.EXAMPLE, tmp_path / 'none.yaml')),
        (rshift.InvalidInput, 'shapes', lambda: rshift.compare(nan, samples)),
        (TypeError, '', lambda: rshift.merge([3])),
        (rshift.InvalidInput, 'no statistics', lambda: rshift.merge([])),
    ]
    for kind, text, call in cases:
        with pytest.raises(kind, match=text) as caught:
            call()
        assert '\n' not in str(caught.value), caught.value
        np.testing.assert_array_equal(program.run(samples[:1])[0], expected)


def test_threads_share_a_program(int8, samples):
    program = rshift.Program(int8, threads=1)
    expected = [program.run(sample[np.newaxis])[0] for sample in samples]
    wrong = []

    def work(offset):
        for i in range(120):
            index = (i + offset) % len(samples)
            if not np.array_equal(program.run(samples[index:index + 1])[0], expected[index]):
                wrong.append(index)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_others_work_while_it_computes(samples):
    """Steps of the main thread while another calibrates: with the GIL held there would be none between its begin and end."""
    marks = []
    many = np.concatenate([samples] * 40)
    worker = threading.Thread(target=lambda: (rshift.calibrate(pipeline.EXAMPLE, many, samples=None, threads=1), marks.append(None)))
    worker.start()
    steps = 0
    while not marks:
        steps += 1
        time.sleep(0.001)
    worker.join()
    assert steps > 20


def test_what_a_progress_function_raises_ends_the_work(samples):
    seen = []

    def stop(title, done, total):
        seen.append((title, done, total))
        if done == 2:
            raise KeyError('enough')

    with pytest.raises(KeyError, match='enough'):
        rshift.calibrate(pipeline.EXAMPLE, samples, progress=stop, threads=1)
    assert seen == [('equalizing', 0, 12), ('equalizing', 1, 12), ('equalizing', 2, 12)]
    assert rshift.calibrate(pipeline.EXAMPLE, samples)


ENDLESS = '''
import numpy, rshift, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # the jobs that a shell has in the background ignore it from birth
samples = numpy.zeros((20000, 1, 28, 28), numpy.float32)
def listen(title, done, total):
    if done:
        time.sleep(.01)  # minutes in all: without it a busy machine might end the work before the signal comes
    else:
        print('begun', flush=True)
try:
    rshift.calibrate(sys.argv[1], samples, samples=None, threads=1, progress=listen)
except KeyboardInterrupt:
    rshift.calibrate(sys.argv[1], samples[:2])
    print('ended')
'''


def test_ctrl_c_ends_a_calibration():
    environment = dict(os.environ, PYTHONPATH=str(python_package.FOLDER))
    with subprocess.Popen([sys.executable, '-c', ENDLESS, pipeline.EXAMPLE], stdout=subprocess.PIPE, text=True,
                          env=environment) as process:
        assert process.stdout.readline() == 'begun\n'
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0].splitlines()[-1] == 'ended'
        assert process.returncode == 0 and time.monotonic() - start < 10


def test_the_page_runs(samples, tmp_path):
    page = (pipeline.ROOT / 'docs/python.md').read_text()
    code = '\n'.join(re.findall(r'^```python\n(.*?)^```', page, re.S | re.M))
    assert page.count('```python') == 9
    shutil.copy(pipeline.EXAMPLE, tmp_path / 'net.onnx')
    np.save(tmp_path / 'samples.npy', samples)
    environment = dict(os.environ, PYTHONPATH=str(python_package.FOLDER))
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith('Similarity(')


def test_the_notebook_runs(tmp_path):
    environment = dict(os.environ, PYTHONPATH=str(python_package.FOLDER))
    notebook = pathlib.Path(pipeline.ROOT, 'examples/notebook.py')
    done = subprocess.run([sys.executable, notebook], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 'the same class' in done.stdout
    assert not list(tmp_path.iterdir())
