import { expect, it } from 'vitest';
import { platformProblem, thisPlatform } from './platform.ts';

it('scripts are refused on a platform without support, with the reason', () => {
  expect(platformProblem({ system: 'linux', hasProc: true })).toBeNull();
  expect(platformProblem({ system: 'darwin', hasProc: false })).toContain('scripts need Linux');
  expect(platformProblem({ system: 'darwin', hasProc: false })).toContain('this is darwin: use handlers');
  expect(platformProblem({ system: 'linux', hasProc: false })).toContain('mount -t proc');
  expect(platformProblem(thisPlatform())).toBeNull();
});
