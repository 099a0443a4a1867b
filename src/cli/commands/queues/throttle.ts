/** `longhaul throttle`: lists throttles with the jobs that hold their slots, sets a maximum or a rate, or removes one. */
import type { ThrottleView } from '../../../core/limits/throttle-views.ts';
import type { ThrottleInput } from '../../../core/settings/limit-input.ts';
import { exactDuration } from '../../../wire/spans.ts';
import { table } from '../../output/columns.ts';
import { print, printJson, screenOf } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { withTarget } from '../../target/open-target.ts';

export async function throttle(args: Args): Promise<number> {
  const [name, max, ...more] = args.positionals;
  const isDelete = args.flag('delete');
  const [rate, by, cost] = [args.text('rate'), args.list('by'), args.text('cost')];
  const hasRate = rate !== undefined || by.length > 0 || cost !== undefined;
  if (more.length > 0 || (isDelete && (name === undefined || max !== undefined)))
    throw args.usageError('too many arguments');
  if (hasRate && (isDelete || name === undefined || rate === undefined))
    throw args.usageError('--by and --cost need --rate, and --rate needs NAME');
  if (name === undefined) return list(args);
  if (!isDelete && !hasRate && max === undefined) throw args.usageError('MAX, --rate or --delete is missing');
  if (isDelete) return set(args, name, null);
  return set(args, name, {
    ...(max !== undefined && { max: Number(max) }),
    ...(rate !== undefined && { rate }),
    ...(by.length > 0 && { by }),
    ...(cost !== undefined && { cost }),
  });
}

/** Limits as the command line has them: a rate is a text. */
type GivenLimits = ThrottleInput & { readonly rate?: string };

async function set(args: Args, name: string, limits: GivenLimits | null): Promise<number> {
  return withTarget(args, async ({ longhaul }) => {
    await longhaul.setThrottle(name, limits);
    if (args.flag('json')) printJson({ name, max: null, ...limits });
    else print(`throttle ${name}: ${limits === null ? 'removed' : limitsText(limits)}`);
    return 0;
  });
}

function limitsText({ max, rate, by = [], cost }: GivenLimits): string {
  const starts = `at most ${rate} started`;
  const perKey = by.length === 0 ? '' : ` for each ${[by].flat().join(' and ')}`;
  const counted = cost === undefined ? '' : `, counted by ${cost}`;
  const parts = [
    max === undefined ? [] : `at most ${max} at once`,
    rate === undefined ? [] : starts + perKey + counted,
  ];
  return parts.flat().join(', ');
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
  {
    title: 'THROTTLE',
    isWhole: true,
    of: ({ name, queue, key }: ThrottleView) => (key === null ? `${name}` : `${name ?? queue}: key ${key}`),
  },
  { title: 'RUNNING', of: ({ held, max }: ThrottleView) => `${held} of ${max ?? 'any'}` },
  { title: 'RATE', of: ({ rate }: ThrottleView) => (rate === null ? '' : `${rate.count}/${exactDuration(rate.ms)}`) },
  {
    title: 'NEXT START',
    of: ({ nextStartAt }: ThrottleView) => (nextStartAt === null ? '' : new Date(nextStartAt).toISOString()),
  },
  { title: 'WAITING', of: ({ waiting }: ThrottleView) => String(waiting) },
  { title: 'HELD BY', of: ({ holders }: ThrottleView) => holders.join(', ') },
];
