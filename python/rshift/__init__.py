"""Rshift from Python: trained networks in INT8, the same integers on every CPU.

>>> table = rshift.calibrate('net.onnx', 'photos/', preprocess='torch-imagenet')
>>> deployment = rshift.deploy('net.onnx', table)
>>> scores, = rshift.Program(deployment).run(image)

`collect` and `merge` are the statistics of a calibration as bytes, for several machines. `InferenceSession` has the names of
onnxruntime; `rshift.backend` is a backend of onnx. Whatever fails raises an Error with one line that says how to mend it.
"""

from . import _core
from ._errors import Corrupt, Error, InternalError, Interrupted, InvalidInput, IoError, OutOfMemory, Unsupported
from ._program import Program, Samples, Session
from ._session import InferenceSession, NodeArg
from ._tensor import Tensor
from ._toolchain import CalibrationTable, Deployment, Similarity, calibrate, collect, compare, deploy, merge

__version__: str = _core.version().split()[1]

__all__ = ['CalibrationTable', 'Corrupt', 'Deployment', 'Error', 'InferenceSession', 'InternalError', 'Interrupted', 'InvalidInput',
           'IoError', 'NodeArg', 'OutOfMemory', 'Program', 'Samples', 'Session', 'Similarity', 'Tensor', 'Unsupported', 'calibrate', 'collect',
           'compare', 'deploy', 'merge']
