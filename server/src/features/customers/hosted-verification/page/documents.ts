// The view for documents: one panel for each proof that is needed, with the documents that were uploaded and
// a form for those that are missing. A rejected document can be replaced.
import { ask, type Refusal } from './api.ts';
import { previewOf } from './controls.ts';
import { action, freshId, h } from './dom.ts';
import type { Field } from './fields.ts';
import { complainAbove, createForm } from './form.ts';
import type { DocumentOnFile, FieldError, Gap, Json, Stage, State, Step } from './types.ts';
import { limitInWords, needInWords, wordsFor } from './words.ts';

/** A proof that is needed, and the types of documents that are accepted for it. */
export interface Need {
  key: string;
  holder: string;
  title: string;
  accepted: string[];
}

const IDENTITY = ['PASSPORT', 'DRIVERS_LICENSE', 'NATIONAL_ID'];
const TWO_SIDED = ['DRIVERS_LICENSE', 'NATIONAL_ID'];

/** Files that were uploaded while this page was open; the server does not return files. */
const pictures = new Map<string, File>();

function holderName({ owners }: State, id: string): string {
  const info = owners.find((each) => each.id === id)?.personalInfo;
  return info ? ` of ${info.firstName} ${info.lastName}` : '';
}

const documentOfGap = ({ documents }: State, gap: Gap) =>
  documents.find((each) => each.id === gap.resourceId);

function needOf(state: State, gap: Gap): Need | undefined {
  const paper = documentOfGap(state, gap);
  if (!paper && !gap.acceptedDocumentTypes) return undefined;
  const holder = paper?.documentHolder ?? gap.resourceId;
  const isIdentity = !!paper && IDENTITY.includes(paper.documentType);
  const type = isIdentity ? 'MISSING_IDENTITY_DOCUMENT' : gap.type;
  const title = needInWords(type) + holderName(state, holder);
  if (isIdentity) return { key: `${holder} ${type}`, holder, title, accepted: IDENTITY };
  const accepted = gap.acceptedDocumentTypes ?? (paper ? [paper.documentType] : []);
  const key = paper ? `${holder} ${paper.documentType}` : `${holder} ${type}`;
  return { key, holder, title: paper ? wordsFor(paper.documentType) : title, accepted };
}

/** The proofs that are needed now, after those that were needed before. */
export function needsOf(state: State, before: readonly Need[]): Need[] {
  const needs = new Map(before.map((need) => [need.key, need]));
  for (const gap of state.gaps) {
    const need = needOf(state, gap);
    if (need && !needs.has(need.key)) needs.set(need.key, need);
  }
  return [...needs.values()];
}

/** The proofs that are needed, and documents that are not required. */
function shownNeeds(state: State, needs: readonly Need[]): Need[] {
  const covers = ({ holder, accepted }: Need, paper: DocumentOnFile) =>
    holder === paper.documentHolder && accepted.includes(paper.documentType);
  const asked = needs.filter((need) => gapOf(state, need) || papersOf(state, need).length);
  const others = state.documents
    .filter((paper) => !asked.some((need) => covers(need, paper)))
    .map(({ documentHolder: holder, documentType }): Need => {
      const title = wordsFor(documentType) + holderName(state, holder);
      return { key: `${holder} ${documentType}`, holder, title, accepted: [documentType] };
    });
  return [...asked, ...new Map(others.map((need) => [need.key, need])).values()];
}

const gapOf = (state: State, need: Need): Gap | undefined =>
  state.gaps.find((gap) => needOf(state, gap)?.key === need.key);

/** Whether any document is missing or rejected. */
export const wantsPapers = (state: State): boolean =>
  state.gaps.some((gap) => needOf(state, gap) !== undefined);

const papersOf = ({ documents }: State, { holder, accepted }: Need): DocumentOnFile[] =>
  documents.filter(
    (each) => each.documentHolder === holder && accepted.includes(each.documentType),
  );

/** Why a document was rejected; a missing side does not reject the other. */
const complaintAbout = ({ gaps }: State, paper: DocumentOnFile): string | undefined =>
  gaps.find((gap) => gap.resourceId === paper.id && gap.type !== 'INCOMPLETE_DOCUMENT')?.reason;

const sideOf = (paper: DocumentOnFile) => paper.side ?? 'FRONT';

