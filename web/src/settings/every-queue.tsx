/**
 * The settings of every queue, each with its meaning: what a queue goes by wherever it has set nothing itself. What differs
 * from what was there is sent; what was set can be taken back. What is one queue's alone is not here.
 */
import { useRef } from 'preact/hooks';
import type { SettingView } from '../../../src/wire/insight-views.ts';
import { call } from '../data/call.ts';
import { useAct } from '../data/use-act.ts';
import { useQuery } from '../data/use-query.ts';
import { hasField, OneSetting, otherChanges } from '../queues/every-setting.tsx';
import { Button } from '../ui/button.tsx';
import { Trouble } from '../ui/trouble.tsx';

const WHEN_SET = { concerns: ({ queue }: { queue: string }) => queue === '*', everyMs: 600_000 };

export function EveryQueue() {
  const { data, refresh } = useQuery<{ settings: readonly SettingView[] }>('api/settings', WHEN_SET);
  const { error, act } = useAct();
  const form = useRef<HTMLFormElement>(null);
  if (data === undefined) return null;
  const shared = data.settings.filter(({ alone }) => alone === null);
  const now = Object.fromEntries(shared.map(({ key, value }) => [key, value]));
  const ask = (work: () => Promise<unknown>) => void act(async () => (await work(), refresh()));
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const body = otherChanges(now, new FormData(event.currentTarget as HTMLFormElement));
    ask(() => call('api/settings', { method: 'PATCH', body }));
  };
  const problems = new Map(
    (error?.details?.problems ?? []).map(({ path, message }) => [path.split('.')[0] ?? '', message]),
  );
  const isAllInPlace = problems.size > 0 && [...problems.keys()].every((name) => hasField(form.current, name));
  return (
    <section class="panel p-4" aria-labelledby="every-queue">
      <h2 id="every-queue" class="font-semibold">
        Every queue
      </h2>
      <p class="mb-2 text-soft">
        What a queue goes by wherever it has set nothing itself. Changes take effect at once, for every queue.
      </p>
      <TakeBack set={shared.filter(({ from }) => from === 'global')} ask={ask} />
      <details>
        <summary class="cursor-pointer font-medium">Change them</summary>
        <form ref={form} class="mt-3 grid gap-3" onSubmit={onSubmit}>
          {shared.map(({ name, about, from, value }) => (
            <OneSetting
              key={`${name} ${JSON.stringify(value)}`}
              {...{ name, about, from }}
              settings={now}
              problem={problems.get(name)}
            />
          ))}
          {!isAllInPlace && <Trouble error={error} />}
          <div class="flex justify-end">
            <Button kind="main" type="submit">
              Change for every queue
            </Button>
          </div>
        </form>
      </details>
    </section>
  );
}

interface TakeBackProps {
  readonly set: readonly SettingView[];
  ask(work: () => Promise<unknown>): void;
}

function TakeBack({ set, ask }: TakeBackProps) {
  if (set.length === 0) return <p class="mb-2 text-soft">Nothing is set for every queue: each goes by the defaults.</p>;
  return (
    <ul class="mb-2 grid gap-1" aria-label="Set for every queue">
      {set.map(({ name, about }) => (
        <li key={name} class="flex items-baseline gap-2">
          <code class="font-mono">{name}</code>
          <span class="grow text-soft">{about}</span>
          <Button
            onClick={() => ask(() => call(`api/settings/${name}`, { method: 'DELETE' }))}
          >{`Unset ${name}`}</Button>
        </li>
      ))}
    </ul>
  );
}
