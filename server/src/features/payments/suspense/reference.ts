// The references that a payment and its refund are known by outside. They are made from the id, so a search
// by reference is a look-up by key and needs no column.

const hexOf = (id: string) =>
  id
    .slice(id.indexOf(':') + 1)
    .replaceAll('-', '')
    .toUpperCase();

/** 34 letters and digits: fits the 35 that bank rails leave for an end-to-end reference. */
export const paymentReference = (id: string) => `RH${hexOf(id)}`;
export const refundReference = (id: string) => `RF${hexOf(id)}`;

/** The transaction a reference belongs to; undefined for a text that is none of ours. */
export function transactionOfReference(reference: string): string | undefined {
  const match = /^R[HF]([0-9A-F]{8})([0-9A-F]{4})([0-9A-F]{4})([0-9A-F]{4})([0-9A-F]{12})$/.exec(
    reference,
  );
  return match ? `Transaction:${match.slice(1).join('-').toLowerCase()}` : undefined;
}
