// Deposits at the simulated bank. Most deposits are booked and reported. The message of some booked
// deposits arrives after the decision of an operator or never. Other deposits are reported and
// never booked.
import type { Chance } from '../harness/chance.ts';
import type { Bookkeeping } from './bookkeeping.ts';
import type { Installation } from './installation.ts';
import type { Outbox } from './outbox.ts';

/** Lower bound of the amounts, which are unique and above the amount of any payout. */
const MINIMUM_AMOUNT = 100_000;

interface Deposit {
  bankReference: string;
  amount: number;
  /** Whether the ledger must credit the deposit after all messages and decisions. */
  isCredited: boolean;
  /** Whether the deposit is booked, credited, and can be returned once. */
  isReturnable: boolean;
}

interface DepositDeps {
  installation: Pick<Installation, 'account'>;
  chance: Chance;
  bookkeeping: Bookkeeping;
  outbox: Outbox;
  add(fault: string): void;
}

export function simulatedDeposits(deps: DepositDeps) {
  const { installation, chance, bookkeeping, outbox, add } = deps;
  const { account: accountId } = installation;
  const deposits: Deposit[] = [];

  const fieldsOf = ({ bankReference, amount }: Deposit) => ({
    ...{ type: 'deposit.received', bankReference, amount, currency: 'EUR', accountId },
  });

  /** Adds a deposit, sometimes without its message or without its entry. */
  function receive(): void {
    const number = deposits.length + 1;
    const deposit: Deposit = {
      ...{ bankReference: `DEP-${number}`, amount: MINIMUM_AMOUNT + number },
      ...{ isCredited: false, isReturnable: false },
    };
    const { bankReference, amount } = deposit;
    deposits.push(deposit);
    const creditDeposit = (isReturnable: boolean) => () => {
      deposit.isCredited = true;
      deposit.isReturnable = isReturnable;
    };
    if (chance.percent(6)) {
      add('deposits without a message');
      bookkeeping.bookSilently(bankReference, amount, {
        decisions: () => ['RECORD_DEPOSIT'],
        input: { accountId },
        onDecision() {
          creditDeposit(false)();
          if (chance.percent(50)) outbox.add(fieldsOf(deposit), { final: [200] });
        },
      });
    } else if (chance.percent(4)) {
      add('deposits without an entry');
      bookkeeping.expectMissing(amount, {
        decisions: () => ['WRITE_OFF', 'IGNORE', 'RETURN'],
        onDecision(decision) {
          if (decision === 'RETURN') deposit.isCredited = false;
        },
      });
      outbox.add(fieldsOf(deposit), { final: [200], onDone: creditDeposit(false) });
    } else {
      bookkeeping.bookDeposit(bankReference, amount);
      outbox.add(fieldsOf(deposit), { final: [200], onDone: creditDeposit(true) });
    }
  }

  return {
    receive,
    /** The bank withdraws a credited deposit from the account. */
    takeBack(): void {
      const recentDeposits = deposits.slice(-30).filter(({ isReturnable }) => isReturnable);
      const deposit = recentDeposits[chance.integerBelow(Math.max(recentDeposits.length, 1))];
      if (!deposit) return;
      const { bankReference, amount } = deposit;
      deposit.isReturnable = false;
      bookkeeping.bookDepositReturn(bankReference, amount);
      const fields = { type: 'deposit.returned', bankReference, amount, currency: 'EUR' };
      outbox.add(fields, {
        final: [200],
        onDone() {
          deposit.isCredited = false;
        },
      });
    },
    /** A message about a credited deposit with another amount. */
    contradiction(): object | undefined {
      const creditedDeposits = deposits.filter(({ isCredited }) => isCredited);
      const deposit = creditedDeposits[chance.integerBelow(Math.max(creditedDeposits.length, 1))];
      return deposit && { ...fieldsOf(deposit), amount: deposit.amount + 1 };
    },
    /** Sum of the credited deposits. */
    total: (): number =>
      deposits.reduce((sum, { amount, isCredited }) => sum + (isCredited ? amount : 0), 0),
  };
}
