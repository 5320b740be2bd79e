// Accounts of a platform at stablecoin providers: linking an account, and the effects of a rejection by its
// provider. Credentials are sealed when received and opened only for calls of the provider. An account that
// is linked again keeps its ID and its tokens.
import type { Static } from '@sinclair/typebox';
import type {
  MintPort,
  ProviderCredentials,
  ProviderLink,
} from '../../../connectors/ports/stablecoins.ts';
import type { Rejected } from '../../../kernel/contract/operation.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { type Ctx, timestamps } from '../../../runtime/operation/context.ts';
import type { StablecoinProviderAccountLinkRequest } from '../contract.ts';
import { callProvider, mintOf, type StablecoinDeps } from '../deps.ts';
import { resumePollsOf } from '../minting/issuance-polls.ts';
import { type LinkEvent, type LinkStatus, linkStates } from '../states.ts';
import { type ProviderAccountRow, providerAccounts } from '../store.ts';

type LinkRequest = Static<typeof StablecoinProviderAccountLinkRequest>;

export function presentProviderAccount(row: ProviderAccountRow) {
  return {
    id: row.id,
    provider: row.provider,
    providerAccountId: row.provider_account_id,
    providerEnvironment: row.provider_environment,
    status: row.status,
    ...(row.last_verified_at === null ? {} : { lastVerifiedAt: iso(row.last_verified_at) }),
    ...timestamps(row),
  };
}

export const credentialsContext = (id: string) => `stablecoin_provider_accounts ${id} credentials`;

/** Credentials and account ID for calls of the provider. */
export function linkOf({ vault }: Pick<Ctx, 'vault'>, row: ProviderAccountRow): ProviderLink {
  const json = vault.openOwn(row.credentials, credentialsContext(row.id)).toString();
  return {
    credentials: JSON.parse(json) as ProviderCredentials,
    providerAccountId: row.provider_account_id,
    providerId: row.provider_id,
  };
}

/** A provider account of the calling platform. Throws STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND. */
export async function providerAccountOf(ctx: Ctx, id: string): Promise<ProviderAccountRow> {
  const row = isId(id, 'StablecoinProviderAccount')
    ? await ctx.read(providerAccounts, id)
    : undefined;
  if (row?.platform_id !== ctx.caller.platformId) {
    throw new Fault('STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND', 'Provider account not found.');
  }
  return row;
}

type InactiveStatus = Exclude<LinkStatus, 'ACTIVE'>;

const EVENT_OF: Readonly<Record<InactiveStatus, LinkEvent>> = {
  INVALID: 'invalidate',
  REVOKED: 'revoke',
};

const inactiveFault = (status: InactiveStatus): Fault =>
  status === 'INVALID'
    ? new Fault(
        'STABLECOIN_PROVIDER_ACCOUNT_INVALID',
        'The provider no longer accepts the credentials of this account. Link it again.',
      )
    : new Fault(
        'STABLECOIN_PROVIDER_ACCOUNT_REVOKED',
        'The provider revoked the access to this account. Link it again.',
      );

/** Throws if a provider account is not active. */
export function checkLink({ status }: ProviderAccountRow): void {
  if (status !== 'ACTIVE') throw inactiveFault(status);
}

/** Records that the provider no longer accepts the account. */
export function unlink(ctx: Ctx, row: ProviderAccountRow, inactiveStatus: InactiveStatus): void {
  if (row.status !== 'ACTIVE') return;
  const status = linkStates.next(row.status, EVENT_OF[inactiveStatus]);
  ctx.update(providerAccounts, row, { status, updated_at: ctx.now });
}

/** Unlinks the account and rejects the request that used it. */
export function rejectUnlinked(
  ctx: Ctx,
  row: ProviderAccountRow,
  inactiveStatus: InactiveStatus,
): Rejected {
  unlink(ctx, row, inactiveStatus);
  return { rejected: inactiveFault(inactiveStatus) };
}

const notVerifiedFault = (reason: string): Fault =>
  new Fault('STABLECOIN_VERIFICATION_FAILED', reason);

