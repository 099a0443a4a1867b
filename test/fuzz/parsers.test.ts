/**
 * Fuzzing of the parsers: fd 3 lines, settings, cron rules, RQ forms, stored Lua records. No input crashes or hangs them;
 * each is accepted or refused with a named error, and what is accepted survives a round trip.
 */
import { expect, test } from 'vitest';
import type { RqBody } from '../../src/compat/rq/rq-body.ts';
import { readRqBody } from '../../src/compat/rq/rq-body.ts';
import { LonghaulError } from '../../src/core/ports/errors.ts';
import { readCron } from '../../src/core/schedules/cron.ts';
import { nextCivil } from '../../src/core/schedules/cron-search.ts';
import { runTimeAfter } from '../../src/core/schedules/schedule-rule.ts';
import { readRule } from '../../src/core/schedules/schedule-rule-input.ts';
import { settingsIn } from '../../src/core/settings/settings.ts';
import { mergeSettings } from '../../src/core/settings/settings-input.ts';
import { parseVerb } from '../../src/runner/protocol/parse-verb.ts';
import { JSON_LINE_LIMIT, ReportLines } from '../../src/runner/protocol/report-lines.ts';
import type { Call } from '../../src/server/http/route.ts';
import { readHistory } from '../../src/stores/redis/encoding/job-history.ts';
import { checksum, readAnyJobs } from '../../src/stores/redis/encoding/job-record.ts';
import { escapeText, unescapeText } from '../../src/stores/redis/encoding/layout.ts';
import { readStep } from '../../src/stores/redis/encoding/step-record.ts';
import type { SeededRandom } from '../faults/seeded-random.ts';
import { testSize } from '../support/test-size.ts';
import { fuzz, inPieces, mutateBytes, mutateText, mutateValue } from './mutate.ts';

const DEADLINE_MS = 600_000;

/** Returns what a parser made of an input, or null if it refused it with a named error. Any other error is a bug. */
async function accepted<T>(parse: () => T | Promise<T>): Promise<T | null> {
  try {
    return await parse();
  } catch (error) {
    if (error instanceof LonghaulError && (error.code === 'bad-input' || error.code === 'data-corrupt')) {
      if (error.message.length < 3) throw new Error('the error does not say what is wrong', { cause: error });
      return null;
    }
    throw error;
  }
}

const VERBS = [
  'run encodes frame 7',
  'done all 48 frames',
  'err no space left',
  'resend 60-the host is down',
  'dup 10-X-http://127.0.0.1:3333/q/mail',
  'progress 40.5% pass 1',
  'checkpoint {"frame":7,"parts":[1,2,{"a":"é"}]}',
  'result [1,2,3]',
  'attach film.mp4',
  'tag urgent',
  'sleep 3600.5',
  'wait approval 86400',
  'wait approval forever',
  'step 0123456789abcdef0123456789abcdef-1',
];

test(
  'Every line on fd 3 is one verb, whatever its bytes and its pieces are.',
  async () => {
    await fuzz('fd 3 lines', testSize({ small: 2_000, full: 400_000 }), (random) => {
      const lines = Array.from({ length: random.between(1, 3) }, () => random.pick(VERBS));
      const bytes = mutateBytes(random, `${lines.join('\n')}\n`);
      const read = (pieces: readonly Buffer[]) => {
        const reader = new ReportLines(0);
        return [...pieces.flatMap((piece) => reader.take(piece)), ...reader.finish()];
      };
      const found = read(inPieces(random, bytes));
      expect(found).toEqual(read([bytes]));
      for (const { text } of found) {
        if (text.length > JSON_LINE_LIMIT) throw new Error('a line is longer than its limit');
        const verb = parseVerb(text);
        if ('json' in verb) JSON.parse(verb.json);
        if ('delayMs' in verb && !(Number.isSafeInteger(verb.delayMs) && verb.delayMs >= 0))
          throw new Error(`a delay of ${verb.delayMs} ms`);
        if (verb.kind === 'progress' && !(verb.percent === null || (verb.percent >= 0 && verb.percent <= 100)))
          throw new Error(`a progress of ${verb.percent}`);
      }
    });
  },
  DEADLINE_MS,
);

