/** The shop in PostgreSQL. A commit notifies the relay, so a job starts within milliseconds. */
import { pgOutbox } from 'longhaul';
import pg from 'pg';

export async function openPostgres(longhaul, address) {
  const pool = new pg.Pool({ connectionString: address });
  await pool.query(
    'CREATE TABLE IF NOT EXISTS orders (id SERIAL PRIMARY KEY, customer TEXT, total INTEGER CHECK (total > 0))',
  );
  const outbox = longhaul.outbox(pgOutbox(pool), { name: 'shop' });
  await outbox.setup();
  outbox.start();

  return {
    async placeOrder(customer, total) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        const { rows } = await client.query("SELECT nextval('orders_id_seq') AS id");
        const order = Number(rows[0].id);
        await outbox.add(client, 'confirmations', { order, customer }, { orderKey: customer });
        await client.query('INSERT INTO orders (id, customer, total) VALUES ($1, $2, $3)', [order, customer, total]);
        await client.query('COMMIT');
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      } finally {
        client.release();
      }
    },
    close: () => pool.end(),
  };
}
