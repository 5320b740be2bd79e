// Embedded wallets of every platform, for the operator: credentials, sessions, and the signatures
// for each wallet. The lists contain no personal data and no secrets. The details of one signature
// are decrypted, which requires the master key.

import { iso, type Time } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import { equals, UNPAGED } from '../../runtime/db/database.ts';
import { cursorOf, type PageInput } from '../../runtime/db/paging.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import { readInternalAccount } from '../balances/internal-accounts/index.ts';
import { dataKeyOf, readCustomer } from '../customers/records/index.ts';
import { type AuthorizationRow, authorizationPersonal } from './personal-data.ts';
import {
  type CredentialType,
  credentials,
  type RequestRow,
  type SessionRow,
  type WalletRow,
  walletAuthorizations,
  walletRecoveries,
  walletRequests,
  walletSessions,
  wallets,
} from './store.ts';

type OperatorReader = Pick<Ctx, 'read'>;

/** The wallet of an internal account. Throws NOT_FOUND. */
export async function walletById({ read }: OperatorReader, accountId: string): Promise<WalletRow> {
  const row = isId(accountId, 'InternalAccount') ? await read(wallets, accountId) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Wallet not found.');
  return row;
}

interface SearchInput extends PageInput {
  platformId?: string | undefined;
  customerId?: string | undefined;
}

const CREDENTIAL_TYPES_SQL = `
  select account_id, array_agg(distinct type order by type) as types
    from credentials where account_id = any($1) and status = 'ACTIVE' group by account_id`;

const RECOVERING_WALLETS_SQL = `
  select account_id from wallet_recoveries where account_id = any($1) and status = 'WAITING'`;

/** A page of the wallets of a platform, of a customer, or of all, newest first. */
export async function searchWallets(
  { db }: Pick<Runtime, 'db'>,
  { platformId, customerId, limit, cursor }: SearchInput,
) {
  const filters = equals({ platform_id: platformId, customer_id: customerId });
  const { rows, ...rest } = await db.page(wallets, { filters, sort: 'desc', limit, cursor });
  const ids = rows.map(({ id }) => id);
  const [accounts, types, recoveries] = await Promise.all([
    Promise.all(ids.map((id) => readInternalAccount(db, id))),
    db.query<{ account_id: string; types: CredentialType[] }>(CREDENTIAL_TYPES_SQL, [ids]),
    db.query<{ account_id: string }>(RECOVERING_WALLETS_SQL, [ids]),
  ]);
  const typesByAccount = new Map(types.map((each) => [each.account_id, each.types]));
  const recoveringIds = new Set(recoveries.map(({ account_id }) => account_id));
  const data = rows.map((row, index) => ({
    accountId: row.id,
    platformId: row.platform_id,
    customerId: row.customer_id,
    status: accounts[index]?.status ?? null,
    credentialTypes: typesByAccount.get(row.id) ?? [],
    isRecovering: recoveringIds.has(row.id),
    createdAt: iso(row.created_at),
  }));
  return { data, ...rest };
}

/** Number of requests awaiting a signature, in processing, and settled but not yet delivered. */
function countRequests(requests: readonly RequestRow[], now: Time) {
  const count = (test: (row: RequestRow) => boolean) => requests.filter(test).length;
  return {
    toSign: count(({ status, expires_at }) => status === 'PENDING' && expires_at > now),
    processing: count(({ status }) => status === 'PROCESSING'),
    settled: count(({ status }) => status === 'SETTLED'),
  };
}

const presentSession = (row: SessionRow) => ({
  sessionId: row.id,
  credentialId: row.credential_id,
  publicKey: row.public_key,
  authenticatedAt: iso(row.authenticated_at),
  expiresAt: iso(row.expires_at),
});

/**
 * A wallet with its credentials, sessions, open requests and pending recovery. Throws NOT_FOUND.
 */
export async function walletDetails({ db, clocks }: Runtime, accountId: string) {
  const row = await walletById(db, accountId);
  const now = await clocks.nowOf({ platformId: row.platform_id });
  const filter = { account_id: row.id };
  const unpagedByTime = { ...UNPAGED, orderBy: 'created_at' } as const;
  const [account, credentialRows, sessions, requests, [pendingRecovery]] = await Promise.all([
    readInternalAccount(db, row.id),
    db.find(credentials, { ...filter, status: 'ACTIVE' }, unpagedByTime),
    db.find(walletSessions, { ...filter, status: 'ACTIVE' }, unpagedByTime),
    db.find(walletRequests, filter, UNPAGED),
    db.find(walletRecoveries, { ...filter, status: 'WAITING' }),
  ]);
  return {
    accountId: row.id,
    platformId: row.platform_id,
    customerId: row.customer_id,
    status: account?.status ?? null,
    createdAt: iso(row.created_at),
    credentials: credentialRows.map(({ id, type, created_at }) => ({
      credentialId: id,
      type,
      createdAt: iso(created_at),
    })),
    sessions: sessions.filter(({ expires_at }) => expires_at > now).map(presentSession),
    requests: countRequests(requests, now),
    recovery: pendingRecovery
      ? {
          recoveryId: pendingRecovery.id,
          type: pendingRecovery.type,
          dueAt: iso(pendingRecovery.due_at),
        }
      : null,
  };
}

const presentAuthorization = (row: AuthorizationRow) => ({
  authorizationId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  createdAt: iso(row.created_at),
  operation: row.operation,
  subject: row.subject,
  sessionId: row.session_id,
  publicKey: row.public_key,
});

async function authorizationById({ read }: OperatorReader, id: string): Promise<AuthorizationRow> {
  const row = isId(id, 'WalletAuthorization') ? await read(walletAuthorizations, id) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Authorization not found.');
  return row;
}

interface ListInput extends PageInput {
  accountId: string;
  /** Last ID of the previous page. Alternative to `cursor`. */
  after?: string | undefined;
}

async function readCursor(reader: OperatorReader, { accountId, after, cursor }: ListInput) {
  if (after === undefined) return cursor;
  const row = await authorizationById(reader, after);
  if (row.account_id !== accountId) throw new Fault('NOT_FOUND', 'Authorization not found.');
  return cursorOf(row);
}

/** A page of the signatures for a wallet, latest first. Throws NOT_FOUND. */
async function listWalletAuthorizations({ db }: Runtime, input: ListInput) {
  const { id } = await walletById(db, input.accountId);
  const { rows, ...rest } = await db.page(walletAuthorizations, {
    filters: equals({ account_id: id }),
    sort: 'desc',
    limit: input.limit,
    cursor: await readCursor(db, input),
  });
  return { data: rows.map(presentAuthorization), ...rest };
}

/** An authorization with its stamp and its signed text, which is null after an erasure. Throws NOT_FOUND. */
async function walletAuthorizationDetails({ db, vault }: Runtime, authorizationId: string) {
  const row = await authorizationById(db, authorizationId);
  const customer = await readCustomer(db, row.customer_id);
  const { payload } = authorizationPersonal({ vault, key: customer && dataKeyOf(customer) }, row);
  return {
    ...presentAuthorization(row),
    accountId: row.account_id,
    stamp: row.stamp,
    payload: typeof payload === 'string' ? payload : null,
  };
}

/** Signatures for the operator. */
export const signedAuthorizations = {
  page: listWalletAuthorizations,
  details: walletAuthorizationDetails,
};
