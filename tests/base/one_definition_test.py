"""Checks that no name of namespace rshift is defined in two ways.

    one_definition_test.py check <source dir>    every .h and .cc of the tree
    one_definition_test.py selftest              the check notices what it is for

Two types of one name in two files (`rshift::Plan` here, another `rshift::Plan` there) compile and link, and
the program then runs the wrong inline function: the compiler need not say a word. So a type (struct, class,
union, enum, alias), and a function or template that is defined in a header, may stand in one file only.
Unnamed namespaces are exempt: what is in them belongs to its file. Test programs are separate programs, and
each links files of one folder of tests at most: a name that only test sources of different folders define is
no conflict. Prints one "file:line: what is wrong" per violation and exits 1 when there is one.
"""
import collections
import pathlib
import re
import sys
import tempfile

# Comments, string and character literals (raw strings too), preprocessor lines with their continuations.
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
NAMESPACE = re.compile(r'\b(?:inline\s+)?namespace\s*([\w:]*)\s*$')
TYPE = re.compile(
    r'^(?:template\s*<.*>\s*)?(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+'
    r'(?:\[\[[^\]]*\]\]\s*|alignas\s*\([^)]*\)\s*)*(\w+)(\s*<[^{]*>)?(?:\s+final)?\s*(?::(?!:)[^{]*)?$', re.S)
ALIAS = re.compile(r'^(?:template\s*<.*>\s*)?using\s+(\w+)\s*=', re.S)
FUNCTION = re.compile(r'([\w:~]+|operator\s*\S+?)\s*\(', re.S)
ROOT = 'rshift'


def without_noise(text):
    """The text with comments, literals and directives blanked; line numbers stay."""
    return NOISE.sub(lambda m: re.sub(r'[^\n]', ' ', m.group(0)), text)


def parameters(head):
    """Name and parameter list of a function's head as one comparable text; None where it is no function."""
    match = FUNCTION.search(re.sub(r'^(?:template\s*<.*?>\s*(?=[\w\[]))', '', head, flags=re.S))
    if not match or '::' in match.group(1):
        return None  # a member that is defined outside its class: the linker notices a second one
    if match.group(1) in ('if', 'for', 'while', 'switch', 'decltype', 'requires', 'alignas', 'static_assert'):
        return None
    return re.sub(r'\s+', ' ', match.group(1))


def definitions(text, is_header):
    """Yields (line, kind, qualified name) for what namespace rshift gets from this file."""
    text = without_noise(text)
    scopes = []  # per open brace: namespace name, '' for an unnamed one, None for any other block
    start = 0    # of the statement being read
    depth = 0    # of parentheses
    for at, char in enumerate(text):
        if char in '([':
            depth += 1
        elif char in ')]':
            depth = max(0, depth - 1)
        elif char == '{' and depth == 0:
            head = text[start:at].strip()
            namespace = NAMESPACE.search(head)
            if all(scopes_name for scopes_name in scopes) and not namespace and inside(scopes):
                yield from found(text, at, start, head, scopes, is_header)
            scopes.append(namespace.group(1) if namespace else None)
            start = at + 1
        elif char == '{':
            scopes.append(None)
            depth, saved = 0, depth
            scopes[-1] = Block(saved)
        elif char == '}':
            closed = scopes.pop() if scopes else None
            depth = closed.depth if isinstance(closed, Block) else 0
            if not isinstance(closed, Block):
                start = at + 1
        elif char == ';' and depth == 0:
            head = text[start:at].strip()
            alias = ALIAS.match(head)
            if alias and all(scopes) and inside(scopes):
                yield line_of(text, start), 'type', '::'.join(scopes + [alias.group(1)])
            start = at + 1


class Block:
    """A brace within parentheses, as in a default argument or a lambda; falsy like any block."""

    def __init__(self, depth):
        self.depth = depth

    def __bool__(self):
        return False


def inside(scopes):
    return bool(scopes) and scopes[0].split('::')[0] == ROOT


def line_of(text, start):
    return text.count('\n', 0, start + len(text[start:]) - len(text[start:].lstrip())) + 1


def found(text, at, start, head, scopes, is_header):
    kind = TYPE.match(head)
    if kind:
        special = re.sub(r'\s+', '', kind.group(2) or '')  # a specialisation is a type of its own
        yield line_of(text, start), 'type', '::'.join(scopes + [kind.group(1) + special])
        return
    if is_header and '=' not in head.split('(')[0]:
        name = parameters(head)
        if name:
            yield line_of(text, start), 'function', '::'.join(scopes + [name])


