// Opening accounts and telling about them. An account is two rows under one id: the internal account that
// the API shows and the ledger account that holds the money. Both are staged together, so neither can
// exist alone.
import { isDeepStrictEqual } from 'node:util';
import type { FundingPort } from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { openLedgerAccount, readLedgerAccount } from '../ledger-accounts/index.ts';
import {
  type AccountOwner,
  type Holding,
  presentInternalAccount,
  typesFor,
  uniquenessKeyOf,
} from './account.ts';
import { balanceUpdated, fundingInstructionsUpdated } from './contract.ts';
import { type InternalAccountStatus, isOpen } from './states.ts';
import { type InternalAccountRow, internalAccounts } from './store.ts';

const NOTHING: Holding = { balance: 0n, held: 0n };

interface Provision {
  /** Null opens the platform's own accounts. */
  customerId: string | null;
  currencies: readonly string[];
  /** The accounts that the owner has already: these are left alone. */
  held?: readonly Pick<InternalAccountRow, 'currency' | 'type'>[];
  /** Gives the coordinates money is paid in by; without it the accounts have none. */
  funding: FundingPort | undefined;
  /** Accounts opened long after their owner start in PENDING and become usable with an event. */
  status?: InternalAccountStatus & ('PENDING' | 'ACTIVE');
}

const ownerOf = (customerId: string | null): AccountOwner =>
  customerId === null ? 'platform' : 'customer';

function open(ctx: Ctx, of: Provision, currency: string, type: InternalAccountRow['type']) {
  const id = ctx.id('InternalAccount');
  const owner = ownerOf(of.customerId);
  const status = of.status ?? 'ACTIVE';
  openLedgerAccount(ctx, { id, currency, floor: 0n, frozen: !isOpen(status) });
  return ctx.insert(internalAccounts, {
    id,
    platform_id: ctx.caller.platformId,
    customer_id: of.customerId,
    currency,
    type,
    status,
    funding: of.funding?.instructions({ accountId: id, currency, owner }) ?? [],
    private_enabled: type === 'EMBEDDED_WALLET' ? false : null,
    owed: 0n,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}

/**
 * Opens the accounts that these currencies call for and that are not there yet, for a customer of the calling
 * platform or for the platform itself. A wallet among them is to be told to whoever opens wallets.
 */
export function provisionAccounts(ctx: Ctx, of: Provision): InternalAccountRow[] {
  const held = new Set((of.held ?? []).map(uniquenessKeyOf));
  return of.currencies.flatMap((currency) =>
    typesFor(currency, ownerOf(of.customerId))
      .filter((type) => !held.has(uniquenessKeyOf({ currency, type })))
      .map((type) => open(ctx, of, currency, type)),
  );
}

/**
 * Asks again where money is paid in for an account, and stages what is different, with the event about it.
 * Answers whether anything is.
 */
export function refreshFunding(ctx: Ctx, row: InternalAccountRow, port: FundingPort): boolean {
  const { id, currency, customer_id } = row;
  if (row.status === 'CLOSED') return false;
  const owner = ownerOf(customer_id);
  const funding = port.instructions({ accountId: id, currency, owner });
  // As it will be once it has been a row.
  if (isDeepStrictEqual(JSON.parse(JSON.stringify(funding)), row.funding)) return false;
  const moved = ctx.update(internalAccounts, row, { funding, updated_at: ctx.now });
  const data = presentInternalAccount(moved, NOTHING);
  ctx.emit(fundingInstructionsUpdated, id, data, id);
  return true;
}

/** An internal account of the calling platform; ACCOUNT_NOT_FOUND for every other id. */
export async function internalAccountOf(ctx: Ctx, id: string): Promise<InternalAccountRow> {
  const row = isId(id, 'InternalAccount') ? await ctx.read(internalAccounts, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) {
    throw new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');
  }
  return row;
}

/** What each account holds now, smallest units; an account that was never committed holds nothing. */
export async function balancesOf(
  ctx: Ctx,
  ids: readonly string[],
): Promise<(id: string) => Holding> {
  const rows = await Promise.all(ids.map((id) => readLedgerAccount(ctx, id)));
  const byId = new Map(ids.map((id, at) => [id, rows[at] ?? NOTHING]));
  return (id) => byId.get(id) ?? NOTHING;
}

/** The account as the API shows it: what it holds now, and what `added` puts on top. */
export async function presentAccount(
  ctx: Ctx,
  row: InternalAccountRow,
  added: Holding = NOTHING,
): Promise<ReturnType<typeof presentInternalAccount>> {
  const { balance, held } = (await balancesOf(ctx, [row.id]))(row.id);
  return presentInternalAccount(row, { balance: balance + added.balance, held: held + added.held });
}

/**
 * Stages the event that tells an account's balance. Its amounts are not known before the commit: the
 * event row keeps them, and whoever sends the event puts them in.
 */
export function emitBalance(ctx: Ctx, row: InternalAccountRow): void {
  const data = presentInternalAccount(row, NOTHING);
  ctx.emit(balanceUpdated, row.id, data, row.id);
}
