/** Settings of a script in the runner's terms: limits, and who it runs as. */
import { readFile } from 'node:fs/promises';
import type { ScriptLimits } from '../../core/settings/settings.ts';
import type { Limits } from '../../runner/attempt/start-request.ts';

export function scriptLimits({ cpuMs, memoryBytes, processes, fileBytes }: ScriptLimits): Limits {
  return {
    ...(cpuMs !== null && { cpu: Math.ceil(cpuMs / 1_000) }),
    ...(memoryBytes !== null && { memory: memoryBytes }),
    ...(processes !== null && { processes }),
    ...(fileBytes !== null && { fileSize: fileBytes }),
  };
}

export interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

/** `user` or `user:group`, by name or number, as the machine knows them; or what is wrong with that, in words. */
export async function scriptUser(user: string | null): Promise<UserIds | string | null> {
  if (user === null) return null;
  const [name = '', group] = user.split(':');
  const entry = await lookUp('/etc/passwd', name);
  const groupEntry = group === undefined ? null : await lookUp('/etc/group', group);
  if (entry === null) return `there is no user ${name} on this machine`;
  if (group !== undefined && groupEntry === null) return `there is no group ${group} on this machine`;
  if (process.getuid?.() !== 0) return `only root can run scripts as ${user}`;
  return { uid: Number(entry[2]), gid: Number(groupEntry?.[2] ?? entry[3]) };
}

async function lookUp(file: string, name: string): Promise<readonly string[] | null> {
  const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.split(':'));
  return lines.find((fields) => fields[0] === name || fields[2] === name) ?? null;
}
