/**
 * An order: everything that starting one attempt needs, and the shell text that its shim reads.
 *
 * The runner takes it as it is: it knows no queue, no job, and no reason.
 *
 * Invariant: a shell reads nothing of it but names and numbers that were checked here, and words in single quotes.
 */
import { basename, dirname, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { badInput, type Problem } from '../../core/ports/errors.ts';

/** For each process of the script, but `processes`: that counts all processes of the user. */
export interface Limits {
  /** Seconds of processor time. */
  readonly cpu?: number;
  /** Bytes of address space. */
  readonly memory?: number;
  /** How many processes the user may have. The kernel does not hold root to it. */
  readonly processes?: number;
  /** Bytes a written file may have; the log counts too. */
  readonly fileSize?: number;
}

export interface Order {
  /** The attempt's folder: there, and never used for another attempt. Its path is the attempt's mark. */
  readonly folder: string;
  /** Where the script runs. */
  readonly cwd: string;
  /** The executable by its absolute path, and its arguments. */
  readonly argv: readonly string[];
  /** The whole environment. LONGHAUL_ATTEMPT_MARK is added. */
  readonly env: Readonly<Record<string, string>>;
  /** A file to be read as stdin; null is /dev/null. */
  readonly stdin: string | null;
  readonly nice?: number;
  /** Default 022. */
  readonly umask?: number;
  /** Needs root. */
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly limits?: Limits;
}

/** Where the tools are that an order may need. */
export interface Tools {
  readonly setsid: string;
  readonly nice: string;
  readonly setpriv: string;
  readonly env: string;
}

/** What the runner process starts a shim with. */
export interface ShimOrder {
  readonly folder: string;
  /** Shell text, which ends with the call of shim.sh. */
  readonly text: string;
}

export const MARK = 'LONGHAUL_ATTEMPT_MARK';

/** What an order is carried out with, beyond what it says itself. */
export interface StartMeans {
  readonly tools: Tools;
  readonly boot: string;
  /** The control group of the script. */
  readonly cgroup: string | null;
}

const home = dirname(fileURLToPath(new URL('../process/shim.sh', import.meta.url)));

/** The last line starts the attempt: an order that is cut short before it starts nothing. */
export function toShimOrder(order: Order, { tools, boot, cgroup }: StartMeans): ShimOrder {
  checkOrder(order);
  const { folder, stdin, cwd } = order;
  const { plain, odd } = sorted({ ...order.env, [MARK]: folder });
  const command = [...wrap(order, tools), ...(odd.length > 0 ? [tools.env, ...odd] : []), ...order.argv];
  const words = [folder, stdin ?? '/dev/null', cwd, placeOf(boot, cgroup), cgroup ?? '', ...command];
  const lines = [
    `home=${quoted(home)}`,
    `prepare_script() { ${limitsOf(order)}; export${plain}; }`,
    `set -- ${words.map(quoted).join(' ')}`,
    '. "$home/shim.sh"',
  ];
  return { folder, text: `${lines.join('\n')}\n` };
}

/** Shell text of the variables that a shell can pass on, and as words those that only a program can. */
function sorted(env: Order['env']): { plain: string; odd: string[] } {
  let plain = '';
  const odd: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (OF_SHELLS.test(name)) odd.push(`${name}=${value}`);
    else plain += ` ${name}=${quoted(value)}`;
  }
  return { plain, odd };
}

/** What the kernel takes as one word, and about what it takes in all. */
const MOST_WORD = 128 * 1024;
const MOST_WORDS = 1.75 * 1024 ** 2;
/** Of a string's unit in UTF-8. */
const MOST_BYTES_A_UNIT = 3;

