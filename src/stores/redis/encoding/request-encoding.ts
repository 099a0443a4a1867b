/**
 * How a call is written for Lua: an optional kind, then \x1f name=value for each field. Long texts follow as arguments of
 * their own, because they are stored apart from the record.
 */
import { checksum } from './job-record.ts';
import { escapeText, FIELD, INLINE_LIMIT, PART } from './layout.ts';

type Value = string | number | undefined;

export const field = (name: string, value: Value): string => (value === undefined ? '' : `${FIELD}${name}=${value}`);
export const textField = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `${FIELD}${name}=${escapeText(value)}`;

/** Several texts as one value. An empty list is an empty text, or its field is left out. */
export const listValue = (texts: readonly string[]): string => texts.map(escapeText).join(PART);

/** The fields of one request, and its long texts. */
export class RequestFields {
  #fields: string;
  #letters = '';
  readonly #texts: string[] = [];

  constructor(fields: string) {
    this.#fields = fields;
  }

  /** Adds a text that may be long. Data is preceded by its checksum. */
  text(letter: string, name: string, value: string | null | undefined): this {
    if (value === undefined || value === null) return this;
    const text = (letter === 'd' ? checksum(value) : '') + escapeText(value);
    const isLong = value.length > INLINE_LIMIT;
    this.#fields += `${FIELD}${name}=${isLong ? '' : text}`;
    if (!isLong) return this;
    this.#letters += letter;
    this.#texts.push(text);
    return this;
  }

  addTo(args: string[], id: string): void {
    args.push(id, this.#fields + field('apart', this.#letters === '' ? undefined : this.#letters), ...this.#texts);
  }
}
