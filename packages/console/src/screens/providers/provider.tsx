// A provider: its state, offers, terms, routes, keys and recent messages.
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ActionButton, ActionButtons } from '../../action/action.tsx';
import type { Action } from '../../action/types.ts';
import { useReply } from '../../api/queries.ts';
import { Facts } from '../../parts/facts.tsx';
import { QueryView } from '../../parts/feedback.tsx';
import { CopyButton, Identifier } from '../../parts/identifier.tsx';
import { List } from '../../parts/list.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { ModeMark, Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { PROVIDER_TEXTS as T } from '../../texts/providers.ts';
import { Health, Prefunding, Terms } from './health.tsx';
import { AvailabilityMark, MESSAGE_COLUMNS, pathOfMessage } from './providers.tsx';
import { BalancesOfProvider } from './reconciliation.tsx';
import { RoutesOfProvider } from './routes.tsx';
import { availabilityOf, offersOf, stateText, type Provider as Value } from './sentences.ts';
import { StatementSource } from './statement-source.tsx';

type Key = Value['ownKeys'][number];

/** Fields that the result of a change shows. */
const SHOWN_FIELDS = ['status', 'available', 'checkedAt', 'problem'];

const descriptionOf = ({ providerId, environment }: Value, consequences: string) => (
  <>
    <Facts value={{ providerId, environment }} />
    <p>{consequences}</p>
  </>
);

/** Actions that the state of a provider allows. */
function actionsOf(provider: Value, routeCount: number): Action[] {
  const { consequences: C } = T;
  const { status, capabilities } = provider;
  const base = { path: { providerId: provider.providerId }, shownFields: SHOWN_FIELDS };
  const pauseText = routeCount === 0 ? C.pauseNone : C.pause(routeCount);
  return [
    {
      ...{ ...base, id: 'checkProvider', label: T.check, isPrimary: capabilities === null },
      description: descriptionOf(provider, C.check),
    },
    status === 'PAUSED'
      ? {
          ...{ ...base, id: 'resumeProvider', label: T.resume, isPrimary: true },
          description: descriptionOf(provider, C.resume(routeCount)),
        }
      : {
          ...{ ...base, id: 'pauseProvider', label: T.pause, isDangerous: true },
          description: descriptionOf(provider, pauseText),
        },
  ];
}

function Actions({ provider }: { provider: Value }) {
  const { data } = useReply('listProviderRoutes');
  const routes = (data?.data ?? []).filter(({ providerId }) => providerId === provider.providerId);
  return <ActionButtons actions={actionsOf(provider, routes.length)} />;
}

const Capabilities = ({ capabilities }: Value) =>
  capabilities === null ? (
    <p className="soft">{T.noCapabilities}</p>
  ) : (
    <ul className="sentences">
      {offersOf(capabilities).map((each) => (
        <li key={each}>{each}</li>
      ))}
    </ul>
  );

/** The address to which the provider sends its messages. */
function Address({ providerId }: Value) {
  const address = `${location.origin}/connectors/${providerId}`;
  return (
    <>
      <p className="copied">
        <span className="code verbatim">{address}</span>{' '}
        <CopyButton text={address} label={T.address} />
      </p>
      <p className="soft">{T.addressText}</p>
    </>
  );
}

interface KeyViewProps {
  entry: Key;
  state: string;
  tone: 'good' | 'caution' | 'neutral';
}

const KeyView = ({ entry: { keyId, publicKeyPem, ...times }, state, tone }: KeyViewProps) => (
  <section className="record">
    <p className="copied">
      <span className={`status ${tone}`}>{state}</span> <Identifier id={keyId} />
    </p>
    <Facts value={times} />
    <p className="copied">
      <span className="code verbatim">{publicKeyPem.trim()}</span>{' '}
      <CopyButton text={publicKeyPem} label={`${T.publicKey} ${keyId}`} />
    </p>
  </section>
);

/** Calls are signed with the newest active key. */
function OwnKeys({ ownKeys }: Value) {
  const now = Date.now();
  const isActive = ({ activeFrom }: Key) => Date.parse(activeFrom) <= now;
  const currentKey = ownKeys.findLast(isActive);
  return ownKeys.map((entry) => {
    const state = entry === currentKey ? 'current' : isActive(entry) ? 'former' : 'next';
    const tone = ({ current: 'good', former: 'neutral', next: 'caution' } as const)[state];
    return <KeyView key={entry.keyId} {...{ entry, tone }} state={T.own[state]} />;
  });
}

