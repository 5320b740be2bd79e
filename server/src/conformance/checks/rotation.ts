// Checks of a key rotation: during the overlap the adapter accepts both keys of Railhead, and no other.
import type { Check, CheckGroup } from '../check.ts';
import type { Trial } from '../trial.ts';
import { problem } from '../verdict.ts';

const REMEDY =
  'Accept every current key of Railhead, selected by `keyid`. In a trial these are ' +
  'railhead.pub.pem and railhead-next.pub.pem.';

async function accepts(trial: Trial, key: 'key' | 'nextKey'): Promise<string> {
  const { status } = await trial.call(
    '/capabilities',
    {},
    {
      key: trial.parts[key],
    },
  );
  if (status !== 200) throw problem(`status ${status}`);
  return 'status 200';
}

const both: readonly Check[] = [
  {
    name: 'rotation.next-key',
    tried: 'a call that is signed with the next key',
    expected: 'status 200',
    remedy: REMEDY,
    run: (trial) => accepts(trial, 'nextKey'),
  },
  {
    name: 'rotation.current-key',
    tried: 'a call that is signed with the current key, after one with the next key',
    expected: 'status 200: the keys overlap',
    remedy: REMEDY,
    async run(trial) {
      await accepts(trial, 'nextKey');
      return accepts(trial, 'key');
    },
  },
  {
    name: 'rotation.key-of-id',
    tried: 'the ID of the next key with a signature of the current key',
    expected: 'status 401',
    remedy: 'Verify a signature with the key of its `keyid` only.',
    async run(trial) {
      const { key, nextKey } = trial.parts;
      const mixed = { keyId: nextKey.keyId, privateKey: key.privateKey };
      const { status } = await trial.call('/capabilities', {}, { key: mixed });
      if (status !== 401) throw problem(`status ${status}`);
      return 'status 401';
    },
  },
];

export const rotationChecks: CheckGroup = { applies: () => true, when: 'alone', checks: both };
