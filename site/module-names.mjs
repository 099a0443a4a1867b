/** A plugin of TypeDoc: names each module as programs import it, `longhaul/testing`, by the exports of package.json. */
import { readFileSync } from 'node:fs';
import { Converter } from 'typedoc';

const { exports: exported } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
/** `library/handler` is `longhaul/handler`. */
const names = new Map(
  Object.entries(exported)
    .filter(([, target]) => target.types !== undefined)
    .map(([path, { types }]) => [
      types.replace(/^\.\/dist\/|(?:\/index)?\.d\.ts$/g, ''),
      path.replace('.', 'longhaul'),
    ]),
);

export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children ?? []) module.name = names.get(module.name) ?? module.name;
  });
}
