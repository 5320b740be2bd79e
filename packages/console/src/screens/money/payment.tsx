// A payment: its details, one timeline of its history, and the possible actions.
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ActionButtons } from '../../action/action.tsx';
import type { Action } from '../../action/types.ts';
import type { Item, Reply } from '../../api/client.ts';
import { useReply } from '../../api/queries.ts';
import { usePermits } from '../../api/session.tsx';
import { Facts } from '../../parts/facts.tsx';
import { EmptyState, QueryView } from '../../parts/feedback.tsx';
import { CopyButton, Identifier, shortId } from '../../parts/identifier.tsx';
import { accountName, stepText } from '../../parts/ledger-name.ts';
import { Amount, decimalText } from '../../parts/money.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { Status, statusText } from '../../parts/status.tsx';
import { ExactTime } from '../../parts/time.tsx';
import { usePlatform } from '../../shell/platform.tsx';
import { PAYMENT_TEXTS as T } from '../../texts/payment.ts';
import { ProvidersOfPayment, useRecallOffer } from '../providers/verdicts.tsx';

type Payment = Reply<'getPayment'>;

interface Entry {
  at: string;
  kind: keyof typeof T.kinds;
  title: ReactNode;
  detail?: ReactNode;
}

const eventEntries = ({ events, failureReason }: Payment): Entry[] =>
  events.map(({ id, type, createdAt }) => ({
    at: createdAt,
    kind: 'state',
    title: <Status value={type.split('.').at(-1)} />,
    detail: (
      <>
        {type.endsWith('.FAILED') && failureReason && <span className="code">{failureReason}</span>}{' '}
        {T.event} <span className="code">{type}</span> <Identifier id={id} />
      </>
    ),
  }));

const postingEntries = ({ postings }: Payment): Entry[] =>
  postings.map((posting) => ({
    at: posting.createdAt,
    kind: 'posting',
    title: (
      <>
        <Amount value={{ amount: posting.amount, currency: posting.currency }} />{' '}
        {T.fromTo(accountName(posting.debit), accountName(posting.credit))}
      </>
    ),
    detail: `${stepText(posting.step)}, ${T.phases[posting.phase]}`,
  }));

const resultEntries = ({ results }: Payment): Entry[] =>
  results.map(({ createdAt, kind, state, reference, reason }) => ({
    at: createdAt,
    kind: 'result',
    title: (
      <>
        {statusText(kind)} <Status value={state} />
      </>
    ),
    detail: [reference, reason].filter(Boolean).join(' · '),
  }));

const deliveryEntries = ({ deliveries }: Payment): Entry[] =>
  deliveries.map(
    ({ id, eventType, status, attemptCount, lastAttempt, eventCreatedAt, endpointId }) => ({
      at: lastAttempt?.at ?? eventCreatedAt,
      kind: 'delivery',
      title: (
        <>
          {statusText(eventType.replace('.', ': '))} <Status value={status} />
        </>
      ),
      detail: (
        <>
          {T.attempts(attemptCount)} · {T.to} <span className="code">{shortId(endpointId)}</span>{' '}
          <CopyButton text={id} label={T.deliveryId} />
        </>
      ),
    }),
  );

type Request = Item<'listRequestsOfPlatforms'>;

/** Reads are omitted, because they have no effect and are frequent. */
const requestEntries = (requests: readonly Request[]): Entry[] =>
  requests
    .filter(({ method }) => method !== 'GET')
    .map(({ id, operationId, status, createdAt }) => ({
      at: createdAt,
      kind: 'request',
      title: (
        <Link to="/requests/$id" params={{ id }}>
          {operationId}
        </Link>
      ),
      detail: T.replied(status),
    }));

/** The latest requests about a payment, for operators who may read them. */
function useRequests({ id, platformId }: Payment): readonly Request[] {
  const permits = usePermits();
  const { data } = useReply(
    'listRequestsOfPlatforms',
    { query: { platformId, resourceId: id, limit: 50 } },
    { enabled: permits('listRequestsOfPlatforms') },
  );
  return data?.data ?? [];
}

/** Order of entries with the same time, such as the entries of one commit. */
const ORDER: readonly Entry['kind'][] = ['request', 'result', 'posting', 'state', 'delivery'];

