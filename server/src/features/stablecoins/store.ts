// Tables of stablecoins: provider accounts, tokens, mints and burns, and registered external
// accounts. The circulating supply is in the ledger.
import type { FundingInstructions, IssuanceStatus } from '../../connectors/ports/stablecoins.ts';
import { Fault } from '../../kernel/fault.ts';
import { col, type RowOf, table } from '../../runtime/db/table.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import type { BurnRail, SourceType } from './coins/rails.ts';
import {
  issuanceStates,
  type LinkStatus,
  linkStates,
  type OperationStatus,
  operationStates,
  type ServiceStatus,
  serviceStates,
} from './states.ts';

type Provider = 'BRALE';
type Network = 'SPARK';

export const providerAccounts = table(
  'stablecoin_provider_accounts',
  {
    id: col.text,
    platform_id: col.text,
    provider: col.enum<Provider>(),
    provider_account_id: col.text,
    /**
     * The routed provider with which the account was linked, or null for the built-in connector.
     */
    provider_id: col.text.null,
    provider_environment: col.enum<'SANDBOX' | 'PRODUCTION'>(),
    status: col.enum<LinkStatus>().mut,
    /** `ProviderCredentials` as JSON, sealed under the master key. */
    credentials: col.text.mut,
    last_verified_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => row.status, states: linkStates }],
    // Two requests may link one account concurrently. The second is rejected as already linked.
    contendedKeys: ['stablecoin_provider_accounts_linked'],
    unique: {
      stablecoin_provider_accounts_linked: () =>
        new Fault('CONFLICT', 'This provider account is already linked.'),
    },
  },
);
export type ProviderAccountRow = RowOf<typeof providerAccounts>;

export const stablecoins = table(
  'stablecoins',
  {
    id: col.text,
    platform_id: col.text,
    /** ID of the provider account row. */
    provider_account: col.text,
    name: col.text,
    symbol: col.text,
    base_currency: col.text,
    network: col.enum<Network>(),
    decimals: col.int4,
    issuance_status: col.enum<IssuanceStatus>().mut,
    service_status: col.enum<ServiceStatus>().mut,
    network_token_identifier: col.text,
    provider_token_identifier: col.text,
    /** Number of scheduled polls of the issuance. Only the last poll has an effect. */
    follows: col.int4.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lifecycles: [
      { state: (row) => row.issuance_status, states: issuanceStates },
      { state: (row) => row.service_status, states: serviceStates },
    ],
    // A concurrent registration of the same token violates both keys. A second read determines the
    // error to report.
    contendedKeys: ['stablecoins_symbol', 'stablecoins_token'],
    unique: {
      stablecoins_symbol: () =>
        new Fault(
          'STABLECOIN_SYMBOL_ALREADY_EXISTS',
          'A stablecoin with this symbol is already registered.',
        ),
      stablecoins_token: () =>
        new Fault(
          'STABLECOIN_TOKEN_IDENTIFIER_ALREADY_EXISTS',
          'This token is already registered.',
        ),
    },
  },
);
export type StablecoinRow = RowOf<typeof stablecoins>;

export const readStablecoin = (
  { read }: Pick<Ctx, 'read'>,
  id: string,
): Promise<StablecoinRow | undefined> => read(stablecoins, id);

/** Funding of a mint, or source of the tokens of a burn. */
interface OperationSource {
  type: SourceType;
  externalAccountId?: string;
}

/** The receiving external account. The payout of a burn has a rail. */
interface OperationDestination {
  accountId: string;
  rail?: BurnRail;
}

export const mintsAndBurns = table(
  'stablecoin_operations',
  {
    id: col.text,
    platform_id: col.text,
    stablecoin_id: col.text,
    provider_account: col.text,
    type: col.enum<'MINT' | 'BURN'>(),
    status: col.enum<OperationStatus>().mut,
    /** Minor units of the token. */
    amount: col.int8,
    source: col.json<OperationSource>(),
    destination: col.json<OperationDestination>(),
    funding_instructions: col.json<FundingInstructions>().null.mut,
    estimated_delivery: col.json<Record<string, string>>().null.mut,
    expires_at: col.time.null.mut,
    provider_status: col.text.null.mut,
    failure_reason: col.text.null.mut,
    description: col.text.null,
    /** Time of the first submission, or null if the order was never submitted. */
    submitted_at: col.time.null.mut,
    /** Time of the expiry. Later postings use the steps `mint.late` and `burn.late`. */
    expired_at: col.time.null.mut,
    /** Part of a late payment that could not be posted. */
    uncounted: col.int8.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.status, states: operationStates }] },
);
export type StablecoinOperationRow = RowOf<typeof mintsAndBurns>;

/** An external account as registered with a provider, for one use. */
export const stablecoinLinks = table(
  'stablecoin_links',
  {
    /** `<provider account row id> <external account id> <use>`. */
    id: col.text,
    platform_id: col.text,
    provider_account: col.text,
    account_id: col.text,
    reference: col.text,
    created_at: col.time,
  },
  { contendedKeys: ['stablecoin_links_pkey'] },
);
