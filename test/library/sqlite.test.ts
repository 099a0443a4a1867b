import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { connect } from '../../src/library/index.ts';
import { libraryOver } from './library.ts';
import { stepsOver } from './steps.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhaul-library-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let homes = 0;
libraryOver('SQLite', () => connect(join(folder, String(homes++))));
stepsOver('SQLite', () => connect(join(folder, String(homes++))));
