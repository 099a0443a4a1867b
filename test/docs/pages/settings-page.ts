/** Generates docs/settings.md from the descriptions and the defaults of the settings. */
import { SETTINGS } from '../../../src/cli/commands/queues/setting-values.ts';
import { QUEUE_ONLY_SETTINGS } from '../../../src/core/settings/global-settings.ts';
import { DEFAULT_SETTINGS } from '../../../src/core/settings/settings.ts';

const HEAD = `# Settings of queues

\`queue.configure({ … })\`, \`longhaul config QUEUE SETTING=VALUE\`, \`PATCH /api/queues/{queue}/settings\`, \`<queue>.json\`
beside a script and the web UI change settings of a queue, for all workers at once. \`queue.settings()\`,
\`longhaul config QUEUE\` and \`GET /api/settings\` read them. \`queue.pause(note)\`, \`resume()\` and \`down(note)\` change
the state. Settings of a node are in [Deploying](deploying.md#configuration).

The tables are generated from the source: \`npx vitest run --project docs reference -u\`.
`;

const FOOT = `## Values

| kind | written as |
|---|---|
| duration | \`'90s'\`, \`'10m'\`, \`'1h30m'\`, \`'7d'\`, or milliseconds |
| size | \`'200 MB'\`, \`'2 GB'\`, or bytes |
| \`backoff\` | a duration, a list of durations, or \`{ kind, delay, max, jitter }\` ([Retries](retries.md)) |
| \`rate\` | \`'100/1m'\`, or \`{ count, per }\` ([Rate limits](rate-limits.md)) |
| \`keys\`, \`coalesce\` | \`{ by: 'tenant', limit: 1 }\`; \`'site'\`, or several fields ([Rate limits](rate-limits.md)) |
| \`retention\` | limits by kind, each with \`for\`, \`count\` and \`bytes\` ([Retention](retention.md)) |
| \`limits\` | \`cpu\`, \`memory\`, \`addressSpace\`, \`processes\`, \`fileSize\`, \`log\` ([Scripts](scripts.md#stopping-pausing-and-limits)) |
| \`storedLogs\` | \`{ attempt, queue }\` in bytes ([Logs](files-and-logs.md#logs)) |
| \`hooks\` | addresses, or rules ([Webhooks](webhooks.md)) |
| \`null\` | none |

## Defaults for all queues

\`longhaul.configure({ retries: 3 })\`, \`PATCH /api/settings\`, \`longhaul config --global retries=3\` and the Settings page
of the web UI set defaults for queues that do not set a value of their own. They take effect at once, on every node.

- A queue's own value takes precedence, even \`null\` (none). \`queue.unset('retries')\`,
  \`DELETE /api/queues/{queue}/settings/retries\` or \`longhaul config QUEUE --unset retries\` removes it; the same calls
  without a queue remove a default.
- \`queue.explain()\`, the field \`from\` over HTTP, \`longhaul config QUEUE\` and the web UI show where each value comes
  from: \`queue\`, \`global\` or \`default\`.
- \`retention\` is inherited kind by kind. ${listOf(Object.keys(QUEUE_ONLY_SETTINGS))}
  belong to one queue and have no default for all.
- The system queues (\`relay\`, \`rq_router\`, \`hooks\`) inherit no limits: \`maxRunning\`, \`throttles\`, \`rate\`, \`needs\`,
  \`maxRuntime\`, \`maxSilence\` and \`hooks\` apply to them only if they are set for that queue.
`;

/** Settings that say how a script is run; the others apply to handlers as well. */
const FIRST_OF_SCRIPTS = 'script';

export function settingsPage(): string {
  const rows = Object.entries(SETTINGS).map(([name, { about, of }]) => ({
    name,
    line: `| \`${name}\` | ${about.replaceAll('|', '\\|')} | ${of(DEFAULT_SETTINGS)} |`,
  }));
  const cut = rows.findIndex(({ name }) => name === FIRST_OF_SCRIPTS);
  const table = (part: typeof rows) =>
    ['| setting | meaning | default |', '|---|---|---|', ...part.map(({ line }) => line), ''].join('\n');
  return [
    HEAD,
    '## Jobs and workers\n',
    table(rows.slice(0, cut)),
    '## Scripts\n',
    'Also `secrets`: environment variables that are in no store ([Scripts](scripts.md#settings-of-a-script)).\n',
    table(rows.slice(cut)),
    FOOT,
  ].join('\n');
}

function listOf(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  return `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`;
}
