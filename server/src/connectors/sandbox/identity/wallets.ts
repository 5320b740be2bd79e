// What stands in the sandbox for a real device, a real telephone and a real identity provider: one code that
// is always right, signatures that pass unseen, and tokens whose signature nobody looks at. Everything else
// about them is held to the same rules as in production.
import { judgeOidcClaims, readOidcToken } from '../../../catalog/identity/oidc.ts';
import type { OidcPort, WalletScript } from '../../ports/wallets.ts';

export const sandboxWalletScript: WalletScript = {
  code: '000000',
  stamp: 'sandbox-valid-signature',
  assertionSignature: 'sandbox-valid-passkey-signature',
  failure: 'UNAUTHORIZED',
  rejectsEmail: (email) => /[+]sync-failed@/i.test(email),
  challengesPerMinute: 60,
};

/** `issuers` are those that the operator takes beside the ones that are always taken. */
export const sandboxOidc = (issuers: readonly string[]): OidcPort => ({
  async verify(text, now) {
    const read = readOidcToken(text, issuers);
    return 'problem' in read ? read : judgeOidcClaims(read.token, now);
  },
});
