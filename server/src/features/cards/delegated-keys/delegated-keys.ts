// Delegated keys as rows. The custodian generates a key and keeps its private part, and the row
// stores the custodian's reference until the key is revoked. A key belongs to the funding source
// that links a card to a wallet. A key is revoked by the platform, or when the funding source is
// removed or the card is closed.
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { UNPAGED } from '../../../runtime/db/database.ts';
import { type Ctx, timestamps } from '../../../runtime/operation/context.ts';
import type { DataKey, Vault } from '../../../runtime/security/vault.ts';
import { dataKeyOf, readCustomer } from '../../customers/records/index.ts';
import { delegatedKeyStates } from '../issuing/states.ts';
import { type DelegatedKeyRow, delegatedKeys, type FundingSourceRow } from '../store.ts';
import type { DelegatedKeyView } from './delegated-contract.ts';

/**
 * Maximum number of keys of a funding source, in any status. A further key requires a new funding
 * source.
 */
const MAX_KEYS = 100;

const nicknameContext = (id: string) => `delegated_keys ${id} nickname`;

const openNickname = (vault: Vault, key: DataKey, row: DelegatedKeyRow): string =>
  vault.open(key, row.nickname, nicknameContext(row.id)).toString();

/** Decrypted personal data of a key, or null after an erasure. */
export const delegatedKeyPersonal = (
  { vault, key }: { vault: Vault; key: DataKey | undefined },
  row: DelegatedKeyRow,
) => ({ nickname: key ? openNickname(vault, key, row) : null });

/** API view of a key, or undefined after an erasure. */
export async function presentKey(
  ctx: Ctx,
  row: DelegatedKeyRow,
): Promise<DelegatedKeyView | undefined> {
  const owner = await readCustomer(ctx, row.customer_id);
  const key = owner && dataKeyOf(owner);
  return (
    key && {
      id: row.id,
      cardId: row.card_id,
      fundingSourceId: row.funding_source_id,
      accountId: row.account_id,
      publicKey: row.public_key,
      nickname: openNickname(ctx.vault, key, row),
      status: row.status,
      ...timestamps(row),
    }
  );
}

/** A key of the calling platform with its view. Throws NOT_FOUND. */
export async function keyOf(ctx: Ctx, id: string) {
  const row = isId(id, 'DelegatedKey') ? await ctx.read(delegatedKeys, id) : undefined;
  const isOwn = row?.platform_id === ctx.caller.platformId;
  const view = isOwn ? await presentKey(ctx, row) : undefined;
  if (!row || !view) throw new Fault('NOT_FOUND', 'Delegated key not found.');
  return { row, view };
}

type Filter = Partial<Pick<DelegatedKeyRow, 'account_id' | 'funding_source_id' | 'status'>>;

/** The platform's keys of a wallet or a funding source, oldest first. */
export async function keysOf(ctx: Ctx, filter: Filter): Promise<DelegatedKeyRow[]> {
  const filters = { ...filter, platform_id: ctx.caller.platformId };
  const rows = await ctx.db.find(delegatedKeys, filters, UNPAGED);
  return rows.sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}

/**
 * The active key for a card and an account. The card has at most one funding source for an account
 * at a time, and its keys are revoked with it.
 */
export async function activeKeyOf(
  ctx: Ctx,
  card_id: string,
  account_id: string,
): Promise<DelegatedKeyRow | undefined> {
  const [key] = await ctx.db.find(delegatedKeys, { card_id, account_id, status: 'ACTIVE' });
  return key;
}

/** Throws if a funding source has an active key. */
export async function checkNoActiveKey(
  ctx: Ctx,
  { card_id, account_id }: FundingSourceRow,
): Promise<void> {
  if (!(await activeKeyOf(ctx, card_id, account_id))) return;
  const reason = 'The funding source of the card already has an active key. Revoke that key first.';
  throw new Fault('CONFLICT', reason);
}

/** Throws if a funding source has the maximum number of keys. */
export async function checkKeyCount(ctx: Ctx, { id }: FundingSourceRow): Promise<void> {
  if ((await keysOf(ctx, { funding_source_id: id })).length < MAX_KEYS) return;
  const reason =
    `The funding source of the card has had ${MAX_KEYS} keys. Remove the wallet from the funding ` +
    'sources and add it again.';
  throw new Fault('CONFLICT', reason);
}

/** A generated key. `signer` is the custodian's reference to it. */
export interface NewKey {
  id: string;
  publicKey: string;
  signer: string;
}

/** Stages a PENDING key. The nickname is sealed with `key`, the data key of the owner. */
export const addKey = (
  ctx: Ctx,
  source: FundingSourceRow,
  { id, publicKey, signer }: NewKey,
  { nickname, key }: { nickname: string; key: DataKey },
): DelegatedKeyRow =>
  ctx.insert(delegatedKeys, {
    id,
    platform_id: source.platform_id,
    customer_id: source.customer_id,
    account_id: source.account_id,
    card_id: source.card_id,
    funding_source_id: source.id,
    status: 'PENDING',
    public_key: publicKey,
    signer,
    nickname: ctx.vault.seal(key, nickname, nicknameContext(id)),
    created_at: ctx.now,
    updated_at: ctx.now,
  });

export const activateKey = (ctx: Ctx, row: DelegatedKeyRow): DelegatedKeyRow =>
  ctx.update(delegatedKeys, row, {
    status: delegatedKeyStates.next(row.status, 'activate'),
    updated_at: ctx.now,
  });

/** Revokes a key and removes the custodian's reference. */
export const revokeKey = (ctx: Ctx, row: DelegatedKeyRow): DelegatedKeyRow =>
  ctx.update(delegatedKeys, row, {
    status: delegatedKeyStates.next(row.status, 'revoke'),
    signer: null,
    updated_at: ctx.now,
  });

/**
 * Revokes every key of these funding sources. The caller changes the rows of the funding sources or
 * the row of the card. The creation of a key requires these rows.
 */
export async function revokeKeysOf(
  ctx: Ctx,
  sources: readonly Pick<FundingSourceRow, 'id'>[],
): Promise<void> {
  const keys = await Promise.all(sources.map(({ id }) => keysOf(ctx, { funding_source_id: id })));
  for (const row of keys.flat()) if (row.status !== 'REVOKED') revokeKey(ctx, row);
}
