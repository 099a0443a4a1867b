/**
 * `npm run docs`: builds the documentation as a static site with search: the pages of docs/ and the API reference, from
 * the doc comments. Open build/docs/index.html; it works without a server.
 *
 *   npm run docs -- --out FOLDER    another folder than build/docs
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { main, print, root, run, seconds, UserError } from './script-support.mjs';
import { setUp } from './setup.mjs';
import { parseOptions } from './usage.mjs';

const site = join(root, 'site');
const source = join(root, 'build', 'docs-source');
const copied = ['docs', 'examples', 'test', 'bench', 'deploy', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md'];
const projectPages = ['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md'];

await main(import.meta.url, async (args) => {
  const { values } = parseOptions(import.meta.url, { args, options: { out: { type: 'string' } } });
  const out = resolve(values.out ?? join(root, 'build', 'docs'));
  const startedAt = Date.now();
  await setUp({ allowTypeErrors: true });
  await install();
  const documents = prepare();
  rmSync(out, { recursive: true, force: true });
  const files = ['--options', join(site, 'typedoc.json'), '--out', out, '--readme', join(source, 'README.md')];
  const pages = documents.flatMap((path) => ['--projectDocuments', path]);
  const options = [...files, ...pages, '--logLevel', 'Warn', '--treatWarningsAsErrors'];
  const program = join(site, 'node_modules', 'typedoc', 'bin', 'typedoc');
  const { code, output } = await run(process.execPath, [program, ...options, ...entryPoints()], { cwd: site });
  if (code !== 0) throw new UserError('TypeDoc found a problem (see above).', { output });
  print(`${join(out, 'index.html')} (${documents.length} pages, ${seconds(Date.now() - startedAt)})`);
  return 0;
});

/** Returns the source file of each export of the package. */
function entryPoints() {
  const { exports: exported } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const types = Object.values(exported).flatMap(({ types }) => types ?? []);
  return types.map((path) => join(root, path.replace('./dist/', 'src/').replace('.d.ts', '.ts')));
}

/** Installs the packages of site/, unless the versions of its package.json are there. */
async function install() {
  const { dependencies } = JSON.parse(readFileSync(join(site, 'package.json'), 'utf8'));
  const versionOf = (name) => {
    const path = join(site, 'node_modules', name, 'package.json');
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).version : null;
  };
  if (Object.entries(dependencies).every(([name, version]) => versionOf(name) === version)) return;
  print('Installing TypeDoc into site/node_modules …');
  const { code, output } = await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: site });
  if (code !== 0) throw new UserError('`npm ci` in site/ failed (see above).', { output });
}

/** Copies the pages, with their titles and groups for the navigation. Returns the paths of the copies. */
function prepare() {
  rmSync(source, { recursive: true, force: true });
  mkdirSync(source, { recursive: true });
  for (const name of [...copied, 'README.md', 'SECURITY.md', 'LICENSE'])
    cpSync(join(root, name), join(source, name), { recursive: true, filter: (path) => !path.includes('node_modules') });
  const pagesIn = (folder) =>
    readdirSync(join(source, folder))
      .filter((name) => name.endsWith('.md') && name !== 'README.md')
      .map((name) => `${folder}/${name}`);
  const groupOf = groupsOf(readFileSync(join(root, 'docs/README.md'), 'utf8'));
  const pages = [...pagesIn('docs'), ...pagesIn('docs/decisions'), ...projectPages];
  for (const page of pages) writeFileSync(join(source, page), withTitle(page, groupOf(page)));
  writeFileSync(join(source, 'docs/README.md'), withTitle('docs/README.md', 'Project'));
  writeFileSync(join(source, 'README.md'), withFiles('README.md', readFileSync(join(source, 'README.md'), 'utf8')));
  return [...pages, 'docs/README.md'].map((page) => join(source, page));
}

/** Reads the groups of the index: the heading above the link to a page. */
function groupsOf(index) {
  const sections = index.split(/^## /m).slice(1);
  return (page) => {
    if (page.startsWith('docs/decisions/')) return 'Decisions';
    const found = sections.find((section) => section.includes(`](${page.replace('docs/', '')})`));
    return page.startsWith('docs/') ? (found?.split('\n')[0] ?? 'Reference') : 'Project';
  };
}

function withTitle(page, group) {
  const text = readFileSync(join(source, page), 'utf8');
  const [, title = page] = /^# (.+)$/m.exec(text) ?? [];
  return `---\ntitle: ${JSON.stringify(title)}\ngroup: ${group}\n---\n\n${withFiles(page, text)}`;
}

/** A site has no folders: a link to one leads to its README, or to its first file. */
function withFiles(page, text) {
  return text.replaceAll(/\]\(([\w./-]+)\)/g, (link, target) => {
    const path = join(source, dirname(page), target);
    if (!existsSync(path) || !statSync(path).isDirectory()) return link;
    const names = readdirSync(path).sort();
    return `](${target}/${names.find((name) => name === 'README.md') ?? names[0]})`;
  });
}
