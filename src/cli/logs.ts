/** `longhaul logs`: what an attempt printed. */
import { attemptFolder } from '../node/home.ts';
import { secretsOfAttempt } from '../node/secrets.ts';
import { readLog } from '../runner/read-log.ts';
import type { Command } from './command.ts';
import { homeOf, read, UsageError, withHome } from './command.ts';

export const logsCommand: Command = {
  usage: 'logs ID [--attempt N]',
  about: 'Prints the log of a job: of its latest attempt, or of the one you name.',
  example: 'longhaul logs 0190f9c2-…',
  async run(words) {
    const { values, positionals } = read(words, { attempt: { type: 'string' } });
    const [id, ...more] = positionals;
    if (id === undefined || more.length > 0) throw new UsageError(`usage: longhaul ${logsCommand.usage}`);
    const home = homeOf(values.home);
    const job = await withHome(home, (longhaul) => longhaul.find(id));
    if (job === null) {
      console.error(`longhaul: job ${id} does not exist`);
      return 1;
    }
    const attempt = values.attempt === undefined ? job.attempt : Number(values.attempt);
    if (!Number.isInteger(attempt) || attempt < 1) {
      console.error(
        attempt === 0 ? `longhaul: job ${id} has not begun yet` : 'longhaul: --attempt must be a whole number from 1',
      );
      return attempt === 0 ? 1 : 2;
    }
    await print(attemptFolder(home, id, attempt));
    return 0;
  },
};

async function print(folder: string): Promise<void> {
  const secrets = await secretsOfAttempt(folder);
  for (let from = 0; ; ) {
    const piece = await readLog(folder, { from }, { secrets });
    if (piece.bytes.length === 0) return;
    if (!process.stdout.write(piece.bytes)) await new Promise((resolve) => process.stdout.once('drain', resolve));
    from = piece.to;
  }
}
