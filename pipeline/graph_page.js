// The page of a graph: reads the JSON that the page holds (graph_json.h), lets dagre place the
// nodes, and draws them. Names reach the page as text only (textContent), never as markup.
'use strict';
(() => {
const graph = JSON.parse(document.getElementById('graph').textContent);
const main = document.querySelector('main');

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  for (const child of children) made.append(child);
  return made;
}
const element = (tag, attributes = {}, ...children) =>
    fill(document.createElement(tag), attributes, children);
const drawing = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
const cut = (text, most) => text.length <= most ? text : `${text.slice(0, most - 12)}\u2026${text.slice(-11)}`;
const typeOf = (tensor) => `${tensor.type} ${tensor.shape.join('x')}`;

// --- figures: of the tensor that a node makes ---

const layers = new Map((graph.layers ?? []).map((layer) => [layer.tensor, layer]));
const figures = (node) => node.makes < 0 ? undefined : layers.get(graph.tensors[node.makes].name);
const share = (layer) => layer.saturated / Math.max(layer.elements, 1);
// null is JSON's NaN: the worst there is.
const decibel = (value) => value ?? -Infinity;

function grade(value) {
  if (value === undefined) return 'unknown';
  return value >= 30 ? 'above30' : value >= 20 ? 'above20' : value >= 10 ? 'above10' : 'below10';
}

const DECIBELS = [['above30', '30 dB and more'], ['above20', '20 to 30 dB'], ['above10', '10 to 20 dB'],
                  ['below10', 'below 10 dB'], ['unknown', 'not compared']];
const COLOURS = {
  'kind of computing': {
    of: (node) => node.kind,
    legend: [['integer', 'integers'], ['float', 'F32'], ['boundary', 'between real and integer'],
             ['move', 'moves or copies'], ['input', 'input or output']]},
  'SQNR, accumulated': {of: (node) => grade(figures(node) && decibel(figures(node).sqnr_db)), legend: DECIBELS},
  'SQNR, alone': {of: (node) => grade(figures(node) && decibel(figures(node).alone_db)), legend: DECIBELS},
  'saturated elements': {
    of: (node) => {
      if (figures(node) === undefined) return 'unknown';
      const cutOff = share(figures(node));
      return cutOff > 0.05 ? 'below10' : cutOff > 0.01 ? 'above10' : cutOff > 0.001 ? 'above20' : 'above30';
    },
    legend: [['above30', 'at most 0.1 %'], ['above20', 'at most 1 %'], ['above10', 'at most 5 %'],
             ['below10', 'more than 5 %'], ['unknown', 'not compared']]},
};

// --- placing and drawing ---

function noteOf(node) {
  const layer = figures(node);
  const type = node.makes < 0 ? '' : typeOf(graph.tensors[node.makes]);
  if (layer === undefined) return type;
  return `${type}  ${layer.alone_db === null ? 'NaN' : layer.alone_db.toFixed(1)} dB`;
}

const HEIGHT = 46;
function place() {
  const placed = new dagre.graphlib.Graph({multigraph: true});
  // The best ranking takes too long where there are very many nodes.
  placed.setGraph({nodesep: 18, ranksep: 26, ranker: graph.nodes.length > 600 ? 'longest-path' : 'network-simplex'});
  graph.nodes.forEach((node, i) => {
    const widest = Math.max(node.op.length * 1.15, cut(node.name, 34).length, noteOf(node).length * .9);
    placed.setNode(i, {width: Math.max(70, widest * 6.2 + 16), height: HEIGHT});
  });
  graph.edges.forEach(([from, to, tensor], i) => placed.setEdge(from, to, {tensor}, i));
  dagre.layout(placed);
  return placed;
}

const placed = place();
const size = placed.graph();
const drawn = [];

function drawNode(node, i) {
  const {x, y, width} = placed.node(i);
  const line = (text, dy, kind) => {
    const made = drawing('text', {y: dy, class: kind});
    made.textContent = text;
    return made;
  };
  const group = drawing('g', {transform: `translate(${x},${y})`, tabindex: 0, role: 'button'},
                        drawing('rect', {x: -width / 2, y: -HEIGHT / 2, width, height: HEIGHT,
                                         rx: node.kind === 'input' || node.kind === 'output' ? 20 : 4}),
                        line(node.op, -8, 'op'), line(cut(node.name, 34), 5, ''), line(noteOf(node), 17, 'note'));
  group.addEventListener('click', () => select(i));
  group.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === ' ') { select(i); event.preventDefault(); }
  });
  drawn.push(group);
  return group;
}

