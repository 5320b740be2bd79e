// Routes with their verdicts, for a hypothetical transfer and for a payment.
import { useReply } from '../../api/queries.ts';
import { usePermits, useSession } from '../../api/session.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { PROVIDER_TEXTS as T } from '../../texts/providers.ts';
import { ProviderLink, usePlatformNames } from './routes.tsx';
import {
  conditionsText,
  type Explained,
  kindText,
  providerName,
  type Transfer,
  verdictText,
} from './sentences.ts';

const MARKS: Readonly<Record<string, readonly [tone: string, text: string]>> = {
  SELECTED: ['good', T.marks.selected],
  LOWER_PRIORITY: ['neutral', T.marks.unused],
  HIGHER_COST: ['neutral', T.marks.unused],
};

interface VerdictsProps {
  routes: readonly Explained[];
  currency: string | undefined;
  transfer?: Transfer;
}

export function Verdicts({ routes, currency, transfer }: VerdictsProps) {
  const nameOf = usePlatformNames();
  return (
    <ol className="choices">
      {routes.map((route) => {
        const [tone, text] = MARKS[route.verdict] ?? ['neutral', T.marks.skipped];
        return (
          <li key={route.routeId}>
            <span>
              <span>
                {T.priority(route.priority)} · <ProviderLink id={route.providerId} /> ·{' '}
                {conditionsText(route, nameOf)}
              </span>
              <span className="soft">{verdictText(route, currency, nameOf, transfer)}</span>
            </span>
            <span className={`status ${tone}`}>{text}</span>
          </li>
        );
      })}
    </ol>
  );
}

/** The choices of providers for the transfers of a payment, or undefined if they may not be read. */
function useChoices(transactionId: string) {
  const permits = usePermits();
  const { user } = useSession();
  // Operators who are limited to platforms may not read the providers of the installation.
  const hasAllPlatforms = (user?.platformIds ?? null) === null;
  return useReply(
    'explainProviderOfTransaction',
    { path: { transactionId } },
    { enabled: hasAllPlatforms && permits('explainProviderOfTransaction') },
  ).data;
}

/** Whether the provider that has sent the payout supports a request to return it. */
export function useRecallOffer(transactionId: string): boolean {
  const permits = usePermits();
  const payout = useChoices(transactionId)?.data.find(({ kind }) => kind === 'payout');
  const providerId = payout?.providerId ?? null;
  const { data } = useReply(
    'getProvider',
    { path: { providerId: providerId ?? '' } },
    { enabled: providerId !== null && permits('getProvider') },
  );
  return data?.capabilities?.recall === true;
}

/** The providers of the transfers of a payment, with the reasons. Empty without choices. */
export function ProvidersOfPayment({ transactionId }: { transactionId: string }) {
  const data = useChoices(transactionId);
  if (!data || data.data.length === 0) return null;
  return (
    <Panel title={T.chosen}>
      {data.data.map(({ transferId, kind, providerId, routeId, outcome, chosenAt, ...choice }) => {
        const priority = choice.routes.find((each) => each.routeId === routeId)?.priority;
        const name = providerName(providerId);
        return (
          <section key={transferId} className="record">
            <p>
              {kind && `${kindText(kind)}: `}
              <strong>
                {priority === undefined ? T.chosenByDefault(name) : T.chosenBy(name, priority)}
              </strong>{' '}
              <Time value={chosenAt} /> {outcome && <Status value={outcome} />}
            </p>
            {choice.routes.length > 0 && (
              <details className="record">
                <summary>{T.consideredRoutes}</summary>
                <Verdicts routes={choice.routes} currency={choice.currency ?? undefined} />
              </details>
            )}
          </section>
        );
      })}
    </Panel>
  );
}
