/** The size of a test: small in `npm test`, full in `npm run test:all`. */
export const isFullSize = process.env['LONGHAUL_PROOF'] === 'full';

export const testSize = <T>(sizes: { readonly small: T; readonly full: T }): T =>
  isFullSize ? sizes.full : sizes.small;
