/** Inputs for fuzzing, drawn from a seed: valid inputs with small changes, and random bytes. */
import { performance } from 'node:perf_hooks';
import type { SeededRandom } from '../faults/seeded-random.ts';
import { openRandom } from '../faults/seeded-random.ts';

/** Values at the edges of what parsers accept. */
const TEXTS = [
  '',
  ' ',
  '\n',
  '\r\n',
  '\0',
  '\u001e',
  '\u001f',
  '-',
  '-1',
  '0',
  '1e999',
  '9'.repeat(30),
  '%',
  '%00',
  '"',
  '\\',
];
const MORE = [
  '[',
  ']',
  '{',
  '}',
  '*',
  '/',
  '#',
  'L',
  '--',
  '\ufeff',
  '\ud800',
  'é',
  '💥',
  '__proto__',
  'constructor',
  'null',
];
const EDGES = [...TEXTS, ...MORE, 'NaN', 'a'.repeat(5_000), '['.repeat(2_000)];
const VALUES = [null, true, false, 0, -1, 1.5, 1e308, Number.NaN, 2 ** 53, '', 'x', '10m', '-5s', '1gb', [], {}, [[]]];

/** Returns a text with up to four changes: a removed, repeated, replaced or inserted part. */
export function mutateText(random: SeededRandom, text: string): string {
  let changed = text;
  for (let left = random.between(0, 3); left >= 0; left -= 1) {
    const [from, to] = [random.between(0, changed.length), random.between(0, changed.length)];
    const part = changed.slice(Math.min(from, to), Math.max(from, to)).slice(0, 200);
    const put = random.pick([random.pick(EDGES), part, '', String.fromCharCode(random.between(0, 255))]);
    changed = changed.slice(0, from) + put + changed.slice(from + random.pick([0, 0, 1, part.length]));
  }
  return changed;
}

/** Returns a mutated text as bytes; one in ten is random bytes, one in ten has flipped bytes. */
export function mutateBytes(random: SeededRandom, text: string): Buffer {
  const kind = random.between(0, 9);
  if (kind === 0) return randomBytes(random, random.between(0, 300));
  const bytes = Buffer.from(mutateText(random, text));
  if (kind === 1 && bytes.length > 0)
    for (let left = random.between(1, 4); left > 0; left -= 1)
      bytes[random.between(0, bytes.length - 1)] = random.between(0, 255);
  return bytes;
}

/** Returns a JSON-like value with some members replaced, removed, renamed or added. */
export function mutateValue(random: SeededRandom, value: unknown, depth = 0): unknown {
  if (random.between(0, 6) === 0) return random.pick([...VALUES, random.pick(EDGES)]);
  if (typeof value === 'string') return random.between(0, 2) === 0 ? mutateText(random, value) : value;
  if (Array.isArray(value) && depth < 8) return value.map((each) => mutateValue(random, each, depth + 1));
  if (typeof value !== 'object' || value === null || depth >= 8) return value;
  const entries = Object.entries(value).flatMap(([key, each]) => {
    const kind = random.between(0, 19);
    if (kind === 0) return [];
    return [
      [kind === 1 ? mutateText(random, key) : key, kind < 8 ? mutateValue(random, each, depth + 1) : each] as const,
    ];
  });
  return Object.fromEntries(random.between(0, 9) === 0 ? [...entries, [random.pick(EDGES), 1]] : entries);
}

export function randomBytes(random: SeededRandom, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.between(0, 255)));
}

/** Splits bytes at random places, as a stream delivers them. */
export function inPieces(random: SeededRandom, bytes: Buffer): readonly Buffer[] {
  const cuts = Array.from({ length: random.between(0, 3) }, () => random.between(0, bytes.length)).sort(
    (a, b) => a - b,
  );
  return [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length));
}

/** The longest that one input of a parser may take. Collections of garbage and busy machines take a part of it. */
const MAX_INPUT_MS = 2_000;

/** Runs `one` for each input of a seed, and prints count and rate. A failure names the seed and the number of the input. */
export async function fuzz(
  what: string,
  count: number,
  one: (random: SeededRandom) => void | Promise<void>,
): Promise<void> {
  const { seed } = openRandom();
  const startedAt = performance.now();
  for (let number = 0; number < count; number += 1) {
    const inputAt = performance.now();
    try {
      await one(openRandom((seed + number) >>> 0));
    } catch (error) {
      throw new Error(`${what}: input ${number} failed; repeat with LONGHAUL_SEED=${seed + number}`, { cause: error });
    }
    const tookMs = performance.now() - inputAt;
    if (tookMs > MAX_INPUT_MS)
      throw new Error(
        `${what}: input ${number} took ${Math.round(tookMs)} ms; repeat with LONGHAUL_SEED=${seed + number}`,
      );
  }
  printRate(what, count, performance.now() - startedAt);
}

/** Prints a line of figures for the test report. */
function printRate(what: string, count: number, tookMs: number): void {
  const rate = Math.round((count / Math.max(1, tookMs)) * 1_000);
  process.stdout.write(
    `\nfigures: fuzzing of ${what}: ${count} inputs in ${(tookMs / 1_000).toFixed(1)} s, ${rate} a second\n`,
  );
}
