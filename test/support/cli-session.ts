/** Commands of `longhaul` that share one process (test/fixtures/cli-session.mjs). It starts with the first command. */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { spawnGuarded } from './guarded-process.ts';

const longhaul = join(import.meta.dirname, '../../dist/cli/main.js');
const session = join(import.meta.dirname, '../fixtures/cli-session.mjs');

export interface CommandResult {
  /** The exit status as a shell reports it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Answer = CommandResult & {
  /** What the command changed in its process and left so. */
  readonly left: readonly string[];
};

interface SessionOptions {
  /** Default: `longhaul`. */
  readonly program?: string;
  /** How long a command may take to close what it has opened, after its end. */
  readonly limitMs?: number;
}

export class CliSession {
  readonly #cwd: string;
  readonly #options: SessionOptions;
  #opened: ReturnType<typeof open> | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(cwd: string, options: SessionOptions = {}) {
    this.#cwd = cwd;
    this.#options = options;
  }

  /** Runs a command after all earlier ones. Rejects if it would not have ended as a process, or affects the next one. */
  run(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<CommandResult> {
    const result = this.#last.then(() => this.#run(argv, env));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #run(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<CommandResult> {
    this.#opened ??= open(this.#cwd, this.#options);
    const { left, ...result } = await (await this.#opened).ask({ argv, env });
    if (left.length > 0) throw new Error(`longhaul ${argv.join(' ')} left this behind: ${left.join('; ')}`);
    return result;
  }

  async close(): Promise<void> {
    await (await this.#opened)?.close();
  }
}

async function open(cwd: string, { program = longhaul, limitMs = 10_000 }: SessionOptions) {
  const child = await spawnGuarded(process.execPath, [session, program, String(limitMs)], { cwd });
  let problems = '';
  child.stderr.on('data', (chunk) => (problems += String(chunk)));
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(request: { argv: readonly string[]; env: NodeJS.ProcessEnv }): Promise<Answer> {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value } = (await answers.next()) as { value?: string };
      if (value !== undefined) return JSON.parse(value) as Answer;
      throw new Error(`the process ended during longhaul ${request.argv.join(' ')}: ${problems}`);
    },
    close(): Promise<unknown> {
      child.signal('SIGKILL');
      return child.ended;
    },
  };
}
