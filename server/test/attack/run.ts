// One run of the attacks. It starts a server and its callers. Several connections send the requests of all
// attacks in random order while another tenant pays. Finally the server is flooded, and its state is
// verified.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { seededChance } from '../sim/harness/chance.ts';
import { cryptographyAttack } from './attacks/cryptography.ts';
import { flood } from './attacks/floods.ts';
import { fuzz } from './attacks/fuzz.ts';
import { createProviderTarget, type ProviderTarget, replayAttack } from './attacks/replay.ts';
import { SMUGGLED_CUSTOMER_ID, smuggling } from './attacks/smuggling.ts';
import { tenants } from './attacks/tenants.ts';
import { type Documents, readDocuments } from './requests/document.ts';
import { createRules, type Rules } from './rules.ts';
import { type Callers, createRecord, newReport, type Report, type Session } from './session.ts';
import { startTarget, type Target } from './target/server.ts';
import * as caller from './target/tenants.ts';
import { openConnection } from './target/wire.ts';
import { createPayer, newPayments, type Payments, payUntil, quantile } from './victim.ts';

export interface AttackOptions {
  seed: string;
  requests: number;
  floodMs: number;
}

export interface Result extends Report {
  payments: Payments;
  floodedPayments: Payments;
  floodCount: number;
  memory: { start: number; highestBytes: number };
}

/** Number of concurrent connections. */
const WORKERS = 8;
const MAX_MEMORY_BYTES = 900 * 1_048_576;
const MAX_VICTIM_MS = 5_000;
const VICTIM_PAUSE_MS = 100;

const countRequests = ({ requestCounts }: Report) =>
  [...requestCounts.values()].reduce((sum, count) => sum + count, 0);

/** Lists without parameters, from which IDs are collected. */
const listsOf = ({ operations }: Documents): string[] =>
  operations
    .filter(({ api, method, path, isAgent, isPublic, parameters }) => {
      const isList = api === 'platform' && method === 'GET' && !path.includes('{');
      return isList && !isAgent && !isPublic && !parameters.some(({ required }) => required);
    })
    .map(({ path }) => path);

interface Preparation {
  callers: Callers;
  provider: ProviderTarget;
}

async function prepare(target: Target, documents: Documents, rules: Rules): Promise<Preparation> {
  const call = caller.createCall(target.port());
  const command = ['operator-token', 'create', '--name', 'Attack', '--role', 'administrator'];
  /**
   * Creates an operator token that no attack sends. Each renewal needs a new token, because an attack can
   * revoke a token by its ID in a list.
   */
  const createAuthorization = async () =>
    `Bearer ${JSON.parse(await target.command(...command)).secret}`;
  const authorization = await createAuthorization();
  const lists = listsOf(documents);
  const mark = `Hidden${randomBytes(6).toString('hex')}`;
  const createTenant = (name: string, mark: string) =>
    caller.createTenant(call, { root: authorization, name, mark, lists });
  const victim = await createTenant('Victim', mark);
  const attacker = await createTenant('Attacker', 'Attacker');
  rules.hide([mark, victim.id, ...victim.ids.allIds()]);
  let renewal: Promise<void> | undefined;
  const callers: Callers = {
    ...{ attacker, victim },
    operator: await caller.operatorToken(call, authorization),
    scopedOperator: await caller.operatorToken(call, authorization, [attacker.id]),
    renew() {
      renewal ??= replaceTokens().finally(() => {
        renewal = undefined;
      });
      return renewal;
    },
  };
  async function replaceTokens(): Promise<void> {
    const root = await createAuthorization();
    attacker.authorization = await caller.platformToken(call, root, attacker.id);
    callers.operator = await caller.operatorToken(call, root);
    callers.scopedOperator = await caller.operatorToken(call, root, [attacker.id]);
  }
  return { callers, provider: await createProviderTarget(call, authorization) };
}

/** Sends requests on one connection until all connections together have sent `requests`. */
async function sendRequests(
  session: Session,
  provider: ProviderTarget,
  requests: number,
): Promise<void> {
  const attacks = [
    ...[fuzz, tenants, smuggling],
    ...[replayAttack(provider), cryptographyAttack(provider)],
  ];
  while (countRequests(session.report) < requests) {
    const attack = session.chance.pickWeighted(attacks);
    try {
      await attack.run(session);
    } catch (error) {
      session.report.problems.push(`${attack.name}: ${(error as Error).stack}`);
      if (session.report.problems.length > 20) return;
    }
  }
  session.connection.close();
}

