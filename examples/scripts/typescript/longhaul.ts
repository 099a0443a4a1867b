/** Longhaul's script commands for Node: `import * as longhaul from './longhaul.js'`, then `longhaul.progress(40, 'pass 1')`. */
import { existsSync, readFileSync, readSync, writeSync } from 'node:fs';

const write = Number(process.env['LONGHAUL_WRITE'] ?? 3);
const read = Number(process.env['LONGHAUL_READ'] ?? 4);

/** Sends a command to the node. Newlines in the text become spaces. */
export function sendCommand(verb: string, text = ''): void {
  writeSync(write, `${verb} ${text.replaceAll('\n', ' ')}\n`);
}

export const run = (text: string): void => sendCommand('run', text);
export const done = (text = ''): void => sendCommand('done', text);
export const err = (text: string): void => sendCommand('err', text);
export const resend = (seconds: number, reason = ''): void => sendCommand('resend', `${Math.floor(seconds)}-${reason}`);
export const progress = (percent: number, text = ''): void => sendCommand('progress', `${percent} ${text}`);
export const checkpoint = (value: unknown): void => sendCommand('checkpoint', JSON.stringify(value));
export const result = (value: unknown): void => sendCommand('result', JSON.stringify(value));
export const attach = (path: string): void => sendCommand('attach', path);
export const tag = (name: string): void => sendCommand('tag', name);
export const group = (name: string): void => sendCommand('group', name);

/** Adds a copy of this job to another queue and returns its URL. */
export function dup(queue: string, seconds = 0): string {
  sendCommand('dup', `${Math.floor(seconds)}-X-${queue}`);
  const bytes: number[] = [];
  const byte = new Uint8Array(1);
  while (readSync(read, byte) === 1 && byte[0] !== 0x0a) bytes.push(byte[0] ?? 0);
  const answer = Buffer.from(bytes).toString('utf8');
  if (!answer.startsWith('ok ')) throw new Error(answer.replace(/^fail /, ''));
  return answer.slice('ok '.length);
}

/** Returns the job's data. */
export function data<T>(): T {
  return JSON.parse(readFileSync(process.env['LONGHAUL_DATA'] ?? 'data.json', 'utf8')) as T;
}

/** Returns the checkpoint of an earlier attempt, or null. */
export function lastCheckpoint<T>(): T | null {
  const path = process.env['LONGHAUL_CHECKPOINT'] ?? 'checkpoint.json';
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : null;
}
