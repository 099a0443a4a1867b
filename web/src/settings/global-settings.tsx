/**
 * Defaults for queues that do not set a value of their own, with descriptions. Only changed settings
 * are sent, and each can be unset. Settings that belong to one queue are not listed.
 */
import { useRef } from 'preact/hooks';
import type { SettingView } from '../../../src/wire/insight-views.ts';
import { exactDuration } from '../../../src/wire/spans.ts';
import { call } from '../data/call.ts';
import { useAction } from '../data/use-action.ts';
import { useQuery } from '../data/use-query.ts';
import { hasField, otherSettingChanges, SettingField } from '../queues/other-settings.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';

const WHEN_SET = { concerns: ({ queue }: { queue: string }) => queue === '*', everyMs: 600_000 };

export function GlobalSettings() {
  const { data, refresh } = useQuery<{ settings: readonly SettingView[] }>('api/settings', WHEN_SET);
  const { error, run } = useAction();
  const form = useRef<HTMLFormElement>(null);
  if (data === undefined) return null;
  const shared = data.settings.filter(({ alone }) => alone === null);
  const now = Object.fromEntries(shared.map(({ key, value }) => [key, value]));
  const ask = (work: () => Promise<unknown>) => void run(async () => (await work(), refresh()));
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const body = otherSettingChanges(now, new FormData(event.currentTarget as HTMLFormElement));
    ask(() => call('api/settings', { method: 'PATCH', body }));
  };
  const problems = new Map(
    (error?.details?.problems ?? []).map(({ path, message }) => [path.split('.')[0] ?? '', message]),
  );
  const isAllInPlace = problems.size > 0 && [...problems.keys()].every((name) => hasField(form.current, name));
  return (
    <section class="panel p-4" aria-labelledby="every-queue">
      <h2 id="every-queue" class="font-semibold">
        Defaults for all queues
      </h2>
      <p class="mb-2 text-soft">
        Defaults for queues that do not set a value of their own. Changes take effect at once.
      </p>
      <UnsetList set={shared.filter(({ from }) => from === 'global')} ask={ask} />
      <details>
        <summary class="cursor-pointer font-medium">Edit defaults</summary>
        <form ref={form} class="mt-3 grid gap-3" onSubmit={onSubmit}>
          {shared.map(({ name, about, from, value }) => (
            <SettingField
              key={`${name} ${JSON.stringify(value)}`}
              {...{ name, about, from }}
              settings={now}
              problem={problems.get(name)}
            />
          ))}
          {!isAllInPlace && <ErrorMessage error={error} />}
          <div class="sticky bottom-0 -mx-4 flex justify-end border-t border-line bg-sheet px-4 py-2.5">
            <Button kind="main" type="submit">
              Save defaults
            </Button>
          </div>
        </form>
      </details>
    </section>
  );
}

/** Returns a value as the command line takes it: durations with units, anything else than text as JSON. */
function valueText(key: string, value: unknown): string {
  if (key.endsWith('Ms') && typeof value === 'number') return exactDuration(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface UnsetListProps {
  readonly set: readonly SettingView[];
  ask(work: () => Promise<unknown>): void;
}

function UnsetList({ set, ask }: UnsetListProps) {
  if (set.length === 0) return <p class="mb-2 text-soft">No default is changed.</p>;
  return (
    <ul class="mb-2 grid gap-1" aria-label="Set for all queues">
      {set.map(({ name, key, value, about }) => (
        <li key={name} class="flex items-baseline gap-2">
          <code class="font-mono break-all">
            {name} = {valueText(key, value)}
          </code>
          <span class="grow text-soft">{about}</span>
          <Button
            onClick={() => ask(() => call(`api/settings/${name}`, { method: 'DELETE' }))}
          >{`Unset ${name}`}</Button>
        </li>
      ))}
    </ul>
  );
}
