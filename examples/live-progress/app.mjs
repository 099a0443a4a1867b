/**
 * Live progress in a web application: `node app.mjs`, then open the printed address. The page starts a job and shows
 * its progress, which the server sends as server-sent events.
 */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'longhaul';

const longhaul = await connect(process.env['STORE'] ?? './longhaul');
const tables = longhaul.queue('exports');
tables.work(async (job) => {
  for (let row = 1; row <= 20; row++) {
    job.progress(row * 5, `row ${row} of 20`);
    await sleep(100, undefined, { signal: job.signal });
  }
  return { rows: 20 };
});

const PAGE = `<!doctype html><title>Export</title>
<button>Export</button> <progress max="100" value="0"></progress> <output></output>
<script type="module">
  const [button, bar, text] = ['button', 'progress', 'output'].map((name) => document.querySelector(name));
  button.onclick = async () => {
    const { id } = await (await fetch('/exports', { method: 'POST' })).json();
    const events = new EventSource('/exports/' + id);
    events.onmessage = ({ data }) => {
      const job = JSON.parse(data);
      bar.value = job.percent;
      text.value = job.state + ' ' + job.text;
      if (job.ended) events.close();
    };
  };
</script>`;

/** Sends the progress of a job until it has ended or the reader is gone. A reconnecting reader just asks again. */
async function follow(id, response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  for (let last = ''; !response.destroyed; await sleep(100)) {
    const job = await longhaul.find(id);
    const ended = job === null || ['done', 'failed', 'cancelled'].includes(job.state);
    const percent = job?.state === 'done' ? 100 : (job?.progress?.percent ?? 0);
    const now = JSON.stringify({ state: job?.state ?? 'gone', percent, text: job?.progress?.text ?? '', ended });
    if (now !== last) response.write(`data: ${now}\n\n`);
    last = now;
    if (ended) break;
  }
  response.end();
}

async function answer(request, response) {
  const [, folder, id] = request.url.split('/');
  if (request.method === 'POST' && folder === 'exports') {
    const job = await tables.add({ by: 'ada' });
    response.end(JSON.stringify({ id: job.id }));
  } else if (folder === 'exports' && id) {
    await follow(id, response);
  } else {
    response.setHeader('content-type', 'text/html');
    response.end(PAGE);
  }
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => response.destroy(error));
});
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${server.address().port}`),
);
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => void longhaul.close());
});
