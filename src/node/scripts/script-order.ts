/** Converts a queue's settings to the runner's limits and user ids. */
import { readFile } from 'node:fs/promises';
import type { ScriptLimits } from '../../core/settings/settings.ts';
import type { Limits } from '../../runner/attempt/start-request.ts';

export function scriptLimits({ cpuMs, addressSpaceBytes, processes, fileBytes }: ScriptLimits): Limits {
  return {
    ...(cpuMs !== null && { cpu: Math.ceil(cpuMs / 1_000) }),
    ...(addressSpaceBytes !== null && { addressSpace: addressSpaceBytes }),
    ...(processes !== null && { processes }),
    ...(fileBytes !== null && { fileSize: fileBytes }),
  };
}

export interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

/** Resolves `user` or `user:group`, by name or number. Returns a problem as text when that fails. */
export async function scriptUser(user: string | null): Promise<UserIds | string | null> {
  if (user === null) return null;
  const [name = '', group] = user.split(':');
  const entry = await findEntry('/etc/passwd', name);
  const groupEntry = group === undefined ? null : await findEntry('/etc/group', group);
  if (entry === null) return `there is no user ${name} on this machine`;
  if (group !== undefined && groupEntry === null) return `there is no group ${group} on this machine`;
  if (process.getuid?.() !== 0) return `only root can run scripts as ${user}`;
  return { uid: Number(entry[2]), gid: Number(groupEntry?.[2] ?? entry[3]) };
}

async function findEntry(file: string, name: string): Promise<readonly string[] | null> {
  const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.split(':'));
  return lines.find((fields) => fields[0] === name || fields[2] === name) ?? null;
}
