import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../library/connect.ts';
import type { Longhaul } from '../library/longhaul.ts';
import type { HandlerOptions } from './create-handler.ts';
import { createHandler } from './create-handler.ts';

async function open(options: HandlerOptions = {}) {
  const longhaul = await connect('memory:');
  const handler = createHandler(longhaul, options);
  onTestFinished(async () => {
    handler.close();
    await longhaul.close();
  });
  return { longhaul, handler };
}

const post = (path: string, body: unknown, headers: Record<string, string> = {}): Request =>
  new Request(`http://app.example${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'http://app.example', ...headers },
    body: JSON.stringify(body),
  });

describe('a mounted handler', () => {
  it('answers fetch requests, with bodies in both directions', async () => {
    const { longhaul, handler } = await open({ basePath: '/jobs', authorize: () => 'submit' });
    const data = 'x'.repeat(200_000);
    const answer = await handler.fetch(post('/jobs/api/jobs', { queue: 'mail', id: 'a', data }));
    expect([answer.status, await answer.json()]).toMatchObject([201, { id: 'a', outcome: 'added' }]);
    const found = await handler.fetch(new Request('http://app.example/jobs/api/jobs/a'));
    expect(await found.json()).toMatchObject({ id: 'a', data });
    expect((await longhaul.find('a'))?.data).toBe(data);
    expect((await handler.fetch(new Request('http://app.example/jobs/metrics'))).status).toBe(200);
  });

  it('streams events until the caller goes', async () => {
    const { longhaul, handler } = await open();
    const gone = new AbortController();
    const answer = await handler.fetch(new Request('http://app.example/api/events', { signal: gone.signal }));
    const reader = answer.body?.getReader();
    await longhaul.queue('mail').add(1, { id: 'seen' });
    let text = '';
    while (!text.includes('seen')) text += new TextDecoder().decode((await reader?.read())?.value);
    gone.abort();
    await expect(reader?.read()).rejects.toThrow(/abort|terminated|destroyed/i);
  });

  it('passes the request of the application to authorize, and its name to the audit log', async () => {
    const seen: unknown[] = [];
    const authorize: HandlerOptions['authorize'] = (request) => {
      seen.push(request);
      return { role: 'admin', actor: 'ada' };
    };
    const { longhaul, handler } = await open({ authorize });
    await longhaul.queue('mail').add(1, { id: 'a' });
    const request = post('/api/jobs/a/cancel', {});
    expect((await handler.fetch(request)).status).toBe(200);
    expect(seen[0]).toBe(request);
    const audit = await handler.fetch(new Request('http://app.example/api/audit'));
    expect(JSON.stringify(await audit.json())).toContain('app:ada');
  });

  it('refuses a body that was read before, and leaves other paths to the application', async () => {
    const { handler } = await open({ basePath: '/jobs', authorize: () => 'admin' });
    const server = createServer((request, response) => {
      const pass = (): void => handler.node(request, response, () => response.end('mine'));
      if (request.url?.includes('read') === true) request.on('end', () => setImmediate(pass)).resume();
      else pass();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await (await fetch(`${url}/other`)).text()).toBe('mine');
    const answer = await fetch(`${url}/jobs/api/jobs?read`, { method: 'POST', headers: { origin: url }, body: '{}' });
    expect([answer.status, await answer.text()]).toEqual([
      500,
      'the body of the request was read before: mount the handler before middleware that parses bodies\n',
    ]);
  });

  it.each([
    ['a caller with the role read', undefined, {}],
    ['another site', () => 'admin' as const, { origin: 'http://evil.example' }],
    ['another site, by its fetch metadata', () => 'admin' as const, { 'sec-fetch-site': 'cross-site' }],
    ['a caller whom the application refuses', () => null, {}],
  ])('refuses a change by %s', async (_who, authorize, headers) => {
    const { longhaul, handler } = await open(authorize === undefined ? {} : { authorize });
    await longhaul.queue('mail').add(1, { id: 'a' });
    expect((await handler.fetch(post('/api/jobs/a/cancel', {}, headers))).status).toBe(403);
    expect((await longhaul.find('a'))?.state).toBe('waiting');
  });

  it('refuses a change by a browser that proves no origin', async () => {
    const { handler } = await open({ authorize: () => 'admin' });
    const bare = new Request('http://app.example/api/jobs/a/cancel', { method: 'POST', headers: { cookie: 'a=b' } });
    expect((await handler.fetch(bare)).status).toBe(403);
  });

  it('reports an authorize that fails or returns no role, and refuses the request', async () => {
    const troubles: unknown[] = [];
    const onTrouble = (_what: string, error: unknown): void => void troubles.push(error);
    const { handler } = await open({ authorize: () => 'king' as never, onTrouble });
    expect((await handler.fetch(new Request('http://app.example/api/me'))).status).toBe(500);
    expect(String(troubles[0])).toContain('authorize returned "king", which is no role');
  });

  it.each([
    [{ basePath: 'jobs' }, 'basePath: must be a path such as /admin/jobs'],
    [{ authorize: 'admin' }, 'authorize: must be a function, not "admin"'],
    [{ basepath: '/x' }, 'basepath'],
  ])('refuses bad options: %j', async (options, problem) => {
    const longhaul: Longhaul = await connect('memory:');
    onTestFinished(() => longhaul.close());
    expect(() => createHandler(longhaul, options as never)).toThrow(problem);
  });
});
