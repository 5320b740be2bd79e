// View for the owners and control persons of a business: the list, and a form for one person.
import { callServer } from './api.ts';
import { action, freshId, h } from './dom.ts';
import { ownerFields } from './fields.ts';
import { createForm, showErrorSummary } from './form.ts';
import { labelFor } from './labels.ts';
import type { Gap, Json, Owner, Stage, State, Step } from './types.ts';

const BUSINESS_GAPS = ['MISSING_BENEFICIAL_OWNER', 'MISSING_CONTROL_PERSON'];

const gapsOfOwner = ({ gaps }: State, { id }: Owner): Gap[] =>
  gaps.filter((gap) => gap.resourceId === id && gap.field);

const gapsOfBusiness = ({ gaps }: State): Gap[] =>
  gaps.filter((gap) => BUSINESS_GAPS.includes(gap.type));

/** Whether a person or a detail of a person is missing. */
export const needsOwners = (state: State): boolean =>
  gapsOfBusiness(state).length > 0 ||
  state.owners.some((owner) => gapsOfOwner(state, owner).length > 0);

export const ownerName = ({ personalInfo: { firstName, middleName, lastName } }: Owner): string =>
  [firstName, middleName, lastName].filter(Boolean).join(' ');

export const ownerLine = ({ roles, ownershipPercentage }: Owner): string =>
  [...roles.map((role) => labelFor(role)), `${ownershipPercentage} %`].join(', ');

function createOwnerForm(stage: Stage, owner: Owner | undefined, closeForm: () => void) {
  const { choices } = stage.state;
  const form = createForm({
    fields: ownerFields,
    storedValues: (owner ?? {}) as Json,
    choices,
    ...(owner?.personalInfo.idType
      ? {
          onFile: {
            'personalInfo.identifier': 'A number is on file. Leave the field empty to keep it.',
          },
        }
      : {}),
    submitLabel: owner ? 'Save changes' : 'Add this person',
    cancel: { label: 'Cancel', press: closeForm },
    async submit(values) {
      const method = owner ? 'PATCH' : 'POST';
      const reply = await callServer(method, owner ? `owners/${owner.id}` : 'owners', values);
      if (reply.rejected) {
        const { errors, reason } = reply;
        return errors.length ? errors : [{ field: '', message: reason }];
      }
      stage.announce('Saved');
      await stage.reload();
      closeForm();
      return undefined;
    },
  });
  if (owner) {
    const errors = gapsOfOwner(stage.state, owner).map((gap) => ({
      field: gap.field as string,
      message: gap.type === 'MISSING_FIELD' ? 'is required' : gap.reason,
    }));
    if (errors.length) queueMicrotask(() => form.showErrors(errors));
  }
  return form.root;
}

export function ownersStep(): Step {
  return {
    key: 'people',
    title: 'Owners and control persons',
    render(stage) {
      const container = h('div');
      const edit = (owner: Owner | undefined) => {
        const heading = owner ? `Change ${ownerName(owner)}` : 'Add a person';
        const title = h('h2', { tabindex: '-1' }, heading);
        container.replaceChildren(title, createOwnerForm(stage, owner, showList));
        if (!owner || !gapsOfOwner(stage.state, owner).length) title.focus();
      };
      const renderOwner = (owner: Owner) => {
        const name = ownerName(owner);
        const isIncomplete = gapsOfOwner(stage.state, owner).length > 0;
        const line = h('p', { class: 'hint' }, ownerLine(owner));
        const change = action('Change', () => edit(owner), {
          kind: 'link',
          label: `Change ${name}`,
        });
        const tag = isIncomplete ? h('span', { class: 'tag open' }, 'Details missing') : null;
        return h('li', {}, h('div', {}, h('b', {}, name), line, tag), change);
      };
      function showList(): void {
        const { owners } = stage.state;
        const errorSummary = h('div');
        const add = action('Add a person', () => edit(undefined));
        add.id = freshId('add');
        const submitStep = (): void => {
          const { state } = stage;
          if (!needsOwners(state)) return void stage.next();
          const missingEntries = gapsOfBusiness(state).map((gap) => ({
            text: gap.reason,
            target: add,
          }));
          const incompleteEntries = state.owners
            .filter((owner) => gapsOfOwner(state, owner).length)
            .map((owner) => ({ text: `Complete the details of ${ownerName(owner)}` }));
          showErrorSummary(errorSummary, [...missingEntries, ...incompleteEntries]);
        };
        const people = h('ul', { class: 'people' }, ...owners.map(renderOwner));
        container.replaceChildren(
          errorSummary,
          h(
            'p',
            {},
            'Add every person who owns 25 % or more of the business, ' +
              'and at least one person who controls it.',
          ),
          ...(owners.length ? [people] : []),
          h('div', { class: 'buttons' }, add, action('Continue', submitStep, { kind: 'primary' })),
        );
        if (container.isConnected) add.focus({ preventScroll: true });
      }
      showList();
      stage.root.append(container);
    },
  };
}
