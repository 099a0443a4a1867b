/** The version of this package, as its own package.json says. */
import { readFileSync } from 'node:fs';

export function versionOfPackage(): string {
  const json = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(json) as { version: string }).version;
}
