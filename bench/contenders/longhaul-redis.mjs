/** Longhaul on the run's Redis server. */
import { openAt } from './longhaul.mjs';

export const open = ({ port, build, namespace = 'bench' }) =>
  openAt(`redis://127.0.0.1:${port}?namespace=${namespace}`, build);