def unit(path):
    """What is linked into one program: all product files, or the test sources of one folder."""
    parts = path.parts
    return str(path.parent) if parts[0] == 'tests' else 'product'


def sources(root):
    """Every source file; never enters the build trees, where other tests make and remove files meanwhile."""
    for entry in sorted(root.iterdir()):
        if entry.name not in ('build', '.git'):
            yield from (p for p in [entry, *sorted(entry.rglob('*'))] if p.suffix in ('.h', '.cc', '.def'))


def check(root):
    root = pathlib.Path(root)
    places = collections.defaultdict(list)
    for path in sources(root):
        relative = path.relative_to(root)
        for line, kind, name in definitions(path.read_text(), path.suffix == '.h'):
            places[kind, name].append((relative, line))
    problems = []
    for (kind, name), all_places in sorted(places.items()):
        by_file = {path: line for path, line in reversed(all_places)}
        files_of = sorted(by_file)
        for other in files_of[1:]:
            units = {unit(files_of[0]), unit(other)}
            if len(units) > 1 and 'product' not in units:
                continue
            problems.append(f'{other}:{by_file[other]}: {kind} {name} is defined in {files_of[0]}:'
                            f'{by_file[files_of[0]]} as well; give one of them another name, or one home to both')
    return problems, len(places)


SELFTEST = {
    'two structs': (True, {'a.h': 'namespace rshift {\nstruct Plan { int a; };\n}',
                           'b.h': 'namespace rshift { struct Plan final : Base { float b; }; }'}),
    'enum and alias': (True, {'a.h': 'namespace rshift { enum class Kind : int { kA }; }',
                              'b.cc': 'namespace rshift {\nusing Kind = int;\n}'}),
    'nested namespaces': (True, {'a.h': 'namespace rshift::f32 { struct Row {}; }',
                                 'b.h': 'namespace rshift { namespace f32 { struct Row {}; } }'}),
    'inline functions': (True, {'a.h': 'namespace rshift { inline int Half(int x) { return x / 2; } }',
                                'b.h': 'namespace rshift { constexpr int Half(int x) { return x >> 1; } }'}),
    'product and test': (True, {'a/a.h': 'namespace rshift { struct Net { int a; }; }',
                                'tests/a/net.h': 'namespace rshift { struct Net { int b; }; }'}),
    'after a brace in parentheses': (True, {
        'a.h': 'namespace rshift { void F(int a = int{3}); struct X { int a; }; }',
        'b.h': 'namespace rshift { struct X { int b; }; }'}),
    'unnamed namespace': (False, {'a.cc': 'namespace rshift { namespace { struct Plan {}; } }',
                                  'b.cc': 'namespace rshift {\nnamespace {\nstruct Plan {};\n}\n}'}),
    'declarations': (False, {'a.h': 'namespace rshift { struct Plan; int Half(int); }',
                             'b.h': 'namespace rshift { struct Plan { int a; }; int Half(int); }'}),
    'other namespaces and members': (False, {
        'a.h': 'namespace rshift { struct A { struct Plan {}; int Half() { return 1; } }; }',
        'b.h': 'namespace rshift::b { struct Plan {}; }\nnamespace rshift { struct B { struct Plan {}; }; }'}),
    'comments, strings, specialisations': (False, {
        'a.h': 'namespace rshift { struct Plan { char c = \'{\'; const char* s = "}{"; }; }',
        'b.h': '// namespace rshift { struct Plan {}; }\nnamespace rshift { template <> struct Plan<int> {}; }'}),
    'two test folders': (False, {'tests/a/net.h': 'namespace rshift { struct Net { int a; }; }',
                                 'tests/b/net.h': 'namespace rshift { struct Net { int b; }; }'}),
}


def selftest():
    wrong = []
    for name, (is_bad, files) in SELFTEST.items():
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            problems, _ = check(folder)
            if bool(problems) != is_bad:
                wrong.append(f'selftest {name}: {problems or "nothing noticed"}')
    return wrong


def main():
    if sys.argv[1:] == ['selftest']:
        problems = selftest()
    elif len(sys.argv) == 3 and sys.argv[1] == 'check':
        problems, count = check(sys.argv[2])
        if count < 200:
            problems.append(f'{sys.argv[2]}: only {count} definitions were found; is this the source tree?')
        print(f'{count} names of namespace {ROOT}')
    else:
        sys.exit(__doc__)
    print('\n'.join(problems))
    sys.exit(bool(problems))


if __name__ == '__main__':
    main()
