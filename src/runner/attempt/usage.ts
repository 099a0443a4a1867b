/**
 * What an attempt used, as samples over its time and as totals. Pure.
 *
 * The series thins itself out: when it is full every second sample goes and from then on half as many are taken, so
 * that a job of days and a job of minutes are both a curve of at most 240 points.
 */

export interface Sample {
  /** Epoch ms. */
  readonly at: number;
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  /** Through system calls, also what the page cache answered. */
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly processes: number;
}

export interface Usage {
  readonly samples: readonly Sample[];
  /** The distance of the samples. */
  readonly everyMs: number;
  /** Totals that only grow, although a process that is gone takes its own with it. */
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
  // A little early is not early: the clock that calls is not exact.
  if (last && sample.at - last.at < usage.everyMs * 0.9) return usage;
  const samples = [...usage.samples, sample];
  if (samples.length <= MAX_SAMPLES) return { ...usage, samples };
  const span = sample.at - (samples[0]?.at ?? sample.at);
  return { ...usage, samples: samples.filter((_, index) => index % 2 === 0), everyMs: (2 * span) / MAX_SAMPLES };
}

/** At the end the shell knows the processor time of all that was waited for, also of what no sample saw. */
export function withFinalCpu(usage: Usage, cpuSeconds: number): Usage {
  return { ...usage, cpuSeconds: Math.max(usage.cpuSeconds, cpuSeconds) };
}
