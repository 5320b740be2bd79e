// Embedded wallets: credentials, sessions, signed requests and authorizations. Counted from each
// change and not from the current rows, so that a request executed twice is found: the number of
// rows must equal the number of requests.
import type { Model, RecordedRow, RowChange } from './model.ts';

export interface Holding {
  credentials: Map<string, RecordedRow>;
  sessions: Map<string, RecordedRow>;
  /** Credentials created without a signature: the first. */
  input: number;
  /** Number of completed requests, by operation. */
  done: Map<string, number>;
  /** Number of requests with a valid signature. */
  accepted: Map<string, number>;
  /** Number of authorizations. */
  signed: Map<string, number>;
}

function holdingIn({ holdings }: Model, id: string): Holding {
  const knownHolding = holdings.get(id);
  if (knownHolding) return knownHolding;
  const added: Holding = {
    credentials: new Map(),
    sessions: new Map(),
    input: 0,
    done: new Map(),
    accepted: new Map(),
    signed: new Map(),
  };
  holdings.set(id, added);
  return added;
}

const count = (counts: Map<string, number>, name: string) =>
  counts.set(name, (counts.get(name) ?? 0) + 1);

const isDone = (row: RecordedRow | null) => row?.status === 'SETTLED' || row?.status === 'DONE';
const isAccepted = (row: RecordedRow | null) => row?.status === 'PROCESSING' || isDone(row);

const APPLY: Readonly<Record<string, (of: Holding, change: RowChange, model: Model) => void>> = {
  credentials(holding, { was, now }) {
    if (!now) return;
    if (!was && holding.credentials.size === 0) holding.input++;
    holding.credentials.set(now.id as string, now);
  },
  wallet_sessions(holding, { now }) {
    if (now) holding.sessions.set(now.id as string, now);
  },
  wallet_requests(holding, { was, now }) {
    if (!now) return;
    const [operation = ''] = (now.subject ?? '').split(' ');
    if (isDone(now) && !isDone(was)) count(holding.done, operation);
    if (isAccepted(now) && !isAccepted(was)) count(holding.accepted, operation);
  },
  wallet_authorizations(holding, { now }, { signed }) {
    if (!now) return;
    count(holding.signed, now.operation as string);
    const quote = now.subject as string;
    if (now.operation === 'executeQuote') signed.set(quote, [...(signed.get(quote) ?? []), now]);
  },
};

/** Applies a row change to a wallet. */
export function applyHolderChange(model: Model, change: RowChange): void {
  const id = (change.now ?? change.was)?.account_id;
  if (id) APPLY[change.table]?.(holdingIn(model, id), change, model);
}

const TWO = { ACTIVE: ['REVOKED'], REVOKED: [] };
const TRANSITIONS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
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

/** An invalid change of status; only requests are deleted after a while. */
export function walletTransitionProblem(
  table: string,
  was: RecordedRow | null,
  now: RecordedRow | null,
): string | undefined {
  if (!now) return table === 'wallet_requests' ? undefined : `${was?.id} was removed`;
  const [from, to] = [was?.status ?? (FIRST[table] || 'ACTIVE'), now.status ?? ''];
  if (from === to || TRANSITIONS[table]?.[from]?.includes(to)) return undefined;
  return `${now.id} went from ${from} to ${to}`;
}

/** An invalid authorization: a wrong key, or a change. */
export function authorizationProblem(
  { holdings, cardBook }: Model,
  was: RecordedRow | null,
  now: RecordedRow | null,
): string | undefined {
  if (was || !now) return `${was?.id} was changed`;
  const { id, account_id, session_id, operation, subject, public_key, created_at } = now;
  // The delegated key of a card.
  if (operation === 'cardPull') {
    const { cardId } = JSON.parse(cardBook.payments.get(subject ?? '')?.card ?? '{}');
    const keys = [...(cardBook.keys.get(cardId)?.values() ?? [])];
    const delegatedKey = keys.find(
      (key) => key.public_key === public_key && key.status === 'ACTIVE',
    );
    return delegatedKey?.account_id === account_id ? undefined : `${id} has no key that may sign`;
  }
  // The key of a session that is being opened.
  if (session_id === null) {
    return operation === 'verifyAuthCredential' ? undefined : `${id} is of no session`;
  }
  const session = holdings.get(account_id ?? '')?.sessions.get(session_id ?? '');
  const hasEnded = session?.status !== 'ACTIVE' && subject !== session_id;
  const isExpired = Date.parse(session?.expires_at ?? '') <= Date.parse(created_at ?? '');
  if (!session || hasEnded || isExpired) return `${id} is of ${session_id}, which may not sign`;
  return session.public_key === public_key ? undefined : `${id} is of another key`;
}

/** A wallet payment that was not signed exactly once. */
export function spentProblem({ internal, signed }: Model, row: RecordedRow): string | undefined {
  const account = internal.get(row.source_account ?? '');
  if (account?.type !== 'EMBEDDED_WALLET') return undefined;
  const isUnsigned = row.status === 'PENDING' || row.status === 'EXPIRED';
  const authorizations = signed.get(row.quote_id ?? '') ?? [];
  if (authorizations.some((each) => each.account_id !== account.id))
    return `${row.id} was signed by another wallet`;
  if (authorizations.length === (isUnsigned ? 0 : 1)) return undefined;
  return `${row.id} is ${row.status} and was signed ${authorizations.length} times`;
}

/** Authorizations of payments, which are counted by payment. */
const ONE_EACH = ['executeQuote', 'cardPull'];

const activeIn = (rows: Map<string, RecordedRow>) =>
  [...rows.values()].filter(({ status }) => status === 'ACTIVE').length;

/** A mismatch between the rows and the requests of a wallet. */
export function holdingProblem({ holdings, internal }: Model, id: string): string | undefined {
  const holding = holdings.get(id);
  if (!holding) return undefined;
  const { credentials, sessions, input, done, accepted, signed } = holding;
  const active = activeIn(credentials);
  if (credentials.size && !active && internal.get(id)?.status !== 'CLOSED') {
    return 'has no credential left';
  }
  const times = (...operations: string[]) =>
    operations.reduce((sum, each) => sum + (done.get(each) ?? 0), 0);
  const effects: [string, number, number][] = [
    ['credentials added', credentials.size - input, times('createAuthCredential')],
    ['credentials removed', credentials.size - active, times('revokeAuthCredential')],
    ['sessions', sessions.size, times('verifyAuthCredential', 'refreshAuthSession')],
  ];
  const unexpected = effects.find(([, actual, expected]) => actual !== expected);
  if (unexpected) return `has ${unexpected[1]} ${unexpected[0]} for ${unexpected[2]} requests`;
  for (const [operation, n] of signed) {
    if (ONE_EACH.includes(operation) || accepted.get(operation) === n) continue;
    return `has signed ${operation} ${n} times for ${accepted.get(operation)} requests`;
  }
  return undefined;
}
