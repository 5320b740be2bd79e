// The world `accounts`: internal accounts that are active, frozen and closed, and external accounts
// in each status.
import { accountOf, fund, germanAccount, person, setStatus } from './builders.ts';
import type { Step } from './step.ts';

const INTERNAL_ACCOUNTS = ['active', 'frozen', 'closed'] as const;

const internalAccounts = (): Step[] => [
  ...INTERNAL_ACCOUNTS.flatMap((name) => [
    person(`${name}Owner`, 'Amara Okafor'),
    accountOf(`${name}New`, `${name}Owner`, 'USD'),
  ]),
  fund('activeNew', 1_000_00),
  fund('frozenNew', 1_000_00),
  setStatus('$frozenNew.data.0.id', 'FROZEN'),
  setStatus('$closedNew.data.0.id', 'CLOSED'),
  ...INTERNAL_ACCOUNTS.map((name) => ({
    name,
    operationId: 'getInternalAccountById',
    params: { id: `$${name}New.data.0.id` },
  })),
];

/** Accounts whose status a bank or a review decides. */
const REVIEWED_ACCOUNTS = [
  ['externalActive', undefined],
  ['externalPending', 'PENDING'],
  ['externalUnderReview', 'UNDER_REVIEW'],
  ['externalInactive', 'INACTIVE'],
] as const;

const WALLETS = ['externalUnverified', 'externalToProve'] as const;

const wallet = (name: string, index: number): Step => ({
  name: `${name}New`,
  operationId: 'createCustomerExternalAccount',
  body: {
    customerId: '$activeOwner.id',
    currency: 'USDC',
    ownershipType: 'FIRST_PARTY',
    accountInfo: {
      accountType: 'ETHEREUM_WALLET',
      address: `0x${String(index).padStart(40, '1')}`,
    },
  },
});

const challenge = (name: string): Step => ({
  operationId: 'createExternalAccountOwnershipChallenge',
  params: { externalAccountId: `$${name}New.id` },
  body: { method: 'WALLET_SIGNATURE' },
});

/** A failed ownership proof changes a wallet to UNVERIFIED. */
const failedProof = (name: string): Step[] => [
  challenge(name),
  {
    operationId: 'verifyExternalAccountOwnership',
    params: { externalAccountId: `$${name}New.id` },
    body: { signature: '0x00' },
    mayBeRejected: true,
  },
];

const externalAccounts = (): Step[] => [
  ...REVIEWED_ACCOUNTS.map(([name], index) =>
    germanAccount(`${name}New`, 'activeOwner', `5320130${10 + index}`),
  ),
  ...REVIEWED_ACCOUNTS.flatMap(([name, status]) =>
    status ? [setStatus(`$${name}New.id`, status)] : [],
  ),
  ...WALLETS.map(wallet),
  ...WALLETS.flatMap(failedProof),
  challenge('externalToProve'),
  ...[...REVIEWED_ACCOUNTS.map(([name]) => name), ...WALLETS].map((name) => ({
    name,
    operationId: 'getCustomerExternalAccountById',
    params: { externalAccountId: `$${name}New.id` },
  })),
];

export const ACCOUNTS: Step[] = [...internalAccounts(), ...externalAccounts()];
