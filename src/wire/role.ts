/** Who may what. Each role of the ladder may all that those below it may; `relay` stands beside it. */

const LADDER = ['read', 'submit', 'operate', 'admin'] as const;
export const ROLES = [...LADDER, 'relay'] as const;
export type Role = (typeof ROLES)[number];

/** Whether somebody with this role may do what needs that one. What a relay may, everybody who may submit may too. */
export function allows(has: Role, needs: Role | 'open'): boolean {
  if (needs === 'open' || has === needs) return true;
  if (has === 'relay') return false;
  return LADDER.indexOf(has) >= (needs === 'relay' ? LADDER.indexOf('submit') : LADDER.indexOf(needs));
}
