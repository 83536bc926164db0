#!/usr/bin/env python3
"""clang-format and clang-tidy over the tree, every finding an error.

    tools/lint.py format [--fix]            every .h and .cc against .clang-format
    tools/lint.py tidy [FILE...] [--jobs N] [--build build/release]
                                            product sources (or FILEs) against .clang-tidy; FILEs need a configured
                                            build, the whole tree is configured in BUILD/lint

Prints the findings and exits 1 when there is one.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRODUCT = ('base', 'isa', 'yaml', 'target', 'graph', 'preprocess', 'calibrate', 'quantize', 'interop', 'codegen', 'runtime', 'pipeline', 'rshift', 'python', 'tools', 'examples')
GCC_FLAGS = ('-fno-tree-loop-distribute-patterns', '-fno-schedule-insns', '-fpch-preprocess', '-Winvalid-pch')
FINDING = re.compile(r'^\S+:\d+:\d+: (?:warning|error): |^error: ', re.M)


def program(name):
    """clang-tools of Debian 12: another major version formats otherwise."""
    for candidate in (f'{name}-14', name):
        if shutil.which(candidate):
            version = subprocess.run([candidate, '--version'], capture_output=True, text=True).stdout
            if re.search(r'version 14\.', version):
                return candidate
    sys.exit(f'error: {name} 14 is missing: apt-get install {name}-14')


def sources():
    """Every source file of ours; the build trees are not entered, tests make and remove files there."""
    folders = (d for d in ROOT.iterdir() if d.is_dir() and d.name not in ('build', '.git'))
    return sorted(p for d in folders for p in d.rglob('*') if p.suffix in ('.h', '.cc'))


def run_format(fix):
    command = [program('clang-format'), *(['-i'] if fix else ['--dry-run', '-Werror'])]
    files = sources()
    run = subprocess.run(command + [str(f.relative_to(ROOT)) for f in files], cwd=ROOT, capture_output=True, text=True)
    sys.stdout.write(run.stderr)
    print(f'clang-format: {len(files)} files' + ('' if run.returncode == 0 else '; tools/lint.py format --fix mends them'))
    return run.returncode != 0


def whole_tree(build):
    """The compile commands of all product sources, several to a unit: what they include is read once for each unit."""
    subprocess.run(['cmake', '-S', str(ROOT), '-B', str(build), '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release',
                    '-DCMAKE_CXX_COMPILER=clang++', '-DCMAKE_UNITY_BUILD=ON'], check=True, stdout=subprocess.DEVNULL)
    known = {pathlib.Path(entry['file']) for entry in json.loads((build / 'compile_commands.json').read_text())}
    return sorted(str(f) for f in known for base in (build, ROOT)
                  if f.is_relative_to(base) and f.relative_to(base).parts[0] in PRODUCT)


def without_gcc_flags(commands):
    """A folder with the compile commands less the flags that clang does not know."""
    folder = commands.parent / 'lint'
    folder.mkdir(exist_ok=True)
    text = commands.read_text()
    for flag in GCC_FLAGS:
        text = text.replace(f' {flag} ', ' ')
    text = re.sub(r' -include \S+/cmake_pch\.hxx ', ' ', text)  # precompiled by g++
    (folder / 'compile_commands.json').write_text(text)
    return folder


def tidy_one(clang_tidy, build, file):
    # What g++ alone knows is no finding, nor that a unit of several sources includes them; .clang-tidy says which
    # checks run.
    run = subprocess.run([clang_tidy, '-p', str(build), '--quiet', '--warnings-as-errors=*',
                          '--checks=-bugprone-suspicious-include',
                          '--extra-arg=-Wno-unknown-warning-option', file],
                         cwd=ROOT, capture_output=True, text=True)
    if run.returncode == 0 and not FINDING.search(run.stdout):
        return ''
    return run.stdout + re.sub(r'^\d+ (?:warnings?|errors?).*generated\.\n|^Suppressed .*\n|^Use -.*\n', '',
                               run.stderr, flags=re.M)


def run_tidy(files, build, jobs):
    build = ROOT / build
    if not files:
        build /= 'lint'
        files = whole_tree(build)
    elif (build / 'compile_commands.json').exists():
        build = without_gcc_flags(build / 'compile_commands.json')
    else:
        sys.exit(f'error: {build / "compile_commands.json"} is missing: cmake --preset release')
    clang_tidy = program('clang-tidy')
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for text in pool.map(lambda f: tidy_one(clang_tidy, build, f), files):
            bad += bool(text)
            sys.stdout.write(text)
    print(f'clang-tidy: {len(files)} units, {bad} with findings')
    return bad > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('what', choices=('format', 'tidy'))
    parser.add_argument('files', nargs='*')
    parser.add_argument('--fix', action='store_true')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--build', default='build/release')
    a = parser.parse_intermixed_args()
    sys.exit(run_format(a.fix) if a.what == 'format' else run_tidy(a.files, a.build, a.jobs))


if __name__ == '__main__':
    main()
