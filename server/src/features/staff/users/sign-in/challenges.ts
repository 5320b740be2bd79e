// Challenges of a sign-in. The client keeps the sealed state between its two requests, so that requests
// without a credential store no data. A state belongs to one owner (a browser, a link or a session), expires
// after ten minutes, and can be used once.
import type { Time } from '../../../../kernel/effects.ts';
import { type Fault, invalidField } from '../../../../kernel/fault.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import type { Runtime } from '../../../../runtime/operation/operate.ts';
import { randomText, sha256Hex } from '../../../../runtime/security/crypto.ts';
import { usedChallenges } from './store.ts';

const STATE_MS = 10 * 60_000;
const CONTEXT = 'operator sign-in state';

type Purpose = 'sign-in' | 'passkey' | 'totp' | 'identity provider';

export interface Challenge {
  /** base64url. */
  challenge: string;
  /** Data for the second request. */
  data: Readonly<Record<string, string>>;
}

interface State extends Challenge {
  purpose: Purpose;
  owner: string;
  expiresAt: Time;
}

/** A new challenge and its state, which the second request returns. */
export function issueChallenge(
  { vault, effects }: Pick<Runtime, 'vault' | 'effects'>,
  purpose: Purpose,
  owner: string,
  data: Challenge['data'] = {},
): { challenge: string; state: string } {
  const challenge = randomText(effects, '');
  const expiresAt = effects.now() + STATE_MS;
  const content: State = { purpose, owner, challenge, data, expiresAt };
  return { challenge, state: vault.sealOwn(JSON.stringify(content), CONTEXT) };
}

const invalidStateFault = (): Fault =>
  invalidField(
    'state',
    'has expired, or belongs to another browser or purpose. Begin the sign-in again',
  );

/** The challenge of a state. Throws INVALID_INPUT. */
export function openChallenge(
  { vault, effects }: Pick<Runtime, 'vault' | 'effects'>,
  purpose: Purpose,
  owner: string,
  text: string,
): Challenge {
  let state: State;
  try {
    state = JSON.parse(vault.openOwn(text, CONTEXT).toString()) as State;
  } catch {
    throw invalidStateFault();
  }
  const isValid =
    state.purpose === purpose && state.owner === owner && state.expiresAt > effects.now();
  if (!isValid) throw invalidStateFault();
  return state;
}

/** Stages the use of a challenge. The commit fails with CONFLICT if it was used before. */
export function stageUse(ctx: Ctx, { challenge }: Challenge): void {
  ctx.insert(usedChallenges, { id: sha256Hex(challenge), created_at: ctx.now });
}