/** Whether a process can be started with that many words. */
export function fits({ argv, env }: Order): boolean {
  const words = [...argv, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  // Most are so short that nobody need count their bytes.
  if (words.reduce((sum, word) => sum + word.length * MOST_BYTES_A_UNIT + 9, 0) <= MOST_WORD) return true;
  const sizes = words.map((word) => Buffer.byteLength(word) + 1);
  return sizes.every((size) => size <= MOST_WORD) && sizes.reduce((sum, size) => sum + size + 8, 0) <= MOST_WORDS;
}

/** Names that mean something to one shell or another, so that it may refuse a value or give them one of its own. */
const OF_SHELLS =
  /^(?:_|OPTIND|OPTARG|PWD|OLDPWD|PPID|E?UID|GROUPS|DIRSTACK|SHELLOPTS|FUNCNAME|S?RANDOM|SECONDS|EPOCH\w+|HISTCMD|LINENO|BASH\w*|KSH\w*)$/;

/** Within single quotes a shell reads nothing but their end. */
const quoted = (word: string): string => (word.includes("'") ? `'${word.replaceAll("'", "'\\''")}'` : `'${word}'`);

/** The end of the shim's own line in `pid`. */
const placeOf = (boot: string, cgroup: string | null): string =>
  cgroup === null ? boot : `${boot} ${basename(cgroup)}`;

/** Each of these replaces itself by what comes after it, so that one process remains: the script. */
function wrap({ nice, user }: Order, tools: Tools): string[] {
  const asUser = user && [tools.setpriv, '--reuid', `${user.uid}`, '--regid', `${user.gid}`, '--clear-groups'];
  const nicely = nice === undefined || nice === 0 ? [] : [tools.nice, '-n', `${nice}`];
  return [tools.setsid, ...nicely, ...(asUser ?? [])];
}

/** Shell text of umask and limits. It holds numbers, and nothing else of the order. */
function limitsOf({ umask = 0o022, user, limits = {} }: Order): string {
  const lines = [`umask ${umask.toString(8).padStart(3, '0')}`];
  // First a signal that names the reason, and only a little later the kill.
  if (limits.cpu !== undefined) lines.push(`ulimit -H -t ${limits.cpu + 2}; ulimit -S -t ${limits.cpu}`);
  if (limits.memory !== undefined) lines.push(`ulimit -v ${Math.ceil(limits.memory / 1024)}`);
  if (limits.fileSize !== undefined) lines.push(`ulimit -f ${Math.ceil(limits.fileSize / 512)}`);
  // Two shells, two letters for it.
  if (limits.processes !== undefined)
    lines.push(`ulimit -u ${limits.processes} 2>/dev/null || ulimit -p ${limits.processes}`);
  // A pipe belongs to who made it; without this, another user could not open /dev/fd/3 by its name.
  if (user) lines.push('command -p chmod 0666 /dev/fd/3 /dev/fd/4');
  return lines.join('; ');
}

function checkOrder(order: Order): void {
  const problems: Problem[] = [];
  const expect = (isGood: boolean, path: string, message: string) => {
    if (!isGood) problems.push({ path, message });
  };
  expect(isAbsolute(order.folder), 'folder', 'is no absolute path');
  expect(isAbsolute(order.cwd), 'cwd', 'is no absolute path');
  expect(isAbsolute(order.argv[0] ?? ''), 'argv[0]', 'is no absolute path');
  expect(order.stdin === null || isAbsolute(order.stdin), 'stdin', 'is no absolute path');
  for (const text of order.argv) expect(!text.includes('\0'), 'argv', 'holds a NUL');
  for (const [name, value] of Object.entries(order.env)) {
    // A shell passes no other names on.
    if (!/^[A-Za-z_]\w*$/.test(name)) expect(false, `env.${name}`, 'is no name that a shell knows');
    if (value.includes('\0')) expect(false, `env.${name}`, 'holds a NUL');
  }
  for (const [path, value, lowest] of numbersOf(order)) {
    expect(Number.isSafeInteger(value) && value >= lowest, path, `is not a whole number from ${lowest}`);
  }
  if (problems.length > 0) throw badInput('the order of an attempt', problems);
}

function numbersOf({ nice, umask, user, limits = {} }: Order): [path: string, value: number, lowest: number][] {
  const all: [string, number | undefined, number][] = [
    ['nice', nice, -20],
    ['umask', umask, 0],
    ['user.uid', user?.uid, 0],
    ['user.gid', user?.gid, 0],
    ...Object.entries(limits).map(([name, value]): [string, number, number] => [`limits.${name}`, value, 1]),
  ];
  return all.filter((each): each is [string, number, number] => each[1] !== undefined);
}
