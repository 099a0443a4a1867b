/**
 * The encoding of a request: an optional kind, then \x1f name=value for each field. Long texts follow as own arguments,
 * because they are stored outside the record.
 */
import { checksum } from './job-record.ts';
import { escapeText, FIELD, INLINE_LIMIT, PART } from './layout.ts';

type Value = string | number | undefined;

export const word = (name: string, value: Value): string => (value === undefined ? '' : `${FIELD}${name}=${value}`);
export const textWord = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `${FIELD}${name}=${escapeText(value)}`;

/** Returns several texts as one value. An empty list is an empty text, or the field is left out. */
export const listValue = (texts: readonly string[]): string => texts.map(escapeText).join(PART);

/** Encodes one request, with its long texts apart. */
export class Words {
  #text: string;
  #letters = '';
  readonly #texts: string[] = [];

  constructor(kind: string) {
    this.#text = kind;
  }

  /** Adds a text that may be long. Data is preceded by its checksum. */
  text(letter: string, name: string, value: string | null | undefined): this {
    if (value === undefined || value === null) return this;
    const text = (letter === 'd' ? checksum(value) : '') + escapeText(value);
    const isLong = value.length > INLINE_LIMIT;
    this.#text += `${FIELD}${name}=${isLong ? '' : text}`;
    if (!isLong) return this;
    this.#letters += letter;
    this.#texts.push(text);
    return this;
  }

  addTo(args: string[], id: string): void {
    args.push(id, this.#text + word('apart', this.#letters === '' ? undefined : this.#letters), ...this.#texts);
  }
}
