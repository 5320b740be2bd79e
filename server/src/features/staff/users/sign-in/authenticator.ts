// Authenticates operators: by the bearer secret of a token, or by the cookies of a session.
import type { Operator } from '../../../../kernel/caller.ts';
import { Fault } from '../../../../kernel/fault.ts';
import { isId } from '../../../../kernel/id.ts';
import { readUrl } from '../../../../kernel/net/url.ts';
import { operate, type Runtime } from '../../../../runtime/operation/operate.ts';
import { constantTimeEqual, sha256Hex } from '../../../../runtime/security/crypto.ts';
import { INSTALLATION } from '../../../tenancy/platform/index.ts';
import { operatorTokenAuthenticator } from '../../tokens/index.ts';
import { readCurrentOperator, restrictToUser } from '../operator-rights.ts';
import { operatorUsers } from '../store.ts';
import { readCookies } from './browser.ts';
import { statusOf } from './session-status.ts';
import { csrfTokenOf, operatorOf } from './sessions.ts';
import { operatorSessions, type SessionRow } from './store.ts';

/** The credential of a request: a bearer token, or the cookies of a session. */
interface Credential {
  authorization: string | undefined;
  cookie: string | undefined;
  csrfToken: string | undefined;
  host: string | undefined;
  /** Origin of the page that sends the request. Absent outside of browsers. */
  origin: string | undefined;
  isRead: boolean;
}

const unauthorizedFault = () =>
  new Fault('UNAUTHORIZED', 'The session has expired or is invalid. Sign in again.');

/** Whether the request is from a page of this server, at its address or at the configured one. */
function isOwnOrigin({ host, origin }: Credential, operatorUrl: string | undefined): boolean {
  if (origin === undefined) return true;
  if (operatorUrl !== undefined && origin === readUrl(operatorUrl)?.origin) return true;
  return readUrl(origin)?.host === host;
}

/** Minimum interval between two writes of the last use. */
const USE_INTERVAL_MS = 60_000;

/** Writes the last use of a session. One of several concurrent requests writes it. */
async function markUsed(runtime: Runtime, row: SessionRow): Promise<void> {
  const now = runtime.effects.now();
  if (now - row.used_at < USE_INTERVAL_MS) return;
  const patch = { used_at: now, updated_at: now };
  await operate(runtime, INSTALLATION, async (ctx) => {
    const currentRow = await ctx.read(operatorSessions, row.id);
    if (currentRow && currentRow.ended_at === null && now - currentRow.used_at >= USE_INTERVAL_MS) {
      ctx.update(operatorSessions, currentRow, patch);
    }
  });
}

/**
 * The current rights of the operator of an open request. Undefined if the session or the token is no
 * longer valid. Does not count as a use of the session.
 */
export async function currentOperator(
  runtime: Pick<Runtime, 'db' | 'effects'>,
  { id, sessionId }: Operator,
): Promise<Operator | undefined> {
  const { db, effects } = runtime;
  if (sessionId === undefined) {
    return (await readCurrentOperator(db, id, effects.now())).operator;
  }
  const [session, user] = await Promise.all([
    db.read(operatorSessions, sessionId),
    db.read(operatorUsers, id),
  ]);
  if (!session || statusOf(session, effects.now()) !== 'ACTIVE') return undefined;
  return user?.status === 'ACTIVE' ? operatorOf(user, sessionId) : undefined;
}

/**
 * The operator of each request. Throws UNAUTHORIZED. For a change in a session, also throws
 * FORBIDDEN without the CSRF token or from another site.
 */
export function operatorAuthenticator(runtime: Runtime, operatorUrl: string | undefined) {
  const tokens = operatorTokenAuthenticator(runtime);

  async function operatorOfSession(credential: Credential): Promise<Operator> {
    const { cookie, csrfToken, isRead } = credential;
    const { session: secret, device } = readCookies(cookie, operatorUrl);
    if (secret === undefined || device === undefined) throw unauthorizedFault();
    const { db, effects } = runtime;
    const [row] = await db.find(operatorSessions, { secret_hash: sha256Hex(secret) });
    if (!row || row.device_hash !== sha256Hex(device)) throw unauthorizedFault();
    if (statusOf(row, effects.now()) !== 'ACTIVE') throw unauthorizedFault();
    const user = await db.read(operatorUsers, row.user_id);
    if (user?.status !== 'ACTIVE') throw unauthorizedFault();
    if (!isRead && !constantTimeEqual(csrfToken ?? '', csrfTokenOf(secret))) {
      throw new Fault(
        'FORBIDDEN',
        'The header X-CSRF-Token is missing or does not belong to the session. Send the csrfToken ' +
          'of the session.',
      );
    }
    // Defense in depth: also rejects another site that has obtained the token.
    if (!isRead && !isOwnOrigin(credential, operatorUrl)) {
      throw new Fault(
        'FORBIDDEN',
        'The request is from a page of another site. Send the request from a page of this server.',
      );
    }
    await markUsed(runtime, row);
    return operatorOf(user, row.id);
  }

  async function operatorOfToken(authorization: string | undefined): Promise<Operator> {
    const operator = await tokens.operatorOf(authorization);
    if (!isId(operator.personId, 'OperatorUser')) return operator;
    const user = await runtime.db.read(operatorUsers, operator.personId);
    if (user?.status === 'ACTIVE') return restrictToUser(operator, user);
    throw new Fault('UNAUTHORIZED', 'The operator token is missing or invalid.');
  }

  return {
    operatorOf: (credential: Credential): Promise<Operator> =>
      credential.authorization === undefined && credential.cookie !== undefined
        ? operatorOfSession(credential)
        : operatorOfToken(credential.authorization),
  };
}
