// Signature of a wallet for a funding debit of a card, except for collections by the operator. The
// holder cannot sign during a card payment, so the active delegated key of this card and wallet
// signs each debit. The signed text describes the debit completely. The signature is verified like
// a client's signature and recorded with the payment in the same commit.

import { canonical } from '../../../kernel/crypto/canonical.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { readInternalAccount } from '../../balances/internal-accounts/index.ts';
import { cardAccountOf } from '../../payments/card-payments/index.ts';
import type { CardPaymentRow } from '../../payments/transactions/index.ts';
import { custodyOf, findWallet, signWithKey } from '../../wallets/index.ts';
import { currencyOfAccount, inAccountCurrency } from '../clearing/payment.ts';
import { activeKeyOf } from '../delegated-keys/delegated-keys.ts';
import type { CardDeps } from '../deps.ts';
import { type DelegatedKeyRow, delegatedKeys } from '../store.ts';

const invalidSignature = (reason: string, cause?: unknown) =>
  new Fault('WALLET_SIGNATURE_INVALID', reason, undefined, { cause });

/**
 * Whether the custodian did not sign. This failure may be temporary, unlike a missing key or an
 * invalid stamp.
 */
export const isCustodianFailure = ({ code, cause }: Fault): boolean =>
  code === 'WALLET_SIGNATURE_INVALID' && cause !== undefined;

/**
 * The signed text describes the debit, with amounts in minor units. `pull` is the number of the
 * debit.
 */
function textOf(row: CardPaymentRow, key: DelegatedKeyRow, cardAmount: bigint): string {
  const { currency, amount } = inAccountCurrency(cardAmount, currencyOfAccount(row));
  return canonical({
    cardId: row.card.cardId,
    transactionId: row.id,
    pull: row.card_funding_debits.length + 1,
    delegatedKeyId: key.id,
    source: cardAccountOf(row),
    currency,
    amount: String(amount),
  });
}

/**
 * The stamp of the custodian, or undefined for a key without a signer. An error of the custodian is
 * only the cause of the fault, because its text may contain a secret.
 */
async function requestCustodian(
  ctx: Ctx,
  deps: CardDeps,
  { id, signer }: DelegatedKeyRow,
  payload: string,
): Promise<string | undefined> {
  if (signer === null) return undefined;
  try {
    return await custodyOf(ctx, deps).stampWith({ id, signer, payload });
  } catch (cause) {
    deps.reportProblem?.(`the custodian did not sign with ${id}`);
    throw invalidSignature('The custodian of the key did not sign. Try again.', cause);
  }
}

/**
 * Signs for the next funding debit of a payment if its account is a wallet. `knownKey` is the key
 * of the wallet if it was already read. Throws WALLET_SIGNATURE_INVALID without a signature. Call
 * it within `ctx.attempt`, together with the debit.
 */
export async function signFundingDebit(
  ctx: Ctx,
  deps: CardDeps,
  row: CardPaymentRow,
  amount: bigint,
  knownKey?: DelegatedKeyRow,
): Promise<void> {
  const accountId = cardAccountOf(row);
  const account = await readInternalAccount(ctx, accountId);
  if (account?.type !== 'EMBEDDED_WALLET') return;
  const [wallet, key] = await Promise.all([
    findWallet(ctx, accountId),
    knownKey ?? activeKeyOf(ctx, row.card.cardId, accountId),
  ]);
  if (!wallet || !key)
    throw invalidSignature('The wallet has no active delegated key. Create one.');
  const isSigned = await signWithKey(ctx, wallet, {
    operation: 'cardPull',
    subject: row.id,
    description: textOf(row, key, amount),
    publicKey: key.public_key,
    stampWith: (payload) => requestCustodian(ctx, deps, key, payload),
  });
  if (!isSigned) throw invalidSignature('The signature of the delegated key is invalid.');
  // Rejects the commit if the key is revoked concurrently.
  ctx.require(delegatedKeys, key);
}
