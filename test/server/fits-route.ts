/** Validates every answer of a test against its route: the status, and the check of the answer. */
import { checked } from '../../src/core/input/check.ts';
import type { Route } from '../../src/server/http/route.ts';
import { createRouteTable } from '../../src/server/http/route-table.ts';
import { PROBLEM_TYPE, PROBLEMS } from '../../src/wire/problem-details.ts';
import type { Answer } from './trial-server.ts';

export function answerCheck(routes: readonly Route[]): (method: string, path: string, answer: Answer) => void {
  const table = createRouteTable(routes);
  return (method, path, answer) => {
    if (answer.status >= 400) return checkProblem(method, answer);
    const match = table.match(method, path.split('?')[0] ?? '');
    if (match.kind === 'route' && method !== 'HEAD') checkAnswer(match.route, answer);
  };
}

function checkProblem(method: string, { status, headers, json }: Answer): void {
  if (headers['content-type'] !== PROBLEM_TYPE) throw new Error(`status ${status} without problem details`);
  if (method === 'HEAD') return;
  const { code, detail, type } = json as { code: keyof typeof PROBLEMS; detail: string; type: string };
  const [right] = PROBLEMS[code];
  if (status !== right || detail === '' || type !== `/api#error-${code}`)
    throw new Error(`malformed problem details: ${JSON.stringify(json)}`);
}

function checkAnswer({ name, answer: expected, status }: Route, answer: Answer): void {
  // An existing resource is answered with 200 and not with 201.
  if (answer.status !== status && !(status === 201 && answer.status === 200) && answer.status !== 206)
    throw new Error(`${name} answers ${answer.status}, and its route says ${status}`);
  if (typeof expected === 'function') checked(`the answer of ${name}`, answer.json, expected);
}
