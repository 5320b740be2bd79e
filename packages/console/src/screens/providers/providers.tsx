// The list of providers, and the messages that they sent.
import { useNavigate } from '@tanstack/react-router';
import { ActionButton } from '../../action/action.tsx';
import type { Item } from '../../api/client.ts';
import { useReply } from '../../api/queries.ts';
import { columnsOf, pathIn } from '../../parts/columns.tsx';
import { keepEqual, List } from '../../parts/list.tsx';
import { Screen } from '../../parts/panel.tsx';
import { pathOf } from '../../parts/paths.ts';
import { PROVIDER_TEXTS as T } from '../../texts/providers.ts';
import { TEXTS } from '../../texts/texts.ts';
import { type Availability, availabilityOf, offerSummary } from './sentences.ts';

const columns = columnsOf<'listProviders'>();
const messageColumns = columnsOf<'listProviderMessages'>();

const TONES = { available: 'good', unavailable: 'bad', unchecked: 'neutral', failed: 'bad' };

export const AvailabilityMark = ({ value }: { value: Availability }) => (
  <span className={`status ${TONES[value]}`}>{T.availabilities[value]}</span>
);

type Row = Item<'listProviders'>;

const PROVIDER_COLUMNS = [
  columns.key('providerId'),
  ...columns.fields('status'),
  {
    ...{ name: 'available', label: T.availability },
    cell: (row: Row) => <AvailabilityMark value={availabilityOf(row)} />,
    text: (row: Row) => T.availabilities[availabilityOf(row)],
  },
  {
    ...{ name: 'capabilities', label: T.offers },
    cell: (row: Row) => offerSummary(row) || <span className="none">{TEXTS.none}</span>,
    text: offerSummary,
  },
  ...columns.fields('environment', 'problem', 'checkedAt'),
  ...columns.hidden('url', 'createdAt'),
];

const ENVIRONMENTS = ['production', 'sandbox'];

const PROVIDER_FILTERS = [
  { name: 'environment', values: ENVIRONMENTS },
  { name: 'status', values: ['ACTIVE', 'PAUSED'] },
];

const keepProvider = keepEqual<Row>('environment', 'status');

export function Providers() {
  const navigate = useNavigate();
  const open = (reply: unknown) => {
    const { providerId } = (reply ?? {}) as { providerId?: string };
    // Not if the provider waits for an approval.
    if (providerId) void navigate({ to: `/providers/${encodeURIComponent(providerId)}` });
  };
  return (
    <Screen
      title={TEXTS.pages.providers}
      actions={
        <ActionButton
          id="createProvider"
          label={T.add}
          doneText={T.addDone}
          doneLabel={T.next}
          onDone={open}
          shown={['providerId', 'environment', 'url']}
          isPrimary
        />
      }
    >
      <p className="sub soft">{T.providers}</p>
      <List
        id="listProviders"
        columns={PROVIDER_COLUMNS}
        filters={PROVIDER_FILTERS}
        keep={keepProvider}
        pathOf={pathIn('/providers', 'providerId')}
        empty={T.noProviders}
      />
    </Screen>
  );
}

type Message = Item<'listProviderMessages'>;

/** Columns of messages; those of one provider do not repeat its name. */
export const MESSAGE_COLUMNS = [
  ...messageColumns.fields('type', 'result', 'receivedAt'),
  messageColumns.column('problem', ({ problem }) =>
    problem ? <span title={problem}>{problem}</span> : <span className="none">{TEXTS.none}</span>,
  ),
  ...messageColumns.fields('transactionId', 'platformId', 'messageId'),
];

const [TYPE, RESULT, RECEIVED, ...OTHERS] = MESSAGE_COLUMNS;

const ALL_MESSAGE_COLUMNS = [
  ...[TYPE, RESULT, RECEIVED].filter((each) => each !== undefined),
  ...messageColumns.fields('providerId'),
  ...OTHERS,
];

/** The payment of a message, if it has one. */
export const pathOfMessage = ({ transactionId }: Message): string | undefined =>
  transactionId === null ? undefined : pathOf(transactionId);

export function ProviderMessages() {
  const { data } = useReply('listProviders');
  const names = (data?.data ?? []).map(({ providerId }) => providerId);
  return (
    <Screen title={TEXTS.pages.providerMessages}>
      <p className="sub soft">{T.messagesText}</p>
      <List
        id="listProviderMessages"
        columns={ALL_MESSAGE_COLUMNS}
        filters={[
          { name: 'providerId', values: names, textOf: (name) => name },
          { name: 'result' },
        ]}
        pathOf={pathOfMessage}
        empty={T.noMessagesAtAll}
      />
    </Screen>
  );
}