function Timeline({ payment }: { payment: Payment }) {
  const requests = useRequests(payment);
  const entries = [
    ...requestEntries(requests),
    { at: payment.createdAt, kind: 'state' as const, title: T.created },
    ...eventEntries(payment),
    ...postingEntries(payment),
    ...resultEntries(payment),
    ...deliveryEntries(payment),
  ].sort((a, b) => a.at.localeCompare(b.at) || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  return (
    <ol className="timeline">
      {entries.map((entry, index) => (
        // Entries have no common kind of ID, and their order changes only when an entry is added.
        <li key={`${entry.kind}-${index.toString()}`} className={entry.kind}>
          <span className="when">
            <ExactTime value={entry.at} />
          </span>
          <span className="tag">{T.kinds[entry.kind]}</span>
          <span className="what">
            {entry.title}
            {'detail' in entry && entry.detail && <span className="soft"> {entry.detail}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}

interface Circumstances {
  isProduction: boolean;
  /** Whether the provider of the payout supports a request to return it. */
  isRecallOffered: boolean;
}

/** Actions that the state of a payment allows. */
function actionsOf(payment: Payment, circumstances: Circumstances): Action[] {
  const { isProduction, isRecallOffered } = circumstances;
  const path = { transactionId: payment.id };
  const facts = (
    <Facts value={{ ID: payment.id, status: payment.status, sentAmount: payment.sentAmount }} />
  );
  const base = { path, description: facts };
  const isAwaited = payment.awaitedTransfer !== null;
  // The return of a direct debit is recorded with the command or the API.
  const isSettled = payment.results.some(
    ({ kind, state }) => kind === 'payout' && state === 'settled',
  );
  const isHeld = payment.type === 'INCOMING' && payment.funds === 'HELD';
  return [
    ...(isAwaited
      ? ([
          { ...base, id: 'settleTransfer', label: T.settle, isPrimary: true },
          { ...base, id: 'failTransfer', label: T.fail, isDangerous: true },
        ] as const)
      : []),
    ...(isHeld
      ? ([
          { ...base, id: 'releaseDeposit', label: T.release, isPrimary: true },
          { ...base, id: 'rejectDeposit', label: T.reject, isDangerous: true },
        ] as const)
      : []),
    ...(payment.status === 'COMPLETED' && isSettled && isProduction
      ? ([{ ...base, id: 'returnTransfer', label: T.returned, isDangerous: true }] as const)
      : []),
    ...(payment.status === 'COMPLETED' && isRecallOffered && payment.recall === null
      ? ([{ ...base, id: 'recallTransfer', label: T.recall, isDangerous: true }] as const)
      : []),
    ...payment.events.slice(-1).map(
      ({ id, type, createdAt }) =>
        ({
          id: 'resendEventOfPlatform',
          label: T.resend,
          path: { eventId: id },
          platformId: payment.platformId,
          description: (
            <Facts value={{ eventType: type, transactionId: payment.id, createdAt, eventId: id }} />
          ),
        }) as const,
    ),
  ];
}

function PaymentActions({ payment }: { payment: Payment }) {
  const { platforms } = usePlatform();
  const platform = platforms.find(({ id }) => id === payment.platformId);
  const isProduction = platform?.mode.toUpperCase() !== 'SANDBOX';
  const isRecallOffered = useRecallOffer(payment.id);
  return <ActionButtons actions={actionsOf(payment, { isProduction, isRecallOffered })} />;
}

const HIDDEN_FIELDS = [
  'postings',
  'results',
  'events',
  'deliveries',
  'id',
  'status',
  'sentAmount',
  'receivedAmount',
];

/** Statuses in which no amount is received. */
const STATUSES_WITHOUT_RECEIPT: readonly string[] = ['FAILED', 'EXPIRED'];

function Head({ payment }: { payment: Payment }) {
  const amounts = [payment.sentAmount, payment.receivedAmount].filter((each) => each !== null);
  const [firstAmount, secondAmount] = amounts;
  return (
    <div className="figure-row">
      <p className="figure">
        {firstAmount ? <Amount value={firstAmount} /> : <Amount value={secondAmount} />}
      </p>
      {firstAmount &&
        secondAmount &&
        (firstAmount.currency !== secondAmount.currency ||
          firstAmount.amount !== secondAmount.amount) && (
          <p className="soft">
            {STATUSES_WITHOUT_RECEIPT.includes(payment.status) ? T.notReceived : T.receives}{' '}
            <Amount value={secondAmount} />
          </p>
        )}
      {firstAmount && <CopyButton text={decimalText(firstAmount)} label={T.amount} />}
    </div>
  );
}

const REFRESH_MS = 3_000;

/** Polls while a delivery is pending, because no event reports that a webhook was delivered. */
const refetchInterval = ({ deliveries }: Payment) =>
  deliveries.some(({ status }) => status === 'PENDING') && REFRESH_MS;

export function Payment() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useReply('getPayment', { path: { transactionId: id } }, { refetchInterval });
  return (
    <QueryView query={query} title={T.title} lines={8}>
      {(payment) => (
        <Screen
          title={T.title}
          mark={<Status value={payment.status} />}
          platformId={payment.platformId}
          subject={payment.id}
          actions={<PaymentActions payment={payment} />}
        >
          <p className="sub">
            <Identifier id={payment.id} />
          </p>
          <Head payment={payment} />
          <div className="columns">
            <Panel
              title={T.timeline}
              actions={
                <Link to="/requests" search={{ resourceId: payment.id } as never}>
                  {T.requests}
                </Link>
              }
            >
              <Timeline payment={payment} />
            </Panel>
            <Panel title={T.details}>
              <Facts value={payment} hiddenFields={HIDDEN_FIELDS} />
            </Panel>
          </div>
          <ProvidersOfPayment transactionId={payment.id} />
          <Panel title={T.postings}>
            {payment.postings.length === 0 ? (
              <EmptyState>{T.noPostings}</EmptyState>
            ) : (
              <Facts value={{ postings: payment.postings }} />
            )}
          </Panel>
        </Screen>
      )}
    </QueryView>
  );
}
