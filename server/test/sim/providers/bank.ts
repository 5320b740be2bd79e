// The simulated bank. It executes each transfer once, decides its result later, and books its
// entries. Replies of the bank can be lost, late, incomplete or invalid. The bank can also be
// unavailable.
import { type Chance, seededChance } from '../harness/chance.ts';
import type { Bookkeeping } from './bookkeeping.ts';
import type { Installation } from './installation.ts';
import type { Outbox } from './outbox.ts';

/**
 * `reversed`: an operator has reversed the payment, because no statement contained the transfer.
 */
export type TransferState = 'accepted' | 'settled' | 'failed' | 'returned' | 'reversed';

export interface BankTransfer {
  id: string;
  state: TransferState;
  amount: number;
}

export const REASON = 'ACCOUNT_CANNOT_RECEIVE';
/** Number of the latest transfers, which can change. */
const RECENT_COUNT = 100;
const CHECK_AFTER_SECONDS = 6 * 3_600;

/** The state in the form of the protocol. */
const reportOf = ({ id, state }: BankTransfer) => {
  if (state === 'settled') return { state, reference: `BANK-${id.slice(-12)}` };
  if (state === 'accepted') return { state, checkAfterSeconds: CHECK_AFTER_SECONDS };
  return { state, reason: REASON };
};

const INVALID_BODIES = ['<html>', '{"state":"sett', {}, { state: 'settled' }, { state: 'done' }];

export interface BankDeps {
  installation: Installation;
  seed: string;
  chance: Chance;
  bookkeeping: Bookkeeping;
  outbox: Outbox;
  add(fault: string): void;
  violations: string[];
}

export function simulatedBank(deps: BankDeps) {
  const { installation, seed, chance, bookkeeping, outbox, add, violations } = deps;
  const { adapter, faults } = installation;
  const transfers = new Map<string, BankTransfer>();
  // Concurrent calls arrive in any order, so they do not use the random numbers of the actions.
  const chanceOfCalls = seededChance(`${seed} calls`);
  let isUnavailable = false;
  /** While true, all calls succeed. */
  let isFaultFree = false;

  /** Decides whether a fault of this name occurs, and counts it. */
  const occurs = (percent: number, name: string): boolean => {
    if (isFaultFree || !chanceOfCalls.percent(percent)) return false;
    add(name);
    return true;
  };

  faults.timeoutOf = () => {
    if (occurs(3, 'late replies')) return 'lateReply';
    return occurs(2, 'late requests') ? 'lateRequest' : undefined;
  };

  function reply(transfer: BankTransfer) {
    if (occurs(4, 'lost replies')) return null;
    if (occurs(4, 'invalid replies')) return { body: chanceOfCalls.pick(INVALID_BODIES) };
    if (occurs(2, 'unknown states')) return { body: { state: 'unknown', checkAfterSeconds: 600 } };
    return { body: reportOf(transfer) };
  }
  const rejectIfUnavailable = () =>
    isUnavailable || occurs(6, 'unavailable') ? { status: 503, body: {} } : undefined;

  adapter.replies['/transfers/send'] = ({ transferId: id, amount, currency }) => {
    const rejection = rejectIfUnavailable();
    if (rejection) return rejection;
    if (occurs(2, 'crashes of the adapter')) return null;
    const earlierTransfer = transfers.get(id);
    if (currency !== 'EUR' || (earlierTransfer && earlierTransfer.amount !== amount)) {
      const expectedAmount = earlierTransfer?.amount ?? amount;
      violations.push(`${id} was sent with ${amount} ${currency}, not ${expectedAmount} EUR`);
    }
    const transfer: BankTransfer = earlierTransfer ?? { id, state: 'accepted', amount };
    transfers.set(id, transfer);
    if (!earlierTransfer && !isFaultFree && chanceOfCalls.percent(10)) settle(transfer);
    if (occurs(4, 'crashes of the server')) {
      faults.crash = chanceOfCalls.pick(['before', 'after']);
    }
    return reply(transfer);
  };
  adapter.replies['/transfers/state'] = ({ transferId }) => {
    const rejection = rejectIfUnavailable();
    if (rejection) return rejection;
    const transfer = transfers.get(transferId);
    return transfer ? reply(transfer) : { status: 404, body: {} };
  };

  function settle(transfer: BankTransfer): void {
    transfer.state = 'settled';
    bookkeeping.bookPayout(transfer.id, {
      isSettled: () => transfer.state === 'settled',
      reverse() {
        transfer.state = 'reversed';
      },
    });
  }

  function report(transfer: BankTransfer): void {
    // Railhead detects a lost message when it requests the state, except for a return.
    if (transfer.state !== 'returned' && chance.percent(15)) {
      add('lost messages');
      return;
    }
    const { id: transferId } = transfer;
    const fields = { type: 'transfer.updated', transferId, transfer: reportOf(transfer) };
    outbox.add(fields, { final: [200, 409] });
  }

  const statementsReply = adapter.replies['/statements/day'];
  adapter.replies['/statements/day'] = (request) => {
    if (isUnavailable || occurs(10, 'unavailable statements')) return { status: 503, body: {} };
    if (occurs(20, 'late statements')) return { status: 404, body: {} };
    return statementsReply?.(request) ?? { status: 404, body: {} };
  };

  return {
    transfers,
    /** Executes, fails or returns one of the recent transfers. */
    act(): void {
      const openTransfers = [...transfers.values()]
        .slice(-RECENT_COUNT)
        .filter(({ state }) => state === 'accepted' || state === 'settled')
        .sort((a, b) => (a.id < b.id ? -1 : 1));
      const transfer = openTransfers[chance.integerBelow(Math.max(openTransfers.length, 1))];
      if (!transfer) return;
      if (transfer.state === 'accepted') {
        if (chance.percent(75)) settle(transfer);
        else transfer.state = 'failed';
      } else if (chance.percent(10)) {
        transfer.state = 'returned';
        bookkeeping.bookReturn(transfer.id);
      } else return;
      report(transfer);
    },
    switchOutage(): void {
      isUnavailable = !isUnavailable;
      if (isUnavailable) add('outages');
    },
    /** Runs `work` without outages and lost replies. */
    async runCalmly<R>(work: () => Promise<R>): Promise<R> {
      isUnavailable = false;
      isFaultFree = true;
      faults.crash = undefined;
      try {
        return await work();
      } finally {
        isFaultFree = false;
      }
    },
  };
}

export type SimulatedBank = ReturnType<typeof simulatedBank>;
