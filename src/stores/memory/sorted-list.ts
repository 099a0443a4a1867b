/** A list that stays sorted. The order must be strict: no two items are equal. */
export class SortedList<T> {
  readonly #items: T[] = [];
  readonly #order: (a: T, b: T) => number;

  constructor(order: (a: T, b: T) => number) {
    this.#order = order;
  }

  get items(): readonly T[] {
    return this.#items;
  }

  insert(item: T): void {
    this.#items.splice(this.#placeOf(item), 0, item);
  }

  remove(item: T): void {
    const index = this.#placeOf(item);
    const found = this.#items[index];
    if (found !== undefined && this.#order(found, item) === 0) this.#items.splice(index, 1);
  }

  /** Returns the first position whose item does not come before this one. */
  #placeOf(item: T): number {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const there = this.#items[middle] as T;
      if (this.#order(there, item) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
