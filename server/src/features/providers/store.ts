// Tables of providers: their keys, routes, usage and balances, and the provider of each transfer and card.
import type { RailInstruction } from '../../connectors/ports/index.ts';
import type { Service } from '../../connectors/ports/providers/services.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { Database } from '../../runtime/db/database.ts';
import { col, type RowOf, table } from '../../runtime/db/table.ts';

/** Kinds of subjects that have a stored provider. */
export type SubjectKind = RailInstruction['kind'] | 'card';
/** A route applies to transfers of a kind, to cards, or to a service. */
export type RouteKind = SubjectKind | Service;

export const PROVIDER_STATUSES = ['ACTIVE', 'PAUSED'] as const;
type ProviderStatus = (typeof PROVIDER_STATUSES)[number];

/** `id` is the name that the operator assigned. */
export const providers = table(
  'providers',
  {
    id: col.text,
    environment: col.enum<Mode>(),
    url: col.text.mut,
    private_address: col.bool.mut,
    status: col.enum<ProviderStatus>().mut,
    /** Reason for the pause, or null while the provider is active, or if the operator stated none. */
    pause_reason: col.text.null.mut,
    /** SYSTEM: paused automatically. Null while the provider is active. */
    paused_by: col.enum<'OPERATOR' | 'SYSTEM'>().null.mut,
    /** Time of the last pause or resumption. */
    status_since: col.time.mut,
    /** JSON of `ProviderTerms`. */
    terms: col.text.mut,
    /** JSON of `Capabilities`, or null until the first successful check. */
    capabilities: col.text.null.mut,
    /** JSON of the latest `ReportedRates`, or null if no message reported rates. */
    rates: col.text.null.mut,
    checked_at: col.time.null.mut,
    problem: col.text.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    unique: {
      providers_pkey: () => new Fault('CONFLICT', 'A provider with this name already exists.'),
    },
  },
);
export type ProviderRow = RowOf<typeof providers>;

/** Results of transfers. CANCELED does not count for the health of a provider. */
export type TransferOutcome = 'SETTLED' | 'FAILED' | 'RETURNED' | 'CANCELED';

export const KEY_SIDES = ['OWN', 'PROVIDER'] as const;

/** `id` is the JWK thumbprint of the key (RFC 7638). */
export const providerKeys = table(
  'provider_keys',
  {
    id: col.text,
    provider_id: col.text,
    /** OWN signs calls to the provider, PROVIDER verifies its messages. */
    side: col.enum<(typeof KEY_SIDES)[number]>(),
    /** SPKI PEM. */
    public_key: col.text,
    /** PKCS #8 DER, sealed, or null for a key of the provider. */
    private_key: col.text.null,
    active_from: col.time,
    retired_at: col.time.null.mut,
    created_at: col.time,
    version: col.int4,
  },
  {
    unique: {
      provider_keys_pkey: () =>
        new Fault('CONFLICT', 'The key is already in use. Generate a new key.'),
    },
  },
);
export type ProviderKeyRow = RowOf<typeof providerKeys>;

/** A rule that selects a provider. A null field matches any value. */
export const providerRoutes = table('provider_routes', {
  id: col.text,
  /** Null for the built-in rail of the environment. */
  provider_id: col.text.null,
  environment: col.enum<Mode>(),
  /**
   * Of the matching routes with a usable provider, the route with the lowest number is selected.
   */
  priority: col.int4,
  platform_id: col.text.null,
  kind: col.enum<RouteKind>().null,
  rail: col.text.null,
  currency: col.text.null,
  /** Country of the external account. */
  country: col.text.null,
  /** In minor units of the currency of the route. */
  cost_fixed: col.int8,
  cost_basis_points: col.int4,
  min_amount: col.int8.null,
  max_amount: col.int8.null,
  created_at: col.time,
  updated_at: col.time.mut,
  version: col.int4,
});
export type ProviderRouteRow = RowOf<typeof providerRoutes>;

/** The provider of a transfer or card. `id` is the ID of the instruction or card. */
export const providerTransfers = table(
  'provider_transfers',
  {
    id: col.text,
    platform_id: col.text,
    /** Null for the built-in rail or issuer of the environment. */
    provider_id: col.text.null,
    /** Null if no route was selected. */
    route_id: col.text.null,
    /**
     * Day of the statement that contains the transfer. `none`: excluded from statements. Null:
     * no statement contains it yet.
     */
    reported_day: col.text.null.mut,
    /**
     * Kind, currency, amount and choice are null for cards, and for transfers of earlier versions.
     */
    kind: col.enum<RailInstruction['kind']>().null,
    currency: col.text.null,
    amount: col.int8.null,
    /** JSON of the verdicts on the routes. */
    choice: col.text.null,
    /** The latest result, or null while the transfer is in progress. */
    outcome: col.enum<TransferOutcome>().null.mut,
    outcome_at: col.time.null.mut,
    created_at: col.time,
    version: col.int4,
  },
  { clientKeyed: true },
);

/** Sum of the transfers to a provider on a day. `id` is provider, currency and day. */
export const providerUsage = table(
  'provider_usage',
  {
    id: col.text,
    provider_id: col.text,
    currency: col.text,
    /** `YYYY-MM-DD`, UTC. */
    day: col.text,
    amount: col.int8.mut,
    created_at: col.time,
    version: col.int4,
  },
  { contendedKeys: ['provider_usage_pkey'] },
);

/** A prefunded balance. `id` is provider and currency. */
export const providerBalances = table(
  'provider_balances',
  {
    id: col.text,
    provider_id: col.text,
    currency: col.text,
    /** The reported balance. */
    amount: col.int8.mut,
    /** Sum of the payouts and refunds that the reported balance does not include. */
    spent: col.int8.mut,
    source: col.enum<'OPERATOR' | 'PROVIDER'>().mut,
    reported_at: col.time.mut,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { contendedKeys: ['provider_balances_pkey'] },
);
export type BalanceRow = RowOf<typeof providerBalances>;

/** Providers that are paused, or whose last check failed. */
export const unusableProviders = async (db: Pick<Database, 'find'>) =>
  (await db.find(providers, {}, { orderBy: 'id' })).filter(
    ({ status, problem }) => status === 'PAUSED' || problem !== null,
  );
