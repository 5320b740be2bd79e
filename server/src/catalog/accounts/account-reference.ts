// Payment reference of deposits to an internal account. The reference is derived from the account
// ID only, so it is constant and unique. The account ID can be derived from the reference on a bank
// statement. The 34 characters fit the limit of 35 characters on bank rails.

const PREFIX = 'RA';
const FORMAT = /^RA([0-9A-F]{8})([0-9A-F]{4})([0-9A-F]{4})([0-9A-F]{4})([0-9A-F]{12})$/;

export const accountReference = (accountId: string): string =>
  `${PREFIX}${accountId
    .slice(accountId.indexOf(':') + 1)
    .replaceAll('-', '')
    .toUpperCase()}`;

/** Account ID of a reference, with or without spaces and hyphens. Undefined for any other text. */
export function accountIdOfReference(reference: string): string | undefined {
  const match = FORMAT.exec(reference.replace(/[\s-]/g, '').toUpperCase());
  return match ? `InternalAccount:${match.slice(1).join('-').toLowerCase()}` : undefined;
}
