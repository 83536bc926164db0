// The page of a search: every candidate as a point of predicted time and SQNR, and as a line of a
// table; then the groups. Names reach the page as text only.
'use strict';
(() => {
const search = JSON.parse(document.getElementById('search').textContent);
const main = document.querySelector('main');
const {element, drawing, short, definitions, plainTable} = pageTools;
const percent = (share) => `${short(100 * share, 3)} %`;

// --- the picture ---

function picture(points) {
  const width = 760, height = 320, left = 50, right = 16, top = 12, foot = 36;
  const drawn = points.filter((point) => point.judged_on.sqnr_db !== null);
  const ends = (values, least) => {
    const low = Math.min(...values), high = Math.max(...values), spare = Math.max(least, (high - low) * .06);
    return [low - spare, high + spare];
  };
  const [fast, slow] = ends(drawn.map((point) => point.time), .02);
  const [worst, best] = ends(drawn.map((point) => point.judged_on.sqnr_db), .5);
  const x = (time) => left + (time - fast) / (slow - fast) * (width - left - right);
  const y = (decibels) => height - foot - (decibels - worst) / (best - worst) * (height - foot - top);
  const svg = drawing('svg', {class: 'wide', viewBox: `0 0 ${width} ${height}`, role: 'img',
                              'aria-label': 'SQNR of the outputs by predicted time'});
  for (let i = 0; i <= 4; ++i) {
    const time = fast + (slow - fast) * i / 4, decibels = worst + (best - worst) * i / 4;
    svg.append(drawing('line', {class: 'axis', x1: left, x2: width - right, y1: y(decibels), y2: y(decibels)}),
               drawing('text', {x: left - 6, y: y(decibels) + 4, 'text-anchor': 'end'}, decibels.toFixed(1)),
               drawing('text', {x: x(time), y: height - foot + 16, 'text-anchor': 'middle'}, time.toFixed(2)));
  }
  svg.append(drawing('text', {x: width - right, y: height - 6, 'text-anchor': 'end'}, 'predicted time, 8 bits = 1'),
             drawing('text', {x: left + 4, y: top + 8}, 'SQNR of the outputs, dB'));
  const front = drawn.filter((point) => point.pareto).sort((a, b) => a.time - b.time);
  svg.append(drawing('polyline', {class: 'front', points: front.map(
      (point) => `${x(point.time).toFixed(1)},${y(point.judged_on.sqnr_db).toFixed(1)}`).join(' ')}));
  for (const point of drawn) {
    const name = point.chosen ? 'chosen' : point.pareto ? 'best' : 'tried';
    svg.append(drawing('circle', {class: name, cx: x(point.time).toFixed(1), cy: y(point.judged_on.sqnr_db).toFixed(1),
                                  r: point.chosen ? 6 : 4},
                       drawing('title', {}, `${point.step} ${point.options}: ${short(point.judged_on.sqnr_db)} dB`)));
  }
  return svg;
}

// --- the tables ---

function candidates(points) {
  const labelled = points.some((point) => point.judged_on.top1_percent !== undefined);
  const classes = points.some((point) => point.judged_on.same_class_percent !== undefined);
  const boxes = points.some((point) => point.judged_on.boxes_recall !== undefined);
  const titles = ['tried', 'options', 'SQNR, dB', '± dB', 'cosine', ...(classes ? ['same class, %'] : []),
                  ...(boxes ? ['recall', 'precision'] : []), ...(labelled ? ['top-1, %'] : []), 'time', 'in 16 bits', 'in F32', 'conversions', 'enough'];
  const lines = points.map(({judged_on: on, ...point}) => [
    point.step, point.options, short(on.sqnr_db), short(on.standard_error_db, 2), short(on.cosine, 6),
    ...(classes ? [short(on.same_class_percent)] : []),
    ...(boxes ? [short(on.boxes_recall, 3), short(on.boxes_precision, 3)] : []), ...(labelled ? [short(on.top1_percent)] : []),
    short(point.time, 3), percent(point.macs_16), percent(point.macs_float), point.conversions, point.reaches ? 'yes' : '']);
  const table = plainTable('candidates', titles, lines);
  points.forEach((point, i) => {
    if (point.chosen) table.querySelectorAll('tbody tr')[i].classList.add('chosen');
  });
  return table;
}

function groups() {
  const share = (noise) => noise === null ? '' : short(noise, 3);
  return plainTable('groups', ['operators', 'tensors', 'type', 'noise of 8 bits', 'noise of 16 bits'],
                    search.groups.map((group) => [
                      group.ops, group.tensors.join(', '), group.bits === 32 ? 'F32' : `${group.bits} bits`,
                      share(group.noise_8), share(group.noise_16)]));
}

const budget = Object.entries(search.budget).filter(([, value]) => value !== null)
                   .map(([key, value]) => `${key.replace('_', '-')} ${value}`).join(', ');
main.append(
    definitions([
      ['asked for', budget || 'nothing: 25 dB and .95 of the boxes, or what 16 bits everywhere reach'],
      ['reached', search.reached ? 'yes' : search.stopped ? 'no, the evaluations are used up' : 'no'],
      ['samples', `${search.samples}, judged on ${search.judged}` +
                  (search.divided ? ' that nothing was made with' : ', too few to divide')],
      ['evaluations', `${search.evaluations}, ${search.sensitivity_passes} of them for the noise of all groups; ` +
                      `each group alone would be ${search.one_by_one}`],
      ['options', search.options || 'none']]),
    element('h2', {}, 'Time and accuracy'),
    element('p', {}, 'A point for each program that was tried: red the one that was chosen; on the line those that no other is as fast as and better.'),
    picture(search.points), element('h2', {}, 'What was tried'), candidates(search.points),
    element('h2', {}, 'Groups of operators'),
    element('p', {}, 'Noise: the share of the outputs\u2019 power that a group alone is the cause of, as one pass of all groups tells; empty where types were not needed.'),
    groups());
})();