const aboutPaper = (isIdentity: readonly string[]): Field[] => [
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

function fieldsFor(accepted: readonly string[], sides: readonly string[], most: number): Field[] {
  const hint = `A photo or scan: JPEG, PNG or PDF, up to ${limitInWords(most)}.`;
  const two = accepted.filter((type) => TWO_SIDED.includes(type));
  const one = accepted.filter((type) => !TWO_SIDED.includes(type));
  const when = (is: readonly string[]) => ({ field: 'documentType', is });
  const files: Field[] = [];
  if (one.length) files.push({ name: 'file', label: 'File', kind: 'file', hint, when: when(one) });
  for (const side of two.length ? sides : []) {
    const label = `${wordsFor(side)} side`;
    files.push({ name: side, label, kind: 'file', hint, when: when(two) });
  }
  return [
    { name: 'documentType', label: 'Document type', kind: 'choice' },
    ...aboutPaper(accepted.filter((type) => IDENTITY.includes(type))),
    ...files,
  ];
}

/** Errors about a file, at the field of the form that holds it. */
const atFile = (errors: FieldError[], name: string): FieldError[] =>
  errors.map((error) => (error.field === 'file' ? { ...error, field: name } : error));

function progressBar(name: string, stage: Stage) {
  const bar = h('progress', { max: 100, value: 0, 'aria-label': `Uploading ${name}` });
  const label = h('span', {}, `Uploading ${name}`);
  const root = h('div', { class: 'progress' }, label, bar);
  let announced = 0;
  const update = (share: number) => {
    const percent = Math.round(share * 100);
    bar.value = percent;
    label.textContent = percent < 100 ? `Uploading ${name}: ${percent} %` : `Checking ${name} …`;
    if (percent < announced + 25) return;
    announced = percent;
    stage.announce(`${percent} percent`);
  };
  return { root, update };
}

interface Sending {
  stage: Stage;
  /** Contains the progress bars during uploads. */
  bars: HTMLElement;
  method: 'POST' | 'PUT';
  path: string;
}

/** Uploads one file with its description. Returns the rejection, if any. */
async function sendOne(
  { stage, bars, method, path }: Sending,
  values: Json,
  name: string,
  file: File,
): Promise<Refusal | undefined> {
  const form = new FormData();
  for (const key of ['documentHolder', 'documentType', 'country', 'documentNumber'])
    if (values[key]) form.append(key, String(values[key]));
  if (values.issuingAuthority) form.append('issuingAuthority', String(values.issuingAuthority));
  if (name !== 'file') form.append('side', name);
  form.append('file', file, file.name);
  const bar = progressBar(file.name, stage);
  bars.append(bar.root);
  const answer = await ask<DocumentOnFile>(method, path, form, bar.update);
  bar.root.remove();
  if (answer.refused) {
    stage.announce('');
    return answer;
  }
  pictures.set(answer.body.id, file);
  stage.announce(`${file.name} was uploaded`);
  return undefined;
}

type Redraw = (card: string, complaint?: { errors: FieldError[]; reason: string }) => void;

function uploadForm(stage: Stage, need: Need, redraw: Redraw) {
  const { state } = stage;
  const halves = papersOf(state, need).filter((each) => TWO_SIDED.includes(each.documentType));
  const [half] = halves;
  const accepted = half ? [half.documentType] : need.accepted;
  const sides = ['FRONT', 'BACK'].filter((side) => !halves.some((each) => sideOf(each) === side));
  const bars = h('div');
  const sending: Sending = { stage, bars, method: 'POST', path: 'documents' };
  const form = createForm({
    fields: fieldsFor(accepted, sides, state.maxFileBytes),
    known: {
      ...(accepted.length === 1 ? { documentType: accepted[0] } : {}),
      country: half?.country ?? countryOf(state, need),
      documentNumber: half?.documentNumber,
      issuingAuthority: half?.issuingAuthority,
    },
    choices: { ...state.choices, documentType: accepted },
    submitLabel: 'Upload',
    async submit(values) {
      const files = Object.entries(values).filter(([, value]) => value instanceof File);
      const tooLarge = files.filter(([, file]) => (file as File).size > state.maxFileBytes);
      if (tooLarge.length) {
        const message = `is larger than ${limitInWords(state.maxFileBytes)}`;
        return tooLarge.map(([field]) => ({ field, message }));
      }
      let sent = 0;
      for (const [name, file] of files) {
        const described = { ...values, documentHolder: need.holder };
        const refusal = await sendOne(sending, described, name, file as File);
        if (refusal) {
          const errors = atFile(refusal.errors, name);
          if (!sent) return errors.length ? errors : [{ field: '', message: refusal.reason }];
          await stage.reload();
          redraw(need.key, { errors, reason: refusal.reason });
          return undefined;
        }
        sent++;
      }
      await stage.reload();
      redraw(need.key);
      return undefined;
    },
  });
  return { ...form, root: h('div', {}, form.root, bars) };
}

function countryOf({ customer, owners }: State, { holder }: Need): unknown {
  const info = owners.find((each) => each.id === holder)?.personalInfo ?? customer;
  const firm = customer.businessInfo as Json | undefined;
  return info.nationality ?? firm?.country;
}

function replaceForm(stage: Stage, paper: DocumentOnFile, redraw: Redraw, key: string) {
  const name = paper.side ?? 'file';
  const bars = h('div');
  const path = `documents/${paper.id}`;
  const accepted = [paper.documentType];
  const all = fieldsFor(accepted, [sideOf(paper)], stage.state.maxFileBytes);
  const form = createForm({
    fields: all.filter((field) => field.kind !== 'file' || field.name === name),
    known: { ...paper },
    choices: { ...stage.state.choices, documentType: accepted },
    submitLabel: 'Replace',
    async submit(values) {
      const sending: Sending = { stage, bars, method: 'PUT', path };
      const refusal = await sendOne(sending, values, name, values[name] as File);
      if (refusal) {
        const errors = atFile(refusal.errors, name);
        return errors.length ? errors : [{ field: '', message: refusal.reason }];
      }
      await stage.reload();
      redraw(key);
      return undefined;
    },
  });
  return h('div', {}, form.root, bars);
}

function paperRow(stage: Stage, need: Need, paper: DocumentOnFile, redraw: Redraw): HTMLElement {
  const kind = wordsFor(paper.documentType);
  const name = paper.side ? `${kind}, ${wordsFor(paper.side).toLowerCase()}` : kind;
  const picture = pictures.get(paper.id);
  const complaint = complaintAbout(stage.state, paper);
  const note = h('div');
  const remove = async () => {
    const answer = await ask('DELETE', `documents/${paper.id}`);
    if (answer.refused) return complainAbove(note, [{ text: answer.reason }]);
    stage.announce(`${paper.fileName} was removed`);
    await stage.reload();
    redraw(need.key);
  };
  return h(
    'li',
    { class: 'paper-row' },
    picture ? previewOf(picture) : h('div', { class: 'chosen' }, h('b', {}, paper.fileName)),
    h(
      'div',
      { class: 'paper-line' },
      h('span', { class: 'tag' }, name),
      complaint
        ? null
        : action('Remove', remove, {
            kind: 'link',
            label: `Remove ${paper.fileName}`,
          }),
    ),
    complaint ? h('p', { class: 'wrong' }, complaint) : null,
    complaint ? replaceForm(stage, paper, redraw, need.key) : null,
    note,
  );
}

function card(stage: Stage, need: Need, redraw: Redraw) {
  const gap = gapOf(stage.state, need);
  const papers = papersOf(stage.state, need);
  const title = h('h2', { id: freshId('card'), tabindex: '-1' }, need.title, gap ? '' : ' ');
  if (!gap) title.append(h('span', { class: 'done' }, 'Done'));
  const list = h('ul', { class: 'papers' });
  for (const paper of papers) list.append(paperRow(stage, need, paper, redraw));
  const root = h('section', { class: 'card' }, title, papers.length ? list : null);
  const refused = papers.some((paper) => complaintAbout(stage.state, paper));
  const form = gap && !refused ? uploadForm(stage, need, redraw) : undefined;
  if (gap && papers.length && !refused) root.append(h('p', { class: 'hint' }, gap.reason));
  if (form) root.append(form.root);
  return { root, title, form };
}

/** `needs` also has the proofs that are complete, so that they stay visible. */
export function papersStep(needs: () => Need[]): Step {
  return {
    key: 'papers',
    title: 'Documents',
    render(stage) {
      const above = h('div');
      const cards = h('div');
      const buttons = h('div', { class: 'buttons' });
      const redraw: Redraw = (key, complaint) => {
        draw();
        const at = drawn.get(key);
        if (complaint && at?.form) at.form.complain(complaint.errors, complaint.reason);
        else at?.title.focus();
      };
      const drawn = new Map<string, ReturnType<typeof card>>();
      const draw = () => {
        drawn.clear();
        above.replaceChildren();
        for (const need of shownNeeds(stage.state, needs()))
          drawn.set(need.key, card(stage, need, redraw));
        cards.replaceChildren(...[...drawn.values()].map(({ root }) => root));
        const isOpen = needs().some((need) => gapOf(stage.state, need));
        buttons.replaceChildren(action('Continue', go, { kind: isOpen ? 'plain' : 'primary' }));
      };
      const go = (): void => {
        const open = needs().filter((need) => gapOf(stage.state, need));
        if (!open.length) return void stage.next();
        complainAbove(
          above,
          open.map((need) => ({
            text: `Upload a document: ${need.title}`,
            target: drawn.get(need.key)?.title,
          })),
        );
      };
      draw();
      stage.root.append(above, cards, buttons);
    },
  };
}
