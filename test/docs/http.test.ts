/** Runs the examples of docs/http.md in order with bash and curl against a real server. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startTrial } from '../server/trial-server.ts';

const page = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```sh\n([\s\S]*?)```\n```json\n([\s\S]*?)```/g)];
const run = promisify(execFile);

test('The examples of docs/http.md return the documented responses.', async () => {
  const { port } = await startTrial();
  expect(examples.length).toBeGreaterThan(10);
  // One shell for all: later examples use variables of earlier ones.
  const separator = '\n--- next ---\n';
  const script = examples
    .map(([, commands = '']) => commands.replaceAll(':3333', `:${port}`))
    .join(`printf '${separator}'\n`);
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { timeout: 60_000 });
  const responses = stdout.split(separator).map((text) => lastJson(text));
  for (const [place, [, , expected = '']] of examples.entries()) {
    expect(responses[place]).toMatchObject(JSON.parse(expected) as object);
  }
});

/** Returns the response of the last command. */
function lastJson(text: string): unknown {
  const answers = text
    .replaceAll(/(?<=[}\]])(?=[{[]"?)/g, '\n')
    .trim()
    .split('\n');
  for (let from = answers.length - 1; from >= 0; from -= 1) {
    try {
      return JSON.parse(answers.slice(from).join(''));
    } catch {
      // The JSON starts on an earlier line.
    }
  }
  return text;
}
