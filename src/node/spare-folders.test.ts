import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SpareFolders } from './spare-folders.ts';
import { makeFolders } from './work-folder.ts';

function aHome(): { spares: SpareFolders; attempt: (name: string) => string; root: string } {
  const root = mkdtempSync(join(tmpdir(), 'longhaul-spare-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const spares = new SpareFolders(join(root, 'spare'));
  spares.open();
  const attempt = (name: string): string => {
    // Of a new home, which has no folder for jobs before its first attempt.
    const folder = join(root, 'jobs', name, 'attempts', '1');
    makeFolders(folder, spares);
    writeFileSync(join(folder, 'work', 'data.json'), `"${name}"`, { mode: 0o600 });
    return join(folder, 'work');
  };
  return { spares, attempt, root };
}

describe('a work folder', () => {
  it('that is as it was is the next one', () => {
    const { spares, attempt, root } = aHome();
    const first = attempt('first');
    expect(spares.keep(first)).toBe(true);
    expect(existsSync(first)).toBe(false);
    const second = attempt('second');
    expect(readdirSync(second).sort()).toEqual(['data.json', 'out']);
    expect(readdirSync(join(root, 'spare'))).toEqual([]);
  });

  it.each<[string, (work: string) => void]>([
    ['another file', (work) => writeFileSync(join(work, '.hidden'), '')],
    ['an output', (work) => writeFileSync(join(work, 'out', 'a'), '')],
    ['another mode', (work) => chmodSync(join(work, 'out'), 0o755)],
    ['data that are read by another name', (work) => linkSync(join(work, 'data.json'), join(work, '..', 'kept'))],
    ['data that anybody may write', (work) => chmodSync(join(work, 'data.json'), 0o666)],
    ['no data', (work) => rmSync(join(work, 'data.json'))],
    [
      'a link in place of its out/',
      (work) => {
        rmSync(join(work, 'out'), { recursive: true });
        mkdirSync(join(work, '..', 'elsewhere'), { mode: 0o700 });
        symlinkSync(join(work, '..', 'elsewhere'), join(work, 'out'));
      },
    ],
  ])('with %s is not', (_what, change) => {
    const { spares, attempt } = aHome();
    const work = attempt('first');
    change(work);
    expect(spares.keep(work)).toBe(false);
    expect(existsSync(work)).toBe(true);
  });

  it('of an earlier node is not used', () => {
    const { spares, attempt, root } = aHome();
    spares.keep(attempt('first'));
    const next = new SpareFolders(join(root, 'spare'));
    next.open();
    expect(next.take(join(root, 'work'))).toBe(false);
    expect(readdirSync(join(root, 'spare'))).toEqual([]);
  });
});
