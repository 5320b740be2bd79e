// View for documents: one panel per required proof, with the uploaded documents and a form for
// missing documents. A rejected document can be replaced.
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
  acceptedTypes: string[];
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

function proofOf(state: State, gap: Gap): RequiredProof | undefined {
  const storedDocument = documentOfGap(state, gap);
  if (!storedDocument && !gap.acceptedDocumentTypes) return undefined;
  const holder = storedDocument?.documentHolder ?? gap.resourceId;
  const isIdentity = !!storedDocument && IDENTITY_TYPES.includes(storedDocument.documentType);
  const type = isIdentity ? 'MISSING_IDENTITY_DOCUMENT' : gap.type;
  const title = requirementTitle(type) + holderName(state, holder);
  if (isIdentity) return { key: `${holder} ${type}`, holder, title, acceptedTypes: IDENTITY_TYPES };
  const acceptedTypes =
    gap.acceptedDocumentTypes ?? (storedDocument ? [storedDocument.documentType] : []);
  const key = storedDocument ? `${holder} ${storedDocument.documentType}` : `${holder} ${type}`;
  return {
    key,
    holder,
    title: storedDocument ? labelFor(storedDocument.documentType) : title,
    acceptedTypes,
  };
}

/** Previously required proofs, followed by newly required proofs. */
export function proofsOf(state: State, previousProofs: readonly RequiredProof[]): RequiredProof[] {
  const proofs = new Map(previousProofs.map((proof) => [proof.key, proof]));
  for (const gap of state.gaps) {
    const proof = proofOf(state, gap);
    if (proof && !proofs.has(proof.key)) proofs.set(proof.key, proof);
  }
  return [...proofs.values()];
}

/** Required proofs, followed by optional documents that were uploaded. */
function listVisibleProofs(state: State, proofs: readonly RequiredProof[]): RequiredProof[] {
  const covers = ({ holder, acceptedTypes }: RequiredProof, storedDocument: DocumentOnFile) =>
    holder === storedDocument.documentHolder && acceptedTypes.includes(storedDocument.documentType);
  const visibleProofs = proofs.filter(
    (proof) => gapOf(state, proof) || documentsOf(state, proof).length,
  );
  const optionalProofs = state.documents
    .filter((storedDocument) => !visibleProofs.some((proof) => covers(proof, storedDocument)))
    .map(({ documentHolder: holder, documentType }): RequiredProof => {
      const title = labelFor(documentType) + holderName(state, holder);
      return { key: `${holder} ${documentType}`, holder, title, acceptedTypes: [documentType] };
    });
  return [...visibleProofs, ...new Map(optionalProofs.map((proof) => [proof.key, proof])).values()];
}

const gapOf = (state: State, proof: RequiredProof): Gap | undefined =>
  state.gaps.find((gap) => proofOf(state, gap)?.key === proof.key);

/** Whether any document is missing or rejected. */
export const needsDocuments = (state: State): boolean =>
  state.gaps.some((gap) => proofOf(state, gap) !== undefined);

const documentsOf = (
  { documents }: State,
  { holder, acceptedTypes }: RequiredProof,
): DocumentOnFile[] =>
  documents.filter(
    (each) => each.documentHolder === holder && acceptedTypes.includes(each.documentType),
  );

/** Reason for the rejection of a document. A missing side does not reject the other side. */
const rejectionReason = ({ gaps }: State, storedDocument: DocumentOnFile): string | undefined =>
  gaps.find((gap) => gap.resourceId === storedDocument.id && gap.type !== 'INCOMPLETE_DOCUMENT')
    ?.reason;

const sideOf = (storedDocument: DocumentOnFile) => storedDocument.side ?? 'FRONT';

const documentFields = (identityTypes: readonly string[]): Field[] => [
  { name: 'country', label: 'Issuing country', kind: 'country' },
  {
    name: 'documentNumber',
    label: 'Document number',
    kind: 'text',
    condition: { field: 'documentType', is: identityTypes },
  },
  {
    name: 'issuingAuthority',
    label: 'Issuing authority',
    kind: 'text',
    hint: 'As printed on the document, for example State Department.',
    condition: { field: 'documentType', is: identityTypes },
  },
];

