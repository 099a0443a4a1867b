/**
 * The part of the Standard Schema convention (zod, valibot, arktype …) that Longhaul uses. It depends on no validator.
 */
import type { Problem } from '../core/ports/errors.ts';
import { badInput } from '../core/ports/errors.ts';

/**
 * A validator that follows the Standard Schema convention, such as one of zod, valibot or arktype. `Output` differs from
 * `Input` where it transforms values or fills in defaults.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The interface of the convention. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validation<Output> | Promise<Validation<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type Validation<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Returns the value that the schema returns. Throws `bad-input` with the messages and paths of the schema. */
export async function validate<Input, Output>(
  what: string,
  schema: StandardSchema<Input, Output>,
  value: unknown,
): Promise<Output> {
  const answer = await schema['~standard'].validate(value);
  if (answer.issues === undefined) return answer.value;
  throw badInput(what, answer.issues.map(toProblem));
}

function toProblem({ message, path = [] }: Issue): Problem {
  const keys = path.map((part) => (typeof part === 'object' ? part.key : part));
  const joined = keys.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return { path: joined.replace(/^\./, ''), message };
}
