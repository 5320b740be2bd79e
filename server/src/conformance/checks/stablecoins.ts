// Checks of stablecoins, with orders of mints: an order is executed once, and its result is final.
import {
  StablecoinAccounts,
  StablecoinLink,
  StablecoinOrderReply,
  StablecoinPreview,
  StablecoinToken,
} from '../../connectors/ports/providers/stablecoins.ts';
import { iso } from '../../kernel/effects.ts';
import { uuid7 } from '../../kernel/id.ts';
import type { CheckGroup } from '../check.ts';
import type { Session } from '../session.ts';
import { failure } from '../verdict.ts';

const TEST_MODE =
  'In its test mode the adapter accepts the client "TEST" with the secret "TEST" and the token ' +
  '"TEST". The description of an order requests its result: "TEST COMPLETED", "TEST FAILED" or ' +
  '"TEST HELD".';

const credentials = { clientId: 'TEST', clientSecret: 'TEST' };
const token = {
  ...{ providerTokenIdentifier: 'TEST', networkTokenIdentifier: 'TEST', network: 'SPARK' },
};

async function accountOf(session: Session) {
  const { accounts } = await session.read('/stablecoins/accounts', credentials, StablecoinAccounts);
  const [providerAccountId] = accounts;
  if (providerAccountId === undefined) throw failure('no account for the client "TEST"');
  return { credentials, providerAccountId };
}

/** Links a wallet, and returns an order of a mint that has this result. */
async function createOrder(session: Session, result: 'COMPLETED' | 'FAILED' | 'HELD') {
  const account = await accountOf(session);
  const tokenReply = await session.read('/stablecoins/token', { account, token }, StablecoinToken);
  if (tokenReply.result !== 'found') throw failure(`the token is ${tokenReply.result}`);
  const [id, accountId] = [uuid7(session.context.effects), `ExternalAccount:${result}`];
  const details = { accountType: 'SPARK_WALLET', address: 'spark1test' };
  const linkInput = { account, externalAccountId: accountId, details, rail: 'SPARK' };
  const link = await session.read('/stablecoins/link', linkInput, StablecoinLink);
  if (link.result !== 'linked') throw failure(`the wallet is ${link.result}`);
  return {
    ...{ orderId: `StablecoinOperation:${id}`, type: 'MINT', account, token },
    ...{ decimals: tokenReply.decimals, baseCurrency: tokenReply.baseCurrency },
    amount: `10${'0'.repeat(tokenReply.decimals)}`,
    ...{ source: 'WIRE', rail: 'SPARK', description: `TEST ${result}` },
    to: { accountId, rail: 'SPARK', reference: link.reference },
    orderedAt: iso(session.context.effects.now()),
  };
}

type Order = Awaited<ReturnType<typeof createOrder>>;

const submit = (session: Session, order: Order) =>
  session.read('/stablecoins/submit', order, StablecoinOrderReply);

const FINAL: readonly string[] = ['completed', 'failed'];

/** Waits for the final state. */
async function resultOf(session: Session, order: Order) {
  const result = await session.poll(async () => {
    const reply = await session.read('/stablecoins/state', order, StablecoinOrderReply);
    return FINAL.includes(reply.state) ? reply : undefined;
  });
  if (!result) throw failure('no result');
  return result;
}

/** The states that messages report. */
const reportedStatesOf = (session: Session, { orderId }: Order) =>
  session
    .messagesOf({ type: 'stablecoin.order', orderId })
    .map(({ fields }) => (fields.order as { state: string }).state);

async function assertFinalResult(
  session: Session,
  result: 'COMPLETED' | 'FAILED',
): Promise<string> {
  const order = await createOrder(session, result);
  await submit(session, order);
  const expectedState = result.toLowerCase();
  const { state } = await resultOf(session, order);
  if (state !== expectedState) throw failure(state);
  const repeatedState = (await submit(session, order)).state;
  if (repeatedState !== state)
    throw failure(`${state}, but ${repeatedState} when it is sent again`);
  await session.waitQuietPeriod();
  const contradiction = reportedStatesOf(session, order).find(
    (each) => FINAL.includes(each) && each !== state,
  );
  if (contradiction !== undefined)
    throw failure(`${state}, but a message reports ${contradiction}`);
  return state;
}

export const stablecoinChecks: CheckGroup = {
  applies: ({ services = [] }) => services.includes('stablecoins'),
  phase: 'parallel',
  checks: [
    {
      name: 'stablecoins.prepare',
      action: 'an order is validated, and its state is requested',
      expected: 'accepted, then status 404 for the state: no order exists',
      remedy: `/stablecoins/prepare must have no effect. ${TEST_MODE}`,
      async run(session) {
        const order = await createOrder(session, 'COMPLETED');
        const { result } = await session.read('/stablecoins/prepare', order, StablecoinPreview);
        if (result !== 'accepted') throw failure(result);
        const { status } = await session.call('/stablecoins/state', order);
        if (status !== 404) throw failure(`status ${status}: an order exists`);
        return 'accepted, status 404';
      },
    },
    {
      name: 'stablecoins.once',
      action: 'an order is sent three times, twice concurrently, and completes',
      expected: 'one completion: at most one message with the state "completed"',
      remedy: 'Store the order by orderId before it is executed, and return the stored state.',
      async run(session) {
        const order = await createOrder(session, 'COMPLETED');
        await Promise.all([submit(session, order), submit(session, order)]);
        await submit(session, order);
        await resultOf(session, order);
        await session.waitQuietPeriod();
        const completions = reportedStatesOf(session, order).filter((each) => each === 'completed');
        if (completions.length > 1) throw failure(`completed ${completions.length} times`);
        return `${completions.length} message`;
      },
    },
    {
      name: 'stablecoins.amount',
      action: 'the amounts in the reply and in messages are compared with the completed order',
      expected: 'the amount of the order, in minor units of the token',
      remedy: 'Report the executed amount as text in minor units of the token.',
      async run(session) {
        const order = await createOrder(session, 'COMPLETED');
        await submit(session, order);
        const reply = await resultOf(session, order);
        await session.waitQuietPeriod();
        const messages = session.messagesOf({ type: 'stablecoin.order', orderId: order.orderId });
        const states = [reply, ...messages.map(({ fields }) => fields.order)] as ReportedOrder[];
        const differentState = states.find(({ amount = order.amount }) => amount !== order.amount);
        if (differentState) throw failure(`${differentState.amount} instead of ${order.amount}`);
        return order.amount;
      },
    },
    ...(['COMPLETED', 'FAILED'] as const).map((result) => ({
      name: `stablecoins.${result.toLowerCase()}`,
      action: `an order with the result "${result.toLowerCase()}" is sent again`,
      expected: `${result.toLowerCase()}, each time`,
      remedy: `${TEST_MODE} Store the result, and do not report a contradictory state.`,
      run: (session: Session) => assertFinalResult(session, result),
    })),
    {
      name: 'stablecoins.credentials',
      action: 'accounts are requested with credentials that the provider did not issue',
      expected: 'no accounts',
      remedy: 'Return an empty list of accounts for wrong credentials.',
      async run(session) {
        const invalidCredentials = { clientId: 'TEST', clientSecret: 'WRONG' };
        const reply = await session.read(
          '/stablecoins/accounts',
          invalidCredentials,
          StablecoinAccounts,
        );
        if (reply.accounts.length > 0) throw failure(reply.accounts.join(', '));
        return 'no accounts';
      },
    },
  ],
};

interface ReportedOrder {
  amount?: unknown;
}
