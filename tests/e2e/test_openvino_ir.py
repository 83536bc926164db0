"""OpenVINO IR: one written here against numpy, damaged ones, and networks that OpenVINO and NNCF write."""

import re
import subprocess

import numpy as np
import pytest

import fakequantize_graphs as graphs
import openvino_networks as networks
import pipeline
from test_emit_qdq import folder  # noqa: F401, pylint: disable=unused-import
from test_qdq import deploy

F = np.float32


class Ir:
    """Writes a .xml and a .bin, a layer at a time. Layers are named by their index."""

    PRECISIONS = {'f32': 'FP32', 'i64': 'I64', 'i8': 'I8', 'u8': 'U8'}

    def __init__(self):
        self.layers, self.edges, self.ports, self.bin = [], [], [], b''

    def layer(self, kind, inputs, shape, version='opset1', precision='f32', outputs=1, **data):
        index = len(self.ports)
        attributes = ' '.join(f'{key.replace("__", "-")}="{value}"' for key, value in data.items())
        read = ''.join(self.port(i, *self.ports[source]) for i, source in enumerate(inputs))
        self.edges += [f'<edge from-layer="{source}" from-port="{self.first(source)}" to-layer="{index}" to-port="{i}"/>'
                       for i, source in enumerate(inputs)]
        self.ports.append((shape, precision, len(inputs)))
        made = '' if outputs == 0 else f'<output>{self.port(len(inputs), shape, precision, 0)}</output>'
        self.layers.append(f'<layer id="{index}" name="{kind}_{index}" type="{kind}" version="{version}"><data {attributes}/>'
                           f'<input>{read}</input>{made}</layer>')
        return index

    def first(self, source):
        return self.ports[source][2]

    def port(self, i, shape, precision, _):
        return f'<port id="{i}" precision="{self.PRECISIONS[precision]}">{"".join(f"<dim>{d}</dim>" for d in shape)}</port>'

    def constant(self, array, kind):
        array = np.ascontiguousarray(array, {'f32': F, 'i64': np.int64, 'i8': np.int8, 'u8': np.uint8}[kind])
        offset, self.bin = len(self.bin), self.bin + array.tobytes()
        return self.layer('Const', [], array.shape, precision=kind, element_type=kind, offset=offset, size=array.nbytes)

    def fake(self, x, ends, levels=256):
        return self.layer('FakeQuantize', [x, *[self.constant(end, 'f32') for end in ends]], self.ports[x][0], levels=levels,
                          auto_broadcast='numpy')

    def weights(self, integers, scale, kind='i8', zero=None):
        """Const -> Convert -> Subtract -> Multiply."""
        shape = integers.shape
        y = self.layer('Convert', [self.constant(integers, kind)], shape, destination_type='f32')
        if zero is not None:
            moved = self.layer('Convert', [self.constant(zero, kind)], zero.shape, destination_type='f32')
            y = self.layer('Subtract', [y, moved], shape)
        return self.layer('Multiply', [y, self.constant(scale, 'f32')], shape)

    def text(self):
        return (f'<?xml version="1.0"?>\n<net name="m" version="11"><layers>{"".join(self.layers)}</layers>'
                f'<edges>{"".join(self.edges)}</edges></net>')

    def save(self, path):
        path.write_text(self.text())
        path.with_suffix('.bin').write_bytes(self.bin)


