"""Checks that every step of docs/walks.md is in the code: every file it names exists and holds the function or type named beside it.

    walks_test.py <source dir>     prints what is wrong and exits 1
    walks_test.py selftest         the check notices a missing file and a missing name
"""
import pathlib
import re
import sys
import tempfile

STEP = re.compile(r"^\d+\. `([^`]+)` `([A-Za-z_:]+)`: \S")


def check(source, page):
    problems = []
    steps = 0
    for number, line in enumerate(page.splitlines(), 1):
        if not re.match(r"^\d+\. ", line):
            continue
        step = STEP.match(line)
        if not step:
            problems.append(f"docs/walks.md:{number}: expected '1. `file` `Name`: what it does'")
            continue
        steps += 1
        file, name = step.groups()
        path = source / file
        if not path.is_file():
            problems.append(f"docs/walks.md:{number}: there is no file {file}")
        elif not re.search(rf"\b{re.escape(name)}\b", path.read_text(encoding="utf-8")):
            problems.append(f"docs/walks.md:{number}: {file} has no {name}")
    if steps == 0:
        problems.append("docs/walks.md: no steps")
    return problems


def selftest():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)
        (source / "a.h").write_text("int Known();\n", encoding="utf-8")
        page = "1. `a.h` `Known`: x\n2. `a.h` `Unknown`: x\n3. `b.h` `Known`: x\n4. no names\n"
        found = check(source, page)
        wanted = ["walks.md:2: a.h has no Unknown", "walks.md:3: there is no file b.h", "walks.md:4: expected"]
        right = len(found) == len(wanted) and all(w in f for w, f in zip(wanted, found))
        if not right or not check(source, "nothing"):
            return [f"selftest: expected {wanted}, found {found}"]
    return []


def main():
    if sys.argv[1] == "selftest":
        problems = selftest()
    else:
        source = pathlib.Path(sys.argv[1])
        problems = check(source, (source / "docs/walks.md").read_text(encoding="utf-8"))
    print("\n".join(problems) or "walks: nothing wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
