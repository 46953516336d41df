/**
 * A page to read about the API and try it: three small texts. The browser builds the forms from
 * /openapi.json.
 */
export const HTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Coxswain API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/docs/page.css"></head>
<body><header><h1>Coxswain API</h1><p id="about"></p>
<form id="who"><label>API key <input id="key" type="password" autocomplete="off" placeholder="cox_…"></label>
<label>acts as <input id="agent" autocomplete="off" placeholder="X-Agent-Id, for keys of a service"></label></form>
<p>Make a key with <code>cox key create --agent NAME</code>. It stays in this page.
The description itself: <a href="/openapi.json">/openapi.json</a>.</p></header>
<main id="operations"><p>Loading…</p></main><script src="/docs/page.js"></script></body></html>
`;

export const CSS = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 0 auto; padding: 1rem }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; text-transform: capitalize }
details { border: 1px solid #8886; border-radius: .4rem; margin: .4rem 0; padding: .4rem .8rem }
summary { cursor: pointer }
summary b { font-family: ui-monospace, monospace; font-weight: 600; margin-right: .6rem }
form { display: flex; flex-wrap: wrap; gap: 1rem }
input, textarea, button { font: inherit; padding: .3rem .5rem }
textarea { width: 100%; box-sizing: border-box; font: .9rem ui-monospace, monospace; min-height: 5rem }
table { border-collapse: collapse; font-size: .9rem; margin: .5rem 0 }
td { padding: .1rem .8rem .1rem 0; vertical-align: top }
pre { overflow: auto; background: #8882; padding: .6rem; border-radius: .4rem; white-space: pre-wrap }
.status { font-weight: 600 }
`;

export const SCRIPT = `'use strict';
const make = (name, text, parent) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
};
const value = (id) => document.getElementById(id).value.trim();

async function send(method, path, input, shown) {
  const headers = {};
  if (value('key')) headers['x-api-key'] = value('key');
  if (value('agent')) headers['x-agent-id'] = value('agent');
  const started = performance.now();
  try {
    let url = path;
    let body;
    if (method === 'GET') {
      const query = new URLSearchParams();
      for (const [name, item] of Object.entries(input)) query.append(name, String(item));
      if ([...query].length > 0) url += '?' + query;
    } else {
      headers['content-type'] = 'application/json';
      body = JSON.stringify(input);
    }
    const response = await fetch(url, { method, headers, body });
    const text = await response.text();
    let pretty = text;
    try { pretty = JSON.stringify(JSON.parse(text), null, 2); } catch {}
    shown.textContent = response.status + ' in ' + Math.round(performance.now() - started) + ' ms\\n' + pretty;
  } catch (error) {
    shown.textContent = String(error);
  }
}

function fieldsOf(operation, schema) {
  const properties = schema.properties ?? {};
  const required = new Set(schema.required ?? []);
  for (const each of operation.parameters ?? [])
    if (each.in === 'query' || each.in === 'path') {
      properties[each.name] = { ...each.schema, description: each.description ?? each.schema?.description };
      if (each.required) required.add(each.name);
    }
  return Object.entries(properties).map(([name, field]) => [name + (required.has(name) ? '' : '?'),
    Array.isArray(field.type) ? field.type.join(' | ') : field.type ?? (field.enum ? 'one of ' + field.enum.join(', ') : 'any'), field.description ?? '']);
}

function show(path, method, operation, parent) {
  const box = make('details', undefined, parent);
  const line = make('summary', undefined, box);
  make('b', method.toUpperCase() + ' ' + path, line);
  make('span', operation.summary ?? '', line);
  if (operation.description) make('p', operation.description, box);
  const content = operation.requestBody?.content?.['application/json'] ?? {};
  const table = make('table', undefined, box);
  for (const row of fieldsOf(operation, structuredClone(content.schema ?? {}))) {
    const tr = make('tr', undefined, table);
    for (const cell of row) make('td', cell, tr);
  }
  const example = content.example ?? Object.fromEntries((operation.parameters ?? [])
    .filter((each) => each.example !== undefined && each.in === 'query').map((each) => [each.name, each.example]));
  const area = make('textarea', JSON.stringify(example, null, 2), box);
  area.setAttribute('aria-label', 'Input of ' + path);
  const button = make('button', 'Send', box);
  const answer = make('pre', '', box);
  answer.hidden = true;
  button.addEventListener('click', () => {
    answer.hidden = false;
    try { send(method.toUpperCase(), path, JSON.parse(area.value || '{}'), answer); }
    catch (error) { answer.textContent = 'The input is no JSON: ' + error.message; }
  });
}

fetch('/openapi.json').then((response) => response.json()).then(({ info, paths }) => {
  document.getElementById('about').textContent = info.description + ' Version ' + info.version + '.';
  const main = document.getElementById('operations');
  main.replaceChildren();
  let group;
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      if (path.includes('{')) continue;
      const name = operation.tags?.[0] ?? 'server';
      if (name !== group) make('h2', name, main);
      group = name;
      show(path, method, operation, main);
    }
});
`;
