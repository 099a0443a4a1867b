/**
 * The processes of an attempt as people see them: what each runs, what it uses, whose child it is. It only looks; one
 * that is gone before it was read is left out.
 */
import type { Member } from './membership.ts';
import { readProc, readUnits } from './process-stat.ts';

export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  /** The letter of /proc: R runs, S and D wait, T is stopped. */
  readonly state: string;
  /** With its arguments; of a process without any, its name in brackets. */
  readonly command: string;
  /** With those of children it waited for. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

/** Beyond this a command is for `ps`. */
const LONGEST_COMMAND = 500;

export function listMembers(members: readonly Member[]): readonly ListedProcess[] {
  const { pageBytes, ticksPerSecond } = readUnits();
  return members.flatMap(({ pid, parent, state, cpuTicks, rssPages }) => {
    const command = readCommand(pid);
    const listed = { pid, parent, state, cpuSeconds: cpuTicks / ticksPerSecond, rssBytes: rssPages * pageBytes };
    return command === null ? [] : [{ ...listed, command }];
  });
}

/** Null when the process is gone. */
function readCommand(pid: number): string | null {
  const given = readProc(`/proc/${pid}/cmdline`);
  if (given === null) return null;
  if (given !== '') return commandOf(given);
  const name = readProc(`/proc/${pid}/comm`);
  return name === null ? null : `[${commandOf(name)}]`;
}

/** As /proc has it, a NUL after each argument. What is no character of a line becomes a space. */
export function commandOf(given: string): string {
  const words = Buffer.from(given, 'latin1').toString('utf8');
  return words
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, LONGEST_COMMAND);
}
