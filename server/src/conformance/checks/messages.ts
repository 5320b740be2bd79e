// Checks of messages: each must be signed, valid and correct, and is repeated with the same ID
// until a response is final.
import type { Check, CheckGroup } from '../check.ts';
import { type Attempt, stateOf } from '../inbox.ts';
import type { Session } from '../session.ts';
import type { Transfer } from '../transfers.ts';
import { failure, skipError } from '../verdict.ts';

/** Statuses after which the adapter must send the message again. 0 closes the connection. */
const TEMPORARY_STATUSES = [0, 503, 429];

const REPEAT_REMEDY =
  'Store each message with its ID before sending it, and repeat it until the status is 200, 400 or 409. ' +
  'In the test mode, wait at most one second between attempts.';

const repetitions = new WeakMap<Session, Promise<Attempt[]>>();

/** Attempts of one message whose first responses are temporary errors. */
function repeatedAttempts(session: Session): Promise<Attempt[]> {
  const startedRepetitions = repetitions.get(session);
  if (startedRepetitions) return startedRepetitions;
  const attempts = (async () => {
    const { transferId, ...transfer } = session.transfer('settled');
    session.context.inbox.setResponses(transferId, 'settled', [...TEMPORARY_STATUSES, 200]);
    await session.send({ transferId, ...transfer });
    return session.waitForAttempts(transferId, 'settled', TEMPORARY_STATUSES.length + 1);
  })();
  repetitions.set(session, attempts);
  return attempts;
}

/** Throws if the adapter sends a message again after a response with this status. */
async function assertNotRepeated(session: Session, status: number): Promise<void> {
  const { transferId, ...transfer } = session.transfer('settled');
  session.context.inbox.setResponses(transferId, 'settled', [status]);
  await session.send({ transferId, ...transfer });
  const attemptCount = (await session.waitForAttempts(transferId, 'settled')).length;
  await session.waitQuietPeriod();
  const repeats = session.attemptsOf(transferId, 'settled').length - attemptCount;
  if (repeats > 0)
    throw failure(`sent ${repeats + 1} times, although the first status was ${status}`);
}

export const messageChecks: CheckGroup = {
  applies: ({ transfers = [] }) => transfers.length > 0,
  phase: 'parallel',
  checks: [
    {
      name: 'messages.received',
      action: 'a transfer settles',
      expected: 'a message "transfer.updated" with the state "settled"',
      remedy:
        'Start the adapter with the address for messages that the first line of this report shows.',
      async run(session) {
        const transfer = session.transfer('settled');
        const start = session.context.effects.now();
        await session.send(transfer);
        const [firstAttempt] = await session.waitForAttempts(transfer.transferId, 'settled');
        return `after ${Math.max(0, (firstAttempt?.at ?? start) - start)} ms`;
      },
    },
    {
      name: 'messages.repeated',
      action: 'the responses to a message are: none, 503, 429, 200',
      expected: 'four attempts of the message',
      remedy: REPEAT_REMEDY,
      async run(session) {
        const attempts = await repeatedAttempts(session);
        return `${attempts.length} attempts`;
      },
    },
    {
      name: 'messages.same-id',
      action: 'the attempts of one message are compared',
      expected: 'the same ID and the same body',
      remedy: `${REPEAT_REMEDY} Each attempt has a new signature and the same body.`,
      async run(session) {
        const attempts = await repeatedAttempts(session).catch(() => {
          throw skipError('no message was repeated');
        });
        const ids = new Set(attempts.map(({ fields }) => fields.id));
        if (ids.size > 1) throw failure(`${ids.size} IDs for one message`);
        if (new Set(attempts.map(({ body }) => body)).size > 1) {
          throw failure('the bodies of the attempts differ');
        }
        return `ID ${[...ids].join('')}`;
      },
    },
    {
      name: 'messages.final-responses',
      action: 'the response to a message has the status 200, 400 or 409',
      expected: 'the message is not sent again',
      remedy:
        'Do not repeat a message after 200, 400 or 409. After 400, correct the adapter. After 409, an ' +
        'operator must decide.',
      async run(session) {
        await Promise.all([200, 400, 409].map((status) => assertNotRepeated(session, status)));
        return 'one attempt each';
      },
    },
  ],
};

