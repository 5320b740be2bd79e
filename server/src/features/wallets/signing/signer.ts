// Verification of the signer: an active session of the wallet, or the holder of a specified key.
import { type Code, Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { sessionsOf } from '../accounts/credentials.ts';
import type { WalletDeps } from '../accounts/wallet.ts';
import { type SessionRow, type Signer, walletSessions } from '../store.ts';
import { type Stamp, verifyStamp } from './stamp.ts';

export interface VerifiedSigner {
  /** Compressed, lower-case hex. Empty for the scripted stamp of the sandbox without a session. */
  publicKey: string;
  /** Absent for a key without a session, and for the scripted stamp without a session. */
  session: SessionRow | undefined;
}

/** Signers of requests that require a signature. */
type SigningParty = Exclude<Signer, { by: 'nobody' }>;

/** The reason why an active session may not sign, or undefined if it may. */
function sessionRestriction(
  { only, except }: Extract<Signer, { by: 'session' }>,
  row: SessionRow,
): string | undefined {
  if (only !== undefined && row.id !== only) return 'the session that is refreshed must sign';
  if (row.credential_id === except) return 'a session of another credential must sign';
  return undefined;
}

/** The fault for an invalid signature. A scripted environment has its own code. */
function signatureFault(ctx: Ctx, deps: WalletDeps, signer: SigningParty, reason: string): Fault {
  const script = deps.connectors(ctx.caller.environment).walletScript;
  // A key without a session belongs to the verification of a credential, which fails with this
  // code.
  const code: Code = signer.by === 'key' ? 'UNAUTHORIZED' : 'WALLET_SIGNATURE_INVALID';
  return new Fault(script?.failure ?? code, reason);
}

/** The signer of `payload`, or the fault if no permitted signer signed it. */
export async function verifySigner(
  ctx: Ctx,
  deps: WalletDeps,
  { stamp, signer, payload }: { stamp: Stamp | 'scripted'; signer: SigningParty; payload: string },
): Promise<VerifiedSigner | Fault> {
  const faultOf = (reason: string) => signatureFault(ctx, deps, signer, reason);
  if (stamp !== 'scripted' && !verifyStamp(stamp, payload)) {
    return faultOf('The wallet signature does not match the payload.');
  }
  if (signer.by === 'key') {
    if (stamp === 'scripted') return { publicKey: signer.publicKey, session: undefined };
    if (stamp.publicKey !== signer.publicKey) {
      return faultOf(
        'The wallet signature was created with a different key from the one that was sent.',
      );
    }
    return { publicKey: stamp.publicKey, session: undefined };
  }
  const sessions = (await Promise.all(signer.accounts.map((id) => sessionsOf(ctx, id)))).flat();
  const session =
    stamp === 'scripted'
      ? sessions.find((row) => !sessionRestriction(signer, row))
      : sessions.find((row) => row.public_key === stamp.publicKey);
  // Existing clients send the scripted stamp without a session.
  if (!session && stamp === 'scripted') return { publicKey: '', session };
  if (!session)
    return faultOf(
      'The wallet signature does not belong to an active session that may sign this request.',
    );
  const restriction = sessionRestriction(signer, session);
  if (restriction)
    return faultOf(
      `The wallet signature belongs to a session that may not sign this request, because ${restriction}.`,
    );
  // If the session is revoked concurrently, the operation is retried.
  ctx.require(walletSessions, session);
  return { publicKey: session.public_key, session };
}
