// Delegated keys as rows. A key is drawn by the custodian and its private half is readable to nobody else; a
// row holds what the custodian wants back, until the key is revoked. It belongs to what binds a card to a
// wallet, and ends with that: by its owner, with the binding, or with the card.
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { ALL_OF_ONE } from '../../../runtime/db/database.ts';
import { type Ctx, stamps } from '../../../runtime/operation/context.ts';
import type { DataKey, Vault } from '../../../runtime/security/vault.ts';
import { dataKeyOf, readCustomer } from '../../customers/records/index.ts';
import { delegatedKeyStates } from '../issuing/states.ts';
import { type DelegatedKeyRow, delegatedKeys, type FundingSourceRow } from '../store.ts';
import type { DelegatedKeyView } from './delegated-contract.ts';

/** Keys of one funding source, of every status: a binding that had so many can be made anew. */
const MAX_KEYS = 100;

const nicknameContext = (id: string) => `delegated_keys ${id} nickname`;

const openNickname = (vault: Vault, key: DataKey, row: DelegatedKeyRow): string =>
  vault.open(key, row.nickname, nicknameContext(row.id)).toString();

/** What a key keeps sealed, opened for its owner; nothing once the owner was erased. */
export const delegatedKeyPersonal = (
  { vault, key }: { vault: Vault; key: DataKey | undefined },
  row: DelegatedKeyRow,
) => ({ nickname: key ? openNickname(vault, key, row) : null });

/** The JSON of a key; undefined once its owner was erased, and it with them. */
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
      ...stamps(row),
    }
  );
}

/** A key of the calling platform and how it is shown; NOT_FOUND for every other id. */
export async function keyOf(ctx: Ctx, id: string) {
  const row = isId(id, 'DelegatedKey') ? await ctx.read(delegatedKeys, id) : undefined;
  const isTheirs = row?.platform_id === ctx.caller.platformId;
  const shown = isTheirs ? await presentKey(ctx, row) : undefined;
  if (!row || !shown) throw new Fault('NOT_FOUND', 'Delegated key not found.');
  return { row, shown };
}

type Filter = Partial<Pick<DelegatedKeyRow, 'account_id' | 'funding_source_id' | 'status'>>;

/** The calling platform's keys of a wallet or a funding source, oldest first. */
export async function keysOf(ctx: Ctx, filter: Filter): Promise<DelegatedKeyRow[]> {
  const where = { ...filter, platform_id: ctx.caller.platformId };
  const rows = await ctx.db.find(delegatedKeys, where, ALL_OF_ONE);
  return rows.sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}

/**
 * The key that may sign now for a card at an account. Of two there is one binding at a time, with which its
 * keys end.
 */
export async function activeKeyOf(
  ctx: Ctx,
  card_id: string,
  account_id: string,
): Promise<DelegatedKeyRow | undefined> {
  const [key] = await ctx.db.find(delegatedKeys, { card_id, account_id, status: 'ACTIVE' });
  return key;
}

/** Throws where a funding source has a key that may sign. */
export async function refuseSecondKey(
  ctx: Ctx,
  { card_id, account_id }: FundingSourceRow,
): Promise<void> {
  if (!(await activeKeyOf(ctx, card_id, account_id))) return;
  throw new Fault('CONFLICT', 'The funding source of the card has an active key already.');
}

/** Throws where a funding source can have no more keys of any kind. */
export async function refuseMoreKeys(ctx: Ctx, { id }: FundingSourceRow): Promise<void> {
  if ((await keysOf(ctx, { funding_source_id: id })).length < MAX_KEYS) return;
  const reason = `The funding source of the card has had ${MAX_KEYS} keys. Bind the wallet anew.`;
  throw new Fault('CONFLICT', reason);
}

/** What a new key is made of. */
export interface NewKey {
  id: string;
  publicKey: string;
  signer: string;
}

/** Stages a key that may not sign yet. `key` is what is sealed for its owner. */
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

/** Stages that a key may sign from now on. */
export const activateKey = (ctx: Ctx, row: DelegatedKeyRow): DelegatedKeyRow =>
  ctx.update(delegatedKeys, row, {
    status: delegatedKeyStates.next(row.status, 'activate'),
    updated_at: ctx.now,
  });

/** Stages the end of a key: what could sign with it is forgotten. */
export const revokeKey = (ctx: Ctx, row: DelegatedKeyRow): DelegatedKeyRow =>
  ctx.update(delegatedKeys, row, {
    status: delegatedKeyStates.next(row.status, 'revoke'),
    signer: null,
    updated_at: ctx.now,
  });

/**
 * Stages the end of every key of these funding sources. Whoever ends them changes their rows or that of the
 * card, on which a key that is being made leans.
 */
export async function revokeKeysOf(
  ctx: Ctx,
  sources: readonly Pick<FundingSourceRow, 'id'>[],
): Promise<void> {
  const held = await Promise.all(sources.map(({ id }) => keysOf(ctx, { funding_source_id: id })));
  for (const row of held.flat()) if (row.status !== 'REVOKED') revokeKey(ctx, row);
}
