/** `longhaul throttle`: lists throttles with the jobs that hold their slots, sets a maximum, or removes it. */
import type { ThrottleView } from '../../../core/limits/throttle-views.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { withTarget } from '../../target/open-target.ts';

export async function throttle(args: Args): Promise<number> {
  const [name, max, ...more] = args.positionals;
  const isDelete = args.flag('delete');
  if (more.length > 0 || (isDelete && (name === undefined || max !== undefined)))
    throw args.usageError('too many arguments');
  if (name === undefined) return list(args);
  if (!isDelete && max === undefined) throw args.usageError('MAX or --delete is missing');
  return set(args, name, isDelete ? null : Number(max));
}

async function set(args: Args, name: string, max: number | null): Promise<number> {
  return withTarget(args, async ({ longhaul }) => {
    await longhaul.setThrottle(name, max);
    if (args.flag('json')) printJson({ name, max });
    else print(max === null ? `throttle ${name}: no maximum` : `throttle ${name}: at most ${max} at once`);
    return 0;
  });
}

async function list(args: Args): Promise<number> {
  return withTarget(args, async ({ longhaul }) => {
    const throttles = await longhaul.throttles();
    if (args.flag('json')) printJson(throttles);
    else if (throttles.length === 0) print('no throttles: none has a maximum or is in use');
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