const ProviderKeys = ({ providerKeys }: Value) =>
  providerKeys.map((entry) => (
    <KeyView
      key={entry.keyId}
      entry={entry}
      state={entry.retiredAt ? T.acceptedUntil : T.accepted}
      tone={entry.retiredAt ? 'caution' : 'good'}
    />
  ));

interface KeyPanelProps {
  title: string;
  text: string;
  action: Action;
  children: ReactNode;
}

const KeyPanel = ({ title, text, action, children }: KeyPanelProps) => (
  <Panel title={title} actions={<ActionButton {...action} />}>
    <p className="soft">{text}</p>
    {children}
  </Panel>
);

const OVERLAP = { overlapHours: 24 };

function Keys({ provider }: { provider: Value }) {
  const base = { path: { providerId: provider.providerId }, initialValues: OVERLAP };
  const { consequences: C } = T;
  return (
    <div className="columns even">
      <KeyPanel
        title={T.ownKeys}
        text={T.ownKeysText}
        action={{
          ...{ ...base, id: 'rotateProviderKey', label: T.rotate, shownFields: ['ownKeys'] },
          description: descriptionOf(provider, C.rotate),
        }}
      >
        <OwnKeys {...provider} />
      </KeyPanel>
      <KeyPanel
        title={T.providerKeys}
        text={T.providerKeysText}
        action={{
          ...{ ...base, id: 'addProviderKey', label: T.addKey, shownFields: ['providerKeys'] },
          description: descriptionOf(provider, C.addKey),
        }}
      >
        <ProviderKeys {...provider} />
      </KeyPanel>
    </div>
  );
}

function Pause({ status, pausedBy, pauseReason, statusSince }: Value) {
  if (status !== 'PAUSED') return null;
  return (
    <p className="notice">
      {pausedBy && T.pausedBy[pausedBy]} {pauseReason} (<Time value={statusSince} />)
    </p>
  );
}

function Problem({ problem, checkedAt }: Value) {
  if (problem === null) return null;
  return (
    <div className="problem notice">
      <p>
        <strong>{T.problem}</strong> {problem} (<Time value={checkedAt} />)
      </p>
    </div>
  );
}

const Messages = ({ providerId }: Value) => (
  <Panel
    title={T.messages}
    actions={
      <Link to="/provider-messages" search={{ providerId } as never}>
        {T.allMessages}
      </Link>
    }
  >
    <List
      id="listProviderMessages"
      query={{ providerId }}
      columns={MESSAGE_COLUMNS}
      pathOf={pathOfMessage}
      emptyText={T.noMessages}
    />
  </Panel>
);

const Content = ({ provider }: { provider: Value }) => {
  const { url, privateAddressAllowed, checkedAt, createdAt } = provider;
  return (
    <>
      <div className="figure-row">
        <p className="figure">{provider.providerId}</p>
        <AvailabilityMark value={availabilityOf(provider)} />
      </div>
      <p className="lead">{stateText(provider)}</p>
      <Pause {...provider} />
      <Problem {...provider} />
      <div className="columns even">
        <div>
          <Panel title={T.capabilities}>
            <Capabilities {...provider} />
          </Panel>
          <Panel title={T.address}>
            <Address {...provider} />
          </Panel>
          <Terms provider={provider} />
          <Prefunding provider={provider} />
        </div>
        <div>
          <Panel title={T.details}>
            <Facts value={{ url, privateAddressAllowed, checkedAt, createdAt }} />
          </Panel>
          <BalancesOfProvider providerId={provider.providerId} />
          <StatementSource providerId={provider.providerId} />
        </div>
      </div>
      <Health provider={provider} />
      <RoutesOfProvider provider={provider} />
      <Messages {...provider} />
      <Keys provider={provider} />
    </>
  );
};

/** No event reports that a provider became available or unavailable. */
const REFRESH_MS = 15_000;

export function Provider() {
  const { id } = useParams({ strict: false }) as { id: string };
  const options = { refetchInterval: () => REFRESH_MS };
  const query = useReply('getProvider', { path: { providerId: id } }, options);
  return (
    <QueryView query={query} title={T.provider} lines={8}>
      {(provider) => (
        <Screen
          title={T.provider}
          mark={
            <>
              <Status value={provider.status} />
              <ModeMark mode={provider.environment} />
            </>
          }
          subject={id}
          actions={<Actions provider={provider} />}
        >
          <Content provider={provider} />
        </Screen>
      )}
    </QueryView>
  );
}
