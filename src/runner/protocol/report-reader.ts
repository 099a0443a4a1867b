/**
 * Reads what a script says from where it stopped reading, in pieces, and makes batches of it.
 *
 * A script may say a million lines a second: lines that only set a text are kept as the last of their kind within a
 * batch, so that what is passed on stays small. Everything counts in the fold (said.ts), whatever was left out. Only
 * when the unread part gets so long that the disk is in danger is it cut down to what counts (drop-backlog.ts).
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { BACKLOG_LIMIT, dropBacklog } from './drop-backlog.ts';
import { parseVerb, type Verb } from './parse-verb.ts';
import { type SaidLine, SaidLines } from './report-lines.ts';
import { hear, NOTHING_SAID, type Said } from './reports.ts';

export interface Heard {
  readonly verb: Verb;
  /** Where its line begins in `said`; with the attempt it names what the line asked for, in every reading. */
  readonly at: number;
  readonly isCut: boolean;
}

export interface SaidBatch {
  readonly heard: readonly Heard[];
  /** After this batch. */
  readonly said: Said;
  /** Where the next line begins. */
  readonly to: number;
  /** Lines of this batch that later ones of their kind made needless. */
  readonly leftOut: number;
  /** Bytes that were never read, because far too much was said that does not count. */
  readonly dropped: number;
}

/** Does something to the file while nobody writes it. */
export type Hold = (act: () => number) => number;

const SLICE_BYTES = 64 * 1024;
/** One for all readers: a slice is made into lines before anybody else can read. */
const buffer = Buffer.allocUnsafe(SLICE_BYTES);

export class SaidReader {
  readonly #path: string;
  readonly #lines = new SaidLines(0);
  readonly #actFrom: number;
  /** What was said before anybody listened is read in full, however much it is. */
  readonly #foundSize: number;
  #said = NOTHING_SAID;
  readonly #hold: Hold;
  #dropped = 0;

  /** Reads from the beginning; lines before `actFrom` count for the fold but are not passed on again. */
  constructor(path: string, actFrom = 0, hold: Hold = (act) => act()) {
    this.#hold = hold;
    this.#path = path;
    this.#actFrom = actFrom;
    this.#foundSize = sizeOf(path);
  }

  get said(): Said {
    return this.#said;
  }

  get offset(): number {
    return this.#lines.offset;
  }

  /** One batch at most; null when there is nothing new. */
  read(): SaidBatch | null {
    const size = sizeOf(this.#path);
    if (size <= this.#lines.offset) return null;
    const keptTo = Math.max(this.#lines.offset, this.#foundSize);
    this.#dropped = size - keptTo > BACKLOG_LIMIT ? this.#hold(() => dropBacklog(this.#path, keptTo)) : 0;
    const length = this.#fill();
    return length === 0 ? null : this.#toBatch(this.#lines.take(buffer.subarray(0, length)));
  }

  /** After the end: what was said without a newline. */
  finish(): SaidBatch | null {
    const lines = this.#lines.finish();
    return lines.length === 0 ? null : this.#toBatch(lines);
  }

  #fill(): number {
    const file = openSync(this.#path, 'r');
    try {
      return readSync(file, buffer, 0, SLICE_BYTES, this.#lines.offset);
    } finally {
      closeSync(file);
    }
  }

  #toBatch(lines: readonly SaidLine[]): SaidBatch {
    const all: Heard[] = [];
    for (const { text, at, isCut } of lines) {
      const verb = parseVerb(text);
      this.#said = hear(this.#said, verb);
      if (at >= this.#actFrom) all.push({ verb, at, isCut });
    }
    const heard = withoutNeedless(all);
    return {
      heard,
      said: this.#said,
      to: this.#lines.restAt,
      leftOut: all.length - heard.length,
      dropped: this.#dropped,
    };
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** In their order, but of those that replace one another only the last. */
function withoutNeedless(all: readonly Heard[]): Heard[] {
  const kept: Heard[] = [];
  const seen = new Set<string>();
  for (const each of all.toReversed()) {
    const key = keyOf(each.verb);
    if (key !== null && seen.has(key)) continue;
    if (key !== null) seen.add(key);
    kept.push(each);
  }
  return kept.toReversed();
}

/** Verbs with equal keys replace one another; a dup never does, since each of them wants its answer. */
function keyOf(verb: Verb): string | null {
  if (verb.kind === 'dup') return null;
  return verb.kind === 'tag' || verb.kind === 'attach' ? `${verb.kind} ${verb.text}` : verb.kind;
}
