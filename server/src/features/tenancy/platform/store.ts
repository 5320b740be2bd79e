// A platform is the tenant to which its customers, accounts and payments belong. The token of a
// request identifies its platform.

import type { Mode } from '../../../kernel/mode.ts';
import type { FloorBasis } from '../../../runtime/committer/ledger-accounts.ts';
import { allRows, type Database } from '../../../runtime/db/database.ts';
import type { Page, PageQuery } from '../../../runtime/db/paging.ts';
import { col, type NewRow, type PatchOf, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';

/** A currency that the platform's customers can hold, send and receive. Amounts in minor units. */
export interface PlatformCurrency {
  currencyCode: string;
  minAmount: number;
  maxAmount: number;
  requiredCounterpartyFields: { name: string; mandatory: boolean }[];
  enabledTransactionTypes: ('INCOMING' | 'OUTGOING')[];
}

/** A platform fee on payments in the sending currency `sourceCurrency`. */
interface FeeConfig {
  feeType: 'CROSS_CURRENCY_TRANSACTION';
  sourceCurrency: string;
  variableFeeBps: number;
  fixedFee: { amount: number; currency: string };
}

/** Operator limits for payments in `currency`, to one other currency or to all. Minor units. */
export interface PaymentLimit {
  currency: string;
  /** Receiving currency. Absent: any. */
  to?: string;
  perPayment?: number;
  perDay?: number;
}

/** Passkey site of an app: relying party ID and allowed origins. */
export interface PasskeySite {
  rpId: string;
  origins: string[];
}

/** Card program settings by the operator. */
export interface CardProgram {
  /** Maximum open cards in total and per cardholder. */
  maxLive: number;
  maxLivePerHolder: number;
  /** Origins of pages that may frame the page with a card's number. */
  frameOrigins: string[];
}

export const platforms = table('platforms', {
  id: col.text,
  name: col.text.mut,
  environment: col.enum<'sandbox' | 'production'>(),
  /** Regulated: the platform verifies its customers, who are approved at creation. */
  regulated: col.bool.mut,
  documents_optional: col.bool.mut,
  sca: col.bool.mut,
  terms_required: col.bool.mut,
  /** Customers of the platform may invite others. */
  invitations: col.bool.mut,
  /** Number of PROCESSING replies of wallet operations in the sandbox. */
  wallet_polls: col.int4.mut,
  /** Passkey site of the platform's app, or null until the operator configures it. */
  passkey_site: col.json<PasskeySite>().null.mut,
  /** Payments with a conversion are authorized in two steps: the conversion, then the payout. */
  sca_two_steps: col.bool.mut,
  uma_domain: col.text.mut,
  proxy_uma_subdomain: col.text,
  webhook_endpoint: col.text.null.mut,
  /** Deliveries also have the headers of Standard Webhooks. */
  standard_webhooks: col.bool.mut,
  currencies: col.json<PlatformCurrency[]>().mut,
  wallet_config: col.json<Record<string, unknown>>().null.mut,
  card_config: col.json<Record<string, unknown>>().null.mut,
  /** Null for the defaults. */
  card_program: col.json<CardProgram>().null.mut,
  fees: col.json<FeeConfig[]>().mut,
  limits: col.json<PaymentLimit[]>().mut,
  /** Maximum payments that one customer can start per hour, or null for no limit. */
  hourly_payments: col.int4.null.mut,
  /** The color of hosted pages, `#rrggbb`, or null for the default. */
  brand_color: col.text.null.mut,
  /**
   * Time until which bodies of the platform's requests are stored in production, or null if bodies
   * are not stored.
   */
  request_bodies_until: col.time.null.mut,
  created_at: col.time,
  updated_at: col.time.mut,
  version: col.int4,
});

export type PlatformRow = RowOf<typeof platforms>;

/** One platform by ID, batched with concurrent reads. */
export const readPlatform = (reader: Reader, id: string): Promise<PlatformRow | undefined> =>
  reader.read(platforms, id);

/** Stages a new platform. */
export const insertPlatform = (ctx: Ctx, row: NewRow<PlatformRow>): PlatformRow =>
  ctx.insert(platforms, row);

export type PlatformChange = PatchOf<typeof platforms>;

/** Stages a change of the platform. */
export const changePlatform = (ctx: Ctx, row: PlatformRow, change: PlatformChange): PlatformRow =>
  ctx.update(platforms, row, { ...change, updated_at: ctx.now });

/** The commit fails if the platform changed since it was read. */
export const requirePlatform = (ctx: Ctx, row: PlatformRow): void => ctx.require(platforms, row);

/** The platform's row as the source of velocity limits. */
export const platformBasis = ({ id, version }: PlatformRow): FloorBasis => ({
  table: platforms,
  id,
  version,
});

/** The platform with this host in its UMA addresses. */
export async function platformOfUmaDomain(
  db: Pick<Database, 'find'>,
  host: string,
  environment?: Mode,
): Promise<PlatformRow | undefined> {
  const filter = { uma_domain: host, ...(environment && { environment }) };
  return (await db.find(platforms, filter, { limit: 1 }))[0];
}

/** Every platform, in the order of creation. */
export const allPlatforms = (db: Pick<Database, 'page'>): Promise<PlatformRow[]> =>
  allRows(db, platforms, []);

export const pageOfPlatformRows = (
  db: Pick<Database, 'page'>,
  query: PageQuery,
): Promise<Page<typeof platforms>> => db.page(platforms, query);
