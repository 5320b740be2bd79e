// Opens missing accounts for existing owners, after a currency or a further account type was added.
// One job and change set for each page of customers skips existing accounts, so that a page can run
// repeatedly. The opened accounts are PENDING until a second job activates them and emits an event
// for each account. A further job requests funding instructions of a provider.

import { Type } from '@sinclair/typebox';
import { isOfferedIn } from '../../../catalog/currencies/offers.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { defineJob, type JobInput } from '../../../kernel/contract/job.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { type JobHandler, jobHandler } from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { BACKFILL_ACCOUNTS } from '../../tenancy/config/index.ts';
import { type PlatformRow, readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { transitionInternalAccount } from './lifecycle.ts';
import { fundedAccountOf, provisionAccounts, REQUEST_FUNDING, stageFunding } from './provision.ts';
import { type InternalAccountRow, internalAccounts } from './store.ts';

export const ACTIVATE_ACCOUNTS = defineJob(
  'accounts.activate',
  Type.Object({ platformId: Type.String(), accountIds: Type.Array(Type.String()) }),
);

interface Customer {
  id: string;
  currencies: string[] | null;
  region: string | null;
  created_at: Time;
}

/** Customers as account owners, provided by a later feature. */
export interface CustomersOfAccounts {
  /** Up to `limit` customers that can have accounts, after a position in order of creation. */
  customersAfter(
    ctx: Ctx,
    platform: PlatformRow,
    position: { createdAt: Time; id: string },
    limit: number,
  ): Promise<Customer[]>;
  isCustomerDeleted(ctx: Ctx, customerId: string): Promise<boolean>;
}

interface AccountDeps extends CustomersOfAccounts {
  connectors(environment: Mode): Connectors;
  /** Stages the keys of the wallets of newly opened accounts. */
  openWalletsForAccounts(ctx: Ctx, accounts: readonly InternalAccountRow[]): Promise<void>;
}

/** Customers per change set. */
const PAGE_SIZE = 50;

type BackfillInput = JobInput<typeof BACKFILL_ACCOUNTS>;
type BackfillPosition = NonNullable<BackfillInput['after']>;

const START: BackfillPosition = { createdAt: 0, id: '' };

/**
 * Whether the customer selected the currency or, without a selection, whether it is offered in the
 * region.
 */
function needsAccount(customer: Customer, currency: string): boolean {
  if (customer.currencies) return customer.currencies.includes(currency);
  return customer.region === null || isOfferedIn(customer.region, currency);
}

const EXISTING_ACCOUNTS = `select customer_id, currency, type from internal_accounts
  where platform_id = $1 and (customer_id = any($2) or ($3::boolean and customer_id is null))`;

type AccountKey = Pick<InternalAccountRow, 'customer_id' | 'currency' | 'type'>;

/** Existing accounts by owner. The owner null is the platform. */
async function accountsOf(ctx: Ctx, owners: readonly string[], includesPlatform: boolean) {
  const values = [ctx.caller.platformId, owners, includesPlatform];
  const rows = await ctx.db.query<AccountKey>(EXISTING_ACCOUNTS, values);
  return (owner: string | null) => rows.filter((row) => row.customer_id === owner);
}

async function openMissingAccounts(
  ctx: Ctx,
  input: BackfillInput,
  deps: AccountDeps,
): Promise<void> {
  const platform = await readPlatform(ctx, input.platformId);
  if (!platform) return;
  const enabledCodes = new Set(platform.currencies.map((each) => each.currencyCode));
  const currencies = input.currencies.filter((currency) => enabledCodes.has(currency));
  const isFirst = input.after === undefined;
  const customers = await deps.customersAfter(ctx, platform, input.after ?? START, PAGE_SIZE);
  const existingAccountsOf = await accountsOf(
    ctx,
    customers.map((each) => each.id),
    isFirst,
  );
  const { funding } = deps.connectors(platform.environment);
  const openAccountsFor = (customerId: string | null, currencies: string[]) =>
    provisionAccounts(ctx, {
      customerId,
      currencies,
      existingAccounts: existingAccountsOf(customerId),
      funding,
      status: 'PENDING',
    });
  const openedAccounts = [
    ...(isFirst ? openAccountsFor(null, currencies) : []),
    ...customers.flatMap((customer) =>
      openAccountsFor(
        customer.id,
        currencies.filter((currency) => needsAccount(customer, currency)),
      ),
    ),
  ];
  await deps.openWalletsForAccounts(ctx, openedAccounts);
  const accountIds = openedAccounts.map((row) => row.id);
  if (openedAccounts.length) ctx.later(ACTIVATE_ACCOUNTS, { platformId: platform.id, accountIds });
  const lastCustomer = customers.at(-1);
  if (!lastCustomer || customers.length < PAGE_SIZE) return;
  const nextPosition = { createdAt: lastCustomer.created_at, id: lastCustomer.id };
  ctx.later(BACKFILL_ACCOUNTS, { platformId: platform.id, currencies, after: nextPosition });
}

/** Activates the accounts. Accounts of deleted customers remain PENDING, and therefore frozen. */
async function activate(
  ctx: Ctx,
  { isCustomerDeleted }: CustomersOfAccounts,
  accountIds: readonly string[],
): Promise<void> {
  const rows = await Promise.all(accountIds.map((id) => ctx.read(internalAccounts, id)));
  const owners = [...new Set(rows.flatMap((row) => row?.customer_id ?? []))];
  const deletionFlags = await Promise.all(owners.map((id) => isCustomerDeleted(ctx, id)));
  const deletedIds = new Set(owners.filter((_, index) => deletionFlags[index]));
  for (const row of rows) {
    if (row?.status !== 'PENDING' || deletedIds.has(row.customer_id ?? '')) continue;
    transitionInternalAccount(ctx, row, 'provision');
  }
}

async function readCaller(runtime: Runtime, platformId: string) {
  const platform = await readPlatform(runtime.db, platformId);
  if (!platform) throw new Error(`${platformId} not found`);
  return systemCaller(platform.id, platform.environment);
}

/**
 * Requests the funding instructions of an account. A failed call is repeated until the job has no
 * attempts left.
 */
async function requestFunding(
  runtime: Runtime,
  { connectors }: AccountDeps,
  { platformId, accountId }: JobInput<typeof REQUEST_FUNDING>,
) {
  const caller = await readCaller(runtime, platformId);
  const row = await runtime.db.read(internalAccounts, accountId);
  const { funding } = connectors(caller.environment);
  // A response can be outdated if the provider was changed during the request. An operator then
  // repeats the request with `refreshAccountFunding`.
  if (!row || !funding?.request || !funding.isRequested?.(row.currency)) {
    return { caller, stage: async () => undefined };
  }
  const instructions = await funding.request(fundedAccountOf(row));
  const stage = async (ctx: Ctx) => {
    const currentAccount = await ctx.read(internalAccounts, accountId);
    if (currentAccount && currentAccount.status !== 'CLOSED')
      stageFunding(ctx, currentAccount, instructions);
  };
  return { caller, stage };
}

/** Jobs that open and activate accounts, and request their funding instructions. */
export function accountJobs(deps: AccountDeps): JobHandler[] {
  return [
    jobHandler(BACKFILL_ACCOUNTS, {
      run: async (runtime, { input }) => {
        const caller = await readCaller(runtime, input.platformId);
        return { caller, stage: (ctx) => openMissingAccounts(ctx, input, deps) };
      },
    }),
    jobHandler(ACTIVATE_ACCOUNTS, {
      run: async (runtime, { input }) => {
        const caller = await readCaller(runtime, input.platformId);
        return { caller, stage: (ctx) => activate(ctx, deps, input.accountIds) };
      },
    }),
    jobHandler(REQUEST_FUNDING, {
      run: (runtime, { input }) => requestFunding(runtime, deps, input),
    }),
  ];
}
