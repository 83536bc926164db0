"""expected(case, profile): the bytes of a case, from the formulas alone.

No framework and none of our programs: numpy written from quantize/NUMERICS.md, the third witness.
"""

from frameworks import arithmetic_ort, arithmetic_tflite, arithmetic_xnnpack

_FORMULAS = {'tflite-ref': arithmetic_tflite.REF, 'tflite-ruy': arithmetic_tflite.RUY,
             'tflite-xnnpack': arithmetic_xnnpack.XNNPACK, 'onnxruntime': arithmetic_ort.ORT}


def expected(case, profile):
    return _FORMULAS[profile][case.op](case)
