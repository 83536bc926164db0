"""Interleaved timing: every round runs every entrant once, in a rotating order."""

import dataclasses
import statistics
import time

from bench import quiet

# Threads of an entrant that has just run may spin for some milliseconds before they sleep.
SETTLE_SECONDS = 0.03
ATTEMPTS = 4


@dataclasses.dataclass(frozen=True)
class Slice:
    """One entrant's turn: ms per inference, processor seconds, and whether others were running."""
    median: float
    least: float
    cpu: float
    disturbed: bool = False


def _turn(entrant, milliseconds, patience):
    """A slice; again while others run and patience lasts."""
    for _ in range(ATTEMPTS):
        time.sleep(SETTLE_SECONDS)
        watch = patience.watch()
        made = entrant.time(milliseconds)
        made = dataclasses.replace(made, disturbed=watch.disturbed(made.cpu))
        if not made.disturbed or not patience.wait():
            break
    return made


def run(entrants, rounds, milliseconds, patience):
    """{entrant: [Slice of each round]}; patience (quiet.Patience) is what may be waited for other programs to end."""
    found = {entrant: [] for entrant in entrants}
    for r in range(rounds):
        first = r % max(1, len(entrants))
        for entrant in entrants[first:] + entrants[:first]:
            found[entrant].append(_turn(entrant, milliseconds, patience))
    return found


def fastest(entrants, rounds, milliseconds, patience):
    """By the least median: what a quiet machine would show."""
    times = run(entrants, rounds, milliseconds, patience)
    return min(entrants, key=lambda e: min(s.median for s in times[e]))


def quartiles(values):
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method='inclusive')
    return low, middle, high


def ratio(peer, our):
    """What a row says of two entrants of the same rounds: peer / ours, above 1 we are faster.

    Rounds in which others ran are left out, unless there is no other.
    """
    pairs = list(zip(peer, our))
    calm = [(p, o) for p, o in pairs if not (p.disturbed or o.disturbed)]
    used = calm or pairs
    ratios = [p.median / o.median for p, o in used]
    low, middle, high = quartiles(ratios)
    return {'peer_ms': statistics.median(p.median for p, _ in used),
            'our_ms': statistics.median(o.median for _, o in used), 'ratio': middle, 'spread': [low, high],
            'range': [min(ratios), max(ratios)], 'rounds': len(used), 'all_rounds': len(pairs),
            'disturbed_rounds': len(pairs) - len(calm),
            'least_ratio': min(p.least for p, _ in pairs) / min(o.least for _, o in pairs)}
