// Stablecoins at rest: who a platform is to its provider, its tokens there, and every mint and burn. What
// circulates of a token lies in the ledger.
import type { FundingInstructions, IssuanceStatus } from '../../connectors/ports/stablecoins.ts';
import { Fault } from '../../kernel/fault.ts';
import { col, type RowOf, table } from '../../runtime/db/table.ts';
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
    provider: col.word<Provider>(),
    provider_account_id: col.text,
    provider_environment: col.word<'SANDBOX' | 'PRODUCTION'>(),
    status: col.word<LinkStatus>().mut,
    /** `ProviderCredentials` as JSON, sealed under the master key. */
    credentials: col.text.mut,
    last_verified_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => row.status, states: linkStates }],
    // Two may link one account at once, and the other is then told that it is linked.
    contendedKeys: ['stablecoin_provider_accounts_linked'],
    unique: {
      stablecoin_provider_accounts_linked: () =>
        new Fault('CONFLICT', 'This account of the provider is linked already.'),
    },
  },
);
export type ProviderAccountRow = RowOf<typeof providerAccounts>;

export const stablecoins = table(
  'stablecoins',
  {
    id: col.text,
    platform_id: col.text,
    /** Id of the provider account row. */
    provider_account: col.text,
    name: col.text,
    symbol: col.text,
    base_currency: col.text,
    network: col.word<Network>(),
    decimals: col.int4,
    issuance_status: col.word<IssuanceStatus>().mut,
    service_status: col.word<ServiceStatus>().mut,
    network_token_identifier: col.text,
    provider_token_identifier: col.text,
    /** How often it was arranged that the provider is asked about its issuance: the last time counts. */
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
    // Whoever registers the same token at once broke both keys: a second look tells which to name.
    contendedKeys: ['stablecoins_symbol', 'stablecoins_token'],
    unique: {
      stablecoins_symbol: () =>
        new Fault(
          'STABLECOIN_SYMBOL_ALREADY_EXISTS',
          'A stablecoin with this symbol is registered.',
        ),
      stablecoins_token: () =>
        new Fault(
          'STABLECOIN_TOKEN_IDENTIFIER_ALREADY_EXISTS',
          'This token is registered already.',
        ),
    },
  },
);
export type StablecoinRow = RowOf<typeof stablecoins>;

/** Where the money of a mint or the tokens of a burn come from. */
interface OperationSource {
  type: SourceType;
  externalAccountId?: string;
}

/** The external account at the other end; money goes there over a rail. */
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
    type: col.word<'MINT' | 'BURN'>(),
    status: col.word<OperationStatus>().mut,
    /** Smallest units of the token. */
    amount: col.int8,
    source: col.json<OperationSource>(),
    destination: col.json<OperationDestination>(),
    funding_instructions: col.json<FundingInstructions>().null.mut,
    estimated_delivery: col.json<Record<string, string>>().null.mut,
    expires_at: col.time.null.mut,
    provider_status: col.text.null.mut,
    failure_reason: col.text.null.mut,
    description: col.text.null,
    /** When we began to hand it to the provider: without it, nobody there can know of it. */
    submitted_at: col.time.null.mut,
    /** When it became EXPIRED; whatever moves for it later does so under a step of its own. */
    expired_at: col.time.null.mut,
    /** How much of it the books could not follow when it was paid after all. */
    uncounted: col.int8.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.status, states: operationStates }] },
);
export type StablecoinOperationRow = RowOf<typeof mintsAndBurns>;

/** An external account as a provider knows it, for one use. */
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
