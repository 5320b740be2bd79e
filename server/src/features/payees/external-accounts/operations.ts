// Operations on external accounts: create, read, delete. The name of the beneficiary is checked
// with the institution during the request, because the response contains the result. The row of a
// deleted account is kept, because payments to it can be in progress.

import type { Static } from '@sinclair/typebox';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { invalidField } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Filter } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { customerOf } from '../../customers/records/index.ts';
import { readPlatform } from '../../tenancy/platform/index.ts';
import {
  checkDeletable,
  checkProposal,
  duplicateHash,
  firstStatus,
  storedInfo,
} from './account.ts';
import {
  createCustomerExternalAccount,
  createPlatformExternalAccount,
  deleteCustomerExternalAccountById,
  deletePlatformExternalAccountById,
  getCustomerExternalAccountById,
  getPlatformExternalAccountById,
  listCustomerExternalAccounts,
  listPlatformExternalAccounts,
} from './contract.ts';
import { stageWalletDeclared } from './declared.ts';
import { firstNameCheck, nameCheckColumns, scheduleNameCheck } from './names.ts';
import { externalAccountOf, type Owner, presentTo } from './present.ts';
import { type ExternalAccountRow, externalAccounts } from './store.ts';

type CreateRequest = Static<(typeof createCustomerExternalAccount)['body']>;
type ListQuery = Static<(typeof listCustomerExternalAccounts)['query']>;

/** Whether the platform requires counterparty information in this currency. */
async function requiresCounterpartyInformation(ctx: Ctx, currency: string): Promise<boolean> {
  const platform = await readPlatform(ctx, ctx.caller.platformId);
  const setting = platform?.currencies.find((each) => each.currencyCode === currency);
  return setting?.requiredCounterpartyFields.some((field) => field.mandatory) ?? false;
}

async function clearDefault(ctx: Ctx, customerId: string): Promise<void> {
  const previousDefaults = await ctx.db.find(externalAccounts, {
    customer_id: customerId,
    default_uma: true,
  });
  for (const previousDefault of previousDefaults) {
    ctx.update(externalAccounts, previousDefault, { default_uma: false, updated_at: ctx.now });
  }
}

async function create(
  ctx: Ctx,
  connectors: Connectors,
  request: CreateRequest,
): Promise<ExternalAccountRow> {
  const { currency, customerId, ownershipType, defaultUmaDepositAccount = false } = request;
  const proposal = {
    currency,
    info: storedInfo(request.accountInfo),
    ownershipType,
    production: ctx.caller.environment === 'production',
    isCounterpartyRequired: await requiresCounterpartyInformation(ctx, currency),
    now: ctx.now,
  };
  checkProposal(proposal);
  if (defaultUmaDepositAccount && customerId === undefined) {
    throw invalidField('defaultUmaDepositAccount', 'is allowed only for accounts of customers');
  }
  if (customerId !== undefined) await customerOf(ctx, customerId, { rejectDeleted: true });
  const check = await firstNameCheck(connectors.names, proposal.info);
  if (defaultUmaDepositAccount && customerId !== undefined) await clearDefault(ctx, customerId);
  const row = ctx.insert(externalAccounts, {
    id: ctx.id('ExternalAccount'),
    platform_id: ctx.caller.platformId,
    customer_id: customerId ?? null,
    currency,
    account_type: proposal.info.accountType,
    status: firstStatus(proposal),
    platform_account_id: request.platformAccountId ?? null,
    ownership_type: ownershipType ?? null,
    default_uma: defaultUmaDepositAccount,
    ...(check ? nameCheckColumns(check) : {}),
    info: proposal.info,
    duplicate_key: duplicateHash(proposal.info, currency),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  scheduleNameCheck(ctx, row, check);
  stageWalletDeclared(ctx, row);
  return row;
}

function ownerFilter(owner: Owner, customerId: string | undefined): Filter {
  if (owner === 'platform') return { column: 'customer_id', op: 'isNull' };
  // Matches every customer ID except null.
  return customerId === undefined
    ? { column: 'customer_id', op: '>=', value: '' }
    : { column: 'customer_id', op: '=', value: customerId };
}

async function list(ctx: Ctx, owner: Owner, query: ListQuery) {
  const { currency, customerId, limit = 20, cursor } = query;
  const filters: Filter[] = [
    { column: 'platform_id', op: '=', value: ctx.caller.platformId },
    { column: 'deleted_at', op: 'isNull' },
    ownerFilter(owner, customerId),
  ];
  if (currency !== undefined) filters.push({ column: 'currency', op: '=', value: currency });
  const { rows, ...rest } = await ctx.db.page(externalAccounts, {
    filters,
    sort: 'asc',
    limit,
    cursor,
  });
  return { status: 200, body: { data: rows.map((row) => presentTo(ctx, row)), ...rest } } as const;
}

async function remove(ctx: Ctx, owner: Owner, id: string) {
  const row = await externalAccountOf(ctx, id, owner);
  if (owner === 'customer') checkDeletable(row);
  const { now } = ctx;
  ctx.update(externalAccounts, row, { deleted_at: now, default_uma: false, updated_at: now });
  return { status: 204, body: undefined } as const;
}

export function externalAccountOperations(options: {
  connectors: (environment: Mode) => Connectors;
}) {
  const connectorsOf = (ctx: Ctx) => options.connectors(ctx.caller.environment);
  return [
    handle(listCustomerExternalAccounts, (ctx, { query }) => list(ctx, 'customer', query)),
    handle(createCustomerExternalAccount, async (ctx, { body }) => ({
      status: 201,
      body: presentTo(ctx, await create(ctx, connectorsOf(ctx), body)),
    })),
    handle(getCustomerExternalAccountById, async (ctx, { params }) => ({
      status: 200,
      body: presentTo(ctx, await externalAccountOf(ctx, params.externalAccountId, 'customer')),
    })),
    handle(deleteCustomerExternalAccountById, (ctx, { params }) =>
      remove(ctx, 'customer', params.externalAccountId),
    ),
    handle(listPlatformExternalAccounts, (ctx, { query }) => list(ctx, 'platform', query)),
    handle(createPlatformExternalAccount, async (ctx, { body }) => ({
      status: 201,
      body: presentTo(ctx, await create(ctx, connectorsOf(ctx), platformAccountInput(body))),
    })),
    handle(getPlatformExternalAccountById, async (ctx, { params }) => ({
      status: 200,
      body: presentTo(ctx, await externalAccountOf(ctx, params.externalAccountId, 'platform')),
    })),
    handle(deletePlatformExternalAccountById, (ctx, { params }) =>
      remove(ctx, 'platform', params.externalAccountId),
    ),
  ];
}

/** Drops the properties of customer accounts, because requests can contain unknown properties. */
const platformAccountInput = ({
  currency,
  accountInfo,
  ownershipType,
  platformAccountId,
}: CreateRequest): CreateRequest => ({
  currency,
  accountInfo,
  ...(ownershipType && { ownershipType }),
  ...(platformAccountId !== undefined && { platformAccountId }),
});
