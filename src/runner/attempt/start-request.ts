/**
 * A start request: everything that one attempt needs to start, and the shell text that its shim reads.
 *
 * The runner takes it as it is: it knows no queue, no job and no reason.
 *
 * Invariant: the shell text contains only names and numbers that were checked here, and strings in single quotes.
 */
import { basename, dirname, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { badInput, type Problem } from '../../core/ports/errors.ts';

/** Limits of each process of the script, except `processes`, which counts all processes of the user. */
export interface Limits {
  /** Seconds of processor time. */
  readonly cpu?: number;
  /** Bytes of address space. Programs reserve far more of it than they use. */
  readonly addressSpace?: number;
  /** The number of processes the user may have. The kernel does not apply it to root. */
  readonly processes?: number;
  /** Bytes of a written file, including the log. */
  readonly fileSize?: number;
}

export interface StartRequest {
  /** The attempt directory. It exists and is never used for another attempt. Its path is the mark of the attempt. */
  readonly folder: string;
  /** The working directory of the script. */
  readonly cwd: string;
  /** The absolute path of the executable, then its arguments. */
  readonly argv: readonly string[];
  /** The whole environment. LONGHAUL_ATTEMPT_MARK is added. */
  readonly env: Readonly<Record<string, string>>;
  /** A file to read as stdin; null means /dev/null. */
  readonly stdin: string | null;
  readonly nice?: number;
  /** Default 022. */
  readonly umask?: number;
  /** Needs root. */
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly limits?: Limits;
  /** Text for the top of the log: an empty line, the pid of the script, this text. */
  readonly logHeader?: string;
}

/** Paths of the tools that a start may need. */
export interface Tools {
  readonly setsid: string;
  readonly nice: string;
  readonly setpriv: string;
  readonly env: string;
}

/** The input with which the runner process starts a shim. */
export interface ShimInput {
  readonly folder: string;
  /** Shell text that ends with the call of shim.sh. */
  readonly text: string;
}

export const MARK_VARIABLE = 'LONGHAUL_ATTEMPT_MARK';

/** The facts of the host that a start needs besides the request. */
export interface HostFacts {
  readonly tools: Tools;
  readonly boot: string;
  /** The control group for the script. */
  readonly cgroup: string | null;
}

const home = dirname(fileURLToPath(new URL('../process/shim.sh', import.meta.url)));

/** Builds the shell text. Its last line starts the attempt, so text that is cut short starts nothing. */
export function toShimInput(request: StartRequest, { tools, boot, cgroup }: HostFacts): ShimInput {
  checkRequest(request);
  const { folder, stdin, cwd } = request;
  const { plain, odd } = splitVariables({ ...request.env, [MARK_VARIABLE]: folder });
  const command = [...wrap(request, tools), ...(odd.length > 0 ? [tools.env, ...odd] : []), ...request.argv];
  const shimArguments = [folder, stdin ?? '/dev/null', cwd, locationOf(boot, cgroup), cgroup ?? '', ...command];
  const lines = [
    `home=${quoted(home)}`,
    `prepare_script() { ${limitsOf(request)};${headerOf(request)} export${plain}; }`,
    `set -- ${shimArguments.map(quoted).join(' ')}`,
    '. "$home/shim.sh"',
  ];
  return { folder, text: `${lines.join('\n')}\n` };
}

/** The pid is that of the shell, which becomes the script: `stat` is set by the shim. */
function headerOf({ logHeader }: StartRequest): string {
  return logHeader === undefined ? '' : ` printf '\\n%s%s\\n' "\${stat%% *}" ${quoted(logHeader)};`;
}

/** Splits variables into shell text for those that a shell can pass on, and arguments of `env` for the others. */
function splitVariables(env: StartRequest['env']): { plain: string; odd: string[] } {
  let plain = '';
  const odd: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (SHELL_VARIABLES.test(name)) odd.push(`${name}=${value}`);
    else plain += ` ${name}=${quoted(value)}`;
  }
  return { plain, odd };
}

