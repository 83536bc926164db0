"""Runs tests of the runtime on an emulated CPU that lacks newer instructions: none may die of one.

    old_cpu_test.py <QEMU's name of the CPU> <avx|avx512> <control program> <test program>...

The control executes an instruction of the named kind and must be killed, or the emulation proves
nothing. Exit code 77 (skipped) where QEMU's user mode emulation (Debian: qemu-user) is absent.
"""
import os
import shutil
import signal
import subprocess
import sys

SKIPPED = 77


def main(cpu, missing, control, *programs):
    qemu = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
    if qemu is None:
        print("skipped: no qemu-x86_64 here (Debian: apt-get install qemu-user)")
        return SKIPPED
    environment = dict(os.environ, OMP_WAIT_POLICY="passive")
    environment.pop("GTEST_OUTPUT", None)  # the results of the real CPU are written there

    def emulate(*command):
        return subprocess.run([qemu, "-cpu", cpu, *command], env=environment, text=True,
                              capture_output=True, check=False)

    killed = emulate(control, missing).returncode
    if killed not in (-signal.SIGILL, 128 + signal.SIGILL):
        print(f"{control} {missing} ended with {killed} on {cpu}, expected SIGILL")
        return 1
    failed = 0
    for program in programs:
        done = emulate(program)
        verdict = "passed" if done.returncode == 0 else f"ended with {done.returncode}"
        print(f"{cpu}: {os.path.basename(program)} {verdict}")
        if done.returncode != 0:
            failed += 1
            print(done.stdout[-3000:], done.stderr[-3000:], sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
