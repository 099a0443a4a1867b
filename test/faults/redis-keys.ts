/**
 * Checks every key of a Redis namespace and returns the inconsistencies as text. src/stores/redis/lua/lib/base.lua describes
 * the keys. The job records are authoritative; the other keys must follow from them.
 */
import type { Job } from '../../src/core/job/job.ts';
import { keyAddress, releasesKey } from '../../src/core/lifecycle/lifecycle.ts';
import { fieldsOf, readJobs } from '../../src/stores/redis/encoding/job-record.ts';
import { FIELD } from '../../src/stores/redis/encoding/layout.ts';

export type Command = (args: readonly string[]) => Promise<unknown>;

const PIECE = 64;
const hex = (seq: number): string => seq.toString(16).padStart(13, '0');

interface Found {
  readonly job: Job;
  /** `f` for a waiting job in the fifo, `w` for one in the sorted sets, and so on. */
  readonly place: string;
  readonly apart: string;
  /** The throttle under which it is parked. */
  readonly parked: string;
}

/** The content of the namespace, by key without its prefix. */
interface Contents {
  readonly hashes: Map<string, Map<string, string>>;
  readonly lists: Map<string, readonly string[]>;
  readonly zsets: Map<string, Map<string, number>>;
  readonly sets: Map<string, ReadonlySet<string>>;
}

export async function findInconsistencies(command: Command, namespace: string): Promise<string[]> {
  const contents = await readAll(command, `{${namespace}}`);
  const jobs = recordsOf(contents);
  const open = contents.hashes.get('')?.get('open') ?? '';
  return [
    ...(open === '' ? [] : [`an operation is still open: ${JSON.stringify(open)}`]),
    ...insertionProblems(contents, jobs),
    ...fifoProblems(contents, jobs),
    ...indexProblems(contents, jobs),
    ...markerProblems(contents),
    ...cellProblems(contents),
    ...logProblems(contents),
    ...keyProblems(contents, jobs),
    ...textProblems(contents, jobs),
    ...edgeProblems(contents, jobs),
  ];
}

async function readAll(command: Command, prefix: string): Promise<Contents> {
  const contents: Contents = { hashes: new Map(), lists: new Map(), zsets: new Map(), sets: new Map() };
  const keys = (await command(['KEYS', `${prefix}*`])) as string[];
  const types = await Promise.all(keys.map((key) => command(['TYPE', key])));
  await Promise.all(
    keys.map((key, at) => readKey(command, { key, name: key.slice(prefix.length), type: types[at], contents })),
  );
  return contents;
}

interface KeyToRead {
  readonly key: string;
  readonly name: string;
  readonly type: unknown;
  readonly contents: Contents;
}

async function readKey(command: Command, { key, name, type, contents }: KeyToRead): Promise<void> {
  if (type === 'hash') contents.hashes.set(name, pairsOf(await command(['HGETALL', key])));
  if (type === 'list') contents.lists.set(name, (await command(['LRANGE', key, '0', '-1'])) as string[]);
  if (type === 'set') contents.sets.set(name, new Set((await command(['SMEMBERS', key])) as string[]));
  if (type !== 'zset') return;
  const scored = (await command(['ZRANGE', key, '0', '-1', 'WITHSCORES'])) as readonly [string, number][] | string[];
  contents.zsets.set(name, scoresOf(scored));
}

/** A hash is a flat list or a map, depending on the protocol version. */
function pairsOf(answer: unknown): Map<string, string> {
  const flat = Array.isArray(answer) ? (answer as string[]) : Object.entries(answer as Record<string, string>).flat();
  return new Map(Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at] ?? '', flat[2 * at + 1] ?? '']));
}

function scoresOf(answer: readonly (readonly [string, number] | string)[]): Map<string, number> {
  if (answer.every((each) => Array.isArray(each))) return new Map(answer as readonly [string, number][]);
  const flat = answer as readonly string[];
  return new Map(
    Array.from({ length: flat.length / 2 }, (_, at) => [
      flat[2 * at] ?? '',
      Number((flat[2 * at + 1] ?? '').replace('inf', 'Infinity')),
    ]),
  );
}