/** Limits of the kernel for one argument, and approximately for all of them. */
const MAX_ARGUMENT_BYTES = 128 * 1024;
const MAX_TOTAL_BYTES = 1.75 * 1024 ** 2;
/** UTF-8 bytes of one UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;

/** Reports whether the kernel accepts arguments and environment of this size. */
export function fitsKernelLimits({ argv, env }: StartRequest): boolean {
  const parts = [...argv, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  // Most requests are so short that counting bytes is unnecessary.
  if (parts.reduce((sum, text) => sum + text.length * MAX_BYTES_PER_UNIT + 9, 0) <= MAX_ARGUMENT_BYTES) return true;
  const sizes = parts.map((text) => Buffer.byteLength(text) + 1);
  return (
    sizes.every((size) => size <= MAX_ARGUMENT_BYTES) &&
    sizes.reduce((sum, size) => sum + size + 8, 0) <= MAX_TOTAL_BYTES
  );
}

/** Variables with a special meaning in some shell, which may refuse a value or set one of its own. */
const SHELL_VARIABLES =
  /^(?:_|OPTIND|OPTARG|PWD|OLDPWD|PPID|E?UID|GROUPS|DIRSTACK|SHELLOPTS|FUNCNAME|S?RANDOM|SECONDS|EPOCH\w+|HISTCMD|LINENO|BASH\w*|KSH\w*)$/;

/** Within single quotes a shell interprets nothing but the closing quote. */
const quoted = (text: string): string => (text.includes("'") ? `'${text.replaceAll("'", "'\\''")}'` : `'${text}'`);

/** The end of the shim's line in `pid`. */
const locationOf = (boot: string, cgroup: string | null): string =>
  cgroup === null ? boot : `${boot} ${basename(cgroup)}`;

/** Each of these commands execs the next one, so that one process remains: the script. */
function wrap({ nice, user }: StartRequest, tools: Tools): string[] {
  const asUser = user && [tools.setpriv, '--reuid', `${user.uid}`, '--regid', `${user.gid}`, '--clear-groups'];
  const niceCommand = nice === undefined || nice === 0 ? [] : [tools.nice, '-n', `${nice}`];
  return [tools.setsid, ...niceCommand, ...(asUser ?? [])];
}

/** Returns shell text of umask and limits. It contains only numbers of the request. */
function limitsOf({ umask = 0o022, user, limits = {} }: StartRequest): string {
  const lines = [`umask ${umask.toString(8).padStart(3, '0')}`];
  // The soft limit sends a signal that names the reason; the hard limit kills a little later.
  if (limits.cpu !== undefined) lines.push(`ulimit -H -t ${limits.cpu + 2}; ulimit -S -t ${limits.cpu}`);
  if (limits.addressSpace !== undefined) lines.push(`ulimit -v ${Math.ceil(limits.addressSpace / 1024)}`);
  if (limits.fileSize !== undefined) lines.push(`ulimit -f ${Math.ceil(limits.fileSize / 512)}`);
  // The option letter differs between shells.
  if (limits.processes !== undefined)
    lines.push(`ulimit -u ${limits.processes} 2>/dev/null || ulimit -p ${limits.processes}`);
  // A pipe belongs to its creator; without this, another user could not open /dev/fd/3 by name.
  if (user) lines.push('command -p chmod 0666 /dev/fd/3 /dev/fd/4');
  return lines.join('; ');
}

function checkRequest(request: StartRequest): void {
  const problems: Problem[] = [];
  const expect = (isGood: boolean, path: string, message: string) => {
    if (!isGood) problems.push({ path, message });
  };
  expect(isAbsolute(request.folder), 'folder', 'must be an absolute path');
  expect(isAbsolute(request.cwd), 'cwd', 'must be an absolute path');
  expect(isAbsolute(request.argv[0] ?? ''), 'argv[0]', 'must be an absolute path');
  expect(request.stdin === null || isAbsolute(request.stdin), 'stdin', 'must be an absolute path');
  for (const text of request.argv) expect(!text.includes('\0'), 'argv', 'must not contain a NUL');
  for (const [name, value] of Object.entries(request.env)) {
    // A shell passes on no other names.
    if (!/^[A-Za-z_]\w*$/.test(name)) expect(false, `env.${name}`, 'must be a valid shell variable name');
    if (value.includes('\0')) expect(false, `env.${name}`, 'must not contain a NUL');
  }
  for (const [path, value, lowest] of numbersOf(request)) {
    expect(Number.isSafeInteger(value) && value >= lowest, path, `must be a whole number from ${lowest}`);
  }
  if (problems.length > 0) throw badInput('start request', problems);
}

function numbersOf({ nice, umask, user, limits = {} }: StartRequest): [path: string, value: number, lowest: number][] {
  const all: [string, number | undefined, number][] = [
    ['nice', nice, -20],
    ['umask', umask, 0],
    ['user.uid', user?.uid, 0],
    ['user.gid', user?.gid, 0],
    ...Object.entries(limits).map(([name, value]): [string, number, number] => [`limits.${name}`, value, 1]),
  ];
  return all.filter((each): each is [string, number, number] => each[1] !== undefined);
}
