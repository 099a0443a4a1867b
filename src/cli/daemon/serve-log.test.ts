import { describe, expect, it } from 'vitest';
import { createLog } from './serve-log.ts';

function written(format: 'pretty' | 'json', name: string): string {
  let text = '';
  const log = createLog({ format, isColoured: false, write: (chunk) => void (text += chunk) });
  log.warn({ queue: name }, `queue ${name}: removed`);
  return text;
}

const EVIL = ['a\nb', 'a\r\nb', '\u001b[2J', '\u009b2J', '\u0085', 'x\u2028y', '\u202egpj.exe', '"}\n{"msg":"forged"}'];

describe('the log of a node', () => {
  it.each(EVIL)('writes one line without control characters for any name: %j', (name) => {
    for (const format of ['pretty', 'json'] as const) {
      const text = written(format, name);
      expect(text.match(/\n/g)).toHaveLength(1);
      expect(text.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
    }
    expect(JSON.parse(written('json', name))).toMatchObject({ queue: name, msg: `queue ${name}: removed` });
  });

  it('contains level and time', () => {
    expect(written('pretty', 'mail')).toMatch(/^\d\d:\d\d:\d\d warning: queue mail: removed\n$/);
    expect(JSON.parse(written('json', 'mail'))).toMatchObject({ level: 40, time: expect.any(Number) as number });
  });
});