async function attackOperations(
  target: Target,
  preparation: Preparation,
  { seed, requests }: AttackOptions,
  result: Result,
  rules: Rules,
  documents: Documents,
): Promise<void> {
  const { callers, provider } = preparation;
  const port = target.port();
  const call = caller.createCall(port);
  const payer = await createPayer(call, callers.victim);
  const stop = new AbortController();
  const whenPaid = payUntil(
    ...([stop.signal, port, callers.victim, payer, result.payments, VICTIM_PAUSE_MS] as const),
  );
  const memoryTimer = setInterval(() => {
    result.memory.highestBytes = Math.max(result.memory.highestBytes, target.memory() ?? 0);
  }, 250);
  const record = createRecord(rules, result);
  await Promise.all(
    Array.from({ length: WORKERS }, (_, index) => {
      const session: Session = {
        ...{
          port,
          call: caller.createCall(port),
          documents,
          callers,
          rules,
          report: result,
          record,
        },
        ...{ chance: seededChance(`${seed} ${index}`), connection: openConnection(port) },
      };
      return sendRequests(session, provider, requests);
    }),
  );
  stop.abort();
  await whenPaid;
  clearInterval(memoryTimer);
}

async function attackWithFloods(
  target: Target,
  { callers }: Preparation,
  ms: number,
  result: Result,
) {
  await target.restartWithLimits();
  const port = target.port();
  const call = caller.createCall(port);
  const payer = await createPayer(call, callers.victim);
  const stop = new AbortController();
  const { victim, attacker } = callers;
  const whenPaid = payUntil(stop.signal, port, victim, payer, result.floodedPayments, 20);
  result.floodCount = await flood(port, attacker.authorization, ms);
  stop.abort();
  await whenPaid;
  result.memory.highestBytes = Math.max(result.memory.highestBytes, target.memory() ?? 0);
  const { status } = await call('GET', '/readyz', undefined);
  if (status !== 200) result.problems.push(`after the floods /readyz is ${status}`);
  call.close();
}

/** Lines of the log about errors of the server itself. */
function logProblems(output: string): string[] {
  return output.split('\n').flatMap((line) => {
    if (!/"level":"(error|fatal)"/.test(line) && !/Uncaught|Unhandled|FATAL/.test(line)) return [];
    return [`the log has ${line.slice(0, 600)}`];
  });
}

async function findDatabaseProblems(target: Target, provider: ProviderTarget): Promise<string[]> {
  const client = new pg.Client({ connectionString: await target.database() });
  await client.connect();
  try {
    const readNumber = async (sql: string, values: string[]) =>
      Number((await client.query(sql, values)).rows[0].value);
    const smuggledCount = await readNumber(
      'select count(*) as value from customers where platform_customer_id like $1',
      [`${SMUGGLED_CUSTOMER_ID}%`],
    );
    const balance = await readNumber('select balance as value from ledger_accounts where id = $1', [
      provider.accountId,
    ]);
    const expectedBalance = provider.depositedAmount;
    return [
      ...(smuggledCount ? [`${smuggledCount} smuggled requests were executed`] : []),
      ...(balance === expectedBalance
        ? []
        : [`deposits of ${expectedBalance} have the balance ${balance}`]),
    ];
  } finally {
    await client.end();
  }
}

function paymentProblems(name: string, payments: Payments): string[] {
  const { paymentCount, failures } = payments;
  const p99Ms = quantile(payments, 0.99);
  return [
    ...failures.slice(0, 3).map((failure) => `a payment of the other tenant ${name}: ${failure}`),
    ...(paymentCount > 0 ? [] : [`no payment of the other tenant ${name}`]),
    ...(p99Ms > MAX_VICTIM_MS ? [`requests of the other tenant ${name} took ${p99Ms} ms`] : []),
  ];
}

async function findFinalProblems(target: Target, { provider }: Preparation, result: Result) {
  const problems = [
    ...paymentProblems('during the attacks', result.payments),
    ...paymentProblems('during the floods', result.floodedPayments),
    ...(await findDatabaseProblems(target, provider)),
  ];
  if (!target.isRunning()) problems.push('the server exited');
  if (result.memory.highestBytes > MAX_MEMORY_BYTES)
    problems.push(`the server used ${result.memory.highestBytes} bytes of memory`);
  const ledgerCheck = JSON.parse(await target.command('ledger', 'verify'));
  if (!ledgerCheck.balanced)
    problems.push(`the ledger is not balanced: ${JSON.stringify(ledgerCheck).slice(0, 500)}`);
  const exitCode = await target.stop();
  if (exitCode !== 0) problems.push(`the server exited with ${exitCode}`);
  return [...problems, ...logProblems(target.output())];
}

export async function attack(options: AttackOptions): Promise<Result> {
  const documents = readDocuments();
  const rules = createRules();
  const target = await startTarget();
  try {
    const preparation = await prepare(target, documents, rules);
    const start = target.memory() ?? 0;
    const result: Result = {
      ...{ ...newReport(), payments: newPayments(), floodedPayments: newPayments() },
      ...{ floodCount: 0, memory: { start, highestBytes: start } },
    };
    await attackOperations(target, preparation, options, result, rules, documents);
    if (!target.isRunning())
      result.problems.push(`the server exited: ${target.output().slice(-2_000)}`);
    else {
      // Requests of the attacks may still be in progress.
      await sleep(200);
      await attackWithFloods(target, preparation, options.floodMs, result);
      result.problems.push(...(await findFinalProblems(target, preparation, result)));
    }
    return result;
  } finally {
    await target.remove();
  }
}
