// What the pages of tables share: elements, numbers, and a table that can be sorted and searched.
'use strict';
const pageTools = (() => {
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  for (const child of children) made.append(child);
  return made;
}

function drawing(tag, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  for (const child of children) made.append(child);
  return made;
}

function short(value, digits = 4) {
  const rounded = Number(Number(value).toPrecision(digits));
  return rounded !== 0 && Math.abs(rounded) < 1e-4 ? rounded.toExponential() : String(rounded);
}
const whole = (value) => value.toLocaleString('en-US');
const count = (number, thing) => `${whole(number)} ${thing}${number === 1 ? '' : 's'}`;

function definitions(pairs, name = 'facts') {
  const list = element('dl', {class: name});
  for (const [term, text] of pairs) list.append(element('dt', {}, term), element('dd', {}, text));
  return list;
}

function plainTable(id, titles, lines) {
  const head = element('tr', {}, ...titles.map((title) => element('th', {scope: 'col'}, title)));
  const body = element('tbody');
  for (const line of lines) body.append(element('tr', {}, ...line.map((text) => element('td', {}, String(text)))));
  return element('div', {class: 'scroll'}, element('table', {id}, element('thead', {}, head), body));
}

// The outline of a histogram's bars, log height, on the line `foot`; `x` puts a value into the drawing.
function bars({counts, low, step, x, foot}) {
  const most = Math.log1p(counts.reduce((a, b) => Math.max(a, b), 1));
  let path = '';
  counts.forEach((count, i) => {
    if (count === 0) return;
    const top = foot - Math.max(1, Math.log1p(count) / most * (foot - 2));
    const left = x(low + i * step), right = x(low + (i + 1) * step);
    path += `M${left.toFixed(2)} ${foot}V${top.toFixed(2)}H${right.toFixed(2)}V${foot}Z`;
  });
  return drawing('path', {class: 'bar', d: path});
}

// A table with a search field and a choice of rows. `columns`: {title, help, key(row)}, undefined
// keys come last, a column without `key` cannot be sorted by. `rows`: {line, index, text}: the tr,
// the place and the words that are searched, in small letters. A button in a line shows
// `detail(row)`, a tr, below it. `first`: the column that is sorted by, downwards with `down`.
function sortedTable({id, thing, columns, rows, filters, detail, placeholder, first = 0, down = false}) {
  for (const row of rows) {
    row.line.querySelector('button').addEventListener('click', (event) => {
      const shown = row.line.nextSibling?.classList?.contains('detail');
      if (shown) row.line.nextSibling.remove(); else row.line.after(detail(row));
      event.currentTarget.setAttribute('aria-expanded', String(!shown));
    });
  }
  const body = element('tbody');
  const search = element('input', {type: 'search', id: 'search', placeholder});
  const filter = element('select', {id: 'filter', 'aria-label': 'which rows'},
                         ...Object.keys(filters).map((name) => element('option', {value: name}, name)));
  const shown = element('span', {id: 'shown'});
  let column = columns[first], direction = down ? -1 : 1;

  function fill() {
    const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
    const visible = rows.filter((row) => filters[filter.value](row) &&
                                         words.every((word) => row.text.includes(word)));
    visible.sort((a, b) => {
      const x = column.key(a), y = column.key(b);
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined) || a.index - b.index;
      return direction * (x < y ? -1 : x > y ? 1 : 0) || a.index - b.index;
    });
    body.replaceChildren(...visible.map((row) => row.line));
    shown.textContent = `${whole(visible.length)} of ${count(rows.length, thing)}`;
    for (const row of rows) row.line.querySelector('button').setAttribute('aria-expanded', 'false');
  }

  const heads = columns.map((c) => {
    const head = element('th', {title: c.help, scope: 'col'});
    if (!c.key) {
      head.append(c.title);
      return head;
    }
    const button = element('button', {type: 'button'}, c.title);
    button.addEventListener('click', () => {
      direction = column === c ? -direction : 1;
      column = c;
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', direction > 0 ? 'ascending' : 'descending');
      fill();
    });
    head.append(button);
    return head;
  });
  search.addEventListener('input', fill);
  filter.addEventListener('change', fill);
  fill();
  return [element('div', {class: 'controls'}, search, filter, shown),
          element('div', {class: 'scroll'},
                  element('table', {id}, element('thead', {}, element('tr', {}, ...heads)), body))];
}

return {element, drawing, short, whole, count, definitions, plainTable, bars, sortedTable};
})();
