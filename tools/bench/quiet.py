"""Notices when other programs took the processors during a measurement.

Two threads that share two cores with a third program do not run a little slower: at every barrier one of them may
wait for a time slice of the system. Such a measurement says nothing of either runtime and is made again.
"""

import os
import time

# Of a processor, while a slice was timed; clock ticks are 10 ms, so two of them are always forgiven.
FOREIGN_SHARE = 0.1
FORGIVEN_SECONDS = 0.03
_TICK = os.sysconf('SC_CLK_TCK')


def _busy_seconds():
    """Of all processors together since start; stolen time is someone else's work too."""
    with open('/proc/stat', encoding='ascii') as file:
        fields = [int(x) for x in file.readline().split()[1:9]]
    user, nice, system, _, _, irq, softirq, steal = fields
    return (user + nice + system + irq + softirq + steal) / _TICK


class Watch:
    """What other programs took since construction, when `spare` processors were not needed anyway."""

    def __init__(self, spare):
        self.spare = spare
        self.busy, self.own, self.start = _busy_seconds(), time.process_time(), time.monotonic()

    def disturbed(self, accounted):
        """accounted: processor seconds of the measured process itself."""
        own = time.process_time() - self.own
        foreign = _busy_seconds() - self.busy - own - accounted
        return foreign > FORGIVEN_SECONDS + (self.spare + FOREIGN_SHARE) * (time.monotonic() - self.start)


class Patience:
    """Seconds that may be spent in all on waiting for other programs to end."""

    def __init__(self, seconds, threads):
        """threads: of what is measured."""
        self.left, self.spare = seconds, max(0, len(os.sched_getaffinity(0)) - threads)

    def watch(self):
        return Watch(self.spare)

    def wait(self):
        """Until nobody else runs; returns whether there was patience for that."""
        while self.left > 0:
            start, watch = time.monotonic(), self.watch()
            time.sleep(0.2)
            self.left -= time.monotonic() - start
            if not watch.disturbed(0):
                return True
        return False
