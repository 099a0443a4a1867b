/**
 * The test programs of RQ, run one by one against a node.
 *
 * RQ_CHECKOUT names a checkout of brightroll/rq (1.18.3), which is copied and never changed. The copy is the data
 * directory of the node, as it was RQ's: the programs find `./queue`, `./config` and `./test` there, and `./bin/rq` is
 * the command line of Longhaul. Needs ruby, ruby-nokogiri, ruby-test-unit, curl and lsof.
 */
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../../src/testing/index.ts';
import { endAllOf } from '../processes/runner-workbench.ts';
import { type GuardedProcess, spawnGuarded } from '../support/guarded-process.ts';
import { checkout, freePort } from './real-rq.ts';

/** The order of RQ's own test/run_tests.sh, without the four that load classes of RQ and call no node. */
export const PROGRAMS = `test_config_change.rb test_message_blocking.rb test_rq.sh send_test_coalesce.sh
send_test_sneaky.sh send_test_symlink.sh test_que_create_naming.sh test_run_admin_down.sh test_run_admin_pause.sh
send_test_large.sh send_test_web_done.rb send_test_web_prepattachdone.rb send_test_web_http11_prepattachdone.rb
send_test_web_prepattachdone_large.rb send_test_web_prepattachmime.rb send_test_attachdone.sh
send_test_cloneattachdone.sh send_test_web_prepdone.rb send_test_done.sh send_test_err.sh send_test_donequick.sh
send_test_errquick.sh send_test_fast_collide.sh send_test_relay_force.sh send_test_relay.sh send_test_relay_loop.sh
send_test_remote_relay_force.sh send_test_remote_relay_force_large.sh send_test_remote_relay.sh
send_test_relay_relayid_attach.sh send_test_relay_relayid.sh send_test_resend.sh send_test_force_remote.sh
test_web_attach_err.rb test_web_max_count.rb test_web_overrides.rb send_dup.rb test_web_done_json.rb
test_web_search.rb env_var_test.rb`.split(/\s+/);

/** Programs that RQ's own suite leaves out, but RQ passes. */
export const MORE_PROGRAMS = ['send_test_single_que.sh', 'test_que_create_link.sh'];

export interface ProgramResult {
  readonly code: number;
  readonly output: string;
}

const shim = join(import.meta.dirname, 'rq-shim.rb');
const main = join(import.meta.dirname, '../../dist/cli/main.js');
const rqMain = join(import.meta.dirname, '../../dist/cli/rq-main.js');
const PROGRAM_LIMIT_MS = 90_000;

export class RqPrograms {
  readonly #folder = mkdtempSync(join(tmpdir(), 'longhaul-rq-programs-'));
  readonly home = join(this.#folder, 'rq');
  readonly #tools = join(this.#folder, 'tools');
  #node: GuardedProcess | null = null;
  #port = 0;
  #output = '';

  constructor() {
    cpSync(checkout, this.home, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('/.git') });
    // A script that other users can write is refused.
    execFileSync('chmod', ['-R', 'go-w', this.home]);
    mkdirSync(this.#tools);
    program(join(this.#tools, 'ruby'), `exec /usr/bin/ruby -r${shim} "$@"`);
    program(join(this.home, 'bin/rq'), `exec '${process.execPath}' '${rqMain}' "$@"`);
  }

  /** What the node has logged so far. */
  get log(): string {
    return this.#output;
  }

  async start(): Promise<void> {
    this.#port = await freePort();
    const settings = {
      url: `http://127.0.0.1:${this.#port}/`,
      rq: { open: true },
      scriptDirs: [join(this.home, 'test')],
      allowDestinations: ['127.0.0.1'],
    };
    writeFileSync(join(this.home, 'node.json'), JSON.stringify(settings));
    const words = [main, 'serve', '--home', this.home, '--port', String(this.#port)];
    const node = await spawnGuarded(process.execPath, words, { folder: this.#folder, env: this.#env() });
    this.#node = node;
    for (const stream of [node.stdout, node.stderr])
      stream.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
    const isUp = () =>
      fetch(`http://127.0.0.1:${this.#port}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await waitFor('the node', isUp, { deadlineMs: 25_000 });
  }

  /** Runs a program in the data directory, as RQ's run_tests.sh does. */
  run(name: string): Promise<ProgramResult> {
    const options = { cwd: this.home, env: this.#env(), timeout: PROGRAM_LIMIT_MS, maxBuffer: 16 * 1024 ** 2 };
    return new Promise((resolve) => {
      execFile(`./test/${name}`, options, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, output: `${stdout}${stderr}` });
      });
    });
  }

  async close(): Promise<void> {
    this.#node?.signal('SIGKILL');
    await this.#node?.ended;
    await endAllOf(this.home);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }

  #env(): NodeJS.ProcessEnv {
    const path = `${this.#tools}:${process.env['PATH'] ?? ''}`;
    return { ...process.env, PATH: path, RQ_PORT: String(this.#port), LONGHAUL_HOME: this.home };
  }
}

function program(path: string, text: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}
