/** Before something that cannot be taken back: what it would do, and a question where somebody is there to answer. */
import { createInterface } from 'node:readline/promises';
import type { Call } from '../table/call.ts';
import { remark } from './screen.ts';

/** Whether somebody is there to answer. */
export function isAsked(call: Call): boolean {
  return !call.flag('yes') && process.stdin.isTTY && process.stderr.isTTY;
}

/** True when it may be done. Without a terminal to ask at, --yes must have been said. */
export async function confirm(call: Call, what: string): Promise<boolean> {
  if (call.flag('yes')) return true;
  if (!isAsked(call)) {
    remark(`longhaul: this would ${what}; say --yes to do it`);
    return false;
  }
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await reader.question(`This will ${what}. Go on? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    reader.close();
  }
}
