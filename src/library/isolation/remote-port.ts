/**
 * The port of a handler in an isolate: its calls become messages to the worker, which makes them with its own port. A new
 * call of the port is one line here.
 */
import type { HandlerPort } from '../active-job.ts';
import type { CallLink } from './call-link.ts';

export function remotePort(link: CallLink, own: Pick<HandlerPort, 'signal' | 'log'>): HandlerPort {
  return {
    ...own,
    files: {
      list: (id) => link.ask('files.list', id),
      open: (id, file, range) => link.ask('files.open', id, file, range),
      localPath: (id, file) => link.ask('files.localPath', id, file),
    },
    attach: (name, content) => link.ask('attach', name, content),
    parents: () => link.ask('parents'),
    steps: {
      confirmLease: () => link.ask('steps.confirmLease'),
      keep: (write) => link.ask('steps.keep', write),
      read: () => link.ask('steps.read'),
      addChildren: (step, jobs) => link.ask('steps.addChildren', step, jobs),
      childResults: (ids) => link.ask('steps.childResults', ids),
    },
    progress: (percent, text) => link.tell('progress', percent, text),
    checkpoint: (text) => link.tell('checkpoint', text),
  };
}
