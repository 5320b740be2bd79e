// The reference under which money reaches an internal account: made from its id and nothing else, so it is
// the same every time, no two accounts share one, and a reference on a bank statement leads back to its
// account without a look-up. 34 letters and digits fit the 35 that bank rails leave.

const PREFIX = 'RA';
const FORM = /^RA([0-9A-F]{8})([0-9A-F]{4})([0-9A-F]{4})([0-9A-F]{4})([0-9A-F]{12})$/;

export const accountReference = (accountId: string): string =>
  `${PREFIX}${accountId
    .slice(accountId.indexOf(':') + 1)
    .replaceAll('-', '')
    .toUpperCase()}`;

/** The account that a reference names, however a bank has spaced it; undefined for any other text. */
export function accountOfReference(reference: string): string | undefined {
  const match = FORM.exec(reference.replace(/[\s-]/g, '').toUpperCase());
  return match ? `InternalAccount:${match.slice(1).join('-').toLowerCase()}` : undefined;
}
