/**
 * The web UI inside an Express application: `npm install express longhaul`, then `node app.mjs`.
 *
 * The application decides who may do what. Here a cookie stands for the session of a real application.
 */
import express from 'express';
import { connect } from 'longhaul';
import { createHandler } from 'longhaul/web';

const longhaul = await connect(process.env['STORE'] ?? './longhaul');

/** Returns the role of a user: read, submit, operate or admin; null refuses the request. */
function roleOf(request) {
  const role = /(?:^|; )role=(\w+)/.exec(request.headers.cookie ?? '')?.[1];
  if (role === 'operate') return { role: 'operate', actor: 'ada' };
  return role === 'none' ? null : 'read';
}

const jobs = createHandler(longhaul, { basePath: '/admin/jobs', authorize: roleOf });
/** Without `authorize`, every caller reads and changes nothing. */
const view = createHandler(longhaul, { basePath: '/view' });

const app = express();
// Before middleware that parses bodies.
app.use(jobs.node);
app.use('/view', view.node);
app.use(express.json());
app.get('/', (_request, response) => response.send('<a href="/admin/jobs">jobs</a>'));

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () =>
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })),
);

process.once('SIGTERM', () => {
  jobs.close();
  view.close();
  server.closeAllConnections();
  server.close(() => void longhaul.close());
});
