/** Checks whether a node runs on a data directory, and whether it reports that it is ready. */
import { request } from 'node:http';
import type { Finding } from '../../../node/doctor/finding.ts';
import { fault, fine, note } from '../../../node/doctor/finding.ts';
import type { Home } from '../../../node/home.ts';
import { nodeOn } from '../../../node/node-lock.ts';
import { socketOf } from '../../daemon/serve-http.ts';

const DEADLINE_MS = 10_000;
const OK = 200;

export async function inspectNode(
  home: Home,
): Promise<{ readonly pid: number | null; readonly findings: readonly Finding[] }> {
  const pid = nodeOn(home.lock);
  if (pid === null) return { pid, findings: [note('node', `no node runs on ${home.root}`)] };
  const response = await requestReadiness(socketOf(home)).catch((error: Error) => error);
  if (response instanceof Error) {
    const cure = `see its log; if it hangs: kill -9 ${pid}, then start it again (its scripts keep running)`;
    return { pid, findings: [fault('node', `the node (process ${pid}) does not answer: ${response.message}`, cure)] };
  }
  if (response.status === OK) return { pid, findings: [fine('node', `the node (process ${pid}) is ready`)] };
  const reasons = response.text.trim().split('\n').join('; ');
  return {
    pid,
    findings: [
      fault('node', `the node (process ${pid}) is not ready: ${reasons}`, 'see the other findings and its log'),
    ],
  };
}

function requestReadiness(socketPath: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path: '/readyz', headers: { host: 'localhost' } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.setTimeout(DEADLINE_MS, () => sent.destroy(new Error(`no response within ${DEADLINE_MS / 1_000} s`)));
    sent.on('error', reject);
    sent.end();
  });
}
