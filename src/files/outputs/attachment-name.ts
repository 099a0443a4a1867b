/**
 * What an attachment may be called. The name becomes a file name in a script's folder, a header and a line on a
 * screen, so it must be the same harmless thing in all of them. Pure: whether a file exists is no concern here.
 */
import { type Check, checked, type Report, show } from '../../core/input/check.ts';
import type { Problem } from '../../core/ports/errors.ts';
import { badInput } from '../../core/ports/errors.ts';

const MAX_BYTES = 255;
// Line and paragraph separators break lines as well, and the marks of writing direction make a name look like another.
const CONTROL = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
/** Names that mean a device on Windows, where attachments may be downloaded to; with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?$/i;

const rules: readonly (readonly [must: string, isBroken: (name: string) => boolean])[] = [
  ['must not be empty', (name) => name === ''],
  ["must not be '.' or begin with '..'", (name) => name === '.' || name.startsWith('..')],
  ['must have no / or \\, also not written as %2f or %5c', (name) => /[/\\]|%2f|%5c/i.test(name)],
  [
    'must have no control characters, line breaks or marks of direction',
    (name) => CONTROL.test(name) || /%00/.test(name),
  ],
  ["must not begin with '.tmp'", (name) => /^\.tmp/i.test(name)],
  ['must not end in a dot or a space', (name) => /[. ]$/.test(name)],
  ['must not be the name of a device', (name) => DEVICE.test(name)],
  [
    'must be well-formed Unicode',
    (name) => Buffer.from(name, 'utf8').toString('utf8') !== name || name.includes('\ufffd'),
  ],
  [`must have at most ${MAX_BYTES} bytes`, (name) => Buffer.byteLength(name, 'utf8') > MAX_BYTES],
];

export const attachmentName: Check<string> = (value, report, path) => {
  if (typeof value !== 'string') return wrong(report, path, `must be a text, not ${show(value)}`);
  const problem = nameProblem(value);
  return problem === null ? value : wrong(report, path, `${problem}, not ${show(value)}`);
};

/** In words what is wrong with the name, or null. */
export function nameProblem(name: string): string | null {
  return rules.find(([, isBroken]) => isBroken(name))?.[0] ?? null;
}

/** Throws `bad-input` unless it is a good name. */
export function checkAttachmentName(name: unknown): string {
  return checked('attachment', name, (value, report) => attachmentName(value, report, 'name'));
}

/**
 * The names of one job together. Two that differ only in how their letters are composed look the same to people
 * and are the same file on some disks, so both are refused.
 */
export function checkAttachmentNames(names: readonly unknown[]): readonly string[] {
  const problems: Problem[] = [];
  const report: Report = (path, message) => void problems.push({ path, message });
  const good = names.map((name, place) => attachmentName(name, report, `[${place}]`));
  for (const place of findTwins(good))
    report(`[${place}]`, `must not look like another name, not ${show(good[place])}`);
  if (problems.length > 0) throw badInput('attachments', problems);
  return good;
}

/** The places of all names that look like another one. */
export function findTwins(names: readonly string[]): readonly number[] {
  const counts = new Map<string, number>();
  const looks = names.map((name) => name.normalize());
  for (const look of looks) counts.set(look, (counts.get(look) ?? 0) + 1);
  return [...looks.keys()].filter((place) => looks[place] !== '' && (counts.get(looks[place] ?? '') ?? 0) > 1);
}

function wrong(report: Report, path: string, message: string): string {
  report(path, message);
  return '';
}
