/**
 * A shop that writes an order and its confirmation job in one transaction:
 *
 *     node shop.mjs shop.db                     SQLite
 *     node shop.mjs postgres://localhost/shop   PostgreSQL
 *
 * The second order is rolled back, so it has no job. The store of the jobs is in ./jobs.
 */
import { connect } from 'longhaul';
import { openPostgres } from './postgres.mjs';
import { openSqlite } from './sqlite.mjs';

const [, , address = 'shop.db'] = process.argv;
const longhaul = await connect('./jobs');
const shop = await (address.startsWith('postgres') ? openPostgres : openSqlite)(longhaul, address);

const confirmed = new Promise((resolve) => {
  longhaul.queue('confirmations').work(async ({ data }) => {
    console.log(`confirmed order ${data.order} for ${data.customer}`);
    if (data.customer === 'Cleo') resolve();
  });
});

await shop.placeOrder('Ada', 20);
await shop.placeOrder('Bob', -1).catch((error) => console.log(`no order for Bob: ${error.message}`));
await shop.placeOrder('Cleo', 30);
await confirmed;
await longhaul.close();
await shop.close();
