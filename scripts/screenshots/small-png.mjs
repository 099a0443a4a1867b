/**
 * Shrinks a screenshot to a palette of 256 colours; a page has no more, except at the edges of its letters.
 * Input and output are PNG files; the input is as Chromium writes it: 8 bits a channel, not interlaced.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MAX_COLOURS = 256;
const MOST_USED_COLOURS = 128;

export function smallPng(png) {
  const { width, height, pixels, channels } = decode(png);
  const colours = paletteOf(pixels, channels);
  const indexes = new Map(colours.map((colour, index) => [colour, index]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0, at = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1, at += channels) {
      const colour = colourAt(pixels, at);
      if (!indexes.has(colour)) indexes.set(colour, nearest(colours, colour));
      rows[y * (width + 1) + 1 + x] = indexes.get(colour);
    }
  return encode({ width, height, rows, colours });
}

const colourAt = (pixels, at) => (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
const partsOf = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];

/** Returns the most used colours, then the colours farthest from them: a single word may have a colour of its own. */
function paletteOf(pixels, channels) {
  const counts = new Map();
  for (let at = 0; at < pixels.length; at += channels) {
    const colour = colourAt(pixels, at);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const byUse = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour);
  const palette = byUse.slice(0, MOST_USED_COLOURS);
  const left = byUse.slice(MOST_USED_COLOURS).map((colour) => ({ colour, away: distanceTo(palette, colour) }));
  while (palette.length < MAX_COLOURS && left.length > 0) {
    const next = left.reduce((most, each) => (each.away > most.away ? each : most)).colour;
    palette.push(next);
    for (const each of left) each.away = Math.min(each.away, distance(next, each.colour));
  }
  return palette;
}

const distance = (a, b) => {
  const [one, other] = [partsOf(a), partsOf(b)];
  return one.reduce((sum, part, index) => sum + (part - other[index]) ** 2, 0);
};
const distanceTo = (colours, colour) => Math.min(...colours.map((each) => distance(each, colour)));

function nearest(colours, colour) {
  const distances = colours.map((each) => distance(each, colour));
  return distances.indexOf(Math.min(...distances));
}

function decode(png) {
  const chunks = [...chunksOf(png)];
  const header = chunks.find(({ type }) => type === 'IHDR').data;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = { 2: 3, 6: 4 }[header[9]];
  if (header[8] !== 8 || channels === undefined || header[12] !== 0)
    throw new Error('unsupported PNG format: expected 8 bits a channel, not interlaced');
  const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
  return { width, height, channels, pixels: unfilter(inflateSync(packed), { stride: width * channels, channels }) };
}

function* chunksOf(png) {
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    yield { type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) };
    at += length + 12;
  }
}

/** Reverses the row filters of PNG: each byte is stored as the difference to its left and upper neighbours. */
function unfilter(raw, { stride, channels }) {
  const height = raw.length / (stride + 1);
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x < channels ? 0 : pixels[at - channels];
      const above = y === 0 ? 0 : pixels[at - stride];
      const corner = x < channels || y === 0 ? 0 : pixels[at - stride - channels];
      pixels[at] = raw[y * (stride + 1) + 1 + x] + expected(filter, { left, above, corner });
    }
  }
  return pixels;
}

function expected(filter, { left, above, corner }) {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  const guess = left + above - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? above : corner;
}

function encode({ width, height, rows, colours }) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const palette = Buffer.from(colours.flatMap(partsOf));
  const parts = { IHDR: header, PLTE: palette, IDAT: deflateSync(rows, { level: 9 }), IEND: Buffer.alloc(0) };
  return Buffer.concat([SIGNATURE, ...Object.entries(parts).map(([type, data]) => chunk(type, data))]);
}

function chunk(type, data) {
  const whole = Buffer.alloc(data.length + 12);
  whole.writeUInt32BE(data.length, 0);
  whole.write(type, 4, 'latin1');
  data.copy(whole, 8);
  whole.writeUInt32BE(crc32(whole.subarray(4, data.length + 8)), data.length + 8);
  return whole;
}
