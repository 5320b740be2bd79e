// View for documents: one panel per required proof, with the uploaded documents and a form for missing
// documents. A rejected document can be replaced.
import { callServer, type Rejection } from './api.ts';
import { previewOf } from './controls.ts';
import { action, freshId, h } from './dom.ts';
import type { Field } from './fields.ts';
import { createForm, showErrorSummary } from './form.ts';
import { formatLimit, labelFor, requirementTitle } from './labels.ts';
import type { DocumentOnFile, FieldError, Gap, Json, Stage, State, Step } from './types.ts';

/** Required proof with the accepted document types. */
export interface RequiredProof {
  key: string;
  holder: string;
  title: string;
  accepted: string[];
}

const IDENTITY_TYPES = ['PASSPORT', 'DRIVERS_LICENSE', 'NATIONAL_ID'];
const TWO_SIDED_TYPES = ['DRIVERS_LICENSE', 'NATIONAL_ID'];

/** Files that were uploaded while this page was open. The server does not return files. */
const uploadedFiles = new Map<string, File>();

function holderName({ owners }: State, id: string): string {
  const info = owners.find((each) => each.id === id)?.personalInfo;
  return info ? ` of ${info.firstName} ${info.lastName}` : '';
}

const documentOfGap = ({ documents }: State, gap: Gap) =>
  documents.find((each) => each.id === gap.resourceId);

function needOf(state: State, gap: Gap): RequiredProof | undefined {
  const storedDocument = documentOfGap(state, gap);
  if (!storedDocument && !gap.acceptedDocumentTypes) return undefined;
  const holder = storedDocument?.documentHolder ?? gap.resourceId;
  const isIdentity = !!storedDocument && IDENTITY_TYPES.includes(storedDocument.documentType);
  const type = isIdentity ? 'MISSING_IDENTITY_DOCUMENT' : gap.type;
  const title = requirementTitle(type) + holderName(state, holder);
  if (isIdentity) return { key: `${holder} ${type}`, holder, title, accepted: IDENTITY_TYPES };
  const acceptedTypes =
    gap.acceptedDocumentTypes ?? (storedDocument ? [storedDocument.documentType] : []);
  const key = storedDocument ? `${holder} ${storedDocument.documentType}` : `${holder} ${type}`;
  return {
    key,
    holder,
    title: storedDocument ? labelFor(storedDocument.documentType) : title,
    accepted: acceptedTypes,
  };
}

/** Previously required proofs, followed by newly required proofs. */
export function needsOf(state: State, previousNeeds: readonly RequiredProof[]): RequiredProof[] {
  const needs = new Map(previousNeeds.map((need) => [need.key, need]));
  for (const gap of state.gaps) {
    const need = needOf(state, gap);
    if (need && !needs.has(need.key)) needs.set(need.key, need);
  }
  return [...needs.values()];
}

/** Required proofs, followed by optional documents that were uploaded. */
function visibleNeeds(state: State, needs: readonly RequiredProof[]): RequiredProof[] {
  const covers = ({ holder, accepted }: RequiredProof, stored: DocumentOnFile) =>
    holder === stored.documentHolder && accepted.includes(stored.documentType);
  const visibleProofs = needs.filter(
    (need) => gapOf(state, need) || documentsOf(state, need).length,
  );
  const optional = state.documents
    .filter((stored) => !visibleProofs.some((need) => covers(need, stored)))
    .map(({ documentHolder: holder, documentType }): RequiredProof => {
      const title = labelFor(documentType) + holderName(state, holder);
      return { key: `${holder} ${documentType}`, holder, title, accepted: [documentType] };
    });
  return [...visibleProofs, ...new Map(optional.map((need) => [need.key, need])).values()];
}

const gapOf = (state: State, need: RequiredProof): Gap | undefined =>
  state.gaps.find((gap) => needOf(state, gap)?.key === need.key);

