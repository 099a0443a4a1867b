/** Worqr's own test program (test/test.ts of a checkout of version 1.2.3), step by step, with the compat layer's class. */
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { afterAll, beforeAll, chai, describe, expect, test } from 'vitest';
import { Worqr } from '../../../src/compat/worqr/index.ts';
import { hasRedis, type RedisServer, startRedis } from '../../support/redis-server.ts';
import { pathOf } from './checkout.ts';

const STEPS = 38;
const STEP_DEADLINE_MS = 5_000;

interface Step {
  readonly title: string;
  run(done?: (error?: Error) => void): unknown;
}

/** Loads the program with the compat layer in place of `../src`, and returns its steps. */
async function stepsOf(program: string, opened: Worqr[]): Promise<readonly Step[]> {
  const fixture = '../../fixtures/compile-script.mjs';
  const { compileScript } = (await import(fixture)) as {
    compileScript(input: string, external: readonly RegExp[]): Promise<string>;
  };
  class Kept extends Worqr {
    constructor(...args: ConstructorParameters<typeof Worqr>) {
      super(...args);
      opened.push(this);
    }
  }
  const steps: Step[] = [];
  const scope = {
    require: (name: string) => (name === 'chai' ? chai : { Worqr: Kept }),
    exports: {},
    describe: (_title: string, body: () => void) => body(),
    it: (title: string, run: Step['run']) => steps.push({ title, run }),
  };
  const run = compileFunction(await compileScript(program, [/src$/]), Object.keys(scope)) as (
    ...given: unknown[]
  ) => void;
  run(...Object.values(scope));
  return steps;
}

/** Runs a step as mocha does: one with a parameter ends with its callback. */
async function runStep({ title, run }: Step): Promise<void> {
  if (run.length === 0) return void (await run());
  await new Promise<void>((resolve, reject) => {
    const late = new Error(`${title}: no end within ${STEP_DEADLINE_MS} ms`);
    const timer = setTimeout(() => reject(late), STEP_DEADLINE_MS);
    run((error) => {
      clearTimeout(timer);
      if (error === undefined) resolve();
      else reject(error);
    });
  });
}

const worqr = { variable: 'WORQR_CHECKOUT', system: 'droplit/worqr 1.2.3', needs: ['test/test.ts'] };
const path = pathOf(worqr);
describe.skipIf(path === null)("Worqr's own tests", () => {
  let redis: RedisServer;
  const opened: Worqr[] = [];
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    await Promise.all(opened.map((each) => each.close()));
    await redis.stop();
  });

  test.skipIf(!hasRedis)('pass, every step', async () => {
    process.env['REDIS_HOST'] = '127.0.0.1';
    process.env['REDIS_PORT'] = String(redis.port);
    const steps = await stepsOf(join(path ?? '', 'test/test.ts'), opened);
    expect(steps).toHaveLength(STEPS);
    const failed: string[] = [];
    for (const step of steps)
      await runStep(step).catch((error: unknown) => failed.push(`${step.title}: ${String(error)}`));
    expect(failed).toEqual([]);
  });
});
