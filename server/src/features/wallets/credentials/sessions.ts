// The operations on sessions. A session is followed by another one while it is active, which only its own
// key may sign; any session of the wallet may end any other, so that a person can end what a lost device
// still has. Whoever refreshes without ever proving a credential again is stopped after half a day.

import type { Bound } from '../../../kernel/contract/operation.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import {
  clientKeyOf,
  endSession,
  openSession,
  presentSession,
  refuseUsedKey,
  sessionsOf,
} from '../accounts/credentials.ts';
import { readyWallet, type Wallet, type WalletParts } from '../accounts/wallet.ts';
import { signedOperation } from '../signing/signed.ts';
import { type CredentialRow, credentials, type SessionRow, walletSessions } from '../store.ts';
import { listAuthSessions, refreshAuthSession, revokeAuthSession } from './contract.ts';
import { listedWallet } from './operations.ts';

interface HeldSession {
  wallet: Wallet;
  row: SessionRow;
  credential: CredentialRow;
  isActive: boolean;
}

const noSession = () => new Fault('SESSION_NOT_FOUND', 'No such session.');

/** The credential that a session was opened with, which may have been removed since. */
async function credentialOf(ctx: Ctx, row: SessionRow): Promise<CredentialRow> {
  const credential = await ctx.read(credentials, row.credential_id);
  if (!credential) throw new Error(`${row.id} was opened with ${row.credential_id}, which is gone`);
  return credential;
}

/** A session of the calling platform, whether or not it still is one. */
async function heldSession(ctx: Ctx, id: string): Promise<HeldSession> {
  const row = isId(id, 'Session') ? await ctx.read(walletSessions, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) throw noSession();
  const wallet = await readyWallet(ctx, row.account_id);
  if (!wallet) throw noSession();
  const isActive = row.status === 'ACTIVE' && row.expires_at > ctx.now;
  return { wallet, row, credential: await credentialOf(ctx, row), isActive };
}

async function toRefresh(ctx: Ctx, id: string): Promise<HeldSession> {
  const held = await heldSession(ctx, id);
  if (held.isActive) return held;
  throw new Fault('UNAUTHORIZED', 'The session has ended. Prove a credential to open another.');
}

async function toEnd(ctx: Ctx, id: string): Promise<HeldSession> {
  const held = await heldSession(ctx, id);
  if (!held.isActive) throw noSession();
  return held;
}

const refresh = (parts: WalletParts) =>
  signedOperation(refreshAuthSession, parts, {
    settles: 'alone',
    of: ({ params }) => params.id,

    async begin(ctx, { params, body: { clientPublicKey } }) {
      const { wallet, row } = await toRefresh(ctx, params.id);
      await refuseUsedKey(ctx, row.account_id, clientKeyOf(clientPublicKey));
      return {
        ask: {
          wallet,
          payload: {
            type: 'CREATE_READ_WRITE_SESSION_V2',
            parameters: { targetPublicKey: clientPublicKey },
          },
          signer: { by: 'session', accounts: [row.account_id], only: row.id },
        },
      };
    },

    async perform(ctx, { params, body: { clientPublicKey } }) {
      const { wallet, row, credential } = await toRefresh(ctx, params.id);
      // Where the signature was seen on an earlier try, nothing else leans on it.
      ctx.require(walletSessions, row);
      const authenticatedAt = row.authenticated_at;
      const next = openSession(ctx, parts, wallet, credential, clientPublicKey, {
        authenticatedAt,
      });
      return { status: 201, body: await next };
    },
  });

const revoke = (parts: WalletParts) =>
  signedOperation(revokeAuthSession, parts, {
    settles: 'alone',
    of: ({ params }) => params.id,

    async begin(ctx, { params }) {
      const { wallet, row, credential } = await toEnd(ctx, params.id);
      return {
        ask: {
          wallet,
          type: credential.type,
          payload: {
            type: 'DELETE_API_KEYS',
            parameters: { apiKeyIds: [row.api_key_id], userId: wallet.row.user_id },
          },
          signer: { by: 'session', accounts: [row.account_id] },
        },
      };
    },

    async perform(ctx, { params }) {
      const { row } = await toEnd(ctx, params.id);
      endSession(ctx, row);
      return { status: 204, body: undefined };
    },
  });

const list = handle(listAuthSessions, async (ctx, { query }) => {
  const wallet = await listedWallet(ctx, query.accountId);
  const rows = wallet ? await sessionsOf(ctx, wallet.row.id) : [];
  const present = async (row: SessionRow) =>
    presentSession(ctx, wallet as Wallet, row, await credentialOf(ctx, row));
  return { status: 200, body: { data: await Promise.all(rows.map(present)) } };
});

export const sessionOperations = (parts: WalletParts): Bound<Ctx>[] => [
  list,
  refresh(parts),
  revoke(parts),
];
