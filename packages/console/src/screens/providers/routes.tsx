// Routes in the order of evaluation: all routes, and those of one provider.
import { Link } from '@tanstack/react-router';
import { ActionButton } from '../../action/action.tsx';
import type { Column } from '../../parts/column.ts';
import { columnsOf } from '../../parts/columns.tsx';
import { Facts } from '../../parts/facts.tsx';
import { List } from '../../parts/list.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { usePlatform } from '../../shell/platform.tsx';
import { PROVIDER_TEXTS as T } from '../../texts/providers.ts';
import { TEXTS } from '../../texts/texts.ts';
import { useProviderNames } from './names.ts';
import {
  conditionsText,
  isService,
  type PlatformNames,
  type Provider,
  providerName,
  type Route,
} from './sentences.ts';

const columns = columnsOf<'listProviderRoutes'>();

/**
 * Returns the name of a platform, or its ID if the platform is not among the platforms that can be
 * selected.
 */
export function usePlatformNames(): PlatformNames {
  const { platforms } = usePlatform();
  return (platformId) => platforms.find(({ id }) => id === platformId)?.name ?? platformId;
}

export const ProviderLink = ({ id }: { id: string | null }) =>
  id === null ? (
    <span>{T.builtIn}</span>
  ) : (
    <Link to={`/providers/${encodeURIComponent(id)}`}>{id}</Link>
  );

function DeleteRoute({ route, nameOf }: { route: Route; nameOf: PlatformNames }) {
  const { routeId, priority, providerId } = route;
  const { consequences: C } = T;
  const appliesTo = conditionsText(route, nameOf);
  return (
    <ActionButton
      id="deleteProviderRoute"
      label={T.deleteRoute}
      accessibleLabel={`${T.deleteRoute} ${T.priority(priority)}, ${appliesTo}`}
      path={{ routeId }}
      description={
        <>
          <Facts value={{ priority, provider: providerName(providerId), appliesTo }} />
          <p>{isService(route) ? C.deleteService : C.deleteRoute}</p>
        </>
      }
      isDangerous
    />
  );
}

function columnsWith(nameOf: PlatformNames): Column<Route>[] {
  const conditions = (route: Route) => conditionsText(route, nameOf);
  const provider = ({ providerId }: Route) => providerName(providerId);
  return [
    ...columns.numbers('priority'),
    columns.column('providerId', ({ providerId }) => <ProviderLink id={providerId} />, provider),
    { ...{ name: 'appliesTo', label: T.appliesTo }, cell: conditions, text: conditions },
    ...columns.fields('environment', 'createdAt'),
    ...columns.hidden('kind', 'platformId', 'rail', 'currency', 'country'),
    ...columns.hidden('costFixed', 'costBasisPoints', 'routeId'),
    columns.actions((route) => <DeleteRoute route={route} nameOf={nameOf} />),
  ];
}

const USES = ['transfers', 'services'];
const ENVIRONMENTS = ['production', 'sandbox'];

type Search = Readonly<Record<string, string>>;

/** The operation returns all routes, so the console filters them. */
function keepRoute(route: Route, { environment, use, provider }: Search): boolean {
  if (environment && route.environment !== environment) return false;
  if (use && isService(route) !== (use === 'services')) return false;
  return !provider || providerName(route.providerId) === provider;
}

export function Routes() {
  const nameOf = usePlatformNames();
  const names = [...useProviderNames(), T.builtIn];
  return (
    <Screen
      title={TEXTS.pages.providerRoutes}
      actions={
        <>
          <Link to="/provider-choice" className="button">
            {TEXTS.pages.providerChoice}
          </Link>
          <ActionButton id="createProviderRoute" label={T.addRoute} isPrimary />
        </>
      }
    >
      <p className="sub soft">{T.routesText}</p>
      <List
        id="listProviderRoutes"
        columns={columnsWith(nameOf)}
        filters={[
          { name: 'environment', values: ENVIRONMENTS },
          { name: 'use', label: T.use, values: USES },
          { name: 'provider', values: names, textOf: (name) => name },
        ]}
        keep={keepRoute}
        emptyText={T.noRoutes}
      />
    </Screen>
  );
}

export function RoutesOfProvider({ provider }: { provider: Provider }) {
  const { providerId, environment } = provider;
  const nameOf = usePlatformNames();
  return (
    <Panel
      title={T.routes}
      actions={
        <ActionButton
          id="createProviderRoute"
          label={T.addRoute}
          fixedFields={{ environment, providerId }}
        />
      }
    >
      <List
        id="listProviderRoutes"
        columns={columnsWith(nameOf).filter(
          ({ name }) => name !== 'providerId' && name !== 'environment',
        )}
        keep={(route) => route.providerId === providerId}
        emptyText={T.noRoutesOfProvider}
      />
    </Panel>
  );
}
