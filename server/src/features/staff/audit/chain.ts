// The hash of an audit record covers its stored columns, sealed values included, and the hash of the previous
// record. An erasure deletes a key and changes no row, so the chain remains valid. The hash is keyed, so a
// writer of the database cannot compute it without the master key.
import { canonical } from '../../../kernel/crypto/canonical.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import type { AuditRow } from './store.ts';

/** The record's columns without the hash itself. */
export type Unhashed = Omit<AuditRow, 'hash'>;

/** The keyed hash of a record, hexadecimal. The first records had no outcome, so null is not covered. */
export const hashOf = (vault: Pick<Vault, 'digest'>, { outcome, ...row }: Unhashed): string =>
  vault.digest(
    'operator audit',
    canonical({ ...row, number: row.number.toString(), outcome: outcome ?? undefined }),
  );

/** The problem of a record after the previous record, or undefined if it is valid. */
export function problemOf(
  vault: Pick<Vault, 'digest'>,
  { hash, ...row }: AuditRow,
  previousRecord: { number: bigint; hash: string },
): string | undefined {
  if (row.number !== previousRecord.number + 1n) {
    return `record ${previousRecord.number + 1n} is missing`;
  }
  if (row.previous_hash !== previousRecord.hash) {
    return `record ${row.number} does not follow the record before it`;
  }
  return hash === hashOf(vault, row) ? undefined : `record ${row.number} was changed`;
}
