import { expect, test } from 'vitest';
import { LonghaulError } from '../../core/ports/errors.ts';
import { codeOf, StoreAvailability } from './store-availability.ts';

function aRecorded() {
  const emitted: unknown[] = [];
  const availability = new StoreAvailability({
    onUnavailable: (error) => emitted.push(codeOf(error)),
    onBack: () => emitted.push('back'),
  });
  return { availability, emitted };
}

const unavailable = new LonghaulError('store-unavailable', 'the file is locked');
const closed = new LonghaulError('store-closed', 'the disk failed');

test('An outage is emitted once, and so is its end.', () => {
  const { availability, emitted } = aRecorded();
  for (const error of [unavailable, unavailable]) availability.failed(error);
  for (let each = 0; each < 2; each++) availability.answered();
  expect(emitted).toEqual(['store-unavailable', 'back']);
});

test('A store that is closed during an outage is emitted once more, because waiting cannot help.', () => {
  const { availability, emitted } = aRecorded();
  for (const error of [unavailable, closed, closed, unavailable]) availability.failed(error);
  expect(emitted).toEqual(['store-unavailable', 'store-closed']);
});
