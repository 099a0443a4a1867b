/** A look at the node of a home: whether one runs, and whether it says that it is well. */
import { request } from 'node:http';
import type { Finding } from '../../../node/doctor/finding.ts';
import { fault, fine, note } from '../../../node/doctor/finding.ts';
import type { Home } from '../../../node/home.ts';
import { nodeOn } from '../../../node/node-lock.ts';
import { socketOf } from '../../daemon/serve-http.ts';

const DEADLINE_MS = 10_000;
const OK = 200;

export async function lookAtNode(
  home: Home,
): Promise<{ readonly pid: number | null; readonly findings: readonly Finding[] }> {
  const pid = nodeOn(home.lock);
  if (pid === null) return { pid, findings: [note('node', `no node runs on ${home.root}`)] };
  const answer = await askReady(socketOf(home)).catch((error: Error) => error);
  if (answer instanceof Error) {
    const cure = `look at its log; if it stands still: kill -9 ${pid}, and start it again (its scripts go on)`;
    return { pid, findings: [fault('node', `the node (process ${pid}) does not answer: ${answer.message}`, cure)] };
  }
  if (answer.status === OK) return { pid, findings: [fine('node', `the node (process ${pid}) is ready`)] };
  const words = answer.text.trim().split('\n').join('; ');
  return {
    pid,
    findings: [
      fault('node', `the node (process ${pid}) is not ready: ${words}`, 'see the other findings, and its log'),
    ],
  };
}

function askReady(socketPath: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/readyz', headers: { host: 'localhost' } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asked.setTimeout(DEADLINE_MS, () => asked.destroy(new Error(`nothing came within ${DEADLINE_MS / 1_000} s`)));
    asked.on('error', reject);
    asked.end();
  });
}
