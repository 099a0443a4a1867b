/** Longhaul's verbs for Node: `import * as longhaul from './longhaul.js'`, then `longhaul.progress(40, 'pass 1')`. */
import { existsSync, readFileSync, readSync, writeSync } from 'node:fs';

const write = Number(process.env['LONGHAUL_WRITE'] ?? 3);
const read = Number(process.env['LONGHAUL_READ'] ?? 4);

/** One line to the node. Newlines in the text become spaces. */
export function say(verb: string, text = ''): void {
  writeSync(write, `${verb} ${text.replaceAll('\n', ' ')}\n`);
}

export const run = (text: string): void => say('run', text);
export const done = (text = ''): void => say('done', text);
export const err = (text: string): void => say('err', text);
export const resend = (seconds: number, reason = ''): void => say('resend', `${Math.floor(seconds)}-${reason}`);
export const progress = (percent: number, text = ''): void => say('progress', `${percent} ${text}`);
export const checkpoint = (value: unknown): void => say('checkpoint', JSON.stringify(value));
export const result = (value: unknown): void => say('result', JSON.stringify(value));
export const attach = (path: string): void => say('attach', path);
export const tag = (name: string): void => say('tag', name);
export const group = (name: string): void => say('group', name);

/** A copy of this job in another queue; answers its address. */
export function dup(queue: string, seconds = 0): string {
  say('dup', `${Math.floor(seconds)}-X-${queue}`);
  const bytes: number[] = [];
  const byte = new Uint8Array(1);
  while (readSync(read, byte) === 1 && byte[0] !== 0x0a) bytes.push(byte[0] ?? 0);
  const answer = Buffer.from(bytes).toString('utf8');
  if (!answer.startsWith('ok ')) throw new Error(answer.replace(/^fail /, ''));
  return answer.slice('ok '.length);
}

/** What the producer gave the job. */
export function data<T>(): T {
  return JSON.parse(readFileSync(process.env['LONGHAUL_DATA'] ?? 'data.json', 'utf8')) as T;
}

/** What an earlier attempt left, or null. */
export function lastCheckpoint<T>(): T | null {
  const path = process.env['LONGHAUL_CHECKPOINT'] ?? 'checkpoint.json';
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : null;
}
