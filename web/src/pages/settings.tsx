/** This node, as whom it sees you, and how the page looks. */
import { useState } from 'preact/hooks';
import { addressOf } from '../data/base.ts';
import { useQuery } from '../data/use-query.ts';
import { Trouble } from '../ui/trouble.tsx';

interface Me {
  readonly actor: string;
  readonly role: string;
  readonly from: string;
  readonly version: string;
}

const THEMES = ['system', 'light', 'dark'] as const;

export function SettingsPage() {
  const { data, error } = useQuery<Me>('api/me');
  const [theme, setTheme] = useState(localStorage.getItem('theme') ?? 'system');
  const choose = (next: string) => {
    setTheme(next);
    localStorage.setItem('theme', next);
    applyTheme();
  };
  return (
    <div class="grid max-w-3xl gap-4">
      <h1 class="text-lg font-semibold">Settings</h1>
      <Trouble error={data === undefined ? error : null} />
      <section class="panel p-4">
        <h2 class="mb-2 font-semibold">You</h2>
        <p>
          {data === undefined
            ? '…'
            : `You are ${data.actor} with the role ${data.role}, from ${data.from}. The node runs version ${data.version}.`}
        </p>
        <p class="mt-2">
          <a class="link" href={addressOf('login')}>
            Log in with a token
          </a>{' '}
          ·{' '}
          <a class="link" href={addressOf('api')}>
            The API
          </a>
        </p>
      </section>
      <fieldset class="panel p-4">
        <legend class="sr-only">Colours</legend>
        <h2 class="mb-2 font-semibold">Colours</h2>
        <div class="flex gap-4">
          {THEMES.map((each) => (
            <label key={each} class="flex items-center gap-1.5">
              <input type="radio" name="theme" checked={theme === each} onChange={() => choose(each)} /> {each}
            </label>
          ))}
        </div>
      </fieldset>
    </div>
  );
}

export function applyTheme(): void {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
  else delete document.documentElement.dataset['theme'];
}
