/**
 * The documentation page of the API: every operation with its description and an example, and every error code. Plain HTML
 * without scripts, built from the route table.
 */
import { schemaOf } from '../../core/input/json-schema.ts';
import { PROBLEMS } from '../../wire/problem-details.ts';
import { curlOf } from '../http/example.ts';
import { STYLE_ADDRESS } from '../http/page-style.ts';
import type { Route } from '../http/route.ts';
import { isStream } from '../http/route.ts';

export function apiPage(routes: readonly Route[], origin: string): string {
  const groups = [...new Set(routes.map(groupOf))];
  const sections = groups.map((group) => {
    const own = routes.filter((route) => groupOf(route) === group);
    return `<section id="${escape(group)}"><h2>${escape(group)}</h2>${own.map((each) => article(each, origin)).join('')}</section>`;
  });
  const links = groups.map((group) => `<a href="#${escape(group)}">${escape(group)}</a>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>API · Longhaul</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="${STYLE_ADDRESS.slice(1)}"></head>
<body><header><p><a href="./">Longhaul</a></p><h1>API</h1>
<p>Also available as OpenAPI 3.1: <a href="openapi.json">/openapi.json</a>. Bodies are JSON.</p>
<nav>${links.join(' ')} <a href="#errors">errors</a></nav></header>
<main>${sections.join('\n')}
${errors()}</main></body></html>
`;
}

function groupOf({ name }: Route): string {
  return name.split('.')[0] ?? name;
}

function article(route: Route, origin: string): string {
  const { name, method, path, about, role, query, body, answer } = route;
  return `<article id="${escape(name)}"><h3><b>${method}</b> <code>${escape(path)}</code></h3>
<p>${escape(about)}</p><p class="role">${role === 'open' ? 'no authentication' : `role ${role}`}</p>
<pre tabindex="0">${escape(curlOf(route, origin))}</pre>
${Object.keys(query).length === 0 ? '' : schemaBlock('Query', Object.fromEntries(Object.entries(query).map(([key, check]) => [key, schemaOf(check)])))}
${body === null ? '' : schemaBlock('Body', isStream(body) ? 'bytes, as application/octet-stream' : schemaOf(body))}
${schemaBlock('Answer', typeof answer === 'string' ? answer : schemaOf(answer))}</article>
`;
}

function schemaBlock(title: string, schema: unknown): string {
  const text = typeof schema === 'string' ? schema : JSON.stringify(schema, null, 2);
  return `<details><summary>${title}</summary><pre tabindex="0">${escape(text)}</pre></details>`;
}

function errors(): string {
  const rows = Object.entries(PROBLEMS).map(
    ([code, [status, title]]) =>
      `<tr id="error-${code}"><td><code>${code}</code></td><td>${status}</td><td>${escape(title)}</td></tr>`,
  );
  return `<section id="errors"><h2>errors</h2><p>Every error is a problem detail (RFC 9457) with one of these codes.</p>
<table><thead><tr><th>code</th><th>status</th><th>meaning</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></section>`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
