/**
 * The rules for names of attachments. A name becomes a file name in a workdir, an HTTP header and a line on a screen,
 * so it must be harmless in all of them. Pure: it does not check whether a file exists.
 */
import { type Check, checked, type Report, show } from '../../core/input/check.ts';
import type { Problem } from '../../core/ports/errors.ts';
import { badInput } from '../../core/ports/errors.ts';

const MAX_BYTES = 255;
// Line and paragraph separators break lines as well, and direction marks make a name look like another.
const CONTROL = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
/** Names of devices on Windows, where attachments may be downloaded to; with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?$/i;

const rules: readonly (readonly [must: string, isBroken: (name: string) => boolean])[] = [
  ['must not be empty', (name) => name === ''],
  ["must not be '.' or begin with '..'", (name) => name === '.' || name.startsWith('..')],
  ['must have no / or \\, nor the escapes %2f and %5c', (name) => /[/\\]|%2f|%5c/i.test(name)],
  ['must have no control characters, line breaks or direction marks', (name) => CONTROL.test(name) || /%00/.test(name)],
  ["must not begin with '.tmp'", (name) => /^\.tmp/i.test(name)],
  ['must not end in a dot or a space', (name) => /[. ]$/.test(name)],
  ['must not be a device name', (name) => DEVICE.test(name)],
  [
    'must be well-formed Unicode',
    (name) => Buffer.from(name, 'utf8').toString('utf8') !== name || name.includes('\ufffd'),
  ],
  [`must have at most ${MAX_BYTES} bytes`, (name) => Buffer.byteLength(name, 'utf8') > MAX_BYTES],
];

export const attachmentName: Check<string> = (value, report, path) => {
  if (typeof value !== 'string') return reject(report, path, `must be a text, not ${show(value)}`);
  const problem = nameProblem(value);
  return problem === null ? value : reject(report, path, `${problem}, not ${show(value)}`);
};

/** Returns what is wrong with the name, or null. */
export function nameProblem(name: string): string | null {
  return rules.find(([, isBroken]) => isBroken(name))?.[0] ?? null;
}

/** Throws `bad-input` for a bad name. */
export function checkAttachmentName(name: unknown): string {
  return checked('attachment', name, (value, report) => attachmentName(value, report, 'name'));
}

/**
 * Checks the names of one job together. Two names that differ only in Unicode composition look the same to people and
 * are the same file on some disks, so both are refused.
 */
export function checkAttachmentNames(names: readonly unknown[]): readonly string[] {
  const problems: Problem[] = [];
  const report: Report = (path, message) => void problems.push({ path, message });
  const good = names.map((name, index) => attachmentName(name, report, `[${index}]`));
  for (const index of findLookalikes(good))
    report(`[${index}]`, `must not look like another name, not ${show(good[index])}`);
  if (problems.length > 0) throw badInput('attachments', problems);
  return good;
}

/** Returns the indexes of all names that look like another one. */
export function findLookalikes(names: readonly string[]): readonly number[] {
  const counts = new Map<string, number>();
  const normalized = names.map((name) => name.normalize());
  for (const each of normalized) counts.set(each, (counts.get(each) ?? 0) + 1);
  return [...normalized.keys()].filter(
    (index) => normalized[index] !== '' && (counts.get(normalized[index] ?? '') ?? 0) > 1,
  );
}

function reject(report: Report, path: string, message: string): string {
  report(path, message);
  return '';
}
