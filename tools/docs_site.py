#!/usr/bin/env python3
"""The documentation as a site: every page of the repository, the programs' --help, and a table of contents.

    tools/docs_site.py --output build/site [--bin build/release/bin]    open build/site/html/index.html

mkdocs (Debian's) renders a copy of the pages at their own paths, so that links between them are the same here and on GitHub.
Exit code 1 with a line for each: a link or an anchor that leads nowhere, in the Markdown by GitHub's rules or in the HTML; a page of
docs/ without a place in the table of contents (docs/mkdocs.yml); something that the HTML would fetch from a network; a warning of mkdocs.
"""

import argparse
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ('model_calibrate', 'model_deploy', 'model_runner', 'model_tool')
FENCE = re.compile(r'^ {0,3}(`{3,}|~{3,})')
HEADING = re.compile(r'^#{1,6} +(.*?) *#* *$')
CODE = re.compile(r'(`+)(?:.*?)\1', re.S)
LINK = re.compile(r'(\[[^\]]*\]\()([^()\s]+)(\))')
ITEM = re.compile(r'^ {0,3}(?:[*+-]|1\.) ')
LOADED = {'script': 'src', 'img': 'src', 'link': 'href', 'iframe': 'src', 'source': 'src'}


def anchor(text, separator='-'):
    """GitHub's id of a heading; mkdocs calls it for those of the site."""
    text = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', re.sub(r'<[^>]+>', '', text)).replace('`', '')
    return re.sub(r'[^\w\- ]', '', text.strip().lower()).replace(' ', separator)


def pages():
    """Every Markdown file of ours, by its path in the repository; build trees and hidden folders are not entered."""
    entries = (d for d in ROOT.iterdir() if d.name != 'build' and not d.name.startswith('.'))
    return sorted(p.relative_to(ROOT) for d in entries for p in [d, *d.rglob('*')] if p.suffix == '.md')


def lines_outside_code(text):
    """(number, line) of what is prose; lines of fenced and indented blocks come as empty ones."""
    fence, before = None, ''
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        if fence is None and found:
            fence = found[1]
            yield number, ''
        elif fence is not None:
            fence = None if found and found[1].startswith(fence) and line.strip() == found[1] else fence
            yield number, ''
        else:
            indented = line.startswith('    ') and not before.strip()
            yield number, '' if indented else line
            before = before if indented else line


def anchors(text):
    """The ids of a page's headings: a second one of a name has -1."""
    found, count = set(), {}
    for _, line in lines_outside_code(text):
        if heading := HEADING.match(line):
            name = anchor(heading[1])
            found.add(name if name not in count else f'{name}-{count[name]}')
            count[name] = count.get(name, 0) + 1
    return found


def split_target(page, target):
    """The file or folder that a relative link names, from the root, and the anchor; None for an address elsewhere."""
    if re.match(r'[a-z][a-z0-9+.-]*:|//', target):
        return None
    path, _, fragment = urllib.parse.unquote(target).partition('#')
    return pathlib.Path(os.path.normpath(page.parent / path)) if path else page, fragment


def dead_links(page):
    """What is wrong with the links of a page, by GitHub's rules."""
    prose = '\n'.join(line for _, line in lines_outside_code((ROOT / page).read_text(encoding='utf-8')))
    for found in LINK.finditer(CODE.sub(lambda m: '`' * len(m[0]), prose)):
        where = f'{page}:{prose.count(chr(10), 0, found.start()) + 1}: {found[2]}'
        target = split_target(page, found[2])
        if target is None:
            continue
        file, fragment = target
        if file.parts[:1] == ('..',) or not (ROOT / file).exists():
            yield f'{where}: there is no {file}'
        elif fragment and (file.suffix != '.md' or fragment not in anchors((ROOT / file).read_text(encoding='utf-8'))):
            yield f'{where}: {file} has no heading with this anchor'


def site_target(page, target, files):
    """The link as the site has it: a folder becomes its README or a list of its files, what is linked is copied."""
    split = split_target(page, target)
    if split is None:
        return target
    file, fragment = split
    if (ROOT / file).is_dir():
        file /= 'README.md' if (ROOT / file / 'README.md').exists() else 'FILES.md'
    if file.suffix != '.md' or file.name == 'FILES.md':
        files.add(file)
    return os.path.relpath(file, page.parent) + (f'#{fragment}' if fragment else '') if target[0] != '#' else target


def as_site_page(page, text, files):
    """The text with the site's links; a list directly behind a line of text begins after an empty line, as Python-Markdown wants it."""
    lines = text.splitlines()
    result, before = [], ''
    for number, prose in lines_outside_code(text):
        line = lines[number - 1]
        if ITEM.match(prose) and before.strip() and not re.match(r'^ *(?:[*+-]|\d+\.) |^ ', before):
            result.append('')
        if prose:
            line = LINK.sub(lambda m: m[1] + site_target(page, m[2], files) + m[3], line)
        result.append(line)
        before = line
    return '\n'.join(result) + '\n'


