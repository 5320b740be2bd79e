// The form of an operation: the resource that changes, the input fields, and the result. A request whose
// result is unknown can only be retried unchanged, with the same idempotency key.
import { Dialog } from '@base-ui/react/dialog';
import { Link, useLocation } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { ApiError, callWithOutcome, type Outcome } from '../api/client.ts';
import { queryClient } from '../api/queries.ts';
import { FORMS } from '../generated/forms.ts';
import { OPERATIONS, type OperationId } from '../generated/operations.ts';
import { Facts, isTable } from '../parts/facts.tsx';
import { CopyButton } from '../parts/identifier.tsx';
import { TEXTS } from '../texts/texts.ts';
import { FormPlatform } from './endpoint-choice.tsx';
import { Fields } from './fields.tsx';
import { changeOf, currentValuesOf, type Values } from './schema.ts';
import type { Action } from './types.ts';

type State =
  | { name: 'editing'; error?: ApiError }
  | { name: 'sending' }
  | { name: 'unknown' }
  | { name: 'done'; outcome: Outcome<OperationId> };

/** Whether the result is unknown, because the connection was lost or the server failed. */
const isUnknown = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 500);

const fieldErrors = (error: ApiError | undefined, missingFields: readonly string[]) => ({
  ...Object.fromEntries(missingFields.map((name) => [name, TEXTS.required])),
  ...Object.fromEntries((error?.fields ?? []).map(({ field, message }) => [field, message])),
});

function useAction(action: Action) {
  const form = FORMS[action.id];
  const schema = form?.body;
  const currentValues = schema ? currentValuesOf(schema, action.current ?? {}) : {};
  const [values, setValues] = useState<Values>({ ...currentValues, ...action.initialValues });
  const [missingFields, setMissing] = useState<readonly string[]>([]);
  const [state, setState] = useState<State>({ name: 'editing' });
  // The key remains unchanged until the result is known.
  const key = useRef<string>(crypto.randomUUID());
  const isSending = useRef(false);

  const submit = async () => {
    if (isSending.current) return;
    const change =
      schema &&
      changeOf(
        schema,
        { ...values, ...action.fixedFields, ...action.describedFields },
        currentValues,
      );
    const body = change?.body;
    setMissing(change?.missingFields ?? []);
    if (change && change.missingFields.length > 0) return;
    isSending.current = true;
    setState({ name: 'sending' });
    try {
      const request = {
        ...(action.path && { path: action.path }),
        ...(body && (OPERATIONS[action.id].method === 'DELETE' ? { query: body } : { body })),
        ...(OPERATIONS[action.id].takesKey && { key: key.current }),
      };
      const outcome = await callWithOutcome(action.id, request);
      setState({ name: 'done', outcome });
      await queryClient.invalidateQueries();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (isUnknown(error)) return setState({ name: 'unknown' });
      key.current = crypto.randomUUID();
      setState({ name: 'editing', error });
      // A concurrent change was committed first, or the resource no longer exists.
      if (error.status === 409 || error.status === 404) void queryClient.invalidateQueries();
    } finally {
      isSending.current = false;
    }
  };
  return { form, schema, values, setValues, missing: missingFields, state, submit };
}

/** The enrollment link, if the reply contains its secret. */
function enrollmentLink(body: unknown): string | undefined {
  const { link } = (body ?? {}) as { link?: { secret?: unknown } };
  const secret = link?.secret;
  return typeof secret === 'string' ? `${location.origin}/operator/enroll#${secret}` : undefined;
}

interface ResultProps {
  outcome: Outcome<OperationId>;
  text: string | undefined;
  shownFields: readonly string[] | undefined;
}

const pick = (body: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.map((name) => [name, body[name]]));

/** The fields of a reply. Tables are collapsed, unless all fields are tables. */
function ReplyFields({ body }: { body: Values }) {
  const entries = Object.entries(body);
  const tables = Object.fromEntries(entries.filter(([, value]) => isTable(value)));
  const simpleFields = Object.fromEntries(entries.filter(([, value]) => !isTable(value)));
  if (Object.keys(simpleFields).length === 0 || Object.keys(tables).length === 0)
    return <Facts value={body} />;
  return (
    <>
      <Facts value={simpleFields} />
      <details className="record">
        <summary>{TEXTS.action.more}</summary>
        <Facts value={tables} />
      </details>
    </>
  );
}

function Result({ outcome: { approvalId, body }, text, shownFields }: ResultProps) {
  if (approvalId)
    return (
      <div role="status">
        <p>{TEXTS.action.waitsForApproval}</p>
        <Link to={`/approvals/${encodeURIComponent(approvalId)}`}>{TEXTS.action.openApproval}</Link>
      </div>
    );
  const link = enrollmentLink(body);
  return (
    <div role="status">
      <p>{TEXTS.action.done}</p>
      {text && <p>{text}</p>}
      {link && (
        <p className="about">
          {TEXTS.action.enrollmentLink} <span className="code">{link}</span>{' '}
          <CopyButton text={link} label={TEXTS.action.enrollmentLink} />
        </p>
      )}
      {body !== null &&
        typeof body === 'object' &&
        (shownFields ? (
          <Facts value={pick(body as Values, shownFields)} />
        ) : (
          <ReplyFields body={body as Values} />
        ))}
    </div>
  );
}

