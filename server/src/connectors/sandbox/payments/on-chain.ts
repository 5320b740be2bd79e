// The movement on a chain that a sandbox payout to a wallet would have made: a hash of the form that
// the chain has, always the same for the same payment, and found on no chain.
import { base58 } from '@scure/base';
import { networkOf } from '../../../catalog/accounts/account-info.ts';
import type { OnChain, RailInstruction } from '../../ports/index.ts';
import { bytesOf } from './coordinates.ts';

const hex = (id: string) => bytesOf(id, 'transaction hash').toString('hex');

/** A Solana signature has 64 bytes. */
const solana = (id: string) =>
  base58.encode(Buffer.concat([bytesOf(id, 'transaction r'), bytesOf(id, 'transaction s')]));

const HASH: Readonly<Record<string, (id: string) => string>> = {
  BITCOIN: hex,
  SPARK: hex,
  TRON: hex,
  SOLANA: solana,
  ETHEREUM: (id) => `0x${hex(id)}`,
  BASE: (id) => `0x${hex(id)}`,
  POLYGON: (id) => `0x${hex(id)}`,
  PLASMA: (id) => `0x${hex(id)}`,
};

/** Undefined where no chain is involved, or one that the API has no name for. */
export function onChainOf({ id, kind, account }: RailInstruction): OnChain | undefined {
  const network = kind === 'payout' ? networkOf(account) : undefined;
  const hash = network === undefined ? undefined : HASH[network];
  return network !== undefined && hash ? { transactionHash: hash(id), network } : undefined;
}
