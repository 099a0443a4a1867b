/** `longhaul report`: writes a verb to the script's fd 3 pipe, and prints the reply to a `dup`. */
import { openSync, readSync, writeSync } from 'node:fs';
import { didYouMean } from '../../../core/input/did-you-mean.ts';
import { print } from '../../output/screen.ts';
import { UsageError } from '../../table/command.ts';
import { VERBS } from './verbs.ts';

export async function report([verb, ...rest]: readonly string[]): Promise<number> {
  if (verb === undefined || !VERBS.some((known) => known === verb))
    throw new UsageError(
      `usage: longhaul report VERB [TEXT]…; VERB is one of ${VERBS.join(', ')}${didYouMean(verb, VERBS)}`,
    );
  const pipe = process.env['LONGHAUL_WRITE'];
  if (pipe === undefined)
    throw new UsageError('LONGHAUL_WRITE is not set: longhaul report works only in a script that Longhaul runs');
  const text = rest.join(' ');
  if (text.includes('\n')) throw new UsageError('TEXT must be a single line');
  writeSync(Number(pipe), `${verb} ${text}\n`);
  if (verb !== 'dup') return 0;
  const reply = readLine();
  print(reply);
  return reply.startsWith('ok ') ? 0 : 1;
}

/** Reads one byte at a time, because the bytes after the line belong to the script. */
function readLine(): string {
  const file = openSync(`/dev/fd/${process.env['LONGHAUL_READ'] ?? '4'}`, 'r');
  const bytes: number[] = [];
  const byte = Buffer.alloc(1);
  while (readSync(file, byte) === 1 && byte[0] !== 0x0a) bytes.push(byte[0] as number);
  return Buffer.from(bytes).toString('utf8');
}
