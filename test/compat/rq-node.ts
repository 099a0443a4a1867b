/** A node with one queue, `work`, for the tests of RQ's compat layer. Removes everything after the test file. */
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { waitFor } from '../../src/testing/index.ts';
import { endAllOf } from '../processes/runner-workbench.ts';
import { type GuardedProcess, spawnGuarded } from '../support/guarded-process.ts';

const main = join(import.meta.dirname, '../../dist/cli/main.js');

export class RqNode {
  readonly folder = mkdtempSync(join(tmpdir(), 'longhaul-rq-'));
  readonly home = join(this.folder, 'longhaul');
  #node: GuardedProcess | null = null;

  constructor() {
    mkdirSync(join(this.home, 'queues'), { recursive: true, mode: 0o700 });
    mkdirSync(join(this.folder, 'scripts'));
    this.script(
      join(this.home, 'queues/work'),
      `echo "hello $RQ_PARAM1"; echo "run half of it" >&3
[ "$RQ_PARAM1" = slow ] && { sleep 60 & wait; }
[ "$RQ_PARAM1" = bad ] && { echo "err by design" >&3; exit 0; }
echo "done all of it" >&3`,
    );
    const scriptDirs = [join(this.folder, 'scripts')];
    const settings = { rq: { open: true }, scriptDirs, allowDestinations: ['127.0.0.1'] };
    writeFileSync(join(this.home, 'node.json'), JSON.stringify(settings));
    afterAll(() => this.#close());
  }

  /** Put there whole, so that the node never sees half of it. */
  script(path: string, text: string): string {
    writeFileSync(`${path}~`, `#!/bin/bash\n${text}\n`);
    chmodSync(`${path}~`, 0o755);
    renameSync(`${path}~`, path);
    return path;
  }

  /** Answers its base address. */
  async serve(): Promise<string> {
    const words = [main, 'serve', '--home', this.home, '--port', '0'];
    const node = await spawnGuarded(process.execPath, words, { folder: this.folder });
    this.#node = node;
    let said = '';
    for (const stream of [node.stdout, node.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    return waitFor('the node', () => /http:\/\/localhost:\d+/.exec(said)?.[0], { deadlineMs: 25_000 });
  }

  async #close(): Promise<void> {
    this.#node?.signal('SIGKILL');
    await this.#node?.ended;
    await endAllOf(this.home);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}
