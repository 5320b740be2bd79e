// One simulation: the world, two servers on one database, who lives in it, and what the actors expect of
// each payment. Actors ask over the real routes with a key, and ask again until they are answered, as a
// client would whose connection broke; what was answered must then hold for good.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import type { Settings } from '../../../src/compose.ts';
import type { CardDecision, CardNotice, CardRequest } from '../../../src/connectors/ports/cards.ts';
import { BASE_PATH } from '../../../src/http/server.ts';
import { connect, emptyPicture, keepDiary, openDiary, type Picture } from '../picture/picture.ts';
import { type Chance, chanceOf } from './chance.ts';
import type { Ending } from './endings.ts';
import { type Node, openNode } from './node.ts';
import { RATES_URL, type Receiver, type SimWorld, simWorld } from './world.ts';

export interface Platform {
  id: string;
  environment: 'sandbox' | 'production';
  /** Its customers are ready at once; otherwise their identity would have to be checked first. */
  regulated: boolean;
  /** Whether what it sends in a day was ever limited. */
  limited: boolean;
  auth: string;
  receiver: Receiver;
  /** Whether it has an endpoint for webhooks. */
  told: boolean;
  /** The agent that asks in its stead. */
  agent?: Agent;
}

/** A program that acts for a customer. */
export interface Agent {
  id: string;
  owner: Person;
  /** Who it is when it asks; absent until it is connected. */
  as?: Platform;
  /** What it can be connected with. */
  code?: string | undefined;
  gone: boolean;
}

/** Something an agent asked for that waits for its platform. */
export interface Waiting {
  id: string;
  agent: Agent;
  order: Order;
}

export interface Person {
  /** Null is the platform itself. */
  id: string | null;
  platform: Platform;
  /** May pay: approved, and not deleted. */
  ready: boolean;
  gone: boolean;
  purses: Map<string, Purse>;
  /** Proves itself before regulated money leaves it; whether its telephone is known to be its own. */
  strong?: { proven: boolean };
  /** The embedded wallet, where there is one that its holder can sign in to. */
  wallet?: Purse | undefined;
}

/** An internal account, and what it must hold once all is quiet. */
export interface Purse {
  id: string;
  currency: string;
  owner: Person;
  due: bigint;
}

/** A wallet whose owner can show that it is theirs. */
export interface Wallet {
  sign(message: string): string;
  /** The text that waits for a signature, and until when. */
  asked?: { text: string; until: number } | undefined;
}

export interface Outside {
  id: string;
  currency: string;
  owner: Person;
  suffix: string;
  gone: boolean;
  wallet?: Wallet;
}

/** A payment as whoever ordered it sees it. */
export interface Order {
  id: string;
  /** Where its money comes from: a balance, a pull, whoever pays in; or it is money that comes in itself. */
  kind: 'balance' | 'pull' | 'realtime' | 'in';
  quoteId: string | null;
  platform: Platform;
  source: Purse | null;
  inside: Purse | null;
  outside: Outside | null;
  /** The account that is pulled from, and whoever it is for when money is paid in. */
  from?: Outside;
  payer?: Person;
  sent: bigint;
  received: bigint;
  platformFee: bigint;
  feePurse: Purse | null;
  /** Null where it depends on what else happens; then any ending will do, as long as the books follow it. */
  ending: Ending | null;
  started: boolean;
  expiresAt: number;
  /** What the holder of the wallet signs that pays for it. */
  payload?: string;
  /** Its customer has a word in it. */
  gated?: boolean;
  /** The agent that made it. */
  agent?: Agent;
  /** How it ends unless it starts; absent: it expires. */
  unstarted?: Ending;
}

/** An entry of a bank's statement as it was recorded. */
export interface Entry {
  words: readonly string[];
  amount: bigint;
  currency: string;
  transactionId: string;
}

/** A client of a provider of stablecoins, and the secret that is in our books. */
export interface MintClient {
  /** Of the account in our books. */
  id: string;
  platform: Platform;
  clientId: string;
  /** What the provider calls the account. */
  account: string;
  secret: string;
}

/** A mint or burn, and how it must end. */
interface CoinOrder {
  id: string;
  client: MintClient;
  ending: string;
  /** The provider gave up the platform meanwhile: what was not handed over by then fails. */
  stranded: boolean;
}

interface Mints {
  clients: MintClient[];
  /** Bank accounts and wallets that are there for mints and burns. */
  banks: Outside[];
  orders: CoinOrder[];
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: replies of every shape; what is read is checked.
  body: any;
  replayed: boolean;
  /** Asked more than once, because no answer came. */
  again?: boolean;
}

/** A message about a card that was heeded, and what was decided where it asked. */
export interface Said {
  request?: CardRequest;
  decision?: CardDecision;
  notice?: CardNotice;
}

/** A request that was answered for good: asked again it must be answered the same. */
interface Settled {
  platform: Platform;
  path: string;
  key: string;
  body: object | undefined;
  answer: Answer;
  at: number;
}

