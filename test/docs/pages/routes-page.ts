/** Generates docs/http-reference.md from the table of routes. */
import { ROUTES } from '../../../src/server/http/route-table.ts';

const HEAD = `# HTTP reference

Every operation of a node, generated from the table of routes: \`npx vitest run --project docs reference -u\`. A node
shows the same with schemas and examples at \`/api\`, and as OpenAPI 3.1 at \`/openapi.json\`. How to use them, with
examples: [HTTP API](http.md). Roles: [Security](security.md#roles). Codes of errors: [Errors](errors.md#http-errors).
`;

export function routesPage(): string {
  const groups = new Map<string, string[]>();
  for (const { name, method, path, role, about, onlyWith } of ROUTES) {
    const [group = ''] = name.split('.');
    const address = onlyWith === null ? path : `${path}?${onlyWith}=`;
    const row = `| \`${method} ${address}\` | ${about.replaceAll('|', '\\|').replaceAll('\n', ' ')} | ${role} |`;
    groups.set(group, [...(groups.get(group) ?? []), row]);
  }
  const sections = [...groups].map(([group, rows]) =>
    [`## ${group}\n`, '| operation | effect | role |', '|---|---|---|', ...rows, ''].join('\n'),
  );
  return [HEAD, ...sections].join('\n');
}
