#!/usr/bin/env python3
import longhaul

n = longhaul.data()['n']
first = (longhaul.last_checkpoint() or {'done': 0})['done'] + 1
total = 0
for i in range(first, n + 1):
    print(f'square of {i} is {i * i}', flush=True)
    total += i * i
    longhaul.progress(100 * i // n, f'number {i}')
    longhaul.checkpoint({'done': i})
with open('out/sum.txt', 'w') as file:
    file.write(f'{total}\n')
longhaul.tag('squares')
print(longhaul.dup('copies'), flush=True)
longhaul.result({'sum': total})
longhaul.done(f'squared {n} numbers')
