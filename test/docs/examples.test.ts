/**
 * The examples of README and docs, run as a new user would: in a separate folder, with the built package and plain
 * node. The compiler also checks them against the package's types.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPages, root } from './markdown.ts';

const pages = readPages()
  .map(({ text }) => text)
  .join('\n');
const run = promisify(execFile);
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-readme-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/longhaul'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function example(name: string): string {
  const found = new RegExp(`<!-- example: ${name} -->\\n\`\`\`ts\\n([\\s\\S]*?)\`\`\``).exec(pages);
  if (found?.[1] === undefined) throw new Error(`README and docs have no example named ${name}`);
  return found[1];
}

/** Type-checks and compiles an example. */
async function compile(name: string): Promise<string> {
  writeFileSync(join(folder, `${name}.ts`), example(name));
  const options = [
    '--strict',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--skipLibCheck',
    '--types',
    'node',
    '--typeRoots',
    join(root, 'node_modules/@types'),
  ];
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, `${name}.ts`], {
    cwd: folder,
  }).catch((error: { stdout?: string }) => expect.fail(error.stdout ?? 'the compiler could not run'));
  return join(folder, `${name}.js`);
}

test('The example of dependencies prints what its comments say.', async () => {
  const { stdout } = await run(process.execPath, [await compile('dependencies')], { cwd: folder, timeout: 60_000 });
  expect(stdout).toBe('waits for 3 of 3 jobs\n60\n');
});

test('The example of files prints what its comments say.', async () => {
  const { stdout } = await run(process.execPath, [await compile('files')], { cwd: folder, timeout: 60_000 });
  expect(stdout).toBe("3\n[ 'friends', 'romans', 'countrymen' ]\n");
});

test('The hello world has at most six lines, compiles, greets, and ends.', async () => {
  expect(example('hello').trim().split('\n').length).toBeLessThanOrEqual(6);
  const { stdout } = await run(process.execPath, [await compile('hello')], { cwd: folder, timeout: 60_000 });
  expect(stdout).toBe('Hello, world!\n');
});

test('Types are inferred: a wrong data field and a wrong use of the result do not compile.', async () => {
  const wrong = example('hello').replace("{ name: 'world' }", '{ nome: 1 }');
  writeFileSync(join(folder, 'wrong.ts'), `${wrong}\nconst n: number = await greetings.run({ name: 'x' });`);
  const check = run(
    process.execPath,
    [
      join(root, 'node_modules/typescript/bin/tsc'),
      '--noEmit',
      '--strict',
      '--target',
      'es2023',
      '--module',
      'nodenext',
      '--skipLibCheck',
      '--types',
      'node',
      '--typeRoots',
      join(root, 'node_modules/@types'),
      'wrong.ts',
    ],
    { cwd: folder },
  );
  await expect(check).rejects.toMatchObject({
    stdout: expect.stringMatching(/nome[\s\S]*'string' is not assignable to type 'number'/),
  });
});

test('The example of a migration from BullMQ prints what its comments say.', async () => {
  const { stdout } = await run(process.execPath, [await compile('from-bullmq')], { cwd: folder, timeout: 60_000 });
  expect(stdout).toBe('sent to ada\n');
});

test('The long job prints what its comment says.', async () => {
  const { stdout } = await run(process.execPath, [await compile('long-job')], { cwd: folder, timeout: 60_000 });
  expect(stdout).toBe('{ frames: 48 }\n');
});

test('The example of isolated handlers prints what its comments say.', async () => {
  await compile('isolated-encode');
  const { stdout } = await run(process.execPath, [await compile('isolation')], { cwd: folder, timeout: 60_000 });
  expect(stdout).toBe("log: encodes Metropolis\n{ film: 'Metropolis', frames: 48 }\n");
});

test('The example of workflows prints what its page says.', async () => {
  const { stdout } = await run(process.execPath, [await compile('workflow')], { cwd: folder, timeout: 60_000 });
  expect(pages).toContain(`\`\`\`text\n${stdout}\`\`\``);
  expect(stdout).toContain('part 1 and part 2, approved by anna\n');
});

test('Every example of the pages is run.', () => {
  const named = [...pages.matchAll(/<!-- example: ([\w-]+) -->\n```ts/g)].map(([, name = '']) => name);
  const source = readFileSync(import.meta.filename, 'utf8');
  expect(named.filter((name) => !source.includes(`'${name}'`))).toEqual([]);
});

test('The testing example advances the clock by three days.', async () => {
  const { stdout } = await run(process.execPath, [await compile('testing')], { cwd: folder, timeout: 60_000 });
  expect(stdout).toBe('sent to ada\n');
});

test.each(['chaos', 'faulty-store'])('The example %s of docs/testing.md prints what its page says.', async (name) => {
  const { stdout } = await run(process.execPath, [await compile(name)], { cwd: folder, timeout: 60_000 });
  expect(pages).toContain(`\`\`\`text\n${stdout}\`\`\``);
});

test('The examples of the Worqr, Blueque and qless compat layers print the documented output.', async () => {
  const worqr = await run(process.execPath, [await compile('worqr')], { cwd: folder, timeout: 60_000 });
  expect(worqr.stdout).toBe('sent a letter\n');
  const blueque = await run(process.execPath, [await compile('blueque')], { cwd: folder, timeout: 60_000 });
  expect(blueque.stdout).toBe('complete did {"film": 7}\n');
  const qless = await run(process.execPath, [await compile('qless')], { cwd: folder, timeout: 60_000 });
  expect(qless.stdout).toBe('popped 7f urgent\n7f: put in frames, done, put in sound\ncomplete\n');
});

test('The examples of docs/scheduling.md print the documented output.', async () => {
  const { stdout } = await run(process.execPath, [await compile('schedules')], { cwd: folder, timeout: 60_000 });
  expect(stdout).toBe('every day at 03:30 (Europe/Berlin)\nunchanged\nevery 15 minutes, 5m past\nreport backup\n');
});

test('The daylight saving example of docs/scheduling.md prints the documented output.', async () => {
  const { stdout } = await run(process.execPath, [await compile('clock-changes')], { cwd: folder, timeout: 60_000 });
  expect(stdout).toBe('nightly@2030-03-31T01:00:00Z\nnightly@2030-04-01T00:30:00Z\n');
});
