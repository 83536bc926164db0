"""tools/setup.sh beside another apt-get: it says what it does.

    setup_test.py <source dir>

apt-get, dpkg-query and sleep are stand-ins in a folder that PATH names first: nothing is installed.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(sys.argv[1])
LOCKED = 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1'


class Setup(unittest.TestCase):
    def run_setup(self, apt_get):
        with tempfile.TemporaryDirectory() as folder:
            bin_folder = pathlib.Path(folder, 'bin')
            bin_folder.mkdir()
            scripts = {'apt-get': f'echo "$*" >>{folder}/calls\n{apt_get.format(folder=folder)}',
                       'dpkg-query': 'exit 1', 'sleep': f'echo sleep "$@" >>{folder}/calls',
                       'sudo': 'exec "$@"'}
            for name, body in scripts.items():
                file = bin_folder / name
                file.write_text(f'#!/bin/sh\n{body}\n')
                file.chmod(0o755)
            run = subprocess.run([os.path.join(SOURCE, 'tools/setup.sh')], capture_output=True, text=True,
                                 env=dict(os.environ, PATH=f'{bin_folder}:{os.environ["PATH"]}'))
            calls = pathlib.Path(folder, 'calls')
            return run, calls.read_text().splitlines() if calls.exists() else []

    def test_waits_while_another_apt_get_holds_a_lock(self):
        run, calls = self.run_setup(
            f'[ "$(grep -c update {{folder}}/calls)" -gt 3 ] || {{{{ echo "{LOCKED}" >&2; exit 100; }}}}')
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(calls.count('sleep 5'), 3)
        self.assertEqual(run.stdout.count('waiting for another apt-get'), 1)
        self.assertNotIn('lock', run.stderr)
        self.assertTrue(any('install' in call and 'libonnx-dev' in call for call in calls))

    def test_gives_up_after_ten_minutes_with_the_reason(self):
        run, calls = self.run_setup(f'echo "{LOCKED}" >&2; exit 100')
        self.assertNotEqual(run.returncode, 0)
        self.assertEqual(calls.count('sleep 5'), 120)
        self.assertIn(LOCKED, run.stderr)

    def test_does_not_wait_for_other_errors(self):
        run, calls = self.run_setup('echo "E: Unable to locate package" >&2; exit 100')
        self.assertNotEqual(run.returncode, 0)
        self.assertEqual(len(calls), 1)
        self.assertIn('Unable to locate package', run.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
