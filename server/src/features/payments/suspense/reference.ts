// External references of payments and refunds. The references are derived from the ID, so a search by
// reference reads by primary key.

const hexOf = (id: string) =>
  id
    .slice(id.indexOf(':') + 1)
    .replaceAll('-', '')
    .toUpperCase();

/** 34 characters: within the 35 that bank rails allow for an end-to-end reference. */
export const paymentReferenceOf = (id: string) => `RH${hexOf(id)}`;
export const refundReferenceOf = (id: string) => `RF${hexOf(id)}`;

/** The ID of the transaction, or undefined for any other text. */
export function transactionIdOfReference(reference: string): string | undefined {
  const match = /^R[HF]([0-9A-F]{8})([0-9A-F]{4})([0-9A-F]{4})([0-9A-F]{4})([0-9A-F]{12})$/.exec(
    reference,
  );
  return match ? `Transaction:${match.slice(1).join('-').toLowerCase()}` : undefined;
}
