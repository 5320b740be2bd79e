// Clients that send payments continuously and record their replies. A request without a reply is
// repeated with the same key after the restart until it has one. The final reply must match the
// database snapshot before the repetition.
import { setTimeout as sleep } from 'node:timers/promises';
import { accountInfos } from '../app/fixtures.ts';
import type { Running } from './server.ts';

type Kind = 'fund' | 'quote' | 'execute' | 'transfer';

/** A request with at most one effect, even if it is sent repeatedly. */
export interface RecordedRequest {
  readonly kind: Kind;
  readonly key: string;
  readonly path: string;
  readonly body: object | undefined;
  /**
   * Identifies the effect of the request: an amount, a description, a remittance text or a quote.
   */
  readonly identifier: string;
  /** The reply, if it determines the result. */
  response: ApiResponse | undefined;
  /** Whether the latest snapshot contains the effect, and the number of attempts since then. */
  wasStored: boolean;
  attempts: number;
}

interface ApiResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of a reply that they read.
  body: any;
  isReplayed: boolean;
}

export const isDone = (request: RecordedRequest) =>
  request.response !== undefined && request.response.status < 300;

/** Reproducible numbers from 0 to 1 (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixedBits = Math.imul(state ^ (state >>> 15), state | 1);
    mixedBits ^= mixedBits + Math.imul(mixedBits ^ (mixedBits >>> 7), mixedBits | 61);
    return ((mixedBits ^ (mixedBits >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Person {
  usd: string;
  eur: string;
  /** External accounts by currency and by the suffix of their number, which selects the outcome. */
  externalAccountIds: Record<'USD' | 'EUR', Record<string, string>>;
}

/**
 * Suffixes of accounts whose payments settle, fail or are returned within seconds. Payments to
 * `SLOW_SUFFIX` are returned after ten seconds.
 */
const QUICK_SUFFIXES = ['000', '002', '004', '006', '007'];
const SLOW_SUFFIX = '005';
const REPLY_TIMEOUT_MS = 30_000;

