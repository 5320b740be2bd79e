// Checks of a key rotation: during the overlap the adapter accepts both keys of Railhead, each only
// with its own key ID.
import type { Check, CheckGroup } from '../check.ts';
import type { Session } from '../session.ts';
import { failure } from '../verdict.ts';

const REMEDY =
  'Accept every current key of Railhead, selected by `keyid`. In a session these are ' +
  'railhead.pub.pem and railhead-next.pub.pem.';

async function assertAccepted(session: Session, key: 'key' | 'nextKey'): Promise<string> {
  const { status } = await session.call(
    '/capabilities',
    {},
    {
      key: session.context[key],
    },
  );
  if (status !== 200) throw failure(`status ${status}`);
  return 'status 200';
}

const checks: readonly Check[] = [
  {
    name: 'rotation.next-key',
    action: 'a call is signed with the next key',
    expected: 'status 200',
    remedy: REMEDY,
    run: (session) => assertAccepted(session, 'nextKey'),
  },
  {
    name: 'rotation.current-key',
    action: 'a call is signed with the current key, after a call with the next key',
    expected: 'status 200: the keys overlap',
    remedy: REMEDY,
    async run(session) {
      await assertAccepted(session, 'nextKey');
      return assertAccepted(session, 'key');
    },
  },
  {
    name: 'rotation.key-of-id',
    action: 'a call has the ID of the next key and a signature of the current key',
    expected: 'status 401',
    remedy: 'Verify a signature with the key of its `keyid` only.',
    async run(session) {
      const { key, nextKey } = session.context;
      const mixedKey = { keyId: nextKey.keyId, privateKey: key.privateKey };
      const { status } = await session.call('/capabilities', {}, { key: mixedKey });
      if (status !== 401) throw failure(`status ${status}`);
      return 'status 401';
    },
  },
];

export const rotationChecks: CheckGroup = {
  applies: () => true,
  phase: 'sequential',
  checks,
};
