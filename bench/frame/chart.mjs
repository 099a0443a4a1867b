/**
 * Writes bar charts as SVG, without a dependency: one horizontal bar for each value, in groups with a heading.
 *
 * Colours follow the reader's light or dark scheme. A bar of Longhaul has a colour of its own; a short line marks the
 * target of a bar.
 */
const width = 940;
const labelWidth = 310;
const valueWidth = 240;
const plotWidth = width - labelWidth - valueWidth;
const sizes = { bar: 12, row: 18, heading: 30, top: 62, bottom: 14 };

const style = `
  svg { --back: #ffffff; --text: #1f2328; --muted: #59636e; --ours: #0969da; --peer: #afb8c1; --mark: #bc4c00 }
  @media (prefers-color-scheme: dark) {
    svg { --back: #0d1117; --text: #e6edf3; --muted: #9198a1; --ours: #4493f8; --peer: #484f58; --mark: #f0883e }
  }
  text { font: 12px system-ui, sans-serif; fill: var(--text) }
  .title { font-size: 16px; font-weight: 600 }
  .note, .value { fill: var(--muted) }
  .heading { font-weight: 600 }
  .back { fill: var(--back) }
  .bar { fill: var(--peer) }
  .ours { fill: var(--ours) }
  .mark { stroke: var(--mark); stroke-width: 2 }
  .line { stroke: var(--muted); stroke-dasharray: 3 3 }`;

/**
 * `groups` is a list of { heading, longest, line, bars }, and a bar { label, value, text, isOurs, mark }. `longest` is the
 * value of the longest bar (default: the largest value of the group); a larger value is cut off, and its text tells it.
 * `line` is a value with a dashed line through the group.
 */
export function barChart({ title, note, groups }) {
  const body = [];
  let y = sizes.top;
  for (const group of groups) {
    const drawn = drawGroup(group, y);
    body.push(...drawn.lines);
    y = drawn.y;
  }
  const height = y + sizes.bottom;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    `<style>${style}\n</style>`,
    `<rect class="back" width="${width}" height="${height}" rx="6"/>`,
    `<text class="title" x="16" y="28">${escape(title)}</text>`,
    `<text class="note" x="16" y="48">${escape(note)}</text>`,
    ...body,
    '</svg>',
    '',
  ].join('\n');
}

function drawGroup({ heading, bars, longest, line }, top) {
  const largest = longest ?? Math.max(...bars.map(({ value }) => value));
  const scale = (value) => (plotWidth * Math.min(value, largest)) / largest;
  const lines = [];
  let y = top;
  if (heading) {
    lines.push(`<text class="heading" x="16" y="${y + 18}">${escape(heading)}</text>`);
    y += sizes.heading;
  }
  const firstY = y;
  for (const bar of bars) {
    lines.push(...drawBar(bar, { y, scale }));
    y += sizes.row;
  }
  if (line !== undefined) lines.push(vertical('line', { x: scale(line), from: firstY - 2, to: y }));
  return { lines, y };
}

function drawBar({ label, value, text, isOurs, mark }, { y, scale }) {
  const baseline = y + sizes.bar - 2;
  const length = Math.max(1, scale(value));
  return [
    `<text x="${labelWidth - 8}" y="${baseline}" text-anchor="end">${escape(label)}</text>`,
    `<rect class="bar${isOurs ? ' ours' : ''}" x="${labelWidth}" y="${y}" width="${length.toFixed(1)}" height="${sizes.bar}" rx="2"/>`,
    ...(mark === undefined ? [] : [vertical('mark', { x: scale(mark), from: y - 2, to: y + sizes.bar + 2 })]),
    `<text class="value" x="${labelWidth + plotWidth + 12}" y="${baseline}">${escape(text)}</text>`,
  ];
}

const vertical = (name, { x, from, to }) =>
  `<line class="${name}" x1="${(labelWidth + x).toFixed(1)}" x2="${(labelWidth + x).toFixed(1)}" y1="${from}" y2="${to}"/>`;

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text) => String(text).replaceAll(/[&<>"]/g, (each) => entities[each]);
