// The world `stablecoins`: provider accounts, tokens and their use by the service in each status.
import { advance, setStatus } from './builders.ts';
import type { Step } from './step.ts';

const LINKS = [
  ['linked', '000'],
  ['invalid', '003'],
  ['revoked', '004'],
] as const;

const link = ([name, suffix]: (typeof LINKS)[number]): Step => ({
  name: `${name}New`,
  operationId: 'linkStablecoinProviderAccount',
  body: { provider: 'BRALE', apiClientId: name, apiClientSecret: `${name}-secret-${suffix}` },
});

/** The suffix of `providerTokenIdentifier` selects the outcome. */
const COINS = [
  ['provisioned', '000'],
  ['provisioning', '001'],
  ['rejected', '002'],
  ['failed', '003'],
  ['pendingApproval', '010'],
  ['enabled', '006'],
  ['disabled', '011'],
  ['pendingReview', '005'],
] as const;

const coin = (name: string, suffix: string, account: string): Step => ({
  name: `${name}New`,
  operationId: 'registerStablecoin',
  body: {
    providerTokenIdentifier: `${name.toLowerCase()}-${suffix}`,
    networkTokenIdentifier: `btkn1${name.toLowerCase()}${suffix}x`,
    network: 'SPARK',
    stablecoinProviderAccountId: `$${account}New.id`,
  },
});

export const STABLECOINS: Step[] = [
  ...LINKS.map(link),
  ...COINS.map(([name, suffix]) => coin(name, suffix, 'linked')),
  // The provider rejects the credentials of these accounts.
  ...['invalid', 'revoked'].map((name) => ({
    ...coin(`${name}Coin`, '000', name),
    mayBeRejected: true,
  })),
  ...['pendingApproval', 'enabled'].map((name) => ({
    operationId: 'requestStablecoinServiceEnablement',
    params: { stablecoinId: `$${name}New.id` },
  })),
  setStatus('$provisioningNew.id', 'ENABLING'),
  setStatus('$disabledNew.id', 'ENABLING'),
  setStatus('$disabledNew.id', 'DISABLED'),
  // The provider enables the token.
  advance('PT1S'),
  ...LINKS.map(([name]) => ({
    name,
    operationId: 'getStablecoinProviderAccount',
    params: { stablecoinProviderAccountId: `$${name}New.id` },
  })),
  ...COINS.map(([name]) => ({
    name,
    operationId: 'getStablecoin',
    params: { stablecoinId: `$${name}New.id` },
  })),
];
