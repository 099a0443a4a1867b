/**
 * The resource usage of an attempt: samples over time, and totals. Pure.
 *
 * The series thins itself out. When it is full, every second sample is dropped and the sampling interval doubles, so
 * that a job of days and a job of minutes are both a curve of at most 240 points.
 */

export interface Sample {
  /** Epoch ms. */
  readonly at: number;
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  /** Bytes read through system calls, including reads that the page cache answered. */
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly processes: number;
}

export interface Usage {
  readonly samples: readonly Sample[];
  /** The time between two samples. */
  readonly everyMs: number;
  /** Totals never shrink, although the counters of an ended process disappear with it. */
  readonly cpuSeconds: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly peakRssBytes: number;
  readonly peakProcesses: number;
}

export const MAX_SAMPLES = 240;

export const NO_USAGE: Usage = {
  samples: [],
  everyMs: 0,
  cpuSeconds: 0,
  readBytes: 0,
  writtenBytes: 0,
  peakRssBytes: 0,
  peakProcesses: 0,
};

export function addSample(usage: Usage, seen: Sample): Usage {
  const sample = {
    ...seen,
    cpuSeconds: Math.max(usage.cpuSeconds, seen.cpuSeconds),
    readBytes: Math.max(usage.readBytes, seen.readBytes),
    writtenBytes: Math.max(usage.writtenBytes, seen.writtenBytes),
  };
  return {
    ...withSample(usage, sample),
    cpuSeconds: sample.cpuSeconds,
    readBytes: sample.readBytes,
    writtenBytes: sample.writtenBytes,
    peakRssBytes: Math.max(usage.peakRssBytes, seen.rssBytes),
    peakProcesses: Math.max(usage.peakProcesses, seen.processes),
  };
}

function withSample(usage: Usage, sample: Sample): Usage {
  const last = usage.samples.at(-1);
  // Tolerance: the timer is not exact.
  if (last && sample.at - last.at < usage.everyMs * 0.9) return usage;
  const samples = [...usage.samples, sample];
  if (samples.length <= MAX_SAMPLES) return { ...usage, samples };
  const span = sample.at - (samples[0]?.at ?? sample.at);
  return { ...usage, samples: samples.filter((_, index) => index % 2 === 0), everyMs: (2 * span) / MAX_SAMPLES };
}

/** Adds the CPU time that the shell reports at the end, which includes processes that no sample saw. */
export function withFinalCpu(usage: Usage, cpuSeconds: number): Usage {
  return { ...usage, cpuSeconds: Math.max(usage.cpuSeconds, cpuSeconds) };
}
