import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type StartRequest, toShimInput } from './start-request.ts';

const host = {
  tools: { setsid: '/b/setsid', nice: '/b/nice', setpriv: '/b/setpriv', env: '/b/env' },
  boot: 'B',
  cgroup: null,
};
const aRequest = (more: Partial<StartRequest> = {}): StartRequest => ({
  folder: '/f',
  cwd: '/f/work',
  argv: ['/q/script', '-rf', '$(id)'],
  env: { A: '; id' },
  stdin: null,
  ...more,
});

describe('a start request', () => {
  it('becomes shell text in which every given string is quoted', () => {
    expect(toShimInput(aRequest(), host)).toEqual({
      folder: '/f',
      text: `home='${join(import.meta.dirname, '../process')}'
prepare_script() { umask 022; export A='; id' LONGHAUL_ATTEMPT_MARK='/f'; }
set -- '/f' '/dev/null' '/f/work' 'B' '' '/b/setsid' '/q/script' '-rf' '$(id)'
. "$home/shim.sh"
`,
    });
  });

  it('keeps quotes as they are', () => {
    const { text } = toShimInput(aRequest({ argv: ['/q/s', "it's"], env: { A: "'; id; '" } }), host);
    expect(text).toContain(String.raw`'/q/s' 'it'\''s'`);
    expect(text).toContain(String.raw`A=''\''; id; '\'''`);
  });

  it('passes names with a special meaning in shells through env', () => {
    const { text } = toShimInput(aRequest({ env: { OPTIND: 'x', UID: '1', A: 'b' } }), host);
    expect(text).toContain("'/b/setsid' '/b/env' 'OPTIND=x' 'UID=1' '/q/script'");
    expect(text).toContain("export A='b' LONGHAUL_ATTEMPT_MARK='/f';");
  });

  it('is wrapped in the commands for its nice level and user', () => {
    const { text } = toShimInput(aRequest({ nice: 19, user: { uid: 5, gid: 6 }, stdin: '/f/data.json' }), host);
    expect(text).toContain(
      "'/b/setsid' '/b/nice' '-n' '19' '/b/setpriv' '--reuid' '5' '--regid' '6' '--clear-groups' '/q/script'",
    );
    expect(text).toContain("'/f' '/f/data.json' ");
    expect(text).toContain('umask 022; command -p chmod 0666 /dev/fd/3 /dev/fd/4; export');
  });

  it('names its control group', () => {
    expect(toShimInput(aRequest(), { ...host, cgroup: '/sys/x' }).text).toContain("'B x' '/sys/x' '/b/setsid'");
  });

  it('sets limits, the soft one before the hard one', () => {
    const limits = { cpu: 3, addressSpace: 1_048_577, fileSize: 1025, processes: 20 };
    expect(toShimInput(aRequest({ umask: 0o77, limits }), host).text).toContain(
      'umask 077; ulimit -H -t 5; ulimit -S -t 3; ulimit -v 1025; ulimit -f 3; ulimit -u 20 2>/dev/null || ulimit -p 20;',
    );
  });

  it.each<[string, Partial<StartRequest>]>([
    ['folder', { folder: 'f' }],
    ['cwd', { cwd: '' }],
    ['argv[0]', { argv: ['script'] }],
    ['argv[0]', { argv: [] }],
    ['argv', { argv: ['/a', 'b\0'] }],
    ['stdin', { stdin: 'x' }],
    ['env.A', { env: { A: '\0' } }],
    ['env.A=', { env: { 'A=': '' } }],
    ['env.odd.name', { env: { 'odd.name': '' } }],
    ['nice', { nice: 1.5 }],
    ['umask', { umask: -1 }],
    ['user.uid', { user: { uid: -1, gid: 0 } }],
    ['limits.cpu', { limits: { cpu: Number.NaN } }],
  ])('with a bad %s is bad input: %j', (path, more) => {
    expect(() => toShimInput(aRequest(more), host)).toThrow(expect.objectContaining({ code: 'bad-input' }));
    expect(() => toShimInput(aRequest(more), host)).toThrow(path);
  });
});
