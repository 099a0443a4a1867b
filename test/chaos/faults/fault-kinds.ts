/** All kinds of faults, by name. */
import { changeLimit, changeRate, deleteQueue, moveJobs, pauseQueue, revokeToken } from './configuration-faults.ts';
import type { FaultKind } from './fault-kind.ts';
import {
  fullDisk,
  fullDiskWithoutBallast,
  readErrors,
  stepAllClocks,
  stepOneClock,
  syncErrors,
  writeErrors,
} from './machine-faults.ts';
import {
  cutHttpAnswers,
  cutRedisReplies,
  delayHttpAnswers,
  delayRedisReplies,
  disconnectHttp,
  partitionRedis,
} from './network-faults.ts';
import { powerCut } from './power-cut.ts';
import { blockLoop, freezeNode, freezeWorker, killNode, killProducer, killWorker } from './process-faults.ts';
import { redisWithoutMemory, redisWithoutRights, restartRedis } from './redis-faults.ts';

export const FAULT_KINDS: readonly FaultKind[] = [
  killWorker,
  killNode,
  killProducer,
  freezeWorker,
  freezeNode,
  blockLoop,
  cutHttpAnswers,
  delayHttpAnswers,
  disconnectHttp,
  cutRedisReplies,
  delayRedisReplies,
  partitionRedis,
  restartRedis,
  redisWithoutMemory,
  redisWithoutRights,
  readErrors,
  writeErrors,
  syncErrors,
  fullDisk,
  fullDiskWithoutBallast,
  powerCut,
  stepOneClock,
  stepAllClocks,
  pauseQueue,
  changeLimit,
  changeRate,
  moveJobs,
  deleteQueue,
  revokeToken,
];
