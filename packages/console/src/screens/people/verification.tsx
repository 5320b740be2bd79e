// An identity check: the submitted data next to the documents, and the decision. Keyboard shortcuts
// open the form of a decision, and the next or previous check.
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ActionButtons } from '../../action/action.tsx';
import type { Action } from '../../action/types.ts';
import type { Item, Reply } from '../../api/client.ts';
import { usePages, useReply } from '../../api/queries.ts';
import { Facts } from '../../parts/facts.tsx';
import { EmptyState, QueryView } from '../../parts/feedback.tsx';
import { Identifier } from '../../parts/identifier.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { Status, statusText } from '../../parts/status.tsx';
import { PEOPLE_TEXTS as T } from '../../texts/people.ts';
import { DocumentView } from './document.tsx';

type Case = Reply<'getVerificationCase'>;

/** The checks before and after this one in the queue. */
function useNeighbors(id: string) {
  const { data } = usePages('listVerificationsForReview', {});
  const ids = (data?.pages ?? []).flatMap((page) =>
    (page.data as Item<'listVerificationsForReview'>[]).map(({ customerId }) => customerId),
  );
  const currentIndex = ids.indexOf(id);
  // A decided check is removed from the queue, so the next check has its index.
  const [queueIndex, setQueueIndex] = useState(0);
  if (currentIndex >= 0 && currentIndex !== queueIndex) setQueueIndex(currentIndex);
  return {
    next: currentIndex < 0 ? (ids[queueIndex] ?? ids[0]) : ids[currentIndex + 1],
    previous: currentIndex > 0 ? ids[currentIndex - 1] : undefined,
  };
}

const isTyping = ({ target }: KeyboardEvent) =>
  target instanceof Element && target.closest('input, textarea, select, [role=dialog]') !== null;

function useShortcuts(keys: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const run = keys[event.key.toLowerCase()];
      if (!run) return;
      event.preventDefault();
      run();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}

const pressButton = (label: string) => {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('.screen-head button')];
  buttons.find(({ textContent }) => textContent === label)?.click();
};

function Documents({ documents }: { documents: Case['documents'] }) {
  const [shownId, setShownId] = useState(documents[0]?.id);
  if (documents.length === 0) return <EmptyState>{T.noDocuments}</EmptyState>;
  const currentDocument = documents.find(({ id }) => id === shownId) ?? documents[0];
  if (!currentDocument) return null;
  const title = T.documentOf(statusText(currentDocument.documentType));
  return (
    <>
      <div className="tabs">
        {documents.map(({ id, documentType }) => (
          <button
            key={id}
            type="button"
            className="button quiet"
            aria-pressed={id === currentDocument.id}
            onClick={() => setShownId(id)}
          >
            {statusText(documentType)}
          </button>
        ))}
      </div>
      <DocumentView key={currentDocument.id} id={currentDocument.id} title={title} />
      <Facts value={currentDocument} />
    </>
  );
}

function actionsOf({ customerId, type, status }: Case, onDone: () => void): Action[] {
  if (status === 'APPROVED' || status === 'REJECTED') return [];
  const facts = <Facts value={{ customerId, type, status }} />;
  const base = { path: { subjectId: customerId }, description: facts, onDone, doneLabel: T.next };
  return [
    { ...base, id: 'approveVerification', label: T.approve, isPrimary: true },
    { ...base, id: 'requestVerificationCorrections', label: T.hold },
    { ...base, id: 'rejectVerification', label: T.reject, isDangerous: true },
  ];
}

/** Decision about one beneficial owner, without effect on the status of the business. */
function ownerActions({ id, status, roles, personalInfo }: Case['owners'][number]): Action[] {
  if (status === 'APPROVED' || status === 'REJECTED') return [];
  const name = ownerName(personalInfo);
  const description = (
    <>
      <p>{T.ownerOnly}</p>
      <Facts value={{ name, roles, status, ownerId: id }} />
    </>
  );
  const base = { path: { subjectId: id }, description };
  return [
    {
      ...base,
      id: 'approveVerification',
      label: T.approveOwner,
      accessibleLabel: `${T.approveOwner} ${name}`,
    },
    {
      ...base,
      id: 'rejectVerification',
      label: T.rejectOwner,
      accessibleLabel: `${T.rejectOwner} ${name}`,
      isDangerous: true,
    },
  ];
}

const ownerName = ({ fullName, firstName, lastName }: Readonly<Record<string, unknown>>): string =>
  [fullName ?? [firstName, lastName]].flat().filter(Boolean).join(' ');

export function Verification() {
  const { id } = useParams({ strict: false }) as { id: string };
  const navigate = useNavigate();
  const { next, previous } = useNeighbors(id);
  const openCheck = (checkId: string | undefined) => {
    void navigate(
      checkId ? { to: '/verifications/$id', params: { id: checkId } } : { to: '/verifications' },
    );
  };
  useShortcuts({
    a: () => pressButton(T.approve),
    r: () => pressButton(T.reject),
    c: () => pressButton(T.hold),
    n: () => openCheck(next),
    p: () => openCheck(previous),
  });
  return <Review key={id} id={id} go={() => openCheck(next)} />;
}

function Review({ id, go }: { id: string; go(): void }) {
  const query = useReply('getVerificationCase', { path: { subjectId: id } });
  return (
    <QueryView query={query} title={T.customer} lines={8}>
      {(data) => (
        <Screen
          title={T.customer}
          mark={<Status value={data.verification?.status ?? data.status} />}
          platformId={data.platformId}
          subject={data.customerId}
          actions={
            <>
              <ActionButtons actions={actionsOf(data, go)} />
              <button type="button" className="button" onClick={go}>
                {T.next}
              </button>
            </>
          }
        >
          <p className="sub soft">
            <Identifier id={data.customerId} /> {T.keys}
          </p>
          <div className="columns">
            <Panel title={T.documents}>
              <Documents documents={data.documents} />
            </Panel>
            <div>
              <Panel title={T.findings}>
                {data.missing.length === 0 ? (
                  <EmptyState>{T.noFindings}</EmptyState>
                ) : (
                  <Facts value={{ missing: data.missing }} />
                )}
              </Panel>
              <Panel title={T.details}>
                <Facts
                  value={data}
                  hiddenFields={['documents', 'owners', 'missing', 'verification']}
                />
              </Panel>
              {data.owners.length > 0 && (
                <Panel title={T.owners}>
                  {data.owners.map((owner) => (
                    <section key={owner.id} className="record">
                      <Facts value={owner} />
                      <div className="actions">
                        <ActionButtons actions={ownerActions(owner)} />
                      </div>
                    </section>
                  ))}
                </Panel>
              )}
            </div>
          </div>
        </Screen>
      )}
    </QueryView>
  );
}
