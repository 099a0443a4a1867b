/** What is looked for in a log, and what is found: the words that both ways of searching share. */

export interface LogQuery {
  /** A fixed text within one line. */
  readonly text?: string;
  /** An extended regular expression, as grep has them. Either this or `text`. */
  readonly expression?: string;
  readonly ignoreCase?: boolean;
  readonly secrets?: readonly string[];
  readonly limit?: number;
  /** The beginning of the line to begin with. Default: the beginning of the log. */
  readonly from?: Place;
  readonly timeoutMs?: number;
}

/** One line that matches. */
export interface LogMatch {
  readonly line: number;
  /** Where the match begins. */
  readonly offset: number;
  /** The line, or the part of it around the match. */
  readonly text: string;
}

/** Why there may be more: enough were found, it took too long, or the expression was refused. */
export type SearchStop = 'limit' | 'time' | 'expression';

export interface LogMatches {
  readonly matches: readonly LogMatch[];
  readonly stopped: SearchStop | null;
  /** What grep has against the expression. */
  readonly message: string | null;
}

export interface Place {
  readonly line: number;
  readonly offset: number;
}

export interface FoundPlaces {
  readonly places: readonly Place[];
  readonly stopped: SearchStop | null;
  readonly message?: string;
}

export interface Bounds {
  readonly limit: number;
  /** By performance.now(). */
  readonly until: number;
}
