/** The files of the attempt through which a step reaches its node: `steps.json`, reports and answers. */
import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { StepKind } from '../../../core/job/step.ts';
import { MAX_STEP_BYTES, numberedName } from '../../../core/job/step.ts';
import {
  answerPath,
  KEPT,
  type ListedStep,
  outputName,
  reportPath,
  STEPS,
  STREAMS,
  type StepOutput,
  type StepReport,
  type Stream,
  type StreamContent,
  stepFolder,
  stepKey,
  streamPath,
  tryKey,
} from '../../../node/scripts/steps/step-files.ts';
import { printNotice } from '../../output/screen.ts';
import { UsageError } from '../../table/command.ts';
import type { Ran } from './step-command.ts';

const POLL_MS = 20;
const MAX_POLL_MS = 500;
const NOTICE_AFTER_MS = 10_000;
const MAX_FAILURE = 2_000;

type StdioPipe = number | 'ignore';

export interface ReportedTry {
  readonly name: string;
  readonly attempts: number;
  readonly ran: Ran;
  /** Null for a step that is done. */
  readonly failure: string | null;
}

export class ScriptStepFiles {
  readonly #work: string;
  readonly #pipe: number;
  readonly #token: number;
  readonly #steps: readonly ListedStep[];

  /** Opens the files of the attempt in whose script this process runs. */
  static open(): ScriptStepFiles {
    const { LONGHAUL_MSG_DIR: work, LONGHAUL_WRITE: pipe, LONGHAUL_ATTEMPT_TOKEN: token } = process.env;
    if (work === undefined || pipe === undefined || token === undefined)
      throw new UsageError('LONGHAUL_MSG_DIR is not set: longhaul step works only in a script that Longhaul runs');
    return new ScriptStepFiles(work, Number(pipe), Number(token));
  }

  private constructor(work: string, pipe: number, token: number) {
    this.#work = work;
    this.#pipe = pipe;
    this.#token = token;
    const path = join(work, STEPS);
    this.#steps = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as ListedStep[]) : [];
    mkdirSync(stepFolder(work), { recursive: true, mode: 0o700 });
  }

  /** Returns the name of the next step with this name since the script was started. Processes may ask at once. */
  nextName(kind: StepKind, plain: string): string {
    for (let n = 1; ; n += 1) {
      const name = numberedName(plain, n);
      try {
        closeSync(openSync(join(stepFolder(this.#work), stepKey(kind, name)), 'wx', 0o600));
        return name;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  }

  /** Returns a step as it was when the script was started. */
  step(kind: StepKind, name: string): ListedStep | undefined {
    return this.#steps.find((each) => each.kind === kind && each.name === name);
  }

  streamPath(name: string, attempts: number, stream: Stream): string {
    return streamPath(this.#work, tryKey(name, attempts), stream);
  }

  /** Returns the path of output that was too large for its step, which an earlier attempt kept. */
  keptStreamPath(name: string, stream: Stream): string {
    return streamPath(this.#work, stepKey('run', name), stream);
  }

  write(line: string): void {
    if (!isPipe(this.#pipe)) throw new UsageError(`descriptor ${this.#pipe} is closed: the node cannot be reached`);
    writeSync(this.#pipe, `${line}\n`);
  }

  /** Returns descriptors 3 and 4 for a command, as the script has them. */
  pipes(): readonly [StdioPipe, StdioPipe] {
    const [write, read] = [this.#pipe, Number(process.env['LONGHAUL_READ'] ?? '4')];
    return [isPipe(write) ? write : 'ignore', isPipe(read) ? read : 'ignore'];
  }

  /** Reports the end of a command. Resolves when the node has answered: with null, or why the step is not kept. */
  async report({ name, attempts, ran, failure }: ReportedTry): Promise<string | null> {
    const key = tryKey(name, attempts);
    const output = failure === null ? this.#output(name, key, ran.exit) : null;
    const report: StepReport = {
      token: this.#token,
      name,
      status: failure === null ? 'done' : 'failed',
      attempts,
      ranMs: ran.ranMs,
      isLarge: output?.isLarge ?? false,
      ...(output === null ? { failure: failure?.slice(0, MAX_FAILURE) } : { result: output.result }),
    };
    writeFileSync(reportPath(this.#work, key), JSON.stringify(report), { mode: 0o600 });
    this.write(`step ${key}`);
    const answer = await this.#answer(name, key);
    for (const path of [reportPath(this.#work, key), ...STREAMS.map((each) => streamPath(this.#work, key, each))])
      rmSync(path, { force: true });
    return answer === KEPT ? null : answer;
  }

  async #answer(name: string, key: string): Promise<string> {
    const path = answerPath(this.#work, key);
    const noticeAt = performance.now() + NOTICE_AFTER_MS;
    let isNoticed = false;
    for (let ms = POLL_MS; !existsSync(path); ms = Math.min(2 * ms, MAX_POLL_MS)) {
      await delay(ms);
      if (isNoticed || performance.now() < noticeAt) continue;
      isNoticed = true;
      printNotice(`longhaul: step ${name} has ended and waits until its node has kept the result`);
    }
    return readFileSync(path, 'utf8').trimEnd();
  }

  /** A result that is too large for a step has its output in attachments. */
  #output(name: string, key: string, exit: number): { readonly result: StepOutput; readonly isLarge: boolean } {
    const paths = STREAMS.map((stream) => streamPath(this.#work, key, stream));
    const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
    if (bytes <= MAX_STEP_BYTES) {
      const [stdout = '', stderr = ''] = paths.map((path) => contentOf(readFileSync(path)));
      const result = { exit, stdout, stderr };
      if (Buffer.byteLength(name) + Buffer.byteLength(JSON.stringify(result)) <= MAX_STEP_BYTES)
        return { result, isLarge: false };
    }
    const [stdout, stderr] = STREAMS.map((stream) => ({ attachment: outputName(name, stream) }));
    return { result: { exit, stdout, stderr } as StepOutput, isLarge: true };
  }
}

function isPipe(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFIFO();
  } catch {
    return false;
  }
}

function contentOf(bytes: Buffer): StreamContent {
  return isUtf8(bytes) ? bytes.toString('utf8') : { base64: bytes.toString('base64') };
}
