/** `longhaul throttle`: list throttles with who holds their slots, set a maximum, or take it away. */
import type { ThrottleView } from '../../../core/limits/throttle-views.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, screenOf } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { withTarget } from '../../target/open-target.ts';

export async function throttle(call: Call): Promise<number> {
  const [name, max, ...more] = call.positionals;
  const isDelete = call.flag('delete');
  if (more.length > 0 || (isDelete && (name === undefined || max !== undefined))) throw call.wrong('too many words');
  if (name === undefined) return list(call);
  if (!isDelete && max === undefined) throw call.wrong('say the maximum, or --delete');
  return set(call, name, isDelete ? null : Number(max));
}

async function set(call: Call, name: string, max: number | null): Promise<number> {
  return withTarget(call, async ({ longhaul }) => {
    await longhaul.setThrottle(name, max);
    if (call.flag('json')) printJson({ name, max });
    else print(max === null ? `throttle ${name}: holds nobody back` : `throttle ${name}: ${max} at once`);
    return 0;
  });
}

async function list(call: Call): Promise<number> {
  return withTarget(call, async ({ longhaul }) => {
    const throttles = await longhaul.throttles();
    if (call.flag('json')) printJson(throttles);
    else if (throttles.length === 0) print('no throttle has a maximum, and none is in use');
    else for (const line of table(COLUMNS, throttles, screenOf())) print(line);
    return 0;
  });
}

const COLUMNS = [
  { title: 'THROTTLE', isWhole: true, of: ({ name, queue, key }: ThrottleView) => name ?? `${queue}: key ${key}` },
  { title: 'RUNNING', of: ({ held, max }: ThrottleView) => `${held} of ${max ?? 'any'}` },
  { title: 'WAITING', of: ({ waiting }: ThrottleView) => String(waiting) },
  { title: 'HELD BY', of: ({ holders }: ThrottleView) => holders.join(', ') },
];
