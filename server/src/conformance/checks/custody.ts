// Checks of custody: one key for each ID, and signatures by this key.
import { verify } from 'node:crypto';
import { CustodyKey, CustodySignature } from '../../connectors/ports/providers/custody.ts';
import { p256PublicKey } from '../../kernel/crypto/p256.ts';
import { uuid7 } from '../../kernel/id.ts';
import type { CheckGroup } from '../check.ts';
import type { Session } from '../session.ts';
import { failure } from '../verdict.ts';

const newId = ({ context }: Session) => `DelegatedKey:${uuid7(context.effects)}`;
const keyOf = (session: Session, keyId: string) =>
  session.read('/custody/keys', { keyId }, CustodyKey);

export const custodyChecks: CheckGroup = {
  applies: ({ services = [] }) => services.includes('custody'),
  phase: 'parallel',
  checks: [
    {
      name: 'custody.same-key',
      action: 'a key is requested three times, twice concurrently',
      expected: 'the same public key and reference',
      remedy: 'Store the key by keyId before the response, and return it to later calls.',
      async run(session) {
        const keyId = newId(session);
        const firstKeys = await Promise.all([keyOf(session, keyId), keyOf(session, keyId)]);
        const keys = [...firstKeys, await keyOf(session, keyId)].map((each) =>
          JSON.stringify(each),
        );
        if (new Set(keys).size > 1) throw failure('several keys');
        return 'one key';
      },
    },
    {
      name: 'custody.own-key',
      action: 'the keys of two IDs are compared',
      expected: 'different keys',
      remedy: 'Generate a key for each keyId.',
      async run(session) {
        const [firstKey, secondKey] = [
          await keyOf(session, newId(session)),
          await keyOf(session, newId(session)),
        ];
        if (firstKey.publicKey === secondKey.publicKey) throw failure('the same key');
        return 'different';
      },
    },
    {
      name: 'custody.signature',
      action: 'a payload with characters outside of ASCII is signed',
      expected: 'a signature of this key over the payload in UTF-8',
      remedy:
        'Sign the SHA-256 digest of the UTF-8 text with ECDSA, and return DER in hexadecimal.',
      async run(session) {
        const keyId = newId(session);
        const { publicKey, reference } = await keyOf(session, keyId);
        const payload = JSON.stringify({ amount: '1234', note: 'Zürich €' });
        const body = { keyId, reference, payload };
        const { signature } = await session.read('/custody/sign', body, CustodySignature);
        const bytes = Buffer.from(signature, 'hex');
        if (!verify('sha256', Buffer.from(payload), p256PublicKey(publicKey), bytes)) {
          throw failure('the signature does not match');
        }
        return 'valid';
      },
    },
    {
      name: 'custody.unknown',
      action: 'a signature with a key that was never generated is requested',
      expected: 'status 404',
      remedy: 'Return 404 from /custody/sign unless the key is stored.',
      async run(session) {
        const body = { keyId: newId(session), reference: 'unknown', payload: 'text' };
        const { status } = await session.call('/custody/sign', body);
        if (status !== 404) throw failure(`status ${status}`);
        return 'status 404';
      },
    },
  ],
};