/** Whether any document is missing or rejected. */
export const needsDocuments = (state: State): boolean =>
  state.gaps.some((gap) => needOf(state, gap) !== undefined);

const documentsOf = ({ documents }: State, { holder, accepted }: RequiredProof): DocumentOnFile[] =>
  documents.filter(
    (each) => each.documentHolder === holder && accepted.includes(each.documentType),
  );

/** Reason for the rejection of a document. A missing side does not reject the other side. */
const rejectionReason = ({ gaps }: State, stored: DocumentOnFile): string | undefined =>
  gaps.find((gap) => gap.resourceId === stored.id && gap.type !== 'INCOMPLETE_DOCUMENT')?.reason;

const sideOf = (stored: DocumentOnFile) => stored.side ?? 'FRONT';

const documentFields = (isIdentity: readonly string[]): Field[] => [
  { name: 'country', label: 'Issuing country', kind: 'country' },
  {
    name: 'documentNumber',
    label: 'Document number',
    kind: 'text',
    when: { field: 'documentType', is: isIdentity },
  },
  {
    name: 'issuingAuthority',
    label: 'Issuing authority',
    kind: 'text',
    hint: 'As printed on the document, like State Department.',
    when: { field: 'documentType', is: isIdentity },
  },
];

function fieldsFor(
  acceptedTypes: readonly string[],
  sides: readonly string[],
  maxBytes: number,
): Field[] {
  const hint = `A photo or scan: JPEG, PNG or PDF, up to ${formatLimit(maxBytes)}.`;
  const twoSided = acceptedTypes.filter((type) => TWO_SIDED_TYPES.includes(type));
  const singleSided = acceptedTypes.filter((type) => !TWO_SIDED_TYPES.includes(type));
  const condition = (is: readonly string[]) => ({ field: 'documentType', is });
  const files: Field[] = [];
  if (singleSided.length)
    files.push({ name: 'file', label: 'File', kind: 'file', hint, when: condition(singleSided) });
  for (const side of twoSided.length ? sides : []) {
    const label = `${labelFor(side)} side`;
    files.push({ name: side, label, kind: 'file', hint, when: condition(twoSided) });
  }
  return [
    { name: 'documentType', label: 'Document type', kind: 'choice' },
    ...documentFields(acceptedTypes.filter((type) => IDENTITY_TYPES.includes(type))),
    ...files,
  ];
}

/** Moves errors about a file to the form field of the file. */
const errorsAtFile = (errors: FieldError[], name: string): FieldError[] =>
  errors.map((error) => (error.field === 'file' ? { ...error, field: name } : error));

function createProgressBar(name: string, stage: Stage) {
  const bar = h('progress', { max: 100, value: 0, 'aria-label': `Uploading ${name}` });
  const label = h('span', {}, `Uploading ${name}`);
  const root = h('div', { class: 'progress' }, label, bar);
  let announcedShare = 0;
  const update = (share: number) => {
    const percent = Math.round(share * 100);
    bar.value = percent;
    label.textContent = percent < 100 ? `Uploading ${name}: ${percent} %` : `Checking ${name} …`;
    if (percent < announcedShare + 25) return;
    announcedShare = percent;
    stage.announce(`${percent} percent`);
  };
  return { root, update };
}

interface UploadTarget {
  stage: Stage;
  /** Contains the progress bars during uploads. */
  bars: HTMLElement;
  method: 'POST' | 'PUT';
  path: string;
}

/** Uploads one file with its description. Returns the rejection, if any. */
async function uploadOne(
  { stage, bars, method, path }: UploadTarget,
  values: Json,
  name: string,
  file: File,
): Promise<Rejection | undefined> {
  const form = new FormData();
  for (const key of ['documentHolder', 'documentType', 'country', 'documentNumber'])
    if (values[key]) form.append(key, String(values[key]));
  if (values.issuingAuthority) form.append('issuingAuthority', String(values.issuingAuthority));
  if (name !== 'file') form.append('side', name);
  form.append('file', file, file.name);
  const bar = createProgressBar(file.name, stage);
  bars.append(bar.root);
  const reply = await callServer<DocumentOnFile>(method, path, form, bar.update);
  bar.root.remove();
  if (reply.rejected) {
    stage.announce('');
    return reply;
  }
  uploadedFiles.set(reply.body.id, file);
  stage.announce(`${file.name} was uploaded`);
  return undefined;
}

