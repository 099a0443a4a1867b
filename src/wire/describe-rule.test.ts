import { expect, it } from 'vitest';
import { describeRule } from './describe-rule.ts';

it.each([
  ['30 3 * * *', 'every day at 03:30 (UTC)'],
  ['@daily', 'every day at 00:00 (UTC)'],
  ['* * * * *', 'every minute (UTC)'],
  ['*/15 * * * *', 'every 15 minutes (UTC)'],
  ['0,15,30,45 * * * *', 'every 15 minutes (UTC)'],
  ['5 * * * *', 'at minute 5 of every hour (UTC)'],
  ['0 * * * *', 'every hour (UTC)'],
  ['5,35 * * * *', 'at minutes 5 and 35 of every hour (UTC)'],
  ['0 9 * * 1-5', 'at 09:00 on Monday to Friday (UTC)'],
  ['0 9,18 * * SAT,SUN', 'at 09:00 and 18:00 on Saturday and Sunday (UTC)'],
  ['*/10 9-17 * * MON', 'every 10 minutes from 09:00 to 17:59 on Monday (UTC)'],
  ['0 0 1,15 * *', 'at 00:00 on the 1st and 15th (UTC)'],
  ['0 0 L * *', 'at 00:00 on the last day of the month (UTC)'],
  ['0 6 * * 5#2', 'at 06:00 on the 2nd Friday of the month (UTC)'],
  ['0 6 * * 5L', 'at 06:00 on the last Friday of the month (UTC)'],
  ['0 0 13 * 5', 'at 00:00 on the 13th or on Friday (UTC)'],
  ['@yearly', 'at 00:00 on the 1st in January (UTC)'],
  ['0 0 * 6-8 *', 'at 00:00 in June to August (UTC)'],
  ['*/30 * * * * *', 'every 30 seconds (UTC)'],
  ['15 0 12 * * *', 'every day at 12:00:15 (UTC)'],
  ['*/20 */2 * * *', 'every 20 minutes of every 2nd hour (UTC)'],
])('%s is described as: %s', (cron, text) => {
  expect(describeRule({ kind: 'cron', cron, zone: 'UTC' })).toBe(text);
});

it.each([
  [900_000, 0, 'every 15 minutes'],
  [3_600_000, 300_000, 'every hour, 5m past'],
  [5_400_000, 0, 'every 90 minutes'],
  [86_400_000, 0, 'every day'],
  [1_500, 0, 'every 1s500ms'],
])('an interval of %i ms with offset %i is described as: %s', (everyMs, anchorAt, text) => {
  expect(describeRule({ kind: 'every', everyMs, anchorAt })).toBe(text);
});
