// The ledger accounts of a stablecoin: issued against circulating supply, in one currency per
// token. Burns debit the circulating supply, so they cannot exceed the existing tokens.
import { Fault } from '../../../kernel/fault.ts';
import type { Money } from '../../../kernel/money.ts';
import {
  circulatingTokensAccount,
  issuedTokensAccount,
  TOKEN_UNIT,
} from '../../../ledger/chart.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { openLedgerAccount } from '../../balances/ledger-accounts/index.ts';
import { MAX_UNITS } from '../minting/validation.ts';

/** Currency of the ledger accounts of a token. */
const unitOf = (id: string) => TOKEN_UNIT + id;

/** An amount of a token in the currency of its ledger accounts. */
export const tokensOf = (id: string, amount: bigint): Money => ({ currency: unitOf(id), amount });

/** Opens the ledger accounts of a token with its initial circulating supply. */
export function openSupplyAccounts(ctx: Ctx, { id }: { id: string }, supply: bigint): void {
  const currency = unitOf(id);
  openLedgerAccount(ctx, { id: issuedTokensAccount(id), currency, floor: -MAX_UNITS });
  openLedgerAccount(ctx, { id: circulatingTokensAccount(id), currency, floor: 0n });
  postInitialSupply(ctx, { id }, supply);
}

export const isCountable = (supply: bigint): boolean => supply <= MAX_UNITS;

/**
 * Posts the initial circulating supply that the provider reports. Runs once, when the token is
 * provisioned and before any order.
 */
export function postInitialSupply(ctx: Ctx, { id }: { id: string }, supply: bigint): void {
  if (supply <= 0n) return;
  if (!isCountable(supply)) {
    const reason = `The circulating supply of the token exceeds the maximum of ${MAX_UNITS}.`;
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
