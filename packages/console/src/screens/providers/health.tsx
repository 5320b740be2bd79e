// Health, terms and prefunded balances of a provider.
import { ActionButton } from '../../action/action.tsx';
import { useReply } from '../../api/queries.ts';
import { Facts } from '../../parts/facts.tsx';
import { QueryView } from '../../parts/feedback.tsx';
import { Amount } from '../../parts/money.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Scroll } from '../../parts/scroll.tsx';
import { Time } from '../../parts/time.tsx';
import { PROVIDER_TEXTS as T } from '../../texts/providers.ts';
import { TEXTS } from '../../texts/texts.ts';
import { type Provider, termsOf, windowText } from './sentences.ts';

interface ProviderProps {
  provider: Provider;
}

const percentFormat = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 1,
});

const rateText = (rate: number | null) => (rate === null ? TEXTS.none : percentFormat.format(rate));

const COLUMNS = [T.calls, T.errorRate, T.average, T.fast, T.results, T.successRate, T.returnRate];

const REFRESH_MS = 15_000;

export function Health({ provider: { providerId } }: ProviderProps) {
  const options = { refetchInterval: () => REFRESH_MS };
  const query = useReply('getProviderHealth', { query: { providerId } }, options);
  return (
    <Panel title={T.health}>
      <p className="soft">{T.healthText}</p>
      <QueryView query={query}>
        {({ data }) => (
          <Scroll label={T.health}>
            <table className="grid">
              <thead>
                <tr>
                  <th scope="col">{T.window}</th>
                  {COLUMNS.map((each) => (
                    <th key={each} scope="col" className="number">
                      {each}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {data[0]?.windows.map(({ minutes, calls, averageMs, within500Ms, ...results }) => (
                  <tr key={minutes}>
                    <th scope="row">{windowText(minutes)}</th>
                    {[
                      calls.toLocaleString(),
                      rateText(results.errorRate),
                      averageMs === null ? TEXTS.none : T.ms(averageMs),
                      rateText(calls === 0 ? null : within500Ms / calls),
                      (results.settled + results.failed + results.returned).toLocaleString(),
                      rateText(results.successRate),
                      rateText(results.returnRate),
                    ].map((text, index) => (
                      <td key={COLUMNS[index]} className="number">
                        {text}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </QueryView>
    </Panel>
  );
}

export function Terms({ provider: { providerId, environment, terms } }: ProviderProps) {
  const sentences = termsOf(terms);
  return (
    <Panel
      title={T.terms}
      actions={
        <ActionButton
          id="setProviderTerms"
          label={T.changeTerms}
          path={{ providerId }}
          current={{ terms }}
          shownFields={['terms']}
          description={<Facts value={{ providerId, environment }} />}
        />
      }
    >
      {sentences.length === 0 ? (
        <p className="soft">{T.noTerms}</p>
      ) : (
        <ul className="sentences">
          {sentences.map((each) => (
            <li key={each}>{each}</li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** Renders nothing if the provider has neither prefunding nor balances. */
export function Prefunding({ provider: { providerId, terms, balances } }: ProviderProps) {
  const currencies = (terms.prefunding ?? []).map(({ currency }) => currency);
  if (currencies.length === 0 && balances.length === 0) return null;
  return (
    <Panel
      title={T.prefunding}
      actions={
        <ActionButton
          id="setProviderBalance"
          label={T.setBalance}
          path={{ providerId }}
          initialValues={{ currency: currencies[0] }}
          shownFields={['balances']}
          description={<Facts value={{ providerId }} />}
        />
      }
    >
      {balances.map(({ currency, available, amount, sentSince, isLow, asOf }) => (
        <section key={currency} className="record">
          <p>
            <strong>
              <Amount value={{ amount: available, currency }} />
            </strong>{' '}
            <span className={`status ${isLow ? 'caution' : 'good'}`}>
              {isLow ? T.low : T.enough}
            </span>
          </p>
          <Facts
            value={{
              reportedAmount: { amount, currency },
              sentSince: { amount: sentSince, currency },
            }}
          />
          <p className="soft">
            {T.since} <Time value={asOf} />
          </p>
        </section>
      ))}
    </Panel>
  );
}
