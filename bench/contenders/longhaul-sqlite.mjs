/** Longhaul on SQLite with its defaults: `synchronous = FULL`, every reply follows an fsync. */
import { openAt } from './longhaul.mjs';

export const open = ({ folder, build }) => openAt(folder, build);
