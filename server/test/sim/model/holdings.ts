// Embedded wallets: credentials, sessions, signed requests and authorizations. The model counts
// each change. It finds a request that was executed twice, because the number of rows must equal
// the number of requests.
import type { Model, RecordedRow, RowChange } from './model.ts';

export interface Holding {
  credentials: Map<string, RecordedRow>;
  sessions: Map<string, RecordedRow>;
  /** Number of credentials created without a signature. Only the first may be unsigned. */
  unsignedCredentials: number;
  /** Number of completed requests, by operation. */
  doneCounts: Map<string, number>;
  /** Number of requests with a valid signature. */
  acceptedCounts: Map<string, number>;
  /** Number of authorizations. */
  signedCounts: Map<string, number>;
}

function findOrCreateHolding({ holdings }: Model, id: string): Holding {
  const knownHolding = holdings.get(id);
  if (knownHolding) return knownHolding;
  const newHolding: Holding = {
    credentials: new Map(),
    sessions: new Map(),
    unsignedCredentials: 0,
    doneCounts: new Map(),
    acceptedCounts: new Map(),
    signedCounts: new Map(),
  };
  holdings.set(id, newHolding);
  return newHolding;
}

const incrementCount = (counts: Map<string, number>, name: string) =>
  counts.set(name, (counts.get(name) ?? 0) + 1);

const isDone = (row: RecordedRow | null) => row?.status === 'SETTLED' || row?.status === 'DONE';
const isAccepted = (row: RecordedRow | null) => row?.status === 'PROCESSING' || isDone(row);

const CHANGE_HANDLERS: Readonly<
  Record<string, (holding: Holding, change: RowChange, model: Model) => void>
> = {
  credentials(holding, { before, after }) {
    if (!after) return;
    if (!before && holding.credentials.size === 0) holding.unsignedCredentials++;
    holding.credentials.set(after.id as string, after);
  },
  wallet_sessions(holding, { after }) {
    if (after) holding.sessions.set(after.id as string, after);
  },
  wallet_requests(holding, { before, after }) {
    if (!after) return;
    const [operation = ''] = (after.subject ?? '').split(' ');
    if (isDone(after) && !isDone(before)) incrementCount(holding.doneCounts, operation);
    if (isAccepted(after) && !isAccepted(before)) incrementCount(holding.acceptedCounts, operation);
  },
  wallet_authorizations(holding, { after }, { signedAuthorizations }) {
    if (!after) return;
    incrementCount(holding.signedCounts, after.operation as string);
    const quoteId = after.subject as string;
    if (after.operation === 'executeQuote')
      signedAuthorizations.set(quoteId, [...(signedAuthorizations.get(quoteId) ?? []), after]);
  },
};

/** Applies a row change to a wallet. */
export function applyHolderChange(model: Model, change: RowChange): void {
  const id = (change.after ?? change.before)?.account_id;
  if (id) CHANGE_HANDLERS[change.table]?.(findOrCreateHolding(model, id), change, model);
}

const REVOCABLE_TRANSITIONS = { ACTIVE: ['REVOKED'], REVOKED: [] };
const TRANSITIONS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  credentials: REVOCABLE_TRANSITIONS,
  wallet_sessions: REVOCABLE_TRANSITIONS,
  wallet_requests: {
    PENDING: ['PROCESSING', 'DONE', 'DROPPED'],
    PROCESSING: ['SETTLED', 'DONE'],
    SETTLED: ['DONE'],
    DONE: [],
    DROPPED: [],
  },
};
const INITIAL_STATUSES: Readonly<Record<string, string>> = { wallet_requests: 'PENDING' };

/** An invalid change of status. Only requests are deleted, after their retention period. */
export function walletTransitionProblem(
  table: string,
  before: RecordedRow | null,
  after: RecordedRow | null,
): string | undefined {
  if (!after) return table === 'wallet_requests' ? undefined : `${before?.id} was removed`;
  const [from, to] = [before?.status ?? (INITIAL_STATUSES[table] || 'ACTIVE'), after.status ?? ''];
  if (from === to || TRANSITIONS[table]?.[from]?.includes(to)) return undefined;
  return `${after.id} changed from ${from} to ${to}`;
}

