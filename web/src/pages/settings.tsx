/** Settings: the user, the theme, defaults for all queues, storage, tokens and the audit log. */
import { useState } from 'preact/hooks';
import { addressOf } from '../data/base.ts';
import { useMe } from '../data/me.ts';
import { Audit } from '../settings/audit.tsx';
import { actorText } from '../settings/audit-text.ts';
import { GlobalSettings } from '../settings/global-settings.tsx';
import { Storage } from '../settings/storage.tsx';
import { Tokens } from '../settings/tokens.tsx';
import { usePageTitle } from '../ui/breadcrumbs.tsx';

const THEMES = ['system', 'light', 'dark'] as const;

export function SettingsPage() {
  usePageTitle('Settings');
  const data = useMe();
  const [theme, setTheme] = useState(localStorage.getItem('theme') ?? 'system');
  const choose = (next: string) => {
    setTheme(next);
    localStorage.setItem('theme', next);
    applyTheme();
  };
  return (
    <div class="grid max-w-5xl grid-cols-[minmax(0,1fr)] gap-4">
      <h1 class="text-lg font-semibold">Settings</h1>
      <section class="panel p-4">
        <h2 class="mb-2 font-semibold">You</h2>
        <p>
          {data === undefined
            ? '…'
            : `You use this node as ${actorText(data.actor)}, with the role ${data.role}, from ${data.from}. The node runs version ${data.version}.`}
        </p>
        <p class="mt-2">
          <a class="link" href={addressOf('login')}>
            Log in with a token
          </a>{' '}
          ·{' '}
          <a class="link" href={addressOf('api')}>
            API
          </a>
        </p>
      </section>
      <fieldset class="panel p-4">
        <legend class="sr-only">Theme</legend>
        <h2 class="mb-2 font-semibold">Theme</h2>
        <div class="flex gap-4">
          {THEMES.map((each) => (
            <label key={each} class="flex items-center gap-1.5">
              <input type="radio" name="theme" checked={theme === each} onChange={() => choose(each)} /> {each}
            </label>
          ))}
        </div>
      </fieldset>
      <GlobalSettings />
      <Storage />
      {data !== undefined && data.role !== 'admin' && (
        <p class="text-soft">
          Tokens and the audit log need the role admin: open the link that <code class="font-mono">longhaul serve</code>{' '}
          printed, or log in with an admin token.
        </p>
      )}
      {data?.role === 'admin' && (
        <>
          <Tokens />
          <Audit />
        </>
      )}
    </div>
  );
}

export function applyTheme(): void {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
  else delete document.documentElement.dataset['theme'];
}
