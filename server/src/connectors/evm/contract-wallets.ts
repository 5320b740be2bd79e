// Verifies signatures of contract wallets through the JSON-RPC of a node that the operator
// configured, one for each chain. The calls are read-only. If a node is unavailable or faulty, an
// error is thrown and the caller can retry.
import type { Effects } from '../../kernel/effects.ts';
import type { ContractWalletPort } from '../ports/index.ts';
import { callData, verdictOf } from './eip1271.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 65_536;

/** `ETHEREUM_WALLET` is verified at `urls.ETHEREUM`. */
const chainOf = (accountType: string): string => accountType.replace(/_WALLET$/, '');

export function contractWallets(
  effects: Effects,
  urls: Readonly<Record<string, string>>,
): ContractWalletPort {
  return {
    reaches: (accountType) => Object.hasOwn(urls, chainOf(accountType)),
    async approves({ accountType, address, digest, signature }) {
      const url = urls[chainOf(accountType)];
      if (url === undefined) throw new Error(`no node is configured for ${accountType}`);
      const call = { to: address.toLowerCase(), data: callData(digest, signature) };
      const request = { jsonrpc: '2.0', id: 1, method: 'eth_call', params: [call, 'latest'] };
      const reply = await effects.http({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        publicOnly: false,
      });
      const verdict = verdictOf(reply.body);
      if (verdict === undefined)
        throw new Error(`the node responded with ${reply.status} and without a result`);
      return verdict;
    },
  };
}
