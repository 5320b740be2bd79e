// A simulation: effects, two servers on one database, platforms and customers, and the expected
// result of each payment. Actors use the real routes with an idempotency key. They retry until they
// receive a reply, which is final, as a client with a broken connection does.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import type { Settings } from '../../../src/compose.ts';
import type { CardDecision, CardNotice, CardRequest } from '../../../src/connectors/ports/cards.ts';
import { BASE_PATH } from '../../../src/http/server.ts';
import {
  connect,
  emptyModel,
  installChangeLog,
  type Model,
  openChangeLog,
} from '../model/model.ts';
import { type Chance, seededChance } from './chance.ts';
import { type Node, openNode } from './node.ts';
import type { Outcome } from './outcomes.ts';
import { RATES_URL, type Receiver, type SimEffects, simEffects } from './sim-effects.ts';

export interface Platform {
  id: string;
  environment: 'sandbox' | 'production';
  /** Whether customers are approved at creation. Customers of other platforms must be verified. */
  regulated: boolean;
  /** Whether the platform ever had a daily limit. */
  hadDailyLimit: boolean;
  auth: string;
  receiver: Receiver;
  /** Whether the platform has a webhook endpoint. */
  hasEndpoint: boolean;
  /** The agent that sends the requests. Absent for requests of the platform. */
  agent?: Agent;
}

/** An agent of a customer. */
export interface Agent {
  id: string;
  owner: Person;
  /** The platform with the credentials of the agent. Absent until the agent is connected. */
  client?: Platform;
  /** The device code that connects the agent. */
  code?: string | undefined;
  isDeleted: boolean;
}

/** An action that awaits the decision of its platform. */
export interface PendingAction {
  id: string;
  agent: Agent;
  order: Order;
}

export interface Person {
  /** Null for the platform itself. */
  id: string | null;
  platform: Platform;
  /** Whether payments are permitted. The customer is approved and exists. */
  mayPay: boolean;
  isDeleted: boolean;
  internalAccounts: Map<string, InternalAccount>;
  /** Present for a customer subject to strong authentication. */
  strongAuthentication?: { phoneVerified: boolean };
  /** The embedded wallet, if its holder can sign in. */
  wallet?: InternalAccount | undefined;
}

/** An internal account, and its expected balance after settling. */
export interface InternalAccount {
  id: string;
  currency: string;
  owner: Person;
  expectedBalance: bigint;
}

/** A wallet whose owner can prove ownership. */
export interface Wallet {
  sign(message: string): string;
  /** The challenge text, and its expiry. */
  challenge?: { text: string; expiresAt: number } | undefined;
}

export interface ExternalAccount {
  id: string;
  currency: string;
  owner: Person;
  suffix: string;
  isDeleted: boolean;
  wallet?: Wallet;
}

/** A payment with its expected outcome, according to its client. */
export interface Order {
  id: string;
  /** Source of the funds: a balance, a debit, a deposit, or an incoming payment. */
  kind: 'balance' | 'debit' | 'realtime' | 'in';
  quoteId: string | null;
  platform: Platform;
  source: InternalAccount | null;
  internalAccount: InternalAccount | null;
  externalAccount: ExternalAccount | null;
  /** The account that a funding debit debits. */
  debitedAccount?: ExternalAccount;
  /** The payer of a deposit. */
  payer?: Person;
  sentAmount: bigint;
  receivedAmount: bigint;
  platformFee: bigint;
  feeAccount: InternalAccount | null;
  /**
   * Null if the outcome depends on other events. Then any outcome that matches the ledger is valid.
   */
  expectedOutcome: Outcome | null;
  isStarted: boolean;
  expiresAt: number;
  /** The payload that the wallet holder signs. */
  payload?: string;
  /** Whether the payment requires strong authentication. */
  requiresSca?: boolean;
  /** The agent that created the payment. */
  agent?: Agent;
  /** The outcome if the payment is not started. Absent if the payment then expires. */
  outcomeUnlessStarted?: Outcome;
}

/** A recorded bank statement entry. */
export interface StatementEntry {
  args: readonly string[];
  amount: bigint;
  currency: string;
  transactionId: string;
}

/** A client of a stablecoin provider, and the secret that the server has stored. */
export interface MintClient {
  /** ID of the provider account. */
  id: string;
  platform: Platform;
  clientId: string;
  /** The provider's ID of the account. */
  account: string;
  secret: string;
}

