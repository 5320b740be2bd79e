// Screens for developers: events, deliveries, requests, keys, tokens, imports and jobs.
import { useParams } from '@tanstack/react-router';
import { ActionButton } from '../../action/action.tsx';
import { Reveal } from '../../action/reveal.tsx';
import type { Item, Reply } from '../../api/client.ts';
import { useReply } from '../../api/queries.ts';
import { columnsOf, pathIn } from '../../parts/columns.tsx';
import { Detail } from '../../parts/detail.tsx';
import { Facts } from '../../parts/facts.tsx';
import { EmptyState, QueryView } from '../../parts/feedback.tsx';
import { Identifier } from '../../parts/identifier.tsx';
import { List } from '../../parts/list.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { usePlatform } from '../../shell/platform.tsx';
import { DEVELOPER_TEXTS as T } from '../../texts/developers.ts';
import { TEXTS } from '../../texts/texts.ts';

const deliveryColumns = columnsOf<'listDeliveriesOfPlatforms'>();
const listJobsColumns = columnsOf<'listJobs'>();
const listPlatformTokensColumns = columnsOf<'listPlatformTokens'>();
const requestColumns = columnsOf<'listRequestsOfPlatforms'>();
const listSigningKeysColumns = columnsOf<'listSigningKeys'>();

const listEventsOfPlatformsColumns = columnsOf<'listEventsOfPlatforms'>();
const listImportsColumns = columnsOf<'listImports'>();

export const Events = () => (
  <Screen title={TEXTS.pages.events}>
    <List
      id="listEventsOfPlatforms"
      columns={listEventsOfPlatformsColumns.fields(
        'type',
        'createdAt',
        'resourceId',
        'platformId',
        'id',
      )}
      filters={[
        ...[{ name: 'type' }, { name: 'resourceId' }, { name: 'customerId' }],
        ...([
          { name: 'createdAfter', label: 'From', kind: 'day' },
          { name: 'createdBefore', label: 'Until', kind: 'day' },
        ] as const),
      ]}
      pathOf={pathIn('/events', 'id')}
    />
  </Screen>
);

/** Deliveries to each endpoint, with every attempt. */
const DeliveriesOfEvent = ({ deliveries }: Reply<'listDeliveriesOfEvent'>) =>
  deliveries.length === 0 ? (
    <EmptyState>{T.noDeliveries}</EmptyState>
  ) : (
    deliveries.map((delivery) => (
      <section key={delivery.id} className="record">
        <Facts value={delivery} hiddenFields={['id', 'eventId', 'eventType', 'resourceId']} />
      </section>
    ))
  );

export function Event() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useReply('listDeliveriesOfEvent', { path: { eventId: id } });
  return (
    <QueryView query={query} title={T.event} lines={8}>
      {(event) => {
        const { platformId, type: eventType, resourceId } = event;
        const facts = { eventType, resourceId, platformId };
        return (
          <Screen
            title={T.event}
            platformId={platformId}
            actions={
              <ActionButton
                id="resendEventOfPlatform"
                label={T.resend}
                path={{ eventId: id }}
                platformId={platformId}
                description={<Facts value={{ eventType, resourceId, eventId: id }} />}
              />
            }
          >
            <p className="sub">
              <Identifier id={id} />
            </p>
            <Panel title={T.details}>
              <Facts value={facts} />
            </Panel>
            <Panel title={T.deliveries}>
              <DeliveriesOfEvent {...event} />
            </Panel>
            <Panel title={T.data}>
              <Reveal id="getEventOfPlatform" input={{ path: { eventId: id } }} label={T.showData}>
                {(reply) => <pre className="code block">{JSON.stringify(reply, null, 2)}</pre>}
              </Reveal>
            </Panel>
          </Screen>
        );
      }}
    </QueryView>
  );
}

type Delivery = Item<'listDeliveriesOfPlatforms'>;

/** Why the latest attempt failed, or the status of its response. */
const attemptText = (attempt: Delivery['lastAttempt']): string =>
  attempt?.error ?? (attempt?.responseStatus ? `HTTP ${attempt.responseStatus}` : TEXTS.none);

const DELIVERY_COLUMNS = [
  ...deliveryColumns.fields('eventType', 'status'),
  {
    name: 'lastAttempt',
    cell: ({ lastAttempt }: Delivery) => attemptText(lastAttempt),
    text: ({ lastAttempt }: Delivery) => attemptText(lastAttempt),
  },
  ...deliveryColumns.fields('eventCreatedAt', 'attemptCount', 'nextAttemptAt', 'resourceId'),
  ...deliveryColumns.fields('endpointId', 'eventId'),
  ...deliveryColumns.hidden('id'),
];

const DELIVERY_COLUMNS_WITH_PLATFORM = [
  ...DELIVERY_COLUMNS,
  ...deliveryColumns.fields('platformId'),
];

export function Deliveries() {
  const { platformId } = usePlatform();
  return (
    <Screen title={TEXTS.pages.deliveries}>
      <List
        id="listDeliveriesOfPlatforms"
        columns={platformId ? DELIVERY_COLUMNS : DELIVERY_COLUMNS_WITH_PLATFORM}
        filters={[{ name: 'status' }, { name: 'eventType' }, { name: 'resourceId' }]}
        pathOf={pathIn('/events', 'eventId')}
      />
    </Screen>
  );
}

type ApiRequest = Item<'listRequestsOfPlatforms'>;

