// Export and import of providers and routes as one file. The server lists the changes before an import.
import { useMutation } from '@tanstack/react-query';
import { type ChangeEvent, useState } from 'react';
import { ActionButton } from '../../action/action.tsx';
import type { Values } from '../../action/schema.ts';
import { ApiError, call, type Reply } from '../../api/client.ts';
import { usePermits } from '../../api/session.tsx';
import { download } from '../../parts/csv.ts';
import { Problem } from '../../parts/feedback.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { fieldLabel, lowerFirst } from '../../texts/fields.ts';
import { PROVIDER_TEXTS as T } from '../../texts/providers.ts';
import { TEXTS } from '../../texts/texts.ts';

type Change = Reply<'importProviders'>['changes'][number];

const FILE = 'providers.json';
const JSON_TYPE = 'application/json';
/** Maximum number of listed changes. An import can replace thousands of routes. */
const MAX_LISTED = 200;

function sentenceOf({ action, subject, id, field, before, after }: Change): string {
  const subjectText = T.file.subjects[subject](id);
  if (action === 'CHANGE' && field !== undefined)
    return T.file.changes(lowerFirst(fieldLabel(field)), subjectText, before, after);
  return T.file.actions[action](subjectText);
}

function Export() {
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => call('exportProviders'),
    onSuccess: (file) => download(FILE, `${JSON.stringify(file, null, 2)}\n`, JSON_TYPE),
  });
  return (
    <Panel title={T.file.exportTitle}>
      <p className="soft">{T.file.exportText}</p>
      <div className="actions">
        <button type="button" className="button" disabled={isPending} onClick={() => mutate()}>
          {isPending ? TEXTS.list.exporting : T.file.export}
        </button>
      </div>
      {error && <Problem error={error} />}
    </Panel>
  );
}

const Changes = ({ changes }: { changes: readonly Change[] }) => (
  <>
    <p>{T.file.wouldChange(changes.length)}</p>
    <ul className="sentences">
      {changes.slice(0, MAX_LISTED).map((change) => {
        const text = sentenceOf(change);
        return <li key={text}>{text}</li>;
      })}
    </ul>
    {changes.length > MAX_LISTED && <p className="soft">{T.file.more(MAX_LISTED)}</p>}
  </>
);

interface Comparison {
  file: Values;
  changes: readonly Change[];
}

/** The content of a file and the changes of its import. Throws an `ApiError` for an invalid file. */
async function compare(chosenFile: File): Promise<Comparison> {
  let file: Values;
  try {
    file = JSON.parse(await chosenFile.text()) as Values;
  } catch {
    throw new ApiError(400, 'INVALID_INPUT', TEXTS.notJson, []);
  }
  const { changes } = await call('importProviders', { body: { ...file, dryRun: true } });
  return { file, changes };
}

const Errors = ({ error }: { error: unknown }) => (
  <>
    <Problem error={error} />
    {error instanceof ApiError && error.fields.length > 0 && (
      <ul className="sentences">
        {error.fields.map(({ field, message }) => (
          <li key={`${field} ${message}`}>
            <span className="code">{field}</span> {message}
          </li>
        ))}
      </ul>
    )}
  </>
);

function Import() {
  const [name, setName] = useState('');
  const { mutate, reset, data, error, isPending } = useMutation({ mutationFn: compare });
  const choose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [chosenFile] = target.files ?? [];
    setName(chosenFile?.name ?? '');
    if (chosenFile) mutate(chosenFile);
    else reset();
    // The same file can be chosen again after it was edited.
    target.value = '';
  };
  return (
    <Panel title={T.file.importTitle}>
      <p className="soft">{T.file.importText}</p>
      <div className="field">
        <label className="label" htmlFor="provider-file">
          {T.file.choose}
        </label>
        <input id="provider-file" type="file" accept={`.json,${JSON_TYPE}`} onChange={choose} />
      </div>
      <div role="status">
        {name && <p className="code">{name}</p>}
        {isPending && <p>{T.file.comparing}</p>}
        {data && data.changes.length === 0 && <p>{T.file.nothing}</p>}
        {data && data.changes.length > 0 && <Changes changes={data.changes} />}
      </div>
      {error && <Errors error={error} />}
      {data && data.changes.length > 0 && (
        <div className="actions">
          <ActionButton
            id="importProviders"
            label={T.file.import}
            describedFields={{ ...data.file, dryRun: false }}
            description={<Changes changes={data.changes} />}
            shownFields={['applied']}
            onDone={reset}
            isPrimary
          />
        </div>
      )}
    </Panel>
  );
}

export function ProviderFile() {
  const permits = usePermits();
  return (
    <Screen title={TEXTS.pages.providerFile}>
      <p className="sub soft">{T.file.text}</p>
      <div className="columns even">
        <Export />
        {permits('importProviders') && <Import />}
      </div>
    </Screen>
  );
}
