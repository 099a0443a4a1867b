/** The roles of callers. `read`, `submit`, `operate` and `admin` each include the roles before them; `relay` is separate. */

const LADDER = ['read', 'submit', 'operate', 'admin'] as const;
export const ROLES = [...LADDER, 'relay'] as const;
export type Role = (typeof ROLES)[number];

/** Returns whether role `has` includes role `needs`. `submit` and above include `relay`. */
export function allows(has: Role, needs: Role | 'open'): boolean {
  if (needs === 'open' || has === needs) return true;
  if (has === 'relay') return false;
  return LADDER.indexOf(has) >= (needs === 'relay' ? LADDER.indexOf('submit') : LADDER.indexOf(needs));
}
