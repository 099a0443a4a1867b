/** Hostile requests, generated from a seed so that a failure can be reproduced. */
import { ROUTES } from '../../src/server/http/route-table.ts';
import { pathOf } from './route-requests.ts';

export type Draw = (below: number) => number;

/** Returns a deterministic random number generator. */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const pick = <T>(draw: Draw, from: readonly T[]): T => from[draw(from.length)] as T;

const VALUES = [
  'null',
  '[]',
  '{}',
  '-1',
  '1e999',
  '""',
  '"\\u0000"',
  '{"argument":null}',
  '{"argument":[{}]}',
  '{"argument":[{"id":"","queue":1}]}',
  '{"argument":{"kind":"queue","key":"","value":"x"}}',
  '{"queue":"mail","data":{"__proto__":1}}',
  '{"ids":["a"],"query":{}}',
  `${'['.repeat(5_000)}`,
  '{"a"',
  '\ufeff{}',
];
const HEADERS = [
  'Content-Type: application/json',
  'Content-Type: application/octet-stream',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Expect: 100-continue',
  'Expect: something',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAAA',
  'Authorization: Bearer lh_0000000000000000_x',
  'Authorization: Basic \u0001',
  'Cookie: longhaul=; ; =; a=b=c',
  'Range: bytes=-1',
  'Range: bytes=9-1,5-',
  'Last-Event-ID: \u00ff\u00fe',
  'Upload-Offset: -5',
  'Idempotency-Key: "\u007f"',
  'Origin: null',
  ' Folded: yes',
  'NoColon',
  `X-Long: ${'x'.repeat(20_000)}`,
];
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'BREW', 'get', ''];
const TARGETS = [
  '/',
  '*',
  '//',
  '/%',
  '/%00',
  '/../../etc/passwd',
  '/api/jobs/%2e%2e/x',
  '/api/jobs?%',
  'http://[::',
  '?',
  '/\u00e9',
];

/** Returns one request as bytes. Four in five are nearly valid, since the parser refuses the others at once. */
export function drawRequest(draw: Draw): Buffer {
  if (draw(10) === 0) return Buffer.from(Array.from({ length: draw(300) }, () => draw(256)));
  const whole = Buffer.from(drawText(draw), 'latin1');
  switch (draw(4)) {
    case 0:
      return whole.subarray(0, draw(whole.length + 1));
    case 1: {
      for (let flips = draw(4); flips >= 0; flips -= 1) whole[draw(whole.length)] = draw(256);
      return whole;
    }
    default:
      return whole;
  }
}

function drawText(draw: Draw): string {
  const route = pick(draw, ROUTES);
  const method = draw(4) === 0 ? pick(draw, METHODS) : route.method;
  const target = draw(5) === 0 ? pick(draw, TARGETS) : `${pathOf(route)}${draw(4) === 0 ? '?limit=x&after=%ff' : ''}`;
  const version = draw(20) === 0 ? 'HTTP/1.0' : 'HTTP/1.1';
  const body = method === 'GET' || method === 'HEAD' ? '' : pick(draw, VALUES);
  const usual = draw(3) > 0 && body !== '' ? [`Content-Type: application/json\r\nContent-Length: ${body.length}`] : [];
  const odd = Array.from({ length: draw(3) }, () => pick(draw, HEADERS));
  const host = draw(20) === 0 ? [] : ['Host: localhost'];
  return `${[`${method} ${target} ${version}`, ...host, ...usual, ...odd].join('\r\n')}\r\n\r\n${body}`;
}
