/**
 * The form for a new message of a queue, `GET /q/<queue>/new_message`. `queue/<queue>/form.json` changes the labels and
 * notes of its fields, and hides those that it does not name:
 *
 *     { "default": "hidden", "mesg_param1": { "label": "Cluster", "help": "The id of the cluster" } }
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mapOf, object, oneOf, text } from '../../core/input/check.ts';
import { queueName } from '../../core/job/names.ts';
import { badInput } from '../../core/ports/errors.ts';
import { homeAt } from '../../node/home.ts';
import { text as html, type Reply } from '../../server/http/reply.ts';
import { type Call, type Route, route } from '../../server/http/route.ts';
import { rqQueue } from './rq-queues.ts';
import { inRqWords } from './rq-replies.ts';
import type { RqCompat } from './rq-routes.ts';

interface Override {
  readonly label?: string;
  readonly help?: string;
}

interface FormOverrides {
  readonly isHidden: boolean;
  readonly of: Readonly<Record<string, Override>>;
}

const anyText = text({ max: 4_096 });
const texts = mapOf(anyText, 20);
const hidden = object({ default: oneOf('hidden', 'shown') });
const NO_OVERRIDES: FormOverrides = { isHidden: false, of: {} };

export function rqFormRoutes(rq: RqCompat): readonly Route[] {
  return [
    route({
      name: 'rq.new_message.page',
      method: 'GET',
      path: '/q/{queue}/new_message',
      about: 'The form for a new message, with the labels of the queue’s form.json.',
      role: 'read',
      params: { queue: queueName },
      answer: 'text',
      handle: inRqWords((call) => form(rq, call)),
    }),
  ];
}

async function form(rq: RqCompat, { context, params }: Call): Promise<Reply> {
  const { queue } = params as { readonly queue: string };
  await rqQueue(rq, context, queue);
  const overrides = await readFormOverrides(join(homeAt(rq.root).rqQueues, queue));
  return html(formPage(queue, overrides), 'text/html; charset=utf-8');
}

/** Reads `form.json`. Throws `bad-input` that names the file for an invalid one. */
async function readFormOverrides(folder: string): Promise<FormOverrides> {
  const path = join(folder, 'form.json');
  const json = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  return json === null ? NO_OVERRIDES : parse(path, json);
}

function parse(path: string, json: string): FormOverrides {
  const invalid = (message: string): Error => badInput(path, [{ path: '', message }]);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw invalid(`is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('must be one JSON object');
  const { default: shown, ...of } = value as Readonly<Record<string, unknown>>;
  const problems: { path: string; message: string }[] = [];
  const report = (at: string, message: string): undefined => void problems.push({ path: at, message });
  const isHidden = hidden({ default: shown }, report, '')?.default === 'hidden';
  const read = mapOf(texts, 100)(of, report, '');
  if (problems.length > 0) throw badInput(path, problems);
  return { isHidden, of: read ?? {} };
}

interface Field {
  readonly id: string;
  readonly label: string;
  readonly help: string;
  readonly value: string;
}

/** Its names and ids are RQ's, which scripts and style sheets of other pages know. */
function fieldsOf(queue: string): readonly Field[] {
  const parameters = [1, 2, 3, 4].map((number) => ({
    id: `mesg_param${number}`,
    label: `Parameter ${number}`,
    help: 'optional',
    value: '',
  }));
  return [
    { id: 'mesg_dest', label: 'Destination', help: '', value: `/q/${queue}` },
    { id: 'mesg_src', label: 'Source', help: '', value: '' },
    ...parameters,
    { id: 'mesg_post_run_webhook', label: 'Webhook', help: 'called when the message has ended', value: '' },
  ];
}

function formPage(queue: string, overrides: FormOverrides): string {
  const parts = fieldsOf(queue).map((field) => inputOf(field, overrides));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>New message for ${escaped(queue)}</title>
<h1><a href="../${escaped(queue)}">${escaped(queue)}</a></h1>
<h2>New message</h2>
<form method="post" action="new_message">
<input type="hidden" name="x_format" value="html">
${parts.join('\n')}
${methodField(overrides)}
<div class="field" id="mesg_submit_field"><button>Create</button></div>
</form>
</html>
`;
}

function inputOf({ id, label, help, value }: Field, overrides: FormOverrides): string {
  const { label: ownLabel = label, help: ownHelp = help } = overrides.of[id] ?? {};
  return `<div class="field" id="${id}_field"${visibility(id, overrides)}>
  <label for="${id}">${escaped(ownLabel)}</label>
  <input type="text" size="80" id="${id}" name="mesg[${id.slice('mesg_'.length)}]" value="${escaped(value)}">
  <p class="note">${escaped(ownHelp)}</p>
</div>`;
}

function methodField(overrides: FormOverrides): string {
  const id = 'mesg_status';
  return `<div class="field" id="${id}_field"${visibility(id, overrides)}>
  <label><input type="radio" name="mesg[_method]" value="commit" checked> commit</label>
  <label><input type="radio" name="mesg[_method]" value="prep"> prep, to attach files first</label>
</div>`;
}

/** The attribute hides the field where the content security policy forbids the style. */
function visibility(id: string, { isHidden, of }: FormOverrides): string {
  return isHidden && !(id in of) ? ' style="display: none;" hidden' : '';
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (value: string): string => value.replace(/[&<>"']/g, (found) => ESCAPES[found] ?? found);
