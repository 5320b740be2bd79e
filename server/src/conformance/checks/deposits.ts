// Checks of deposits: details that are unique to an account, and each entry reported once.
import { Instructions } from '../../connectors/ports/providers/services.ts';
import { uuid7 } from '../../kernel/id.ts';
import type { CheckGroup } from '../check.ts';
import type { Attempt } from '../inbox.ts';
import type { Trial } from '../trial.ts';
import { problem } from '../verdict.ts';

const currencyOf = ({ capabilities }: Trial) => capabilities.fundingCurrencies?.[0] ?? 'EUR';

/** The details of an account, as text. */
async function detailsOf(trial: Trial, accountId: string): Promise<string> {
  const body = { accountId, currency: currencyOf(trial), owner: 'customer' };
  const { instructions } = await trial.read('/funding/account', body, Instructions);
  if (instructions.length === 0) throw problem('no instructions');
  return JSON.stringify(instructions);
}

const newAccount = ({ parts }: Trial) => `InternalAccount:${uuid7(parts.effects)}`;

/** A transfer whose amount is received again, and the message about it. */
async function deposit(trial: Trial, statuses: readonly number[] = []) {
  const transfer = trial.transfer('deposit');
  if (statuses.length > 0) trial.parts.inbox.plan(transfer.reference, '', statuses);
  await trial.send(transfer);
  const fields = { type: 'deposit.received', paymentReference: transfer.reference };
  const message = await trial.receivesMessage(fields);
  return { transfer, message, all: () => trial.messagesOf(fields) };
}

function entriesOf(messages: readonly Attempt[]): Set<unknown> {
  return new Set(messages.map(({ fields }) => fields.bankReference));
}

export const depositChecks: CheckGroup = {
  applies: ({ services = [] }) => services.includes('funding'),
  when: 'together',
  checks: [
    {
      name: 'deposits.same-details',
      tried: 'the account details of one account are requested three times, twice at once',
      expected: 'the same details',
      remedy: 'Store the details with accountId, and return them to every later call.',
      async run(trial) {
        const account = newAccount(trial);
        const [one, two] = await Promise.all([
          detailsOf(trial, account),
          detailsOf(trial, account),
        ]);
        if (one !== two || one !== (await detailsOf(trial, account))) throw problem('others');
        return 'the same each time';
      },
    },
    {
      name: 'deposits.unique-details',
      tried: 'the account details of two accounts are compared',
      expected: 'different details: a deposit is attributed by them',
      remedy: 'Open an account, or generate a reference, for each accountId.',
      async run(trial) {
        const [one, other] = await Promise.all([
          detailsOf(trial, newAccount(trial)),
          detailsOf(trial, newAccount(trial)),
        ]);
        if (one === other) throw problem('the same details for two accounts');
        return 'different';
      },
    },
    {
      name: 'deposits.amount',
      tried: 'funds arrive ("TEST DEPOSIT")',
      expected: 'a message "deposit.received" with amount and currency in minor units',
      remedy: 'Report the amount of the entry as an integer in minor units, with its currency.',
      async run(trial) {
        const { transfer, message } = await deposit(trial);
        const { amount, currency } = message.fields;
        if (amount !== transfer.amount || currency !== transfer.currency) {
          const expected = `${transfer.amount} ${transfer.currency}`;
          throw problem(`${amount} ${currency} instead of ${expected}`);
        }
        return `${amount} ${currency}`;
      },
    },
    {
      name: 'deposits.once',
      tried: 'funds arrive, and the first responses are 503',
      expected: 'one message with one bank reference, however often it is repeated',
      remedy:
        'Store the message with its ID before it is sent, and take bankReference from the entry of ' +
        'the statement: every other reference is another deposit.',
      async run(trial) {
        const { all } = await deposit(trial, [503, 503, 200]);
        await trial.quiet();
        const messages = all();
        const entries = entriesOf(messages);
        if (entries.size > 1) throw problem(`${entries.size} bank references`);
        if (messages.length > 1) throw problem(`${messages.length} messages about one entry`);
        return 'one message';
      },
    },
  ],
};
