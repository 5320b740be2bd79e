// The books of a stablecoin: issued against circulating supply, in a currency of its own. Burning
// debits the circulating supply, so no more is burned than exists, and a difference to the
// provider's figure is visible.
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

/** Currency of its ledger accounts. */
const unitOf = (id: string) => TOKEN_UNIT + id;

/** An amount of a token, as its books count it. */
export const tokensOf = (id: string, amount: bigint): Money => ({ currency: unitOf(id), amount });

/** Opens the ledger accounts of a token with its initial circulating supply. */
export function openBooks(ctx: Ctx, { id }: { id: string }, supply: bigint): void {
  const currency = unitOf(id);
  openLedgerAccount(ctx, { id: issuedTokensAccount(id), currency, floor: -MAX_UNITS });
  openLedgerAccount(ctx, { id: circulatingTokensAccount(id), currency, floor: 0n });
  enterSupply(ctx, { id }, supply);
}

export const isCountable = (supply: bigint): boolean => supply <= MAX_UNITS;

/**
 * Initial circulating supply by the provider, posted once: when the token is provisioned, before
 * any order.
 */
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
