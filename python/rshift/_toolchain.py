"""From a trained network to a program: calibrate, deploy, and the statistics between machines."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import tempfile
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._errors import InvalidInput
from ._tensor import TYPE_NUMBERS

Path = Union[str, 'os.PathLike[str]']
Model = Any  # a path, the bytes of an ONNX file, or an onnx.ModelProto
Dataset = Any  # a path, an array with the samples along its first axis, or an iterable of samples
Progress = Callable[[str, int, int], object]
Types = Union[str, Mapping[str, str]]
Shapes = Mapping[str, Sequence[int]]


def _write(path: Path, content: bytes) -> None:
    """The whole file or none."""
    target = os.path.abspath(path)
    handle, name = tempfile.mkstemp(dir=os.path.dirname(target), prefix='.rshift')
    try:
        with os.fdopen(handle, 'wb') as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


@dataclasses.dataclass(frozen=True)
class CalibrationTable:
    """The ranges of every tensor of a model, as the YAML text that model_calibrate writes."""

    text: str

    @staticmethod
    def load(path: Path) -> CalibrationTable:
        """Reads a table's file."""
        with open(path, encoding='utf-8') as file:
            return CalibrationTable(file.read())

    def save(self, path: Path) -> None:
        """Writes a file that model_deploy takes."""
        _write(path, self.text.encode('utf-8', 'surrogateescape'))


@dataclasses.dataclass(frozen=True)
class Deployment:
    """A program, and what there is to know of it."""

    program: bytes  # the content of a .rshift file; Program(deployment) runs it
    warnings: List[str]
    summary: str  # what model_deploy prints
    html: str  # the report as one page
    qdq: Optional[bytes]  # the quantized model as ONNX, of emit_qdq
    report_json: str
    auto_config: Optional[str] = None  # of `auto`: the types chosen, a file for `config`

    @functools.cached_property
    def report(self) -> Dict[str, Any]:
        """Layers, proofs, the verdict of the check: what --report-json writes."""
        parsed: Dict[str, Any] = json.loads(self.report_json)
        return parsed

    def save(self, path: Path) -> None:
        """Writes a .rshift file."""
        _write(path, self.program)


@dataclasses.dataclass(frozen=True)
class Similarity:
    """How close an array is to a reference."""

    equal: bool  # every element is the same
    has_nan: bool  # on either side; the figures are then NaN
    cosine: float  # 1 when both are all zero, 0 when one is
    euclid: float  # 1 - |a-b| / |(a+b)/2|; 1 when both are all zero
    sqnr_db: float  # 10 log10(sum b^2 / sum (a-b)^2); 200 at most
    max_abs: float  # max |a-b|


def _model(model: Model) -> Dict[str, Any]:
    if isinstance(model, (str, os.PathLike)):
        return {'model': os.fsencode(model)}
    if hasattr(model, 'SerializeToString'):
        model = model.SerializeToString()
    if not isinstance(model, (bytes, bytearray, memoryview)):
        raise TypeError(f'the model is a {type(model).__name__}, expected a path, the bytes of an ONNX file or an onnx.ModelProto')
    return {'model_bytes': model}


def _path(path: Optional[Path]) -> Optional[bytes]:
    return None if path is None else os.fsencode(path)


def _shapes(shapes: Optional[Shapes]) -> Optional[List[Tuple[str, Sequence[int]]]]:
    return None if shapes is None else [(name, tuple(shape)) for name, shape in shapes.items()]


def _types(argument: str, types: Optional[Types]) -> Optional[List[Tuple[Optional[str], int]]]:
    if types is None:
        return None
    pairs: List[Tuple[Optional[str], str]] = [(None, types)] if isinstance(types, str) else list(types.items())
    for _, kind in pairs:
        if kind not in TYPE_NUMBERS:
            raise InvalidInput(f"{argument} is '{kind}', expected {', '.join(TYPE_NUMBERS)}, or a mapping from names to them")
    return [(name, TYPE_NUMBERS[kind]) for name, kind in pairs]


def _samples(samples: Any) -> List[List[np.ndarray[Any, Any]]]:
    """Each sample's arrays, as contiguous float32."""
    if isinstance(samples, np.ndarray) and samples.ndim == 0:
        raise InvalidInput('the samples are a single number, expected an array with the samples along its first axis')
    found = []
    for sample in samples:
        arrays = sample if isinstance(sample, (list, tuple)) else [sample]
        found.append([np.ascontiguousarray(array, np.float32) for array in arrays])
    if not found:
        raise InvalidInput('there are no samples, expected one or more')
    return found


