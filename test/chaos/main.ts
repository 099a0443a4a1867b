/**
 * The program of `npm run chaos`, bundled and started by scripts/chaos.mjs.
 *
 * It starts itself a second time with a small disk of its own, if it may mount one. When the first process ends in any way,
 * the second one and everything that it started end too, and the folder of the run is removed.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnGuarded } from '../support/guarded-process.ts';
import { guardFolder } from '../support/own-folder.ts';
import { checkAll } from './checks/check-all.ts';
import type { StoreName } from './environment.ts';
import { whyNot } from './environment.ts';
import { FAULT_KINDS } from './faults/fault-kinds.ts';
import { commandOf, figuresOf, type ReportInput, reportOf } from './report.ts';
import { runChaos } from './run-chaos.ts';
import { canMount, withSmallDisk } from './small-disk.ts';

/** What scripts/chaos.mjs passes. */
interface Plan {
  readonly root: string;
  readonly store: StoreName;
  readonly seed: number;
  readonly minutes: number;
  readonly everyMs: number;
  readonly faults: readonly string[] | null;
  readonly report: string | null;
  /** Whether ledgers are kept beside the report even without a finding. */
  readonly keep: boolean;
  /** Whether the kinds of faults are listed, and nothing else is done. */
  readonly list: boolean;
  /** Set for the second process. */
  readonly folder?: string;
  readonly hasSmallDisk?: boolean;
}

const MINUTE_MS = 60_000;
const NO_DISK = 97;
const BAD_USAGE = 2;
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const plan = JSON.parse(process.argv[2] ?? '{}') as Plan;
function begin(given: Plan): number | Promise<number> {
  if (given.folder !== undefined) return runInside(given, given.folder);
  if (given.list) return listKinds();
  const unknown = given.faults?.find((fault) => !FAULT_KINDS.some(({ name }) => name === fault));
  if (unknown === undefined) return runGuarded(given);
  process.stderr.write(`There is no kind of fault "${unknown}": npm run chaos -- --list lists them.\n`);
  return BAD_USAGE;
}

function listKinds(): number {
  for (const { name, needs } of FAULT_KINDS) print(`${name.padEnd(24)}${needs.join(', ')}`.trimEnd());
  return 0;
}

/** The first process: makes the folder and removes it at the end, with every script that is left in it. */
async function runGuarded(given: Plan): Promise<number> {
  endWithParent();
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-chaos-'));
  const endGuard = guardFolder(folder);
  const start = async (hasSmallDisk: boolean): Promise<number> => {
    const command = [process.execPath, process.argv[1] ?? '', JSON.stringify({ ...given, folder, hasSmallDisk })];
    const [program = '', ...args] = hasSmallDisk
      ? withSmallDisk(join(folder, 'disk.img'), join(folder, 'disk'), command)
      : command;
    const child = await spawnGuarded(program, args, {});
    child.stdout.pipe(process.stdout);
    child.stderr.pipe(process.stderr);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.signal(signal));
    const { code, signal } = await child.ended;
    return code ?? STOP_CODES[signal as keyof typeof STOP_CODES] ?? 1;
  };
  try {
    const code = canMount() ? await start(true) : NO_DISK;
    return code === NO_DISK ? await start(false) : code;
  } finally {
    await endGuard();
    rmSync(folder, { recursive: true, force: true });
  }
}

const PARENT_MS = 500;

/** A script that is killed cannot end this process: it ends itself when it has another parent. */
function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, PARENT_MS).unref();
}

/** The second process: runs chaos. Returns 0 without a finding, otherwise 1. */
async function runInside(given: Plan, folder: string): Promise<number> {
  const { store, seed, minutes, faults, root, everyMs, hasSmallDisk = false } = given;
  process.env['TMPDIR'] = folder;
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => abort.abort(signal));
  const wanted = FAULT_KINDS.filter(({ name }) => faults === null || faults.includes(name));
  const skipped = wanted.flatMap(({ name: kind, needs }) => {
    const reason = needs.map((need) => whyNot(need, { store, hasSmallDisk })).find((why) => why !== null);
    return reason === undefined || reason === null ? [] : [{ kind, reason }];
  });
  for (const { kind, reason } of skipped) print(`skipped: ${kind} ${reason}`);
  const kinds = wanted.filter(({ name }) => !skipped.some(({ kind }) => kind === name));
  const durationMs = minutes * MINUTE_MS;
  const options = { root, folder, store, seed, durationMs, everyMs, kinds, signal: abort.signal, print };
  const run = await runChaos(options).catch((error: unknown) => {
    if (abort.signal.aborted) return null;
    throw error;
  });
  if (run === null) return stopped(abort.signal.reason as keyof typeof STOP_CODES);
  const findings = checkAll(run.evidence);
  const input: ReportInput = { ...run, store, seed, minutes, everyMs, faults, skipped, findings, machine: machine() };
  if (given.report !== null && (given.keep || findings.length > 0)) keepLedgers(folder, given.report);
  return conclude(input, given.report);
}

/** Ledgers and the node's log explain a finding. */
function keepLedgers(folder: string, report: string): void {
  for (const name of ['ledger', 'logs'])
    cpSync(join(folder, name), join(`${report}.evidence`, name), { recursive: true });
  print(`The ledgers are in ${report}.evidence.`);
}

/** The exit codes of a program that a signal ended. */
const STOP_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

function stopped(signal: keyof typeof STOP_CODES): number {
  print(`Stopped by ${signal}: the run was not checked.`);
  return STOP_CODES[signal];
}

const machine = (): string => `Node.js ${process.version}, ${cpus().length} cores, Linux ${release()}`;

function conclude(input: ReportInput, report: string | null): number {
  if (report !== null) {
    mkdirSync(join(report, '..'), { recursive: true });
    writeFileSync(report, reportOf(input));
    print(`The report is in ${report}.`);
  } else if (input.findings.length > 0) print(reportOf(input));
  const figures = Object.entries(figuresOf(input)).map(([name, count]) => `${name.replaceAll(' ', '-')}=${count}`);
  print(`figures: chaos, ${input.store}: seed=${input.seed} ${figures.join(' ')} findings=${input.findings.length}`);
  print(`${input.findings.length === 0 ? 'No finding.' : 'FOUND'} Repeat with: ${commandOf(input)}`);
  return input.findings.length === 0 ? 0 : 1;
}

process.exit(await begin(plan));
