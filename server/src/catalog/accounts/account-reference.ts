// The payment reference of an internal account. It is derived from the account's id, so it never
// changes, is unique, and identifies the account on a bank statement without a lookup. Its 34
// letters and digits fit the 35 characters of bank rails.

const PREFIX = 'RA';
const FORM = /^RA([0-9A-F]{8})([0-9A-F]{4})([0-9A-F]{4})([0-9A-F]{4})([0-9A-F]{12})$/;

export const accountReference = (accountId: string): string =>
  `${PREFIX}${accountId
    .slice(accountId.indexOf(':') + 1)
    .replaceAll('-', '')
    .toUpperCase()}`;

/** The account of a reference, with or without spaces; undefined for any other text. */
export function accountOfReference(reference: string): string | undefined {
  const match = FORM.exec(reference.replace(/[\s-]/g, '').toUpperCase());
  return match ? `InternalAccount:${match.slice(1).join('-').toLowerCase()}` : undefined;
}
