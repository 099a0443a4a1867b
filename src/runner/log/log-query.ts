/** Queries of a log and their matches: the types that both kinds of search share. */

export interface LogQuery {
  /** A fixed text within one line. */
  readonly text?: string;
  /** An extended regular expression, in the syntax of grep. Either this or `text`. */
  readonly expression?: string;
  readonly ignoreCase?: boolean;
  readonly secrets?: readonly string[];
  readonly limit?: number;
  /** The start of the line to search from. Default: the beginning of the log. */
  readonly from?: LinePosition;
  readonly timeoutMs?: number;
}

/** A matching line. */
export interface LogMatch {
  readonly line: number;
  /** The offset of the match. */
  readonly offset: number;
  /** The line, or the part of it around the match. */
  readonly text: string;
}

/** Why the search stopped early: enough matches, a timeout, or an invalid expression. */
export type SearchStop = 'limit' | 'time' | 'expression';

export interface LogMatches {
  readonly matches: readonly LogMatch[];
  readonly stopped: SearchStop | null;
  /** The complaint of grep about the expression. */
  readonly message: string | null;
}

export interface LinePosition {
  readonly line: number;
  readonly offset: number;
}

export interface FoundPositions {
  readonly places: readonly LinePosition[];
  readonly stopped: SearchStop | null;
  readonly message?: string;
}

export interface Bounds {
  readonly limit: number;
  /** A time of performance.now(). */
  readonly until: number;
}