function recordsOf({ hashes }: Contents): Found[] {
  const records = [...(hashes.get('j') ?? [])].filter(([id]) => !/^[!@#$%+]/.test(id));
  return records.flatMap(([id, record]) => {
    const { apart = '', parked = '' } = fieldsOf(record);
    const texts = apart.split('').map((letter) => hashes.get('big')?.get(letter + id) ?? '');
    return readJobs([id, record, ...texts], 0).map((job) => ({ job, place: record.charAt(0), apart, parked }));
  });
}

/** The insertion index contains every job and nothing else. */
function insertionProblems({ hashes, zsets }: Contents, jobs: readonly Found[]): string[] {
  const wanted = new Map(jobs.map(({ job }) => [job.seq, job.id]));
  const found = new Map<number, string>();
  const pieces = [...hashes].filter(([name]) => name.startsWith('s:'));
  for (const [name, ids] of pieces) {
    for (const [place, id] of ids) found.set(Number(name.slice(2)) * PIECE + Number(place), id);
  }
  const directory = new Map([...(zsets.get('s') ?? [])].filter(([piece]) => hashes.has(`s:${piece}`)));
  const named = new Map(pieces.map(([name]) => [name.slice(2), Number(name.slice(2))]));
  return [...differences('the insertion index', wanted, found), ...differences('its pieces', named, directory)];
}

function fifoProblems({ lists, sets }: Contents, jobs: readonly Found[]): string[] {
  const queues = new Set(
    [...lists.keys()].map((name) => name.slice('fifo:'.length)).concat(jobs.map(({ job }) => job.queue)),
  );
  return [...queues].flatMap((queue) => {
    const list = lists.get(`fifo:${queue}`) ?? [];
    const gone = sets.get(`gone:${queue}`) ?? new Set();
    const standing = jobs.filter(({ job, place }) => place === 'f' && job.queue === queue);
    const wanted = standing.map(({ job }) => job).sort((a, b) => a.runAt - b.runAt || a.seq - b.seq);
    const left = list.filter((seq) => !gone.has(seq));
    const strays = [...gone].filter((seq) => !list.includes(seq));
    return [
      ...(left.join() === wanted.map(({ seq }) => seq).join()
        ? []
        : [`fifo of ${queue}: ${left.join()} and not ${wanted.map(({ seq }) => seq).join()}`]),
      ...strays.map((seq) => `${seq} is marked as gone from the fifo of ${queue}, but is not in it`),
    ];
  });
}

/** The member of a job in the ready and parked sets: ordered by turn, time and insertion. */
function readyMember({ returnedAt, runAt, turn, seq }: Job): string {
  const digits = (value: number): string => Math.max(0, value).toString(16).padStart(11, '0');
  const first = turn > 0 && returnedAt === null ? `z${digits(turn)}` : '';
  return `${first}${digits(returnedAt ?? runAt)}${hex(seq)}`;
}

/** The indexes that must contain a job, with member and score. A waiting job may be in either of two. */
function placesOf({ job, place, parked }: Found): [string, string, number][] {
  const { queue, seq, endedAt, failure } = job;
  const places: [string, string, number][] = job.tags.map((tag) => [`tag:${tag}`, hex(seq), seq]);
  if (place === 'b') places.push([`blocked:${queue}`, hex(seq), seq]);
  if (place === 'b' && job.foldedInto !== null) places.push([`folds:${job.foldedInto}`, hex(seq), seq]);
  if (job.coalesceKey !== null) places.push([`equals:${queue}:${job.coalesceKey}`, hex(seq), job.runAt]);
  if (place === 'k') {
    const score = job.returnedAt === null ? job.priority : Number.NEGATIVE_INFINITY;
    places.push([`parked:${queue}`, readyMember(job), score], [`park:${queue}:${parked}`, readyMember(job), score]);
    places.push([`parks:${parked}`, queue, 0]);
    if (/^[nr]:/.test(parked)) places.push([`needs:${queue}`, parked, 0]);
  }
  for (const address of job.slots) places.push([`slots:${address}`, hex(seq), 0]);
  if (place === 'r') places.push([`running:${queue}`, hex(seq), job.lease?.until ?? 0]);
  if (place === 'p') places.push([`draft:${queue}`, hex(seq), job.createdAt]);
  if (endedAt !== null && 'dxc'.includes(place)) places.push([`${job.state}:${queue}`, hex(seq), endedAt]);
  if (place === 'd' && job.forwardedTo !== null) places.push([`relayed:${queue}`, hex(seq), endedAt ?? 0]);
  if (place === 'x') places.push([`group:${queue}:${failure?.group}`, hex(seq), endedAt ?? 0]);
  if (place === 'x') places.push([`groups:${queue}`, failure?.group ?? '', 0]);
  return places;
}

const INDEXES =
  /^(ready|later|blocked|running|draft|done|failed|cancelled|relayed|groups?|tag|parked|parks?|needs|slots|equals|folds):/;

const isWake = (name: string, member: string): boolean => name.startsWith('needs:') && member.startsWith('r:');

function indexProblems({ zsets }: Contents, jobs: readonly Found[]): string[] {
  const wanted = new Map(jobs.flatMap(placesOf).map(([key, member, score]) => [`${key} ${member}`, score]));
  for (const { job, place } of jobs) {
    if (place !== 'w') continue;
    const member = readyMember(job);
    const isReady = zsets.get(`ready:${job.queue}`)?.has(member) === true;
    if (isReady)
      wanted.set(`ready:${job.queue} ${member}`, job.returnedAt === null ? job.priority : Number.NEGATIVE_INFINITY);
    else wanted.set(`later:${job.queue} ${hex(job.seq)}`, job.runAt);
  }
  const indexes = [...zsets].filter(([name]) => INDEXES.test(name));
  const found = new Map(
    indexes.flatMap(([name, members]) =>
      // A job that waits for a bucket of a throttle is checked again at some time: any but 0.
      [...members].map(([member, score]) => [`${name} ${member}`, isWake(name, member) && score > 0 ? 0 : score]),
    ),
  );
  return differences('the indexes', wanted, found);
}

/** A marker belongs to a queue that had jobs, and has one member. */
function markerProblems({ zsets }: Contents): string[] {
  const markers = [...zsets].filter(([name]) => name.startsWith('marker:'));
  const isSound = ([name, members]: readonly [string, Map<string, number>]): boolean =>
    zsets.get('queues')?.has(name.slice('marker:'.length)) === true && members.size === 1 && members.get('0') === 0;
  return markers.filter((marker) => !isSound(marker)).map(([name]) => `the key ${name} is no marker of a queue`);
}

/** Every statistics cell must be in the index of its day. An index entry without a cell is allowed after an abort. */
function cellProblems({ hashes, zsets }: Contents): string[] {
  const cells = [...(hashes.get('j')?.keys() ?? [])].filter((id) => id.startsWith('#'));
  return cells.flatMap((address) => {
    const [queue = '', day = '', name = ''] = address.slice(1).split(FIELD);
    const isNamed = zsets.get(`cells:${queue}`)?.get(`${day}${FIELD}${name}`) === Number(day);
    return isNamed ? [] : [`the cell ${JSON.stringify(address)} is in no index`];
  });
}

/** The log of statistics has every entry that it counts. An entry beyond that is allowed after an abort. */
function logProblems({ hashes }: Contents): string[] {
  const records = hashes.get('j');
  const count = Number(records?.get('+') ?? 0);
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  return numbers.filter((number) => !records?.has(`+${number}`)).map((number) => `the log has no entry ${number}`);
}

/** Every held unique key belongs to its job, and every job that must hold its key does. */
function keyProblems({ hashes }: Contents, jobs: readonly Found[]): string[] {
  const held = new Map(
    [...(hashes.get('keys') ?? [])].map(([address, entry]) => [address, entry.replace(/^\S+ /, '')]),
  );
  const byId = new Map(jobs.map(({ job }) => [job.id, job]));
  const astray = [...held].filter(([address, id]) => {
    const job = byId.get(id);
    return job?.unique === undefined || job.unique === null || keyAddress(job.unique, job.queue) !== address;
  });
  const free = jobs.filter(({ job: { unique, state, queue, foldedInto } }) => {
    if (foldedInto !== null && unique?.until === 'started') return false;
    if (unique === null || unique.until === 'period' || state === 'draft' || releasesKey(unique, state)) return false;
    return !held.has(keyAddress(unique, queue));
  });
  return [
    ...astray.map(([address, id]) => `the key ${address} is held by ${id}, which has no such key`),
    ...free.map(({ job }) => `the unique key of ${job.id} is not held`),
  ];
}

function textProblems({ hashes }: Contents, jobs: readonly Found[]): string[] {
  const wanted = new Map(
    jobs.flatMap(({ job, apart }) => apart.split('').map((letter) => [letter + job.id, 1] as const)),
  );
  const found = new Map([...(hashes.get('big')?.keys() ?? [])].map((address) => [address, 1] as const));
  return differences('the separate texts', wanted, found);
}

/** The dependency counts in the records match the edges. Edges lead to existing jobs and are the same from both ends. */
function edgeProblems({ zsets }: Contents, jobs: readonly Found[]): string[] {
  const bySeq = new Map(jobs.map(({ job }) => [hex(job.seq), job]));
  const membersOf = (key: string): readonly string[] => [...(zsets.get(key)?.keys() ?? [])];
  const wrong = jobs.flatMap(({ job, place }) => {
    const above = membersOf(`up:${hex(job.seq)}`);
    const open = above.filter((parent) => zsets.get(`wait:${parent}`)?.has(hex(job.seq)));
    const bad = open.filter((parent) => ['failed', 'cancelled'].includes(bySeq.get(parent)?.state ?? ''));
    const parents = above.length === 0 ? null : { of: above.length, open: open.length, bad: bad.length };
    const dependents = membersOf(`wait:${hex(job.seq)}`).length;
    const recorded = JSON.stringify({ parents: job.parents, dependents: job.dependents });
    const isBlocked = job.state === 'waiting' && (open.length > 0 || job.foldedInto !== null);
    return [
      ...(recorded === JSON.stringify({ parents, dependents })
        ? []
        : [`${job.id} has ${recorded}, not ${JSON.stringify({ parents, dependents })}`]),
      ...(isBlocked === (place === 'b') ? [] : [`${job.id} is in ${place} with ${open.length} open parents`]),
      ...(job.state !== 'done' || dependents === 0 ? [] : [`${job.id} is done, but others wait for it`]),
    ];
  });
  const edges = [...zsets]
    .filter(([key]) => /^(wait|kids|up):/.test(key))
    .flatMap(([key, members]) => [...members.keys()].map((member) => ({ key, member })));
  const stray = edges.filter(({ key, member }) => {
    const child = key.startsWith('up:') ? key.slice('up:'.length) : member;
    const parent = key.startsWith('up:') ? member : key.slice('wait:'.length);
    return !bySeq.has(child) || !zsets.get(`kids:${parent}`)?.has(child) || !zsets.get(`up:${child}`)?.has(parent);
  });
  return [...wrong, ...stray.map(({ key, member }) => `an edge leads nowhere: ${key} ${member}`)];
}

type Entries = ReadonlyMap<string | number, string | number>;

function differences(where: string, wanted: Entries, found: Entries): string[] {
  const missing = [...wanted].filter(([key, value]) => found.get(key) !== value);
  const unexpected = [...found].filter(([key]) => !wanted.has(key));
  return [
    ...missing.map(([key, value]) => `${where}: ${key} should be ${value} and is ${found.get(key) ?? 'missing'}`),
    ...unexpected.map(([key, value]) => `${where}: ${key} is ${value} and should not exist`),
  ];
}