const SETTINGS = {
  state: 'paused',
  note: 'disk change',
  priority: 5,
  retries: 3,
  backoff: { kind: 'exponential', delay: '1s', max: '10m', jitter: 0.5 },
  lease: '30s',
  heartbeat: '5s',
  grace: '10s',
  maxRuntime: '2h',
  rate: { limit: 10, per: '1m' },
  concurrency: 4,
  retention: { done: { for: '7d', count: 1_000, bytes: '1gb' } },
  throttles: ['openai'],
  coalesce: ['site', 'page.id'],
};

test(
  'Settings are refused with their problems, or survive storage.',
  async () => {
    await fuzz('settings', testSize({ small: 400, full: 100_000 }), async (random) => {
      const input = mutateValue(random, SETTINGS);
      const set = await accepted(() => mergeSettings({}, input as typeof SETTINGS & { state: 'paused' } as never));
      if (set === null) return;
      const value = JSON.stringify(set);
      const stored = settingsIn({ kind: 'queue', key: 'q', version: 1, value, expiresAt: null, updatedAt: 0 } as never);
      expect(JSON.stringify(stored)).toBe(value);
    });
  },
  DEADLINE_MS,
);

const CRONS = [
  '30 2 * * *',
  '*/15 0-8,18-23 1,15 jan-jun mon-fri',
  '0 0 12 L * ?',
  '0 9 * * 5#2',
  '0 0 * * 5L',
  '@daily',
];
const ZONES = ['Europe/Berlin', 'UTC', 'America/St_Johns', 'Pacific/Apia'];
const NOW = Date.UTC(2030, 2, 30);

test(
  'A cron rule is refused with its problems, or its next run time is later and fits the rule.',
  async () => {
    await fuzz('cron rules', testSize({ small: 400, full: 150_000 }), async (random) => {
      const cron = mutateText(random, random.pick(CRONS));
      const read = readCron(cron);
      if (!read.ok) {
        expect(read.problems.length).toBeGreaterThan(0);
        expect(await accepted(() => readRule({ cron }))).toBeNull();
        return;
      }
      const civil = nextCivil(read.rule, NOW);
      if (civil !== null && !(Number.isSafeInteger(civil) && civil >= NOW)) throw new Error(`civil time ${civil}`);
      const rule = await accepted(() => readRule({ cron, zone: random.pick(ZONES) }));
      const next = rule === null ? null : runTimeAfter(rule.rule, NOW);
      if (next !== null && !(Number.isSafeInteger(next) && next > NOW)) throw new Error(`run time ${next}`);
      // The rule as it is stored means the same.
      if (rule !== null)
        expect(runTimeAfter(JSON.parse(JSON.stringify(rule.rule)) as typeof rule.rule, NOW)).toBe(next);
    });
  },
  DEADLINE_MS,
);

const FORM = 'mesg%5Bdest%5D=http%3A%2F%2Flocalhost%2Fq%2Fmail&mesg%5Bparam1%5D=a+b&queue%5Bcoalesce_params%5D%5B%5D=1';
const MULTIPART =
  '--cut\r\nContent-Disposition: form-data; name="mesg[dest]"\r\n\r\nqueue one\r\n' +
  '--cut\r\nContent-Disposition: form-data; name="filedata"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nbytes\r\n--cut--\r\n';
const BODIES = [
  ['application/json', '{"_method":"prep","dest":"http://localhost/q/mail","params":["a",2,null]}'],
  ['application/x-www-form-urlencoded', FORM],
  ['multipart/form-data; boundary=cut', MULTIPART],
  ['multipart/form-data; boundary="cut"', MULTIPART.replace('filename="a.txt"', 'x="y"').replace('filedata', 'param1')],
] as const;

