/** In every test process: when vitest itself is gone, so is the test, and with it the processes it started. */
process.once('disconnect', () => process.exit(1));
