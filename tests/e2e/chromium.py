"""Pages in headless Chromium. The fixture `browser` skips where there is none (tools/setup.sh --with-oracles installs Debian's)."""

import html
import json
import re
import shutil
import subprocess

CHROMIUM = shutil.which('chromium') or shutil.which('chromium-browser')


def in_browser(page, script, folder, width=1400, dark=False):
    """Opens a copy of the page with `script`, the body of a function, at its end; returns what that returns."""
    copy = folder / 'opened.html'
    copy.write_bytes(page.read_bytes() + (
        '<script>(() => { const result = (() => {' + script + '})();'
        'document.body.dataset.result = JSON.stringify(result); })()</script>').encode())
    done = subprocess.run(
        [CHROMIUM, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
         f'--user-data-dir={folder / "profile"}', f'--window-size={width},900', '--enable-logging=stderr',
         *(['--blink-settings=preferredColorScheme=0'] if dark else []),
         '--virtual-time-budget=5000', '--dump-dom', copy.as_uri()],
        capture_output=True, text=True, timeout=180, check=False)
    console = [line for line in done.stderr.splitlines() if 'CONSOLE' in line]
    assert not console, console
    assert 'data-ready="true"' in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(html.unescape(re.search(r'<body[^>]*data-result="([^"]*)"', done.stdout)[1]))