const REQUEST_COLUMNS = [
  {
    name: 'status',
    cell: ({ status, errorCode }: ApiRequest) => (
      <>
        <span className={`status ${status < 400 ? 'good' : 'bad'}`}>{status}</span>{' '}
        {errorCode && <span className="soft">{errorCode}</span>}
      </>
    ),
  },
  ...requestColumns.fields('path', 'createdAt', 'method'),
  ...requestColumns.fields('durationMs', 'callerType', 'resourceId', 'replayed', 'id'),
  ...requestColumns.hidden('operationId', 'address', 'idempotencyKeyHash'),
];

const REQUEST_COLUMNS_WITH_PLATFORM = [...REQUEST_COLUMNS, ...requestColumns.fields('platformId')];

export function Requests() {
  const { platformId } = usePlatform();
  return (
    <Screen title={TEXTS.pages.requests}>
      <List
        id="listRequestsOfPlatforms"
        columns={platformId ? REQUEST_COLUMNS : REQUEST_COLUMNS_WITH_PLATFORM}
        filters={[
          ...[{ name: 'statusClass' }, { name: 'operationId' }],
          ...[{ name: 'resourceId' }, { name: 'errorCode' }],
        ]}
        pathOf={pathIn('/requests', 'id')}
      />
    </Screen>
  );
}

export const Request = () => (
  <Detail
    id="getRequestOfPlatform"
    parameter="requestId"
    title={T.request}
    panel={T.details}
    status={({ status }) => (status < 400 ? 'ok' : 'failed')}
  />
);

export const Keys = () => (
  <Screen
    title={TEXTS.pages.keys}
    actions={<ActionButton id="rotateSigningKeys" label={T.rotate} isPrimary />}
  >
    <List
      id="listSigningKeys"
      columns={[
        ...listSigningKeysColumns.fields(
          'environment',
          'status',
          'activeFrom',
          'createdAt',
          'retiredAt',
          'algorithm',
        ),
        ...listSigningKeysColumns.fields('keyId'),
        listSigningKeysColumns.actions(({ keyId, status }) =>
          status === 'announced' || status === 'superseded' ? (
            <ActionButton
              id="retireSigningKey"
              label={T.retire}
              path={{ keyId }}
              description={<Facts value={{ keyId, status }} />}
              isDangerous
            />
          ) : null,
        ),
      ]}
    />
  </Screen>
);

export function Tokens() {
  const { platformId } = usePlatform();
  return (
    <Screen
      title={TEXTS.pages.tokens}
      actions={
        platformId && (
          <ActionButton
            id="createPlatformToken"
            label={T.createToken}
            path={{ platformId }}
            isPrimary
          />
        )
      }
    >
      <List
        id="listPlatformTokens"
        columns={[
          ...listPlatformTokensColumns.fields(
            'name',
            'permissions',
            'createdAt',
            'platformId',
            'clientId',
            'tokenId',
          ),
          listPlatformTokensColumns.actions(({ tokenId, name }) => (
            <ActionButton
              id="revokePlatformToken"
              label={T.revoke}
              path={{ tokenId }}
              description={<Facts value={{ tokenId, name }} />}
              isDangerous
            />
          )),
        ]}
      />
    </Screen>
  );
}

export const Imports = () => (
  <Screen title={TEXTS.pages.imports}>
    <List
      id="listImports"
      columns={listImportsColumns.fields(
        'status',
        'failed',
        'total',
        'createdAt',
        'successful',
        'problem',
        'platformId',
        'importId',
      )}
      pathOf={pathIn('/imports', 'importId')}
    />
  </Screen>
);

function ImportErrors({ importId }: { importId: string }) {
  const query = useReply('listImportErrors', { path: { importId } });
  return (
    <QueryView query={query}>
      {({ rows }) =>
        rows.length === 0 ? <EmptyState>{T.noImportErrors}</EmptyState> : <Facts value={{ rows }} />
      }
    </QueryView>
  );
}

export const Import = () => (
  <Detail
    id="getImport"
    parameter="importId"
    title={T.import}
    panel={T.details}
    status={({ status }) => status}
  >
    {({ importId }) => (
      <Panel title={T.importErrors}>
        <ImportErrors importId={importId} />
      </Panel>
    )}
  </Detail>
);

type Job = Item<'listJobs'>;

export const Jobs = () => (
  <Screen
    title={TEXTS.pages.jobs}
    actions={<ActionButton id="retryDeadJobs" label={T.retryDead} />}
  >
    <List
      id="listJobs"
      columns={[
        ...listJobsColumns.fields(
          'kind',
          'state',
          'lastError',
          'failedAt',
          'dueAt',
          'attempts',
          'platformId',
        ),
        ...listJobsColumns.fields('jobId'),
        {
          name: 'about',
          cell: ({ about }: Job) =>
            Object.values(about).map((id) => <Identifier key={id} id={id} />),
        },
      ]}
      filters={[{ name: 'state' }, { name: 'kind' }]}
      pathOf={pathIn('/jobs', 'jobId')}
    />
  </Screen>
);

export const JobScreen = () => (
  <Detail
    id="getJob"
    parameter="jobId"
    title={T.job}
    panel={T.details}
    status={({ state }) => state}
    actions={({ jobId, kind, state, undone }) => {
      const base = {
        path: { jobId },
        description: <Facts value={{ jobId, kind, state, undone }} />,
      };
      const retry = { ...base, id: 'retryJob', label: T.retry, isPrimary: true } as const;
      const cancel = { ...base, id: 'cancelJob', label: T.cancel, isDangerous: true } as const;
      if (state === 'dead') return [retry, cancel];
      return state === 'queued' ? [cancel] : [];
    }}
  />
);
