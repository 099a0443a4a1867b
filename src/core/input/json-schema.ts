/**
 * What a check wants, said as JSON Schema (2020-12), so that a description for others is made of the very checks
 * that run. A description never decides anything.
 */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly pattern?: string;
  readonly maxLength?: number;
  /** Of a text: what is written in it. */
  readonly contentMediaType?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly maxProperties?: number;
  readonly anyOf?: readonly JsonSchema[];
}

/** Gives a check (any function) its description. */
export function described<Function extends object>(schema: JsonSchema, check: Function): Function & Described {
  return Object.assign(check, { schema });
}

export interface Described {
  readonly schema?: JsonSchema;
}

/** A check without a description takes anything, as far as others are told. */
export function schemaOf(check: Described): JsonSchema {
  return check.schema ?? {};
}