function drawEdges() {
  return placed.edges().map((edge) => {
    const points = placed.edge(edge).points;
    const title = drawing('title');
    const tensor = graph.tensors[placed.edge(edge).tensor];
    title.textContent = `${tensor.name}: ${typeOf(tensor)}`;
    return drawing('path', {class: 'edge', 'marker-end': 'url(#arrow)',
                            d: 'M' + points.map((p) => `${p.x},${p.y}`).join('L')}, title);
  });
}

const svg = drawing('svg', {role: 'img', 'aria-label': 'the graph'},
    drawing('defs', {}, drawing('marker', {id: 'arrow', viewBox: '0 0 6 6', refX: 6, refY: 3, markerWidth: 6,
                                           markerHeight: 6, orient: 'auto'},
                                drawing('path', {d: 'M0,0L6,3L0,6z', style: 'fill: var(--muted)'}))),
    ...drawEdges(), ...graph.nodes.map(drawNode));
const picture = element('div', {id: 'picture'}, svg);
const aside = element('aside', {id: 'detail'});

// --- zooming and moving ---

let view = {x: 0, y: 0, scale: 1};  // the upper left corner, in the graph's units; pixels for one unit
function show() {
  const {clientWidth: width, clientHeight: height} = picture;
  svg.setAttribute('viewBox', `${view.x} ${view.y} ${width / view.scale} ${height / view.scale}`);
}
function zoom(factor, atX = picture.clientWidth / 2, atY = picture.clientHeight / 2) {
  const scale = Math.min(4, Math.max(0.01, view.scale * factor));
  view = {x: view.x + atX / view.scale - atX / scale, y: view.y + atY / view.scale - atY / scale, scale};
  show();
}
function fit() {
  const scale = Math.min(1.5, picture.clientWidth / (size.width + 20), picture.clientHeight / (size.height + 20));
  view = {x: size.width / 2 - picture.clientWidth / scale / 2, y: size.height / 2 - picture.clientHeight / scale / 2, scale};
  show();
}
function start() {  // the inputs, at a size that can be read
  view = {x: placed.node(0).x - picture.clientWidth / 2, y: -20, scale: 1};
  show();
}
function centre(i) {
  const {x, y} = placed.node(i);
  const scale = Math.max(view.scale, 0.7);
  view = {x: x - picture.clientWidth / scale / 2, y: y - picture.clientHeight / scale / 2, scale};
  show();
}
svg.addEventListener('wheel', (event) => {
  const box = svg.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
  event.preventDefault();
}, {passive: false});
svg.addEventListener('pointermove', (event) => {
  if (event.buttons !== 1) { svg.classList.remove('held'); return; }
  svg.classList.add('held');
  view = {...view, x: view.x - event.movementX / view.scale, y: view.y - event.movementY / view.scale};
  show();
});
window.addEventListener('resize', show);

// --- what is known of a node ---

const jump = (i) => {
  const button = element('button', {type: 'button'}, graph.nodes[i].name || graph.nodes[i].op);
  button.addEventListener('click', () => { select(i); centre(i); });
  return button;
};
function facts(pairs) {
  return element('dl', {class: 'facts'},
                 ...pairs.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
}
function describe(tensor) {
  const quant = tensor.scale === undefined ? '' : `, scale ${tensor.scale}, zero point ${tensor.zero_point}`;
  return `${tensor.name}: ${typeOf(tensor)}${quant}`;
}
function select(i) {
  drawn.forEach((group, k) => group.classList.toggle('selected', k === i));
  const node = graph.nodes[i], layer = figures(node);
  const pairs = [['operator', node.op], ['kind', node.kind]];
  if (node.command !== undefined) pairs.push(['command', String(node.command)]);
  if (node.reason) pairs.push(['reason', node.reason]);
  if (node.makes >= 0) pairs.push(['makes', describe(graph.tensors[node.makes])]);
  for (const [from, to, tensor] of graph.edges) {
    if (to === i) pairs.push(['reads', element('span', {}, describe(graph.tensors[tensor]), ' of ', jump(from))]);
    if (from === i) pairs.push(['read by', jump(to)]);
  }
  for (const tensor of node.constants ?? []) pairs.push(['constant', describe(graph.tensors[tensor])]);
  if (layer !== undefined) {
    const number = (value, text) => value === null ? 'NaN' : text(value);
    pairs.push(['SQNR, accumulated', number(layer.sqnr_db, (v) => `${v.toFixed(1)} dB`)],
               ['SQNR, alone', number(layer.alone_db, (v) => `${v.toFixed(1)} dB`)],
               ['cosine', number(layer.cosine, (v) => v.toFixed(6))],
               ['max |a-b|', number(layer.max_abs, (v) => v.toPrecision(4))],
               ['saturated', `${(100 * share(layer)).toFixed(2)} %`]);
  }
  aside.replaceChildren(element('h2', {}, node.name || node.op), facts(pairs));
}

// --- searching and colours ---

const search = element('input', {type: 'search', placeholder: 'node, operator, tensor, type', 'aria-label': 'search'});
const found = element('span', {id: 'found'});
let matches = [], next = 0;
const texts = graph.nodes.map((node) =>
    [node.name, node.op, node.kind, node.makes < 0 ? '' : describe(graph.tensors[node.makes])].join(' ').toLowerCase());
search.addEventListener('input', () => {
  const wanted = search.value.trim().toLowerCase();
  matches = wanted === '' ? [] : texts.flatMap((text, i) => text.includes(wanted) ? [i] : []);
  next = 0;
  drawn.forEach((group, i) => group.classList.toggle('found', matches.includes(i)));
  found.textContent = wanted === '' ? '' : `${matches.length} found`;
  if (matches.length > 0) centre(matches[0]);
});
search.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || matches.length === 0) return;
  next = (next + 1) % matches.length;
  select(matches[next]);
  centre(matches[next]);
});

