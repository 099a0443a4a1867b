/**
 * Answers and events of the original Lua, replayed call by call over every store. Recorded from qless-core b3f41c8 and
 * reqless-core 3a9b045 on Redis 7.0.15 by `node test/compat/recorded/record-qless.mjs`; the first line of each file has it in
 * full.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openQless, type Qless } from '../../src/compat/qless/index.ts';
import { LonghaulError } from '../../src/core/ports/errors.ts';
import type { Longhaul } from '../../src/library/index.ts';
import { overStores } from './over-stores.ts';
import { DIFFERENCES } from './recorded/qless-differences.ts';

interface Step {
  readonly call: readonly [command: string, now: string | number, ...args: unknown[]];
  readonly answer?: unknown;
  readonly error?: string;
  readonly heard?: readonly string[];
}

interface Scenario {
  readonly title: string;
  readonly steps: Step[];
}

function scenariosOf(file: string): readonly Scenario[] {
  const scenarios: Scenario[] = [];
  const lines = readFileSync(join(import.meta.dirname, 'recorded', file), 'utf8')
    .trim()
    .split('\n');
  for (const line of lines.slice(1)) {
    const read = JSON.parse(line) as Step & { readonly scenario?: string };
    if (read.scenario !== undefined) scenarios.push({ title: read.scenario, steps: [] });
    else scenarios.at(-1)?.steps.push(read);
  }
  return scenarios;
}

const byJson = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/** Lua knows one kind of empty table and no `false`; sets of Redis have no order; a number returned alone is whole. */
function comparable(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const list = value.map((each) => comparable(each));
    return key === 'dependents' || key === 'dependencies' ? list.toSorted(byJson) : list;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return entries.length === 0 ? [] : Object.fromEntries(entries.map(([name, each]) => [name, comparable(each, name)]));
}

function reply(value: unknown): unknown {
  if (value === undefined || value === false) return null;
  if (value === true) return 1;
  if (typeof value === 'number') return Math.trunc(value);
  return comparable(value);
}

async function answerOf(qless: Qless, [command, now, ...args]: Step['call']): Promise<Pick<Step, 'answer' | 'error'>> {
  try {
    const sent = args.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
    return { answer: reply(await qless.call(command, String(now), ...sent)) };
  } catch (error) {
    if (error instanceof LonghaulError) return { error: error.message };
    throw error;
  }
}

/** What a subscriber has heard. An event that comes too late, or that is one too many, is part of a later answer. */
class Heard {
  readonly #messages: string[] = [];
  #wake = (): void => undefined;

  add(message: string): void {
    this.#messages.push(message);
    this.#wake();
  }

  /** Returns everything heard since the last call, as soon as there are this many messages. */
  async take(count: number): Promise<readonly string[]> {
    const isLate = AbortSignal.timeout(EVENTS_MS);
    isLate.addEventListener('abort', () => this.#wake());
    while (this.#messages.length < count && !isLate.aborted)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#messages.splice(0);
  }
}

const EVENTS_MS = 10_000;

/** Events come in order: when that of the mark is here, all before it are. */
async function restUntilMark({ store }: Longhaul, now: number, heard: Heard): Promise<readonly string[]> {
  await store.jobs.add([{ id: 'mark', queue: 'mark', data: '{}' }], { now });
  const rest: string[] = [];
  while (!rest.some((each) => each.includes('"mark"'))) {
    const more = await heard.take(1);
    if (more.length === 0) throw new Error('the event of the mark did not come');
    rest.push(...more);
  }
  return rest.filter((each) => !each.includes('"mark"'));
}

async function replay(longhaul: Longhaul, { title, steps }: Scenario): Promise<void> {
  const qless = openQless(longhaul.store);
  const heard = new Heard();
  qless.subscribe('*', (message, channel) => heard.add(`ql:${channel} ${message}`));
  let now = 0;
  for (const [place, step] of steps.entries()) {
    now = Math.max(now, Number(step.call[1]) * 1_000 || 0);
    const events = step.heard ?? [];
    const expected = step.error === undefined ? { answer: reply(step.answer ?? null) } : { error: step.error };
    const seen = { ...(await answerOf(qless, step.call)), heard: await heard.take(events.length) };
    const call = `${place}: ${JSON.stringify(step.call)}`;
    const difference = DIFFERENCES[title]?.[place];
    if (difference === undefined) expect({ call, ...seen }).toEqual({ call, ...expected, heard: events });
    else expect({ call, ...seen }).toMatchObject({ call, ...difference.here, heard: events });
  }
  expect(await restUntilMark(longhaul, now, heard)).toEqual([]);
  qless.close();
}

overStores(
  'qless recorded',
  (open) => {
    test.each(scenariosOf('qless-core.jsonl'))('qless-core: $title', async (scenario) =>
      replay(await open(), scenario),
    );
    test.each(scenariosOf('reqless-core.jsonl'))('reqless-core: $title', async (scenario) =>
      replay(await open(), scenario),
    );
  },
  { clock: 'caller' },
);
