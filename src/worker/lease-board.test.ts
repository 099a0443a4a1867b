import { describe, expect, it } from 'vitest';
import type { BoardLease } from './lease-board.ts';
import { BoardReader, LeaseBoard } from './lease-board.ts';

const aLease = (token: number, id = `job-${token}`): BoardLease => ({
  id,
  token,
  ms: 1_000,
  beatMs: 250,
  validUntil: 5.25,
});

const read = (reader: BoardReader): readonly (BoardLease | null)[] => {
  const found: (BoardLease | null)[] = [];
  reader.each((_token, lease) => found.push(lease()));
  return found;
};

describe('the board of leases', () => {
  it('shows the keeper what the main thread wrote, and no longer what it erased', () => {
    const board = new LeaseBoard(3);
    const reader = new BoardReader(board.memory);
    const first = board.write(aLease(2 ** 40));
    board.write(aLease(8));
    expect(read(reader)).toEqual([aLease(2 ** 40), aLease(8)]);
    board.erase(first);
    expect(read(reader)).toEqual([aLease(8)]);
    board.write(aLease(9, 'x'.repeat(128)));
    expect(read(reader)).toEqual([aLease(9, 'x'.repeat(128)), aLease(8)]);
  });

  it('says how much room is left, and refuses more', () => {
    const board = new LeaseBoard(2);
    expect(board.room).toBe(2);
    const entry = board.write(aLease(1));
    board.hide(entry);
    board.write(aLease(2));
    expect(board.room).toBe(0);
    expect(() => board.write(aLease(3))).toThrow('full');
    board.erase(entry);
    expect(board.room).toBe(1);
  });

  it('hides a lease that nobody is to renew, and keeps its place', () => {
    const board = new LeaseBoard(1);
    board.hide(board.write(aLease(1)));
    expect(read(new BoardReader(board.memory))).toEqual([]);
    expect(board.room).toBe(0);
  });

  it('refuses an id that does not fit', () => {
    expect(() => new LeaseBoard(1).write(aLease(1, 'x'.repeat(129)))).toThrow('longer than 128');
  });

  it('never shows half of two leases: one that changes under the look is left for the next', () => {
    const board = new LeaseBoard(1);
    const entry = board.write(aLease(1));
    const seen: (BoardLease | null)[] = [];
    new BoardReader(board.memory).each((_token, lease) => {
      board.erase(entry);
      board.write(aLease(2));
      seen.push(lease());
    });
    expect(seen).toEqual([null]);
  });

  it('counts rounds and claims for the keeper', () => {
    const board = new LeaseBoard(1);
    const reader = new BoardReader(board.memory);
    board.countRound();
    board.countRound();
    board.countClaim();
    expect([reader.rounds, reader.claims]).toEqual([2, 1]);
  });
});
