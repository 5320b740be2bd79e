// Whether the right one signed: a session of the wallet that is active now, or the holder of one named key.
import { type Code, Fault } from '../../kernel/fault.ts';
import type { Ctx } from '../../runtime/context.ts';
import { sessionsOf } from './credentials.ts';
import { type Stamp, signs } from './stamp.ts';
import { type SessionRow, type Signer, walletSessions } from './store.ts';
import type { WalletParts } from './wallet.ts';

export interface Signed {
  /** Compressed, lower-case hex; empty where a script stood in for it. */
  publicKey: string;
  /** Absent where a key signed that is no session yet. */
  session: SessionRow | undefined;
}

/** The active sessions that this signer allows. */
async function allowed(ctx: Ctx, signer: Signer): Promise<SessionRow[]> {
  if (signer.by !== 'session') return [];
  const found = await Promise.all(signer.accounts.map((id) => sessionsOf(ctx, id)));
  return found
    .flat()
    .filter((row) => signer.only === undefined || row.id === signer.only)
    .filter((row) => row.credential_id !== signer.except);
}

/** What a signature that does not hold is answered with; a scripted environment has its own code. */
function failure(ctx: Ctx, parts: WalletParts, signer: Signer, reason: string): Fault {
  const script = parts.connectors(ctx.caller.environment).walletScript;
  // A key that is no session yet is a credential being proved, and proving one fails like this.
  const usual: Code = signer.by === 'key' ? 'UNAUTHORIZED' : 'WALLET_SIGNATURE_INVALID';
  return new Fault(script?.failure ?? usual, reason);
}

/** Who signed `payload`, or the fault that says why nobody who may did. */
export async function signedBy(
  ctx: Ctx,
  parts: WalletParts,
  { stamp, signer, payload }: { stamp: Stamp | 'scripted'; signer: Signer; payload: string },
): Promise<Signed | Fault> {
  const fail = (reason: string) => failure(ctx, parts, signer, reason);
  if (stamp !== 'scripted' && !signs(stamp, payload)) {
    return fail('The wallet signature does not fit what was to be signed.');
  }
  if (signer.by === 'key') {
    if (stamp === 'scripted') return { publicKey: signer.publicKey, session: undefined };
    if (stamp.publicKey !== signer.publicKey) {
      return fail('The wallet signature is of another key than the one that was sent.');
    }
    return { publicKey: stamp.publicKey, session: undefined };
  }
  const sessions = await allowed(ctx, signer);
  const session =
    stamp === 'scripted' ? sessions[0] : sessions.find((row) => row.public_key === stamp.publicKey);
  const standsAlone = stamp === 'scripted' && signer.by === 'session' && signer.mayStandAlone;
  if (!session && standsAlone) return { publicKey: '', session };
  if (!session) return fail('The wallet signature is of no active session that may sign this.');
  // A session that is ended in the same instant signs nothing.
  ctx.require(walletSessions, session);
  return { publicKey: session.public_key, session };
}
