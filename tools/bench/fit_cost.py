#!/usr/bin/env python3
"""Constants of the cost model (runtime/cost.h) from measured commands.

    model_runner net.rshift --benchmark --per-command --threads 1 --json > net.json     # on a quiet machine
    tools/bench/fit_cost.py net.json other.json ...

Prints a `cost:` block for configs/targets/*.yaml. Cache sizes are not fitted: they are those the programs were made
with, or --l2-kib and --l3-kib. A constant that no command of the files depends on keeps its value, and is named.

Least squares of relative errors would let a thousand tiny commands outvote the convolutions, least squares of times the
reverse: the sum of squared log ratios is weighted by the square root of a command's time. Minimized by golden-section
search, one constant after the other, until nothing moves: the model is piecewise smooth and has twelve constants.
"""

import argparse
import json
import math
import pathlib
import sys

SIZES = ('l2_kib', 'l3_kib')
LEAST, MOST = 1e-3, 1e5


def speed(cost, size):
    """Bytes per nanosecond from the nearest level that holds `size` bytes."""
    level = 'l2' if size <= 1024 * cost['l2_kib'] else 'l3' if size <= 1024 * cost['l3_kib'] else 'dram'
    return cost[f'{level}_bytes_per_ns']


def rate(cost, command):
    """Multiply-accumulates per nanosecond of a command's kind."""
    if command.endswith('_f32'):
        return cost['f32_macs_per_ns']
    return cost[f'{command if command in ("depthwise", "matmul") else "conv"}_macs_per_ns']


def predict(cost, row):
    """Nanoseconds of a command with its fused epilogue on one thread: the formula of runtime/cost.h."""
    total = cost['command_ns']
    for part in row['work']:
        memory = (part['constants'] / speed(cost, row['constant_bytes'])
                  + part['bytes'] / speed(cost, part['bytes']))
        total += (max(part['macs'] / rate(cost, part['command']), memory)
                  + part['requants'] * cost['requant_ns'] + part['f32_elements'] * cost['f32_element_ns'])
    return total


def loss(cost, rows):
    total = sum(math.sqrt(row['median_ms']) for row in rows)
    return sum(math.sqrt(row['median_ms']) * math.log(predict(cost, row) / (1e6 * row['median_ms'])) ** 2
               for row in rows) / total


def best_value(function, low, high):
    """The argument in [low, high] that makes `function` least, in log space."""
    golden = (math.sqrt(5) - 1) / 2
    a, b = math.log(low), math.log(high)
    while b - a > 1e-3:
        left, right = b - golden * (b - a), a + golden * (b - a)
        if function(math.exp(left)) <= function(math.exp(right)):
            b = right
        else:
            a = left
    return math.exp((a + b) / 2)


def fit(rows, cost):
    """(constants that make loss() least, names of those that change nothing)"""
    cost = dict(cost)
    names = [name for name in cost if name not in SIZES]
    idle = [name for name in names
            if all(predict({**cost, name: factor * cost[name]}, row) == predict(cost, row)
                   for row in rows for factor in (0.01, 100))]
    before = math.inf
    while before - loss(cost, rows) > 1e-7:
        before = loss(cost, rows)
        for name in names:
            if name in idle:
                continue
            # Within a factor of four of where it is: a flat direction does not run away in one step.
            value = best_value(lambda v, n=name: loss({**cost, n: v}, rows),
                               max(LEAST, cost[name] / 4), min(MOST, cost[name] * 4))
            if loss({**cost, name: value}, rows) < loss(cost, rows):
                cost[name] = value
    return cost, idle


def correlation(xs, ys):
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    xy = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys))
    xx, yy = sum((x - mean_x) ** 2 for x in xs), sum((y - mean_y) ** 2 for y in ys)
    return xy / math.sqrt(xx * yy) if xx and yy else 0.0


def read(path):
    """(rows of a file, its cost model); exits with one line when it is none of model_runner's."""
    try:
        found = json.loads(pathlib.Path(path).read_text(encoding='utf-8'))
        if found['threads'] != 1:
            raise ValueError(f'measured with {found["threads"]} threads, expected --threads 1')
        rows = [{**row, 'constant_bytes': found['constant_bytes']} for row in found['commands'] if row['median_ms'] > 0]
        cost = {key: float(value) for key, value in (item.split('=') for item in found['cost'].split())}
        if not rows:
            raise ValueError('no command with a measured time')
    except KeyError as error:
        raise SystemExit(f'error: {path}: has no {error}: expected the JSON of model_runner --benchmark --per-command')
    except (OSError, ValueError) as error:
        raise SystemExit(f'error: {path}: {error}')
    return rows, cost


def main(arguments=None):
    parser = argparse.ArgumentParser(description='Fits the constants of the cost model to measured commands.')
    parser.add_argument('json', nargs='+', help='of model_runner --benchmark --per-command --threads 1 --json')
    parser.add_argument('--l2-kib', type=float, help="a core's second-level cache")
    parser.add_argument('--l3-kib', type=float, help='the last-level cache')
    a = parser.parse_args(arguments)
    files = {path: read(path) for path in a.json}
    rows = [row for found, _ in files.values() for row in found]
    cost = dict(next(iter(files.values()))[1])
    cost.update({key: value for key, value in (('l2_kib', a.l2_kib), ('l3_kib', a.l3_kib)) if value})
    fitted, idle = fit(rows, cost)
    print('cost:')
    for name, value in fitted.items():
        print(f'  {name}: {value:.3g}' + ('   # not fitted: no command depends on it' if name in idle else '')
              if name not in SIZES else f'  {name}: {value:g}')
    for path, (found, _) in files.items():
        times = [1e6 * row['median_ms'] for row in found]
        guesses = [predict(fitted, row) for row in found]
        print(f'# {pathlib.Path(path).stem}: {sum(times) / 1e6:.3f} ms, predicted {sum(guesses) / 1e6:.3f} ms, '
              f'correlation {correlation(times, guesses):.3f}')
    print(f'# root of the mean squared log ratio: {math.sqrt(loss(cost, rows)):.3f} before, '
          f'{math.sqrt(loss(fitted, rows)):.3f} now, over {len(rows)} commands')


if __name__ == '__main__':
    sys.exit(main())
