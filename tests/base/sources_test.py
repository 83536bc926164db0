"""docs/sources.md: every row names a test, and that test exists; every command of the pages is one a test runs."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r'^\| .* \| `([^`]+)` \|$')
STATES = ('works', 'deviates', '**not yet')


def rows():
    for line in (ROOT / 'docs/sources.md').read_text(encoding='utf-8').splitlines():
        cells = [cell.strip() for cell in re.split(r'(?<!\\)\|', line)[1:-1]]
        if len(cells) == 4 and cells[3].startswith('`'):
            yield cells


def fault(name):
    """What is wrong with FILE, FILE::function or FILE::Suite.Name; '' when it is there."""
    file, _, test = name.partition('::')
    path = ROOT / file
    if not path.is_file():
        return f'{file} does not exist'
    text = path.read_text(encoding='utf-8')
    if not test:
        return '' if re.search(r'^(TEST|def test_)', text, re.MULTILINE) else f'{file} holds no test'
    if file.endswith('.py'):
        return '' if re.search(rf'^def {re.escape(test)}\(', text, re.MULTILINE) else f'{file} has no {test}'
    suite, _, case = test.partition('.')
    found = re.search(rf'^TEST(_[FP])?\(\s*{re.escape(suite)},\s*{re.escape(case)}\)', text, re.MULTILINE)
    return '' if found else f'{file} has no TEST({suite}, {case})'


def main():
    found = list(rows())
    faults = [f'{place}: {claim}: {problem}' for place, claim, _, test in found
              if (problem := fault(test.strip('`')))]
    faults += [f'{place}: {claim}: state is {state!r}' for place, claim, state, _ in found if not state.startswith(STATES)]
    if len(found) != 156:
        faults.append(f'{len(found)} rows, expected 156')
    print('\n'.join(faults) or f'{len(found)} rows, every test exists')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
