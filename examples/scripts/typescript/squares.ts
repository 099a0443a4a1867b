#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import * as longhaul from './longhaul.js';

const { n } = longhaul.data<{ n: number }>();
const first = (longhaul.lastCheckpoint<{ done: number }>()?.done ?? 0) + 1;
let sum = 0;
for (let i = first; i <= n; i++) {
  console.log(`square of ${i} is ${i * i}`);
  sum += i * i;
  longhaul.progress(Math.floor((100 * i) / n), `number ${i}`);
  longhaul.checkpoint({ done: i });
}
writeFileSync('out/sum.txt', `${sum}\n`);
longhaul.tag('squares');
console.log(longhaul.dup('copies'));
longhaul.result({ sum });
longhaul.done(`squared ${n} numbers`);
