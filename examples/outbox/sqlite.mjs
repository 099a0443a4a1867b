/** The shop in SQLite. `node:sqlite` and better-sqlite3 work in the same way; with them `add` is synchronous too. */
import { DatabaseSync } from '@photostructure/sqlite';
import { sqliteOutbox } from 'longhaul';

export async function openSqlite(longhaul, file) {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec(
    'CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, customer TEXT, total INTEGER CHECK (total > 0)) STRICT',
  );
  const outbox = longhaul.outbox(sqliteOutbox(db), { name: 'shop' });
  await outbox.setup();
  outbox.start();

  return {
    async placeOrder(customer, total) {
      db.exec('BEGIN IMMEDIATE');
      try {
        const order = Number(db.prepare('SELECT coalesce(max(id), 0) + 1 AS id FROM orders').get().id);
        outbox.add(db, 'confirmations', { order, customer }, { orderKey: customer });
        db.prepare('INSERT INTO orders (id, customer, total) VALUES (?, ?, ?)').run(order, customer, total);
        db.exec('COMMIT');
      } catch (error) {
        db.exec('ROLLBACK');
        throw error;
      }
    },
    close: async () => db.close(),
  };
}
