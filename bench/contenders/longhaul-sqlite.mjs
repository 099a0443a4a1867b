/** Longhaul on SQLite, by its defaults: `synchronous = FULL`, nothing is answered before it is on the disk. */
import { openAt } from './longhaul.mjs';

export const open = ({ folder }) => openAt(folder);
