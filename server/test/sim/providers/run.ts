// A run of a seed with a simulated bank that uses the protocol for providers, and a check after
// each day. A failure prints how to reproduce it.
import { seededChance } from '../harness/chance.ts';
import { simulatedBank } from './bank.ts';
import { bookkeeping as createBookkeeping } from './bookkeeping.ts';
import { type DayDeps, endDay } from './day.ts';
import { simulatedDeposits } from './deposits.ts';
import { BANK, type Installation, openInstallation } from './installation.ts';
import { createOutbox } from './outbox.ts';

const STEPS_PER_DAY = 50;
const MINUTE = 60_000;
const REPORTED_ACTIONS = 20;

export interface Report {
  seed: string;
  steps: number;
  days: number;
  payments: number;
  /** Number of faults by name. */
  faults: Record<string, number>;
}

interface Action {
  name: string;
  weight: number;
  run(): unknown;
}

const CONTRADICTIONS = `select count(*)::int4 as count from provider_messages
  where result = 'CONTRADICTORY' and id like $1`;

/**
 * Messages that contradict recorded states. The messages must have no effect, and must be listed
 * for operators.
 */
function contradictionActions(deps: DayDeps, deposits: DayDeps['deposits']) {
  const { installation, chance, bank, outbox, violations } = deps;
  const { service, app } = installation;
  let count = 0;

  async function send(fields: object): Promise<void> {
    const id = `false-${count++}`;
    const { status } = await outbox.send({ id, ...fields });
    if (status !== 409) violations.push(`${JSON.stringify(fields)} returned ${status}, not 409`);
  }

  /** Sends another result or another amount for a final payment. */
  async function contradictTransfer(): Promise<void> {
    const transferIds = [...bank.transfers.keys()].sort();
    const transferId = transferIds[chance.integerBelow(Math.max(transferIds.length, 1))];
    if (!transferId) return;
    const statusBefore = await service.readStatus(transferId);
    if (statusBefore.startsWith('PROCESSING')) return;
    const failedState = { state: 'failed', reason: 'ACCOUNT_INVALID' };
    const settledState = { state: 'settled', reference: 'BANK-X' };
    const isCompleted = statusBefore.startsWith('COMPLETED');
    const type = 'transfer.updated';
    if (chance.percent(70)) {
      await send({ type, transferId, transfer: isCompleted ? failedState : settledState });
    } else await send({ type, transferId, transfer: settledState, amount: 1, currency: 'EUR' });
    const statusAfter = await service.readStatus(transferId);
    if (statusAfter !== statusBefore)
      violations.push(`${transferId} was ${statusBefore} and is ${statusAfter}`);
  }

  return {
    async contradict(): Promise<void> {
      const deposit = chance.percent(30) ? deposits.contradiction() : undefined;
      await (deposit ? send(deposit) : contradictTransfer());
    },
    async check(): Promise<void> {
      const [row] = await app.runtime.db.query<{ count: number }>(CONTRADICTIONS, [
        `${BANK}/false-%`,
      ]);
      if (row?.count !== count)
        violations.push(`${count - (row?.count ?? 0)} contradictory messages are not listed`);
    },
  };
}

/** Adds a signing key of the installation. The bank accepts it immediately. */
async function rotateKey({ adapter, read, write }: Installation): Promise<void> {
  const readKeys = async () => (await read(`/providers/${BANK}`)).ownKeys;
  if ((await readKeys()).length > 2) return;
  await write('POST', `/providers/${BANK}/rotate`, { overlapHours: 1 });
  adapter.accept(await readKeys());
}

function prepareRun(installation: Installation, seed: string) {
  const chance = seededChance(seed);
  const violations: string[] = [];
  const faults: Record<string, number> = {};
  const add = (name: string) => {
    faults[name] = (faults[name] ?? 0) + 1;
  };
  const payments: string[] = [];
  const bookkeeping = createBookkeeping(installation, seed, add);
  const outbox = createOutbox({ installation, chance, add, violations });
  const commonDeps = { installation, chance, bookkeeping, outbox, add, violations };
  const bank = simulatedBank({ ...commonDeps, seed });
  const deposits = simulatedDeposits(commonDeps);
  const deps: DayDeps = { ...commonDeps, bank, deposits, payments };
  const contradictions = contradictionActions(deps, deposits);
  const { delayedCalls } = installation;
  const actions: Action[] = [
    {
      name: 'pay',
      weight: 25,
      // Amounts do not repeat.
      run: async () =>
        payments.push(await installation.pay(1_00 + ((payments.length * 7_919) % 49_999))),
    },
    { name: 'the bank acts', weight: 22, run: bank.act },
    { name: 'deliver messages', weight: 20, run: outbox.deliverSome },
    { name: 'receive a deposit', weight: 8, run: deposits.receive },
    { name: 'withdraw a deposit', weight: 1, run: deposits.takeBack },
    { name: 'book another entry', weight: 1, run: bookkeeping.bookOther },
    {
      name: 'advance the clock',
      weight: 14,
      run: () => installation.advance(chance.integerBelow(120) * MINUTE),
    },
    { name: 'contradict', weight: 5, run: contradictions.contradict },
    {
      name: 'receive delayed calls',
      weight: 3,
      run: async () => {
        for (const call of delayedCalls.splice(0)) await call().catch(() => undefined);
      },
    },
    { name: 'switch the outage', weight: 3, run: bank.switchOutage },
    { name: 'rotate the key', weight: 0.5, run: () => rotateKey(installation) },
    { name: 'renew the key of the bank', weight: 0.5, run: outbox.renewKey },
  ];
  return { deps, actions, faults, check: contradictions.check };
}

/** Runs a simulation. Throws with a description when an expectation is violated. */
export async function simulateProviders(seed: string, steps: number): Promise<Report> {
  const installation = await openInstallation(seed);
  const { deps, actions, faults, check } = prepareRun(installation, seed);
  const { violations, payments, chance } = deps;
  const latestActions: string[] = [];
  let days = 0;
  const failureOf = (step: number, problem: string, cause?: unknown) =>
    new Error(
      [
        `Seed ${seed}, step ${step}: ${problem}`,
        `The latest actions: ${latestActions.slice(-REPORTED_ACTIONS).join(', ')}`,
        `Reproduce: npm run sim:providers -- --seed ${seed} --steps ${steps}`,
      ].join('\n'),
      { cause },
    );
  let step = 1;
  try {
    for (; step <= steps; step++) {
      const action = chance.pickWeighted(actions);
      latestActions.push(action.name);
      await action.run();
      if (step % STEPS_PER_DAY === 0 || step === steps) {
        days += 1;
        await endDay(deps);
        await check();
      }
      if (violations.length > 0) throw new Error(violations.join('\n'));
    }
  } catch (error) {
    await installation.adapter.close();
    throw failureOf(step, (error as Error).message, error);
  }
  await installation.close();
  return { seed, steps, days, payments: payments.length, faults };
}
