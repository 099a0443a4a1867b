/** `longhaul outbox`: relays the jobs of an outbox in another database, or shows and retries its failed rows. */
import { basename } from 'node:path';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { FailedRow, Longhaul, Outbox, OutboxEvent, OutboxStatus } from '../../../library/index.ts';
import { connect, pgOutbox, sqliteOutbox } from '../../../library/index.ts';
import { openUserDatabase } from '../../../stores/sqlite/open-user-database.ts';
import { plural, span } from '../../../wire/spans.ts';
import { cell, print, printJson, printNotice } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import type { Target } from '../../target/open-target.ts';
import { withTarget } from '../../target/open-target.ts';
import { listenForStop } from '../../target/stop-signal.ts';

/** The calls of an outbox that need no transaction. */
type Relayed = Pick<Outbox<never, void>, 'setup' | 'start' | 'close' | 'status' | 'failed' | 'retry'>;

const MAX_NAME = 128;

export async function outbox(args: Args): Promise<number> {
  if (args.positionals.length > 0) throw args.usageError('too many arguments');
  const from = args.text('from');
  if (from === undefined || from === '')
    throw args.usageError('--from is missing: postgres://host/database, or a SQLite file');
  if (args.flag('status') && args.flag('retry')) throw args.usageError('--status cannot be combined with --retry');
  if (args.flag('status')) return withRows(args, from, (opened) => showStatus(args, opened));
  if (args.flag('retry')) return withRows(args, from, (opened) => retryFailed(args, opened));
  return relay(args, from);
}

const isPostgres = (from: string): boolean => /^postgres(ql)?:/i.test(from);

/** Opens the outbox, and fails with a hint if its table cannot be read. Returns also how to close the database. */
async function open(longhaul: Longhaul, args: Args, from: string, onEvent: (event: OutboxEvent) => void) {
  const table = args.text('table');
  const adapterOptions = table === undefined ? {} : { table };
  const options = { name: args.text('name') ?? nameOf(from), onEvent };
  const db = isPostgres(from) ? null : openUserDatabase(from);
  const opened: Relayed =
    db === null
      ? longhaul.outbox(pgOutbox(from, adapterOptions), options)
      : longhaul.outbox(sqliteOutbox(db, adapterOptions), options);
  const close = async (): Promise<void> => {
    await opened.close();
    db?.close();
  };
  try {
    if (args.flag('setup')) await opened.setup();
    await opened.status();
    return { opened, close };
  } catch (error) {
    await close();
    if (error instanceof LonghaulError) throw error;
    const reason =
      error instanceof Error ? error.message || String((error as NodeJS.ErrnoException).code) : String(error);
    const message = `the outbox ${nameOf(from)} cannot be used: ${reason}. If its table is missing, create it with --setup or with the SQL in docs/outbox.md`;
    throw new LonghaulError('bad-input', message, { cause: error });
  }
}

/** Returns the host and database, or the file, without a password. */
function nameOf(from: string): string {
  if (!isPostgres(from)) return basename(from).slice(0, MAX_NAME);
  if (!URL.canParse(from)) return 'postgres';
  const { host, pathname } = new URL(from);
  return `${host}${pathname}`.slice(0, MAX_NAME);
}

async function relay(args: Args, from: string): Promise<number> {
  const stop = listenForStop();
  let relayed = 0;
  const onEvent = (event: OutboxEvent): void => {
    if (event.type === 'relayed') relayed += event.ids.length;
    else printNotice(noticeOf(event));
  };
  try {
    const use = async ({ longhaul }: Target): Promise<void> => {
      const { opened, close } = await open(longhaul, args, from, onEvent);
      opened.start();
      printNotice(`relaying the outbox ${nameOf(from)}; stop with Ctrl-C`);
      await aborted(stop.signal);
      await close();
    };
    await withTarget(args, use, { createsStore: 'in a data directory' });
    if (args.flag('json')) printJson({ relayed });
    else print(`relayed ${plural(relayed, 'job')}`);
    return 0;
  } finally {
    stop.release();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function noticeOf(event: Exclude<OutboxEvent, { type: 'relayed' }>): string {
  const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
  switch (event.type) {
    case 'duplicate':
      return `job ${event.id} was not added: another job of queue ${event.queue} holds its unique key`;
    case 'delayed':
      return `job ${event.id} waits: ${event.error}`;
    case 'failed':
      return `row ${event.id} cannot be relayed: ${event.error}`;
    case 'away':
      return `the database or the store does not answer: ${reason(event.error)}`;
    case 'back':
      return 'the database and the store answer again';
    case 'trouble':
      return `${event.what}: ${reason(event.error)}`;
  }
}

/** Uses the rows without a store: nothing is relayed. */
async function withRows(args: Args, from: string, use: (opened: Relayed) => Promise<number>): Promise<number> {
  const longhaul = await connect('memory:');
  try {
    const { opened, close } = await open(longhaul, args, from, () => undefined);
    try {
      return await use(opened);
    } finally {
      await close();
    }
  } finally {
    await longhaul.close();
  }
}

/** Exits 1 if rows have failed. */
async function showStatus(args: Args, opened: Relayed): Promise<number> {
  const [status, failed] = [await opened.status(), await opened.failed()];
  if (args.flag('json')) printJson({ ...status, rows: failed });
  else showRows(status, failed);
  return status.failed > 0 ? 1 : 0;
}

function showRows({ waiting, failed, lagMs, problem }: OutboxStatus, rows: readonly FailedRow[]): void {
  const oldest = waiting > 0 ? `, the oldest for ${span(lagMs)}` : '';
  print(`${plural(waiting, 'row')} wait${oldest}${problem === null ? '' : ` (${cell(problem)})`}; ${failed} failed`);
  for (const { id, queue, error } of rows) print(`${cell(id)}  ${cell(queue)}  ${cell(error)}`);
}

async function retryFailed(args: Args, opened: Relayed): Promise<number> {
  const retried = await opened.retry();
  if (args.flag('json')) printJson({ retried });
  else print(`${plural(retried, 'row')} will be relayed again`);
  return 0;
}
