/**
 * The JSON Schema (2020-12) of a check, so that published schemas come from the very checks that run. A schema never
 * decides anything.
 */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly pattern?: string;
  readonly maxLength?: number;
  /** Of a text: the media type of its content. */
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

/** Attaches a schema to a check (any function). */
export function described<Function extends object>(schema: JsonSchema, check: Function): Function & Described {
  return Object.assign(check, { schema });
}

export interface Described {
  readonly schema?: JsonSchema;
}

/** Returns the schema of a check. A check without one accepts anything, as far as clients can see. */
export function schemaOf(check: Described): JsonSchema {
  return check.schema ?? {};
}
