/** The handler of bench/handlers.mjs, as a module: Longhaul and BullMQ run the same file in their processes. */
export default async (job) => job.data.n * 2;
