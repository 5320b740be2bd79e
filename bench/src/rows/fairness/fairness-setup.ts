// Setup of row 8: a server with the default rate limits except the limit of bytes, and three
// platforms. The payments of the first platform are measured. A second sandbox platform sends large
// bodies, and the customers of a production platform receive text messages. The last two platforms
// are created with the operator's command.
import path from 'node:path';
import {
  basic,
  FUNDS,
  mapConcurrently,
  personBody,
  type Request,
  requester,
  startServer,
} from '../../machine/api.ts';
import type { Bench } from '../../machine/bench.ts';
import { type Child, startWorker, type Worker } from '../../machine/children.ts';
import { runCommand } from '../../machine/command.ts';
import type { Accounts } from './fairness-payer.ts';

export const FAIRNESS_DATABASE = 'bench_fairness';

export interface FairnessSetup {
  port: number;
  process: Child;
  accounts: Accounts;
  /** Credentials of the platform that sends large bodies. */
  otherAuthorization: string;
  /** Sends requests of the production platform. */
  production: Request;
  /** Customers of the production platform. Each may receive one code per 30 seconds. */
  customers: string[];
  /** The service that receives the text messages. */
  service: Worker;
}

interface Credentials {
  clientId: string;
  clientSecret: string;
}

async function createPlatform(bench: Bench, env: NodeJS.ProcessEnv, flags: readonly string[]) {
  const verb = ['platform', 'create', ...flags];
  const { clientId, clientSecret } = await runCommand<Credentials>(bench, env, verb);
  return basic(clientId, clientSecret);
}

/** A customer with a funded USD account and an external account at which every payout succeeds. */
async function createAccounts(request: Request): Promise<Accounts> {
  const person = await request<{ id: string }>('POST', '/customers', personBody(0, ['USD']));
  const path = `/customers/internal-accounts?customerId=${person.id}&currency=USD`;
  const { data } = await request<{ data: { id: string }[] }>('GET', path);
  const source = data[0]?.id as string;
  await request('POST', `/sandbox/internal-accounts/${source}/fund`, { amount: FUNDS });
  const { id } = await request<{ id: string }>('POST', '/customers/external-accounts', {
    customerId: person.id,
    currency: 'USD',
    accountInfo: {
      accountType: 'USD_ACCOUNT',
      accountNumber: '123456000',
      routingNumber: '021000021',
      beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
    },
  });
  return { source, destination: id };
}

/** A customer in Europe, whose phone number has to be verified by a code. */
async function createRecipient(request: Request, index: number): Promise<string> {
  const body = {
    ...personBody(index, ['EUR']),
    region: 'DE',
    email: `bench-${index}@example.org`,
    phoneNumber: `+49151${String(10_000_000 + index)}`,
  };
  return (await request<{ id: string }>('POST', '/customers', body)).id;
}

/**
 * All data is created before the server starts with its rate limits, so that no request of the
 * setup is delayed.
 */
export async function prepareFairness(
  bench: Bench,
  recipientCount: number,
): Promise<FairnessSetup> {
  const { cluster, scratch, logLevel, profile } = bench;
  const url = await cluster.create(FAIRNESS_DATABASE);
  const dataDir = path.join(scratch, 'fairness');
  const args = ['--database-url', url, '--data-dir', dataDir];
  const log = path.join(scratch, 'fairness.log');
  const firstServer = await startServer(bench, args, { log });
  const serverEnv = { DATABASE_URL: url, RAILHEAD_DATA_DIR: dataDir };
  const attackingPlatform = await createPlatform(bench, serverEnv, ['--name', 'Neighbor']);
  const productionFlags = [
    '--name',
    'Live',
    '--environment',
    'production',
    '--currencies',
    'USD,EUR',
  ];
  const productionPlatform = await createPlatform(bench, serverEnv, productionFlags);
  const accounts = await createAccounts(requester(firstServer.port));
  const customers = await mapConcurrently(Array.from({ length: recipientCount }), (_, index) =>
    createRecipient(requester(firstServer.port, productionPlatform), index),
  );
  await firstServer.process.stop();
  await cluster.rows(FAIRNESS_DATABASE, 'vacuum analyze');
  const service = startWorker('hanging');
  const servicePort = await service.call<number>('listen');
  const { port, process } = await startServer(bench, args, {
    log,
    profile,
    logLevel,
    env: {
      RAILHEAD_SMS_URL: `http://127.0.0.1:${servicePort}/messages`,
      RAILHEAD_RATE_LIMIT: undefined,
      RAILHEAD_RATE_LIMIT_QUOTES: undefined,
      RAILHEAD_RATE_LIMIT_REJECTED: undefined,
    },
  });
  const production = requester(port, productionPlatform);
  return {
    port,
    process,
    accounts,
    otherAuthorization: attackingPlatform,
    production,
    customers,
    service,
  };
}