type Redraw = (card: string, failure?: { errors: FieldError[]; reason: string }) => void;

function uploadForm(stage: Stage, need: RequiredProof, redraw: Redraw) {
  const { state } = stage;
  const uploadedSides = documentsOf(state, need).filter((each) =>
    TWO_SIDED_TYPES.includes(each.documentType),
  );
  const [firstSide] = uploadedSides;
  const acceptedTypes = firstSide ? [firstSide.documentType] : need.accepted;
  const sides = ['FRONT', 'BACK'].filter(
    (side) => !uploadedSides.some((each) => sideOf(each) === side),
  );
  const bars = h('div');
  const uploadTarget: UploadTarget = { stage, bars, method: 'POST', path: 'documents' };
  const form = createForm({
    fields: fieldsFor(acceptedTypes, sides, state.maxFileBytes),
    stored: {
      ...(acceptedTypes.length === 1 ? { documentType: acceptedTypes[0] } : {}),
      country: firstSide?.country ?? countryOf(state, need),
      documentNumber: firstSide?.documentNumber,
      issuingAuthority: firstSide?.issuingAuthority,
    },
    choices: { ...state.choices, documentType: acceptedTypes },
    submitLabel: 'Upload',
    async submit(values) {
      const files = Object.entries(values).filter(([, value]) => value instanceof File);
      const tooLarge = files.filter(([, file]) => (file as File).size > state.maxFileBytes);
      if (tooLarge.length) {
        const message = `is larger than ${formatLimit(state.maxFileBytes)}`;
        return tooLarge.map(([field]) => ({ field, message }));
      }
      let sentCount = 0;
      for (const [name, file] of files) {
        const valuesWithHolder = { ...values, documentHolder: need.holder };
        const rejection = await uploadOne(uploadTarget, valuesWithHolder, name, file as File);
        if (rejection) {
          const errors = errorsAtFile(rejection.errors, name);
          if (!sentCount)
            return errors.length ? errors : [{ field: '', message: rejection.reason }];
          await stage.reload();
          redraw(need.key, { errors, reason: rejection.reason });
          return undefined;
        }
        sentCount++;
      }
      await stage.reload();
      redraw(need.key);
      return undefined;
    },
  });
  return { ...form, root: h('div', {}, form.root, bars) };
}

function countryOf({ customer, owners }: State, { holder }: RequiredProof): unknown {
  const info = owners.find((each) => each.id === holder)?.personalInfo ?? customer;
  const business = customer.businessInfo as Json | undefined;
  return info.nationality ?? business?.country;
}

function replaceForm(stage: Stage, stored: DocumentOnFile, redraw: Redraw, key: string) {
  const name = stored.side ?? 'file';
  const bars = h('div');
  const path = `documents/${stored.id}`;
  const acceptedTypes = [stored.documentType];
  const formFields = fieldsFor(acceptedTypes, [sideOf(stored)], stage.state.maxFileBytes);
  const form = createForm({
    fields: formFields.filter((field) => field.kind !== 'file' || field.name === name),
    stored: { ...stored },
    choices: { ...stage.state.choices, documentType: acceptedTypes },
    submitLabel: 'Replace',
    async submit(values) {
      const uploadTarget: UploadTarget = { stage, bars, method: 'PUT', path };
      const rejection = await uploadOne(uploadTarget, values, name, values[name] as File);
      if (rejection) {
        const errors = errorsAtFile(rejection.errors, name);
        return errors.length ? errors : [{ field: '', message: rejection.reason }];
      }
      await stage.reload();
      redraw(key);
      return undefined;
    },
  });
  return h('div', {}, form.root, bars);
}

