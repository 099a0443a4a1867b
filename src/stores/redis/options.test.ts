import { expect, test } from 'vitest';
import { settingsOf } from './options.ts';

test('The namespace comes from the options, else from the address, else it is longhaul.', () => {
  const url = 'redis://localhost:6379/2?namespace=shop';
  expect(settingsOf({ url, namespace: 'mine' })).toMatchObject({ namespace: 'mine' });
  expect(settingsOf({ url })).toMatchObject({ namespace: 'shop', url: 'redis://localhost:6379/2' });
  expect(settingsOf({ url: 'rediss://localhost' })).toMatchObject({ namespace: 'longhaul', replicas: 0 });
});

test('replicated:n is how many replicas must have a change.', () => {
  expect(settingsOf({ url: 'redis://h', durability: 'replicated:2' }).replicas).toBe(2);
});

test.each([
  [{ url: 'http://h' }, 'url'],
  [{ url: 'nonsense' }, 'url'],
  [{ url: 'redis://h?namespce=x' }, 'url?namespce'],
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
  expect(() => settingsOf({ url: 'http://user:secret@h' })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('secret') }),
  );
});
