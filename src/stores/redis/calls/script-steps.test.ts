import { expect, test } from 'vitest';
import { ScriptSteps } from './script-steps.ts';
import { DECLINED, LOG_IS_LONG, NEEDS_REPAIR, type ScriptName } from './scripts.ts';

/** Steps whose scripts answer by a table; what was sent, and how often the log was long. */
function stepsWith(answerOf: (name: ScriptName, at: number) => unknown) {
  const sent: ScriptName[] = [];
  let longLogs = 0;
  const steps = new ScriptSteps(
    async (name) => answerOf(name, sent.push(name)),
    () => {
      longLogs += 1;
    },
  );
  return { steps, sent, longLogs: () => longLogs };
}

const isFast = (name: ScriptName) => name.startsWith('fast-');

test('A settlement or claim is sent to the fast script, and to the general one if that declines.', async () => {
  const { steps, sent } = stepsWith((name) => (name === 'fast-claim' ? DECLINED : name));
  expect(await steps.run('settle', [])).toBe('fast-settle');
  expect(await steps.run('claim', [])).toBe('claim');
  expect(await steps.run('cancel', [])).toBe('cancel');
  expect(sent).toEqual(['fast-settle', 'fast-claim', 'claim', 'cancel']);
});

test('The fast script is tried less and less for queues whose calls it declines, and for others as before.', async () => {
  let isDeclining = true;
  const { steps, sent } = stepsWith((name) => (isFast(name) && isDeclining ? DECLINED : name));
  const tries = async (calls: number, queue: string) => {
    const before = sent.filter(isFast).length;
    for (let at = 0; at < calls; at += 1) await steps.run('claim', [], undefined, [queue]);
    return sent.filter(isFast).length - before;
  };
  expect(await tries(2, 'limited')).toBe(2);
  expect(await tries(1, 'limited')).toBe(0);
  expect(await tries(600, 'limited')).toBeLessThan(20);
  isDeclining = false;
  expect(await tries(10, 'plain')).toBe(10);
  await tries(65, 'limited');
  expect(await tries(10, 'limited')).toBe(10);
});

test('A call that was cut short is repaired, and then the operation is sent again.', async () => {
  const { steps, sent } = stepsWith((name, at) => (name === 'cancel' && at === 1 ? NEEDS_REPAIR : name));
  expect(await steps.run('cancel', [])).toBe('cancel');
  expect(sent).toEqual(['cancel', 'repair', 'cancel']);
});

test('An operation that needs one repair after the other fails, and says why.', async () => {
  const { steps } = stepsWith((name) => (name === 'repair' ? '' : NEEDS_REPAIR));
  await expect(steps.run('cancel', [])).rejects.toMatchObject({ code: 'store-unavailable' });
});

test('An answer that says that the log of statistics is long is returned without that.', async () => {
  const { steps, longLogs } = stepsWith((name) => (isFast(name) ? [LOG_IS_LONG, ['1', '2']] : name));
  expect(await steps.run('claim', [])).toEqual(['1', '2']);
  expect(await steps.run('cancel', [])).toBe('cancel');
  expect(longLogs()).toBe(1);
});
