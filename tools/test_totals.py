#!/usr/bin/env python3
"""Adds up the JUnit files that tools/test.sh made; the last line is `N passed, N failed, N skipped`.

Every test case of a GoogleTest program counts. A CTest entry that is no GoogleTest program, or that
died before it wrote its results, counts as one. Exit code 1 when anything failed. Standard library only.

    test_totals.py build/test-results present|absent RUN...

`present` or `absent`: are the Python oracles installed? RUN: the folders that must hold results, one for each
run of CTest; a run that left none has failed. Names of all but the first begin with the run's.
"""

import collections
import glob
import os
import sys
import xml.etree.ElementTree as xml


class Totals:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = collections.Counter()  # reason -> count

    def add(self, name, case):
        """One <testcase> element of gtest or pytest."""
        skipped = case.find('skipped')
        if case.find('failure') is not None or case.find('error') is not None:
            self.failed.append(name)
        elif skipped is not None or case.get('status') == 'notrun':
            text = '' if skipped is None else skipped.get('message') or skipped.text or ''
            self.skipped[f'{name.split(":")[0]}: {first_line(text)}'] += 1
        else:
            self.passed += 1


def first_line(text):
    """The reason of a skip: gtest puts `file:line` on a line of its own before it."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].rsplit(':', 1)[-1].isdigit():
        lines = lines[1:]
    return lines[0] if lines else 'no reason given'


def add_gtest(totals, folder, prefix):
    """Adds every gtest result file; returns {program: number of failed cases}."""
    programs = {}
    for path in sorted(glob.glob(os.path.join(folder, 'gtest', '*.xml'))):
        program = os.path.splitext(os.path.basename(path))[0]
        before = len(totals.failed)
        for suite in xml.parse(path).getroot():
            for case in suite.iter('testcase'):
                totals.add(f"{prefix}{program}: {suite.get('name')}.{case.get('name')}", case)
        programs[program] = len(totals.failed) - before
    return programs


def add_ctest(totals, folder, prefix, programs):
    """Adds the entries that are no gtest program, and gtest programs whose exit code alone failed."""
    path = os.path.join(folder, 'ctest.xml')
    if not os.path.exists(path):
        totals.failed.append(f'{prefix}CTest ended without results in {folder}')
        return
    for case in xml.parse(path).getroot().iter('testcase'):
        name, status = case.get('name'), case.get('status')
        if name in programs:
            if status == 'fail' and programs[name] == 0:
                totals.failed.append(f'{prefix}{name}: exit code')
        elif status == 'run':
            totals.passed += 1
        elif status == 'fail':
            totals.failed.append(prefix + name)
        else:
            totals.skipped[f'{prefix}{name}: not run'] += 1


def add_pytest(totals, folder, prefix):
    """Adds every part that tools/test.sh names; one that has not ended left an empty file."""
    parts = sorted(glob.glob(os.path.join(folder, 'pytest-*.xml')))
    if not parts:
        totals.failed.append(f'{prefix}tests/e2e: pytest has not run')
    for path in parts:
        if os.path.getsize(path) == 0:
            totals.failed.append(f'{prefix}tests/e2e: {os.path.basename(path)}: pytest ended without results')
            continue
        for case in xml.parse(path).getroot().iter('testcase'):
            totals.add(f"{prefix}{case.get('classname')}: {case.get('name')}", case)


def main():
    folder, oracles, *runs = sys.argv[1:]
    totals = Totals()
    for run in runs:
        prefix = '' if run == runs[0] else f'{run} '
        results = os.path.join(folder, run)
        add_ctest(totals, results, prefix, add_gtest(totals, results, prefix))
        if oracles == 'present' and run not in ('style', 'contributing'):  # they run no end-to-end test
            add_pytest(totals, results, prefix)
    if oracles == 'absent':
        for file in sorted(glob.glob('tests/e2e/test_*.py')):
            totals.skipped[f'{file} (whole file): no Python oracles in build/venv'] += 1
    for reason, count in sorted(totals.skipped.items()):
        print(f'skipped {count}: {reason}')
    for name in totals.failed:
        print(f'failed: {name}')
    skipped = sum(totals.skipped.values())
    print(f'{totals.passed} passed, {len(totals.failed)} failed, {skipped} skipped')
    return 1 if totals.failed else 0


if __name__ == '__main__':
    sys.exit(main())
