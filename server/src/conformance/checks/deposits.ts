// Checks of deposits: details that are unique to an account, and each entry reported once.
import { Instructions } from '../../connectors/ports/providers/services.ts';
import { uuid7 } from '../../kernel/id.ts';
import type { CheckGroup } from '../check.ts';
import type { Attempt } from '../inbox.ts';
import type { Session } from '../session.ts';
import { failure } from '../verdict.ts';

const currencyOf = ({ capabilities }: Session) => capabilities.fundingCurrencies?.[0] ?? 'EUR';

/** The details of an account, as text. */
async function detailsOf(session: Session, accountId: string): Promise<string> {
  const body = { accountId, currency: currencyOf(session), owner: 'customer' };
  const { instructions } = await session.read('/funding/account', body, Instructions);
  if (instructions.length === 0) throw failure('no instructions');
  return JSON.stringify(instructions);
}

const newAccountId = ({ context }: Session) => `InternalAccount:${uuid7(context.effects)}`;

/**
 * Sends a transfer whose amount is then received as a deposit. Returns the transfer, the first
 * message about the deposit, and a function that returns all messages about it.
 */
async function sendDeposit(session: Session, statuses: readonly number[] = []) {
  const transfer = session.transfer('deposit');
  if (statuses.length > 0) session.context.inbox.setResponses(transfer.reference, '', statuses);
  await session.send(transfer);
  const fields = { type: 'deposit.received', paymentReference: transfer.reference };
  const message = await session.waitForMessage(fields);
  return { transfer, message, messages: () => session.messagesOf(fields) };
}

function bankReferencesOf(messages: readonly Attempt[]): Set<unknown> {
  return new Set(messages.map(({ fields }) => fields.bankReference));
}

export const depositChecks: CheckGroup = {
  applies: ({ services = [] }) => services.includes('funding'),
  phase: 'parallel',
  checks: [
    {
      name: 'deposits.same-details',
      action: 'the account details of one account are requested three times, twice concurrently',
      expected: 'the same details',
      remedy: 'Store the details with accountId, and return them to every later call.',
      async run(session) {
        const accountId = newAccountId(session);
        const [firstDetails, secondDetails] = await Promise.all([
          detailsOf(session, accountId),
          detailsOf(session, accountId),
        ]);
        if (
          firstDetails !== secondDetails ||
          firstDetails !== (await detailsOf(session, accountId))
        )
          throw failure('the details differ');
        return 'the same each time';
      },
    },
    {
      name: 'deposits.unique-details',
      action: 'the account details of two accounts are compared',
      expected: 'different details, which attribute deposits to accounts',
      remedy: 'Open an account, or generate a reference, for each accountId.',
      async run(session) {
        const [firstDetails, secondDetails] = await Promise.all([
          detailsOf(session, newAccountId(session)),
          detailsOf(session, newAccountId(session)),
        ]);
        if (firstDetails === secondDetails) throw failure('the same details for two accounts');
        return 'different';
      },
    },
    {
      name: 'deposits.amount',
      action: 'funds arrive ("TEST DEPOSIT")',
      expected: 'a message "deposit.received" with amount and currency in minor units',
      remedy: 'Report the amount of the entry as an integer in minor units, with its currency.',
      async run(session) {
        const { transfer, message } = await sendDeposit(session);
        const { amount, currency } = message.fields;
        if (amount !== transfer.amount || currency !== transfer.currency) {
          const expectedAmount = `${transfer.amount} ${transfer.currency}`;
          throw failure(`${amount} ${currency} instead of ${expectedAmount}`);
        }
        return `${amount} ${currency}`;
      },
    },
    {
      name: 'deposits.once',
      action: 'funds arrive, and the first responses are 503',
      expected: 'one message with one bank reference in every repetition',
      remedy:
        'Store the message with its ID before it is sent. Use the reference of the statement entry as ' +
        'bankReference. A different reference is a different deposit.',
      async run(session) {
        const { messages: allMessages } = await sendDeposit(session, [503, 503, 200]);
        await session.waitQuietPeriod();
        const messages = allMessages();
        const bankReferences = bankReferencesOf(messages);
        if (bankReferences.size > 1) throw failure(`${bankReferences.size} bank references`);
        if (messages.length > 1) throw failure(`${messages.length} messages about one entry`);
        return 'one message';
      },
    },
  ],
};
