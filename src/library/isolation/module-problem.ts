/** Says why the module of an isolated handler cannot be used, and what to do. */
import { failureOf } from '../../core/job/failure.ts';

/** The default export of the module is not a function. */
export class NoHandler extends Error {
  constructor(found: unknown) {
    super(found === undefined ? 'it has no default export' : `its default export is of type ${typeof found}`);
  }
}

const DEFINE = 'write `export default defineHandler(async (job) => …)`';
const TYPESCRIPT =
  'this Node cannot load TypeScript: use a Node that strips types (22.18 or newer), start the worker with ' +
  '`node --import tsx`, or compile the file and pass the .js file';
const TYPESCRIPT_CODES = new Set(['ERR_UNKNOWN_FILE_EXTENSION', 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX']);

/** Returns one line for the error of an import, followed by its stack if the code of the module threw it. */
export function problemOf(address: string, error: unknown): string {
  if (error instanceof NoHandler) return `${error.message}: ${DEFINE}`;
  if (isTypeScriptProblem(address, error)) return TYPESCRIPT;
  const { message, detail } = failureOf(error);
  return `it failed to load: ${message}${detail === null ? '' : `\n${detail}`}`;
}

function isTypeScriptProblem(address: string, error: unknown): boolean {
  if (!/\.[cm]?ts$/.test(new URL(address).pathname)) return false;
  const { code } = error as { readonly code?: unknown };
  return TYPESCRIPT_CODES.has(String(code)) || error instanceof SyntaxError;
}
