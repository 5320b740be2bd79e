// Replaces the IDs in recorded requests by IDs of the sample customer, so that the requests succeed
// unchanged on a new server.
import { SAMPLE } from './customer.ts';

type Json = Record<string, unknown>;

export interface SampleIds {
  customer: string;
  umaAddress: string;
  /** Internal accounts by currency. */
  balances: ReadonlyMap<string, string>;
  /** External accounts by currency. */
  external: ReadonlyMap<string, string>;
  /** Other resources by type of their IDs, and `ownBank`, an external account of the platform. */
  otherResources: Readonly<Record<string, string | undefined>>;
}

const fromTo = (source: string, destination: string) => ({
  'source.accountId': source,
  'destination.accountId': destination,
});

/** Accounts and addresses that examples need: operation, example and field → account or address. */
const ACCOUNTS: Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>
> = {
  createQuote: {
    'balance-to-bank': fromTo('balance USD', 'external EUR'),
    'balance-to-balance': fromTo('balance USD', 'balance EUR'),
    'balance-to-mexico': fromTo('balance USD', 'external MXN'),
    'balance-to-wallet': fromTo('balance USD', 'external USDC'),
    'debit-to-bank': fromTo('external USD', 'external EUR'),
    'by-ach': fromTo('balance USD', 'external USD'),
  },
  createTransferIn: { 'bank-to-balance': fromTo('external USD', 'balance USD') },
  createTransferOut: { 'balance-to-bank': fromTo('balance USD', 'external USD') },
  createInvitation: { 'with-a-gift': { inviterUma: 'UMA address' } },
  estimateCryptoWithdrawalFee: { 'usdc-on-base': { internalAccountId: 'balance USDC' } },
};

/** Operations whose parameter is an external account of the platform, not of a customer. */
const OWN_BANK = new Set(['getPlatformExternalAccountById']);

const EXAMPLE_ID = /^[A-Za-z]+:019b8d60-[0-9a-f-]+$/;

/** ID of an account of the sample, such as `balance USD`. */
function accountOf(
  account: string,
  { balances, external, umaAddress }: SampleIds,
): string | undefined {
  if (account === 'UMA address') return umaAddress;
  const [kind, currency = ''] = account.split(' ');
  return (kind === 'balance' ? balances : external).get(currency);
}

/** A value in which every ID of the examples is replaced by the ID of the sample with its type. */
function replaceIds(value: unknown, ids: SampleIds): unknown {
  if (Array.isArray(value)) return value.map((each) => replaceIds(each, ids));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, replaceIds(each, ids)]),
    );
  if (typeof value !== 'string' || !EXAMPLE_ID.test(value)) return value;
  const idsByType: Readonly<Record<string, string | undefined>> = {
    ...ids.otherResources,
    Customer: ids.customer,
    InternalAccount: accountOf('balance USD', ids),
    ExternalAccount: accountOf('external EUR', ids),
  };
  return idsByType[value.slice(0, value.indexOf(':'))] ?? value;
}

/** The value of a parameter with the ID of the sample. */
export function parameterWithIds(
  { operationId, name, value }: { operationId: string; name: string; value: unknown },
  ids: SampleIds,
): unknown {
  if (name === 'platformCustomerId') return SAMPLE;
  const { ownBank } = ids.otherResources;
  if (ownBank && OWN_BANK.has(operationId)) return ownBank;
  return replaceIds(value, ids);
}

/** The body of an example with IDs of the sample. */
export function bodyWithIds(
  { operationId, name, body }: { operationId: string; name: string; body: unknown },
  ids: SampleIds,
): unknown {
  const replacedBody = replaceIds(body, ids);
  for (const [field, account] of Object.entries(ACCOUNTS[operationId]?.[name] ?? {})) {
    const parents = field.split('.');
    const key = parents.pop() as string;
    const parent = parents.reduce((value, each) => value[each] as Json, replacedBody as Json);
    parent[key] = accountOf(account, ids) ?? parent[key];
  }
  return replacedBody;
}
