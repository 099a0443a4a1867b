/** Before the files of suites that compute and go by no clock: they leave the cores to those that are timed beside them. */
import { setPriority } from 'node:os';

const BEHIND = 3;

setPriority(BEHIND);
