import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { shellWord } from './shell-words.ts';

it.each(['plain', "it's", '$(touch /tmp/no) `id` "x"', 'a\nb', '', "'';rm -rf x", 'é – 🎬'])(
  '%o is one word to a shell, as it was',
  (word) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })).toBe(word);
  },
);
