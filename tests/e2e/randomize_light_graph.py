#!/usr/bin/env python3
"""Gives a `light` ONNX graph real weights: every ConstantOfShape weight becomes seeded random numbers.

    randomize_light_graph.py light_resnet50.onnx resnet50.onnx [--seed 1]

Light graphs are real architectures whose weights are constants, so that their outputs prove nothing.
Convolution and Gemm weights get the variance that keeps activations in range (2 / fan-in), BatchNorm
parameters lie around the identity. The input of a final Softmax becomes an output as well: with random
weights the probabilities alone could hide an error.
"""

import argparse

import numpy as np
import onnx
from onnx import numpy_helper


def draw(role, shape, rng):
    """Random float32 values for a parameter with the given role."""
    if role in ('conv', 'gemm'):
        fan_in = int(np.prod(shape[1:]))
        return rng.standard_normal(shape, dtype=np.float32) * np.float32(np.sqrt(2 / fan_in))
    low, high = {'scale': (0.8, 1.2), 'variance': (0.7, 1.3)}.get(role, (-0.1, 0.1))
    return rng.uniform(low, high, shape).astype(np.float32)


def roles(graph):
    """{value name: role} of the parameters of every weighted node."""
    found = {}
    for node in graph.node:
        if node.op_type in ('Conv', 'Gemm'):
            names = (node.op_type.lower(), 'bias')
            found.update(zip(node.input[1:], names))
        elif node.op_type == 'BatchNormalization':
            found.update(zip(node.input[1:], ('scale', 'bias', 'mean', 'variance')))
        elif node.op_type == 'Mul':
            found.update((name, 'scale') for name in node.input)
    for node in graph.node:  # a per-channel factor reaches its Mul through Unsqueeze
        if node.op_type == 'Unsqueeze' and node.output[0] in found:
            found[node.input[0]] = found[node.output[0]]
    return found


def randomize(model, seed):
    """Replaces the constant weights in place."""
    graph = model.graph
    rng = np.random.default_rng(seed)
    constants = {tensor.name: tensor for tensor in graph.initializer}
    role = roles(graph)
    kept, replaced = [], []
    for node in graph.node:
        if node.op_type != 'ConstantOfShape':
            kept.append(node)
            continue
        shape = numpy_helper.to_array(constants[node.input[0]]).tolist()
        values = draw(role.get(node.output[0], 'bias'), shape, rng)
        replaced.append(numpy_helper.from_array(values, node.output[0]))
    if not replaced:
        raise ValueError('the model has no ConstantOfShape weights')
    del graph.node[:]
    graph.node.extend(kept)
    graph.initializer.extend(replaced)
    last = graph.node[-1]
    if last.op_type == 'Softmax':
        graph.output.append(onnx.helper.make_tensor_value_info(
            last.input[0], onnx.TensorProto.FLOAT, None))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('light')
    parser.add_argument('output')
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    model = onnx.load(args.light)
    randomize(model, args.seed)
    onnx.save(model, args.output)


if __name__ == '__main__':
    main()