/** A call with a body, as far as the reader of bodies uses it. */
function callWith(type: string, pieces: readonly Buffer[]): Call {
  async function* bytes(): AsyncGenerator<Buffer> {
    yield* pieces;
  }
  const headers = { 'content-type': type, 'content-length': '1' };
  return { request: { headers }, bytes } as unknown as Call;
}

function checkTexts({ fields, lists }: RqBody): void {
  const values = [...Object.values(fields), ...Object.values(lists).flat()];
  if (!values.every((value) => typeof value === 'string')) throw new Error('a field is no text');
}

test(
  'A form of RQ is refused with its problem, or means the same whatever its pieces are.',
  async () => {
    await fuzz('RQ forms', testSize({ small: 400, full: 150_000 }), async (random) => {
      const [usual, text] = random.pick(BODIES);
      const type = random.between(0, 7) === 0 ? mutateText(random, usual) : usual;
      const body = mutateBytes(random, text);
      const read = await accepted(() => readRqBody(callWith(type, inPieces(random, body))));
      const whole = await accepted(() => readRqBody(callWith(type, [body])));
      expect(read).toEqual(whole);
      if (read !== null) checkTexts(read);
    });
  },
  DEADLINE_MS,
);

const F = '\u001f';
const P = '\u001e';
const data = '{"to":"ada","n":[1,2]}';
const RECORDS = [
  `w12 1900000000000 mail${F}priority=3${F}tags=a${P}b${F}policy={"retries":3}${F}attempt=1${F}:${checksum(data)}${data}`,
  `r7 1900000000000 mail${F}lease=5 30000 1900000030000 1900000000000 w1${F}attempt=2${F}progress=40 1900000000001${P}pass${F}+cr10 1 5${P}bw1${F}:${checksum(data)}${data}`,
  `w1 1900000000000 films${F}name=cut${F}unique=queue end 0 key${F}parents=3 2 0${F}steps=2 100${F}suspended=5 - approval${F}:${checksum(data)}${data}`,
];

const STEP = `1 done 2 1900000000000 1900000000001 - 40${P}${P}+{"parts":[1,2]}`;

function checkNumbers(record: object | null): void {
  for (const [name, value] of Object.entries(record ?? {}))
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${name} is ${value}`);
}

const damage = (random: SeededRandom, record: string): string =>
  random.between(0, 3) === 0 ? mutateBytes(random, record).toString('latin1') : mutateText(random, record);

test(
  'A damaged record of Redis is refused as data-corrupt, or read as a job whose numbers are numbers.',
  async () => {
    await fuzz('stored Lua records', testSize({ small: 1_000, full: 150_000 }), async (random) => {
      const record = damage(random, random.pick(RECORDS));
      const read = await accepted(() => readAnyJobs(['job-1', record], 0));
      for (const job of read?.jobs ?? [])
        for (const part of [job, job.lease, job.parents, job.steps, job.suspension, job.progress]) checkNumbers(part);
      await accepted(() => readHistory(record));
      const step = await accepted(() => readStep('run:cut', damage(random, STEP)));
      if (step !== null) checkNumbers(step);
      expect(unescapeText(escapeText(record))).toBe(record);
    });
  },
  DEADLINE_MS,
);

test.each([
  ['a number', `w1x 1900000000000 mail${F}:${checksum(data)}${data}`, '"1x" is no number'],
  ['a lease', `r1 1900000000000 mail${F}lease=five 1 2 3 w${F}:${checksum(data)}${data}`, '"five" is no number'],
  ['a policy', `w1 1900000000000 mail${F}policy={"retr${F}:${checksum(data)}${data}`, 'JSON'],
])('A record of Redis with %s that is damaged is data-corrupt, and the error names the job.', (_, record, problem) => {
  const read = () => readAnyJobs(['job-1', record], 0);
  expect(read).toThrow(expect.objectContaining({ code: 'data-corrupt' }));
  expect(read).toThrow(/^the record of job job-1 is damaged: /);
  expect(read).toThrow(problem);
});
