// `wallet keys`: the public keys that the clients of embedded wallets pin, because the published
// client libraries trust another maker's keys unless they are told this installation's. They follow
// from the master key, so it is made sure first that the one at hand is the server's: wrong keys
// would look just as good.
import type { Environment } from '../../runtime/operation/context.ts';
import { loadSigningKeys } from '../../runtime/security/keys.ts';
import { record } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { walletRecoveryVerbs } from './wallet-recoveries.ts';
import { walletRowVerbs } from './wallet-rows.ts';

const ENVIRONMENTS: readonly Environment[] = ['sandbox', 'production'];

async function keys({ runtime, connectorsOf, masterKey }: System): Promise<Output> {
  await loadSigningKeys(runtime, masterKey());
  const all = ENVIRONMENTS.flatMap((environment) => {
    const { custody } = connectorsOf(environment);
    return custody ? [{ environment, ...custody.publicKeys() }] : [];
  });
  const text = all
    .map(({ environment, bundles, tokens }) =>
      record([
        ['Environment', environment],
        ['Bundles', bundles],
        ['Tokens', tokens],
      ]),
    )
    .join('\n');
  return { json: all, text: text || 'None: nobody keeps the keys of wallets here.\n' };
}

export const walletVerbs: readonly Verb[] = [
  {
    noun: 'wallet',
    verb: 'keys',
    summary: 'Show the public keys that sign bundles and tokens of embedded wallets',
    flags: {},
    run: keys,
  },
  ...walletRowVerbs,
  ...walletRecoveryVerbs,
];
