// The page of a calibration: reads the JSON that the page holds and builds tables from it
// (page_tools.js). Names reach the page as text only (textContent), never as markup.
'use strict';
(() => {
const calibration = JSON.parse(document.getElementById('calibration').textContent);
const main = document.querySelector('main');
const {element, drawing, short, whole, count, definitions, plainTable, bars, sortedTable} = pageTools;
const MODES = ['symmetric', 'asymmetric'];
const samples = calibration.extreme_samples;

const percent = (share) => share === 0 ? '0' : share < 1e-4 ? '<0.01 %' : `${(100 * share).toFixed(2)} %`;
const ends = (range) => `${short(range[0])} to ${short(range[1])}`;
const sampleName = (place) => place === null ? 'not known' : samples[place].name;

const column = (mode, key) => (row) => row.chosen[mode][key];
const COLUMNS = [
  {title: '#', key: (r) => r.index, help: 'place in the model'},
  {title: 'tensor', key: (r) => r.name, name: true, help: 'the tensor, and what makes it'},
  {title: 'min', key: (r) => r.min, show: (r) => short(r.min), help: 'least value of all samples'},
  {title: 'max', key: (r) => r.max, show: (r) => short(r.max), help: 'greatest value of all samples'},
  ...MODES.flatMap((mode) => [
    {title: mode, key: (r) => r.chosen[mode].range[1], show: (r) => ends(r.chosen[mode].range),
     help: `the ${mode} range, before propagation; sorted by its upper end`},
    {title: 'clipped', key: column(mode, 'clipped'), show: (r) => percent(r.chosen[mode].clipped),
     help: `share of the values beyond the ${mode} range`},
    {title: mode === 'symmetric' ? 'sym dB' : 'asym dB', key: column(mode, 'sqnr_db'),
     show: (r) => r.chosen[mode].sqnr_db.toFixed(1), decibel: true,
     help: `expected SQNR of 8 bits over the ${mode} range, by the histogram`}]),
  {title: 'method', key: (r) => r.chosen.method, show: (r) => r.chosen.method, text: true,
   help: 'whose range was taken'},
  {title: 'values', key: undefined, drawn: (r) => smallHistogram(r),
   help: 'histogram of the values (log height); red: the ends of the symmetric range'},
];
const WORST = COLUMNS.findIndex((c) => c.title === 'sym dB');

// --- drawings ---

function extent(row, ranges) {
  const {low, step, counts} = row.histogram;
  const values = [low, low + step * counts.length, ...ranges.flat()];
  return [Math.min(...values), Math.max(...values)];
}

function smallHistogram(row, width = 110, height = 26) {
  if (row.histogram === null) return '';
  const range = row.chosen.symmetric.range;
  const [first, last] = extent(row, [range]);
  const x = (value) => (value - first) / (last - first) * width;
  const made = drawing('svg', {viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', class: 'histogram'},
                       drawing('title', {}, `values of ${row.name}`), bars({...row.histogram, x, foot: height}));
  for (const end of range) made.append(drawing('line', {class: 'end', x1: x(end), x2: x(end), y1: 0, y2: height}));
  return made;
}

// The histogram, and below it the ranges of every method, to the same scale.
function largeHistogram(row) {
  const lines = [['chosen', row.chosen], ...row.methods.map((m, i) => [calibration.method_names[i], m])];
  const [first, last] = extent(row, lines.flatMap(([, m]) => MODES.map((mode) => m[mode].range)));
  const left = 110, width = 900, foot = 160, pitch = 18;
  const height = foot + 22 + pitch * lines.length;
  const x = (value) => left + (value - first) / (last - first) * (width - left - 10);
  const made = drawing('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', class: 'wide histogram'},
                       drawing('title', {}, `values of ${row.name} and ranges of every method`),
                       bars({...row.histogram, x, foot}));
  const label = (value, text, anchor) =>
    made.append(drawing('text', {x: x(value), y: foot + 14, 'text-anchor': anchor}, text));
  label(first, short(first), 'start');
  label(last, short(last), 'end');
  if (x(0) > left + 60 && x(0) < width - 60) label(0, '0', 'middle');
  for (const end of row.chosen.symmetric.range) {
    made.append(drawing('line', {class: 'end', x1: x(end), x2: x(end), y1: 0, y2: foot}));
  }
  lines.forEach(([name, method], i) => {
    const y = foot + 30 + pitch * i;
    made.append(drawing('text', {x: left - 8, y: y + 4, 'text-anchor': 'end'}, name));
    MODES.forEach((mode, k) => {
      const [low, high] = method[mode].range;
      made.append(drawing('line', {class: `range ${mode}${i === 0 ? ' chosen' : ''}`, x1: x(low), x2: x(high),
                                   y1: y - 2 + 6 * k, y2: y - 2 + 6 * k},
                          drawing('title', {}, `${name}, ${mode}: ${ends([low, high])}`)));
    });
  });
  return made;
}

function picture(place) {
  const sample = samples[place];
  return sample.picture === undefined ? '' : element('img', {src: sample.picture, alt: `sample ${sample.name}`});
}

function end(title, value, place) {
  const figure = element('figure', {class: 'end'}, element('figcaption', {}, `${title} ${short(value, 6)} in `,
                                                            element('strong', {}, sampleName(place))));
  if (place !== null) figure.prepend(picture(place));
  return figure;
}

// --- tables ---

function detail(row) {
  const cell = element('td', {colspan: COLUMNS.length});
  cell.append(definitions([
    ['made by', row.op || 'not in the model any more'],
    ['values', `${whole(row.count)}, ${percent(row.zeros / Math.max(row.count, 1))} of them 0` +
               (row.infinities ? `; ${whole(row.infinities)} of masks left out` : '')],
    ['method', row.chosen.method], ['reason', row.reason || 'none is known']]));
  if (row.histogram !== null) cell.append(largeHistogram(row));
  const line = (name, m) => [name, ...MODES.flatMap((mode) => [ends(m[mode].range), percent(m[mode].clipped),
                                                               m[mode].sqnr_db.toFixed(1)])];
  cell.append(plainTable('', ['method', 'symmetric', 'clipped', 'dB', 'asymmetric', 'clipped', 'dB'],
                         [line('chosen', row.chosen),
                          ...row.methods.map((m, i) => line(calibration.method_names[i], m))]));
  cell.querySelector('tbody tr').classList.add('chosen');
  if (row.count > 0) {
    cell.append(element('div', {class: 'ends'}, end('least', row.min, row.min_sample),
                        end('greatest', row.max, row.max_sample)));
  }
  return element('tr', {class: 'detail'}, cell);
}

function cells(row) {
  return COLUMNS.map((c) => {
    if (c.drawn) return element('td', {}, c.drawn(row));
    if (c.name) {
      const open = element('button', {type: 'button', 'aria-expanded': 'false'}, row.name);
      return element('td', {class: 'name'}, open, element('small', {}, row.op));
    }
    const key = c.key(row);
    const cell = element('td', {class: c.text ? 'text' : 'number'}, c.show ? c.show(row) : String(key));
    if (c.decibel && key < 20) cell.classList.add(key < 10 ? 'bad' : 'poor');
    return cell;
  });
}

const FILTERS = {
  'all': () => true,
  'clipped': (row) => MODES.some((mode) => row.chosen[mode].clipped > 0),
  'below 20 dB': (row) => MODES.some((mode) => row.chosen[mode].sqnr_db < 20),
};

function tensorsTable() {
  calibration.tensors.forEach((row, index) => {
    row.index = index;
    row.text = [row.name, row.op, row.chosen.method, row.reason, sampleName(row.min_sample),
                sampleName(row.max_sample)].join(' ').toLowerCase();
    row.line = element('tr', {}, ...cells(row));
  });
  return sortedTable({id: 'tensors', thing: 'tensor', columns: COLUMNS, rows: calibration.tensors, filters: FILTERS,
                      detail, first: WORST, placeholder: 'search tensors, operators, methods, reasons, samples'});
}

function section(title, ...content) {
  main.append(element('h2', {}, title), ...content);
}

main.append(definitions([
  ['method', calibration.method],
  ['samples', `${whole(calibration.samples)}, sha256 of their contents ${calibration.samples_sha256}`],
  ['model sha256', calibration.model_sha256],
  ...Object.entries(calibration.environment),
  ...(calibration.equalized ? [['equalized', count(calibration.equalized, 'tensor')]] : [])]));
section('Tensors, the worst first', ...tensorsTable());
section(`Samples that set the ends of ranges: ${samples.length || 'not known'}`);
if (calibration.why_no_pictures) {
  main.append(element('p', {id: 'no-pictures'}, `Not all have a picture: ${calibration.why_no_pictures}.`));
}
main.append(element('div', {class: 'samples'}, ...samples.map((sample, place) =>
  element('figure', {}, picture(place), element('figcaption', {}, `${sample.name}: ${count(sample.ends, 'end')}`)))));
if (calibration.preprocess) {
  main.append(element('details', {}, element('summary', {}, 'Preprocessing'), element('pre', {}, calibration.preprocess)));
}
section('Legend', definitions([
  ...COLUMNS.map((c) => [c.title, c.help]),
  ['an end', 'the least or the greatest value of a tensor; of several samples that have it, that of lowest content hash'],
  ['colours', 'red: below 10 dB; yellow: below 20 dB'],
  ['a click', 'on a title sorts, again the other way round; on a tensor shows its histogram, the range of every ' +
              'method (red: chosen; grey: symmetric; blue: asymmetric) and the samples that set its ends']], 'legend'));
document.body.dataset.ready = 'true';
})();