def _measured(model: Model, dataset: Dataset, samples: Optional[int], shard: Union[None, str, Tuple[int, int]],
              **keywords: Any) -> Dict[str, Any]:
    """The keywords of the extension for what is measured on samples."""
    if samples is not None and samples < 1:
        raise InvalidInput(f'samples is {samples}, expected a positive number, or None for all')
    given = {**_model(model), **keywords, 'samples': -1 if samples is None else samples}
    if isinstance(dataset, (str, os.PathLike)):
        given['dataset'] = os.fsencode(dataset)
    else:
        given['data'] = _samples(dataset)
    if shard is not None:
        given['shard'] = shard if isinstance(shard, str) else f'{shard[0]}/{shard[1]}'
    return given


def calibrate(model: Model, dataset: Dataset = None, *, preprocess: Optional[Path] = None, method: str = 'kl', equalize: Path = 'auto',
              samples: Optional[int] = 100, seed: int = 0, threads: int = 0, input_shapes: Optional[Shapes] = None,
              statistics: Union[None, bytes, Iterable[bytes]] = None, partial: bool = False, portable: bool = False,
              progress: Optional[Progress] = None) -> CalibrationTable:
    """Measures a trained network and gives the ranges of its tensors.

    The same table for the same arguments, whatever the number of threads. Computes without the GIL; Ctrl-C ends it after the sample
    at hand.

    model: a path (ONNX, .tflite, OpenVINO's .xml), the bytes of an ONNX file, or an onnx.ModelProto.
    dataset: a path (a folder, a list, .npy, .npz, idx), an array with the samples along its first axis, or an iterable of samples,
        each an array, or a list of them in the order of the model's inputs.
    preprocess: a file or a preset ('torch-imagenet', ...): how pixels become the input.
    method: the threshold method, or 'auto': for each tensor the best. equalize: 'auto', 'weights' (no table for each
        channel), 'off', or a table of the same model.
    samples: how many of them, chosen by `seed`; None for all.
    input_shapes: of inputs whose model leaves dimensions open: {'x': (1, 3, 224, 224)}.
    portable: run the float network with the same bytes on every CPU type, which takes up to twice as long.
    statistics: in place of a data set, what `collect` or `merge` gave. partial: shards of them may be missing.
    progress: called as progress(title, done, total); what it raises ends the work.
    """
    if (dataset is None) == (statistics is None):
        raise InvalidInput('give one of dataset and statistics')
    common = {'method': method, 'input_shapes': _shapes(input_shapes), 'partial': partial}
    if statistics is not None:
        parts = [statistics] if isinstance(statistics, (bytes, bytearray, memoryview)) else list(statistics)
        given = {**_model(model), **common, 'statistics': parts}
    else:
        given = _measured(model, dataset, samples, None, preprocess=_path(preprocess), equalize=os.fsencode(equalize), seed=seed,
                          threads=threads, portable=portable, **common)
    return CalibrationTable(_core.calibrate(progress, **given).decode('utf-8', 'surrogateescape'))


def collect(model: Model, dataset: Dataset, *, shard: Union[None, str, Tuple[int, int]] = None, preprocess: Optional[Path] = None,
            equalize: Path = 'auto', samples: Optional[int] = 100, seed: int = 0, threads: int = 0,
            input_shapes: Optional[Shapes] = None, portable: bool = False, progress: Optional[Progress] = None) -> bytes:
    """The statistics of a calibration as bytes, for several machines or to be kept; arguments as in `calibrate`.

    shard: (i, n): every n-th of the chosen samples from i, where every machine has the whole data set. `merge` of all shards gives the
        bytes of one run. Machines that have different samples need none; they say equalize='off', or name one table, since each
        would equalize by its own samples.
    """
    return _core.collect(progress, **_measured(model, dataset, samples, shard, preprocess=_path(preprocess), equalize=os.fsencode(equalize),
                                               seed=seed, threads=threads, input_shapes=_shapes(input_shapes), portable=portable))


def merge(statistics: Iterable[bytes]) -> bytes:
    """As if the samples of all of them had been measured in one run; the order makes no difference."""
    return _core.merge(list(statistics))


