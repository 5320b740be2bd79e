// Lifecycle of a verification link: created, used or expired. Links can be created in every status
// of the identity check, for compatibility with existing clients. The current status is checked
// when a link is opened.
import type { Caller } from '../../../kernel/caller.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault, invalid } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { randomText, sha256Hex } from '../../../runtime/security/crypto.ts';
import { readPlatform } from '../../tenancy/platform/index.ts';
import {
  type CustomerRow,
  dataKeyOf,
  isFinal,
  readCustomer,
  requireCustomer,
} from '../records/index.ts';
import { redirectErrors } from './contract.ts';
import { type KycLinkRow, kycLinks } from './store.ts';

/** Path prefix of the page. */
export const VERIFY_PATH = '/verify';

const LINK_TTL_MS = 24 * 3_600_000;

/** Contact channels of the customer that require verification and are not verified. */
const unverifiedChannels = (row: CustomerRow): string[] =>
  Object.entries(row.contact_verification ?? {})
    .filter(([, state]) => state !== 'VERIFIED')
    .map(([channel]) => channel);

/** Creates a link for the customer. `origin` is the public origin of this server. */
export function createLink(
  ctx: Ctx,
  customer: CustomerRow,
  redirectUri: string | undefined,
  origin: string,
) {
  const errors = redirectErrors({ redirectUri });
  if (errors.length) throw invalid(errors);
  // After a final decision the page requests no data, so the contact channels are not checked.
  const channels = isFinal(customer) ? [] : unverifiedChannels(customer);
  if (channels.length) {
    const reason = `The customer must first verify: ${channels.join(', ')}.`;
    throw new Fault('CONFLICT', reason, { channels });
  }
  const secret = randomText(ctx.effects, '');
  const expires_at = ctx.now + LINK_TTL_MS;
  requireCustomer(ctx, customer);
  ctx.insert(kycLinks, {
    id: ctx.id('KycLink'),
    platform_id: customer.platform_id,
    customer_id: customer.id,
    secret_hash: sha256Hex(secret),
    redirect_uri: redirectUri ?? null,
    expires_at,
    created_at: ctx.now,
  });
  // The query is informational, because the page uses the stored redirect URI.
  const query = redirectUri === undefined ? '' : `?${new URLSearchParams({ redirectUri })}`;
  const kycUrl = `${origin}${VERIFY_PATH}/${secret}${query}`;
  return { kycUrl, expiresAt: iso(expires_at), provider: 'SUMSUB' as const };
}

const linkEnded = () =>
  new Fault(
    'LINK_ENDED',
    'This link has expired or was already used. Request a new one from the app that sent it.',
  );

type Reader = Pick<Ctx, 'db'> & { now: Time | ((link: KycLinkRow) => Promise<Time>) };

/** Valid link with its customer. Throws LINK_ENDED for any other secret. */
export async function openLink(
  { db, now }: Reader,
  secret: string,
): Promise<{ link: KycLinkRow; customer: CustomerRow }> {
  const [link] = await db.find(kycLinks, { secret_hash: sha256Hex(secret) });
  if (!link || link.used_at !== null) throw linkEnded();
  const time = typeof now === 'number' ? now : await now(link);
  if (time >= link.expires_at) throw linkEnded();
  const customer = await readCustomer(db, link.customer_id);
  if (!customer || customer.deleted_at !== null || !dataKeyOf(customer)) throw linkEnded();
  return { link, customer };
}

/** Maximum number of cached links. The oldest entry is removed first. */
const MAX_CACHED_LINKS = 10_000;

/**
 * Authenticates requests of the page. The bearer of a valid link acts for its customer, within its
 * platform.
 */
export function linkAuthenticator({ db, clocks }: Pick<Runtime, 'db' | 'clocks'>) {
  const validHashes = new Set<string>();
  return {
    async callerOf(secret: string): Promise<Caller> {
      const nowOf = (row: KycLinkRow) => clocks.nowOf({ platformId: row.platform_id });
      const { link } = await openLink({ db, now: nowOf }, secret);
      const platform = await readPlatform(db, link.platform_id);
      if (!platform) throw linkEnded();
      if (validHashes.size >= MAX_CACHED_LINKS)
        validHashes.delete(validHashes.values().next().value as string);
      validHashes.add(link.secret_hash);
      const { id: platformId, environment } = platform;
      return { platformId, environment, tokenId: link.id, permissions: [] };
    },
    /** Whether the link of this secret is in the cache of authenticated links. */
    wasValid: (secret: string): boolean => validHashes.has(sha256Hex(secret)),
  };
}
