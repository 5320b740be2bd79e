// Whether the right one signed: a session of the wallet that is active now, or the holder of one named key.
import { type Code, Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { sessionsOf } from '../accounts/credentials.ts';
import type { WalletParts } from '../accounts/wallet.ts';
import { type SessionRow, type Signer, walletSessions } from '../store.ts';
import { type Stamp, verifyStamp } from './stamp.ts';

export interface VerifiedSigner {
  /** Compressed, lower-case hex; empty for the scripted stamp of the sandbox without a session. */
  publicKey: string;
  /** Absent where a key signed that is no session yet, and for the scripted stamp without a session. */
  session: SessionRow | undefined;
}

/** Who may sign; what waits for no signature is never held against one. */
type SigningParty = Exclude<Signer, { by: 'nobody' }>;

/** Why an active session of the wallet may not sign this; undefined where it may. */
function sessionRestriction(
  { only, except }: Extract<Signer, { by: 'session' }>,
  row: SessionRow,
): string | undefined {
  if (only !== undefined && row.id !== only) return 'the session itself must sign';
  if (row.credential_id === except) return 'a session of another credential must sign';
  return undefined;
}

/** What a signature that does not hold is answered with; a scripted environment has its own code. */
function failure(ctx: Ctx, parts: WalletParts, signer: SigningParty, reason: string): Fault {
  const script = parts.connectors(ctx.caller.environment).walletScript;
  // A key that is no session yet is a credential being proved, and proving one fails like this.
  const usual: Code = signer.by === 'key' ? 'UNAUTHORIZED' : 'WALLET_SIGNATURE_INVALID';
  return new Fault(script?.failure ?? usual, reason);
}

/** Who signed `payload`, or the fault that says why nobody who may did. */
export async function verifySigner(
  ctx: Ctx,
  parts: WalletParts,
  { stamp, signer, payload }: { stamp: Stamp | 'scripted'; signer: SigningParty; payload: string },
): Promise<VerifiedSigner | Fault> {
  const fail = (reason: string) => failure(ctx, parts, signer, reason);
  if (stamp !== 'scripted' && !verifyStamp(stamp, payload)) {
    return fail('The wallet signature does not fit what was to be signed.');
  }
  if (signer.by === 'key') {
    if (stamp === 'scripted') return { publicKey: signer.publicKey, session: undefined };
    if (stamp.publicKey !== signer.publicKey) {
      return fail('The wallet signature is of another key than the one that was sent.');
    }
    return { publicKey: stamp.publicKey, session: undefined };
  }
  const sessions = (await Promise.all(signer.accounts.map((id) => sessionsOf(ctx, id)))).flat();
  const session =
    stamp === 'scripted'
      ? sessions.find((row) => !sessionRestriction(signer, row))
      : sessions.find((row) => row.public_key === stamp.publicKey);
  // Existing clients send the scripted stamp without ever opening a session.
  if (!session && stamp === 'scripted') return { publicKey: '', session };
  if (!session) return fail('The wallet signature is of no active session that may sign this.');
  const against = sessionRestriction(signer, session);
  if (against)
    return fail(`The wallet signature is of a session that may not sign this: ${against}.`);
  // A session that is ended in the same instant signs nothing.
  ctx.require(walletSessions, session);
  return { publicKey: session.public_key, session };
}
