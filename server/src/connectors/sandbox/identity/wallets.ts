// Scripted device, telephone and identity provider of the sandbox: one valid code, signatures that
// are accepted unchecked, and tokens without a signature check. More one-time codes can be
// requested than in production.
import { parseOidcToken, validateOidcClaims } from '../../../catalog/identity/oidc.ts';
import type { OidcPort, WalletScript } from '../../ports/wallets.ts';

export const sandboxWalletScript: WalletScript = {
  code: '000000',
  stamp: 'sandbox-valid-signature',
  assertionSignature: 'sandbox-valid-passkey-signature',
  failure: 'UNAUTHORIZED',
  rejectsEmail: (email) => /[+]sync-failed@/i.test(email),
  challengesPerMinute: 60,
};

/** `issuers` are accepted in addition to the built-in ones. */
export const sandboxOidc = (issuers: readonly string[]): OidcPort => ({
  async verify(text, now) {
    const parsedToken = parseOidcToken(text, issuers);
    return 'problem' in parsedToken ? parsedToken : validateOidcClaims(parsedToken.token, now);
  },
});
