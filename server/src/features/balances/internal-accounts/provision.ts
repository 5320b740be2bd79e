// Opens internal accounts and emits their events. An account is two rows with one ID: the internal
// account that the API shows and the ledger account with the balance. One change set stages the two
// rows.
import { isDeepStrictEqual } from 'node:util';
import { Type } from '@sinclair/typebox';
import type { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import type { FundingPort } from '../../../connectors/ports/index.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
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

const EMPTY_HOLDING: Holding = { balance: 0n, held: 0n };

/** Requests the funding instructions of an account from an external system. */
export const REQUEST_FUNDING = defineJob(
  'accounts.funding',
  Type.Object({ platformId: Type.String(), accountId: Type.String() }),
);

interface Provision {
  /** Null opens accounts of the platform. */
  customerId: string | null;
  currencies: readonly string[];
  /** Existing accounts of the owner, which are skipped. */
  existingAccounts?: readonly Pick<InternalAccountRow, 'currency' | 'type'>[];
  /** Provides the funding instructions. Undefined for accounts without funding instructions. */
  funding: FundingPort | undefined;
  /**
   * Default ACTIVE. PENDING for accounts that a job adds to existing owners. A second job activates
   * them with an event.
   */
  status?: InternalAccountStatus & ('PENDING' | 'ACTIVE');
}

const ownerOf = (customerId: string | null): AccountOwner =>
  customerId === null ? 'platform' : 'customer';

function openAccount(
  ctx: Ctx,
  provision: Provision,
  currency: string,
  type: InternalAccountRow['type'],
) {
  const id = ctx.id('InternalAccount');
  const owner = ownerOf(provision.customerId);
  const status = provision.status ?? 'ACTIVE';
  const { platformId } = ctx.caller;
  if (provision.funding?.isRequested?.(currency)) {
    ctx.later(REQUEST_FUNDING, { platformId, accountId: id }, ctx.now);
  }
  openLedgerAccount(ctx, { id, currency, floor: 0n, frozen: !isOpen(status) });
  return ctx.insert(internalAccounts, {
    id,
    platform_id: platformId,
    customer_id: provision.customerId,
    currency,
    type,
    status,
    funding: provision.funding?.instructions({ accountId: id, currency, owner }) ?? [],
    private_enabled: type === 'EMBEDDED_WALLET' ? false : null,
    owed: 0n,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}

/**
 * Opens the missing accounts of these currencies, for a customer of the caller's platform or for
 * the platform. The caller passes wallet accounts to the feature that creates wallets.
 */
export function provisionAccounts(ctx: Ctx, provision: Provision): InternalAccountRow[] {
  const existingKeys = new Set((provision.existingAccounts ?? []).map(uniquenessKeyOf));
  return provision.currencies.flatMap((currency) =>
    typesFor(currency, ownerOf(provision.customerId))
      .filter((type) => !existingKeys.has(uniquenessKeyOf({ currency, type })))
      .map((type) => openAccount(ctx, provision, currency, type)),
  );
}

/** The account as the funding port identifies it. */
export const fundedAccountOf = ({ id, currency, customer_id }: InternalAccountRow) => ({
  ...{ accountId: id, currency },
  owner: ownerOf(customer_id),
});

/**
 * Refreshes the funding instructions unless the account is closed. Stages a change with its event,
 * or a job that requests the instructions from an external system. Returns whether a change is
 * staged.
 */
export function refreshFunding(ctx: Ctx, row: InternalAccountRow, port: FundingPort): boolean {
  const { id, currency, platform_id: platformId } = row;
  if (row.status === 'CLOSED') return false;
  if (!port.isRequested?.(currency)) {
    return stageFunding(ctx, row, port.instructions(fundedAccountOf(row)));
  }
  ctx.later(REQUEST_FUNDING, { platformId, accountId: id }, ctx.now);
  return false;
}

/** Stages changed funding instructions with their event. Returns whether they changed. */
export function stageFunding(
  ctx: Ctx,
  row: InternalAccountRow,
  funding: PaymentInstructions[],
): boolean {
  const { id } = row;
  // Serialized like the stored value, so that equal instructions compare as equal.
  if (isDeepStrictEqual(JSON.parse(JSON.stringify(funding)), row.funding)) return false;
  const updatedAccount = ctx.update(internalAccounts, row, { funding, updated_at: ctx.now });
  const data = presentInternalAccount(updatedAccount, EMPTY_HOLDING);
  ctx.emit(fundingInstructionsUpdated, id, data, id);
  return true;
}

/** An internal account of the caller's platform. Throws ACCOUNT_NOT_FOUND. */
export async function internalAccountOf(ctx: Ctx, id: string): Promise<InternalAccountRow> {
  const row = isId(id, 'InternalAccount') ? await ctx.read(internalAccounts, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) {
    throw new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');
  }
  return row;
}

/** Current balances in minor units. Zero for an account that is not committed. */
export async function balancesOf(
  ctx: Ctx,
  ids: readonly string[],
): Promise<(id: string) => Holding> {
  const rows = await Promise.all(ids.map((id) => readLedgerAccount(ctx, id)));
  const byId = new Map(ids.map((id, index) => [id, rows[index] ?? EMPTY_HOLDING]));
  return (id) => byId.get(id) ?? EMPTY_HOLDING;
}

/** The API view of the account. `addition` is added to the current balance. */
export async function presentAccount(
  ctx: Ctx,
  row: InternalAccountRow,
  addition: Holding = EMPTY_HOLDING,
): Promise<ReturnType<typeof presentInternalAccount>> {
  const { balance, held } = (await balancesOf(ctx, [row.id]))(row.id);
  return presentInternalAccount(row, {
    balance: balance + addition.balance,
    held: held + addition.held,
  });
}

/**
 * Stages a balance event for each account. The commit determines the amounts and stores them in the
 * event rows. The delivery inserts them into the data of the events.
 */
export function emitBalances(ctx: Ctx, rows: readonly InternalAccountRow[]): void {
  for (const row of rows) {
    const { id } = row;
    const accountData = () => presentInternalAccount(row, EMPTY_HOLDING);
    // The reset of a sandbox platform removes the events of the platform's accounts and keeps the
    // accounts.
    const isKept = row.customer_id === null && ctx.caller.environment === 'sandbox';
    if (isKept) ctx.emit(balanceUpdated, id, accountData(), id);
    else ctx.emitVersion(balanceUpdated, row, id, accountData);
  }
}
