// What moves money out of a wallet and is signed before it is asked for: a quote. Its text is made with the
// quote and says what moves, so a signature is good for this quote alone, whenever the wallet's session gave
// it. A request without one is answered with the same text to sign; naming that request with the signature
// is allowed and not needed, because a quote is executed once.

import type { Refused } from '../../../kernel/contract/operation.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Time } from '../../../kernel/world.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { findWallet, type Wallet, type WalletParts } from '../accounts/wallet.ts';
import { activityText } from './payload.ts';
import {
  type Asked,
  challenge,
  deliver,
  isUnsigned,
  readRetry,
  readStamp,
  recordStamp,
  requestIdOf,
  stampOf,
} from './requests.ts';
import { signedBy } from './signer.ts';
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
  asked: Asked,
  { accountId, payload, until }: SignedPayment,
): Promise<{ challenge: Awaited<ReturnType<typeof challenge>> } | Refused | undefined> {
  const wallet = await findWallet(ctx, accountId);
  if (!wallet) throw new Fault('ACCOUNT_NOT_FOUND', 'The source account is gone.');
  const signer = { by: 'session', accounts: [accountId] } as const;
  if (isUnsigned(asked.headers)) {
    const ask = { wallet, payload: async () => payload, signer, until };
    return { challenge: await challenge(ctx, asked, ask) };
  }
  const header = stampOf(asked.headers);
  if (header === undefined || requestIdOf(asked.headers) !== undefined) {
    const retry = await readRetry(ctx, parts, asked);
    if ('refused' in retry) return retry;
    deliver(ctx, retry.row);
    return undefined;
  }
  const stamp = readStamp(ctx, parts, header);
  const signed = await signedBy(ctx, parts, { stamp, signer, payload });
  if (signed instanceof Fault) throw signed;
  const { operationId: operation, of: subject } = asked;
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
