// The other tenant during the attacks. It pays continuously. Each of its requests must succeed.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BASE, type Call, createCall, expectSuccess, type Tenant } from './target/tenants.ts';

interface Payer {
  usdAccountId: string;
  externalAccountId: string;
}

export interface Payments {
  paymentCount: number;
  failures: string[];
  /** Milliseconds of each request. */
  latencies: number[];
}

export const newPayments = (): Payments => ({ paymentCount: 0, failures: [], latencies: [] });

const encode = encodeURIComponent;

/** A funded customer of the victim and an account to pay to. */
export async function createPayer(call: Call, { authorization }: Tenant): Promise<Payer> {
  const post = (path: string, body: object) =>
    expectSuccess(call('POST', BASE + path, authorization, body));
  const person = await post('/customers', {
    ...{ customerType: 'INDIVIDUAL', fullName: 'Amara Okafor', birthDate: '1990-01-15' },
    nationality: 'US',
    address: {
      ...{ line1: '1 Main St', city: 'Austin', state: 'TX', postalCode: '78701', country: 'US' },
    },
  });
  const path = `${BASE}/customers/internal-accounts?customerId=${encode(person.id)}&currency=USD`;
  const { data } = await expectSuccess(call('GET', path, authorization));
  const usdAccountId = data.find(({ type }: { type: string }) => type !== 'EMBEDDED_WALLET')
    .id as string;
  await post(`/sandbox/internal-accounts/${encode(usdAccountId)}/fund`, { amount: 100_000_00 });
  const externalAccount = await post('/customers/external-accounts', {
    ...{ customerId: person.id, currency: 'EUR' },
    accountInfo: {
      ...{ accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000' },
      beneficiary: {
        ...{ beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper', countryOfResidence: 'DE' },
      },
    },
  });
  return { usdAccountId, externalAccountId: externalAccount.id };
}

/** Pays until the signal, with `pauseMs` between two payments. */
export async function payUntil(
  stop: AbortSignal,
  port: number,
  victim: Tenant,
  { usdAccountId, externalAccountId }: Payer,
  payments: Payments,
  pauseMs: number,
): Promise<void> {
  const call = createCall(port);
  const callTimed = async (method: string, path: string, body?: object) => {
    const headers: Record<string, string> = body ? { 'idempotency-key': randomUUID() } : {};
    const { reply, ...result } = await call(method, path, victim.authorization, body, headers);
    payments.latencies.push(reply.ms);
    return expectSuccess(Promise.resolve(result));
  };
  while (!stop.aborted) {
    try {
      const quote = await callTimed('POST', `${BASE}/quotes`, {
        source: { sourceType: 'ACCOUNT', accountId: usdAccountId },
        destination: { destinationType: 'ACCOUNT', accountId: externalAccountId },
        ...{ lockedCurrencySide: 'SENDING', lockedCurrencyAmount: 1_00 },
      });
      await callTimed('POST', `${BASE}/quotes/${encode(quote.id)}/execute`, {});
      await callTimed('GET', `${BASE}/transactions/${encode(quote.transactionId)}`);
      victim.ids.collect(JSON.stringify(quote));
      payments.paymentCount++;
    } catch (error) {
      payments.failures.push((error as Error).message);
    }
    await sleep(pauseMs);
  }
  call.close();
}

/** Latency in milliseconds that this share of the requests did not exceed. */
export function quantile({ latencies }: Payments, share: number): number {
  const sortedLatencies = [...latencies].sort((a, b) => a - b);
  return Math.round(sortedLatencies[Math.floor(share * (sortedLatencies.length - 1))] ?? 0);
}