const legend = element('ul', {class: 'legend'});
const colours = element('select', {'aria-label': 'colours'},
    ...Object.keys(COLOURS).slice(0, layers.size > 0 ? undefined : 1).map((name) => element('option', {}, name)));
function paint() {
  const colour = COLOURS[colours.value];
  drawn.forEach((group, i) => {
    group.setAttribute('class', `node ${colour.of(graph.nodes[i])}`);
    group.classList.toggle('found', matches.includes(i));
  });
  legend.replaceChildren(...colour.legend.map(([kind, text]) => element('li', {}, element('i', {class: kind}), text)));
}
colours.addEventListener('change', paint);

const button = (text, title, action) => {
  const made = element('button', {type: 'button', title}, text);
  made.addEventListener('click', action);
  return made;
};

// --- lists, memory ---

function list(title, nodes, text) {
  if (nodes.length === 0) return [];
  return [element('h2', {}, title),
          element('ol', {class: 'list'}, ...nodes.map((i) => element('li', {}, jump(i), ` ${text(graph.nodes[i])}`)))];
}
const all = graph.nodes.map((_, i) => i);
const WORST = 12;
const weakest = all.filter((i) => figures(graph.nodes[i]) !== undefined && graph.nodes[i].kind !== 'move')
    .sort((a, b) => decibel(figures(graph.nodes[a]).alone_db) - decibel(figures(graph.nodes[b]).alone_db)).slice(0, WORST);

function memory() {
  if (graph.memory === undefined || graph.memory.blocks.length === 0) return [];
  const {blocks, arena_bytes: arena} = graph.memory;
  const width = 1200, height = 360;
  const last = Math.max(...blocks.map((block) => block.last_command)) + 1;
  const rectangles = blocks.map((block) => {
    const title = drawing('title');
    title.textContent = `${block.name}: ${block.bytes} bytes at ${block.offset}, commands ${block.first_command} to ${block.last_command}`;
    return drawing('rect', {x: Math.max(block.first_command, 0) / last * width, y: height - (block.offset + block.bytes) / arena * height,
                            width: (block.last_command - Math.max(block.first_command, 0) + 1) / last * width,
                            height: Math.max(block.bytes / arena * height, .5)}, title);
  });
  const part = element('section', {id: 'memory'}, element('h2', {}, 'Memory'),
      element('p', {}, `${arena.toLocaleString('en-US')} bytes of arena (no placement needs less than ` +
              `${graph.memory.lower_bound_bytes.toLocaleString('en-US')}); addresses upwards, commands to the right.`),
      drawing('svg', {viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': 'memory map'},
              ...rectangles));
  return [part];
}

const floats = all.filter((i) => graph.nodes[i].kind === 'float');
main.append(
    element('p', {id: 'count'}, `${graph.nodes.length} nodes, ${graph.edges.length} edges, ${floats.length} in F32`),
    element('div', {class: 'controls'}, search, found, colours, button('+', 'larger', () => zoom(1.4)),
            button('\u2212', 'smaller', () => zoom(1 / 1.4)), button('fit', 'the whole graph', fit),
            button('start', 'the inputs', start)),
    legend, element('div', {class: 'columns'}, picture, aside),
    ...list('Largest error alone', weakest, (node) => `${node.op}: ${figures(node).alone_db === null ? 'NaN' : figures(node).alone_db.toFixed(1)} dB`),
    ...list('In F32', floats, (node) => node.reason ? `${node.op}: ${node.reason}` : node.op),
    ...memory(), element('h2', {}, 'About'), facts(Object.entries(graph.facts)));
paint();
start();
aside.append(element('p', {}, 'Click a node. Drag to move, turn the wheel to zoom; Enter in the search box goes to the next.'));
document.body.dataset.ready = 'true';
})();
