// The lifecycle of a link: it is created, it opens the page, and it ends. A link can be created in any
// state of the check, because existing clients do so; opening one checks what may have changed since.
import type { Caller } from '../../../kernel/caller.ts';
import { Fault, invalid } from '../../../kernel/fault.ts';
import { iso } from '../../../kernel/world.ts';
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

/** Where the page is, in front of the secret. */
export const VERIFY_PATH = '/verify';

const LIVES_MS = 24 * 3_600_000;

/** Channels of the customer that have to be proved and were not. */
const unproved = (row: CustomerRow): string[] =>
  Object.entries(row.contact_verification ?? {})
    .filter(([, state]) => state !== 'VERIFIED')
    .map(([channel]) => channel);

/** Draws a link for the customer. `origin` is where this server is reached from outside. */
export function drawLink(
  ctx: Ctx,
  customer: CustomerRow,
  redirectUri: string | undefined,
  origin: string,
) {
  const errors = redirectErrors({ redirectUri });
  if (errors.length) throw invalid(errors);
  // After the check the page asks for nothing, so no contact channel has to be proved for it.
  const channels = isFinal(customer) ? [] : unproved(customer);
  if (channels.length) {
    const reason = `The customer must first prove: ${channels.join(', ')}.`;
    throw new Fault('CONFLICT', reason, { channels });
  }
  const secret = randomText(ctx.world, '');
  const expires_at = ctx.now + LIVES_MS;
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
  // For whoever reads the link. The page goes by what the link was made with, and never by its address.
  const query = redirectUri === undefined ? '' : `?${new URLSearchParams({ redirectUri })}`;
  const kycUrl = `${origin}${VERIFY_PATH}/${secret}${query}`;
  return { kycUrl, expiresAt: iso(expires_at), provider: 'SUMSUB' as const };
}

const ended = () =>
  new Fault('LINK_ENDED', 'This link was used before, or its time ran out. Ask for a new one.');

type Reader = Pick<Ctx, 'db' | 'now'>;

/** A link that is still good, and its customer; LINK_ENDED for every other secret. */
export async function openLink(
  { db, now }: Reader,
  secret: string,
): Promise<{ link: KycLinkRow; customer: CustomerRow }> {
  const [link] = await db.find(kycLinks, { secret_hash: sha256Hex(secret) });
  if (!link || link.used_at !== null || now >= link.expires_at) throw ended();
  const customer = await readCustomer(db, link.customer_id);
  if (!customer || customer.deleted_at !== null || !dataKeyOf(customer)) throw ended();
  return { link, customer };
}

/** Beyond it the one that was shown to be good first is forgotten. */
const MOST_PROVEN = 10_000;

/** Who may do what on the page: whoever has a good link acts for its customer, within its platform. */
export function linkBearers({ db, world }: Pick<Runtime, 'db' | 'world'>) {
  const proven = new Set<string>();
  return {
    async callerOf(secret: string): Promise<Caller> {
      const { link } = await openLink({ db, now: world.now() }, secret);
      const platform = await readPlatform(db, link.platform_id);
      if (!platform) throw ended();
      if (proven.size >= MOST_PROVEN) proven.delete(proven.values().next().value as string);
      proven.add(link.secret_hash);
      const { id: platformId, environment } = platform;
      return { platformId, environment, tokenId: link.id, permissions: [] };
    },
    isProven: (secret: string): boolean => proven.has(sha256Hex(secret)),
  };
}
