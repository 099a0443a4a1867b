/**
 * Reads the reports of a script in slices, from the last offset, and groups them into batches.
 *
 * A script may write a million lines a second. Of lines that only set a text, a batch keeps the last of each kind, so
 * batches stay small. The accumulated reports (reports.ts) include every line. Only when the unread part endangers the
 * disk is it cut down to the lines that matter (drop-backlog.ts).
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { BACKLOG_LIMIT, dropBacklog } from './drop-backlog.ts';
import { parseVerb, type Verb } from './parse-verb.ts';
import { type ReportLine, ReportLines } from './report-lines.ts';
import { addReport, NO_REPORTS, type Reports } from './reports.ts';

export interface ReportedVerb {
  readonly verb: Verb;
  /** Offset of the line in the report file. Together with the attempt it identifies the request, on every read. */
  readonly at: number;
  readonly isCut: boolean;
}

export interface ReportBatch {
  readonly heard: readonly ReportedVerb[];
  /** All reports up to and including this batch. */
  readonly said: Reports;
  /** Offset of the next line. */
  readonly to: number;
  /** Lines of this batch that were superseded by later lines of their kind. */
  readonly superseded: number;
  /** Bytes that were dropped unread because the backlog was too long. */
  readonly dropped: number;
}

/** Runs a function while the writer of the file is paused. */
export type WithWriterPaused = (act: () => number) => number;

const SLICE_BYTES = 64 * 1024;
/** Shared by all readers: a slice is split into lines before another reader can run. */
const buffer = Buffer.allocUnsafe(SLICE_BYTES);

export class ReportReader {
  readonly #path: string;
  readonly #lines = new ReportLines(0);
  readonly #deliverFrom: number;
  /** The size when the reader was opened. That part is read completely, however long it is. */
  readonly #initialSize: number;
  #said = NO_REPORTS;
  readonly #withWriterPaused: WithWriterPaused;
  #dropped = 0;

  /** Reads from the beginning. Lines before `deliverFrom` are accumulated but not delivered again. */
  constructor(path: string, deliverFrom = 0, withWriterPaused: WithWriterPaused = (act) => act()) {
    this.#withWriterPaused = withWriterPaused;
    this.#path = path;
    this.#deliverFrom = deliverFrom;
    this.#initialSize = sizeOf(path);
  }

  get said(): Reports {
    return this.#said;
  }

  get offset(): number {
    return this.#lines.offset;
  }

  /** Returns at most one batch; null when there is nothing new. */
  read(): ReportBatch | null {
    const size = sizeOf(this.#path);
    if (size <= this.#lines.offset) return null;
    const keptTo = Math.max(this.#lines.offset, this.#initialSize);
    this.#dropped = size - keptTo > BACKLOG_LIMIT ? this.#withWriterPaused(() => dropBacklog(this.#path, keptTo)) : 0;
    const length = this.#fill();
    return length === 0 ? null : this.#toBatch(this.#lines.take(buffer.subarray(0, length)));
  }

  /** Returns the last line if it has no newline. Called after the end. */
  finish(): ReportBatch | null {
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

  #toBatch(lines: readonly ReportLine[]): ReportBatch {
    const all: ReportedVerb[] = [];
    for (const { text, at, isCut } of lines) {
      const verb = parseVerb(text);
      this.#said = addReport(this.#said, verb);
      if (at >= this.#deliverFrom) all.push({ verb, at, isCut });
    }
    const heard = withoutSuperseded(all);
    return {
      heard,
      said: this.#said,
      to: this.#lines.restAt,
      superseded: all.length - heard.length,
      dropped: this.#dropped,
    };
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Keeps the order, but of lines that supersede one another only the last. */
function withoutSuperseded(all: readonly ReportedVerb[]): ReportedVerb[] {
  const kept: ReportedVerb[] = [];
  const seen = new Set<string>();
  for (const each of all.toReversed()) {
    const key = keyOf(each.verb);
    if (key !== null && seen.has(key)) continue;
    if (key !== null) seen.add(key);
    kept.push(each);
  }
  return kept.toReversed();
}

/** Verbs with equal keys supersede one another. A dup or a step never does, because each needs its answer. */
function keyOf(verb: Verb): string | null {
  if (verb.kind === 'dup' || verb.kind === 'step') return null;
  return verb.kind === 'tag' || verb.kind === 'attach' ? `${verb.kind} ${verb.text}` : verb.kind;
}