def deploy(model: Model, table: Union[None, CalibrationTable, Path] = None, *, mode: Optional[str] = None, profile: Optional[str] = None,
           config: Optional[Path] = None, target: Optional[Path] = None, scales: Optional[Path] = None,
           preprocess: Optional[Path] = None, input_type: Optional[Types] = None, output_type: Optional[Types] = None,
           input_shapes: Optional[Shapes] = None, test_data: Dataset = None, check: bool = True, emit_qdq: bool = False,
           bias_correction: Optional[str] = None, activation_bits: int = 8, residual_bits: int = 8,
           shift_negative: bool = True, threads: int = 0, progress: Optional[Progress] = None,
           weight_rounding: Optional[str] = None, weight_clipping: Optional[str] = None,
           weight_bits: int = 8, auto: bool = False, budget: Union[None, str, Iterable[str]] = None,
           equalize: Optional[str] = None) -> Deployment:
    """Makes a program of a trained network; the same bytes for the same arguments.

    A program that loses too much is no error: `warnings` and `report` say so.

    table: what `calibrate` gave, or a file; none for mode 'f32' and for models that are quantized already.
    mode: 'symmetric' (the default), 'asymmetric' or 'f32'. profile: whose integer arithmetic, 'tpu' by default.
    config, target, scales: files, as of model_deploy's options of these names. preprocess: as in `calibrate`; the table's by default.
    input_type, output_type: 'f32' (the default), 'u8', 's8' or, of what has 16 bits, 's16' for all, or a mapping from names to them.
    test_data: an array or an iterable of samples; float and integer program are compared on them, tensor by tensor.
    check: run the samples of the table, if they can be read again, through both programs. threads: of that; 1 by default.
    emit_qdq: fills Deployment.qdq. bias_correction: 'auto' (the default: 'fast', where it brings the outputs 1 dB), 'off', 'fast',
    'full' or 'regression', on the table's samples.
    weight_rounding: 'auto' (the default: 'gptq' where it brings the outputs 1 dB), 'nearest' or 'gptq', weight_clipping: 'off' (the default) or 'mse', on those samples, too.
    weight_bits: 4 for the weights of 1x1 convolutions and matrix products but the first and the last (docs/weights.md).
    activation_bits, residual_bits: 16 for every result that can have them, for sums of two activations and what they add (docs/int16.md).
    shift_negative: symmetric results of functions that reach little below zero are unsigned (docs/accuracy.md).
    equalize: of the table's equalization: 'auto' (the default: what is left to a trial where the outputs gain 1 dB by it), 'table' (nothing of that), 'all' or 'off'.
    `scales` and `emit_qdq` leave it out, too, and say so.
    auto: search for what makes the program good enough, as `budget` says: 'cosine=0.999', 'top1=99', 'boxes=0.95', 'float-layers=2',
    'time=40evaluations', or several of them (docs/auto.md).
    """
    if table is not None and not isinstance(table, CalibrationTable):
        table = CalibrationTable.load(table)
    parts = _core.deploy(
        progress, **_model(model), mode=mode, profile=profile, config=_path(config), target=_path(target), scales=_path(scales),
        table=None if table is None else table.text.encode('utf-8', 'surrogateescape'), preprocess=_path(preprocess),
        input_types=_types('input_type', input_type), output_types=_types('output_type', output_type), input_shapes=_shapes(input_shapes),
        test_data=None if test_data is None else _samples(test_data), no_check=not check, emit_qdq=emit_qdq,
        bias_correction=bias_correction, activation_bits=activation_bits, residual_bits=residual_bits,
        no_shift_negative=int(not shift_negative), threads=threads, weight_rounding=weight_rounding, weight_clipping=weight_clipping,
        equalize=equalize, weight_bits=weight_bits, automatic=auto, budget=budget if budget is None or isinstance(budget, str) else ','.join(budget))
    warnings, summary, report, html = (part.decode('utf-8', 'replace') for part in parts[1:5])
    return Deployment(parts[0], warnings.splitlines(), summary, html, parts[5] if emit_qdq else None, report,
                      parts[6].decode('utf-8') if auto else None)


def compare(a: Any, b: Any) -> Any:
    """How close `a` is to the reference `b`: a Similarity of two arrays; of two mappings with the same names, one for each name."""
    if isinstance(a, Mapping) or isinstance(b, Mapping):
        if not (isinstance(a, Mapping) and isinstance(b, Mapping) and a.keys() == b.keys()):
            raise InvalidInput('got a mapping, expected two of them with the same names')
        return {name: compare(a[name], b[name]) for name in a}
    first, second = np.asarray(a), np.asarray(b)
    if first.shape != second.shape:
        raise InvalidInput(f'the arrays have the shapes {list(first.shape)} and {list(second.shape)}, expected equal ones')
    return Similarity(*_core.compare(np.ascontiguousarray(first, np.float32), np.ascontiguousarray(second, np.float32)))
