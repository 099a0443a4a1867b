/**
 * Calls of Blueque's API and their answers, as lines that can be compared. The same program runs with the original and with
 * the compat layer. Ids are numbered in their order, times are reduced to whether they changed, errors to "rejects".
 */

export interface BluequeHost {
  call(method: string, ...args: readonly unknown[]): Promise<unknown>;
}

export interface TaskView {
  readonly id: string;
  readonly status: string | null;
  readonly queue: string | null;
  readonly parameters: string | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly node: string | null;
  readonly pid: number | null;
  readonly created: number | null;
  readonly updated: number | null;
  readonly eta: number | string | null;
}

type Ask = (method: string, ...args: readonly unknown[]) => Promise<unknown>;

/** A process id that no process has. */
export const NO_PROCESS = 4_194_303;

const SCENARIOS: Readonly<Record<string, (ask: Ask) => Promise<void>>> = {
  'a task': async (ask) => {
    const id = await ask('enqueue', 'a', 'PARAMETERS');
    await ask('task', id);
    await ask('lists', 'a');
    await ask('listen', 'a');
    await ask('task', id);
    await ask('lists', 'a');
    await ask('delete', 'a', id);
    await ask('start', id, 123_456);
    await ask('task', id);
    await ask('lists', 'a');
    await ask('complete', id, 'RESULT');
    await ask('task', id);
    await ask('lists', 'a');
    await ask('delete', 'other', id);
    await ask('delete', 'a', id);
    await ask('task', id);
    await ask('lists', 'a');
  },
  'a failing task': async (ask) => {
    const [first, second] = [await ask('enqueue', 'b', '1'), await ask('enqueue', 'b', '2')];
    await ask('lists', 'b');
    await ask('listen', 'b');
    await ask('listen', 'b');
    await ask('lists', 'b');
    for (const id of [first, second]) {
      await ask('start', id, NO_PROCESS);
      await ask('fail', id, 'ERROR');
      await ask('task', id);
    }
    await ask('lists', 'b');
    await ask('delete', 'b', first);
    await ask('lists', 'b');
  },
  'a scheduled task': async (ask) => {
    const past = await ask('schedule', 'c', 'PAST', -60);
    await ask('task', past);
    const [later, soon] = [await ask('schedule', 'c', 'LATER', 7_200), await ask('schedule', 'c', 'SOON', 3_600)];
    await ask('task', later);
    await ask('task', soon);
    await ask('due', 'c');
    await ask('lists', 'c');
    const now = await ask('schedule', 'c', 'NOW', 0.05);
    await new Promise((resolve) => setTimeout(resolve, 60));
    await ask('due', 'c');
    await ask('task', now);
    await ask('lists', 'c');
  },
  'an orphan whose process is gone': async (ask) => {
    const id = await ask('enqueue', 'd', 'PARAMETERS');
    await ask('crash', 'd', NO_PROCESS);
    await ask('orphan', 'd');
    await ask('lists', 'd');
    await ask('orphan', 'd');
    await ask('complete', id, 'RESULT');
    await ask('task', id);
    await ask('lists', 'd');
  },
  'an orphan whose process lives': async (ask) => {
    await ask('enqueue', 'e', 'PARAMETERS');
    await ask('crash', 'e', 1);
    await ask('orphan', 'e');
    await ask('orphan', 'e');
    await ask('lists', 'e');
  },
  'an orphan that was only reserved': async (ask) => {
    const id = await ask('enqueue', 'f', 'PARAMETERS');
    await ask('crash', 'f', null);
    await ask('orphan', 'f');
    await ask('orphan', 'f');
    await ask('start', id, NO_PROCESS);
    await ask('complete', id, 'RESULT');
    await ask('task', id);
  },
  'an unknown task': async (ask) => {
    await ask('task', 'no-such-task');
    await ask('delete', 'a', 'no-such-task');
  },
};

export async function runProgram(host: BluequeHost): Promise<Readonly<Record<string, unknown>>> {
  const me = String(await host.call('me', 'a'));
  const answers: Record<string, unknown> = {};
  const ids: string[] = [];
  const seen = new Map<string, number>();
  const text = (value: unknown): string => {
    const numbered = ids.reduce(
      (all, id, at) => all.replaceAll(id, `<task ${at + 1}>`),
      JSON.stringify(value) ?? 'null',
    );
    return numbered.replaceAll(me, '<this listener>').replaceAll(/"[^"<> ]+_\d+"/g, '"<dead listener>"');
  };
  for (const [scenario, run] of Object.entries(SCENARIOS)) {
    let number = 0;
    await run(async (method, ...args) => {
      // Times of the store are whole milliseconds: two changes must not fall into one.
      await new Promise((resolve) => setTimeout(resolve, 3));
      const answer = await host.call(method, ...args).catch(() => 'rejects');
      if (method === 'enqueue' || method === 'schedule') ids.push(String(answer));
      number += 1;
      const line = `${scenario}, ${number}: ${method}(${text(args).slice(1, -1)})`;
      answers[line] = JSON.parse(text(isTask(answer) ? withoutTimes(answer, seen) : answer));
      return answer;
    });
  }
  return answers;
}

const isTask = (answer: unknown): answer is TaskView =>
  typeof answer === 'object' && answer !== null && 'parameters' in answer;

/** Replaces times by what can be compared: whether there is one, and whether the task changed since it was last seen. */
function withoutTimes(task: TaskView, seen: Map<string, number>): Record<string, unknown> {
  const { id, status, queue, parameters, result, error, node, pid, created, updated, eta } = task;
  const before = seen.get(id);
  if (updated !== null) seen.set(id, updated);
  const changed = before === undefined ? updated === created : (updated ?? 0) > before;
  const times = {
    created: created !== null,
    [before === undefined ? 'unchanged' : 'changed']: changed,
    eta: eta !== null,
  };
  return { id, status, queue, parameters, result, error, node, pid, ...times };
}
