// Operations on sessions. A request that an active session signs refreshes this session. Any
// session of the wallet can revoke any other, so that the holder can revoke the session of a lost
// device. A session can be refreshed without a new verification of the credential for 12 hours.

import type { Bound } from '../../../kernel/contract/operation.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import {
  clientKeyOf,
  openSession,
  presentSession,
  rejectUsedKey,
  revokeSession,
  sessionsOf,
} from '../accounts/credentials.ts';
import { requireProvisionedWallet, type Wallet, type WalletDeps } from '../accounts/wallet.ts';
import { signedOperation } from '../signing/signed.ts';
import { type CredentialRow, credentials, type SessionRow, walletSessions } from '../store.ts';
import { listAuthSessions, refreshAuthSession, revokeAuthSession } from './contract.ts';
import { requireListedWallet } from './operations.ts';

interface WalletSession {
  wallet: Wallet;
  row: SessionRow;
  credential: CredentialRow;
  isActive: boolean;
}

const sessionNotFoundFault = () => new Fault('SESSION_NOT_FOUND', 'Session not found.');

/** The credential that a session was opened with, which may have been removed since. */
async function credentialOf(ctx: Ctx, row: SessionRow): Promise<CredentialRow> {
  const credential = await ctx.read(credentials, row.credential_id);
  if (!credential)
    throw new Error(`${row.id} was opened with ${row.credential_id}, which no longer exists`);
  return credential;
}

/** A session of the calling platform, active or not. */
async function requireSession(ctx: Ctx, id: string): Promise<WalletSession> {
  const row = isId(id, 'Session') ? await ctx.read(walletSessions, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId) throw sessionNotFoundFault();
  const wallet = await requireProvisionedWallet(ctx, row.account_id);
  if (!wallet) throw sessionNotFoundFault();
  const isActive = row.status === 'ACTIVE' && row.expires_at > ctx.now;
  return { wallet, row, credential: await credentialOf(ctx, row), isActive };
}

async function requireRefreshableSession(ctx: Ctx, id: string): Promise<WalletSession> {
  const session = await requireSession(ctx, id);
  if (session.isActive) return session;
  throw new Fault(
    'UNAUTHORIZED',
    'The session has expired or was revoked. Verify a credential to open another session.',
  );
}

async function requireActiveSession(ctx: Ctx, id: string): Promise<WalletSession> {
  const session = await requireSession(ctx, id);
  if (!session.isActive) throw sessionNotFoundFault();
  return session;
}

const refresh = (deps: WalletDeps) =>
  signedOperation(refreshAuthSession, deps, {
    completion: 'background',
    resourceId: ({ params }) => params.id,

    async begin(ctx, { params, body: { clientPublicKey } }) {
      const { wallet, row } = await requireRefreshableSession(ctx, params.id);
      await rejectUsedKey(ctx, row.account_id, clientKeyOf(clientPublicKey));
      return {
        signatureRequest: {
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
      const { wallet, row, credential } = await requireRefreshableSession(ctx, params.id);
      // If the signature was verified in an earlier retry, the session row is not required yet.
      ctx.require(walletSessions, row);
      const authenticatedAt = row.authenticated_at;
      const sessionPromise = openSession(ctx, deps, wallet, credential, clientPublicKey, {
        authenticatedAt,
      });
      return { status: 201, body: await sessionPromise };
    },
  });

const revoke = (deps: WalletDeps) =>
  signedOperation(revokeAuthSession, deps, {
    completion: 'background',
    resourceId: ({ params }) => params.id,

    async begin(ctx, { params }) {
      const { wallet, row, credential } = await requireActiveSession(ctx, params.id);
      return {
        signatureRequest: {
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
      const { row } = await requireActiveSession(ctx, params.id);
      revokeSession(ctx, row);
      return { status: 204, body: undefined };
    },
  });

const list = handle(listAuthSessions, async (ctx, { query }) => {
  const wallet = await requireListedWallet(ctx, query.accountId);
  const rows = wallet ? await sessionsOf(ctx, wallet.row.id) : [];
  const presentRow = async (row: SessionRow) =>
    presentSession(ctx, wallet as Wallet, row, await credentialOf(ctx, row));
  return { status: 200, body: { data: await Promise.all(rows.map(presentRow)) } };
});

export const sessionOperations = (deps: WalletDeps): Bound<Ctx>[] => [
  list,
  refresh(deps),
  revoke(deps),
];
