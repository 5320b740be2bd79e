// Settings for the statements of a provider: time zone of its days, and treatment of its fees.
import { ActionButton } from '../../action/action.tsx';
import type { Reply } from '../../api/client.ts';
import { useReply } from '../../api/queries.ts';
import { usePermits } from '../../api/session.tsx';
import { Facts } from '../../parts/facts.tsx';
import { QueryView } from '../../parts/feedback.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RECONCILIATION_TEXTS as T } from '../../texts/reconciliation.ts';

type Source = Reply<'getStatementSource'>;

const sentencesOf = ({ timeZone, feesExpected, requestedDay }: Source): string[] => [
  T.daysEnd(timeZone),
  feesExpected ? T.feesExpected : T.feesDiffer,
  requestedDay === null ? T.noDayRequested : T.dayRequested(requestedDay),
];

export function StatementSource({ providerId }: { providerId: string }) {
  const permits = usePermits();
  const isShown = permits('getStatementSource');
  const query = useReply('getStatementSource', { path: { providerId } }, { enabled: isShown });
  if (!isShown) return null;
  const { data } = query;
  return (
    <Panel
      title={T.statements}
      actions={
        data && (
          <ActionButton
            id="changeStatementSource"
            label={T.changeStatements}
            path={{ providerId }}
            current={{ timeZone: data.timeZone, feesExpected: data.feesExpected }}
            description={
              <>
                <Facts value={{ providerId }} />
                <p>{T.changingStatements}</p>
              </>
            }
          />
        )
      }
    >
      <QueryView query={query} lines={3}>
        {(source) => (
          <ul className="sentences">
            {sentencesOf(source).map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
        )}
      </QueryView>
    </Panel>
  );
}