/** Sends one request. Returns undefined without a reply. */
async function request(
  server: Running,
  method: string,
  path: string,
  body?: object,
  key?: string,
): Promise<ApiResponse | undefined> {
  const { baseUrl, clientId, clientSecret } = server.credentials;
  const encodedCredentials = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  try {
    const reply = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Basic ${encodedCredentials}`,
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REPLY_TIMEOUT_MS),
    });
    const isReplayed = reply.headers.get('idempotency-replayed') === 'true';
    return { status: reply.status, body: JSON.parse(await reply.text()), isReplayed };
  } catch {
    return undefined;
  }
}

/** Sends a request that must succeed. Returns the body of the reply. */
export async function callOrThrow(server: Running, method: string, path: string, body?: object) {
  const response = await request(server, method, path, body);
  if (response && response.status < 300) return response.body;
  throw new Error(`${method} ${path} replied with ${JSON.stringify(response)}`);
}

async function createPerson(server: Running, index: number): Promise<Person> {
  const { id } = await callOrThrow(server, 'POST', '/customers', {
    customerType: 'INDIVIDUAL',
    platformCustomerId: `person-${index}`,
    fullName: 'Ada Lovelace',
    birthDate: '1990-01-15',
    nationality: 'US',
    address: {
      line1: '1 Main St',
      city: 'Austin',
      state: 'TX',
      postalCode: '78701',
      country: 'US',
    },
  });
  const readAccountId = async (currency: string): Promise<string> => {
    const query = `customerId=${id}&currency=${currency}`;
    return (await callOrThrow(server, 'GET', `/customers/internal-accounts?${query}`)).data[0].id;
  };
  const externalAccounts: Person['externalAccountIds'] = { USD: {}, EUR: {} };
  for (const currency of ['USD', 'EUR'] as const) {
    for (const suffix of [...QUICK_SUFFIXES, SLOW_SUFFIX]) {
      const accountInfo = accountInfos[currency]?.(suffix);
      const body = { customerId: id, currency, accountInfo };
      const createdExternalAccount = await callOrThrow(
        server,
        'POST',
        '/customers/external-accounts',
        body,
      );
      externalAccounts[currency][suffix] = createdExternalAccount.id;
    }
  }
  const [usd, eur] = [await readAccountId('USD'), await readAccountId('EUR')];
  const fundPath = `/sandbox/internal-accounts/${usd}/fund`;
  await callOrThrow(server, 'POST', fundPath, { amount: 5_000_00 });
  return { usd, eur, externalAccountIds: externalAccounts };
}

export interface Load {
  readonly requests: readonly RecordedRequest[];
  /** Unexpected results of the requests. */
  readonly unexpectedResults: string[];
  /** Replies received, and attempts without a reply. */
  readonly replyCount: number;
  readonly lostCount: number;
  /** Directs the requests of the clients to this server. */
  open(server: Running): void;
  /** Permits failed requests, and delays new requests until `open`. Called before a kill. */
  allowFailures(): void;
  /** Resolves when no request is in progress. None starts until `open`. */
  waitUntilIdle(): Promise<void>;
  /** Enables payments that are returned after ten seconds. */
  hasSlowPayments: boolean;
  /** Stops after every client has completed its request, with repetitions. */
  finish(): Promise<void>;
}

/** Holds the server of the clients. The clients wait while no server is set. */
function createServerHolder() {
  let server: Running | undefined;
  let waitingClients: ((server: Running) => void)[] = [];
  return {
    get isOpen() {
      return server !== undefined;
    },
    waitForServer: () =>
      server
        ? Promise.resolve(server)
        : new Promise<Running>((resolve) => {
            waitingClients.push(resolve);
          }),
    setServer(next: Running) {
      server = next;
      const resolvers = waitingClients;
      waitingClients = [];
      for (const resolve of resolvers) resolve(next);
    },
    close() {
      server = undefined;
    },
  };
}

interface LoadOptions {
  seed: number;
  clients: number;
  people: number;
  /** Failed requests are normal at any time. They are repeated until they have a reply. */
  toleratesFailures?: boolean;
  /** Interval of payments that start independently of earlier payments. */
  steadyMs?: number;
  /** Called with the status of each final reply. */
  onReply?(status: number): void;
}

/** Creates customers and accounts on `server`, and clients that wait for `open`. */
export async function createLoad(server: Running, options: LoadOptions): Promise<Load> {
  const people = await Promise.all(
    Array.from({ length: options.people }, (_, index) => createPerson(server, index)),
  );
  const serverHolder = createServerHolder();
  const requests: RecordedRequest[] = [];
  const unexpectedResults: string[] = [];
  let inFlightCount = 0;
  let replyCount = 0;
  let lostCount = 0;
  let requestCount = 0;
  let isFinishing = false;
  const isTolerant = options.toleratesFailures === true;

  function recordReply(request: RecordedRequest, response: ApiResponse): void {
    const name = `${request.kind} ${request.key}`;
    const { status } = response;
    if (status >= 500 || status === 429) {
      // Clients retry after status 503.
      if (serverHolder.isOpen && status === 500 && !isTolerant)
        unexpectedResults.push(`${name} failed without a kill`);
      return;
    }
    request.response = response;
    replyCount++;
    options.onReply?.(status);
    if (isTolerant) checkRejection(`${name} (${request.attempts} attempts)`, response);
    else checkReply(name, request, response);
  }

  function checkReply(name: string, request: RecordedRequest, response: ApiResponse): void {
    const { isReplayed } = response;
    if (request.wasStored && !isReplayed) unexpectedResults.push(`${name} was executed twice`);
    if (!request.wasStored && request.attempts === 1 && isReplayed)
      unexpectedResults.push(`${name} was not executed, and was replayed`);
    checkRejection(name, response);
  }

  function checkRejection(name: string, response: ApiResponse): void {
    const expectedCodes = ['INSUFFICIENT_FUNDS', 'CONFLICT'];
    // A quote may expire while no server responds.
    if (isTolerant) expectedCodes.push('QUOTE_EXPIRED');
    if (response.status >= 300 && !expectedCodes.includes(response.body.code)) {
      unexpectedResults.push(`${name} was rejected: ${JSON.stringify(response.body)}`);
    }
  }

  /** Sends a request until it has a reply. */
  async function sendUntilReply(recordedRequest: RecordedRequest): Promise<ApiResponse> {
    for (;;) {
      const currentServer = await serverHolder.waitForServer();
      inFlightCount++;
      recordedRequest.attempts++;
      const response = await request(
        currentServer,
        'POST',
        recordedRequest.path,
        recordedRequest.body,
        recordedRequest.key,
      );
      inFlightCount--;
      if (response) recordReply(recordedRequest, response);
      else {
        lostCount++;
        if (serverHolder.isOpen && !isTolerant)
          unexpectedResults.push(
            `${recordedRequest.kind} ${recordedRequest.key} received no reply without a kill`,
          );
      }
      if (recordedRequest.response) return recordedRequest.response;
      await sleep(isTolerant ? 200 : 20);
    }
  }

  function sendRequest(
    kind: Kind,
    path: string,
    body?: object,
    identifier?: string,
  ): Promise<ApiResponse> {
    requestCount++;
    const key = `act-${requestCount}`;
    const textFields = { quote: { description: key }, transfer: { remittanceInformation: key } };
    const fullBody = kind in textFields ? { ...body, ...textFields[kind as 'quote'] } : body;
    const recordedRequest: RecordedRequest = {
      kind,
      key,
      path,
      body: fullBody,
      identifier: identifier ?? key,
      response: undefined,
      wasStored: false,
      attempts: 0,
    };
    requests.push(recordedRequest);
    return sendUntilReply(recordedRequest);
  }

  const load: Load = {
    requests,
    unexpectedResults,
    get replyCount() {
      return replyCount;
    },
    get lostCount() {
      return lostCount;
    },
    open: serverHolder.setServer,
    allowFailures: serverHolder.close,
    async waitUntilIdle() {
      while (inFlightCount > 0) await sleep(5);
    },
    hasSlowPayments: true,
    async finish() {
      isFinishing = true;
      await Promise.all(runningClients);
    },
  };

  async function runClient(chance: () => number): Promise<void> {
    const randomBelow = (count: number) => Math.floor(chance() * count);
    const choose = <T>(list: readonly T[]) => list[randomBelow(list.length)] as T;

    async function fund(): Promise<void> {
      const amount = 6_000_00 + requests.length; // A unique amount identifies the request.
      const person = choose(people);
      const account = choose([person.usd, person.usd, person.eur]);
      await sendRequest(
        'fund',
        `/sandbox/internal-accounts/${account}/fund`,
        { amount },
        `${amount}`,
      );
    }

    /** An amount, which is much more than any balance in 5 % of the calls. */
    const chooseAmount = () => (chance() < 0.05 ? 9_000_000_00 : 5_00 + randomBelow(50_00));

    function chooseTarget(person: Person): string {
      if (chance() < 0.5) {
        const otherPerson = choose(people);
        return choose(
          [otherPerson.usd, otherPerson.eur].filter((account) => account !== person.usd),
        );
      }
      const suffixes = load.hasSlowPayments
        ? [...QUICK_SUFFIXES, '000', SLOW_SUFFIX]
        : [...QUICK_SUFFIXES, '000'];
      return person.externalAccountIds[choose(['USD', 'EUR'] as const)][choose(suffixes)] as string;
    }

    async function pay(): Promise<void> {
      const person = choose(people);
      const immediatelyExecute = chance() < 0.15;
      const quote = await sendRequest('quote', '/quotes', {
        source: { sourceType: 'ACCOUNT', accountId: person.usd },
        destination: { destinationType: 'ACCOUNT', accountId: chooseTarget(person) },
        lockedCurrencySide: choose(['SENDING', 'RECEIVING']),
        lockedCurrencyAmount: chooseAmount(),
        immediatelyExecute,
      });
      if (quote.status !== 201 || immediatelyExecute) return;
      const { id } = quote.body;
      const execute = () => sendRequest('execute', `/quotes/${id}/execute`, undefined, id);
      if (chance() < 0.1) await Promise.all([execute(), execute()]);
      else await execute();
    }

    async function transfer(): Promise<void> {
      const person = choose(people);
      await sendRequest('transfer', '/transfer-out', {
        source: { accountId: person.usd },
        destination: { accountId: person.externalAccountIds.USD[choose(QUICK_SUFFIXES)] },
        amount: chooseAmount(),
      });
    }

    while (!isFinishing) {
      // Requests are sent in bursts, so that batches fill up and queues drain.
      for (let burstSize = 2 + randomBelow(6); burstSize > 0 && !isFinishing; burstSize--) {
        await choose([fund, pay, pay, pay, transfer])();
      }
      await sleep(50 + randomBelow(200));
    }
  }

  /** Sends payments at a steady rate, so that a payment starts soon after the end of an outage. */
  async function runSteadyClient(intervalMs: number): Promise<void> {
    const requests: Promise<unknown>[] = [];
    while (!isFinishing) {
      await serverHolder.waitForServer();
      const person = people[requests.length % people.length] as Person;
      const destination = { accountId: person.externalAccountIds.USD['000'] };
      const source = { accountId: person.usd };
      requests.push(
        sendRequest('transfer', '/transfer-out', { source, destination, amount: 1_00 }),
      );
      await sleep(intervalMs);
    }
    await Promise.all(requests);
  }

  const runningClients = Array.from({ length: options.clients }, (_, index) =>
    runClient(seededRandom(options.seed * 1_000 + index)),
  );
  if (options.steadyMs !== undefined) runningClients.push(runSteadyClient(options.steadyMs));
  return load;
}
