// `wallet show|authorizations|authorization`: what the operator sees of an embedded wallet: which credentials
// and sessions it has, and what was signed for it by which key. The lists say nothing personal or secret;
// only the text of one signature is opened, which needs the master key.

import { readInternalAccount } from '../../features/balances/internal-accounts/index.ts';
import { customers, dataKeyOf } from '../../features/customers/records/index.ts';
import {
  type AuthorizationRow,
  authorizationPersonal,
  credentials,
  type RequestRow,
  type SessionRow,
  walletAuthorizations,
  walletRecoveries,
  walletRequests,
  walletSessions,
  wallets,
} from '../../features/wallets/index.ts';
import { isId } from '../../kernel/id.ts';
import { iso } from '../../kernel/world.ts';
import { ALL_OF_ONE } from '../../runtime/db/database.ts';
import { cursorOf } from '../../runtime/db/paging.ts';
import type { RowOf } from '../../runtime/db/table.ts';
import type { Flags, Given } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';

export const ACCOUNT: Flags = {
  account: { value: 'ACCOUNT', required: true, help: "Id of the wallet's internal account" },
};

export async function walletRowOf({ runtime }: System, id: string): Promise<RowOf<typeof wallets>> {
  const row = isId(id, 'InternalAccount') ? await runtime.db.read(wallets, id) : undefined;
  if (!row) throw notFound('wallet');
  return row;
}

/** How many requests wait: for a signature, for their work to be done, to be fetched. */
function countsOf(requests: readonly RequestRow[], now: number) {
  const count = (test: (row: RequestRow) => boolean) => requests.filter(test).length;
  return {
    toSign: count(({ status, expires_at }) => status === 'PENDING' && expires_at > now),
    processing: count(({ status }) => status === 'PROCESSING'),
    settled: count(({ status }) => status === 'SETTLED'),
  };
}

const sessionView = (row: SessionRow) => ({
  sessionId: row.id,
  credentialId: row.credential_id,
  publicKey: row.public_key,
  authenticatedAt: iso(row.authenticated_at),
  expiresAt: iso(row.expires_at),
});

async function viewOf(system: System, row: RowOf<typeof wallets>) {
  const { db, world } = system.runtime;
  const now = world.now();
  const of = { account_id: row.id };
  const inOrder = { ...ALL_OF_ONE, orderBy: 'created_at' } as const;
  const [account, held, sessions, requests, [waiting]] = await Promise.all([
    readInternalAccount(db, row.id),
    db.find(credentials, { ...of, status: 'ACTIVE' }, inOrder),
    db.find(walletSessions, { ...of, status: 'ACTIVE' }, inOrder),
    db.find(walletRequests, of, ALL_OF_ONE),
    db.find(walletRecoveries, { ...of, status: 'WAITING' }),
  ]);
  return {
    accountId: row.id,
    platformId: row.platform_id,
    customerId: row.customer_id,
    status: account?.status ?? null,
    createdAt: iso(row.created_at),
    credentials: held.map(({ id, type, created_at }) => ({
      credentialId: id,
      type,
      createdAt: iso(created_at),
    })),
    sessions: sessions.filter(({ expires_at }) => expires_at > now).map(sessionView),
    requests: countsOf(requests, now),
    recovery: waiting
      ? { recoveryId: waiting.id, type: waiting.type, dueAt: iso(waiting.due_at) }
      : null,
  };
}

async function show(system: System, given: Given): Promise<Output> {
  const json = await viewOf(system, await walletRowOf(system, given.needed('account')));
  const { requests, recovery } = json;
  const about = record([
    ['Account', json.accountId],
    ['Platform', json.platformId],
    ['Customer', json.customerId],
    ['Status', json.status ?? 'none'],
    ['Created', json.createdAt],
    ['To be signed', String(requests.toSign)],
    ['Processing', String(requests.processing)],
    ['To be fetched', String(requests.settled)],
    ['Way back', recovery ? `${recovery.recoveryId}, due ${recovery.dueAt}` : 'none'],
  ]);
  const held = table(
    ['CREDENTIAL', 'TYPE', 'CREATED'].map((head) => ({ head })),
    json.credentials.map((each) => [each.credentialId, each.type, each.createdAt]),
  );
  const sessions = table(
    ['SESSION', 'CREDENTIAL', 'AUTHENTICATED', 'EXPIRES'].map((head) => ({ head })),
    json.sessions.map((each) => [
      each.sessionId,
      each.credentialId,
      each.authenticatedAt,
      each.expiresAt,
    ]),
  );
  return { json, text: `${about}\nCredentials\n${held}\nSessions\n${sessions}` };
}

