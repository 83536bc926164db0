"""The table of quantize/NUMERICS.md: profile x operator x oracle x elements x mismatches.

The tests add rows; the file RSHIFT_PROFILE_TABLE (default build/profile_table.json) keeps them.
`python -m frameworks.table [FILE]` prints it as Markdown.
"""

import json
import os
import pathlib
import sys

import pytest

PATH = pathlib.Path(os.environ.get(
    'RSHIFT_PROFILE_TABLE', pathlib.Path(__file__).resolve().parents[3] / 'build/profile_table.json'))
KEYS = ('profile', 'operator', 'type', 'oracle')


def merge(rows):
    """Adds rows to the file; a row of the same keys is replaced."""
    known = {tuple(row[k] for k in KEYS): row for row in json.loads(PATH.read_text())} \
        if PATH.exists() else {}
    known.update({tuple(row[k] for k in KEYS): row for row in rows})
    PATH.parent.mkdir(parents=True, exist_ok=True)
    PATH.write_text(json.dumps([known[k] for k in sorted(known)], indent=1) + '\n')


@pytest.fixture(scope='session')
def table():
    """table(profile=, operator=, type=, oracle=, elements=, mismatches=) adds a row."""
    rows = []
    yield lambda **row: rows.append(row)
    merge(rows)


def pivot(rows, oracle):
    """One table: operators down, profiles across, `elements / mismatches` of both types in the cells."""
    cells = {}
    for row in (r for r in rows if r['oracle'] == oracle):
        elements, mismatches = cells.get((row['operator'], row['profile']), (0, 0))
        cells[row['operator'], row['profile']] = (elements + row['elements'],
                                                  mismatches + row['mismatches'])
    profiles = sorted({profile for _, profile in cells})
    lines = [f"| {oracle} | {' | '.join(profiles)} |", '|---' * (len(profiles) + 1) + '|']
    for operator in sorted({operator for operator, _ in cells}):
        found = [cells.get((operator, profile)) for profile in profiles]
        text = ' | '.join('' if c is None else f'{c[0]:,} / {c[1]:,}' for c in found)
        lines.append(f'| {operator} | {text} |')
    return '\n'.join(lines)


def markdown(rows):
    return '\n\n'.join(pivot(rows, oracle) for oracle in sorted({r['oracle'] for r in rows}))


if __name__ == '__main__':
    print(markdown(json.loads(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else PATH).read_text())))