/**
 * Describes a different amount or currency in a message. Undefined if neither differs from the
 * transfer, or the transfer is unknown. An absent field does not differ.
 */
function differenceOf({ fields }: Attempt, transfer: Transfer | undefined): string | undefined {
  if (!transfer) return undefined;
  const { amount = transfer.amount, currency = transfer.currency } = fields;
  if (amount === transfer.amount && currency === transfer.currency) return undefined;
  return `${amount} ${currency} instead of ${transfer.amount} ${transfer.currency}`;
}

const isTransferMessage = ({ fields }: Attempt) => fields.type === 'transfer.updated';

function assertOneBodyPerId(attempts: readonly Attempt[]): void {
  const bodies = new Map<unknown, string>();
  for (const { fields, body } of attempts) {
    const earlierBody = bodies.get(fields.id);
    if (earlierBody !== undefined && earlierBody !== body) {
      throw failure(`the ID ${fields.id} belongs to different messages`);
    }
    bodies.set(fields.id, body);
  }
}

/** Creates a check of all received attempts. */
const checkOfAttempts = (
  description: Omit<Check, 'run'>,
  actualResult: string,
  check: (attempts: readonly Attempt[], session: Session) => void,
): Check => ({
  ...description,
  run(session) {
    const { attempts } = session.context.inbox;
    if (attempts.length === 0) throw skipError('no message was received');
    check(attempts, session);
    return `${attempts.length} attempts, ${actualResult}`;
  },
});

export const receivedChecks: CheckGroup = {
  applies: ({ transfers = [] }) => transfers.length > 0,
  phase: 'final',
  checks: [
    checkOfAttempts(
      {
        name: 'messages.signed',
        action: 'the signatures of all attempts are verified',
        expected: 'valid signatures, with a correct digest, key and time',
        remedy: 'Sign each attempt when it is sent, for the address to which it is sent.',
      },
      'all with valid signatures',
      (attempts) => {
        const invalidAttempt = attempts.find((each) => each.signatureProblem !== undefined);
        if (invalidAttempt) throw failure(invalidAttempt.signatureProblem ?? '');
      },
    ),
    checkOfAttempts(
      {
        name: 'messages.valid',
        action: 'the bodies of all attempts are validated',
        expected: 'all fields are valid. Amounts are integers',
        remedy: 'Correct the field. The schema is `Message` in docs/providers/openapi.json.',
      },
      'all valid',
      (attempts) => {
        const [error] = attempts.flatMap(({ errors }) => errors);
        if (error) throw failure(`${error.field || 'the body'} ${error.message}`);
      },
    ),
    checkOfAttempts(
      {
        name: 'messages.amounts',
        action: 'amounts and currencies of messages are compared with the transfers',
        expected: 'the amount and currency of the transfer, in minor units',
        remedy: 'Report the executed amount in minor units, with the currency of the transfer.',
      },
      'amounts equal',
      (attempts, session) => {
        for (const attempt of attempts.filter(isTransferMessage)) {
          const transfer = session.transfers.get(String(attempt.fields.transferId));
          const difference = differenceOf(attempt, transfer);
          if (difference) throw failure(difference);
        }
      },
    ),
    checkOfAttempts(
      {
        name: 'messages.known',
        action: 'the transfer IDs of messages are compared with those that were sent',
        expected: 'each message belongs to a transfer that was sent',
        remedy:
          'Report `transferId` as Railhead sent it, and do not execute transfers of rejected calls.',
      },
      'all transfers known',
      (attempts, session) => {
        const invalidAttempt = attempts
          .filter(isTransferMessage)
          .find(({ fields }) => !session.transfers.has(String(fields.transferId)));
        if (invalidAttempt) {
          throw failure(
            `unknown transfer ${invalidAttempt.fields.transferId}, ${stateOf(invalidAttempt)}`,
          );
        }
      },
    ),
    checkOfAttempts(
      {
        name: 'messages.unique-ids',
        action: 'the IDs of all messages are compared',
        expected: 'different messages have different IDs',
        remedy:
          'Generate an ID for each message, for example from the ID of the event at the bank.',
      },
      'IDs unique',
      assertOneBodyPerId,
    ),
  ],
};