function fieldsFor(
  acceptedTypes: readonly string[],
  sides: readonly string[],
  maxBytes: number,
): Field[] {
  const hint = `A photo or scan: JPEG, PNG or PDF, up to ${formatLimit(maxBytes)}.`;
  const twoSidedTypes = acceptedTypes.filter((type) => TWO_SIDED_TYPES.includes(type));
  const singleSidedTypes = acceptedTypes.filter((type) => !TWO_SIDED_TYPES.includes(type));
  const condition = (is: readonly string[]) => ({ field: 'documentType', is });
  const files: Field[] = [];
  if (singleSidedTypes.length)
    files.push({
      name: 'file',
      label: 'File',
      kind: 'file',
      hint,
      condition: condition(singleSidedTypes),
    });
  for (const side of twoSidedTypes.length ? sides : []) {
    const label = `${labelFor(side)} side`;
    files.push({ name: side, label, kind: 'file', hint, condition: condition(twoSidedTypes) });
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
  let announcedPercent = 0;
  const update = (share: number) => {
    const percent = Math.round(share * 100);
    bar.value = percent;
    label.textContent = percent < 100 ? `Uploading ${name}: ${percent} %` : `Checking ${name} …`;
    if (percent < announcedPercent + 25) return;
    announcedPercent = percent;
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

/** Uploads one file with the properties of its document. Returns the rejection, if any. */
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

type Redraw = (key: string, failure?: { errors: FieldError[]; reason: string }) => void;

function uploadForm(stage: Stage, proof: RequiredProof, redraw: Redraw) {
  const { state } = stage;
  const uploadedSides = documentsOf(state, proof).filter((each) =>
    TWO_SIDED_TYPES.includes(each.documentType),
  );
  const [firstSide] = uploadedSides;
  const acceptedTypes = firstSide ? [firstSide.documentType] : proof.acceptedTypes;
  const sides = ['FRONT', 'BACK'].filter(
    (side) => !uploadedSides.some((each) => sideOf(each) === side),
  );
  const bars = h('div');
  const uploadTarget: UploadTarget = { stage, bars, method: 'POST', path: 'documents' };
  const form = createForm({
    fields: fieldsFor(acceptedTypes, sides, state.maxFileBytes),
    storedValues: {
      ...(acceptedTypes.length === 1 ? { documentType: acceptedTypes[0] } : {}),
      country: firstSide?.country ?? countryOf(state, proof),
      documentNumber: firstSide?.documentNumber,
      issuingAuthority: firstSide?.issuingAuthority,
    },
    choices: { ...state.choices, documentType: acceptedTypes },
    submitLabel: 'Upload',
    async submit(values) {
      const files = Object.entries(values).filter(([, value]) => value instanceof File);
      const oversizedFiles = files.filter(([, file]) => (file as File).size > state.maxFileBytes);
      if (oversizedFiles.length) {
        const message = `must be at most ${formatLimit(state.maxFileBytes)}`;
        return oversizedFiles.map(([field]) => ({ field, message }));
      }
      let sentCount = 0;
      for (const [name, file] of files) {
        const valuesWithHolder = { ...values, documentHolder: proof.holder };
        const rejection = await uploadOne(uploadTarget, valuesWithHolder, name, file as File);
        if (rejection) {
          const errors = errorsAtFile(rejection.errors, name);
          if (!sentCount)
            return errors.length ? errors : [{ field: '', message: rejection.reason }];
          await stage.reload();
          redraw(proof.key, { errors, reason: rejection.reason });
          return undefined;
        }
        sentCount++;
      }
      await stage.reload();
      redraw(proof.key);
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

function replaceForm(stage: Stage, storedDocument: DocumentOnFile, redraw: Redraw, key: string) {
  const name = storedDocument.side ?? 'file';
  const bars = h('div');
  const path = `documents/${storedDocument.id}`;
  const acceptedTypes = [storedDocument.documentType];
  const formFields = fieldsFor(acceptedTypes, [sideOf(storedDocument)], stage.state.maxFileBytes);
  const form = createForm({
    fields: formFields.filter((field) => field.kind !== 'file' || field.name === name),
    storedValues: { ...storedDocument },
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
  proof: RequiredProof,
  storedDocument: DocumentOnFile,
  redraw: Redraw,
): HTMLElement {
  const typeLabel = labelFor(storedDocument.documentType);
  const name = storedDocument.side
    ? `${typeLabel}, ${labelFor(storedDocument.side).toLowerCase()}`
    : typeLabel;
  const file = uploadedFiles.get(storedDocument.id);
  const reason = rejectionReason(stage.state, storedDocument);
  const message = h('div');
  const remove = async () => {
    const reply = await callServer('DELETE', `documents/${storedDocument.id}`);
    if (reply.rejected) return showErrorSummary(message, [{ text: reply.reason }]);
    stage.announce(`${storedDocument.fileName} was removed`);
    await stage.reload();
    redraw(proof.key);
  };
  return h(
    'li',
    { class: 'document-row' },
    file ? previewOf(file) : h('div', { class: 'chosen' }, h('b', {}, storedDocument.fileName)),
    h(
      'div',
      { class: 'document-line' },
      h('span', { class: 'tag' }, name),
      reason
        ? null
        : action('Remove', remove, {
            kind: 'link',
            label: `Remove ${storedDocument.fileName}`,
          }),
    ),
    reason ? h('p', { class: 'wrong' }, reason) : null,
    reason ? replaceForm(stage, storedDocument, redraw, proof.key) : null,
    message,
  );
}

function renderProof(stage: Stage, proof: RequiredProof, redraw: Redraw) {
  const gap = gapOf(stage.state, proof);
  const uploadedDocuments = documentsOf(stage.state, proof);
  const title = h('h2', { id: freshId('card'), tabindex: '-1' }, proof.title, gap ? '' : ' ');
  if (!gap) title.append(h('span', { class: 'done' }, 'Done'));
  const list = h('ul', { class: 'documents' });
  for (const storedDocument of uploadedDocuments)
    list.append(renderDocument(stage, proof, storedDocument, redraw));
  const root = h('section', { class: 'card' }, title, uploadedDocuments.length ? list : null);
  const hasRejection = uploadedDocuments.some((storedDocument) =>
    rejectionReason(stage.state, storedDocument),
  );
  const form = gap && !hasRejection ? uploadForm(stage, proof, redraw) : undefined;
  if (gap && uploadedDocuments.length && !hasRejection)
    root.append(h('p', { class: 'hint' }, gap.reason));
  if (form) root.append(form.root);
  return { root, title, form };
}

/** `proofs` includes completed proofs, so that they remain visible. */
export function documentsStep(proofs: () => RequiredProof[]): Step {
  return {
    key: 'documents',
    title: 'Documents',
    render(stage) {
      const errorSummary = h('div');
      const cards = h('div');
      const buttons = h('div', { class: 'buttons' });
      const redraw: Redraw = (key, failure) => {
        draw();
        const drawnProof = drawnProofs.get(key);
        if (failure && drawnProof?.form) drawnProof.form.showErrors(failure.errors, failure.reason);
        else drawnProof?.title.focus();
      };
      const drawnProofs = new Map<string, ReturnType<typeof renderProof>>();
      const draw = () => {
        drawnProofs.clear();
        errorSummary.replaceChildren();
        for (const proof of listVisibleProofs(stage.state, proofs()))
          drawnProofs.set(proof.key, renderProof(stage, proof, redraw));
        cards.replaceChildren(...[...drawnProofs.values()].map(({ root }) => root));
        const isOpen = proofs().some((proof) => gapOf(stage.state, proof));
        buttons.replaceChildren(
          action('Continue', submitStep, { kind: isOpen ? 'plain' : 'primary' }),
        );
      };
      const submitStep = (): void => {
        const missingProofs = proofs().filter((proof) => gapOf(stage.state, proof));
        if (!missingProofs.length) return void stage.next();
        showErrorSummary(
          errorSummary,
          missingProofs.map((proof) => ({
            text: `Upload a document: ${proof.title}`,
            target: drawnProofs.get(proof.key)?.title,
          })),
        );
      };
      draw();
      stage.root.append(errorSummary, cards, buttons);
    },
  };
}
