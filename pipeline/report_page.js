// The report's page: reads the JSON that the page holds and builds tables from it (page_tools.js).
// Names reach the page as text only (textContent), never as markup.
'use strict';
(() => {
const report = JSON.parse(document.getElementById('report').textContent);
const main = document.querySelector('main');
const {element, drawing, short, whole, count, definitions, plainTable, bars, sortedTable} = pageTools;

// --- rows: the program's nodes, with the figures of the tensors they make ---

// undefined: not compared. -Infinity: a NaN on either side, the worst there is.
const figure = (layer, value) => layer === undefined ? undefined : value(layer) ?? -Infinity;

function rows() {
  const layers = new Map(report.layers.map((layer) => [layer.tensor, layer]));
  const listed = report.nodes.map((node) => ({...node, layer: layers.get(node.tensor)}));
  const known = new Set(report.nodes.map((node) => node.tensor));
  for (const layer of report.layers) {
    if (known.has(layer.tensor)) continue;
    listed.push({node: layer.tensor, op: layer.command, tensor: layer.tensor, type: layer.type,
                 shape: [], scale: layer.integer ? layer.scale : undefined,
                 zero_point: layer.integer ? layer.zero_point : undefined, layer});
  }
  listed.forEach((row, index) => {
    row.index = index;
    row.text = [row.node, row.op, row.tensor, row.shape.join('x'), row.type].join(' ').toLowerCase();
  });
  return listed;
}

// title, class, what is sorted by, what is shown (default: that), help.
const decibel = (value) => value === -Infinity ? 'NaN' : value.toFixed(1);
const COLUMNS = [
  {title: '#', key: (r) => r.index, help: 'place in the program'},
  {title: 'node / tensor', key: (r) => r.node, name: true, help: 'the node, and the tensor it makes'},
  {title: 'operator', key: (r) => r.op, help: 'after fusion'},
  {title: 'shape', key: (r) => r.shape.reduce((a, b) => a * b, 1), show: (r) => r.shape.join('x'),
   help: 'in ONNX order; sorted by elements'},
  {title: 'type', key: (r) => r.type, help: 's8 and u8 are integers; f32 rows are computed in F32'},
  {title: 'scale', key: (r) => r.scale, show: (r) => short(r.scale, 6), help: 'real = scale * (q - zero)'},
  {title: 'zero', key: (r) => r.zero_point, help: 'zero point'},
  {title: 'SQNR dB', key: (r) => figure(r.layer, (l) => l.sqnr_db), decibel: true,
   help: 'accumulated: with the errors of everything before it'},
  {title: 'channels: median', key: (r) => figure(r.layer, (l) => l.channels.median_db), decibel: true,
   help: 'accumulated SQNR channel by channel: the median'},
  {title: 'worst decile', key: (r) => figure(r.layer, (l) => l.channels.worst_decile_db), decibel: true,
   help: 'one channel in ten is at or below this'},
  {title: 'alone dB', key: (r) => figure(r.layer, (l) => l.alone.sqnr_db), decibel: true,
   help: 'the SQNR that this command loses by itself, given the float inputs'},
  {title: 'alone: median', key: (r) => figure(r.layer, (l) => l.alone.channels.median_db), decibel: true,
   help: 'the same by channel: the median'},
  {title: 'worst decile', key: (r) => figure(r.layer, (l) => l.alone.channels.worst_decile_db),
   decibel: true, help: 'the same by channel: one in ten is at or below this'},
  {title: 'cosine', key: (r) => figure(r.layer, (l) => l.cosine),
   show: (r) => r.layer.cosine === null ? 'NaN' : r.layer.cosine.toFixed(6), help: 'accumulated'},
  {title: 'max |a-b|', key: (r) => r.layer === undefined ? undefined : r.layer.max_abs ?? Infinity,
   show: (r) => r.layer.max_abs === null ? 'NaN' : short(r.layer.max_abs), help: 'accumulated'},
  {title: 'saturated', key: (r) => r.layer && r.layer.saturated / Math.max(r.layer.elements, 1),
   show: (r) => (100 * r.layer.saturated / Math.max(r.layer.elements, 1)).toFixed(2) + ' %',
   help: 'elements cut off at an end of the integer range'},
  {title: 'values', key: undefined, drawn: (r) => r.layer && histogram(r, 110, 26, false),
   help: 'histogram of the float values (log height); red: the ends of the integer range'},
];

// --- histograms ---

function integerRange(row) {
  if (row.scale === undefined) return undefined;
  const least = row.type === 'u8' ? 0 : -128;
  return [row.scale * (least - row.zero_point), row.scale * (least + 255 - row.zero_point)];
}

function histogram(row, width, height, labels) {
  const {counts, low, bin_width: step} = row.layer.values;
  const ends = integerRange(row);
  const first = Math.min(low, ends ? ends[0] : low);
  const last = Math.max(low + step * Math.max(counts.length, 1), ends ? ends[1] : low);
  const foot = labels ? height - 30 : height;
  const x = (value) => (value - first) / (last - first) * width;
  const made = drawing('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img',
                               class: labels ? 'wide histogram' : 'histogram'});
  if (!labels) for (const [k, v] of [['width', width], ['height', height]]) made.setAttribute(k, v);
  made.append(drawing('title', {}, `values of ${row.tensor}`), bars({counts, low, step, x, foot}));
  for (const end of ends ?? []) {
    made.append(drawing('line', {class: 'end', x1: x(end), x2: x(end), y1: 0, y2: foot}));
  }
  if (!labels) return made;
  const label = (value, text, y, anchor) =>
    made.append(drawing('text', {x: x(value), y, 'text-anchor': anchor}, text));
  label(first, short(first), height - 17, 'start');
  label(last, short(last), height - 17, 'end');
  if (first < 0 && last > 0) label(0, '0', height - 17, 'middle');
  if (ends) {
    label(ends[0], `range from ${short(ends[0])}`, height - 3, ends[0] === first ? 'start' : 'middle');
    label(ends[1], `to ${short(ends[1])}`, height - 3, ends[1] === last ? 'end' : 'middle');
  }
  return made;
}

function detail(row) {
  const cell = element('td', {colspan: COLUMNS.length});
  const facts = [['tensor', row.tensor], ['operator', row.op]];
  const layer = row.layer;
  if (layer) {
    facts.push(['command', layer.command], ['elements compared', whole(layer.elements)],
               ['values', `${short(layer.values.min)} to ${short(layer.values.max)}` +
                          (layer.values.non_finite ? `, ${whole(layer.values.non_finite)} not finite` : '')],
               ['euclid', layer.euclid === null ? 'NaN' : layer.euclid.toFixed(6)],
               ['worst channel', `${layer.channels.worst_channel} (${decibel(layer.channels.worst_db ?? -Infinity)} dB)`]);
  }
  const ends = integerRange(row);
  if (ends) facts.push(['integer range', `${short(ends[0], 6)} to ${short(ends[1], 6)}`]);
  cell.append(definitions(facts));
  if (layer) cell.append(histogram(row, 760, 190, true));
  return element('tr', {class: 'detail'}, cell);
}

// --- the table of nodes ---

function cells(row) {
  return COLUMNS.map((column) => {
    if (column.drawn) return element('td', {}, column.drawn(row) ?? '');
    const key = column.key(row);
    if (column.name) {
      const open = element('button', {type: 'button', 'aria-expanded': 'false'}, row.node);
      const cell = element('td', {class: 'name'}, open);
      if (row.tensor !== row.node) cell.append(element('small', {}, row.tensor));
      return cell;
    }
    if (key === undefined) return element('td', {class: 'number'}, '');
    const show = column.decibel ? decibel(key) : column.show ? column.show(row) : String(key);
    const cell = element('td', {class: typeof key === 'number' ? 'number' : 'text'}, show);
    if (column.decibel && key < 20) cell.classList.add(key < 10 ? 'bad' : 'poor');
    if (column.title === 'type') cell.classList.add('type');
    return cell;
  });
}

const FILTERS = {
  'all': () => true,
  'integer': (row) => row.type === 's8' || row.type === 'u8',
  'F32': (row) => row.type === 'f32',
  'compared': (row) => row.layer !== undefined,
  'outside the tolerance': (row) => row.layer !== undefined && !row.layer.within_tolerance,
};

function nodesTable() {
  const all = rows();
  for (const row of all) {
    row.line = element('tr', {}, ...cells(row));
    if (row.type === 'f32') row.line.classList.add('float');
    if (row.layer && !row.layer.within_tolerance) row.line.classList.add('outside');
  }
  return sortedTable({id: 'nodes', thing: 'node', columns: COLUMNS, rows: all, filters: FILTERS, detail,
                      placeholder: 'search names, operators, shapes, types'});
}

// --- the other parts ---

function section(title, ...content) {
  main.append(element('h2', {}, title), ...content);
}

function folded(title, content) {
  main.append(element('details', {}, element('summary', {}, title), content));
}

function groups(list, key) {
  const found = new Map();
  for (const item of list) {
    if (!found.has(key(item))) found.set(key(item), []);
    found.get(key(item)).push(item);
  }
  return [...found];
}

function overview() {
  const c = report.commands;
  const facts = [
    ['program', report.output], ['mode', report.mode],
    ['profile, target', [report.profile, report.target].filter((x) => x).join(', ')],
    ['model sha256', report.model_sha256],
    ['calibration table', report.table ? `${report.table}, ${count(report.calibration_samples, 'sample')}` : 'none'],
    ['table sha256', report.table_sha256 || 'none'],
    ...(report.scales === undefined ? [] : [
      ['scales', `${report.scales.file} (${report.scales.format}): ${report.scales.used.length} names used, ` +
                 `${report.scales.unused.length} not`],
      ['scales sha256', report.scales.sha256]]),
    ['samples compared', report.layers.length ? whole(report.compared_samples) : 'none (give --test-input)'],
    ['commands', `${c.integer} integer, ${c.move} data movement, ${c.f32} F32`],
    ['file, arena', `${whole(report.file_bytes)} bytes, ${whole(report.arena_bytes)} bytes`]];
  main.append(definitions(facts));
}

// model_deploy's check of the program: the verdict, the outputs, what to try.
function check() {
  const c = report.check;
  if (c === undefined) return;
  const word = c.grade.toLowerCase();
  const grade = ['good', 'doubtful', 'bad'].includes(word) ? word : 'none';
  main.append(element('p', {id: 'check', class: `grade ${grade}`},
                      c.why_none ? `check: not done: ${c.why_none}` : `check: ${c.grade} on ${c.samples}`));
  if (c.next) main.append(element('p', {class: 'next'}, c.next));
  const db = (value) => value === null ? 'NaN' : value.toFixed(1);
  if (c.outputs.length > 0) {
    main.append(plainTable('outputs', ['output', 'SQNR dB', 'channels: median', 'cosine', 'same class'],
                           c.outputs.map((o) => [o.name, db(o.sqnr_db), db(o.channels_median_db),
                                                 o.cosine === null ? 'NaN' : o.cosine.toFixed(6),
                                                 o.rows ? `${o.rows_agree} of ${o.rows}` : ''])));
  }
  if (c.trials.length > 0) {
    main.append(plainTable('trials', ['tried', 'before that', 'quality dB', 'grade'],
                           c.trials.map((t) => [t.options, t.recipe, db(t.quality_db), t.grade])));
  }
}

function legend() {
  section('Legend', definitions([
    ...COLUMNS.map((c) => [c.title, c.help]),
    ['dB', '10 log10(power of the float values / power of the difference); 200: equal'],
    ['colours', 'red: below 10 dB; yellow: below 20 dB; a red name: outside the tolerance (cosine, euclid); ' +
                'a blue type: computed in F32'],
    ['a click', 'on a title sorts, again the other way round; on a name shows its histogram']], 'legend'));
}

function floatNodes() {
  if (report.mode === 'f32') return;
  const nodes = new Map(report.nodes.map((node) => [node.node, node]));
  section(`F32 nodes: ${report.float_nodes.length || 'none'}`);
  const byCount = groups(report.float_nodes, (n) => n.reason).sort((a, b) => b[1].length - a[1].length);
  for (const [reason, list] of byCount) {
    const lines = list.map((n) => [n.node, n.op, nodes.get(n.node)?.shape.join('x') ?? '']);
    const made = element('details', {class: 'reason', open: ''},
                         element('summary', {}, `${list.length}: ${reason}`),
                         plainTable('', ['node', 'operator', 'shape'], lines));
    main.append(made);
  }
}

function changes() {
  const repairs = groups(report.repairs, (r) => JSON.stringify([r.node, r.reason]));
  if (repairs.length > 0) {
    folded(`Repaired or constant channels: ${report.repairs.length} of ${count(repairs.length, 'operator')}`,
           plainTable('repairs', ['node', 'reason', 'channels'], repairs.map(([, list]) =>
             [list[0].node, list[0].reason, list.map((r) => r.channel).join(', ')])));
  }
  if (report.range_changes.length > 0) {
    const range = (r) => report.mode === 'symmetric' ? short(r.threshold) : `${short(r.low)} to ${short(r.high)}`;
    folded(`Ranges changed by Forward/BackwardCalibration: ${report.range_changes.length}`,
           plainTable('ranges', ['tensor', 'rule', 'before', 'after', 'reason'], report.range_changes.map((r) =>
             [r.tensor, r.rule, range(r.before), range(r.after), r.reason])));
  }
  if (report.type_sources.length > 0) {
    folded(`Types taken from the model: ${report.type_sources.length}`,
           plainTable('types', ['tensor', 'source', 'type', 'scale', 'zero point'], report.type_sources.map((t) =>
             [t.tensor, t.source, t.type, short(t.scale, 6), t.zero_point])));
  }
  if (report.proofs.length > 0) {
    folded(`Proved operators: ${report.proofs.length}`,
           plainTable('proofs', ['node', 'operator', 'channels', 'bits of headroom', 'multipliers', 'shifts'],
                      report.proofs.map((p) => [p.node, p.op, p.channels, short(p.headroom_bits, 3),
                                                p.multiplier.join(' to '), p.rshift.join(' to ')])));
  }
}

overview();
check();
section('Nodes', ...nodesTable());
floatNodes();
if (report.mode !== 'f32') {
  section('What was changed and proved');
  changes();
}
legend();
document.body.dataset.ready = 'true';
})();