function renderDocument(
  stage: Stage,
  need: RequiredProof,
  stored: DocumentOnFile,
  redraw: Redraw,
): HTMLElement {
  const kind = labelFor(stored.documentType);
  const name = stored.side ? `${kind}, ${labelFor(stored.side).toLowerCase()}` : kind;
  const file = uploadedFiles.get(stored.id);
  const reason = rejectionReason(stage.state, stored);
  const message = h('div');
  const remove = async () => {
    const reply = await callServer('DELETE', `documents/${stored.id}`);
    if (reply.rejected) return showErrorSummary(message, [{ text: reply.reason }]);
    stage.announce(`${stored.fileName} was removed`);
    await stage.reload();
    redraw(need.key);
  };
  return h(
    'li',
    { class: 'document-row' },
    file ? previewOf(file) : h('div', { class: 'chosen' }, h('b', {}, stored.fileName)),
    h(
      'div',
      { class: 'document-line' },
      h('span', { class: 'tag' }, name),
      reason
        ? null
        : action('Remove', remove, {
            kind: 'link',
            label: `Remove ${stored.fileName}`,
          }),
    ),
    reason ? h('p', { class: 'wrong' }, reason) : null,
    reason ? replaceForm(stage, stored, redraw, need.key) : null,
    message,
  );
}

function renderNeed(stage: Stage, need: RequiredProof, redraw: Redraw) {
  const gap = gapOf(stage.state, need);
  const uploadedDocuments = documentsOf(stage.state, need);
  const title = h('h2', { id: freshId('card'), tabindex: '-1' }, need.title, gap ? '' : ' ');
  if (!gap) title.append(h('span', { class: 'done' }, 'Done'));
  const list = h('ul', { class: 'documents' });
  for (const stored of uploadedDocuments) list.append(renderDocument(stage, need, stored, redraw));
  const root = h('section', { class: 'card' }, title, uploadedDocuments.length ? list : null);
  const hasRejection = uploadedDocuments.some((stored) => rejectionReason(stage.state, stored));
  const form = gap && !hasRejection ? uploadForm(stage, need, redraw) : undefined;
  if (gap && uploadedDocuments.length && !hasRejection)
    root.append(h('p', { class: 'hint' }, gap.reason));
  if (form) root.append(form.root);
  return { root, title, form };
}

/** `needs` includes completed proofs, so that they remain visible. */
export function documentsStep(needs: () => RequiredProof[]): Step {
  return {
    key: 'documents',
    title: 'Documents',
    render(stage) {
      const errorSummary = h('div');
      const cards = h('div');
      const buttons = h('div', { class: 'buttons' });
      const redraw: Redraw = (key, failure) => {
        draw();
        const drawnDocument = drawn.get(key);
        if (failure && drawnDocument?.form)
          drawnDocument.form.showErrors(failure.errors, failure.reason);
        else drawnDocument?.title.focus();
      };
      const drawn = new Map<string, ReturnType<typeof renderNeed>>();
      const draw = () => {
        drawn.clear();
        errorSummary.replaceChildren();
        for (const need of visibleNeeds(stage.state, needs()))
          drawn.set(need.key, renderNeed(stage, need, redraw));
        cards.replaceChildren(...[...drawn.values()].map(({ root }) => root));
        const isOpen = needs().some((need) => gapOf(stage.state, need));
        buttons.replaceChildren(action('Continue', go, { kind: isOpen ? 'plain' : 'primary' }));
      };
      const go = (): void => {
        const missingProofs = needs().filter((need) => gapOf(stage.state, need));
        if (!missingProofs.length) return void stage.next();
        showErrorSummary(
          errorSummary,
          missingProofs.map((need) => ({
            text: `Upload a document: ${need.title}`,
            target: drawn.get(need.key)?.title,
          })),
        );
      };
      draw();
      stage.root.append(errorSummary, cards, buttons);
    },
  };
}