const focus = (element: HTMLElement | null) => element?.focus();

/** The first input, or else the submit button. Links and buttons can precede the first input. */
const firstInput = (popup: HTMLElement | null) =>
  popup?.querySelector<HTMLElement>('fieldset :is(input, select, textarea, [role=checkbox])') ??
  popup?.querySelector<HTMLElement>('[type=submit]') ??
  true;

/** Returns the focus to the element that opened the form, or to the page if that element was removed. */
function useFinalFocus() {
  const [opener] = useState(() => document.activeElement);
  return () =>
    opener instanceof HTMLElement && opener.isConnected && opener !== document.body
      ? opener
      : document.getElementById('main');
}

/** Closes the form when a link in it opens another page. */
function useCloseOnOtherPage(isLocked: boolean, close: () => void) {
  const { pathname } = useLocation();
  const [initialPath] = useState(pathname);
  useEffect(() => {
    if (pathname !== initialPath && !isLocked) close();
  }, [pathname, initialPath, isLocked, close]);
}

interface DialogProps {
  action: Action;
  close(): void;
}

export function ActionDialog({ action, close }: DialogProps) {
  const { form, schema, values, setValues, missing, state, submit } = useAction(action);
  const isLocked = state.name === 'sending' || state.name === 'unknown';
  const error = state.name === 'editing' ? state.error : undefined;
  const errors = fieldErrors(error, missing);
  const popup = useRef<HTMLDivElement>(null);
  useCloseOnOtherPage(isLocked, close);
  const finalFocus = useFinalFocus();
  const finish = () => {
    if (state.name === 'sending') return;
    if (state.name === 'done') action.onDone?.(state.outcome.body);
    close();
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    void submit();
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && finish()} disablePointerDismissal>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup
          ref={popup}
          className="dialog"
          initialFocus={() => firstInput(popup.current)}
          finalFocus={finalFocus}
        >
          <form onSubmit={send} noValidate>
            <Dialog.Title>{form?.summary ?? action.label}</Dialog.Title>
            <Dialog.Description className="soft">{form?.description}</Dialog.Description>
            {state.name === 'done' ? (
              <Result
                outcome={state.outcome}
                text={action.doneText}
                shownFields={action.shownFields}
              />
            ) : (
              <>
                {(action.description || action.fixedFields) && (
                  <div className="about">
                    {action.description}
                    {action.fixedFields && <Facts value={action.fixedFields} />}
                  </div>
                )}
                {schema && (
                  <fieldset disabled={isLocked} className="plain">
                    <FormPlatform value={action.platformId}>
                      <Fields
                        schema={schema}
                        values={values}
                        errors={errors}
                        fixedFields={Object.keys({
                          ...action.fixedFields,
                          ...action.describedFields,
                        })}
                        set={setValues}
                      />
                    </FormPlatform>
                  </fieldset>
                )}
                {state.name === 'unknown' && <p role="alert">{TEXTS.action.unknown}</p>}
                {error && (
                  <div role="alert" className="problem">
                    <p>{error.message}</p>
                    {error.approvalId && (
                      <Link to={`/approvals/${encodeURIComponent(error.approvalId)}`}>
                        {TEXTS.action.openApproval}
                      </Link>
                    )}
                    {error.requestId && (
                      <p className="soft">
                        {TEXTS.errors.requestId} <span className="code">{error.requestId}</span>{' '}
                        <CopyButton text={error.requestId} label={error.requestId} />
                      </p>
                    )}
                  </div>
                )}
              </>
            )}
            <footer className="actions">
              {state.name === 'done' ? (
                <button
                  key="close"
                  ref={focus}
                  type="button"
                  className="button primary"
                  onClick={finish}
                >
                  {action.doneLabel ?? TEXTS.close}
                </button>
              ) : (
                <>
                  <button
                    type="button"
                    className="button"
                    onClick={finish}
                    disabled={state.name === 'sending'}
                  >
                    {TEXTS.cancel}
                  </button>
                  <button
                    type="submit"
                    className={`button ${action.isDangerous ? 'dangerous' : 'primary'}`}
                    disabled={state.name === 'sending'}
                  >
                    {state.name === 'sending' ? TEXTS.action.sending : null}
                    {state.name === 'unknown' ? TEXTS.action.sendAgain : null}
                    {state.name === 'editing' ? action.label : null}
                  </button>
                </>
              )}
            </footer>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
