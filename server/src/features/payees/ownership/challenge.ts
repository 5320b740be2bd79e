// Rules of ownership challenges: which wallets can be proved, by which signatures, validity, and
// the message to sign. The functions are pure.
import {
  isSelfCustody,
  primaryIdentifierOf,
  rowOf,
} from '../../../catalog/accounts/account-info.ts';
import type { AccountInfo } from '../../../catalog/accounts/account-schemas.ts';
import type { AddressKind } from '../../../catalog/crypto/addresses.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { ExternalAccountRow } from '../external-accounts/index.ts';
import {
  canSignBitcoinMessage,
  isValidBitcoinSignature,
  type SignatureScheme,
} from './signatures/bitcoin.ts';
import { isValidEvmSignature, isValidTronSignature } from './signatures/personal.ts';
import { isValidSolanaSignature } from './signatures/solana.ts';
import { isValidSparkSignature } from './signatures/spark.ts';

export const CHALLENGE_MS = 60 * 60_000;

type Wallet = Pick<ExternalAccountRow, 'info' | 'ownership_type' | 'status' | 'proven_at'>;

/** Statuses in which a proof has an effect. In all others a bank or an operator decides. */
const VERIFIABLE_STATUSES: readonly string[] = [
  'ACTIVE',
  'PENDING_OWNERSHIP_VERIFICATION',
  'UNVERIFIED',
];

export const isVerifiable = ({ status }: Pick<Wallet, 'status'>): boolean =>
  VERIFIABLE_STATUSES.includes(status);

function rejectionReason(account: Wallet): string | undefined {
  if (!isSelfCustody(account.info))
    return 'Only self-custody wallets require a proof of ownership.';
  if (account.ownership_type !== 'FIRST_PARTY')
    return 'Only FIRST_PARTY wallets require a proof of ownership.';
  if (account.status === 'ACTIVE' && account.proven_at !== null)
    return 'The ownership is already verified.';
  if (!isVerifiable(account))
    return `The ownership cannot be verified while the account is ${account.status}.`;
  return undefined;
}

/** Throws CONFLICT if the account cannot have a challenge. */
export function checkApplicable(account: Wallet): void {
  const reason = rejectionReason(account);
  if (reason) throw new Fault('CONFLICT', reason);
}

interface Proof {
  message: string;
  signature: string;
  scheme: SignatureScheme;
}

type Verifier = (address: string, proof: Proof) => boolean;

const VERIFIERS: Record<AddressKind, Verifier> = {
  evm: (address, { message, signature }) => isValidEvmSignature(address, message, signature),
  tron: (address, { message, signature }) => isValidTronSignature(address, message, signature),
  solana: (address, { message, signature }) => isValidSolanaSignature(address, message, signature),
  spark: (address, { message, signature }) => isValidSparkSignature(address, message, signature),
  bitcoin: (address, { message, signature, scheme }) =>
    isValidBitcoinSignature(address, message, signature, scheme),
};

/** Throws CONFLICT if the address type cannot be proved by a signature. */
export function checkSignable(info: AccountInfo): void {
  const isSigningType = rowOf(info).addressKind !== undefined;
  if (isSigningType && canSignBitcoinMessage(primaryIdentifierOf(info))) return;
  throw new Fault('CONFLICT', 'This wallet address cannot sign messages. Use LIVENESS.');
}

/** Whether the signature is by the key of the wallet. */
export function isSigned(info: AccountInfo, proof: Proof): boolean {
  const { addressKind } = rowOf(info);
  return addressKind !== undefined && VERIFIERS[addressKind](primaryIdentifierOf(info), proof);
}

/** The text to sign. The text states its purpose, so that the signature has no other use. */
export const messageOf = (content: {
  accountId: string;
  info: AccountInfo;
  nonce: string;
  expiresAt: Time;
}): string =>
  [
    'Railhead ownership check',
    `Account: ${content.accountId}`,
    `Address: ${primaryIdentifierOf(content.info)}`,
    `Nonce: ${content.nonce}`,
    `Expires: ${iso(content.expiresAt)}`,
  ].join('\n');