export interface Sim {
  readonly seed: string;
  readonly world: SimWorld;
  readonly chance: Chance;
  readonly picture: Picture;
  /** The simulator's own connection. */
  readonly client: pg.Client;
  readonly nodes: Node[];
  readonly platforms: Platform[];
  readonly people: Person[];
  readonly outside: Outside[];
  /** Payments that are not known to be over. */
  orders: Order[];
  readonly agents: Agent[];
  /** What agents asked for and was not decided yet, going by the answers. */
  waiting: Waiting[];
  readonly settled: Settled[];
  readonly entries: Entry[];
  /** Private halves of keys that clients of wallets have, by the compressed public ones. */
  readonly keys: Map<string, string>;
  /** Signed requests that were answered for good, and must not be again. */
  readonly used: Request[];
  /** What was said at the handler of an issuer, to be said again. */
  readonly said: Said[];
  /** What the actors have taken down as the cost of each payment with a card. */
  readonly charged: Map<string, bigint>;
  /** Stablecoins as their platforms know them. */
  readonly mints: Mints;
  /** Whether errors in the logs are to be expected of this step. */
  rough: boolean;
  next(): number;
  node(): Node;
  /** A request that is answered for certain, whatever dies on the way. */
  ask(
    method: string,
    path: string,
    body: object | undefined,
    as: Platform,
    more?: Signing,
  ): Promise<Answer>;
  /** One try; undefined when no answer came. */
  once(node: Node, request: Request): Promise<Answer | undefined>;
  /** Puts a new server in the place of each dead one. */
  revive(): Promise<void>;
  diary: ReturnType<typeof openDiary>;
  close(): Promise<void>;
}

/** How a request is sent that a wallet signs. */
interface Signing {
  /** Whoever is asked meanwhile may give no answer, which is an answer. */
  talks?: boolean;
  headers?: Record<string, string>;
  /** It takes no idempotency key. */
  keyless?: boolean;
}

export interface Request {
  method: string;
  path: string;
  body: object | undefined;
  as: Platform;
  key?: string | undefined;
  headers?: Record<string, string> | undefined;
}

/** Thrown where something is not as it must be. */
export const broken = (problem: string): Error =>
  Object.assign(new Error(problem), { name: 'Broken' });

const REMEMBERED = 60;
const UNKEPT = [202, 401];
const MASTER_KEY = Buffer.alloc(32, 7);

/** The operator's collection accounts, as production platforms show them to who pays in. */
const COLLECTION = {
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

/** A server's settings; its files lie in a folder of their own. */
function settingsIn(folder: string, databaseUrl: string): Settings {
  const fundingFile = path.join(folder, 'funding.json');
  fs.writeFileSync(fundingFile, JSON.stringify(COLLECTION));
  const connectors = { ratesUrl: RATES_URL, fundingFile };
  const files = { folder: path.join(folder, 'files') };
  return { databaseUrl, masterKey: MASTER_KEY, serviceNamePrefix: 'Service', connectors, files };
}

async function send(node: Node, request: Request): Promise<Answer | undefined> {
  const { method, path, body, as, key, headers = {} } = request;
  const reply = await node.app.server.inject({
    method: method as 'GET',
    url: `${BASE_PATH}${path}`,
    headers: {
      authorization: as.auth,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  if (node.dead) return undefined;
  return {
    status: reply.statusCode,
    body: reply.body ? JSON.parse(reply.body) : undefined,
    replayed: reply.headers['idempotency-replayed'] === 'true',
  };
}

export async function openSim(seed: string, databaseUrl: string): Promise<Sim> {
  const world = simWorld(seed);
  const chance = chanceOf(`${seed} actors`);
  const client = await connect(databaseUrl);
  await keepDiary(client);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-sim-'));
  const settings = settingsIn(folder, databaseUrl);
  const nodes = [await openNode(settings, world), await openNode(settings, world)];
  const settled: Settled[] = [];
  let counter = 0;

  const node = () => nodes[chance.below(nodes.length)] as Node;

  async function revive(): Promise<void> {
    for (const [at, each] of nodes.entries()) {
      if (!each.dead) continue;
      await each.close();
      nodes[at] = await openNode(settings, world);
    }
  }

  async function ask(
    method: string,
    path: string,
    body: object | undefined,
    as: Platform,
    { headers, keyless = false, talks = false }: Signing = {},
  ) {
    const key = method === 'POST' && !keyless ? `key-${++counter}` : undefined;
    for (let tries = 0; tries < 5; tries++) {
      const answer = await send(node(), { method, path, body, as, key, headers });
      if (answer && tries > 0) answer.again = true;
      if (!answer) {
        await revive();
        continue;
      }
      // What no connector offers is 501, which is an answer.
      const fine = answer.status === 501 || (talks && answer.status === 503);
      if (answer.status >= 500 && !fine)
        throw broken(`${method} ${path}: ${JSON.stringify(answer)}`);
      // What may go better later is not kept, nor is what asks for a signature or finds it wrong.
      if (key !== undefined && answer.status < 429 && !UNKEPT.includes(answer.status)) {
        settled.push({ platform: as, path, key, body, answer, at: world.now() });
        if (settled.length > REMEMBERED) settled.shift();
      }
      return answer;
    }
    throw broken(`${method} ${path} was never answered`);
  }

  return {
    seed,
    world,
    chance,
    picture: emptyPicture(),
    client,
    nodes,
    platforms: [],
    people: [],
    outside: [],
    orders: [],
    agents: [],
    waiting: [],
    settled,
    entries: [],
    keys: new Map(),
    used: [],
    said: [],
    charged: new Map(),
    mints: { clients: [], banks: [], orders: [] },
    rough: false,
    next: () => ++counter,
    node,
    ask,
    once: send,
    revive,
    diary: openDiary(client),
    async close() {
      for (const each of nodes) await each.close();
      await client.end();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Every account inside that somebody owns. */
export const pursesOf = ({ purses, wallet }: Person): Purse[] => [
  ...purses.values(),
  ...(wallet ? [wallet] : []),
];

/** What is known of an account outside of the model: its status and what its owner owes. */
export const noted = ({ picture }: Sim, purse: Purse) => picture.internal.get(purse.id);

export const isActive = (sim: Sim, purse: Purse): boolean => noted(sim, purse)?.status === 'ACTIVE';

/** What an account can spend now, as the diary has it. */
export function spendable({ picture }: Sim, purse: Purse): bigint {
  const account = picture.accounts.get(purse.id);
  return account ? account.balance - account.held : 0n;
}
