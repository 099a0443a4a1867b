/**
 * All that an attempt has said so far, as far as it matters at its end: a fold over its verbs.
 *
 * RQ's rules: every line sets the status text, the first completion is the one that counts. Pure: the same lines give
 * the same answer in every reading, so that a node that comes back may read the file from its beginning.
 */
import type { Verb } from './parse-verb.ts';

export type Completion =
  | { readonly kind: 'done' | 'relayed' | 'err'; readonly text: string }
  | { readonly kind: 'resend'; readonly text: string; readonly delayMs: number; readonly reason: string };

export interface Said {
  /** The text of the last line; null when nothing was said. */
  readonly status: string | null;
  readonly completion: Completion | null;
  /** How often a resend was asked for: RQ counts each of them. */
  readonly resends: number;
  readonly progress: { readonly percent: number | null; readonly text: string } | null;
  readonly checkpoint: string | null;
  readonly result: string | null;
  readonly group: string | null;
  readonly tags: readonly string[];
  /** Paths as they were said. */
  readonly attachments: readonly string[];
}

export const NOTHING_SAID: Said = {
  status: null,
  completion: null,
  resends: 0,
  progress: null,
  checkpoint: null,
  result: null,
  group: null,
  tags: [],
  attachments: [],
};

const MAX_TAGS = 100;
const MAX_ATTACHMENTS = 10_000;

export function hear(said: Said, verb: Verb): Said {
  switch (verb.kind) {
    case 'run':
    case 'dup':
      return { ...said, status: verb.text };
    case 'done':
    case 'relayed':
    case 'err':
      return { ...said, status: verb.text, completion: said.completion ?? verb };
    case 'resend':
      return { ...said, status: verb.text, completion: said.completion ?? verb, resends: said.resends + 1 };
    case 'progress':
      return { ...said, progress: verb, status: verb.text === '' ? said.status : verb.text };
    case 'checkpoint':
    case 'result':
      return { ...said, [verb.kind]: verb.json };
    case 'group':
      return { ...said, group: verb.text };
    case 'tag':
      return { ...said, tags: withOne(said.tags, verb.text, MAX_TAGS) };
    case 'attach':
      return { ...said, attachments: withOne(said.attachments, verb.text, MAX_ATTACHMENTS) };
    case 'bad':
      return said;
  }
}

function withOne(list: readonly string[], one: string, limit: number): readonly string[] {
  return list.length >= limit || list.includes(one) ? list : [...list, one];
}
