"""Sounds in .wav files: the samples of every kind of file, and features against formulas written here with numpy."""

import io
import json
import os
import re
import struct
import subprocess
import tarfile

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline
import python_package

SEED = 20
KINDS = ('u8', 'i16', 'i24', 'i32', 'f32', 'f64')


def wav_bytes(samples, rate, kind):
    """A file by its specification, and the values that it holds; `samples` is [length, channels], from -1 to 1."""
    bits = int(kind[1:])
    if kind[0] == 'f':
        values = samples.astype(f'<f{bits // 8}')
        data = values.tobytes()
        values = values.astype(np.float64)
    else:
        half = 2 ** (bits - 1)
        integers = np.clip(np.round(samples * half), -half, half - 1).astype(np.int64)
        values = integers / half
        stored = integers + 128 if kind == 'u8' else integers
        data = stored.astype('<i8').reshape(-1, 1).view(np.uint8)[:, :bits // 8].tobytes()
    channels = samples.shape[1]
    block = channels * bits // 8
    head = struct.pack('<HHIIHH', 3 if kind[0] == 'f' else 1, channels, rate, rate * block, block, bits)
    chunks = b'fmt ' + struct.pack('<I', len(head)) + head + b'data' + struct.pack('<I', len(data)) + data
    chunks += b'\0' * (len(data) % 2)
    return b'RIFF' + struct.pack('<I', 4 + len(chunks)) + b'WAVE' + chunks, values


def make_model(path, shape):
    """Adds 1 to its input."""
    graph = helper.make_graph(
        [helper.make_node('Add', ['x', 'one'], ['y'])], 'add',
        [helper.make_tensor_value_info('x', TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.ones(1, np.float32), 'one')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7), path)
    pipeline.deploy(path, path.with_suffix('.rshift'), mode='f32')


def input_of(folder, wav, recipe, shape):
    """What the program's input is for this file: its output, less 1."""
    (folder / 'p.yaml').write_text(json.dumps({'inputs': [recipe]}))
    if not (folder / 'add.rshift').exists() or (folder / 'shape').read_text() != str(shape):
        make_model(folder / 'add.onnx', shape)
        (folder / 'shape').write_text(str(shape))
    pipeline.run('model_runner', folder / 'add.rshift', '--input', wav, '--preprocess', folder / 'p.yaml',
                 '--output', folder / 'out.npz')
    return pipeline.single(folder / 'out.npz').reshape(shape)


@pytest.fixture(scope='module', autouse=True)
def needs_libsndfile(tmp_path_factory):
    folder = tmp_path_factory.mktemp('built')
    (folder / 'x.wav').write_bytes(wav_bytes(np.zeros((4, 1)), 8000, 'i16')[0])
    (folder / 'p.yaml').write_text('inputs: [{audio: {sample_rate: 8000}}]')
    make_model(folder / 'add.onnx', (1, 4))
    ran = pipeline.call('model_runner', folder / 'add.rshift', '--input', folder / 'x.wav', '--preprocess', folder / 'p.yaml')
    if 'libsndfile' in ran.stderr:
        assert ran.returncode == 1 and ran.stderr.count('\n') == 1
        pytest.skip(f'this build reads no .wav files: {ran.stderr.strip()}')
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('channels', (1, 2, 3))
def test_samples_of_every_kind_of_file(kind, channels, tmp_path):
    rng = np.random.default_rng([SEED, channels])
    length = 501
    file, values = wav_bytes(rng.uniform(-1, 1, (length, channels)), 8000, kind)
    (tmp_path / 'x.WAV').write_bytes(file)
    got = input_of(tmp_path, tmp_path / 'x.WAV', {'audio': {'sample_rate': 8000}}, (1, length))
    want = values.sum(axis=1) / channels
    assert np.array_equal(got[0], want.astype(np.float32) + np.float32(1))


def mel_of(hertz, scale):
    hertz = np.asarray(hertz, np.float64)
    if scale == 'htk':
        return 2595 * np.log10(1 + hertz / 700)
    with np.errstate(divide='ignore'):
        return np.where(hertz < 1000, hertz * 3 / 200, 15 + 27 * np.log(hertz / 1000) / np.log(6.4))


def hertz_of(mel, scale):
    if scale == 'htk':
        return 700 * (10 ** (mel / 2595) - 1)
    return np.where(mel < 15, mel * 200 / 3, 1000 * 6.4 ** ((mel - 15) / 27))


def features(samples, rate, audio):
    """Frames by indexing, numpy's FFT, a dense matrix of mel filters by interpolation, the DCT by its definition."""
    length = audio.get('length', len(samples))
    if audio.get('level') == 'max':
        samples = samples / samples.max()
    if audio.get('level') == 'peak':
        samples = samples / np.abs(samples).max()
    if audio.get('align') == 'center':
        cut = max(len(samples) - length, 0) // 2
        before = max(length - len(samples), 0) // 2
        samples = np.pad(samples[cut:cut + length], (before, max(length - len(samples) - before, 0)))
    else:
        samples = np.pad(samples[:length], (0, max(length - len(samples), 0)))
    f = audio['frames']
    window, hop, fft, power = f['window'], f['hop'], f['fft'], f.get('power', 2)
    border = {'none': None, 'zero': 'constant', 'reflect': 'reflect'}[f.get('border', 'none')]
    if border:
        samples = np.pad(samples, fft // 2, border)
    around = {'hann': np.hanning, 'hamming': np.hamming, 'rectangle': np.ones}[f.get('shape', 'hann')]
    taper = around(window) if f.get('symmetric') else around(window + 1)[:window]
    span = fft if f.get('of') == 'fft' else window
    taper = np.pad(taper, ((span - window) // 2, span - window - (span - window) // 2))
    frames = np.stack([samples[i:i + span] for i in range(0, len(samples) - span + 1, hop)])
    y = np.abs(np.fft.rfft(frames * taper, fft)) ** power
    if 'mel' in audio:
        m = audio['mel']
        scale, low, high = m.get('scale', 'htk'), m.get('low', 0), m.get('high', rate / 2)
        corners = np.linspace(mel_of(low, scale), mel_of(high, scale), m['bins'] + 2)
        hertz = hertz_of(corners, scale)
        bins = np.fft.rfftfreq(fft, 1 / rate)
        axis, at = (corners, mel_of(bins, scale)) if m.get('sides') == 'mel' else (hertz, bins)
        bank = np.stack([np.interp(at, axis[i:i + 3], (0, 1, 0), 0, 0) for i in range(m['bins'])])
        if m.get('norm') == 'slaney':
            bank *= (2 / (hertz[2:] - hertz[:-2]))[:, None]
        y = y @ bank.T
    if 'log' in audio:
        g = audio['log']
        y = y + g['add'] if 'add' in g else np.maximum(y, g['floor'])
        y = {'ln': np.log, 'log10': np.log10, 'db': lambda x: 20 / power * np.log10(x)}[g['unit']](y)
        if 'below_peak' in g:
            y = np.maximum(y, y.max() - g['below_peak'])
    if 'mfcc' in audio:
        n = y.shape[1]
        k = np.arange(audio['mfcc']['count'])
        dct = np.sqrt(2 / n) * np.cos(np.pi * k[:, None] * (2 * np.arange(n) + 1) / (2 * n))
        if audio['mfcc'].get('norm', 'ortho') == 'ortho':
            dct[0] /= np.sqrt(2)
        y = y @ dct.T
    return y.T if audio.get('first') == 'bins' else y


RECIPES = {
    'tensorflow keywords': dict(length=16000, level='max', frames=dict(window=480, hop=320, fft=512, power=1),
                                mel=dict(bins=40, low=20, high=4000, sides='mel'), log=dict(unit='ln', add=1e-6),
                                mfcc=dict(count=10, norm='uniform')),
    'whisper': dict(length=9600, first='bins', frames=dict(window=400, hop=160, fft=400, border='reflect', of='fft'),
                    mel=dict(bins=80, scale='slaney', norm='slaney'), log=dict(unit='log10', floor=1e-10, below_peak=8)),
    'librosa decibel': dict(length=8192, align='center', frames=dict(window=600, hop=512, fft=1024, border='zero', of='fft'),
                            mel=dict(bins=128, scale='slaney', norm='slaney'), log=dict(unit='db', floor=1e-10, below_peak=80)),
    'torchaudio mfcc': dict(length=11111, frames=dict(window=400, hop=200, fft=400, border='reflect', of='fft'),
                            mel=dict(bins=23, low=60, high=7000), log=dict(unit='ln', floor=1e-6), mfcc=dict(count=13)),
    'magnitudes, odd': dict(level='peak', frames=dict(window=33, hop=7, fft=63, shape='hamming', symmetric=True, power=1)),
    'prime': dict(length=701, first='bins', frames=dict(window=97, hop=101, fft=97, shape='rectangle'), log=dict(unit='db', floor=1e-9)),
}


@pytest.mark.parametrize('name', RECIPES)
@pytest.mark.parametrize('size', (5000, 12000, 17000))
def test_features_equal_numpy(name, size, tmp_path, report):
    audio = RECIPES[name]
    seed = [SEED, size, len(name)]
    rng = np.random.default_rng(seed)
    tone = np.sin(2 * np.pi * np.cumsum(rng.uniform(0, .4, size)))[:, None] * np.linspace(.01, .6, size)[:, None]
    file, values = wav_bytes(tone + rng.normal(0, .01, (size, 2)), 16000, 'i16')
    (tmp_path / 'x.wav').write_bytes(file)
    want = features(values.mean(axis=1), 16000, audio)
    recipe = {'name': 'x', 'audio': {'sample_rate': 16000, **audio}, 'mean': 2.5, 'scale': 0.25}
    got = input_of(tmp_path, tmp_path / 'x.wav', recipe, (1, 1, *want.shape))[0, 0]
    want = (want - 2.5) * 0.25 + 1
    worst = np.abs(got - want).max() / max(np.abs(want).max(), 1)
    report(f'{name}, {want.shape[0]} x {want.shape[1]}: largest difference {worst:.1e} of the largest value (seed {seed})')
    assert worst < 1e-6


def test_mean_and_scale_of_each_feature(tmp_path):
    rng = np.random.default_rng(SEED)
    audio = dict(frames=dict(window=8, hop=8, fft=8))
    file, values = wav_bytes(rng.uniform(-1, 1, (40, 1)), 8000, 'f32')
    (tmp_path / 'x.wav').write_bytes(file)
    recipe = {'audio': {'sample_rate': 8000, **audio}, 'mean': [1, 2, 3, 4, 5], 'std': [1, 2, 4, 8, 16]}
    want = (features(values[:, 0], 8000, audio) - np.arange(1, 6)) / 2.0 ** np.arange(5) + 1
    assert np.allclose(input_of(tmp_path, tmp_path / 'x.wav', recipe, (1, 25)), want.reshape(1, 25), atol=1e-6)


@pytest.fixture
def keywords(tmp_path):
    """Twelve sounds in class folders, the model, its preprocessing with a hop that no default has."""
    rng = np.random.default_rng(SEED)
    for i in range(12):
        file = tmp_path / 'sounds' / ('no', 'yes')[i % 2] / f'{i}.wav'
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(wav_bytes(rng.normal(0, .1, (1000 + 50 * i, 1)), 16000, 'i16')[0])
    make_model(tmp_path / 'add.onnx', (1, 1, 9, 10))
    audio = {'sample_rate': 16000, 'length': 1000, **{k: RECIPES['tensorflow keywords'][k] for k in ('mel', 'log', 'mfcc')},
             'frames': {'window': 120, 'hop': 110, 'fft': 128}}
    (tmp_path / 'p.yaml').write_text(json.dumps({'inputs': [{'audio': audio}]}))
    return tmp_path


def test_folder_list_pattern_and_tar_are_one_data_set(keywords):
    files = sorted((keywords / 'sounds').glob('*/*.wav'))
    (keywords / 'list.txt').write_text(''.join(f'{f}\n' for f in reversed(files)))
    with tarfile.open(keywords / 'shard.tar', 'w') as tar:
        for i, file in enumerate(files):
            for name, data in ((f'{i:03}.wav', file.read_bytes()), (f'{i:03}.jpg', b'a picture beside it'),
                               (f'{i:03}.cls', str(i % 2).encode())):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
    tables = {}
    for name, data in (('folder', keywords / 'sounds'), ('list', keywords / 'list.txt'),
                       ('pattern', keywords / 'sounds/*/*.wav'), ('tar', keywords / 'shard.tar')):
        pipeline.run('model_calibrate', keywords / 'add.onnx', '--dataset', data, '--preprocess', keywords / 'p.yaml',
                     '-o', keywords / f'{name}.yaml', '--statistics', keywords / f'{name}.stats', '--threads', 2)
        tables[name] = (keywords / f'{name}.stats').read_bytes()
    assert tables['folder'] == tables['list'] == tables['pattern']
    ranges = [[line.split(', min_sample')[0] for line in (keywords / f'{name}.yaml').read_text().splitlines()
               if 'threshold' in line] for name in ('folder', 'tar')]
    assert len(ranges[0]) == 2
    assert ranges[0] == ranges[1]

    # The recipe is recorded: neither model_deploy nor model_runner is told again.
    said = pipeline.run('model_deploy', keywords / 'add.onnx', '--calibration', keywords / 'folder.yaml', '--mode', 'symmetric',
                        '-o', keywords / 'net.rshift', '--test-input', files[0])
    assert '10 MFCC' in said
    for data in ('sounds', 'shard.tar'):
        pipeline.run('model_runner', keywords / 'net.rshift', '--dataset', keywords / data, '--output', keywords / f'{data}.npz')
    folder, shard = (pipeline.arrays_of(keywords / f'{data}.npz')['y'] for data in ('sounds', 'shard.tar'))
    assert folder.size == 12 * 90 and np.array_equal(folder, shard)


def test_samples_of_python_are_those_of_the_tools(keywords):
    rshift = python_package.package()
    pipeline.run('model_runner', keywords / 'add.rshift', '--dataset', keywords / 'sounds', '--preprocess',
                 keywords / 'p.yaml', '--output', keywords / 'out.npz')
    samples = rshift.Program(keywords / 'add.rshift').samples(keywords / 'sounds', preprocess=keywords / 'p.yaml')
    read = [samples[i][0] for i in range(len(samples))]
    assert np.array_equal(np.concatenate([s.reshape(1, -1) for s in read]) + np.float32(1),
                          pipeline.arrays_of(keywords / 'out.npz')['y'].reshape(12, -1))


def test_the_page_runs(keywords):
    rng = np.random.default_rng(SEED)
    graph = helper.make_graph(
        [helper.make_node('Flatten', ['x'], ['f']), helper.make_node('MatMul', ['f', 'w'], ['y'])], 'classes',
        [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 1, 49, 10))],
        [helper.make_tensor_value_info('y', TensorProto.FLOAT, (1, 2))],
        [numpy_helper.from_array(rng.normal(0, .1, (490, 2)).astype(np.float32), 'w')])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7), keywords / 'keywords.onnx')
    (keywords / 'configs').symlink_to(pipeline.ROOT / 'configs')
    block, = [block for block in re.findall(r'```bash\n(.*?)```', (pipeline.ROOT / 'docs/datasets.md').read_text(), re.S)
              if 'keywords' in block]
    done = subprocess.run(['bash', '-euc', block], cwd=keywords, env=os.environ | {'PATH': f"{pipeline.BIN.resolve()}:{os.environ['PATH']}"},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and 'top-1' in done.stdout, done.stderr


def test_keyword_recipe_gives_the_range_that_the_integer_model_was_made_for(shared, tmp_path):
    """MLPerf Tiny's own 8-bit model says which inputs its makers saw: scale * (-128 - zero point) is the least one. Silence
    between sounds reaches it: 40 logarithms of 1e-6 make the first coefficient."""
    runtime = pytest.importorskip('ai_edge_litert.interpreter')
    details = runtime.Interpreter(str(shared / 'models/dscnn_keywords/kws_ref_model.tflite')).get_input_details()[0]
    scale, zero_point = details['quantization']
    samples = np.zeros((16000, 1))
    samples[:4000, 0] = np.random.default_rng(SEED).uniform(-1, 1, 4000)
    (tmp_path / 'x.wav').write_bytes(wav_bytes(samples, 16000, 'i16')[0])
    make_model(tmp_path / 'add.onnx', (1, 1, 49, 10))
    pipeline.run('model_runner', tmp_path / 'add.rshift', '--input', tmp_path / 'x.wav', '--preprocess',
                 pipeline.PREPROCESS / 'dscnn_keywords.yaml', '--output', tmp_path / 'out.npz')
    least = pipeline.single(tmp_path / 'out.npz').min() - 1
    assert abs(least - scale * (-128 - zero_point)) < scale / 2


def test_wrong_sounds_are_one_line(keywords):
    one = next((keywords / 'sounds').glob('*/*.wav')).read_bytes()
    rng = np.random.default_rng(SEED)
    wrong = {
        'cut.wav': (one[:-100], 'cut off'),
        'head.wav': (one[:30], 'cut off'),
        'text.wav': (b'no sound', 'is no .wav file'),
        'codec.wav': (one[:20] + b'\x77\x66' + one[22:], 'cannot be read'),
        'empty.wav': (wav_bytes(np.zeros((0, 1)), 16000, 'i16')[0], 'holds no samples'),
        'rate.wav': (wav_bytes(rng.normal(0, .1, (1000, 1)), 44100, 'i16')[0], 'resample it: sox'),
        'nan.wav': (wav_bytes(np.full((1000, 1), np.nan), 16000, 'f32')[0], 'sample 0 is'),
    }
    for name, (data, text) in wrong.items():
        (keywords / name).write_bytes(data)
        error = pipeline.fails('model_calibrate', keywords / 'add.onnx', '--dataset', keywords / name, '--preprocess',
                               keywords / 'p.yaml', '-o', keywords / 'wrong.yaml')
        assert text in error and name in error and not (keywords / 'wrong.yaml').exists(), error

    level = json.loads((keywords / 'p.yaml').read_text())
    level['inputs'][0]['audio']['level'] = 'peak'
    (keywords / 'level.yaml').write_text(json.dumps(level))
    (keywords / 'silent.wav').write_bytes(wav_bytes(np.zeros((1000, 1)), 16000, 'i16')[0])
    assert 'is silent' in pipeline.fails('model_calibrate', keywords / 'add.onnx', '--dataset', keywords / 'silent.wav',
                                         '--preprocess', keywords / 'level.yaml', '-o', keywords / 'wrong.yaml')
    (keywords / 'images.yaml').write_text('inputs: [{color: GRAY}]')
    for name, text in (('images.yaml', 'is a sound'), (None, 'sounds need to be told')):
        chosen = ('--preprocess', keywords / name) if name else ()
        assert text in pipeline.fails('model_calibrate', keywords / 'add.onnx', '--dataset', keywords / 'sounds', *chosen,
                                      '-o', keywords / 'wrong.yaml')
    assert 'is an image' in pipeline.fails(
        'model_calibrate', keywords / 'add.onnx', '--dataset', picture(keywords),
        '--preprocess', keywords / 'p.yaml', '-o', keywords / 'wrong.yaml')


def test_damaged_heads_are_read_or_refused_in_one_line(keywords):
    """Random bytes of the head, and random ends: never a crash, and nothing but finite values."""
    rng = np.random.default_rng(SEED)
    whole = wav_bytes(rng.normal(0, .1, (1000, 2)), 16000, 'i24')[0]
    refused = 0
    for i in range(80):
        file = bytearray(whole)
        for at in rng.integers(0, 44, rng.integers(1, 4)):
            file[at] = rng.integers(0, 256)
        (keywords / 'damaged.wav').write_bytes(file[:rng.integers(20, len(file))] if i % 4 == 0 else file)
        done = pipeline.call('model_runner', keywords / 'add.rshift', '--input', keywords / 'damaged.wav', '--preprocess',
                             keywords / 'p.yaml', '--output', keywords / 'out.npz')
        assert done.returncode in (0, 1), (i, done.returncode, done.stderr)
        errors = [line for line in done.stderr.splitlines() if line.startswith('error:')]
        assert len(errors) == done.returncode, (i, done.stderr)
        refused += done.returncode
        assert done.returncode == 1 or np.isfinite(pipeline.single(keywords / 'out.npz')).all()
    assert 20 < refused < 80


def picture(folder):
    (folder / 'x.pgm').write_bytes(b'P5 2 2 255 abcd')
    return folder / 'x.pgm'


@pytest.mark.parametrize('text, error', (
    ('{sample_rate: 0}', 'expected 1 to'),
    ('{sample_rate: 16000, mel: {bins: 4}}', "needs 'frames'"),
    ('{sample_rate: 16000, frames: {window: 9, hop: 3, fft: 8}}', "less than the window's 9"),
    ('{sample_rate: 16000, frames: {window: 8, hop: 3, fft: 8}, log: {unit: ln}}', "either 'floor'"),
    ('{sample_rate: 16000, frames: {window: 8, hop: 3, fft: 8}, mel: {bins: 4, high: 9000}}', 'half of the sample rate'),
    ('{sample_rate: 16000, frames: {window: 8, hop: 3, fft: 8, shape: kaiser}}', 'hann | hamming | rectangle'),
    ('{sample_rate: 16000, tempo: 3}', 'tempo')))
def test_wrong_recipes_name_the_line(text, error, keywords):
    (keywords / 'bad.yaml').write_text(f'inputs:\n  - audio: {text}\n')
    said = pipeline.fails('model_calibrate', keywords / 'add.onnx', '--dataset', keywords / 'sounds', '--preprocess',
                          keywords / 'bad.yaml', '-o', keywords / 'wrong.yaml')
    assert error in said and 'bad.yaml:2' in said


def test_flags_of_images_are_refused(keywords):
    said = pipeline.call('model_calibrate', keywords / 'add.onnx', '--dataset', keywords / 'sounds', '--preprocess',
                         keywords / 'p.yaml', '--resize', '8', '-o', keywords / 'wrong.yaml')
    assert said.returncode != 0 and 'takes sounds' in said.stderr
