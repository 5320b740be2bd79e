// Single-use links with which a user registers a sign-in method. A user has at most one valid link.
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import {
  type LinkKind,
  type LinkRow,
  operatorLinks,
  operatorUsers,
  type UserRow,
} from './store.ts';

const LINK_MS = 24 * 3_600_000;

/** A valid link with its secret. */
export interface NewLink {
  secret: string;
  kind: LinkKind;
  expiresAt: string;
}

const isValid = ({ used_at, expires_at }: LinkRow, now: Time) =>
  used_at === null && expires_at > now;

/**
 * The secret of a link, derived from the master key, so that every start can print the link of the
 * first administrator.
 */
const secretOf = ({ vault }: Pick<Runtime, 'vault'>, linkId: string): string =>
  `rhe_${Buffer.from(vault.derive(`operator link ${linkId}`)).toString('base64url')}`;

const presentLink = (
  runtime: Pick<Runtime, 'vault'>,
  { id, kind, expires_at }: LinkRow,
): NewLink => ({
  secret: secretOf(runtime, id),
  kind,
  expiresAt: iso(expires_at),
});

/** The valid links of a user. */
const validLinks = async ({ db, now }: Pick<Ctx, 'db' | 'now'>, userId: string) =>
  (await db.find(operatorLinks, { user_id: userId })).filter((row) => isValid(row, now));

/** The valid link of a user, or a new one. */
export async function currentLink(
  ctx: Ctx,
  user: UserRow,
  kind: LinkKind,
  createdBy: string,
): Promise<NewLink> {
  const [existingLink] = await validLinks(ctx, user.id);
  return existingLink ? presentLink(ctx, existingLink) : replaceLink(ctx, user, kind, createdBy);
}

/** Stages the revocation of the valid links of a user. */
export async function revokeLinks(ctx: Ctx, userId: string): Promise<void> {
  for (const row of await validLinks(ctx, userId)) {
    ctx.update(operatorLinks, row, { expires_at: ctx.now, updated_at: ctx.now });
  }
}

/** Stages a link and the revocation of the user's earlier links. */
export async function replaceLink(
  ctx: Ctx,
  { id: userId }: UserRow,
  kind: LinkKind,
  createdBy: string,
): Promise<NewLink> {
  await revokeLinks(ctx, userId);
  const id = ctx.id('OperatorLink');
  const row = ctx.insert(operatorLinks, {
    id,
    user_id: userId,
    kind,
    secret_hash: sha256Hex(secretOf(ctx, id)),
    expires_at: ctx.now + LINK_MS,
    created_by: createdBy,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  return presentLink(ctx, row);
}

/** A link and its user. */
export interface OpenedLink {
  link: LinkRow;
  user: UserRow;
}

/** The link with this secret, including a used or expired link. */
export async function findLink(
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
  secret: string,
): Promise<(OpenedLink & { isEnded: boolean }) | undefined> {
  const [link] = await db.find(operatorLinks, { secret_hash: sha256Hex(secret) });
  const user = link && (await db.read(operatorUsers, link.user_id));
  if (!user) return undefined;
  return { link, user, isEnded: user.status !== 'ACTIVE' || !isValid(link, effects.now()) };
}

export const linkEndedFault = (): Fault =>
  new Fault('LINK_ENDED', 'The link was used, has expired or is unknown. Request a new one.');

/** The link with this secret. Throws LINK_ENDED for an unknown, used or expired link or a disabled user. */
export async function openLink(
  reader: Pick<Runtime, 'db' | 'effects'>,
  secret: string,
): Promise<OpenedLink> {
  const link = await findLink(reader, secret);
  if (!link || link.isEnded) throw linkEndedFault();
  return link;
}

/** Stages the use of a link. */
export const useLink = (ctx: Ctx, { link }: OpenedLink): LinkRow =>
  ctx.update(operatorLinks, link, { used_at: ctx.now, updated_at: ctx.now });
