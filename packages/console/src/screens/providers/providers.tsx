// Lists of providers and of the messages that they sent.
import { useNavigate } from '@tanstack/react-router';
import { ActionButton } from '../../action/action.tsx';
import type { Item } from '../../api/client.ts';
import { columnsOf } from '../../parts/columns.tsx';
import { List, matchFilters } from '../../parts/list.tsx';
import { Screen } from '../../parts/panel.tsx';
import { pathOf } from '../../parts/paths.ts';
import { PROVIDER_TEXTS as T } from '../../texts/providers.ts';
import { TEXTS } from '../../texts/texts.ts';
import { useProviderNames } from './names.ts';
import { type Availability, kindText } from './sentences.ts';

const columns = columnsOf<'listProviders'>();
const messageColumns = columnsOf<'listProviderMessages'>();

const TONES = { available: 'good', unavailable: 'bad', unchecked: 'neutral', failed: 'bad' };

export const AvailabilityMark = ({ value }: { value: Availability }) => (
  <span className={`status ${TONES[value]}`}>{T.availabilities[value]}</span>
);

type Row = Item<'listProviders'>;

/** A provider that was never checked has no offers. */
function availabilityOfRow({ kind, available, problem, serves }: Row): Availability {
  if (kind === 'BUILT_IN') return available ? 'available' : 'unavailable';
  if (!available) return 'unavailable';
  if (problem !== null) return 'failed';
  return serves.length === 0 ? 'unchecked' : 'available';
}

const servesText = ({ serves }: Row): string => serves.map(kindText).join(', ');

const PROVIDER_COLUMNS = [
  columns.key('providerId'),
  ...columns.fields('status'),
  {
    ...{ name: 'available', label: T.availability },
    cell: (row: Row) => <AvailabilityMark value={availabilityOfRow(row)} />,
    text: (row: Row) => T.availabilities[availabilityOfRow(row)],
  },
  {
    ...{ name: 'serves', label: T.offers },
    cell: (row: Row) => servesText(row) || <span className="none">{TEXTS.none}</span>,
    text: servesText,
  },
  ...columns.fields('environment'),
  {
    name: 'kind',
    cell: ({ kind }: Row) => T.types[kind],
    text: ({ kind }: Row) => T.types[kind],
  },
  ...columns.fields('problem', 'pauseReason', 'description'),
];

/** Only providers that use the protocol have a page. */
const pathOfProvider = (row: Row): string | undefined =>
  row.kind === 'GATEWAY' ? `/providers/${encodeURIComponent(row.providerId)}` : undefined;

const ENVIRONMENTS = ['production', 'sandbox'];

const PROVIDER_FILTERS = [
  { name: 'environment', values: ENVIRONMENTS },
  { name: 'status', values: ['ACTIVE', 'PAUSED'] },
];

const keepProvider = matchFilters<Row>('environment', 'status');

export function Providers() {
  const navigate = useNavigate();
  const openProvider = (reply: unknown) => {
    const { providerId } = (reply ?? {}) as { providerId?: string };
    // Without an ID, the provider waits for an approval.
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
          onDone={openProvider}
          shownFields={['providerId', 'environment', 'url']}
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
        pathOf={pathOfProvider}
        emptyText={T.noProviders}
      />
    </Screen>
  );
}

type Message = Item<'listProviderMessages'>;

/** Columns of the messages of one provider, without its name. */
export const MESSAGE_COLUMNS = [
  ...messageColumns.fields('type', 'result', 'receivedAt'),
  messageColumns.column('problem', ({ problem }) =>
    problem ? <span title={problem}>{problem}</span> : <span className="none">{TEXTS.none}</span>,
  ),
  ...messageColumns.fields('transactionId', 'platformId', 'messageId'),
];

const [TYPE, RESULT, RECEIVED, ...OTHER_COLUMNS] = MESSAGE_COLUMNS;

const ALL_MESSAGE_COLUMNS = [
  ...[TYPE, RESULT, RECEIVED].filter((each) => each !== undefined),
  ...messageColumns.fields('providerId'),
  ...OTHER_COLUMNS,
];

/** Path of the payment of a message, or undefined if the message has none. */
export const pathOfMessage = ({ transactionId }: Message): string | undefined =>
  transactionId === null ? undefined : pathOf(transactionId);

export function ProviderMessages() {
  const names = useProviderNames();
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
        emptyText={T.noMessagesAtAll}
      />
    </Screen>
  );
}