const signatureView = (row: AuthorizationRow) => ({
  authorizationId: row.id,
  createdAt: iso(row.created_at),
  operation: row.operation,
  subject: row.subject,
  sessionId: row.session_id,
  publicKey: row.public_key,
});

/** The place of one of the wallet's own; another wallet's is not known. */
async function placeOf({ runtime }: System, accountId: string, id: string) {
  const row = isId(id, 'WalletAuthorization')
    ? await runtime.db.read(walletAuthorizations, id)
    : undefined;
  if (row?.account_id !== accountId) throw notFound('authorization');
  return cursorOf(row);
}

async function authorizations(system: System, given: Given): Promise<Output> {
  const { id } = await walletRowOf(system, given.needed('account'));
  const after = given.text('after');
  const { rows } = await system.runtime.db.page(walletAuthorizations, {
    filters: [{ column: 'account_id', op: '=', value: id }],
    sort: 'desc',
    limit: limitIn(given),
    cursor: after === undefined ? undefined : await placeOf(system, id, after),
  });
  const json = rows.map(signatureView);
  const heads = ['SIGNED', 'AUTHORIZATION', 'OPERATION', 'ABOUT', 'SESSION', 'KEY'];
  const text = table(
    heads.map((head) => ({ head })),
    json.map((each) => [
      each.createdAt,
      each.authorizationId,
      each.operation,
      each.subject,
      each.sessionId ?? '-',
      // A script that stands in for a key in the sandbox has none.
      each.publicKey || '-',
    ]),
  );
  return { json, text };
}

/** What one signature says, whole: what a dispute is about. */
async function authorization({ runtime }: System, given: Given): Promise<Output> {
  const id = given.needed('authorization');
  const row = isId(id, 'WalletAuthorization')
    ? await runtime.db.read(walletAuthorizations, id)
    : undefined;
  if (!row) throw notFound('authorization');
  const customer = await runtime.db.read(customers, row.customer_id);
  const opener = { vault: runtime.vault, key: customer && dataKeyOf(customer) };
  const { payload } = authorizationPersonal(opener, row);
  const json = { ...signatureView(row), accountId: row.account_id, stamp: row.stamp, payload };
  const text = record([
    ['Authorization', json.authorizationId],
    ['Signed', json.createdAt],
    ['Account', json.accountId],
    ['Operation', json.operation],
    ['About', json.subject],
    ['Session', json.sessionId ?? '-'],
    ['Key', json.publicKey || '-'],
    ['Stamp', json.stamp],
    ['Text', typeof payload === 'string' ? payload : 'erased'],
  ]);
  return { json, text };
}

export const walletRowVerbs: readonly Verb[] = [
  {
    noun: 'wallet',
    verb: 'show',
    summary: 'Show what an embedded wallet can be signed in to with, and what waits for it',
    flags: ACCOUNT,
    bare: 'account',
    run: show,
  },
  {
    noun: 'wallet',
    verb: 'authorizations',
    summary: 'List what was signed for an embedded wallet and by which key, latest first',
    flags: {
      ...ACCOUNT,
      ...LIMIT,
      after: { value: 'AUTHORIZATION', help: 'Go on behind this one, the last of a list before' },
    },
    bare: 'account',
    run: authorizations,
  },
  {
    noun: 'wallet',
    verb: 'authorization',
    summary: 'Show one of them with its stamp and the text that was signed',
    flags: {
      authorization: { value: 'AUTHORIZATION', required: true, help: 'Id of the authorization' },
    },
    bare: 'authorization',
    run: authorization,
  },
];
