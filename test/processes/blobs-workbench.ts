/** Helpers of the blob tests: folders, reproducible content, and access to the files behind the interface. */
import { spawnSync } from 'node:child_process';
import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Blobs } from '../../src/files/blobs/blobs.ts';
import { type BlobsOptions, openBlobs } from '../../src/files/blobs/open-blobs.ts';

/** A folder that is removed at the end of the test. */
export async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'longhaul-blobs-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface Bench {
  readonly blobs: Blobs;
  readonly folder: string;
  /** Advances the clock of the blobs. */
  pass(ms: number): void;
  /** Opens the same folder without any state in memory, as another process would. */
  reopen(): Promise<Blobs>;
  /** Lists every file below the folder. */
  files(): string[];
}

export async function aBench(options: Partial<BlobsOptions> = {}): Promise<Bench> {
  const folder = options.folder ?? (await aFolder());
  let passed = 0;
  const now = () => Date.now() + passed;
  const reopen = () => openBlobs({ reserveBytes: 0, now, ...options, folder });
  return {
    blobs: await reopen(),
    folder,
    pass: (ms) => void (passed += ms),
    reopen,
    files: () => filesBelow(folder),
  };
}

export function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** Returns the same bytes for the same seed; they do not compress or repeat. */
export function bytesOf(size: number, seed = 1): Buffer {
  const key = createHash('md5').update(String(seed)).digest();
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size));
}

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
export const md5Of = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');

export async function* piecesOf(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Yields the bytes, then fails like a broken connection. */
export async function* cutAfter(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* piecesOf(bytes);
  throw new Error('the line was cut');
}

/** Adds a blob and returns its hash. */
export async function put(blobs: Blobs, bytes: Uint8Array): Promise<string> {
  const added = await blobs.addFromStream(piecesOf(bytes));
  if (!added.ok) throw new Error(added.refusal.message);
  return added.blob.sha256;
}

export async function readAll(stream: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

export async function get(blobs: Blobs, sha256: string, range?: { start?: number; end?: number }): Promise<Buffer> {
  const reading = await blobs.read(sha256, range);
  if (!reading.ok) throw new Error(reading.refusal.message);
  return readAll(reading.stream);
}

export const blobPath = (folder: string, sha256: string): string => join(folder, sha256.slice(0, 2), sha256);

/** Creates a FIFO, which blocks a careless open. */
export function makeFifo(path: string): void {
  const { status } = spawnSync('sh', ['-c', 'mkfifo "$1"', 'sh', path]);
  if (status !== 0) throw new Error(`cannot create a FIFO at ${path}`);
}

/** Flips one bit of the file, by default a random one. */
export function flipBit(path: string, at = randomBytes(4).readUInt32LE()): void {
  const bytes = readFileSync(path);
  const place = at % (bytes.length * 8);
  bytes[place >> 3] = (bytes[place >> 3] ?? 0) ^ (1 << (place & 7));
  writeFileSync(path, bytes);
}
