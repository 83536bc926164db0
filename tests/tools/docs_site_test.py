"""The site of the documentation: it is built without a complaint, and complains where it must (tools/docs_site.py).

    docs_site_test.py <source dir> <build dir>      the site is <build dir>/../site
"""
import pathlib
import sys
import tempfile
import unittest

SOURCE, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / 'tools'))
import docs_site  # noqa: E402  pylint: disable=wrong-import-position

PAGE = '''# A page: `code`, [link](other.md) and more_words
## Twice
## Twice

[good](other.md#twice-1) [folder](sub) [elsewhere](https://example.org/none) [here](#twice)
[no file](none.md) `[code](none.md)`
[no anchor](other.md#thrice)

    [indented](none.md)

```bash
[fenced](none.md)
```
'''


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ('page.md', 'other.md'):
            (self.root / name).write_text(PAGE)
        (self.root / 'sub').mkdir()
        self.addCleanup(setattr, docs_site, 'ROOT', docs_site.ROOT)
        docs_site.ROOT = self.root

    def test_dead_links_are_found_and_others_are_not(self):
        found = list(docs_site.dead_links(pathlib.Path('page.md')))
        self.assertEqual(found, ['page.md:6: none.md: there is no none.md',
                                 'page.md:7: other.md#thrice: other.md has no heading with this anchor'])

    def test_anchors_are_those_of_github(self):
        self.assertEqual(docs_site.anchors(PAGE), {'a-page-code-link-and-more_words', 'twice', 'twice-1'})
        self.assertEqual(docs_site.anchor('2. Scale -> Multiplier / 2^rshift (`multiplier.h`)'),
                         '2-scale---multiplier--2rshift-multiplierh')

    def test_pages_of_the_site(self):
        files = set()
        text = docs_site.as_site_page(pathlib.Path('page.md'), 'text\n* [a](sub)\n* b\n', files)
        self.assertEqual(text, 'text\n\n* [a](sub/FILES.md)\n* b\n')
        self.assertEqual(files, {pathlib.Path('sub/FILES.md')})

    def test_html_that_leads_nowhere_or_fetches(self):
        (self.root / 'a.html').write_text('<h1 id="x"></h1><a href="#x">1</a><a href="#y">2</a><a href="b.html">3</a>'
                                          '<script src="https://example.org/a.js"></script>')
        self.assertEqual([line.partition(': ')[2] for line in docs_site.broken(self.root)],
                         ['fetches https://example.org/a.js', '#y: there is no such anchor', 'b.html leads nowhere'])


class Site(unittest.TestCase):
    def test_the_pages_of_the_repository(self):
        output = BUILD.parent / 'site'
        self.assertEqual(docs_site.build(output, BUILD / 'bin'), [])
        html = (output / 'html/help/model_tool.html').read_text()
        self.assertIn('model_tool diagnose', html)
        self.assertIn('<table>', (output / 'html/docs/habits.html').read_text())


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