def conv(x, w, groups=1):
    """Pads of one, stride one."""
    x = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)]).astype(np.float64)
    height, width, of = x.shape[2] - 2, x.shape[3] - 2, w.shape[0] // groups
    y = np.zeros((1, w.shape[0], height, width))
    for o in range(w.shape[0]):
        part = x[:, o // of * w.shape[1]:(o // of + 1) * w.shape[1]]
        for i in range(3):
            for j in range(3):
                y[:, o] += np.einsum('nchw,c->nhw', part[:, :, i:i + height, j:j + width], w[o, :, i, j])
    return y.astype(F)


WINDOW = dict(strides='1, 1', dilations='1, 1', pads_begin='1, 1', pads_end='1, 1', auto_pad='explicit')


def written():
    """FQ -> Convolution -> bias -> ReLU -> FQ -> GroupConvolution -> FQ -> ReduceMean -> Reshape -> MatMul."""
    rng, ir = np.random.default_rng(71), Ir()
    ends = [graphs.ends_of(0.02, 256, True), graphs.ends_of(0.03, 256, False), graphs.ends_of(0.05, 256, True)]
    w1, s1 = rng.integers(-127, 128, (4, 3, 3, 3)), rng.uniform(0.002, 0.01, (4, 1, 1, 1)).astype(F)
    b1 = rng.normal(size=(1, 4, 1, 1)).astype(F)
    w2, s2 = rng.integers(-127, 128, (2, 3, 2, 3, 3)), rng.uniform(0.002, 0.01, (2, 3, 1, 1, 1)).astype(F)
    w3, s3, z3 = rng.integers(0, 256, (5, 6)), rng.uniform(0.002, 0.01, (5, 1)).astype(F), rng.integers(100, 150, (5, 1))
    x = ir.layer('Parameter', [], (1, 3, 6, 5), element_type='f32')
    y = ir.fake(x, ends[0])
    y = ir.layer('Convolution', [y, ir.weights(w1, s1)], (1, 4, 6, 5), **WINDOW)
    y = ir.layer('Add', [y, ir.constant(b1, 'f32')], (1, 4, 6, 5), auto_broadcast='numpy')
    y = ir.fake(ir.layer('ReLU', [y], (1, 4, 6, 5)), ends[1])
    y = ir.layer('GroupConvolution', [y, ir.weights(w2, s2)], (1, 6, 6, 5), **WINDOW)
    y = ir.fake(y, ends[2])
    y = ir.layer('ReduceMean', [y, ir.constant([2, 3], 'i64')], (1, 6, 1, 1), keep_dims='true')
    y = ir.layer('Reshape', [y, ir.constant([0, -1], 'i64')], (1, 6), special_zero='true')
    y = ir.fake(y, graphs.ends_of(0.02, 256, True))
    y = ir.layer('MatMul', [y, ir.weights(w3, s3, 'u8', z3)], (1, 5), transpose_a='false', transpose_b='true')
    ir.layer('Result', [y], (1, 5), outputs=0)

    def expected(array):
        y = graphs.fake_quantize(array, *ends[0], 256)
        y = graphs.fake_quantize(np.maximum(conv(y, w1 * s1) + b1, 0), *ends[1], 256)
        y = graphs.fake_quantize(conv(y, (w2 * s2).reshape(6, 2, 3, 3), groups=2), *ends[2], 256)
        y = graphs.fake_quantize(y.mean((2, 3), dtype=F), *graphs.ends_of(0.02, 256, True), 256)
        return y @ ((w3 - z3) * s3).T
    return ir, expected


def test_written_ir_equals_numpy_and_is_integer(tmp_path):
    ir, expected = written()
    ir.save(tmp_path / 'm.xml')
    x = np.random.default_rng(72).uniform(-2, 2, (1, 3, 6, 5)).astype(F)
    np.save(tmp_path / 'x.npy', x)
    outputs = {}
    for name, extra in {'f32': ['--mode', 'f32'], 'openvino': ['--no-check', '--profile', 'openvino'], 'tpu': ['--no-check']}.items():
        told = deploy(tmp_path / 'm.xml', tmp_path / f'{name}.rshift', *extra)
        if name != 'f32':
            assert [n for n in told['float_nodes'] if n['op'] in ('Conv', 'MatMul')] == []
        pipeline.run('model_runner', tmp_path / f'{name}.rshift', '--input', tmp_path / 'x.npy', '--output', tmp_path / 'y.npz')
        outputs[name] = pipeline.single(tmp_path / 'y.npz')
    wanted = expected(x)
    # Next to a tie of the last FakeQuantize one of its six inputs may be another level.
    step = 0.02 * 150 * 0.01
    assert np.abs(outputs['f32'] - wanted).max() <= step
    for name in ('openvino', 'tpu'):
        assert np.abs(outputs[name] - wanted).max() <= 3 * step
    assert np.abs(wanted).max() > 10 * step


def broken(change):
    ir, _ = written()
    return change(ir.text()), ir.bin


@pytest.mark.parametrize('change, expected', [
    (lambda text: text[:len(text) // 2], 'not XML'),
    (lambda text: text.replace('version="11"', 'version="7"'), 'IR of version .7., expected 10 or 11'),
    (lambda text: text.replace('<layer id="3"', '<layer id="2"', 1), 'layer id .2. is there twice'),
    (lambda text: text.replace('<edge from-layer="0"', '<edge from-layer="999"', 1), 'names layer .999., which is not there'),
    (lambda text: re.sub(r'<edge from-layer="0"[^>]*>', '', text, count=1), 'has no edge'),
    (lambda text: text.replace('offset="0"', 'offset="99999999"', 1), 'do not belong together'),
    (lambda text: text.replace('strides="1, 1"', 'strides="1, x"', 1), "'strides' is .1, x., expected whole numbers"),
    (lambda text: text.replace('type="ReLU"', 'type="LSTMCell"'), 'LSTMCell.*layer of an OpenVINO IR that is not supported'),
    (lambda text: text.replace('auto_broadcast="numpy"', 'auto_broadcast="pdpd"'), 'pdpd'),
    (lambda text: text.replace('levels="256"', 'levels="many"', 1), "'levels' is .many., expected a whole number"),
    (lambda text: text.replace('<dim>5</dim>', '<dim>five</dim>', 1), 'dimension .five. is not a number'),
], ids=range(11))
def test_damaged_files_are_refused_in_one_line(change, expected, tmp_path):
    text, data = broken(change)
    (tmp_path / 'm.xml').write_text(text)
    (tmp_path / 'm.bin').write_bytes(data)
    done = pipeline.call('model_deploy', tmp_path / 'm.xml', '-o', tmp_path / 'p.rshift')
    assert done.returncode == 1 and not (tmp_path / 'p.rshift').exists(), done.stderr
    assert re.search(expected, done.stderr, re.DOTALL) and 'm.xml' in done.stderr, done.stderr


def test_missing_and_short_weights_are_named(tmp_path):
    ir, _ = written()
    (tmp_path / 'm.xml').write_text(ir.text())
    assert 'm.bin' in pipeline.fails('model_deploy', tmp_path / 'm.xml', '-o', tmp_path / 'p.rshift')
    (tmp_path / 'm.bin').write_bytes(ir.bin[:-8])
    assert 'do not belong together' in pipeline.fails('model_deploy', tmp_path / 'm.xml', '-o', tmp_path / 'p.rshift')


def test_every_cut_of_the_file_is_an_error(tmp_path):
    ir, _ = written()
    text = ir.text()
    (tmp_path / 'm.bin').write_bytes(ir.bin)
    for length in range(0, len(text) - 1, len(text) // 25):
        (tmp_path / 'm.xml').write_text(text[:length])
        done = pipeline.call('model_deploy', tmp_path / 'm.xml', '-o', tmp_path / 'p.rshift')
        assert done.returncode == 1 and done.stderr.startswith('error:'), (length, done.stderr)


# --- what OpenVINO and NNCF write -----------------------------------------------------------------------------------

@pytest.fixture(name='nncf', scope='module')
def nncf_fixture():
    python = networks.PYTHON
    if not python.exists() or subprocess.run([python, '-c', 'import nncf, openvino'], capture_output=True, check=False).returncode:
        pytest.skip('build/benchvenv has no openvino and nncf: python3 -m venv build/benchvenv && build/benchvenv/bin/pip install openvino nncf')


@pytest.mark.parametrize('name, words', [('resnet8_cifar10', ()), ('fashion_vit_tiny', ('transformer', 'mixed'))])
def test_networks_by_nncf(name, words, nncf, shared, tmp_path, report):
    """Float: OpenVINO's outputs. INT8: no convolution in F32, 99.9 % of the bytes of every tensor are OpenVINO's."""
    case = networks.CASES[name]
    error = networks.compare_float(case, shared, tmp_path, 2)
    row = networks.compare_int8(case, shared, tmp_path, words, count=1, most=6)
    report(f'OpenVINO {name} {" ".join(words)}: F32 {error:.1e}; INT8 {row["conv_f32"]} Conv and {row["matmul_f32"]} MatMul in F32, '
           f'cosine {row["cosine"]:.6f}, {row["differ"]} of {row["elements"]} bytes differ')
    assert error < 1e-4
    assert row['conv_f32'] == 0 and row['differ'] <= row['elements'] / 1000


def commands_of_page():
    page = (pipeline.ROOT / 'docs/from_openvino.md').read_text()
    blocks = re.findall(r'```bash\n(.*?)```', page, re.DOTALL)
    lines = [line.split('#')[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


def test_commands_of_the_page_run(folder, tmp_path):  # noqa: F811
    """docs/from_openvino.md, with a written IR in place of NNCF's."""
    ir, _ = written()
    ir.save(tmp_path / 'net_int8.xml')
    np.save(tmp_path / 'x.npy', np.zeros((1, 3, 6, 5), F))
    (tmp_path / 'net.onnx').write_bytes((folder / 'net.onnx').read_bytes())
    np.save(tmp_path / 'samples.npy', np.load(folder / 'x.npy')[:8])
    ran = commands_of_page()
    assert len(ran) >= 6
    for line in ran:
        words = line.split()
        done = subprocess.run([pipeline.BIN / words[0], *words[1:]], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f'{line}\n{done.stderr}'

