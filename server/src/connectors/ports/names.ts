// The name check of an account at its institution.

export type NameCheck =
  | { status: 'MATCHED' | 'PARTIAL_MATCH'; fullName: string }
  | { status: 'NOT_MATCHED' | 'UNSUPPORTED' | 'CHECKED_BY_RECEIVING_FI' }
  /** No result yet. Poll again after this time. */
  | { status: 'PENDING'; checkAfterMs: number }
  | { status: 'INVALID_ACCOUNT' };

export interface BeneficiaryVerificationPort {
  /**
   * Compares the beneficiary's name with the one on record at the account's institution.
   * `elapsedMs` is the time since the first call.
   */
  verify(
    account: Record<string, unknown> & { accountType: string },
    elapsedMs: number,
  ): Promise<NameCheck>;
}
