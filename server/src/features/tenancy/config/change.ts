// Stages a change of a platform, by the platform itself or by its operator. Accounts of the
// platform in an enabled currency are opened immediately. Accounts of its customers are opened in a
// job. Features that depend on this feature open accounts, so their functions are parameters.
import { Type } from '@sinclair/typebox';
import { defineJob } from '../../../kernel/contract/job.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  changePlatform,
  type PlatformChange,
  type PlatformRow,
  readOwnPlatform,
} from '../platform/index.ts';
import { addedCurrencies } from './config.ts';
import { defaultUmaDomain, openCurrency } from './defaults.ts';

/**
 * Opens the accounts of customers in currencies that were added. Migration 0026 also stages this
 * job.
 */
export const BACKFILL_ACCOUNTS = defineJob(
  'accounts.backfill',
  Type.Object({
    platformId: Type.String(),
    currencies: Type.Array(Type.String()),
    /** The last processed customer. Absent on the first page. */
    after: Type.Optional(Type.Object({ createdAt: Type.Number(), id: Type.String() })),
  }),
);

/** Stages the platform's accounts in newly enabled currencies. */
export type Provision = (ctx: Ctx, currencies: string[]) => Promise<void>;

/** Stages a change of the platform, with accounts in the currencies that it adds. */
export async function changeConfig(
  ctx: Ctx,
  provision: Provision,
  previousPlatform: PlatformRow,
  change: PlatformChange,
): Promise<PlatformRow> {
  const row = changePlatform(ctx, previousPlatform, change);
  const addedCodes = addedCurrencies(previousPlatform.currencies, row.currencies);
  if (addedCodes.length) {
    await provision(ctx, addedCodes);
    // There can be many customers, so their accounts are opened after the commit, in batches.
    ctx.later(BACKFILL_ACCOUNTS, { platformId: row.id, currencies: addedCodes });
  }
  return row;
}

/**
 * Stages the configuration that a platform has after its creation. The currencies remain, with
 * default limits. Settings that only an operator can change remain unchanged.
 */
export async function resetConfig(ctx: Ctx): Promise<void> {
  const row = await readOwnPlatform(ctx);
  changePlatform(ctx, row, {
    uma_domain: defaultUmaDomain(row.proxy_uma_subdomain),
    webhook_endpoint: null,
    currencies: row.currencies.map(({ currencyCode }) => openCurrency(currencyCode)),
    wallet_config: null,
    card_config: null,
    fees: [],
  });
}
