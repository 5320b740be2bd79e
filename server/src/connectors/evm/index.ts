// Contract wallets on EVM chains, one node for each chain.
import { Type } from '@sinclair/typebox';
import { serviceSetting } from '../../kernel/settings.ts';
import { defineConnector } from '../connector.ts';
import { contractWallets } from './contract-wallets.ts';

const node = (chain: string) =>
  Type.Optional(
    serviceSetting({
      env: `RAILHEAD_RPC_${chain}`,
      flag: `rpc-${chain.toLowerCase()}`,
      help: `JSON-RPC URL of a node of the chain ${chain}, for the verification of contract wallets`,
      secret: true,
    }),
  );

export const evm = defineConnector({
  name: 'evm',
  description: 'Verifies signatures of contract wallets at nodes of EVM chains.',
  modes: ['sandbox', 'production'],
  settings: Type.Object({
    rpcUrls: Type.Object(
      {
        ETHEREUM: node('ETHEREUM'),
        BASE: node('BASE'),
        POLYGON: node('POLYGON'),
        PLASMA: node('PLASMA'),
        ARBITRUM: node('ARBITRUM'),
      },
      { default: {}, description: 'Nodes by chain.' },
    ),
  }),
  capabilities: ['contractWallets'],
  // The call has no circuit breaker. Clients choose the contract, so a failed call does not
  // indicate a faulty node. The contract of one client must not block the verification of others.
  open: ({ effects }, { rpcUrls }) => ({ contractWallets: contractWallets(effects, rpcUrls) }),
});
