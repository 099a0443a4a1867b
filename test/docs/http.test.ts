/** The examples of docs/http.md, as somebody would paste them: by bash and curl, in their order, against a real server. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startTrial } from '../server/trial-server.ts';

const page = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```sh\n([\s\S]*?)```\n```json\n([\s\S]*?)```/g)];
const run = promisify(execFile);

test('The examples of docs/http.md answer what the page says.', async () => {
  const { port } = await startTrial();
  expect(examples.length).toBeGreaterThan(10);
  // One shell for all: a later example uses what an earlier one kept.
  const mark = '\n--- next ---\n';
  const script = examples
    .map(([, commands = '']) => commands.replaceAll(':3333', `:${port}`))
    .join(`printf '${mark}'\n`);
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { timeout: 60_000 });
  const heard = stdout.split(mark).map((text) => lastJson(text));
  for (const [place, [, , expected = '']] of examples.entries()) {
    expect(heard[place]).toMatchObject(JSON.parse(expected) as object);
  }
});

/** Of several commands the last one's answer is what the page shows. */
function lastJson(text: string): unknown {
  const answers = text
    .replaceAll(/(?<=[}\]])(?=[{[]"?)/g, '\n')
    .trim()
    .split('\n');
  for (let from = answers.length - 1; from >= 0; from -= 1) {
    try {
      return JSON.parse(answers.slice(from).join(''));
    } catch {
      // It began earlier.
    }
  }
  return text;
}
