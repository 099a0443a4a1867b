import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { shellQuote } from './shell-quote.ts';

it.each(['plain', "it's", '$(touch /tmp/no) `id` "x"', 'a\nb', '', "'';rm -rf x", 'é – 🎬'])(
  '%o is one unchanged argument in a shell',
  (word) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellQuote(word)}`], { encoding: 'utf8' })).toBe(word);
  },
);
