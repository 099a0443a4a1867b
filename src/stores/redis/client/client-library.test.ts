import { expect, it } from 'vitest';
import { clientsOf, loadLibrary } from './client-library.ts';
import { settingsOf } from './options.ts';

it('makes one class of clients, however many places are asked', async () => {
  const library = await loadLibrary();
  const settings = settingsOf({ url: 'redis+cluster://127.0.0.1:1,127.0.0.1:2' });
  const classes = new Set<unknown>();
  const { connect } = library.RedisClient.prototype;
  library.RedisClient.prototype.connect = function (this: object) {
    classes.add(Object.getPrototypeOf(Object.getPrototypeOf(this)));
    return connect.call(this as never);
  };
  try {
    const open = clientsOf(library, settings);
    for (const place of settings.address.places)
      await expect(open(place, settings.address)).rejects.toThrow('ECONNREFUSED');
  } finally {
    library.RedisClient.prototype.connect = connect;
  }
  expect(classes.size).toBe(1);
});