/** A mint or burn, and its expected outcome. */
interface CoinOrder {
  id: string;
  client: MintClient;
  expectedStatus: string;
  /** Whether the provider revoked access. Orders that are submitted later fail. */
  accessRevoked: boolean;
}

interface Mints {
  clients: MintClient[];
  /** Bank accounts and wallets for mints and burns. */
  banks: ExternalAccount[];
  orders: CoinOrder[];
}

export interface ApiResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of a reply that they read.
  body: any;
  isReplayed: boolean;
  /** Whether the request was sent more than once, because a reply was lost. */
  isRepeated?: boolean;
}

/** An accepted card message, and the decision of a request. */
export interface CardMessage {
  request?: CardRequest;
  decision?: CardDecision;
  notice?: CardNotice;
}

/** A completed request. A repetition must have the same reply. */
interface CompletedRequest {
  platform: Platform;
  path: string;
  key: string;
  body: object | undefined;
  response: ApiResponse;
  at: number;
}

export interface Sim {
  readonly seed: string;
  readonly effects: SimEffects;
  readonly chance: Chance;
  readonly model: Model;
  /** The simulator's own connection. */
  readonly client: pg.Client;
  readonly nodes: Node[];
  readonly platforms: Platform[];
  readonly people: Person[];
  readonly externalAccounts: ExternalAccount[];
  /** Payments that are not known to be final. */
  orders: Order[];
  readonly agents: Agent[];
  /** Agent actions that are undecided according to the replies. */
  pendingActions: PendingAction[];
  readonly completedRequests: CompletedRequest[];
  readonly entries: StatementEntry[];
  /** Private keys of wallet clients, by compressed public key. */
  readonly clientKeys: Map<string, string>;
  /** Completed signed requests. Repeating one must have no effect. */
  readonly signedRequests: Request[];
  /** Messages to the authorization handler, for repetition. */
  readonly cardMessages: CardMessage[];
  /** Recorded cost of each card payment. */
  readonly cardCosts: Map<string, bigint>;
  /** Clients, accounts and orders of stablecoins, according to their platforms. */
  readonly mints: Mints;
  /** Whether the current step may log errors. */
  errorsExpected: boolean;
  nextNumber(): number;
  pickNode(): Node;
  /** A request that is repeated until it has a reply. */
  call(
    method: string,
    path: string,
    body: object | undefined,
    platform: Platform,
    options?: RequestOptions,
  ): Promise<ApiResponse>;
  /** Sends a request once. Returns undefined without a reply. */
  sendOnce(node: Node, request: Request): Promise<ApiResponse | undefined>;
  /** Replaces each killed server. */
  replaceDeadNodes(): Promise<void>;
  changeLog: ReturnType<typeof openChangeLog>;
  close(): Promise<void>;
}

/** Options of `call`. */
interface RequestOptions {
  /** Whether the operation calls an external provider, so that 503 is a valid reply. */
  callsExternal?: boolean;
  headers?: Record<string, string>;
  /** Whether the request has no idempotency key. */
  withoutKey?: boolean;
}

export interface Request {
  method: string;
  path: string;
  body: object | undefined;
  platform: Platform;
  key?: string | undefined;
  headers?: Record<string, string> | undefined;
}

/** Thrown when an expectation is violated. */
export const violation = (problem: string): Error =>
  Object.assign(new Error(problem), { name: 'Violation' });

const MAX_STORED_REQUESTS = 60;
const UNSTORED_STATUSES = [202, 401];
const MASTER_KEY = Buffer.alloc(32, 7);

/** The operator's collection accounts, as production platforms show them to payers. */
const COLLECTION_ACCOUNTS = {
  USD: [
    {
      accountOrWalletInfo: {
        accountType: 'USD_ACCOUNT',
        accountNumber: '123456789',
        routingNumber: '021000021',
        bankName: 'First Bank',
        accountHolderName: 'Example Payments',
        paymentRails: ['ACH', 'WIRE', 'RTP'],
      },
    },
  ],
};

/** Settings of a server. The files of each server are in a separate folder. */
function settingsIn(folder: string, databaseUrl: string): Settings {
  const fundingFile = path.join(folder, 'funding.json');
  fs.writeFileSync(fundingFile, JSON.stringify(COLLECTION_ACCOUNTS));
  const connectors = { ratesUrl: RATES_URL, fundingFile };
  const files = { folder: path.join(folder, 'files') };
  // The clock may advance beyond the retention period. The rules compare every event.
  const eventRetentionMs = 100 * 365 * 86_400_000;
  const fixedSettings = { masterKey: MASTER_KEY, serviceNamePrefix: 'Service', eventRetentionMs };
  return { ...fixedSettings, databaseUrl, connectors, files };
}

