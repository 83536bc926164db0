"""What decides bytes of programs calls no function of libm that differs between CPUs and C libraries: base/portable_math.h has them."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ('base', 'isa', 'graph', 'quantize', 'codegen', 'runtime')
CALL = re.compile(r'\bstd::(pow|exp|exp2|expm1|log|log2|log10|log1p|sin|cos|tan|tanh|sinh|cosh|erf|cbrt|hypot|tgamma|lgamma)f?\(')
ALLOWED = {'quantize/proof.cc': 'bits of headroom, for the report'}


def main():
    files = [file for folder in FOLDERS for suffix in ('*.h', '*.cc') for file in sorted((ROOT / folder).rglob(suffix))]
    faults = []
    for file in files:
        name = file.relative_to(ROOT).as_posix()
        for number, line in enumerate(file.read_text(encoding='utf-8').splitlines(), 1):
            if name not in ALLOWED and (found := CALL.search(line.split('//')[0])):
                faults.append(f'{name}:{number}: std::{found[1]} has other last bits on other machines; take that of base/portable_math.h')
    print('\n'.join(faults) or f'{len(files)} files call no function of libm')
    return 1 if faults or len(files) < 300 else 0


if __name__ == '__main__':
    sys.exit(main())
