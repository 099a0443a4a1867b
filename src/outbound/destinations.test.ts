import { describe, expect, it } from 'vitest';
import { checked, listOf } from '../core/input/check.ts';
import { allowedDestination, destinationsOf } from './destinations.ts';
import { readAddress, refuseLiteralAddress } from './outbound-address.ts';

const none = destinationsOf([]);

/** The problem that is found without a lookup; undefined if there is none. */
function problemOf(address: string, destinations = none): string | undefined {
  const url = readAddress(address);
  return url instanceof URL ? refuseLiteralAddress(url, destinations)?.code : url.code;
}

describe('before any lookup', () => {
  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0.0.0.0/',
    'http://[::1]/',
    'http://[::]/',
    'http://169.254.169.254/latest/meta-data',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://10.1.2.3/',
    'http://172.31.255.255/',
    'http://192.168.0.1/',
    'http://100.64.0.1/',
    'http://[fc00::1]/',
    'http://[fe80::1]/',
    'http://224.0.0.1/',
  ])('refuses %s', (address) => {
    expect(problemOf(address)).toBe('not-allowed');
  });

  it.each(['http://8.8.8.8/', 'https://example.com/q/x', 'http://[2606:4700::1111]/'])('accepts %s', (one) => {
    expect(problemOf(one)).toBeUndefined();
  });

  it.each([
    '',
    'mail',
    'ftp://example.com/',
    'file:///etc/passwd',
    'http://user@example.com/',
    'http://a:b@example.com/',
  ])('rejects %s as a malformed address', (address) => {
    expect(problemOf(address)).toBe('bad-address');
  });

  it('never repeats a password', () => {
    expect(JSON.stringify(readAddress('ftp://me:secret@example.com/'))).not.toContain('secret');
  });
});

describe('allowDestinations', () => {
  const some = destinationsOf(['10.1.0.0/16', '127.0.0.1:4444', 'backup.lan', '*.corp', '[fd00::1]:3333', 'fd01::/16']);

  it('permits private addresses by range, and by port if the entry has one', () => {
    expect(some.permits('10.1.2.3', 80)).toBe(true);
    expect(some.permits('10.2.2.3', 80)).toBe(false);
    expect(some.permits('127.0.0.1', 4444)).toBe(true);
    expect(some.permits('127.0.0.1', 4445)).toBe(false);
    expect(some.permits('::ffff:10.1.2.3', 80)).toBe(true);
    expect(some.permits('fd00::1', 3333)).toBe(true);
    expect(some.permits('fd00::1', 80)).toBe(false);
    expect(some.permits('fd01::9', 80)).toBe(true);
  });

  it('matches host names in any notation', () => {
    expect(some.names('Backup.LAN.', 80)).toBe(true);
    expect(some.names('a.b.corp', 80)).toBe(true);
    expect(some.names('corp', 80)).toBe(false);
    expect(some.names('evilcorp', 80)).toBe(false);
  });

  it('reports each wrong entry', () => {
    const list = listOf(allowedDestination, 10);
    expect(() => checked('node.json', ['10.0.0.0/8', '10.0.0.0/33', 'http://x/', 'x:99999', 7], list)).toThrow(
      /\[1\].*\[2\].*\[3\].*\[4\]/,
    );
  });
});
