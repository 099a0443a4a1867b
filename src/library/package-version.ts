/** The version of this package, from its package.json. */
import { readFileSync } from 'node:fs';

export function packageVersion(): string {
  const json = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(json) as { version: string }).version;
}
