// The books of a stablecoin: what was ever issued of it stands against what circulates, in a currency of its
// own that no account of ours is in. Burning takes out of what circulates, so that nobody burns what is not
// there, and a difference to the provider's own figure can be seen.
import { Fault } from '../../../kernel/fault.ts';
import type { Money } from '../../../kernel/money.ts';
import {
  circulatingTokensAccount,
  issuedTokensAccount,
  TOKEN_UNIT,
} from '../../../ledger/chart.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { openLedgerAccount } from '../../balances/ledger-accounts/index.ts';
import { MAX_UNITS } from '../minting/judge.ts';

/** The currency of its accounts. */
const unitOf = (id: string) => TOKEN_UNIT + id;

/** So many units of a token, as its books count them. */
export const tokensOf = (id: string, amount: bigint): Money => ({ currency: unitOf(id), amount });

/** Opens the accounts of a token, with what circulates of it already. */
export function openBooks(ctx: Ctx, { id }: { id: string }, supply: bigint): void {
  const currency = unitOf(id);
  openLedgerAccount(ctx, { id: issuedTokensAccount(id), currency, floor: -MAX_UNITS });
  openLedgerAccount(ctx, { id: circulatingTokensAccount(id), currency, floor: 0n });
  enterSupply(ctx, { id }, supply);
}

export const isCountable = (supply: bigint): boolean => supply <= MAX_UNITS;

/** What its provider says circulates already, entered once: when the token is there, and before any order. */
export function enterSupply(ctx: Ctx, { id }: { id: string }, supply: bigint): void {
  if (supply <= 0n) return;
  if (!isCountable(supply)) {
    const reason = 'More of this token circulates than our books can count.';
    throw new Fault('STABLECOIN_VERIFICATION_FAILED', reason);
  }
  ctx.transfer({
    transactionId: id,
    step: 'supply',
    debit: issuedTokensAccount(id),
    credit: circulatingTokensAccount(id),
    ...tokensOf(id, supply),
  });
}
