/**
 * Queues with RQ's configuration: which queues these are, and where their scripts are.
 *
 * RQ requires a report from every script, so `handshake: 'required'` marks such a queue. Its script gets RQ's directory
 * (workdir.ts) and RQ's first line in the log.
 */
import { isAbsolute, join } from 'node:path';
import type { QueueSettings } from '../../core/settings/settings.ts';
import type { Home } from '../home.ts';
import { COMMANDS_SCRIPT } from '../scripts/command-job.ts';

type ScriptOf = Partial<Pick<QueueSettings, 'script' | 'handshake'>>;

export function isRqQueue({ handshake }: ScriptOf): boolean {
  return handshake === 'required';
}

/** Returns the path of a queue's script. RQ's relative paths start at its base directory: the data directory. */
export function scriptPath(home: Home, settings: ScriptOf): string | null {
  const { script = null } = settings;
  if (script === null || script === COMMANDS_SCRIPT || isAbsolute(script) || !isRqQueue(settings)) return script;
  return join(home.root, script);
}

/** Returns the rest of the line that RQ writes to the log after the pid of the script, such as ` - TIME - RQ START - /rq/x.sh`. */
export function rqLogHeader(realScript: string, now: Date): string {
  return ` - ${rubyTime(now)} - RQ START - ${realScript}`;
}

/** Returns local time as Ruby prints it: `2026-11-16 11:19:00 +0000`. */
function rubyTime(now: Date): string {
  const pad = (value: number): string => String(value).padStart(2, '0');
  const offset = -now.getTimezoneOffset();
  const zone = `${offset < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(offset) / 60))}${pad(Math.abs(offset) % 60)}`;
  const date = `${now.getFullYear()}-${pad(now.getMonth() + 1)}-${pad(now.getDate())}`;
  return `${date} ${pad(now.getHours())}:${pad(now.getMinutes())}:${pad(now.getSeconds())} ${zone}`;
}
