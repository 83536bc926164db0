"""The commands of README.md and docs/*.md: their ```bash blocks, who runs them, and which cannot run here, with the reason.

    doc_commands.py        lists what is not run, and counts what is
"""

import pathlib
import re
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Pages that tests of their own run, with data that the page talks about.
ELSEWHERE = {
    'docs/datasets.md': 'tests/e2e/test_data_sets.py',
    'docs/detectors.md': 'tests/e2e/test_detectors.py',
    'docs/embedding.md': 'tests/tools/install_test.py',  # and packages_test.py
    'docs/from_aimet.md': 'tests/e2e/test_docs.py',
    'docs/from_ascend.md': 'tests/e2e/test_system_pages.py',
    'docs/from_mkldnn.md': 'tests/e2e/test_system_pages.py',
    'docs/from_ncnn.md': 'tests/e2e/test_docs.py',
    'docs/from_onnxruntime.md': 'tests/e2e/test_docs.py',
    'docs/from_openvino.md': 'tests/e2e/test_openvino_ir.py',
    'docs/from_snps.md': 'tests/e2e/test_system_pages.py',
    'docs/from_tensorrt.md': 'tests/e2e/test_docs.py',
    'docs/from_tflite.md': 'tests/e2e/test_docs.py',
    'docs/from_tpu_mlir.md': 'tests/e2e/test_docs.py',
    'docs/python.md': 'tests/tools/wheel_test.py',
}
# (page, the beginning of the command, why it is not run)
NOT_RUN = (
    ('README.md', 'cmake --preset release', 'tools/test.sh begins with it'),
    ('README.md', 'tools/bench_peers.py', 'minutes of measurements: tests/e2e/test_bench_peers.py runs the script on one network'),
    ('README.md', 'cmake --install', 'tests/tools/install_test.py'),
    ('README.md', 'cpack', 'tests/tools/packages_test.py'),
    ('README.md', 'pip install .', 'compiles the toolchain for ten minutes: tests/tools/wheel_test.py, over an installed one'),
    ('README.md', 'cc main.c', 'tests/tools/install_test.py compiles the examples by the same words'),
    ('docs/embedding.md', 'cmake -S . -B build/arm', 'tests/tools/cross_test.py, with the objects of its last run'),
    ('docs/embedding.md', 'cmake --build build/arm &&', 'the same'),
    ('docs/embedding.md', 'cmake -S examples/embed/c -B build/arm_example', 'the same'),
    ('docs/embedding.md', 'cmake --build build/arm_example', 'the same'),
    ('docs/embedding.md', 'qemu-aarch64', 'the same'),
    ('docs/scale-out.md', 'mpirun', 'tests/e2e/test_scale_out.py runs it'),
    ('docs/scale-out.md', 'I=$SLURM_ARRAY_TASK_ID', 'a script for Slurm: tests/e2e/test_scale_out.py runs it'),
    ('docs/scale-out.md', 'JOB=$(sbatch', 'the same'),
    ('docs/scale-out.md', 'sbatch --dependency', 'the same'),
    ('docs/scale-out.md', 'model_calibrate net.onnx --dataset /data/photos', 'the same'),
    ('docs/scale-out.md', 'seq 4 | parallel', 'tests/e2e/test_scale_out.py runs it'),
)
# What no one may write outside of ```bash: it would not be run.
PROGRAM = re.compile(r'(model_(calibrate|deploy|runner|tool)|cmake|cpack|pip|tools/\w+\.(sh|py)) ')


@dataclass(frozen=True)
class Command:
    page: str
    text: str
    reason: str  # why it is not run; '' where it is


def pages():
    return ['README.md', *sorted(f'docs/{path.name}' for path in (ROOT / 'docs').glob('*.md'))]


def blocks(page, language='bash'):
    return re.findall(rf'^```{language}\n(.*?)^```', (ROOT / page).read_text(encoding='utf-8'), re.S | re.M)


def split(block):
    """A block's commands: a line each, but for lines that end in a backslash or within quotes."""
    commands, open_one = [], ''
    for line in block.splitlines():
        open_one += line + '\n'
        words = re.sub(r'(?<!\S)#.*', '', open_one)  # quotes in comments are none
        if line.endswith('\\') or words.count("'") % 2 or words.count('"') % 2:
            continue
        if open_one.strip() and not open_one.lstrip().startswith('#'):
            commands.append(open_one)
        open_one = ''
    assert not open_one, f'a command has no end: {open_one}'
    return commands


def commands(page):
    found = []
    for text in (command for block in blocks(page) for command in split(block)):
        reasons = [reason for where, start, reason in NOT_RUN if where == page and text.startswith(start)]
        found.append(Command(page, text, reasons[0] if reasons else ''))
    return found


def hidden(page):
    """Lines that look like commands and stand where nothing runs them."""
    in_fence = ''
    for number, line in enumerate((ROOT / page).read_text(encoding='utf-8').splitlines(), 1):
        if line.startswith('```'):
            in_fence = '' if in_fence else line[3:] or 'text'
        elif in_fence not in ('', 'bash') or (not in_fence and line.startswith('    ')):
            words = line.strip().removeprefix('$ ')
            if in_fence != 'yaml' and PROGRAM.match(words):
                yield f'{page}:{number}: {line.strip()}'


def main():
    everything = [command for page in pages() for command in commands(page)]
    for command in everything:
        if command.reason:
            print(f'{command.page}: {command.text.splitlines()[0]}\n    not run here: {command.reason}')
    left_out = sum(1 for command in everything if command.reason)
    by_others = sum(1 for command in everything if command.page in ELSEWHERE)
    print(f'{len(everything)} commands: {len(everything) - left_out - by_others} run by test_commands.py, {by_others} by tests of their page, '
          f'{left_out} not run as they stand')


if __name__ == '__main__':
    main()
