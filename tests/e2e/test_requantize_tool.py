"""model_tool requantize: the golden vectors of tests/numerics through the program, and wrong input."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

import pipeline

NUMERICS = pipeline.ROOT / 'tests/numerics'
PROFILES = {'half_up': ('tflite', 'd1'), 'two_step': ('tflite', 'd2'), 'two_step_up': ('tflite-ruy', None),
            'half_away': ('caffe2', 'precise')}


def rows(name):
    with open(NUMERICS / 'golden' / f'{name}.csv', encoding='ascii') as file:
        return list(csv.DictReader(file))


def requantize(text, profile, variant=None, **options):
    """Runs the tool with `text` on its standard input."""
    command = [str(pipeline.BIN / 'model_tool'), 'requantize', '--profile', profile]
    command += ['--variant', variant] if variant else []
    for name, value in options.items():
        command += [f'--{name.replace("_", "-")}'] + ([] if value is True else [str(value)])
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)


def integers(accumulators, profile, variant=None, **options):
    done = requantize('\n'.join(map(str, accumulators)) + '\n', profile, variant, **options)
    assert done.returncode == 0, done.stderr
    return [int(line) for line in done.stdout.splitlines()]


def decimal(text):
    """A hexadecimal float as decimal text that reads back as the same number."""
    return repr(float.fromhex(text))


def check(cases):
    """cases: (settings, accumulator, expected); one run of the tool for each setting."""
    groups = {}
    for settings, accumulator, expected in cases:
        groups.setdefault(tuple(settings.items()), []).append((int(accumulator), int(expected)))
    for settings, pairs in groups.items():
        assert integers([a for a, _ in pairs], **dict(settings)) == [y for _, y in pairs], settings
    return len(groups)


def output(row):
    return {'zero_point': row['zero'], 'type': row['type']}


@pytest.mark.parametrize('path', PROFILES)
def test_integer_multipliers(path):
    profile, variant = PROFILES[path]
    chosen = [row for row in rows('requantize') if row['path'] == path][::17]
    assert len({row['rshift'] for row in chosen}) > 40
    check(({'profile': profile, 'variant': variant, 'multiplier': row['multiplier'],
            'rshift': row['rshift'], **output(row)}, row['acc'], row['y']) for row in chosen)


def test_tpu_is_half_up():
    chosen = [row for row in rows('requantize') if row['path'] == 'half_up'][::61]
    check(({'profile': 'tpu', 'multiplier': row['multiplier'], 'rshift': row['rshift'], **output(row)},
           row['acc'], row['y']) for row in chosen)


def test_scale_to_multiplier():
    for row in rows('multiplier')[::7]:
        done = requantize('', 'tpu', row['bits'], scale=decimal(row['scale']), show_multiplier=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout == ''
        assert done.stderr == f"multiplier {row['multiplier']} rshift {row['rshift']}\n", row
    done = requantize('', 'tpu', scale='0.1234', show_multiplier=True)
    assert done.stderr == 'multiplier 2119995857 rshift 34\n'


def test_float_scales():
    cases = []
    for row in rows('float')[::9]:
        if float.fromhex(row['scale']) == 0:
            continue
        scale = {'scale': decimal(row['scale']), **output(row)}
        for profile, variant in (('onnxruntime', None), ('tflite-xnnpack', None)):
            cases.append(({'profile': profile, 'variant': variant, **scale}, row['acc'], row['even']))
        cases.append(({'profile': 'onednn', 'bias': decimal(row['bias']), **scale}, row['acc'],
                      row['zero_even']))
    assert check(cases) > 150


def test_double_scale():
    check(({'profile': 'tflite-ref', 'variant': 'fc', 'scale': decimal(row['scale']), **output(row)},
           row['acc'], row['y']) for row in rows('double')[::11])


def test_qnnpack():
    check(({'profile': 'caffe2', 'variant': variant, 'scale': decimal(row['scale']), **output(row)},
           row['acc'], row[variant])
          for row in rows('qnnpack')[::17] for variant in ('q31', 'fp32', 'precise'))


def test_ascend():
    cases = []
    for row in rows('ascend'):
        offset, low = float.fromhex(row['offset']), -128 if row['type'] == 's8' else 0
        plain = row['relu'] == row['sqrt_dequant'] == row['sqrt_quant'] == '0'
        if not plain or offset != int(offset) or not low <= offset < low + 256:
            continue
        cases.append(({'profile': 'ascend', 'variant': row['rounding'].replace('even', 'round'),
                       'scale': decimal(row['deq_scale']), 'bias': decimal(row['bias']),
                       'quant_scale': decimal(row['scale']), 'zero_point': int(offset),
                       'type': row['type']}, row['acc'], row['y']))
    assert check(cases[:150]) > 50


def test_ascend_attributes_in_half():
    """0.1 in fp16 is 0.0999755859375: ties of fp32 fall below the half."""
    exact = {'scale': 1, 'quant_scale': 0.1, 'zero_point': -128, 'type': 's8'}
    accumulators = list(range(0, 2040, 5))
    expect = {scale: [max(-128, min(127, round(float(np.float32(np.float32(a) * scale)
                                                      + np.float32(-128))))) for a in accumulators]
              for scale in (np.float32(0.1), np.float32(np.float16(0.1)))}
    single, half = expect.values()
    assert single != half
    assert integers(accumulators, 'ascend', **exact) == single
    assert integers(accumulators, 'ascend', 'fp16', **exact) == half


def test_ascend_says_the_packed_scale():
    done = requantize('', 'ascend', 'fp16', scale='0.01', quant_scale='1e6', show_multiplier=True)
    assert done.stderr == ('deq_scale 0.00999999978 (f32 0x3c23d70a), packed 0x00003c23d70a, '
                           'quant scale 1000 (f32 0x447a0000) twice (sqrt_mode)\n')


def test_golden_files_are_as_their_generator_writes_them():
    done = subprocess.run([sys.executable, '-B', str(NUMERICS / 'make_golden.py'), '--check'],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_json():
    done = requantize('1000\n-5\n', 'tpu', scale='0.1234', json=True)
    assert json.loads(done.stdout) == {
        'profile': 'tpu', 'variant': '', 'type': 's8', 'zero_point': 0,
        'arithmetic': 'multiplier 2119995857 rshift 34', 'values': [123, -1]}
    assert json.loads(requantize('', 'tpu', scale='1', json=True).stdout)['values'] == []


def test_blanks_and_line_ends_do_not_matter():
    done = requantize(' 1\r\n\t+2 \n-2147483648', 'tpu', scale='1')
    assert done.stdout.split() == ['1', '2', '-128']


def test_a_million_lines():
    done = requantize(''.join(f'{v}\n' for v in range(-500000, 500000)), 'tpu', scale='0.0001')
    values = done.stdout.split()
    assert len(values) == 1000000
    assert (values[0], values[500000], values[-1]) == ('-50', '0', '50')


@pytest.mark.parametrize('text, message', [
    ('1\n2\nx\n', "line 3: 'x'"), ('1\n\n2\n', "line 2: ''"), ('2147483648\n', 'line 1: 2147483648'),
    ('-2147483649\n', 'line 1: -2147483649'), ('1.5\n', "line 1: '1.5'"), ('1 2\n', "line 1: '1 2'"),
    ('1\n' + '0' * 100000, 'line 2: longer than')])
def test_bad_lines_are_named(text, message):
    done = requantize(text, 'tpu', scale='1')
    assert done.returncode == 1
    assert done.stderr.startswith(f'error: {message}') and done.stderr.count('\n') == 1, done.stderr


@pytest.mark.parametrize('options, word', [
    ({'profile': 'none', 'scale': 1}, 'tflite-xnnpack'), ({'profile': 'tpu'}, '--scale'),
    ({'profile': 'tpu', 'scale': 1, 'multiplier': 1, 'rshift': 1}, 'not both'),
    ({'profile': 'tpu', 'multiplier': 1}, 'belong together'),
    ({'profile': 'onnxruntime', 'multiplier': 1, 'rshift': 1}, 'floating point'),
    ({'profile': 'onednn', 'variant': 'q31', 'scale': 1}, 'no variants'),
    ({'profile': 'caffe2', 'variant': 'd2', 'scale': 1}, 'q31, fp32, precise'),
    ({'profile': 'tpu', 'scale': 0}, '> 0'), ({'profile': 'tpu', 'scale': 'nan'}, '> 0'),
    ({'profile': 'tpu', 'multiplier': -1, 'rshift': 1}, '0..2147483647'),
    ({'profile': 'tpu', 'multiplier': 1, 'rshift': 63}, '0..62'),
    ({'profile': 'tpu', 'scale': 1, 'zero_point': 200}, '-128..127'),
    ({'profile': 'tpu', 'scale': 1, 'type': 's16'}, 's8 or u8'),
    ({'profile': 'tpu', 'scale': 1, 'bias': 2}, 'integer bias'),
    ({'profile': 'tpu', 'scale': 1, 'quant_scale': 2}, 'ascend')])
def test_wrong_usage_is_one_line(options, word):
    done = requantize('1\n', **options)
    assert done.returncode == 2 and done.stdout == ''
    assert done.stderr.startswith('error: ') and done.stderr.count('\n') == 1
    assert word in done.stderr


def test_scales_outside_a_profile():
    for profile, variant, scale in (('caffe2', 'q31', '1.5'), ('onnxruntime', None, '1e39'),
                                    ('ascend', None, '1e-46')):
        done = requantize('1\n', profile, variant, scale=scale)
        assert done.returncode == 1 and done.stderr.startswith('error: '), (profile, done.stderr)
