/**
 * The words of a request: an optional first one, then \x1f name=value for each thing said. Long texts are taken out of
 * them and follow, because they stand apart from the record.
 */
import { checksum } from './job-record.ts';
import { escapeText, FIELD, INLINE_LIMIT, PART } from './layout.ts';

type Said = string | number | undefined;

export const word = (name: string, value: Said): string => (value === undefined ? '' : `${FIELD}${name}=${value}`);
export const textWord = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `${FIELD}${name}=${escapeText(value)}`;

/** Several texts as one value. An empty list is an empty text, or is said by leaving it out. */
export const listValue = (texts: readonly string[]): string => texts.map(escapeText).join(PART);

/** The words of one request, with the long texts taken out of them. */
export class Words {
  #words: string;
  #letters = '';
  readonly #texts: string[] = [];

  constructor(words: string) {
    this.#words = words;
  }

  /** A text that may be long. Data also carries its checksum. */
  text(letter: string, name: string, value: string | null | undefined): this {
    if (value === undefined || value === null) return this;
    const text = (letter === 'd' ? checksum(value) : '') + escapeText(value);
    const isLong = value.length > INLINE_LIMIT;
    this.#words += `${FIELD}${name}=${isLong ? '' : text}`;
    if (!isLong) return this;
    this.#letters += letter;
    this.#texts.push(text);
    return this;
  }

  addTo(args: string[], id: string): void {
    args.push(id, this.#words + word('apart', this.#letters === '' ? undefined : this.#letters), ...this.#texts);
  }
}