async function send(node: Node, request: Request): Promise<ApiResponse | undefined> {
  const { method, path, body, platform, key, headers = {} } = request;
  const reply = await node.app.server.inject({
    method: method as 'GET',
    url: `${BASE_PATH}${path}`,
    headers: {
      authorization: platform.auth,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  if (node.isDead) return undefined;
  return {
    status: reply.statusCode,
    body: reply.body ? JSON.parse(reply.body) : undefined,
    isReplayed: reply.headers['idempotency-replayed'] === 'true',
  };
}

export async function openSim(seed: string, databaseUrl: string): Promise<Sim> {
  const effects = simEffects(seed);
  const chance = seededChance(`${seed} actors`);
  const client = await connect(databaseUrl);
  await installChangeLog(client);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-sim-'));
  const settings = settingsIn(folder, databaseUrl);
  const nodes = [await openNode(settings, effects), await openNode(settings, effects)];
  const completedRequests: CompletedRequest[] = [];
  let counter = 0;

  const pickNode = () => nodes[chance.integerBelow(nodes.length)] as Node;

  async function replaceDeadNodes(): Promise<void> {
    for (const [index, node] of nodes.entries()) {
      if (!node.isDead) continue;
      await node.close();
      nodes[index] = await openNode(settings, effects);
    }
  }

  async function call(
    method: string,
    path: string,
    body: object | undefined,
    platform: Platform,
    { headers, withoutKey = false, callsExternal = false }: RequestOptions = {},
  ) {
    const key = method === 'POST' && !withoutKey ? `key-${++counter}` : undefined;
    for (let attempts = 0; attempts < 5; attempts++) {
      const response = await send(pickNode(), { method, path, body, platform, key, headers });
      if (response && attempts > 0) response.isRepeated = true;
      if (!response) {
        await replaceDeadNodes();
        continue;
      }
      // 501 of a missing connector is a final reply.
      const isPermitted = response.status === 501 || (callsExternal && response.status === 503);
      if (response.status >= 500 && !isPermitted)
        throw violation(`${method} ${path} returned a server error: ${JSON.stringify(response)}`);
      // Not stored: retryable errors, and requests for a signature or with a wrong signature.
      if (
        key !== undefined &&
        response.status < 429 &&
        !UNSTORED_STATUSES.includes(response.status)
      ) {
        completedRequests.push({ platform, path, key, body, response, at: effects.now() });
        if (completedRequests.length > MAX_STORED_REQUESTS) completedRequests.shift();
      }
      return response;
    }
    throw violation(`${method} ${path} has no reply after 5 attempts`);
  }

  return {
    seed,
    effects,
    chance,
    model: emptyModel(),
    client,
    nodes,
    platforms: [],
    people: [],
    externalAccounts: [],
    orders: [],
    agents: [],
    pendingActions: [],
    completedRequests,
    entries: [],
    clientKeys: new Map(),
    signedRequests: [],
    cardMessages: [],
    cardCosts: new Map(),
    mints: { clients: [], banks: [], orders: [] },
    errorsExpected: false,
    nextNumber: () => ++counter,
    pickNode,
    call,
    sendOnce: send,
    replaceDeadNodes,
    changeLog: openChangeLog(client),
    async close() {
      for (const node of nodes) await node.close();
      await client.end();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** All internal accounts of an owner. */
export const internalAccountsOf = ({ internalAccounts, wallet }: Person): InternalAccount[] => [
  ...internalAccounts.values(),
  ...(wallet ? [wallet] : []),
];

/** The row of an account in the model: its status and its owner's debt. */
export const accountRow = ({ model }: Sim, internalAccount: InternalAccount) =>
  model.internal.get(internalAccount.id);

export const isActive = (sim: Sim, internalAccount: InternalAccount): boolean =>
  accountRow(sim, internalAccount)?.status === 'ACTIVE';

/** Available amount of an account, according to the change log. */
export function spendableAmount({ model }: Sim, internalAccount: InternalAccount): bigint {
  const account = model.accounts.get(internalAccount.id);
  return account ? account.balance - account.held : 0n;
}
