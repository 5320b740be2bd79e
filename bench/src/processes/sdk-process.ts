// One caller that reads a transaction repeatedly, with the SDK or with `fetch` alone. Both send the
// same credential and parse the reply.
import { pathToFileURL } from 'node:url';
import { serveJobs } from '../machine/worker-channel.ts';
import { createTally, type Run } from '../table/stats.ts';

export interface SdkOptions {
  /** Path of the built entry of the SDK. */
  entry: string;
  client: 'sdk' | 'fetch';
  baseUrl: string;
  clientId: string;
  clientSecret: string;
  transactionIds: readonly string[];
  warmupMs: number;
  seconds: number;
}

type Read = (transactionId: string) => Promise<unknown>;

/** Interface of the SDK functions that are used. The package is built when the bench starts. */
interface Sdk {
  createClient(options: object): {
    transactions: { getTransactionById(input: { transactionId: string }): Promise<unknown> };
  };
}

async function readerOf({
  client,
  entry,
  baseUrl,
  clientId,
  clientSecret,
}: SdkOptions): Promise<Read> {
  if (client === 'sdk') {
    const { createClient } = (await import(pathToFileURL(entry).href)) as Sdk;
    const { transactions } = createClient({ baseUrl, clientId, clientSecret });
    return (transactionId) => transactions.getTransactionById({ transactionId });
  }
  const credential = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const headers = { accept: 'application/json', authorization: `Basic ${credential}` };
  return async (transactionId) => {
    const reply = await fetch(`${baseUrl}/transactions/${transactionId}`, { headers });
    if (!reply.ok) throw new Error(`status ${reply.status}`);
    return reply.json();
  };
}

async function read(options: SdkOptions): Promise<Run> {
  const { transactionIds, warmupMs, seconds } = options;
  const reader = await readerOf(options);
  const tally = createTally(warmupMs, seconds);
  for (let count = 0; tally.isRunning(); count++) {
    const startMs = performance.now();
    try {
      await reader(transactionIds[count % transactionIds.length] as string);
      tally.ok(startMs);
    } catch (error) {
      tally.error(String(error));
    }
  }
  return tally.result();
}

serveJobs({ read });
