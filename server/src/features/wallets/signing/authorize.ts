// What moves money out of a wallet and is signed before it is request for: a quote. Its text is made with the
// quote and says what moves, so a signature is good for this quote alone, whenever the wallet's session gave
// it. A request without one is answered with the same text to sign; naming that request with the signature
// is allowed and not needed, because a quote is executed once.

import type { Rejected } from '../../../kernel/contract/operation.ts';
import type { Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { findWallet, type Wallet, type WalletParts } from '../accounts/wallet.ts';
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

/** The text that a wallet signs so that money leaves it. `unsigned` says everything about the movement. */
export const paymentText = (ctx: Ctx, { row }: Pick<Wallet, 'row'>, unsigned: string): string =>
  activityText(
    row,
    {
      type: 'SIGN_TRANSACTION_V2',
      generateAppProofs: true,
      parameters: {
        signWith: row.wallet_id,
        type: 'TRANSACTION_TYPE_LEDGER',
        unsignedTransaction: Buffer.from(unsigned).toString('hex'),
      },
    },
    { now: ctx.now },
  );

/** What the signature is about. */
export interface SignedPayment {
  accountId: string;
  /** As it was first shown. */
  payload: string;
  /** When it can no longer be executed. */
  until: Time;
}

/**
 * Whether the wallet has signed: undefined when it has, which is then written down; else what the request is
 * answered with. A signature that is wrong is a refusal that counts where it names a request.
 */
export async function authorizePayment(
  ctx: Ctx,
  parts: WalletParts,
  request: SignableRequest,
  { accountId, payload, until }: SignedPayment,
): Promise<{ challenge: Awaited<ReturnType<typeof issueChallenge>> } | Rejected | undefined> {
  const wallet = await findWallet(ctx, accountId);
  if (!wallet) throw new Fault('ACCOUNT_NOT_FOUND', 'The source account is gone.');
  const signer = { by: 'session', accounts: [accountId] } as const;
  if (isUnsigned(request.headers)) {
    const signatureRequest = { wallet, payload: async () => payload, signer, until };
    return { challenge: await issueChallenge(ctx, request, signatureRequest) };
  }
  const header = stampOf(request.headers);
  if (header === undefined || requestIdOf(request.headers) !== undefined) {
    const retry = await verifyRetry(ctx, parts, request);
    if ('rejected' in retry) return retry;
    markDelivered(ctx, retry.row);
    return undefined;
  }
  const stamp = readStamp(ctx, parts, header);
  const signed = await verifySigner(ctx, parts, { stamp, signer, payload });
  if (signed instanceof Fault) throw signed;
  const { operationId: operation, resourceId: subject } = request;
  recordStamp(ctx, wallet, { operation, subject, stamp: header, payload, signed });
  return undefined;
}

/** A payment that a key of the wallet signs without its holder. */
interface KeyPayment {
  operation: string;
  subject: string;
  /** Says everything about the movement. */
  unsigned: string;
  publicKey: string;
  /** The stamp that the custodian of the key gives; undefined where it gives none. */
  stampWith(payload: string): Promise<string | undefined>;
}

/** Records the stamp of a key that signs for a payment; false where there is none, or not of this key. */
export async function signWithKey(
  ctx: Ctx,
  wallet: Wallet,
  { operation, subject, unsigned, publicKey, stampWith }: KeyPayment,
): Promise<boolean> {
  const payload = paymentText(ctx, wallet, unsigned);
  const stamp = await stampWith(payload);
  // What a custodian gives is checked as a client's signature is.
  if (stamp === undefined || !isStampOf(stamp, publicKey, payload)) return false;
  const signed = { publicKey, session: undefined };
  recordStamp(ctx, wallet, { operation, subject, stamp, payload, signed });
  return true;
}
