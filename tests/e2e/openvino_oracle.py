"""What needs OpenVINO and NNCF, in an environment that has them (build/benchvenv), not in that of the tests:

python openvino_oracle.py run MODEL INPUTS.npz OUTPUTS.npz ...  the CPU plugin in F32 precision; [samples, ...] each; any number of threes
python openvino_oracle.py ir MODEL.onnx FLOAT.xml               the model as an IR, its shapes fixed to a batch of one
python openvino_oracle.py cut MODEL.xml INPUTS.npy FOLDER [most] for each FakeQuantize of an activation the model up to it, and its result there
python openvino_oracle.py layers MODEL.xml INPUTS.npy FOLDER     for each FakeQuantize of an activation the model between it and those before it
python openvino_oracle.py nncf FLOAT.xml INPUTS.npy QUANTIZED.xml [transformer] [mixed]
"""

import sys

import numpy as np
import openvino as ov


def run(*threes):
    core = ov.Core()
    for i in range(0, len(threes), 3):
        run_one(core, *threes[i:i + 3])


def run_one(core, model, inputs, outputs):
    compiled = core.compile_model(core.read_model(model), 'CPU', {'INFERENCE_PRECISION_HINT': 'f32'})
    with np.load(inputs) as arrays:
        samples = {name: arrays[name] for name in arrays}
    results = []
    for i in range(len(next(iter(samples.values())))):
        given = compiled({name: array[i] for name, array in samples.items()})
        results.append({output.any_name: given[output] for output in compiled.outputs})
    np.savez(outputs, **{name: np.stack([r[name] for r in results]) for name in results[0]})
    kinds = [(o.get_rt_info()['layerType'].astype(str), o.get_rt_info()['primitiveType'].astype(str))
             for o in compiled.get_runtime_model().get_ordered_ops()]
    for kind, primitive in kinds:
        print(kind, primitive)


def cut(model, inputs, folder, most='1000'):
    """FOLDER/N.xml, and results.npz with N, N_low, N_high, N_levels."""
    core, results = ov.Core(), {}
    samples = np.load(inputs)
    nodes = [n for n in core.read_model(model).get_ordered_ops() if n.get_type_name() == 'FakeQuantize']
    names = [n.friendly_name for n in nodes if not is_constant(n.input_value(0).get_node())]
    for i in np.unique(np.linspace(0, len(names) - 1, min(int(most), len(names))).round().astype(int)):
        whole = core.read_model(model)
        node = next(n for n in whole.get_ordered_ops() if n.friendly_name == names[i])
        part = ov.Model([node.output(0)], whole.get_parameters(), 'part')
        ov.save_model(part, f'{folder}/{i}.xml', compress_to_fp16=False)
        compiled = core.compile_model(part, 'CPU', {'INFERENCE_PRECISION_HINT': 'f32'})
        results[str(i)] = np.stack([compiled([sample])[0] for sample in samples])
        ends = [node.input_value(k).get_node().get_data() for k in (3, 4)]
        results.update({f'{i}_low': ends[0], f'{i}_high': ends[1], f'{i}_levels': node.get_attributes()['levels']})
    np.savez(f'{folder}/results.npz', **results)


def layers(model, inputs, folder):
    """FOLDER/N.xml, and results.npz with N, N_in0, N_in1, ... (OpenVINO's own numbers there), N_low, N_high, N_levels, N_name, N_inputs.
    A FakeQuantize that an Add alone reads is no place to cut at: the CPU plugin fuses it."""
    core, samples, results = ov.Core(), np.load(inputs), {}
    nodes = [n for n in core.read_model(model).get_ordered_ops() if n.get_type_name() == 'FakeQuantize']
    names = [n.friendly_name for n in nodes if not is_constant(n.input_value(0).get_node()) and not before_sum(n)]
    compiled = {name: core.compile_model(part_of(core, model, name, {})[0], 'CPU', {'INFERENCE_PRECISION_HINT': 'f32'}) for name in names}
    values = {name: [net([sample])[0] for sample in samples] for name, net in compiled.items()}
    for i, name in enumerate(names):
        part, sources, node = part_of(core, model, name, values)
        ov.save_model(part, f'{folder}/{i}.xml', compress_to_fp16=False)
        given = [values[source] if source else list(samples) for source in sources.values()]
        net = core.compile_model(part, 'CPU', {'INFERENCE_PRECISION_HINT': 'f32'})
        results[str(i)] = np.stack([net([x[k] for x in given])[0] for k in range(len(samples))])
        results.update({f'{i}_in{k}': np.stack(x) for k, x in enumerate(given)})
        ends = [node.input_value(k).get_node().get_data() for k in (3, 4)]
        results.update({f'{i}_low': ends[0], f'{i}_high': ends[1], f'{i}_levels': node.get_attributes()['levels'], f'{i}_name': name,
                        f'{i}_inputs': list(sources)})
    np.savez(f'{folder}/results.npz', **results)


def before_sum(node):
    readers = [target.get_node() for target in node.output(0).get_target_inputs()]
    return len(readers) == 1 and readers[0].get_type_name() == 'Add' and not any(is_constant(v.get_node()) for v in readers[0].input_values())


def part_of(core, model, name, values):
    """(the model up to the node `name`, from inputs in place of what the nodes of `values` read; {input: its node or None}; the node)."""
    import openvino.opset8 as opset
    node = next(n for n in core.read_model(model).get_ordered_ops() if n.friendly_name == name)
    parameters, sources, seen, waiting = [], {}, set(), [node]
    while waiting:
        for value in waiting.pop().inputs():
            source = value.get_source_output().get_node()
            if source.friendly_name in seen or is_constant(source):
                continue
            seen.add(source.friendly_name)
            if source.friendly_name in values:
                added = opset.parameter(list(source.get_output_shape(0)), np.float32, name=f'in_{len(parameters)}')
                source.input(0).replace_source_output(added.output(0))
                parameters.append(added)
                sources[added.friendly_name] = source.friendly_name
            elif source.get_type_name() == 'Parameter':
                parameters.append(source)
                sources[source.friendly_name] = None
            else:
                waiting.append(source)
    return ov.Model([node.output(0)], parameters, 'part'), sources, node


def is_constant(node):
    return node.get_type_name() == 'Constant' or (
        node.get_input_size() > 0 and all(is_constant(value.get_node()) for value in node.input_values()))


def ir(model, target):
    converted = ov.convert_model(model)
    converted.reshape([d.get_length() if d.is_static else 1 for d in converted.input(0).partial_shape])
    ov.save_model(converted, target, compress_to_fp16=False)


def nncf(model, inputs, target, *words):
    import nncf as tool  # seconds to import
    data = tool.Dataset(list(np.load(inputs)))
    wanted = {'model_type': tool.ModelType.TRANSFORMER} if 'transformer' in words else {}
    if 'mixed' in words:
        wanted['preset'] = tool.QuantizationPreset.MIXED
    quantized = tool.quantize(ov.Core().read_model(model), data, subset_size=8, **wanted)
    ov.save_model(quantized, target, compress_to_fp16=False)


if __name__ == '__main__':
    {'run': run, 'cut': cut, 'layers': layers, 'ir': ir, 'nncf': nncf}[sys.argv[1]](*sys.argv[2:])
