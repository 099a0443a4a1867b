import { expect, it } from 'vitest';
import { secretProblem, signedHeaders, webhookId } from './sign-webhook.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

it('signs id, time and body as openssl does, once for each secret', () => {
  const call = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', at: 1_614_265_330_999, body: '{"test": 2432232314}' };
  const { 'webhook-signature': signature, ...others } = signedHeaders({ ...call, secrets: [SECRET, OTHER] });
  expect(others).toEqual({ 'webhook-id': call.id, 'webhook-timestamp': '1614265330' });
  expect(signature).toMatch(/^\S+ v1,\S+$/);
  expect(signature?.split(' ')[0]).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

it('reports an invalid secret without repeating it', () => {
  expect([SECRET, OTHER].map(secretProblem)).toEqual([null, null]);
  for (const wrong of ['', 'whsec_', 'whsec_short', 'secret', `whsec_${'A'.repeat(100)}`, SECRET.replace('whsec_', '')])
    expect(secretProblem(wrong)).toBe('must be whsec_ and 24 to 64 bytes in base64');
});

it('gives a call one id, unique to its store and without dots', () => {
  expect(webhookId('hook~done~1~a.b', 'one')).toBe(webhookId('hook~done~1~a.b', 'one'));
  expect(webhookId('hook~done~1~a.b', 'one')).not.toBe(webhookId('hook~done~1~a.b', 'two'));
  expect(webhookId('hook~done~1~a.b', 'one')).toMatch(/^msg_[0-9a-f]{32}$/);
});
