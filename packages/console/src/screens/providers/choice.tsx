// Explains the routing of a transfer: the routes, each with its verdict.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Fields } from '../../action/fields.tsx';
import type { FieldSchema, Values } from '../../action/schema.ts';
import { ApiError, type Query, type Reply } from '../../api/client.ts';
import { useReply } from '../../api/queries.ts';
import { CHOICES } from '../../generated/choices.ts';
import { QueryView } from '../../parts/feedback.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { usePlatform } from '../../shell/platform.tsx';
import { PROVIDER_TEXTS as T } from '../../texts/providers.ts';
import { TEXTS } from '../../texts/texts.ts';
import type { Transfer } from './sentences.ts';
import { Verdicts } from './verdicts.tsx';

const choices = CHOICES.explainProviderRoute ?? {};

const choiceField = (name: string, description: string): FieldSchema => ({
  type: 'string',
  description,
  ...(choices[name] && { enum: choices[name] }),
});

const ROUTING_FIELDS: FieldSchema = {
  required: ['platformId', 'environment', 'kind'],
  properties: {
    platformId: { type: 'string', description: T.platformField },
    environment: choiceField('environment', T.environmentField),
    kind: choiceField('kind', T.kindField),
    rail: choiceField('rail', T.railField),
    country: { type: 'string', maxLength: 2, description: T.countryField },
  },
};
const AMOUNT_FIELDS: FieldSchema = {
  required: ['currency', 'amount'],
  properties: {
    currency: { type: 'string', maxLength: 10, description: T.currencyField },
    amount: { type: 'integer', description: T.amountField },
  },
};
const REQUIRED = [...(ROUTING_FIELDS.required ?? []), ...(AMOUNT_FIELDS.required ?? [])];

type Search = Readonly<Partial<Record<keyof Transfer, string>>>;

const isSet = (value: unknown) => value !== undefined && value !== '';

/** The transfer in the query of the URL, or undefined while a required value is missing. */
function transferIn(search: Search): Transfer | undefined {
  if (!REQUIRED.every((name) => isSet(search[name as keyof Transfer]))) return undefined;
  return { ...(search as unknown as Transfer), amount: Number(search.amount) };
}

/** Values in the URL, or else the selected platform and its environment. Default kind: payout. */
function useInitialValues(search: Search): Values {
  const { platform } = usePlatform();
  const platformValues = platform && {
    platformId: platform.id,
    environment: platform.mode.toLowerCase(),
  };
  const { amount, ...texts } = search;
  return {
    kind: 'payout',
    ...platformValues,
    ...texts,
    ...(amount !== undefined && { amount: Number(amount) }),
  };
}

/** Converts a code to upper case, because the currency determines the decimals of the amount. */
const upperCase = (values: Values, name: string): Values => {
  const code = values[name];
  return typeof code === 'string' ? { [name]: code.trim().toUpperCase() } : {};
};

interface FormProps {
  search: Search;
  error: unknown;
}

function Form({ search, error }: FormProps) {
  const navigate = useNavigate();
  const { platforms } = usePlatform();
  const [values, setValues] = useState(useInitialValues(search));
  const [missingFields, setMissing] = useState<readonly string[]>([]);
  const set = (nextValues: Values) => {
    const platform = platforms.find(({ id }) => id === nextValues.platformId);
    const isPlatformChanged = nextValues.platformId !== values.platformId;
    const environment =
      isPlatformChanged && platform ? { environment: platform.mode.toLowerCase() } : {};
    setValues({
      ...nextValues,
      ...environment,
      ...upperCase(nextValues, 'currency'),
      ...upperCase(nextValues, 'country'),
    });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const emptyFields = REQUIRED.filter((name) => !isSet(values[name]));
    setMissing(emptyFields);
    if (emptyFields.length > 0) return;
    const entries = Object.entries(values).filter(([, value]) => isSet(value));
    const nextSearch = Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
    void navigate({ to: '.', search: nextSearch as never, replace: true });
  };
  const errors = {
    ...Object.fromEntries(missingFields.map((name) => [name, TEXTS.required])),
    ...Object.fromEntries(
      (error instanceof ApiError ? error.fields : []).map(({ field, message }) => [field, message]),
    ),
  };
  return (
    <form onSubmit={submit} noValidate>
      <div className="field-grid">
        <Fields schema={ROUTING_FIELDS} values={values} errors={errors} set={set} />
        <Fields schema={AMOUNT_FIELDS} values={values} errors={errors} set={set} />
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

interface ConclusionProps {
  reply: Choice;
  transfer: Transfer;
}

const Conclusion = ({ reply, transfer }: ConclusionProps) => (
  <>
    <p className="lead">{conclusionOf(reply)}</p>
    {reply.routes.length === 0 && <p className="soft">{T.noRouteAtAll}</p>}
    <Verdicts routes={reply.routes} currency={transfer.currency} transfer={transfer} />
  </>
);

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
          <QueryView query={query}>
            {(reply) => <Conclusion reply={reply} transfer={transfer} />}
          </QueryView>
        </Panel>
      )}
    </Screen>
  );
}
