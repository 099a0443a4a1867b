/**
 * A conversation about queues with an RQ host: its forms, pages, marker files and command line, the same for RQ and for
 * a node. It returns a title for each request with the answer, without ids, times and paths.
 *
 * RQ answers a form with a redirect and shows the reason on the next page; a node refuses at once. Hence the sentence
 * that both of them say is compared, wherever it is.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RqHost } from './rq-conversation.ts';

export type Answers = Readonly<Record<string, unknown>>;

/** Runs RQ's command line in the data directory. */
export type CommandLine = (...words: string[]) => Promise<{ readonly code: number; readonly stdout: string }>;

const SENTENCES = [
  'queue created - awesome',
  'already created',
  'queue is already running',
  'queue name has invalid characters',
  'json config is missing name field',
  'json config is missing script field',
  'json config has invalid num_workers field (out of range 1..128)',
  'no such queue',
];

class Browser {
  readonly answers: Record<string, unknown> = {};
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  async text(path: string): Promise<string> {
    // A path with two slashes must not become a host.
    return (await fetch(`${this.#base.replace(/\/$/, '')}${path}`)).text();
  }

  async json(path: string): Promise<unknown> {
    return JSON.parse(await this.text(path));
  }

  /** Follows a redirect with its cookies, as a browser does. */
  async form(path: string, fields: readonly (readonly [string, string])[]): Promise<string> {
    const body = new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value]));
    const reply = await fetch(new URL(path, this.#base), { method: 'POST', body, redirect: 'manual' });
    const location = reply.headers.get('location');
    if (location === null) return reply.text();
    const cookie = reply.headers.getSetCookie().map((each) => each.split(';')[0] ?? '');
    const page = await fetch(new URL(location, this.#base), { headers: { cookie: cookie.join('; ') } });
    return page.text();
  }

  async says(title: string, path: string, fields: readonly (readonly [string, string])[]): Promise<void> {
    const page = (await this.form(path, fields)).replaceAll('&quot;', '"');
    this.answers[title] = SENTENCES.filter((sentence) => page.includes(sentence));
  }
}

const queueFields = (name: string, more: readonly (readonly [string, string])[] = []) => [
  ['queue[name]', name] as const,
  ['queue[script]', './code/talk.sh'] as const,
  ['queue[num_workers]', '2'] as const,
  ['queue[exec_prefix]', ''] as const,
  ...more,
];

/** Creates queues, and what goes wrong. `host.home` needs an executable `code/talk.sh`. */
export async function talkAboutQueues({ base, home }: RqHost): Promise<Answers> {
  const browser = new Browser(base);
  const { answers } = browser;
  answers['own queues'] = (await browser.text('/q.txt'))
    .split('\n')
    .filter((line) => /relay|router|cleaner|webhook/.test(line));
  answers['status of the manager'] = ((await browser.json('/q.json')) as { status: string }).status;
  answers['status in the page'] = /QUEUEMGR:.*OPERATIONAL/.test((await browser.text('/')).replaceAll('\n', ''));
  const lists = [
    ['queue[coalesce_params][]', '1'],
    ['queue[coalesce_params][]', '3'],
    ['queue[blocking_params][]', '2'],
  ] as const;
  await browser.says('create', '/new_queue', queueFields('talk', lists));
  answers['config.json'] = await browser.json('/q/talk/config.json');
  answers['config'] = await browser.json('/q/talk/config');
  answers['files'] = filesOf(join(home, 'queue/talk')).filter((name) => /^(?:config\.json|queue\.)/.test(name));
  await browser.says('create again', '/new_queue', queueFields('talk'));
  for (const name of ['bad que', 'bad.que', 'bad/que', ''])
    await browser.says(`create "${name}"`, '/new_queue', queueFields(name));
  const link = async (title: string, config: object) => {
    writeFileSync(join(home, 'link.json'), JSON.stringify(config));
    await browser.says(`link ${title}`, '/new_queue_link', [['queue[json_path]', './link.json']]);
  };
  const good = { name: 'linked', script: './code/talk.sh', num_workers: '1', exec_prefix: '' };
  await link('without a name', { ...good, name: undefined });
  await link('without a script', { ...good, script: undefined });
  await link('with no worker', { ...good, num_workers: '0' });
  await link('with a dot in its name', { ...good, name: 'l.inked' });
  await link('of a good file', { ...good, schedule: [{ cron: '*/5 * * * *', param1: 'tick' }] });
  answers['schedule'] = scheduleIn(await browser.json('/q/linked/config.json'));
  // Its config.json is a link to the file, which is written anew.
  await link('of a queue that runs', good);
  await browser.says('delete of no queue', '/delete_queue', [['queue_name', 'nowhere']]);
  await browser.form('/delete_queue', [['queue_name', 'linked']]);
  answers['deleted'] = await eventually(() =>
    filesOf(join(home, 'queue')).some((name) => /^linked\.deleted\.\d+$/.test(name)),
  );
  return answers;
}

/** RQ shows the file as it is, and a node its settings: the parameters are beside the cron expression or below it. */
function scheduleIn(config: unknown): unknown {
  const [first] = (config as { schedule: readonly Readonly<Record<string, unknown>>[] }).schedule;
  return [first?.['cron'], first?.['param1'] ?? (first?.['params'] as { param1?: unknown } | undefined)?.param1];
}

/** The states of the queue `talk`, by form and by hand, and what its monitor sees. */
export async function talkAboutStates({ base, home }: RqHost): Promise<Answers> {
  const browser = new Browser(base);
  const { answers } = browser;
  const status = async (title: string) => {
    const text = (await browser.text('/q/talk.txt')).replace(/uptime: \d+/, 'uptime: N').trimEnd();
    answers[title] = [text, filesOf(join(home, 'config')).filter((name) => name.startsWith('talk.'))];
  };
  await status('up');
  for (const word of ['pause', 'down', 'up', 'resume']) {
    await browser.form('/q/talk/adminoper', [
      [word, word],
      ['back', '/q/talk'],
    ]);
    await status(`form ${word}`);
  }
  for (const name of ['talk.pause', 'talk.down']) {
    writeFileSync(join(home, 'config', name), '');
    await status(`touch ${name}`);
  }
  for (const name of ['talk.down', 'talk.pause']) {
    rmSync(join(home, 'config', name));
    await status(`rm ${name}`);
  }
  answers['two slashes'] = (await browser.text('//q/talk.txt')).split('\n')[0];
  answers['no limit'] = await browser.json('/q/talk/done.json?limit=0');
  return answers;
}

/** The form for a new message: which fields it shows, and their texts. */
export async function talkAboutForm({ base, home }: RqHost): Promise<Answers> {
  const browser = new Browser(base);
  const path = join(home, 'queue/talk/form.json');
  const fieldsIn = (html: string) => {
    const fields = [
      ...html.matchAll(/<div class="field" id="(\w+)_field"([^>]*)>([\s\S]*?)(?=<div class="field" id|<\/form>)/g),
    ];
    return Object.fromEntries(fields.map(([, id = '', more = '', inner = '']) => [id, shownIn(more, inner)]));
  };
  const plain = fieldsIn(await browser.text('/q/talk/new_message'));
  writeFileSync(path, JSON.stringify({ default: 'hidden', mesg_param1: { label: 'Cluster', help: 'its id' } }));
  const changed = fieldsIn(await browser.text('/q/talk/new_message'));
  rmSync(path);
  const isShown = (fields: typeof plain) =>
    Object.entries(fields)
      .map(([id, { style }]) => `${id} ${style}`)
      .sort();
  const { label, note } = changed['mesg_param1'] ?? {};
  return { plain: isShown(plain), changed: isShown(changed), label, note };
}

function shownIn(more: string, inner: string) {
  const textOf = (tag: string) => new RegExp(`<${tag}[^>]*>([^<]*)</${tag.split(' ')[0]}>`).exec(inner)?.[1]?.trim();
  return {
    style: more.includes('display: none;') ? 'hidden' : 'shown',
    label: textOf('label'),
    note: textOf('p class="note"'),
  };
}

/** The command line: exit codes and answer lines. `note.txt` is a file of 6 bytes in the data directory. */
export async function talkOverCommandLine({ base, home }: RqHost, rq: CommandLine): Promise<Answers> {
  const answers: Record<string, unknown> = {};
  writeFileSync(join(home, 'note.txt'), 'hello\n');
  mkdirSync(join(home, 'tmp-dir'), { recursive: true });
  const run = async (title: string, ...words: string[]): Promise<string> => {
    const { code, stdout } = await rq(...words);
    answers[title] = [code, stdout.replaceAll(/http:\/\/\S+/g, '<address>').replace(/ \/\S+\n$/, ' <path>\n')];
    return /http:\/\/\S+/.exec(stdout)?.[0] ?? '';
  };
  const id = await run('prepmesg', 'prepmesg', '--dest', 'talk', '--src', 'me', '--param1', 'x');
  await run('state of prep', 'state', '--msg_id', id);
  await run('attachstatusmesg without a file', 'attachstatusmesg', '--msg_id', id);
  await run('attachmesg with a relative path', 'attachmesg', '--msg_id', id, '--pathname', 'note.txt');
  await run('attachmesg with a name', 'attachmesg', '--msg_id', id, '--pathname=note.txt', '--name=b.txt');
  await run('commitmesg', 'commitmesg', '--msg_id', id);
  await run('commitmesg again', 'commitmesg', '--msg_id', id);
  await run('attachmesg after the commit', 'attachmesg', '--msg_id', id, '--pathname', 'note.txt');
  await eventually(async () => (await (await fetch(`${id}/state.json`)).text()).includes('done'));
  await run('state of a done message', 'state', '--msg_id', id);
  await run('statusmesg', 'statusmesg', '--msg_id', id);
  await run('statuscountmesg', 'statuscountmesg', '--msg_id', id);
  const single = await run('prepmesg of one file', 'prepmesg', '--dest', 'talk');
  await run('attachmesg of one file', 'attachmesg', '--msg_id', single, '--pathname', 'note.txt');
  await run('attachstatusmesg', 'attachstatusmesg', '--msg_id', single);
  await run('clone of a message in prep', 'clone', '--msg_id', single);
  await run('clone', 'clone', '--msg_id', id);
  const unknown = new URL('q/talk/1', base).href;
  for (const word of ['state', 'statusmesg', 'statuscountmesg', 'attachstatusmesg', 'commitmesg', 'clone'])
    await run(`${word} of no message`, word, '--msg_id', unknown);
  await run('sendmesg without a dest', 'sendmesg');
  await run('a word that RQ does not know', 'sing');
  return answers;
}

const filesOf = (folder: string): readonly string[] => readdirSync(folder).sort();

async function eventually(isTrue: () => boolean | Promise<boolean>): Promise<boolean> {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    if (await isTrue()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
