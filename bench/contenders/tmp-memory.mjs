import { openAt } from './longhaul.mjs';
export const open = () => openAt('memory:');
