"""Commands of the tests of installation."""
import subprocess


def run(*command, **keywords):
    """What it prints; an AssertionError with all it said where it fails."""
    done = subprocess.run([str(c) for c in command], capture_output=True, check=False, **keywords)
    if done.returncode != 0:
        raise AssertionError(f'{" ".join(map(str, command))}\nexit code {done.returncode}\n'
                             f'{done.stdout.decode()}\n{done.stderr.decode()}')
    return done.stdout.decode()
