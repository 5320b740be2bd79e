// `keys show`: the public keys that verify webhooks. Needs no secret.
import { iso } from '../../kernel/effects.ts';
import { publicKeys } from '../../runtime/security/keys.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

async function show({ runtime }: System): Promise<Output> {
  const keys = (await publicKeys(runtime.db)).map(({ createdAt, retiredAt, ...key }) => ({
    ...key,
    createdAt: iso(createdAt),
    ...(retiredAt === null ? {} : { retiredAt: iso(retiredAt) }),
  }));
  const text = keys
    .map(
      (key) =>
        `${key.environment}, ${key.algorithm}, ${key.status}, since ${key.createdAt}\n${key.publicKeyPem}`,
    )
    .join('\n');
  return { json: keys, text: text || 'None yet: the first start of the server generates them.\n' };
}

export const keysVerbs: readonly Verb[] = [
  {
    noun: 'keys',
    verb: 'show',
    summary: 'Show the public keys that verify webhooks',
    flags: {},
    run: show,
  },
];
