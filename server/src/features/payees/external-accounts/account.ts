// Rules of external accounts: validation of the details, initial status, duplicates. The functions are
// pure.
import { createHash } from 'node:crypto';
import {
  completeAccountInfo,
  duplicateKeyOf,
  isSelfCustody,
  isWalletInfo,
  rowOf,
  validateAccountInfo,
} from '../../../catalog/accounts/account-info.ts';
import type { AccountInfo } from '../../../catalog/accounts/account-schemas.ts';
import { parseBolt11 } from '../../../catalog/crypto/bolt11.ts';
import { isVasp } from '../../../catalog/rails/vasps.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault, type FieldError, invalid } from '../../../kernel/fault.ts';
import type { ExternalAccountStatus } from './states.ts';
import type { OwnershipType } from './store.ts';

export interface Proposal {
  currency: string;
  info: AccountInfo;
  ownershipType: OwnershipType | undefined;
  /** Whether check digits, checksums and directories are validated. */
  production: boolean;
  /** Whether the platform requires counterparty information in this currency (travel rule). */
  isCounterpartyRequired: boolean;
  now: Time;
}

function ownershipErrors({ info, ownershipType, isCounterpartyRequired }: Proposal): FieldError[] {
  const errors: FieldError[] = [];
  if (isCounterpartyRequired && isSelfCustody(info) && ownershipType === undefined) {
    errors.push({
      field: 'ownershipType',
      message: 'is required for a self-custody wallet',
    });
  }
  const isThirdParty = isWalletInfo(info) && ownershipType === 'THIRD_PARTY';
  const hasAddress = Object.hasOwn(info, 'address');
  if (isCounterpartyRequired && isThirdParty && hasAddress && info.beneficiary === undefined) {
    errors.push({
      field: 'accountInfo.beneficiary',
      message: 'is required for a THIRD_PARTY wallet',
    });
  }
  if (info.vaspName !== undefined && !isVasp(info.vaspName)) {
    errors.push({
      field: 'accountInfo.vaspName',
      message: 'must be one of the names that listVasps returns',
    });
  }
  return errors;
}

/**
 * A decodable Lightning invoice must not have expired. The sandbox accepts invoices that cannot be
 * decoded.
 */
function invoiceErrors({ info, now }: Proposal): FieldError[] {
  const invoice = 'invoice' in info ? parseBolt11(String(info.invoice)) : undefined;
  if (!invoice || now < invoice.expiresAt) return [];
  return [{ field: 'accountInfo.invoice', message: `expired at ${iso(invoice.expiresAt)}` }];
}

/** Throws INVALID_CURRENCY, or INVALID_INPUT with all invalid fields. */
export function checkProposal(proposal: Proposal): void {
  const { info, currency, production } = proposal;
  const validationResult = validateAccountInfo(info, currency, { production });
  if (validationResult.currencyMismatch) {
    const message = `must be a currency of ${info.accountType}, not ${currency}`;
    throw invalid([{ field: 'currency', message }, ...validationResult.errors], 'INVALID_CURRENCY');
  }
  const errors = [
    ...validationResult.errors,
    ...ownershipErrors(proposal),
    ...invoiceErrors(proposal),
  ];
  if (errors.length) throw invalid(errors);
}

/** The stored details: fields of the account type, completed with derived fields. */
export function storedInfo(info: AccountInfo): AccountInfo {
  const storedFields = [
    'accountType',
    'beneficiary',
    'vaspName',
    ...Object.keys(rowOf(info).fields),
  ];
  const entries = Object.entries(info).filter(([name]) => storedFields.includes(name));
  return completeAccountInfo(Object.fromEntries(entries) as AccountInfo);
}

/** Initial status: ACTIVE, unless a proof of ownership of the wallet is required. */
export function firstStatus(proposal: Proposal): ExternalAccountStatus {
  const { info, ownershipType, isCounterpartyRequired } = proposal;
  const requiresProof =
    isCounterpartyRequired && ownershipType === 'FIRST_PARTY' && isSelfCustody(info);
  return requiresProof ? 'PENDING_OWNERSHIP_VERIFICATION' : 'ACTIVE';
}

/**
 * Equal for duplicates of an account. Hashed, because a Lightning offer exceeds the size of an
 * index entry.
 */
export const duplicateHash = (info: AccountInfo, currency: string): string =>
  createHash('sha256').update(duplicateKeyOf(info, currency)).digest('base64url');

/** Bank accounts and mobile wallets have an institution that can check the name of the holder. */
export const hasInstitution = (info: AccountInfo): boolean => !isWalletInfo(info);

/** Throws BENEFICIARY_TRUSTED for a trusted account. */
export function checkDeletable(row: { trusted_at: number | null }): void {
  if (row.trusted_at === null) return;
  throw new Fault(
    'BENEFICIARY_TRUSTED',
    'The account is trusted. Remove the trust before deletion.',
  );
}
