// The signature of a wallet under what a card takes from it. A wallet's money moves only when it was signed
// for, and nobody asks its holder at a till, so a key that the holder has given signs: one that is for this
// card, at this wallet, and was not taken back. What it signs says everything about the movement, it is
// checked as a client's signature is, and it is written down with the payment, in the same commit or not at
// all.

import { canonical } from '../../../kernel/crypto/canonical.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { readInternalAccount } from '../../balances/internal-accounts/index.ts';
import { cardAccountOf } from '../../payments/card-payments/index.ts';
import type { CardPaymentRow } from '../../payments/transactions/index.ts';
import { custodyOf, findWallet, signWithKey } from '../../wallets/index.ts';
import { currencyOfAccount, inAccountCurrency } from '../clearing/payment.ts';
import { activeKeyOf } from '../delegated-keys/delegated-keys.ts';
import type { CardParts } from '../parts.ts';
import { type DelegatedKeyRow, delegatedKeys } from '../store.ts';

const unsigned = (reason: string, cause?: unknown) =>
  new Fault('WALLET_SIGNATURE_INVALID', reason, undefined, { cause });

/** Whether whoever keeps the key gave no answer, which may pass, as a missing key or a bad stamp does not. */
export const isUnanswered = ({ code, cause }: Fault): boolean =>
  code === 'WALLET_SIGNATURE_INVALID' && cause !== undefined;

/** What is signed: the movement as one text, with amounts in smallest units, as text. */
function textOf(row: CardPaymentRow, key: DelegatedKeyRow, ofCard: bigint): string {
  const { currency, amount } = inAccountCurrency(ofCard, currencyOfAccount(row));
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

/** The stamp of the key's custodian. What it throws goes with the fault alone: it may quote a secret. */
async function askCustodian(
  ctx: Ctx,
  parts: CardParts,
  { id, signer }: DelegatedKeyRow,
  payload: string,
): Promise<string | undefined> {
  if (signer === null) return undefined;
  try {
    return await custodyOf(ctx, parts).stampWith({ id, signer, payload });
  } catch (cause) {
    parts.note?.(`whoever keeps ${id} does not sign with it`);
    throw unsigned('The key of the wallet cannot be asked.', cause);
  }
}

/**
 * Signs for the next pull of a payment, where a wallet pays; with `found` where its key was read already.
 * Throws where there is no signature: call it within `ctx.attempt`, with the pull.
 */
export async function signPull(
  ctx: Ctx,
  parts: CardParts,
  row: CardPaymentRow,
  amount: bigint,
  found?: DelegatedKeyRow,
): Promise<void> {
  const accountId = cardAccountOf(row);
  const account = await readInternalAccount(ctx, accountId);
  if (account?.type !== 'EMBEDDED_WALLET') return;
  const [wallet, key] = await Promise.all([
    findWallet(ctx, accountId),
    found ?? activeKeyOf(ctx, row.card.cardId, accountId),
  ]);
  if (!wallet || !key) throw unsigned('No key may sign for the wallet.');
  const isSigned = await signWithKey(ctx, wallet, {
    operation: 'cardPull',
    subject: row.id,
    unsigned: textOf(row, key, amount),
    publicKey: key.public_key,
    stampWith: (payload) => askCustodian(ctx, parts, key, payload),
  });
  if (!isSigned) throw unsigned('The key of the wallet has not signed.');
  // A key that is taken back in the same instant signs nothing.
  ctx.require(delegatedKeys, key);
}
