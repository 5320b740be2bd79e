// The conformance kit detects each fault of an adapter by the check for this fault, and reports no
// failure of a correct adapter.
import { createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { callsTo } from '../../src/conformance/calls.ts';
import { type Inbox, openInbox } from '../../src/conformance/inbox.ts';
import { newSignatureKey } from '../../src/conformance/keys.ts';
import { runChecks } from '../../src/conformance/run.ts';
import { systemEffects } from '../../src/runtime/config/system-effects.ts';
import { pemOf } from '../../src/runtime/security/keys.ts';
import { FAULTS, type Fault, simulatedProvider } from '../kit/providers/simulated-provider.ts';

const effects = systemEffects();

/** Runs the checks whose names have one of the prefixes. Without prefixes, all checks. */
async function checkProvider(fault?: Fault, ...prefixes: string[]) {
  const [key, railhead] = [newSignatureKey(effects), newSignatureKey(effects)];
  const nextKey = newSignatureKey(effects);
  const publicKeys = new Map([[key.keyId, createPublicKey(pemOf(key.privateKey))]]);
  const inbox: Inbox = await openInbox(effects, { name: 'acme-bank', port: 0, publicKeys });
  const options = { key, railhead, next: nextKey, inbox: inbox.url };
  const provider = simulatedProvider(fault ? { ...options, fault } : options);
  const calls = callsTo(effects, await provider.start(), railhead);
  const deps = {
    ...{ effects, calls, inbox, key: railhead, otherKey: newSignatureKey(effects), nextKey },
    ...{ settings: {}, waitMs: 2_500, quietMs: 300, kill: provider.kill },
    start: async () => void (await provider.start()),
  };
  try {
    return await runChecks(deps, {
      isSelected: (name) =>
        prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix)),
    });
  } finally {
    await provider.kill();
    await inbox.close();
  }
}

describe('the conformance kit', () => {
  it('reports no failure of a correct adapter', async () => {
    const results = await checkProvider();
    expect(results.filter(({ verdict }) => verdict !== 'passed')).toEqual([]);
    const names = results.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(Object.values(FAULTS)));
  }, 60_000);

  // The checks mostly wait for messages.
  it.concurrent.each(Object.entries(FAULTS) as [Fault, string][])(
    'detects an adapter that %s, by the check %s',
    async (fault, check) => {
      const [group = ''] = check.split('.');
      const results = await checkProvider(fault, group, 'messages.received');
      const failedChecks = results.filter(({ verdict }) => verdict === 'failed');
      expect(failedChecks.map(({ name }) => name)).toContain(check);
      const result = failedChecks.find(({ name }) => name === check);
      expect(result?.remedy).toMatch(/\w+/);
      expect(result?.actual).not.toBe('');
    },
    60_000,
  );
});
