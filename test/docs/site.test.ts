/** The site of `npm run docs`: at full size it is built and searched. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { inflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { partIf } from '../support/it-if.ts';
import { isFullSize } from '../support/test-size.ts';
import { readPages, root } from './markdown.ts';

const packageOf = (folder: string) =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly devDependencies?: Readonly<Record<string, string>>;
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };

it('is a package of its own: the product depends on none of its packages but the compiler', () => {
  const { dependencies, devDependencies = {} } = packageOf('.');
  const ours = new Set([...Object.keys(dependencies), ...Object.keys(devDependencies)]);
  expect(Object.keys(packageOf('site').dependencies).filter((name) => ours.has(name))).toEqual(['typescript']);
});

it('has a source file for each export of the package', () => {
  for (const target of Object.values(packageOf('.').exports)) {
    if (typeof target === 'string') continue;
    const path = target.types.replace('./dist/', 'src/').replace('.d.ts', '.ts');
    expect(existsSync(join(root, path)) ? [] : [path]).toEqual([]);
  }
});

partIf(isFullSize, describe)('The site of npm run docs', () => {
  let out = '';
  beforeAll(async () => {
    out = mkdtempSync(join(tmpdir(), 'longhaul-site-'));
    await promisify(execFile)(process.execPath, [join(root, 'scripts/docs.mjs'), '--out', out], { cwd: root });
  });
  afterAll(() => rmSync(out, { recursive: true, force: true }));
  const pages = () =>
    readdirSync(out, { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.html'));

  it('has no link to a missing page', () => {
    const broken = pages().flatMap((page) => {
      const links = [...readFileSync(join(out, page), 'utf8').matchAll(/(?:href|src)="([^"#?]+)[^"]*"/g)];
      const local = links.map(([, link = '']) => decodeURI(link)).filter((link) => !/^(?:[a-z]+:|\/\/)/.test(link));
      return local.filter((link) => !existsSync(join(out, dirname(page), link))).map((link) => `${page}: ${link}`);
    });
    expect(broken).toEqual([]);
  });

  it('has a page for each export of the package, and each page of docs/', () => {
    const modules = Object.keys(packageOf('.').exports).filter((path) => path !== './package.json');
    for (const path of modules)
      expect(pages()).toContain(`modules/${path.replace('.', 'longhaul').replaceAll('/', '_')}.html`);
    const titles = pages().map((page) => /<title>(.*?) \|/.exec(readFileSync(join(out, page), 'utf8'))?.[1]);
    const documents = readPages().filter(({ path }) => path.startsWith('docs/'));
    const missing = documents.map(({ text }) => /^# (.+)$/m.exec(text)?.[1]).filter((title) => !titles.includes(title));
    expect(missing.filter((title) => !/['`<>]/.test(title ?? ''))).toEqual([]);
  });

  it('finds words of pages and doc comments without a server', () => {
    const [, packed = ''] =
      /window\.searchData = "(.+)"/.exec(readFileSync(join(out, 'assets/search.js'), 'utf8')) ?? [];
    const index = inflateSync(Buffer.from(packed, 'base64')).toString();
    for (const word of ['thrott', 'checkpoint', 'waitforev', 'connectfortest']) expect(index).toContain(word);
  });
});