/** Selects one of the accounts that the credentials give access to. */
function selectAccount(accountIds: readonly string[], requestedId: string | undefined): string {
  const [accountId] = accountIds;
  if (accountId === undefined) throw notVerifiedFault('The provider rejected these credentials.');
  if (requestedId !== undefined) {
    if (accountIds.includes(requestedId)) return requestedId;
    throw notVerifiedFault('These credentials do not give access to this account.');
  }
  if (accountIds.length === 1) return accountId;
  const message = `is required, because these credentials give access to ${accountIds.length} accounts`;
  throw invalidField('providerAccountId', message);
}

/**
 * The routed provider of a new account. An inactive account with this `provider_account_id` keeps
 * its provider.
 */
async function providerIdFor(
  ctx: Ctx,
  mint: MintPort,
  provider_account_id: string | undefined,
): Promise<string | null> {
  if (provider_account_id !== undefined) {
    const { platformId: platform_id } = ctx.caller;
    const linkedAccounts = await ctx.db.find(providerAccounts, {
      platform_id,
      provider_account_id,
    });
    const inactiveAccount = linkedAccounts.find(({ status }) => status !== 'ACTIVE');
    if (inactiveAccount) return inactiveAccount.provider_id;
  }
  return mint.selectedProvider?.() ?? null;
}

/** Links an account, or relinks one after its credentials were rejected. */
export async function linkAccount(
  ctx: Ctx,
  deps: StablecoinDeps,
  { provider, apiClientId: clientId, apiClientSecret: clientSecret, ...body }: LinkRequest,
): Promise<ProviderAccountRow> {
  const mint = mintOf(ctx, deps);
  const credentials: ProviderCredentials = { clientId, clientSecret };
  const provider_id = await providerIdFor(ctx, mint, body.providerAccountId);
  const accountIds = await callProvider(() => mint.accountsOf(credentials, provider_id));
  const { platformId: platform_id, environment } = ctx.caller;
  const columns = {
    platform_id,
    provider,
    provider_account_id: selectAccount(accountIds, body.providerAccountId),
  };
  const matchingAccounts = await ctx.db.find(providerAccounts, columns);
  const existingAccount = matchingAccounts.find((each) => each.provider_id === provider_id);
  const id = existingAccount?.id ?? ctx.id('StablecoinProviderAccount');
  const credentialFields = {
    credentials: ctx.vault.sealOwn(JSON.stringify(credentials), credentialsContext(id)),
    last_verified_at: ctx.now,
    updated_at: ctx.now,
  };
  if (existingAccount) {
    if (existingAccount.status === 'ACTIVE') {
      throw new Fault('CONFLICT', 'This provider account is already linked.');
    }
    const status = linkStates.next(existingAccount.status, 'relink');
    await resumePollsOf(ctx, existingAccount);
    return ctx.update(providerAccounts, existingAccount, { ...credentialFields, status });
  }
  return ctx.insert(providerAccounts, {
    id,
    ...columns,
    ...credentialFields,
    provider_id,
    provider_environment: environment === 'production' ? 'PRODUCTION' : 'SANDBOX',
    status: 'ACTIVE',
    created_at: ctx.now,
  });
}

/** The requested account or, without an `id`, the only active account. */
export async function requireAccount(
  ctx: Ctx,
  id: string | undefined,
): Promise<ProviderAccountRow> {
  if (id !== undefined) return providerAccountOf(ctx, id);
  const { platformId: platform_id } = ctx.caller;
  const activeFilter = { platform_id, status: 'ACTIVE' } as const;
  const [firstAccount, secondAccount] = await ctx.db.find(providerAccounts, activeFilter, {
    limit: 2,
  });
  if (!firstAccount) {
    const reason = 'No provider account is ACTIVE. Link one with linkStablecoinProviderAccount.';
    throw new Fault('STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND', reason);
  }
  if (secondAccount) {
    throw new Fault(
      'STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED',
      'More than one provider account is ACTIVE. Set stablecoinProviderAccountId.',
    );
  }
  return firstAccount;
}
