/**
 * The processes of an attempt as an operator sees them: command, usage and parent. Read only; a process that ends
 * before it is read is omitted.
 */
import type { Member } from './membership.ts';
import { readProc, readUnits } from './process-stat.ts';

export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  /** The state letter of /proc: R running, S and D waiting, T stopped. */
  readonly state: string;
  /** The command line; the name in brackets for a process without one. */
  readonly command: string;
  /** Includes children that it waited for. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

/** Longer commands are cut. */
const LONGEST_COMMAND = 500;

export function listMembers(members: readonly Member[]): readonly ListedProcess[] {
  const { pageBytes, ticksPerSecond } = readUnits();
  return members.flatMap(({ pid, parent, state, cpuTicks, rssPages }) => {
    const command = readCommand(pid);
    const listed = { pid, parent, state, cpuSeconds: cpuTicks / ticksPerSecond, rssBytes: rssPages * pageBytes };
    return command === null ? [] : [{ ...listed, command }];
  });
}

/** Returns null when the process is gone. */
function readCommand(pid: number): string | null {
  const commandLine = readProc(`/proc/${pid}/cmdline`);
  if (commandLine === null) return null;
  if (commandLine !== '') return commandOf(commandLine);
  const name = readProc(`/proc/${pid}/comm`);
  return name === null ? null : `[${commandOf(name)}]`;
}

/** Formats a command line of /proc, which has a NUL after each argument. Control characters become spaces. */
export function commandOf(commandLine: string): string {
  const text = Buffer.from(commandLine, 'latin1').toString('utf8');
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, LONGEST_COMMAND);
}
