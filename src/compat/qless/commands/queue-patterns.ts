/** reqless's named patterns of queues: stored for its workers and its web UI, without an effect on the store. */
import type { Call, Command } from '../arguments.ts';
import { asText, listArgument, pairs, raise, wrong } from '../arguments.ts';

const KIND = 'qless-patterns';
const DEFAULT = 'default';
const ANY_QUEUE = '["*"]';
const DEFAULT_PRIORITY = '{"fairly": false, "pattern": ["default"]}';

/** The texts that callers gave. */
interface Patterns {
  readonly identifiers?: Readonly<Record<string, string>>;
  readonly priorities?: readonly string[];
}

export const patternCommands: Readonly<Record<string, Command>> = {
  'queueIdentifierPatterns.getAll': async (call) => ({
    [DEFAULT]: ANY_QUEUE,
    ...(await read<Patterns['identifiers']>(call, 'identifiers')),
  }),
  'queueIdentifierPatterns.setAll': async (call, args) => {
    const names = args.filter((_, place) => place % 2 === 0).map(asText);
    const given = Object.entries(pairs(args, names, 'queueIdentifierPatterns.setAll'));
    const named = given.filter(([name, list]) => listArgument(list, 'queueIdentifierPatterns.setAll', name).length > 0);
    await write(call, 'identifiers', Object.fromEntries(named.map(([name, list]) => [name, asText(list)])));
    return null;
  },
  'queuePriorityPatterns.getAll': async (call) => {
    const kept = (await read<Patterns['priorities']>(call, 'priorities')) ?? [];
    return kept.length === 0 ? [DEFAULT_PRIORITY] : kept;
  },
  'queuePriorityPatterns.setAll': async (call, args) => {
    const given = args.map(asText);
    const hasDefault = given.some((text) => String(patternIn(text)) === DEFAULT);
    await write(call, 'priorities', given.length === 0 || hasDefault ? given : [...given, DEFAULT_PRIORITY]);
    return null;
  },
};

function patternIn(text: string): readonly unknown[] {
  try {
    const { pattern } = JSON.parse(text) as { readonly pattern?: unknown };
    if (Array.isArray(pattern)) return pattern;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return wrong(`queuePriorityPatterns.setAll(): not an object with a list "pattern": ${text}`);
}

async function read<Value>({ longhaul }: Call, key: string): Promise<Value | undefined> {
  const record = await longhaul.store.records.get(KIND, key);
  return record === null ? undefined : (JSON.parse(record.value) as Value);
}

async function write({ longhaul }: Call, key: string, value: unknown): Promise<void> {
  const answer = await longhaul.store.records.put({ kind: KIND, key, value: JSON.stringify(value) });
  if (!answer.ok) raise(answer.refusal.message);
}
