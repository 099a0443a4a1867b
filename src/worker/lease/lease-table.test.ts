import { describe, expect, it } from 'vitest';
import type { TableLease } from './lease-table.ts';
import { LeaseTable, LeaseTableReader } from './lease-table.ts';

const aLease = (token: number, id = `job-${token}`): TableLease => ({
  id,
  token,
  ms: 1_000,
  heartbeatMs: 250,
  validUntil: 5.25,
});

const read = (reader: LeaseTableReader): readonly (TableLease | null)[] => {
  const found: (TableLease | null)[] = [];
  reader.each((_token, lease) => found.push(lease()));
  return found;
};

describe('the lease table', () => {
  it('shows the renewer what the main thread wrote, and no longer what it erased', () => {
    const table = new LeaseTable(3);
    const reader = new LeaseTableReader(table.memory);
    const first = table.write(aLease(2 ** 40));
    table.write(aLease(8));
    const second = { ...aLease(8), entry: 1 };
    expect(read(reader)).toEqual([{ ...aLease(2 ** 40), entry: 0 }, second]);
    table.erase(first);
    expect(read(reader)).toEqual([second]);
    table.write(aLease(9, 'x'.repeat(128)));
    expect(read(reader)).toEqual([{ ...aLease(9, 'x'.repeat(128)), entry: 0 }, second]);
  });

  it('reports how much room is left, and refuses more', () => {
    const table = new LeaseTable(2);
    expect(table.room).toBe(2);
    const entry = table.write(aLease(1));
    table.hide(entry);
    table.write(aLease(2));
    expect(table.room).toBe(0);
    expect(() => table.write(aLease(3))).toThrow('full');
    table.erase(entry);
    expect(table.room).toBe(1);
  });

  it('hides a lease that is no longer renewed, and keeps its entry', () => {
    const table = new LeaseTable(1);
    table.hide(table.write(aLease(1)));
    expect(read(new LeaseTableReader(table.memory))).toEqual([]);
    expect(table.room).toBe(0);
  });

  it('refuses an id that does not fit', () => {
    expect(() => new LeaseTable(1).write(aLease(1, 'x'.repeat(129)))).toThrow('longer than 128');
  });

  it('never shows parts of two leases: an entry that changes during a read is skipped', () => {
    const table = new LeaseTable(1);
    const entry = table.write(aLease(1));
    const seen: (TableLease | null)[] = [];
    new LeaseTableReader(table.memory).each((_token, lease) => {
      table.erase(entry);
      table.write(aLease(2));
      seen.push(lease());
    });
    expect(seen).toEqual([null]);
  });

  it('shows the main thread until when the renewer has renewed a lease, and no other lease of its entry', () => {
    const table = new LeaseTable(1);
    const reader = new LeaseTableReader(table.memory);
    const entry = table.write(aLease(2 ** 40));
    expect(table.renewedUntil(entry, 2 ** 40)).toBe(Number.NEGATIVE_INFINITY);
    reader.each((_token, lease) => reader.showRenewal(lease() as never, 7.25));
    expect(table.renewedUntil(entry, 2 ** 40)).toBe(7.25);
    table.erase(entry);
    expect(table.write(aLease(8))).toBe(entry);
    expect(table.renewedUntil(entry, 8)).toBe(Number.NEGATIVE_INFINITY);
    expect(read(reader)).toEqual([{ ...aLease(8), entry }]);
  });

  it('counts turns and claims for the renewer', () => {
    const table = new LeaseTable(1);
    const reader = new LeaseTableReader(table.memory);
    table.countTurn();
    table.countTurn();
    table.countClaim();
    expect([reader.turns, reader.claims]).toEqual([2, 1]);
  });
});
