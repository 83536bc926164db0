"""The few bytes of ONNX and NumPy that the test needs, by the standard library alone."""
import ast
import io
import struct
import zipfile


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def message(*fields):
    """Protocol buffers: (number, int | str | bytes) pairs; bytes are messages."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def chain_model(op_types, elements):
    """An ONNX model of operators of one input behind each other, from x to y, f32 [1, elements]."""
    shape = message((1, message((1, 1))), (1, message((1, elements))))
    tensor = message((1, message((1, 1), (2, shape))))
    names = ["x"] + [f"t{i}" for i in range(1, len(op_types))] + ["y"]
    nodes = [(1, message((1, names[i]), (2, names[i + 1]), (3, f"node{i}"), (4, op_type)))
             for i, op_type in enumerate(op_types)]
    graph = message(*nodes, (2, "tiny"),
                    (11, message((1, "x"), (2, tensor))), (12, message((1, "y"), (2, tensor))))
    return message((1, 8), (7, graph), (8, message((1, ""), (2, 13))))


def npy(values, shape=None):
    """f32 as a .npy file, [1, len(values)] where no shape is given."""
    header = str({"descr": "<f4", "fortran_order": False, "shape": shape or (1, len(values))})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(values)}f", *values))


def read_npz(path, array):
    """One array of an .npz file as a list of f32."""
    with zipfile.ZipFile(path) as archive:
        file = io.BytesIO(archive.read(f"{array}.npy"))
    file.seek(8)
    header = ast.literal_eval(file.read(struct.unpack("<H", file.read(2))[0]).decode())
    if header["descr"] != "<f4":
        raise ValueError(f"{path}: {array} has the type {header['descr']}, expected <f4")
    data = file.read()
    return list(struct.unpack(f"<{len(data) // 4}f", data))
