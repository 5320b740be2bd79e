// Webhook endpoints of a platform, its sandbox, and the state of the installation.
import { ActionButton } from '../../action/action.tsx';
import { useReply } from '../../api/queries.ts';
import { columnsOf } from '../../parts/columns.tsx';
import { Facts } from '../../parts/facts.tsx';
import { EmptyState, QueryView } from '../../parts/feedback.tsx';
import { List } from '../../parts/list.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { ModeMark } from '../../parts/status.tsx';
import { ClockTime } from '../../parts/time.tsx';
import { usePlatform } from '../../shell/platform.tsx';
import { DEVELOPER_TEXTS as T } from '../../texts/developers.ts';
import { TEXTS } from '../../texts/texts.ts';

const endpoints = columnsOf<'listWebhookEndpointsOfPlatform'>();

const ENDPOINT_COLUMNS = [
  ...endpoints.fields('status', 'url', 'failed', 'pending', 'failingSince', 'lastSuccessAt'),
  ...endpoints.fields('oldestPendingAt'),
  ...endpoints.hidden('eventTypes', 'description', 'id'),
  endpoints.actions(({ id, url, status }) => {
    const base = {
      path: { webhookEndpointId: id },
      description: <Facts value={{ url, status }} />,
    };
    return status === 'PAUSED' ? (
      <ActionButton {...base} id="resumeWebhookEndpoint" label={T.resume} />
    ) : (
      <ActionButton {...base} id="pauseWebhookEndpoint" label={T.pause} isDangerous />
    );
  }),
];

export function Endpoints() {
  const { platformId } = usePlatform();
  return (
    <Screen title={TEXTS.pages.endpoints}>
      {platformId ? (
        <List
          id="listWebhookEndpointsOfPlatform"
          path={{ platformId }}
          columns={ENDPOINT_COLUMNS}
          emptyText={T.noEndpoints}
        />
      ) : (
        <EmptyState>{TEXTS.selectPlatform}</EmptyState>
      )}
    </Screen>
  );
}

const CLOCK_REFRESH_MS = 2_000;

function Clock({ platformId }: { platformId: string }) {
  const path = { platformId };
  const query = useReply('getPlatformClock', { path }, { refetchInterval: () => CLOCK_REFRESH_MS });
  return (
    <Panel
      title={T.clock}
      actions={
        <ActionButton id="changePlatformClock" label={T.advanceClock} path={path} isPrimary />
      }
    >
      <p className="soft">{T.clockText}</p>
      <div className="actions">
        {Object.entries(T.advances).map(([advance, label]) => (
          <ActionButton
            key={advance}
            id="changePlatformClock"
            label={label}
            path={path}
            initialValues={{ advance }}
          />
        ))}
      </div>
      <QueryView query={query}>
        {(reply) => (
          <>
            <p className="clock">
              <ClockTime value={reply.currentTime} />
            </p>
            <Facts value={reply} hiddenFields={['platformId', 'currentTime']} />
          </>
        )}
      </QueryView>
    </Panel>
  );
}

function Worlds({ platformId, kind }: { platformId: string; kind: 'WORLD' | 'SCENARIO' }) {
  const query = useReply('listSandboxWorlds');
  const { title, text, load } = T.worlds[kind];
  const path = { platformId };
  return (
    <Panel title={title}>
      <p className="soft">{text}</p>
      <QueryView query={query}>
        {({ data }) => (
          <ul className="choices">
            {data
              .filter((each) => each.kind === kind)
              .map(({ name, summary }) => (
                <li key={name}>
                  <span>
                    <span className="code">{name}</span>
                    <span className="soft">{summary}</span>
                  </span>
                  <ActionButton
                    id="createPlatformFixtures"
                    label={load}
                    path={path}
                    initialValues={{ world: name }}
                    accessibleLabel={`${load} ${name}`}
                    {...(kind === 'WORLD' && { doneText: T.worldDone })}
                  />
                </li>
              ))}
          </ul>
        )}
      </QueryView>
    </Panel>
  );
}

export function Sandbox() {
  const { platform } = usePlatform();
  if (platform?.mode.toUpperCase() !== 'SANDBOX')
    return (
      <Screen title={TEXTS.pages.sandbox}>
        <EmptyState>{T.selectSandbox}</EmptyState>
      </Screen>
    );
  return (
    <Screen
      title={TEXTS.pages.sandbox}
      mark={<ModeMark mode={platform.mode} />}
      actions={
        <ActionButton
          id="resetPlatform"
          label={T.reset}
          path={{ platformId: platform.id }}
          description={<Facts value={{ platform: platform.name }} />}
          isDangerous
        />
      }
    >
      <div className="columns even">
        <div>
          <Clock platformId={platform.id} />
          <Worlds platformId={platform.id} kind="WORLD" />
        </div>
        <Worlds platformId={platform.id} kind="SCENARIO" />
      </div>
    </Screen>
  );
}

const REFRESH_MS = 10_000;

export function System() {
  const query = useReply('getSystem', {}, { refetchInterval: () => REFRESH_MS });
  return (
    <Screen title={TEXTS.pages.system}>
      <QueryView query={query}>
        {({ process, database, settings, ...installation }) => (
          <>
            <div className="columns even">
              <Panel title={T.process}>
                <Facts value={process} />
              </Panel>
              <Panel title={T.installation}>
                <Facts value={{ ...installation, ...settings }} />
              </Panel>
            </div>
            <Panel title={T.database}>
              <Facts value={database} />
            </Panel>
          </>
        )}
      </QueryView>
    </Screen>
  );
}
