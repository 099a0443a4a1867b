/** `node.json`: how this node is known to others and to its scripts. */
import { checked, integer, listOf, object, text } from '../core/check.ts';
import { badInput } from '../core/errors.ts';

export interface NodeSettings {
  /** Base address of this node, with a slash at its end. */
  readonly url: string;
  /** Other addresses under which the same node is known. */
  readonly aliases: readonly string[];
  readonly port: number;
  /** production, development, test, stage: handed to scripts as RQ_ENV. */
  readonly env: string;
  /** Folders beside `queues/` in which scripts may live. */
  readonly scriptDirs: readonly string[];
}

const DEFAULT_PORT = 3333;
const address = text({ max: 2_048, pattern: /^https?:\/\/[^\s/]+/, must: 'must be an http address' });
const shape = object({
  url: address,
  aliases: listOf(address, 50),
  port: integer(1, 65_535),
  env: text({ max: 64, pattern: /^[A-Za-z0-9_-]+$/, must: 'must be one word' }),
  scriptDirs: listOf(text({ max: 4_096, pattern: /^\//, must: 'must be an absolute path' }), 100),
});

/** `json` is the text of node.json; undefined when there is none. */
export function nodeSettings(json: string | undefined): NodeSettings {
  const given = checked('node.json', json === undefined ? {} : parse(json), shape);
  const port = given.port ?? DEFAULT_PORT;
  const url = withSlash(given.url ?? `http://localhost:${port}/`);
  const { aliases = [], env = 'development', scriptDirs = [] } = given;
  return { url, aliases: aliases.map(withSlash), port, env, scriptDirs };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw badInput('node.json', [{ path: '', message: `is no JSON: ${(error as Error).message}` }]);
  }
}

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}
