/** The style sheet of the pages without scripts of the web UI: login and API. Its colours are those of web/src/style.css. */
export const STYLE_ADDRESS = '/api/style.css';

export const PAGE_STYLE = `:root {
  color-scheme: light dark;
  --ground: light-dark(#f7f8fa, #0d1117);
  --sheet: light-dark(#ffffff, #151b23);
  --raised: light-dark(#eef1f5, #1f2731);
  --line: light-dark(#d5dbe3, #2d3742);
  --ink: light-dark(#16202b, #e6edf3);
  --soft: light-dark(#4b5866, #a3b1bf);
  --accent: light-dark(#1d4ed8, #7fb0ff);
  --on-accent: light-dark(#ffffff, #0b1526);
  --mono: ui-monospace, "SF Mono", "Cascadia Code", "JetBrains Mono", Menlo, Consolas, monospace;
  font: 14px/1.45 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 1rem; background: var(--ground); color: var(--ink); }
a { color: var(--accent); }
h1 { font-size: 1.25rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; text-transform: capitalize; }
h3 { margin: 0 0 .25rem; font-size: 1rem; font-weight: normal; overflow-wrap: anywhere; }
h3 b { display: inline-block; min-width: 4rem; color: var(--accent); font-size: .8rem; }
code, pre { font-family: var(--mono); font-size: 13px; }
pre { margin: .5rem 0; overflow-x: auto; padding: .5rem .75rem; border-radius: 6px; background: var(--raised); }
p { margin: .25rem 0; }
nav { display: flex; flex-wrap: wrap; gap: .25rem .75rem; margin: .75rem 0; }
article, table, .card { border: 1px solid var(--line); border-radius: 8px; background: var(--sheet); }
article { margin: .5rem 0; padding: .75rem 1rem; }
.role, .soft { color: var(--soft); font-size: .85rem; }
summary { width: fit-content; cursor: pointer; color: var(--soft); }
table { width: 100%; border-spacing: 0; }
td, th { padding: .35rem .75rem; text-align: left; vertical-align: top; }
th { color: var(--soft); font-size: .8rem; font-weight: 500; }
.card { max-width: 28rem; margin: 12vh auto 0; padding: 1.5rem; }
.card h1 { margin: 0 0 1rem; }
.card label { display: block; }
.card p { margin: .75rem 0 0; }
input { width: 100%; margin: .25rem 0 .75rem; padding: .4rem .5rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--ground); color: var(--ink); font: inherit; }
button { padding: .4rem .9rem; border: 0; border-radius: 6px; background: var(--accent); color: var(--on-accent);
  font: inherit; font-weight: 500; cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;
