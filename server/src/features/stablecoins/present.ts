// API view of a mint or burn.
import { iso } from '../../kernel/effects.ts';
import { type Ctx, timestamps } from '../../runtime/operation/context.ts';
import { accountOfCoin } from './coins/coins.ts';
import type { ProviderAccountRow, StablecoinOperationRow } from './store.ts';

/** The resource `StablecoinOperation`, with its provider account. */
function presentStablecoinOperation(row: StablecoinOperationRow, account: ProviderAccountRow) {
  const { funding_instructions, estimated_delivery, expires_at } = row;
  return {
    id: row.id,
    stablecoinId: row.stablecoin_id,
    operationType: row.type,
    status: row.status,
    amount: row.amount.toString(),
    provider: account.provider,
    providerEnvironment: account.provider_environment,
    stablecoinProviderAccountId: row.provider_account,
    source: row.source,
    ...(funding_instructions === null ? {} : { fundingInstructions: funding_instructions }),
    destination: row.destination,
    ...(estimated_delivery === null ? {} : { estimatedDelivery: estimated_delivery }),
    ...(expires_at === null ? {} : { expiresAt: iso(expires_at) }),
    ...(row.provider_status === null ? {} : { providerStatus: row.provider_status }),
    ...(row.failure_reason === null ? {} : { failureReason: row.failure_reason }),
    ...(row.description === null ? {} : { description: row.description }),
    ...timestamps(row),
  };
}

export const readAndPresent = async (ctx: Ctx, row: StablecoinOperationRow) =>
  presentStablecoinOperation(row, await accountOfCoin(ctx, row));
