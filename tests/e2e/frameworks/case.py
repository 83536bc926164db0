"""One quantized operator, described without the words of any framework.

Activations are NHWC (or [rows, columns]) arrays of int8 or uint8. A case becomes a .tflite file
(tflite_builder), a QDQ ONNX model (qdq_builder) and integers (arithmetic).
"""

import dataclasses

import numpy as np

LIMITS = {'s8': (-128, 127), 'u8': (0, 255), 's32': (-2**31, 2**31 - 1)}
NUMPY = {'s8': np.int8, 'u8': np.uint8, 's32': np.int32}


@dataclasses.dataclass(frozen=True)
class Quant:
    """real = scale * (q - zero); `scale` holds one float32, or one for each output channel."""
    type: str
    scale: tuple
    zero: int = 0

    @property
    def scales(self):
        return np.array(self.scale, np.float32)

    @property
    def limits(self):
        return LIMITS[self.type]

    @property
    def dtype(self):
        return NUMPY[self.type]


def quant(kind, scale, zero=0):
    """A Quant with its scales rounded to float32."""
    values = np.atleast_1d(np.asarray(scale, np.float32))
    return Quant(kind, tuple(float(v) for v in values), int(zero))


@dataclasses.dataclass
class Case:
    """op: conv, depthwise, fc, matmul, batch_matmul (of two inputs), add, sub, mul, average_pool, mean, softmax, leaky_relu,
    logistic, relu, concat, quantize (inputs are float32), requantize.

    weights: conv [O,kh,kw,I / groups], depthwise [1,kh,kw,C], fc [O,K], matmul [K,O]; int8 with
    zero 0 or uint8.
    bias: int32 [O] at scale S_x * S_w, or None.  padding: 'SAME', 'VALID' or (top, left, bottom,
    right), the last for QDQ only.  activation: None, 'relu', 'relu6'.
    """
    op: str
    inputs: list                       # numpy arrays
    input_quants: list                 # Quant of each
    output_quant: Quant
    weights: np.ndarray | None = None
    weight_quant: Quant | None = None
    bias: np.ndarray | None = None
    stride: tuple = (1, 1)
    dilation: tuple = (1, 1)
    padding: object = 'VALID'
    kernel: tuple = (1, 1)             # average_pool
    activation: str | None = None
    alpha: float = 0.0                 # leaky_relu
    axis: int = -1                     # concat
    onnx: str = ''                     # ONNX operator, where there is more than one for op

    def pads(self):
        """(top, left, bottom, right) of the spatial window."""
        if not isinstance(self.padding, str):
            return self.padding
        if self.padding == 'VALID':
            return (0, 0, 0, 0)
        kernel = self.window()
        before, after = [], []
        for axis in range(2):
            size, step = self.inputs[0].shape[1 + axis], self.stride[axis]
            window = (kernel[axis] - 1) * self.dilation[axis] + 1
            total = max((-(-size // step) - 1) * step + window - size, 0)
            before.append(total // 2)
            after.append(total - total // 2)
        return (*before, *after)

    def window(self):
        """(height, width) of the window."""
        return self.kernel if self.op == 'average_pool' else self.weights.shape[1:3]

    def output_shape(self):
        x = self.inputs[0]
        if self.op in ('conv', 'depthwise', 'average_pool'):
            kernel = self.window()
            top, left, bottom, right = self.pads()
            spatial = [(x.shape[1 + a] + pad - (kernel[a] - 1) * self.dilation[a] - 1)
                       // self.stride[a] + 1 for a, pad in enumerate((top + bottom, left + right))]
            channels = self.weights.shape[0] if self.op == 'conv' else x.shape[3]
            return (x.shape[0], *spatial, channels)
        if self.op == 'fc':
            return (x.shape[0], self.weights.shape[0])
        if self.op == 'matmul':
            return (*x.shape[:-1], self.weights.shape[1])
        if self.op == 'batch_matmul':
            return (*x.shape[:-1], self.inputs[1].shape[-1])
        if self.op == 'mean':
            return (x.shape[0], 1, 1, x.shape[3])
        if self.op == 'concat':
            return np.concatenate(self.inputs, self.axis).shape
        return x.shape
