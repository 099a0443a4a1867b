/**
 * The testing kit, `longhaul/testing`: a connection over a memory store with a clock that the test moves, a store with
 * faults, and chaos for handlers.
 *
 *     const { longhaul, clock } = connectForTests();
 *     await longhaul.queue('mail').add({ to: 'a@b' }, { delay: '3d' });
 *     clock.advance('3d');
 */

export type { ChaosFinding, ChaosOptions, ChaosReport } from './chaos/chaos.ts';
export { chaos } from './chaos/chaos.ts';
export type { ChaosFault } from './chaos/chaos-run.ts';
export type { EffectOptions } from './chaos/probe.ts';
export { effect } from './chaos/probe.ts';
export type { FaultyConnection, TestConnection } from './connect-for-tests.ts';
export { connectForTests, connectWithFaults } from './connect-for-tests.ts';
export type { FaultOptions, FaultyStore, InjectedFault } from './faulty-store.ts';
export { faultyStore } from './faulty-store.ts';
export type { VirtualClock } from './virtual-clock.ts';
export { waitFor } from './waiting.ts';
