// Search for each resource by its ID, for payments and accounts by references, and for payments by
// amount.
import { accountIdOfReference } from '../../catalog/accounts/account-reference.ts';
import { agentById } from '../../features/agents/index.ts';
import { readInternalAccount } from '../../features/balances/internal-accounts/index.ts';
import { readCardDetails } from '../../features/cards/index.ts';
import { readOwner } from '../../features/customers/owners/index.ts';
import { readCustomer } from '../../features/customers/records/index.ts';
import { platformOfEventById } from '../../features/notifications/events/index.ts';
import { readExternalAccount } from '../../features/payees/external-accounts/index.ts';
import { paymentsOfBankReference } from '../../features/payments/manual/index.ts';
import { paymentsOfAmount } from '../../features/payments/monitoring/index.ts';
import { readQuote } from '../../features/payments/quotes/index.ts';
import { transactionIdOfReference } from '../../features/payments/suspense/index.ts';
import { readTransaction } from '../../features/payments/transactions/index.ts';
import { readPlatform } from '../../features/tenancy/platform/index.ts';
import { requestByOperator } from '../../features/tenancy/requests/index.ts';
import { Fault, isUnavailable } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import type { Hit, HitKind, MatchedBy } from './search-hits.ts';

interface OwnedResource {
  id: string;
  platform_id: string;
  customer_id?: string | null;
}

type FoundResource = (OwnedResource & { title: string }) | undefined;

/** Undefined if the resource does not exist. */
async function readOrUndefined<R>(reading: Promise<R>): Promise<R | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Fault && !isUnavailable(error)) return undefined;
    throw error;
  }
}

const readPayment =
  (resource: 'Transaction' | 'CardTransaction') =>
  async ({ db }: Runtime, id: string): Promise<FoundResource> => {
    const row = isId(id, resource) ? await readTransaction(db, id) : undefined;
    return row && { ...row, title: `${row.type} payment, ${row.status}` };
  };

/** Readers by ID prefix. */
const RESOURCES: Readonly<
  Record<string, { kind: HitKind; read(runtime: Runtime, id: string): Promise<FoundResource> }>
> = {
  Customer: {
    kind: 'CUSTOMER',
    async read({ db }, id) {
      const row = await readCustomer(db, id);
      return row && { ...row, customer_id: row.id, title: `${row.type} customer, ${row.status}` };
    },
  },
  BeneficialOwner: {
    kind: 'BENEFICIAL_OWNER',
    async read({ db }, id) {
      const row = await readOwner(db, id);
      return row && { ...row, title: `Beneficial owner, ${row.status}` };
    },
  },
  Transaction: { kind: 'PAYMENT', read: readPayment('Transaction') },
  CardTransaction: { kind: 'PAYMENT', read: readPayment('CardTransaction') },
  Quote: {
    kind: 'QUOTE',
    async read({ db }, id) {
      const row = await readQuote(db, id);
      const title = `Quote, ${row?.sending_currency} to ${row?.receiving_currency}`;
      return row && { ...row, title };
    },
  },
  InternalAccount: {
    kind: 'INTERNAL_ACCOUNT',
    async read({ db }, id) {
      const row = await readInternalAccount(db, id);
      return row && { ...row, title: `Internal account, ${row.currency}` };
    },
  },
  ExternalAccount: {
    kind: 'EXTERNAL_ACCOUNT',
    async read({ db }, id) {
      const row = await readExternalAccount(db, id);
      return row && { ...row, title: `${row.account_type}, ${row.status}` };
    },
  },
  Card: {
    kind: 'CARD',
    async read(runtime, id) {
      const card = await readOrUndefined(readCardDetails(runtime, id));
      const owner = card && { platform_id: card.platformId, customer_id: card.cardholderId };
      return card && owner && { id: card.id, ...owner, title: `Card, ${card.state}` };
    },
  },
  Agent: {
    kind: 'AGENT',
    async read({ db }, id) {
      const row = await readOrUndefined(agentById(db, id));
      return row && { ...row, title: 'Agent' };
    },
  },
  Webhook: {
    kind: 'EVENT',
    async read(runtime, id) {
      const platformId = await platformOfEventById(runtime, id);
      return platformId === undefined ? undefined : { id, platform_id: platformId, title: 'Event' };
    },
  },
  PlatformConfig: {
    kind: 'PLATFORM',
    async read({ db }, id) {
      const row = await readPlatform(db, id);
      return row && { id, platform_id: id, title: `Platform, ${row.environment}` };
    },
  },
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function hitOf(runtime: Runtime, id: string, matchedBy: MatchedBy): Promise<Hit[]> {
  const resource = RESOURCES[id.slice(0, id.indexOf(':'))];
  const row = await resource?.read(runtime, id);
  if (!resource || !row) return [];
  return [
    {
      kind: resource.kind,
      id: row.id,
      platformId: row.platform_id,
      customerId: row.customer_id ?? null,
      title: row.title,
      matchedBy,
    },
  ];
}

async function requestHit(runtime: Runtime, id: string): Promise<Hit[]> {
  const request = await readOrUndefined(requestByOperator(runtime, id));
  if (!request) return [];
  const { platformId, method, status } = request;
  const title = `Request ${method}, ${status}`;
  return [{ kind: 'REQUEST', id, platformId, customerId: null, title, matchedBy: 'ID' }];
}

/** Resources with this ID, or with this UUID after the prefix. */
export async function hitsById(runtime: Runtime, text: string): Promise<Hit[]> {
  const uuid = text.slice(text.indexOf(':') + 1).toLowerCase();
  if (!UUID.test(uuid)) return [];
  if (text.includes(':')) {
    return hitOf(runtime, `${text.slice(0, text.indexOf(':'))}:${uuid}`, 'ID');
  }
  const ids = Object.keys(RESOURCES).map((resource) => `${resource}:${uuid}`);
  const hits = await Promise.all([
    requestHit(runtime, uuid),
    ...ids.map((id) => hitOf(runtime, id, 'ID')),
  ]);
  return hits.flat();
}

/** Executed payments of an amount, newest first. */
export async function hitsByAmount(
  runtime: Runtime,
  query: Parameters<typeof paymentsOfAmount>[1],
): Promise<Hit[]> {
  const ids = await paymentsOfAmount(runtime, query);
  return (await Promise.all(ids.map((id) => hitOf(runtime, id, 'AMOUNT')))).flat();
}

/** The payment or the internal account of a reference on a bank statement. */
export async function hitsByReference(runtime: Runtime, text: string): Promise<Hit[]> {
  const reference = text.replaceAll(/[\s-]/g, '').toUpperCase();
  const id = transactionIdOfReference(reference) ?? accountIdOfReference(reference);
  return id === undefined ? [] : hitOf(runtime, id, 'REFERENCE');
}

/** Payments with a result or a deposit under this reference of a bank. */
export async function hitsByBankReference(
  runtime: Runtime,
  text: string,
  limit: number,
): Promise<Hit[]> {
  const ids = await paymentsOfBankReference(runtime.db, text, limit);
  return (await Promise.all(ids.map((id) => hitOf(runtime, id, 'BANK_REFERENCE')))).flat();
}
