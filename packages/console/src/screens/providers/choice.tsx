// Why this provider: the routes that a transfer would be tried with, each with its verdict.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Fields } from '../../action/fields.tsx';
import type { FieldSchema, Values } from '../../action/schema.ts';
import { ApiError, type Query, type Reply } from '../../api/client.ts';
import { useReply } from '../../api/queries.ts';
import { CHOICES } from '../../generated/choices.ts';
import { Loaded } from '../../parts/feedback.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { usePlatform } from '../../shell/platform.tsx';
import { PROVIDER_TEXTS as T } from '../../texts/providers.ts';
import { TEXTS } from '../../texts/texts.ts';
import { ProviderLink, usePlatformNames } from './routes.tsx';
import { conditionsText, type Transfer, verdictText } from './sentences.ts';

const choices = CHOICES.explainProviderRoute ?? {};

const choice = (name: string, description: string): FieldSchema => ({
  type: 'string',
  description,
  ...(choices[name] && { enum: choices[name] }),
});

const PLACE: FieldSchema = {
  required: ['platformId', 'environment', 'kind'],
  properties: {
    platformId: { type: 'string', description: T.platformField },
    environment: choice('environment', T.environmentField),
    kind: choice('kind', T.kindField),
    rail: choice('rail', T.railField),
  },
};
const MONEY: FieldSchema = {
  required: ['currency', 'amount'],
  properties: {
    currency: { type: 'string', maxLength: 10, description: T.currencyField },
    amount: { type: 'integer', description: T.amountField },
  },
};
const REQUIRED = [...(PLACE.required ?? []), ...(MONEY.required ?? [])];

type Search = Readonly<Partial<Record<keyof Transfer, string>>>;

const isSet = (value: unknown) => value !== undefined && value !== '';

/** The transfer of the address; undefined while a required value is missing. */
function transferIn(search: Search): Transfer | undefined {
  if (!REQUIRED.every((name) => isSet(search[name as keyof Transfer]))) return undefined;
  return { ...(search as unknown as Transfer), amount: Number(search.amount) };
}

/** The environment follows from a known platform. */
function useInitialValues(search: Search): Values {
  const { platform } = usePlatform();
  const ofPlatform = platform && {
    platformId: platform.id,
    environment: platform.mode.toLowerCase(),
  };
  const { amount, ...texts } = search;
  return {
    kind: 'payout',
    ...ofPlatform,
    ...texts,
    ...(amount !== undefined && { amount: Number(amount) }),
  };
}

interface FormProps {
  search: Search;
  error: unknown;
}

function Form({ search, error }: FormProps) {
  const navigate = useNavigate();
  const { platforms } = usePlatform();
  const [values, setValues] = useState(useInitialValues(search));
  const [missing, setMissing] = useState<readonly string[]>([]);
  const set = (next: Values) => {
    const platform = platforms.find(({ id }) => id === next.platformId);
    const isOther = next.platformId !== values.platformId;
    const environment = isOther && platform ? { environment: platform.mode.toLowerCase() } : {};
    const { currency } = next;
    // An amount is read in its currency, whose codes are upper-case.
    const code = typeof currency === 'string' ? { currency: currency.trim().toUpperCase() } : {};
    setValues({ ...next, ...environment, ...code });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const empty = REQUIRED.filter((name) => !isSet(values[name]));
    setMissing(empty);
    if (empty.length > 0) return;
    const entries = Object.entries(values).filter(([, value]) => isSet(value));
    const next = Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
    void navigate({ to: '.', search: next as never, replace: true });
  };
  const errors = {
    ...Object.fromEntries(missing.map((name) => [name, TEXTS.required])),
    ...Object.fromEntries(
      (error instanceof ApiError ? error.fields : []).map(({ field, message }) => [field, message]),
    ),
  };
  return (
    <form onSubmit={submit} noValidate>
      <div className="field-grid">
        <Fields schema={PLACE} values={values} errors={errors} set={set} />
        <Fields schema={MONEY} values={values} errors={errors} set={set} />
      </div>
      <button type="submit" className="button primary">
        {T.explain}
      </button>
    </form>
  );
}

type Choice = Reply<'explainProviderRoute'>;

function conclusionOf({ providerId, routeId }: Choice): string {
  if (providerId !== null) return T.executes(providerId);
  return routeId === null ? T.builtInByDefault : T.builtInByRoute;
}

const MARKS: Readonly<Record<string, readonly [tone: string, text: string]>> = {
  SELECTED: ['good', T.marks.selected],
  LOWER_PRIORITY: ['neutral', T.marks.unused],
};

function Verdicts({ reply, transfer }: { reply: Choice; transfer: Transfer }) {
  const nameOf = usePlatformNames();
  return (
    <>
      <p className="lead">{conclusionOf(reply)}</p>
      {reply.routes.length === 0 && <p className="soft">{T.noRouteAtAll}</p>}
      <ol className="choices">
        {reply.routes.map((route) => {
          const [tone, text] = MARKS[route.verdict] ?? ['neutral', T.marks.skipped];
          return (
            <li key={route.routeId}>
              <span>
                <span>
                  {T.priority(route.priority)} · <ProviderLink id={route.providerId} /> ·{' '}
                  {conditionsText(route, nameOf)}
                </span>
                <span className="soft">{verdictText(route, transfer, nameOf)}</span>
              </span>
              <span className={`status ${tone}`}>{text}</span>
            </li>
          );
        })}
      </ol>
    </>
  );
}

export function ProviderChoice() {
  const search = useSearch({ strict: false }) as Search;
  const transfer = transferIn(search);
  const query = useReply(
    'explainProviderRoute',
    { query: transfer as unknown as Query<'explainProviderRoute'> },
    { enabled: transfer !== undefined },
  );
  return (
    <Screen title={TEXTS.pages.providerChoice}>
      <p className="sub soft">{T.choice}</p>
      <Panel title={T.transfer}>
        <Form search={search} error={query.error} />
      </Panel>
      {transfer && (
        <Panel title={T.result}>
          <Loaded query={query}>{(reply) => <Verdicts reply={reply} transfer={transfer} />}</Loaded>
        </Panel>
      )}
    </Screen>
  );
}
