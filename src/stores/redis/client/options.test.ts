import { expect, test } from 'vitest';
import { settingsOf } from './options.ts';

test('The namespace comes from the options, else from the address, else it is longhaul.', () => {
  const url = 'redis://localhost:6379/2?namespace=shop';
  expect(settingsOf({ url, namespace: 'mine' })).toMatchObject({ namespace: 'mine' });
  expect(settingsOf({ url })).toMatchObject({ namespace: 'shop', address: { db: 2 } });
  expect(settingsOf({ url: 'rediss://localhost' })).toMatchObject({ namespace: 'longhaul', replicas: 0 });
});

test('replicated:n is how many replicas must have a change, said in the options or in the address.', () => {
  expect(settingsOf({ url: 'redis://h', durability: 'replicated:2' }).replicas).toBe(2);
  expect(settingsOf({ url: 'redis://h?durability=replicated:1' }).replicas).toBe(1);
});

test.each([
  ['redis://h', { layout: 'single', isTls: false, places: [{ host: 'h', port: 6379 }], db: 0, username: '' }],
  ['redis://:pw@h', { username: '', password: 'pw' }],
  ['rediss://me:p%40w@[::1]:7/3', { isTls: true, places: [{ host: '::1', port: 7 }], db: 3, password: 'p@w' }],
  ['redis+sentinel://a,b:1/main', { layout: 'sentinel', name: 'main', db: 0, places: [{ port: 26379 }, { port: 1 }] }],
  ['rediss+sentinel://me:pw@a/main/2', { isTls: true, name: 'main', db: 2, username: 'me', password: 'pw' }],
  ['redis+cluster://a:1,b:2', { layout: 'cluster', places: [{ host: 'a' }, { host: 'b', port: 2 }] }],
])('%s is read in its parts', (url, address) => {
  expect(settingsOf({ url }).address).toMatchObject(address);
});

test('Files of TLS and the login of Sentinels may stand in the address.', () => {
  const url = 'rediss+sentinel://a/main?ca=/etc/ca.pem&cert=/c&key=/k&sentinelUsername=s&sentinelPassword=t';
  expect(settingsOf({ url, tls: { ca: '/mine' } })).toMatchObject({
    tls: { ca: '/mine', cert: '/c', key: '/k' },
    sentinel: { username: 's', password: 't' },
  });
});

test.each([
  [{ url: 'http://h' }, 'url'],
  [{ url: 'nonsense' }, 'url'],
  [{ url: 'redis://' }, 'url'],
  [{ url: 'redis://a,b' }, 'url'],
  [{ url: 'redis://h:99999' }, 'url'],
  [{ url: 'redis://h/one' }, 'url'],
  [{ url: 'redis://u:%zz@h' }, 'url'],
  [{ url: 'redis+sentinel://a' }, 'url'],
  [{ url: 'redis+sentinel://a/main/0/more' }, 'url'],
  [{ url: 'redis+cluster://a/1' }, 'url'],
  [{ url: 'redis+other://a' }, 'url'],
  [{ url: 'redis://h?namespce=x' }, 'url?namespce'],
  [{ url: 'redis://h?ca=/x' }, 'ca'],
  [{ url: 'rediss://h?cert=/x' }, 'cert'],
  [{ url: 'redis://h', namespace: 'a{b}' }, 'namespace'],
  [{ url: 'redis://h', namespace: '' }, 'namespace'],
  [{ url: 'redis://h', durability: 'replicated:0' }, 'durability'],
  [{ url: 'redis://h', durability: 'full' }, 'durability'],
])('%o is refused, with its place', (options, path) => {
  expect(() => settingsOf(options)).toThrow(
    expect.objectContaining({ code: 'bad-input', problems: [expect.objectContaining({ path })] }),
  );
});

test('A password never stands in a problem.', () => {
  for (const url of ['http://user:secret@h', 'redis://user:sec@ret@h', 'redis://user:secret@h/x'])
    expect(() => settingsOf({ url })).toThrow(
      expect.objectContaining({ message: expect.not.stringMatching(/sec|ret@/) as string }),
    );
});
