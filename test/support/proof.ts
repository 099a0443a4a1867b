/** The size of a proof: small in `npm test`, full in `npm run test:all`. */
export const isFullProof = process.env['LONGHAUL_PROOF'] === 'full';

export const proofSize = <T>(sizes: { readonly small: T; readonly full: T }): T =>
  isFullProof ? sizes.full : sizes.small;
