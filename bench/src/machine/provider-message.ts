// A card authorization as a signed message of a provider, for rows 7d to 7f. The private key exists
// in the process only. The database lists the cards that the provider issues. For row 7d the
// provider itself exists in the process only.
import { generateKeyPairSync } from 'node:crypto';
import type { CardDecision, CardRequest } from '../../../server/src/connectors/ports/cards.ts';
import type { CardAnswer } from '../../../server/src/connectors/ports/providers/cards.ts';
import type { Provider } from '../../../server/src/features/providers/index.ts';
import {
  type SignableRequest,
  signRequest,
} from '../../../server/src/kernel/crypto/http-signatures.ts';
import { iso } from '../../../server/src/kernel/effects.ts';
import { systemEffects } from '../../../server/src/runtime/config/system-effects.ts';
import { keyIdOf, pemOf } from '../../../server/src/runtime/security/keys.ts';

/** Name of the provider that issues the cards. */
export const BENCH_PROVIDER = 'bench';
/** Time for a decision, longer than the timeout of a terminal, as in the other rows. */
const ANSWER_WITHIN_MS = 10_000;

const effects = systemEffects();

/** `origin` is the origin of the URL that receives the messages. */
export function createProvider(origin = 'http://localhost') {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const keyId = keyIdOf(pemOf(privateKey));
  const publicKeys = new Map([[keyId, publicKey]]);
  // Only the fields that a received message needs.
  const provider = {
    row: { id: BENCH_PROVIDER, environment: 'sandbox', status: 'ACTIVE' },
    publicKeys: () => publicKeys,
  } as unknown as Provider;

  /** The signed request of a message. */
  async function signMessage(request: CardRequest): Promise<SignableRequest> {
    const { id, token, cardId, amount, currency, merchant } = request;
    const body = JSON.stringify({
      ...{ id, occurredAt: iso(effects.now()), type: 'card.authorization' },
      ...{ cardId, authorizationId: token, amount: Number(amount), currency, merchant },
      answerWithinMs: ANSWER_WITHIN_MS,
    });
    const unsignedMessage = {
      method: 'POST',
      url: `${origin}/connectors/${BENCH_PROVIDER}`,
      headers: { host: new URL(origin).host, 'content-type': 'application/json' },
      body,
    };
    const headers = await signRequest({ keyId, privateKey }, unsignedMessage, effects.now());
    return { ...unsignedMessage, headers };
  }
  return { provider, publicKeys, publicKeyPem: pemOf(privateKey), signMessage };
}

/** The decision in the response to a message. */
export function decisionOf(answer: CardAnswer | undefined): CardDecision {
  if (answer?.decision === 'APPROVED') return { approved: true };
  return { approved: false, reason: answer?.reason ?? 'CARD_NOT_ACTIVE' };
}
