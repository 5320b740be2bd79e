// What hangs on embedded wallets: credentials, sessions, requests to sign and what was signed. Kept by
// counting what happens, and not from what is left, so that a request which did its work twice shows: so many
// were done, so much must be there.
import type { Note, Noted, Picture } from './picture.ts';

export interface Holding {
  credentials: Map<string, Noted>;
  sessions: Map<string, Noted>;
  /** Credentials that nobody had to sign for: the first. */
  given: number;
  /** How many requests were done, by operation. */
  done: Map<string, number>;
  /** How many a good signature came for. */
  accepted: Map<string, number>;
  /** How much was signed. */
  signed: Map<string, number>;
}

function holdingIn({ holdings }: Picture, id: string): Holding {
  const known = holdings.get(id);
  if (known) return known;
  const fresh: Holding = {
    credentials: new Map(),
    sessions: new Map(),
    given: 0,
    done: new Map(),
    accepted: new Map(),
    signed: new Map(),
  };
  holdings.set(id, fresh);
  return fresh;
}

const count = (counts: Map<string, number>, name: string) =>
  counts.set(name, (counts.get(name) ?? 0) + 1);

const isDone = (row: Noted | null) => row?.status === 'SETTLED' || row?.status === 'DONE';
const isAccepted = (row: Noted | null) => row?.status === 'PROCESSING' || isDone(row);

const APPLY: Readonly<Record<string, (of: Holding, note: Note, picture: Picture) => void>> = {
  credentials(of, { was, now }) {
    if (!now) return;
    if (!was && of.credentials.size === 0) of.given++;
    of.credentials.set(now.id as string, now);
  },
  wallet_sessions(of, { now }) {
    if (now) of.sessions.set(now.id as string, now);
  },
  wallet_requests(of, { was, now }) {
    if (!now) return;
    const [operation = ''] = (now.subject ?? '').split(' ');
    if (isDone(now) && !isDone(was)) count(of.done, operation);
    if (isAccepted(now) && !isAccepted(was)) count(of.accepted, operation);
  },
  wallet_authorizations(of, { now }, { signed }) {
    if (!now) return;
    count(of.signed, now.operation as string);
    const quote = now.subject as string;
    if (now.operation === 'executeQuote') signed.set(quote, [...(signed.get(quote) ?? []), now]);
  },
};

/** How a note changes what is known of a wallet. */
export function applyHolderNote(picture: Picture, note: Note): void {
  const id = (note.now ?? note.was)?.account_id;
  if (id) APPLY[note.table]?.(holdingIn(picture, id), note, picture);
}

const TWO = { ACTIVE: ['REVOKED'], REVOKED: [] };
const MOVES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  credentials: TWO,
  wallet_sessions: TWO,
  wallet_requests: {
    PENDING: ['PROCESSING', 'DONE', 'DROPPED'],
    PROCESSING: ['SETTLED', 'DONE'],
    SETTLED: ['DONE'],
    DONE: [],
    DROPPED: [],
  },
};
const FIRST: Readonly<Record<string, string>> = { wallet_requests: 'PENDING' };

/** What is wrong with a move; requests are forgotten after a while, and nothing else is. */
export function walletMoveProblem(
  table: string,
  was: Noted | null,
  now: Noted | null,
): string | undefined {
  if (!now) return table === 'wallet_requests' ? undefined : `${was?.id} was removed`;
  const [from, to] = [was?.status ?? (FIRST[table] || 'ACTIVE'), now.status ?? ''];
  if (from === to || MOVES[table]?.[from]?.includes(to)) return undefined;
  return `${now.id} went from ${from} to ${to}`;
}

/** What is wrong with something signed: whose it is, or that it was changed. */
export function authorizationProblem(
  { holdings, cardBook }: Picture,
  was: Noted | null,
  now: Noted | null,
): string | undefined {
  if (was || !now) return `${was?.id} was changed`;
  const { id, account_id, session_id, operation, subject, public_key, created_at } = now;
  // The key that the wallet has given for a card.
  if (operation === 'cardPull') {
    const { cardId } = JSON.parse(cardBook.payments.get(subject ?? '')?.card ?? '{}');
    const keys = [...(cardBook.keys.get(cardId)?.values() ?? [])];
    const own = keys.find((key) => key.public_key === public_key && key.status === 'ACTIVE');
    return own?.account_id === account_id ? undefined : `${id} is of no key that may sign`;
  }
  // The key of a session that is only being opened.
  if (session_id === null) {
    return operation === 'verifyAuthCredential' ? undefined : `${id} is of no session`;
  }
  const session = holdings.get(account_id ?? '')?.sessions.get(session_id ?? '');
  const ended = session?.status !== 'ACTIVE' && subject !== session_id;
  const late = Date.parse(session?.expires_at ?? '') <= Date.parse(created_at ?? '');
  if (!session || ended || late) return `${id} is of ${session_id}, which may not sign`;
  return session.public_key === public_key ? undefined : `${id} is of another key`;
}

/** What is wrong with how a payment out of a wallet was signed. */
export function spentProblem({ internal, signed }: Picture, row: Noted): string | undefined {
  const account = internal.get(row.source_account ?? '');
  if (account?.type !== 'EMBEDDED_WALLET') return undefined;
  const waits = row.status === 'PENDING' || row.status === 'EXPIRED';
  const found = signed.get(row.quote_id ?? '') ?? [];
  if (found.some((each) => each.account_id !== account.id)) return `${row.id} is of another wallet`;
  if (found.length === (waits ? 0 : 1)) return undefined;
  return `${row.id} is ${row.status} and was signed for ${found.length} times`;
}

/** What is signed for payments, which is counted by them. */
const ONE_EACH = ['executeQuote', 'cardPull'];

const activeIn = (rows: Map<string, Noted>) =>
  [...rows.values()].filter(({ status }) => status === 'ACTIVE').length;

/** What is wrong with what hangs on a wallet. */
export function holdingProblem({ holdings, internal }: Picture, id: string): string | undefined {
  const of = holdings.get(id);
  if (!of) return undefined;
  const { credentials, sessions, given, done, accepted, signed } = of;
  const active = activeIn(credentials);
  if (credentials.size && !active && internal.get(id)?.status !== 'CLOSED') {
    return 'has lost its last credential';
  }
  const times = (...operations: string[]) =>
    operations.reduce((sum, each) => sum + (done.get(each) ?? 0), 0);
  const effects: [string, number, number][] = [
    ['were added', credentials.size - given, times('createAuthCredential')],
    ['were removed', credentials.size - active, times('revokeAuthCredential')],
    ['sessions', sessions.size, times('verifyAuthCredential', 'refreshAuthSession')],
  ];
  const odd = effects.find(([, is, due]) => is !== due);
  if (odd) return `has ${odd[1]} that ${odd[0]}, by ${odd[2]} requests`;
  for (const [operation, n] of signed) {
    if (ONE_EACH.includes(operation) || accepted.get(operation) === n) continue;
    return `has signed ${operation} ${n} times for ${accepted.get(operation)} requests`;
  }
  return undefined;
}
