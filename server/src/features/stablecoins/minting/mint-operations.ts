// Operations of mints and burns. Both types are validated in the order coin, provider account,
// amount, source, destination, provider.
import type { Static } from '@sinclair/typebox';
import type { Rejected } from '../../../kernel/contract/operation.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { equals } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { stablecoinOf } from '../coins/coins.ts';
import { rejectUnlinked } from '../coins/provider-accounts.ts';
import { mintOf, type StablecoinDeps } from '../deps.ts';
import { readAndPresent } from '../present.ts';
import { mintsAndBurns, type StablecoinOperationRow, type StablecoinRow } from '../store.ts';
import {
  createStablecoinBurn,
  createStablecoinMint,
  getStablecoinOperation,
  listStablecoinOperations,
  type StablecoinBurnRequest,
  type StablecoinMintRequest,
} from './mint-contract.ts';
import type { OrderFields } from './order.ts';
import {
  noSourceFault,
  type ProviderAccess,
  placeOrder,
  providerAccessOf,
  validateOrder,
} from './place-order.ts';
import { amountOf, checkProvisioned, reservedFault } from './validation.ts';

type Mint = Static<typeof StablecoinMintRequest>;
type Burn = Static<typeof StablecoinBurnRequest>;
type OrderResult = Promise<StablecoinOperationRow | Rejected>;

/** The coin, its provider account and the amount, if all three are valid. */
async function validateOrderInput(ctx: Ctx, deps: StablecoinDeps, coinId: string, amount: string) {
  mintOf(ctx, deps);
  const coin = await stablecoinOf(ctx, coinId);
  const access = await providerAccessOf(ctx, deps, coin);
  checkProvisioned(coin);
  return { coin, access, amount: amountOf(amount, coin) };
}

const newOrder = (
  ctx: Ctx,
  { provider_account }: StablecoinRow,
  orderTerms: Pick<OrderFields, 'type' | 'amount' | 'source' | 'destination'>,
  description: string | undefined,
): OrderFields => ({
  ...orderTerms,
  id: ctx.id('StablecoinOperation'),
  platform_id: ctx.caller.platformId,
  provider_account,
  description: description ?? null,
  created_at: ctx.now,
});

/**
 * Rejects a mint from a balance at the provider, because such mints are not supported yet. The
 * provider reports whether a balance exists.
 */
async function rejectMintFromBalance(
  ctx: Ctx,
  coin: StablecoinRow,
  access: ProviderAccess,
  orderFields: OrderFields,
): Promise<Rejected> {
  const response = await validateOrder(access, coin, orderFields);
  if (response.state === 'unlinked') return rejectUnlinked(ctx, access.account, response.reason);
  if (response.state === 'no-source') throw noSourceFault();
  throw new Fault(
    'STABLECOIN_OPERATION_NOT_SUPPORTED',
    'A stablecoin cannot be minted from a balance at the provider yet.',
  );
}

/** The funding. A bank account is used only for ACH debits and ignored for other types. */
const sourceOf = (funding: Mint['fundingSource']): OrderFields['source'] =>
  funding.type === 'ACH_DEBIT' || funding.type === 'SAME_DAY_ACH_DEBIT'
    ? { type: funding.type, externalAccountId: funding.externalAccountId }
    : { type: funding.type };

async function mint(ctx: Ctx, deps: StablecoinDeps, coinId: string, body: Mint): OrderResult {
  const { coin, access, amount } = await validateOrderInput(ctx, deps, coinId, body.amount);
  const { fundingSource: funding, destination, description } = body;
  if (funding.type === 'SERVICE_INTERNAL_ACCOUNT') {
    throw reservedFault(coin, 'STABLECOIN_OPERATION_NOT_SUPPORTED');
  }
  const { accountId } = destination;
  const source = sourceOf(funding);
  const order = { type: 'MINT', amount, source, destination: { accountId } } as const;
  const orderFields = newOrder(ctx, coin, order, description);
  if (funding.type === 'PROVIDER_INTERNAL_BALANCE') {
    return rejectMintFromBalance(ctx, coin, access, orderFields);
  }
  if (isId(accountId, 'InternalAccount')) {
    throw reservedFault(coin, 'STABLECOIN_OPERATION_NOT_SUPPORTED');
  }
  return placeOrder(ctx, coin, access, orderFields);
}

async function burn(ctx: Ctx, deps: StablecoinDeps, coinId: string, body: Burn): OrderResult {
  const { coin, access, amount } = await validateOrderInput(ctx, deps, coinId, body.amount);
  const { type } = body.source;
  if (type === 'SERVICE_INTERNAL_ACCOUNT') {
    throw reservedFault(coin, 'STABLECOIN_BURN_SOURCE_NOT_SUPPORTED');
  }
  const { externalAccountId: accountId, rail } = body.destination;
  const order = {
    type: 'BURN',
    amount,
    source: { type },
    destination: { accountId, rail },
  } as const;
  return placeOrder(ctx, coin, access, newOrder(ctx, coin, order, body.description));
}

/** A mint or burn of the calling platform. Throws STABLECOIN_OPERATION_NOT_FOUND. */
async function operationOf(ctx: Ctx, id: string): Promise<StablecoinOperationRow> {
  const row = isId(id, 'StablecoinOperation') ? await ctx.read(mintsAndBurns, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) {
    throw new Fault('STABLECOIN_OPERATION_NOT_FOUND', 'Mint or burn not found.');
  }
  return row;
}

type ListQuery = Static<(typeof listStablecoinOperations)['query']>;

async function list(ctx: Ctx, coinId: string, query: ListQuery) {
  const { operationType, limit = 20, cursor } = query;
  const coin = await stablecoinOf(ctx, coinId);
  const filters = equals({ stablecoin_id: coin.id, type: operationType });
  const pageOptions = { filters, sort: 'desc', limit, cursor } as const;
  const { rows, ...pageInfo } = await ctx.db.page(mintsAndBurns, pageOptions);
  return { data: await Promise.all(rows.map((row) => readAndPresent(ctx, row))), ...pageInfo };
}

/** The reply to a placed order, or its rejection. */
async function reply(ctx: Ctx, result: OrderResult) {
  const placedOrder = await result;
  if ('rejected' in placedOrder) return placedOrder;
  return { status: 201, body: await readAndPresent(ctx, placedOrder) } as const;
}

export const mintOperations = (deps: StablecoinDeps) => [
  handle(createStablecoinMint, (ctx, { params, body }) =>
    reply(ctx, mint(ctx, deps, params.stablecoinId, body)),
  ),
  handle(createStablecoinBurn, (ctx, { params, body }) =>
    reply(ctx, burn(ctx, deps, params.stablecoinId, body)),
  ),
  handle(listStablecoinOperations, async (ctx, { params, query }) => ({
    status: 200,
    body: await list(ctx, params.stablecoinId, query),
  })),
  handle(getStablecoinOperation, async (ctx, { params }) => ({
    status: 200,
    body: await readAndPresent(ctx, await operationOf(ctx, params.stablecoinOperationId)),
  })),
];
