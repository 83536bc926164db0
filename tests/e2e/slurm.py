"""A Slurm of one node for a test: controller, node and munge of its own, none of the system's files. Needs root."""

import contextlib
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time

CONFIGURATION = """ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={controller}
SlurmdPort={node}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
PROGRAMS = ('munged', 'slurmctld', 'slurmd', 'sbatch', 'squeue', 'sinfo')


def why_not():
    """Why no Slurm can be started here; '' if one can."""
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        return f"no {', '.join(missing)} (Debian: slurmctld slurmd slurm-client munge)"
    return '' if os.geteuid() == 0 else 'slurmd runs as root only'


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(('127.0.0.1', 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_until(true, what, folder, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            logs = ''.join(log.read_text(errors='replace')[-1500:] for log in sorted(folder.glob('*.log')))
            raise TimeoutError(f'Slurm: {what} took more than {seconds} s\n{logs}')
        time.sleep(.1)


@contextlib.contextmanager
def started(cpus):
    """The environment in which sbatch finds it, and the folder of its files.

    The folder has a short name of its own: Linux takes at most 107 bytes as the name of a socket, and a test's folder may be longer.
    A job's last process may still write there: what cannot be removed then stays.
    """
    with tempfile.TemporaryDirectory(prefix='slurm', ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        with started_in(folder, cpus) as env:
            yield env, folder


@contextlib.contextmanager
def started_in(folder, cpus):
    """The same in an empty `folder`."""
    host = socket.gethostname().split('.')[0]
    controller, node = free_ports(2)
    (folder / 'slurm.conf').write_text(CONFIGURATION.format(host=host, folder=folder, controller=controller, node=node, cpus=cpus))
    (folder / 'munge.key').write_bytes(secrets.token_bytes(256))
    (folder / 'munge.key').chmod(0o400)
    for name in ('state', 'spool'):
        (folder / name).mkdir()
    env = os.environ | {'SLURM_CONF': str(folder / 'slurm.conf')}
    programs = (['munged', '--foreground', '--force', f'--key-file={folder}/munge.key', f'--socket={folder}/munge.socket',
                 f'--pid-file={folder}/munged.pid', f'--log-file={folder}/munged.log', f'--seed-file={folder}/munge.seed'],
                ['slurmctld', '-D', '-c'], ['slurmd', '-D', '-c'])
    running = []
    try:
        for command in programs:
            with open(folder / f'{command[0]}.out.log', 'wb') as out:
                running.append(subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.STDOUT))
            if command[0] == 'munged':
                wait_until((folder / 'munge.socket').exists, 'munged', folder)

        def is_idle():
            found = subprocess.run(['sinfo', '-h', '-o', '%T'], env=env, capture_output=True, text=True, check=False)
            return found.stdout.strip() == 'idle'
        wait_until(is_idle, 'the start', folder)
        yield env
    finally:
        for process in reversed(running):
            process.send_signal(signal.SIGTERM)
        for process in reversed(running):
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for_jobs(env, folder, seconds=120):
    def is_done():
        found = subprocess.run(['squeue', '-h'], env=env, capture_output=True, text=True, check=False)
        return found.returncode == 0 and not found.stdout.strip()
    wait_until(is_done, 'a job', folder, seconds)
