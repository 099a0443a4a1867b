/**
 * Which addresses are not public: loopback, private networks, link-local (where cloud metadata services are), multicast
 * and reserved ranges. Pure; it resolves no names.
 */
import { BlockList, isIPv6 } from 'node:net';

const RANGES_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
] as const;

/** Includes the IPv6 notations of IPv4 addresses, since any IPv4 address can be behind them. */
const RANGES_V6 = [
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
] as const;

const PRIVATE = rangesOf([...RANGES_V4, ...RANGES_V6]);

/** Treats `::ffff:10.0.0.1` as the IPv4 address it maps. */
export function isPrivateAddress(address: string): boolean {
  return isWithin(PRIVATE, address);
}

export function isWithin(ranges: BlockList, address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  return ranges.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}

export function rangesOf(cidrs: readonly string[]): BlockList {
  const ranges = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits = ''] = cidr.split('/');
    ranges.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  return ranges;
}
