// Creates a provider for tests of the console: an adapter that executes payouts, with messages and
// a statement that differs from the ledger.
import { ok } from '../kit/app/fixtures.ts';
import { type Adapter, startAdapter } from '../kit/providers/adapter.ts';
import { bankAccount, connectBank } from '../kit/providers/bank-account.ts';
import type { OpenConsole } from './console.ts';

export const BANK = 'acme-bank';

/** The day before the first day of the installation. */
const DAY = '2026-01-04';

const writeWith =
  ({ client }: OpenConsole) =>
  async (method: string, path: string, body?: object) => {
    const reply = await client.call(method, path, { body });
    return ok(reply, reply.status === 201 ? 201 : 200);
  };

/** Reconciles a statement with a fee that is not in the ledger. */
async function reconcileUnknownFee(consoleFixture: OpenConsole, adapter: Adapter): Promise<void> {
  const bank = bankAccount(consoleFixture.app, adapter, 'EUR', 50_000_00);
  const fee = { id: 'FEE-1', direction: 'out', amount: 12_50, kind: 'fee' } as const;
  bank.dayOf(DAY).entries.push({ ...fee, at: `${DAY}T12:00:00Z` });
  const write = writeWith(consoleFixture);
  await write('POST', `/providers/${BANK}/reconcile`, { currency: 'EUR', day: DAY });
  await consoleFixture.app.settle();
}

/** Connects the provider in production, with a route for euros and one for a service. */
export async function connectedProvider(consoleFixture: OpenConsole): Promise<Adapter> {
  const adapter = await startAdapter(consoleFixture.app);
  const offer = adapter.replies['/capabilities']?.({})?.body as object;
  const additionalCapabilities = { statements: true, services: ['email'] };
  adapter.replies['/capabilities'] = () => ({ body: { ...offer, ...additionalCapabilities } });
  const write = writeWith(consoleFixture);
  await connectBank(write, adapter, BANK);
  const emailRoute = { providerId: BANK, environment: 'production', priority: 5, kind: 'email' };
  await write('POST', '/provider-routes', emailRoute);
  return adapter;
}

/**
 * Creates the provider with an applied, a contradictory and a rejected message, and a difference.
 */
export async function fillProvider(consoleFixture: OpenConsole): Promise<void> {
  const adapter = await connectedProvider(consoleFixture);
  try {
    const { id } = await consoleFixture.createPayment();
    const transfer = { state: 'settled', reference: 'BANK-7741' };
    await adapter.send(BANK, { type: 'transfer.updated', transferId: id, transfer });
    const deposit = { amount: 25_00, currency: 'EUR', paymentReference: 'RF UNKNOWN' };
    await adapter.send(BANK, { type: 'deposit.received', bankReference: 'STMT-1', ...deposit });
    await adapter.send(BANK, '[]');
    await reconcileUnknownFee(consoleFixture, adapter);
  } finally {
    await adapter.close();
  }
}
