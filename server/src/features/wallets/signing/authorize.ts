// Signatures for payments from a wallet, by its sessions and by delegated keys. The payload for a
// session is created with the quote and describes the payment, so a signature is valid for this
// quote only. The reply to a request without a signature contains the same payload. `Request-Id`
// is optional, because a quote is executed once.

import type { Rejected } from '../../../kernel/contract/operation.ts';
import type { Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { findWallet, type Wallet, type WalletDeps } from '../accounts/wallet.ts';
import { activityText } from './payload.ts';
import {
  issueChallenge,
  isUnsigned,
  markDelivered,
  readStamp,
  recordStamp,
  requestIdOf,
  type SignableRequest,
  stampOf,
  verifyRetry,
} from './requests.ts';
import { verifySigner } from './signer.ts';
import { isStampOf } from './stamp.ts';

/** The payload for a payment from a wallet. `description` describes the payment completely. */
export const paymentText = (ctx: Ctx, { row }: Pick<Wallet, 'row'>, description: string): string =>
  activityText(
    row,
    {
      type: 'SIGN_TRANSACTION_V2',
      generateAppProofs: true,
      parameters: {
        signWith: row.wallet_id,
        type: 'TRANSACTION_TYPE_LEDGER',
        unsignedTransaction: Buffer.from(description).toString('hex'),
      },
    },
    { now: ctx.now },
  );

export interface SignedPayment {
  accountId: string;
  /** The payload to sign, as returned with the quote. */
  payload: string;
  /** Time until which the payment can be executed. */
  until: Time;
}

/**
 * Verifies and records the signature of the wallet. Returns undefined for a valid signature and a
 * challenge for a request without signature headers. An invalid signature is a counted rejection if
 * the request has a `Request-Id`, and throws otherwise.
 */
export async function authorizePayment(
  ctx: Ctx,
  deps: WalletDeps,
  request: SignableRequest,
  { accountId, payload, until }: SignedPayment,
): Promise<{ challenge: Awaited<ReturnType<typeof issueChallenge>> } | Rejected | undefined> {
  const wallet = await findWallet(ctx, accountId);
  if (!wallet) throw new Fault('ACCOUNT_NOT_FOUND', 'The source account was closed.');
  const signer = { by: 'session', accounts: [accountId] } as const;
  if (isUnsigned(request.headers)) {
    const signatureRequest = { wallet, payload: async () => payload, signer, until };
    return { challenge: await issueChallenge(ctx, request, signatureRequest) };
  }
  const header = stampOf(request.headers);
  if (header === undefined || requestIdOf(request.headers) !== undefined) {
    const retry = await verifyRetry(ctx, deps, request);
    if ('rejected' in retry) return retry;
    markDelivered(ctx, retry.row);
    return undefined;
  }
  const stamp = readStamp(ctx, deps, header);
  const verifiedSigner = await verifySigner(ctx, deps, { stamp, signer, payload });
  if (verifiedSigner instanceof Fault) throw verifiedSigner;
  const { operationId: operation, resourceId: subject } = request;
  recordStamp(ctx, wallet, { operation, subject, stamp: header, payload, verifiedSigner });
  return undefined;
}

/** A payment that is signed by a delegated key of the wallet. */
interface KeyPayment {
  operation: string;
  subject: string;
  /** Describes the payment completely. */
  description: string;
  publicKey: string;
  /**
   * Requests the stamp from the custodian of the key. Returns undefined if the custodian declines.
   */
  stampWith(payload: string): Promise<string | undefined>;
}

/** Records the stamp of a delegated key. Returns false without a valid stamp of this key. */
export async function signWithKey(
  ctx: Ctx,
  wallet: Wallet,
  { operation, subject, description, publicKey, stampWith }: KeyPayment,
): Promise<boolean> {
  const payload = paymentText(ctx, wallet, description);
  const stamp = await stampWith(payload);
  // Stamps of a custodian are verified like stamps of clients.
  if (stamp === undefined || !isStampOf(stamp, publicKey, payload)) return false;
  const verifiedSigner = { publicKey, session: undefined };
  recordStamp(ctx, wallet, { operation, subject, stamp, payload, verifiedSigner });
  return true;
}