/** An invalid authorization: a wrong key, or a change. */
export function authorizationProblem(
  { holdings, cardRecords }: Model,
  before: RecordedRow | null,
  after: RecordedRow | null,
): string | undefined {
  if (before || !after) return `${before?.id} was changed`;
  const { id, account_id, session_id, operation, subject, public_key, created_at } = after;
  // The delegated key of a card.
  if (operation === 'cardPull') {
    const { cardId } = JSON.parse(cardRecords.payments.get(subject ?? '')?.card ?? '{}');
    const keys = [...(cardRecords.keys.get(cardId)?.values() ?? [])];
    const delegatedKey = keys.find(
      (key) => key.public_key === public_key && key.status === 'ACTIVE',
    );
    return delegatedKey?.account_id === account_id ? undefined : `${id} has no key that may sign`;
  }
  // The key of a session that is being opened.
  if (session_id === null) {
    return operation === 'verifyAuthCredential' ? undefined : `${id} has no session`;
  }
  const session = holdings.get(account_id ?? '')?.sessions.get(session_id ?? '');
  const hasEnded = session?.status !== 'ACTIVE' && subject !== session_id;
  const isExpired = Date.parse(session?.expires_at ?? '') <= Date.parse(created_at ?? '');
  if (!session || hasEnded || isExpired) return `${id} has ${session_id}, which may not sign`;
  return session.public_key === public_key
    ? undefined
    : `${id} is not signed by the key of its session`;
}

/** A wallet payment that was not signed exactly once. */
export function paymentSignatureProblem(
  { internal, signedAuthorizations }: Model,
  row: RecordedRow,
): string | undefined {
  const account = internal.get(row.source_account ?? '');
  if (account?.type !== 'EMBEDDED_WALLET') return undefined;
  const isUnsigned = row.status === 'PENDING' || row.status === 'EXPIRED';
  const authorizations = signedAuthorizations.get(row.quote_id ?? '') ?? [];
  if (authorizations.some((authorization) => authorization.account_id !== account.id))
    return `${row.id} was signed by another wallet`;
  if (authorizations.length === (isUnsigned ? 0 : 1)) return undefined;
  return `${row.id} is ${row.status} and was signed ${authorizations.length} times`;
}

/** Authorizations of payments, which are counted by payment. */
const PAYMENT_OPERATIONS = ['executeQuote', 'cardPull'];

const countActive = (rows: Map<string, RecordedRow>) =>
  [...rows.values()].filter(({ status }) => status === 'ACTIVE').length;

/** A mismatch between the rows and the requests of a wallet. */
export function holdingProblem({ holdings, internal }: Model, id: string): string | undefined {
  const holding = holdings.get(id);
  if (!holding) return undefined;
  const { credentials, sessions, unsignedCredentials, doneCounts, acceptedCounts, signedCounts } =
    holding;
  const activeCount = countActive(credentials);
  if (credentials.size && !activeCount && internal.get(id)?.status !== 'CLOSED') {
    return 'has no credential left';
  }
  const countRequests = (...operations: string[]) =>
    operations.reduce((sum, operation) => sum + (doneCounts.get(operation) ?? 0), 0);
  const effects: [string, number, number][] = [
    [
      'credentials added',
      credentials.size - unsignedCredentials,
      countRequests('createAuthCredential'),
    ],
    ['credentials removed', credentials.size - activeCount, countRequests('revokeAuthCredential')],
    ['sessions', sessions.size, countRequests('verifyAuthCredential', 'refreshAuthSession')],
  ];
  const unexpectedEffect = effects.find(([, actual, expected]) => actual !== expected);
  if (unexpectedEffect)
    return `has ${unexpectedEffect[1]} ${unexpectedEffect[0]} for ${unexpectedEffect[2]} requests`;
  for (const [operation, count] of signedCounts) {
    if (PAYMENT_OPERATIONS.includes(operation) || acceptedCounts.get(operation) === count) continue;
    return `has signed ${operation} ${count} times for ${acceptedCounts.get(operation)} requests`;
  }
  return undefined;
}
