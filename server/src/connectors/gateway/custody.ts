// Keys in custody over the protocol.

import { CustodyKey, CustodySignature } from '../ports/providers/custody.ts';
import type { ProviderPort } from '../ports/providers/port.ts';
import { stampOf } from '../ports/wallets.ts';
import { type ProviderClient, QUICK_TIMEOUT_MS } from './client.ts';

export const custodyCalls = (client: ProviderClient): ProviderPort['custody'] => ({
  async newSigner({ id: keyId }) {
    const reply = await client.call('/custody/keys', { keyId }, CustodyKey, QUICK_TIMEOUT_MS);
    const { publicKey, reference } = reply;
    return { publicKey, signer: `${publicKey} ${reference}` };
  },
  async stampWith({ id: keyId, signer, payload }) {
    const [publicKey = '', ...referenceWords] = signer.split(' ');
    const body = { keyId, reference: referenceWords.join(' '), payload };
    const reply = await client.call('/custody/sign', body, CustodySignature, QUICK_TIMEOUT_MS);
    return stampOf(publicKey, reply.signature);
  },
});
