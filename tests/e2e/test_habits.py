"""docs/habits.md: what users of other tools type is answered with our name for it, which exists."""

import re

import pytest

import pipeline


def rows():
    program, found = None, []
    for line in (pipeline.ROOT / 'docs/habits.md').read_text(encoding='utf-8').splitlines():
        if line.startswith('## '):
            program = line[3:]
        elif line.startswith('| `'):
            word, tool, answer = re.fullmatch(r'\| `(.*?)` \| (.*?) \| (.*) \|', line).groups()
            found.append((program, word, tool, answer.replace('\\|', '|')))
    return found


def test_the_page_has_rows():
    assert {row[0] for row in rows()} == {'model_calibrate', 'model_deploy', 'model_runner'} and len(rows()) > 60


@pytest.mark.parametrize('program', ('model_calibrate', 'model_deploy', 'model_runner'))
def test_each_word_is_answered_and_each_answer_exists(program):
    options = {}
    for name in ('model_calibrate', 'model_deploy', 'model_runner', 'model_tool compare'):
        options[name] = set(re.findall(r'(?<![\w-])--?[a-z][\w-]*', pipeline.run(*name.split(), '--help').split('Examples:')[0]))
    for _, word, tool, answer in (row for row in rows() if row[0] == program):
        done = pipeline.call(program, 'file', f'{word}1,2]' if word[-1] in '=[' else word)
        lines = done.stderr.splitlines()
        assert (done.returncode, len(lines)) == (2, 1) and answer in lines[0] and f'of {tool}' in lines[0], (word, done.stderr)
        named = re.search(r'model_tool compare|model_\w+', answer)
        known = options[named[0] if named else program]
        told = set(re.findall(r'(?<![\w-])--?[a-z][\w-]*', answer.split(', then ')[0]))
        assert told <= known, (word, answer, told - known)
