"""The bytes of a case from the formulas alone.

No framework and none of our programs: numpy written from quantize/NUMERICS.md, the third witness.
"""

from frameworks import arithmetic_ort, arithmetic_tflite, arithmetic_xnnpack

_FORMULAS = {'tflite-ref': arithmetic_tflite.REF, 'tflite-ruy': arithmetic_tflite.RUY,
             'tflite-xnnpack': arithmetic_xnnpack.XNNPACK, 'onnxruntime': arithmetic_ort.ORT}


# What NUMERICS.md 13.2 says our programs leave: they compute this instead of the framework's bytes.
_LEFT = {('tflite-ruy', 'requantize'): lambda case: arithmetic_tflite.requantize_ruy(case, block=1)}


def expected(case, profile):
    """The bytes of the framework."""
    return _FORMULAS[profile][case.op](case)


def ours(case, profile):
    """The bytes of our programs where they are known to differ from the framework's, or None."""
    left = _LEFT.get((profile, case.op))
    return left(case) if left else None