def help_pages(folder, programs):
    """A page for each program with its --help, and those of its subcommands."""
    folder.mkdir()
    for tool in TOOLS:
        def shown(*words, program=programs / tool):
            done = subprocess.run([program, *words, '--help'], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f'error: {program} {" ".join(words)} --help: exit code {done.returncode}; build the programs first')
            return '```text\n' + done.stdout.rstrip() + '\n```\n'
        text = [f'# {tool}\n', shown()]
        if 'Subcommands:\n' in text[1]:
            for name in re.findall(r'^  (\w+) ', text[1].partition('Subcommands:\n')[2], re.M):
                text += [f'## {tool} {name}\n', shown(name)]
        (folder / f'{tool}.md').write_text('\n'.join(text), encoding='utf-8')
        yield f'      - {tool} --help: {folder.name}/{tool}.md'


def gather(source, programs):
    """Puts every page and every file that one links into `source`; returns the lines of the table of contents that are made here."""
    files = {pathlib.Path('docs/site.css')}
    for page in pages():
        target = source / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(as_site_page(page, (ROOT / page).read_text(encoding='utf-8'), files), encoding='utf-8')
    for file in sorted(files):
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        if file.name == 'FILES.md':
            listed = sorted(p.name for p in (ROOT / file.parent).iterdir() if p.is_file())
            for name in listed:
                shutil.copy(ROOT / file.parent / name, source / file.parent / name)
            (source / file).write_text(f'# {file.parent}\n\n' + ''.join(f'* [{n}]({n})\n' for n in listed), encoding='utf-8')
        else:
            shutil.copy(ROOT / file, source / file)
    return ['  - Programs:', *help_pages(source / 'help', programs), '  - Folders:',
            *(f'      - {p.parent}: {p}' for p in pages() if p.name == 'README.md' and p.parent.parts not in ((), ('docs',), ('configs',)) and
              p.parts[:2] != ('configs', 'preprocess'))]


class Page(html.parser.HTMLParser):
    """The ids, links and loaded files of an HTML page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids |= {values[key] for key in ('id', 'name') if values.get(key)}
        if tag == 'a' and values.get('href'):
            self.links.append(values['href'])
        if values.get(LOADED.get(tag)) and values.get('rel') != 'canonical':
            self.loads.append(values[LOADED[tag]])


def broken(site):
    """What is wrong with the HTML."""
    read = {file: Page(file.read_text(encoding='utf-8')) for file in sorted(site.rglob('*.html'))}
    for file, page in read.items():
        name = file.relative_to(site)
        yield from (f'{name}: fetches {url}' for url in page.loads if re.match(r'[a-z]+:|//', url) and not url.startswith('data:'))
        for link in page.links + page.loads:
            target = split_target(file, link)
            if target is None or name == pathlib.Path('404.html'):
                continue
            path, fragment = target
            path = path / 'index.html' if path.is_dir() else path
            if not path.exists():
                yield f'{name}: {link} leads nowhere'
            elif fragment and path in read and fragment not in read[path].ids:
                yield f'{name}: {link}: there is no such anchor'


def build(output, programs):
    """Builds the site; returns what is wrong."""
    contents = (ROOT / 'docs/mkdocs.yml').read_text(encoding='utf-8')
    problems = [line for page in pages() for line in dead_links(page)]
    problems += [f'{page}: has no place in the table of contents, docs/mkdocs.yml' for page in pages()
                 if page.parts[0] == 'docs' and not re.search(rf': {re.escape(str(page))}$', contents, re.M)]
    shutil.rmtree(output, ignore_errors=True)
    source = output / 'pages'
    source.mkdir(parents=True)
    made = gather(source, programs)
    configuration = output / 'mkdocs.yml'
    configuration.write_text(contents + '\n'.join(made) + '\ndocs_dir: pages\nsite_dir: html\n', encoding='utf-8')
    done = subprocess.run(['mkdocs', 'build', '--strict', '--quiet', '-f', str(configuration)], capture_output=True, text=True, check=False,
                          env=dict(os.environ, PYTHONPATH=str(ROOT / 'tools'), PYTHONDONTWRITEBYTECODE='1'))
    if done.returncode != 0 or done.stderr:
        problems.append(f'mkdocs: exit code {done.returncode}\n{done.stdout}{done.stderr}')
    return problems + list(broken(output / 'html'))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--output', type=pathlib.Path, default=ROOT / 'build/site')
    parser.add_argument('--bin', type=pathlib.Path, default=ROOT / 'build/release/bin')
    options = parser.parse_args()
    if shutil.which('mkdocs') is None:
        sys.exit('error: mkdocs is missing: apt-get install mkdocs (tools/setup.sh does)')
    problems = build(options.output.resolve(), options.bin.resolve())
    print('\n'.join(problems) or f'{options.output / "html"}: {len(list((options.output / "html").rglob("*.html")))} pages, nothing wrong')
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
