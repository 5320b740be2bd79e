// Keys in custody over the protocol.

import { CustodyKey, CustodySignature } from '../ports/providers/custody.ts';
import type { ProviderPort } from '../ports/providers/port.ts';
import { stampOf } from '../ports/wallets.ts';
import { type ProviderClient, QUICK_TIMEOUT_MS, requireReply } from './client.ts';

export const custodyCalls = (client: ProviderClient): ProviderPort['custody'] => ({
  async newSigner({ id: keyId }) {
    const path = '/custody/keys';
    const reply = await client.call(path, { keyId }, CustodyKey, QUICK_TIMEOUT_MS);
    const { publicKey, reference } = requireReply(reply, path);
    return { publicKey, signer: `${publicKey} ${reference}` };
  },
  async stampWith({ id: keyId, signer, payload }) {
    const path = '/custody/sign';
    const [publicKey = '', ...parts] = signer.split(' ');
    const body = { keyId, reference: parts.join(' '), payload };
    const reply = await client.call(path, body, CustodySignature, QUICK_TIMEOUT_MS);
    const { signature } = requireReply(reply, path);
    return stampOf(publicKey, signature);
  },
});
