/** Sample jobs for the screenshots: running transcodes, finished thumbnails, a failed import. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Scripts outlive their node, so this one exits when its data directory is removed, and has a time limit. */
const transcode = `#!/bin/bash
film=$(basename "$RQ_PARAM1"); first=$RQ_PARAM2
printf '\\033[1m== %s ==\\033[0m\\n' "$film"
echo '::group::Streams'
printf '  video  h264  3840x2160  23.976 fps\\n  audio  aac   48000 Hz   5.1\\n'
echo '::endgroup::'
for ((n = first; n < 100 && SECONDS < 600; n++)); do
  [ -e "$LONGHAUL_DATA" ] || exit
  printf '\\033[36mpass 1\\033[0m  frame %6d  \\033[32m%2d fps\\033[0m  q=28.0  size %6d kB\\n' $((n * 1440)) $((40 + n % 9)) $((n * 7311))
  ((n % 9 == 4)) && printf '\\033[33mwarning\\033[0m  dropped a frame at %d\\n' $((n * 1440 + 7))
  echo "progress $n pass 1: scene $((n / 4 + 1)) of 25" >&3
  for ((i = 0; i < 20000 * (n % 3 + 1); i++)); do :; done
  sleep 3
done
`;
const thumbnails = '#!/bin/sh\necho "12 pictures of $RQ_PARAM1"\n';
const importer = `#!/bin/sh
echo "reading $RQ_PARAM1"
case $RQ_PARAM1 in
  *.csv) echo "Error: row 1734 of $RQ_PARAM1 has 11 fields in place of 12" >&2; echo "group bad row" >&3; exit 3 ;;
  *) echo "fatal: connect to db-2:5432: connection refused" >&2; echo "group connection refused" >&3; exit 69 ;;
esac
`;

const FILMS = ['the-long-road.mov', 'harbour.mov', 'night-train.mov', 'two-rivers.mov'];

export function makeQueues(home) {
  mkdirSync(join(home, 'queues'), { recursive: true, mode: 0o700 });
  const put = (name, script, settings) => {
    writeFileSync(join(home, 'queues', `${name}.json`), JSON.stringify(settings));
    writeFileSync(join(home, 'queues', name), script, { mode: 0o755 });
  };
  put('transcode', transcode, { concurrency: 3 });
  put('thumbnails', thumbnails, { concurrency: 2 });
  put('import', importer, { concurrency: 2 });
  put('backup', '#!/bin/sh\nexit 0\n', { state: 'paused', note: 'the tape is full: a new one comes on Monday' });
}

/** Adds the films, which run for hours; returns the ids that the screenshots show. */
export async function addFilms(call) {
  const films = [];
  for (const [n, film] of FILMS.entries())
    films.push(
      await call('POST', 'api/jobs', {
        queue: 'transcode',
        name: film,
        tags: ['4k', n % 2 === 0 ? 'cinema' : 'archive'],
        data: { param1: `/films/${film}`, param2: String(62 - ((n * 23) % 50)) },
      }),
    );
  return { film: films[0].id };
}

/** Adds the jobs that end at once, and those that wait. */
export async function addJobs(call) {
  const add = (body) => call('POST', 'api/jobs', body);
  const pictures = Array.from({ length: 18 }, (_, n) => ({
    queue: 'thumbnails',
    name: `pictures of film ${n + 1}`,
    data: { param1: `film ${n + 1}` },
  }));
  await add(pictures);
  await add(
    ['orders.csv', 'invoices.csv', 'stock.json', 'prices.json', 'returns.json'].map((file) => ({
      queue: 'import',
      name: file,
      tags: ['nightly'],
      data: { param1: file },
    })),
  );
  await add({ queue: 'backup', name: 'weekly backup', delay: '9h' });
  await add({ queue: 'backup', name: 'backup of the films' });
}

const queueIn = ({ queues }, name) => queues.find((queue) => queue.name === name) ?? {};

const FILMS_AT_ONCE = 3;
/** Returns whether the films run that fit. */
export const filmsRun = (overview) => queueIn(overview, 'transcode').running === FILMS_AT_ONCE;
/** Returns whether each of them has reported progress: a job that has not started when its node ends starts later. */
export const filmsStarted = ({ rows }) => rows.filter(({ job }) => job.progress !== null).length === FILMS_AT_ONCE;

/** Returns whether all jobs that end at once have ended. */
export function isSettled(overview) {
  const isIdle = ({ waiting, running }) => waiting === 0 && running === 0;
  return ['thumbnails', 'import'].every((name) => isIdle(queueIn(overview, name))) && filmsRun(overview);
}
