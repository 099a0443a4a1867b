import { describe, expect, it } from 'vitest';
import { addSample, MAX_SAMPLES, NO_USAGE, type Sample, withFinalCpu } from './usage.ts';

const aSample = (more: Partial<Sample> = {}): Sample => ({
  at: 0,
  cpuSeconds: 0,
  rssBytes: 0,
  readBytes: 0,
  writtenBytes: 0,
  processes: 1,
  ...more,
});

describe('the usage of an attempt', () => {
  it('keeps peaks, and totals that only grow', () => {
    const seen = [
      aSample({ at: 1, cpuSeconds: 5, rssBytes: 10, readBytes: 3, writtenBytes: 4, processes: 2 }),
      aSample({ at: 2, cpuSeconds: 3, rssBytes: 30, readBytes: 1, writtenBytes: 9, processes: 7 }),
      aSample({ at: 3, cpuSeconds: 6, rssBytes: 20 }),
    ];
    const usage = seen.reduce(addSample, NO_USAGE);
    expect(usage).toMatchObject({
      cpuSeconds: 6,
      peakRssBytes: 30,
      peakProcesses: 7,
      readBytes: 3,
      writtenBytes: 9,
    });
    expect(usage.samples.map(({ cpuSeconds, rssBytes }) => [cpuSeconds, rssBytes])).toEqual([
      [5, 10],
      [5, 30],
      [6, 20],
    ]);
  });

  it('is a curve of at most 240 points over any time, evenly spaced', () => {
    let usage = NO_USAGE;
    const days = 3 * 86_400_000;
    for (let at = 0; at <= days; at += 2_000) usage = addSample(usage, aSample({ at, cpuSeconds: at / 1000 }));
    expect(usage.samples.length).toBeLessThanOrEqual(MAX_SAMPLES);
    expect(usage.samples.length).toBeGreaterThan(MAX_SAMPLES / 3);
    expect(usage.samples[0]?.at).toBe(0);
    expect(days - (usage.samples.at(-1)?.at ?? 0)).toBeLessThanOrEqual(usage.everyMs * 2);
    const gaps = usage.samples.slice(1).map(({ at }, index) => at - (usage.samples[index]?.at ?? 0));
    expect(Math.max(...gaps) / Math.min(...gaps)).toBeLessThan(3);
    expect(usage.cpuSeconds).toBe(days / 1000);
  });

  it('ends with the CPU time that the shell reports, if that is more', () => {
    expect(withFinalCpu(NO_USAGE, 2).cpuSeconds).toBe(2);
    expect(withFinalCpu({ ...NO_USAGE, cpuSeconds: 5 }, 2).cpuSeconds).toBe(5);
  });
});
