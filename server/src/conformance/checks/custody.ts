// Checks of custody: one key for each ID, and signatures that this key has made.
import { verify } from 'node:crypto';
import { CustodyKey, CustodySignature } from '../../connectors/ports/providers/custody.ts';
import { p256PublicKey } from '../../kernel/crypto/p256.ts';
import { uuid7 } from '../../kernel/id.ts';
import type { CheckGroup } from '../check.ts';
import type { Trial } from '../trial.ts';
import { problem } from '../verdict.ts';

const newId = ({ parts }: Trial) => `DelegatedKey:${uuid7(parts.effects)}`;
const keyOf = (trial: Trial, keyId: string) => trial.read('/custody/keys', { keyId }, CustodyKey);

export const custodyChecks: CheckGroup = {
  applies: ({ services = [] }) => services.includes('custody'),
  when: 'together',
  checks: [
    {
      name: 'custody.same-key',
      tried: 'a key is requested three times, twice at once',
      expected: 'the same public key and reference',
      remedy: 'Store the key by keyId before the call is answered, and return it to later calls.',
      async run(trial) {
        const keyId = newId(trial);
        const first = await Promise.all([keyOf(trial, keyId), keyOf(trial, keyId)]);
        const keys = [...first, await keyOf(trial, keyId)].map((each) => JSON.stringify(each));
        if (new Set(keys).size > 1) throw problem('several keys');
        return 'one key';
      },
    },
    {
      name: 'custody.own-key',
      tried: 'the keys of two IDs are compared',
      expected: 'different keys',
      remedy: 'Generate a key for each keyId.',
      async run(trial) {
        const [one, other] = [await keyOf(trial, newId(trial)), await keyOf(trial, newId(trial))];
        if (one.publicKey === other.publicKey) throw problem('the same key');
        return 'different';
      },
    },
    {
      name: 'custody.signature',
      tried: 'a payload with characters outside of ASCII is signed',
      expected: 'a signature of this key over the payload in UTF-8',
      remedy:
        'Sign the SHA-256 digest of the UTF-8 text with ECDSA, and return DER in hexadecimal.',
      async run(trial) {
        const keyId = newId(trial);
        const { publicKey, reference } = await keyOf(trial, keyId);
        const payload = JSON.stringify({ amount: '1234', note: 'Zürich €' });
        const body = { keyId, reference, payload };
        const { signature } = await trial.read('/custody/sign', body, CustodySignature);
        const bytes = Buffer.from(signature, 'hex');
        if (!verify('sha256', Buffer.from(payload), p256PublicKey(publicKey), bytes)) {
          throw problem('the signature does not match');
        }
        return 'valid';
      },
    },
    {
      name: 'custody.unknown',
      tried: 'a signature with a key that was never generated',
      expected: 'status 404',
      remedy: 'Return 404 from /custody/sign unless the key is stored.',
      async run(trial) {
        const body = { keyId: newId(trial), reference: 'unknown', payload: 'text' };
        const { status } = await trial.call('/custody/sign', body);
        if (status !== 404) throw problem(`status ${status}`);
        return 'status 404';
      },
    },
  ],
};
