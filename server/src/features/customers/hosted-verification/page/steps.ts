// The views that ask for fields of the customer: which fields belong together, and which of them are asked
// now. A view asks for what is missing, and for all of its fields when answers are changed.
import { ask } from './api.ts';
import { h } from './dom.ts';
import {
  activityFields,
  addressFields,
  diligenceFields,
  type Field,
  firmFields,
  numberFields,
  personFields,
  valueAt,
} from './fields.ts';
import { createForm } from './form.ts';
import type { Gap, Json, Stage, State, Step } from './types.ts';

interface FieldsStep {
  key: string;
  title: string;
  lead?: string;
  /** What the person needs for it, for the list at the start. */
  needs: string;
  fields: Field[];
  /** One field of it is missing: all are asked. */
  whole: boolean;
}

const PERSON: FieldsStep[] = [
  {
    key: 'person',
    title: 'About you',
    needs: 'Your name, date of birth and nationality',
    fields: personFields,
    whole: false,
  },
  {
    key: 'address',
    title: 'Where you live',
    needs: 'Your home address',
    fields: addressFields('', true),
    whole: true,
  },
  {
    key: 'number',
    title: 'Your identification number',
    lead: 'It is stored encrypted and is not shown again.',
    needs: 'Your tax or social security number',
    fields: numberFields,
    whole: true,
  },
  {
    key: 'questions',
    title: 'How you use the account',
    needs: 'Answers about your income and how you use the account',
    fields: diligenceFields,
    whole: false,
  },
];

const FIRM: FieldsStep[] = [
  {
    key: 'firm',
    title: 'About the business',
    needs: 'The registration details of the business',
    fields: firmFields,
    whole: false,
  },
  {
    key: 'address',
    title: 'Address of the business',
    needs: 'The address of the business',
    fields: addressFields(''),
    whole: true,
  },
  {
    key: 'activity',
    title: 'What the business does',
    needs: 'Where the business is active and what its payments are for',
    fields: activityFields,
    whole: false,
  },
];

export const fieldsStepsOf = ({ customer }: State): FieldsStep[] =>
  customer.customerType === 'INDIVIDUAL' ? PERSON : FIRM;

/** The field a gap is about, as requests name it. */
const nameOf = ({ field = '' }: Gap) => field.replace(/^customer\./, '');

/** The fields of the customer itself that are missing or wrong. */
const wantedNames = ({ gaps, customer }: State): string[] =>
  gaps.filter((gap) => gap.field && gap.resourceId === customer.id).map(nameOf);

const isWanted = (names: readonly string[], { name }: Field) =>
  names.some((each) => name === each || name.startsWith(`${each}.`));

export const wantsFields = (state: State, { fields }: FieldsStep): boolean =>
  fields.some((field) => isWanted(wantedNames(state), field));

function askedFields(state: State, { fields, whole }: FieldsStep): Field[] {
  const names = wantedNames(state);
  const wanted = fields.filter((field) => isWanted(names, field));
  if (whole || !wanted.length) return fields;
  return fields.filter(
    (field) => wanted.includes(field) || wanted.some((each) => each.name === field.when?.field),
  );
}

/** Findings of the check about fields of this view, beyond that they are missing. */
const remarks = ({ gaps, customer }: State, fields: readonly Field[]) =>
  gaps
    .filter((gap) => gap.resourceId === customer.id && gap.type === 'INVALID_FIELD')
    .filter((gap) => fields.some(({ name }) => name === nameOf(gap)))
    .map((gap) => ({ field: nameOf(gap), message: gap.reason }));

/** The country whose number is asked for: the one that was named, else where the person lives. */
function issuerOf(customer: Json): unknown {
  const countries = [customer.countryOfIssuance, valueAt(customer, 'address.country')];
  return countries.find((country) => country && country !== 'US');
}

export function fieldsStep(of: FieldsStep): Step {
  return {
    key: of.key,
    title: of.title,
    render(stage: Stage) {
      const { state } = stage;
      const { customer, choices, hasIdentifier } = state;
      const fields = askedFields(state, of);
      const form = createForm({
        fields,
        known: { ...customer, countryOfIssuance: issuerOf(customer) },
        choices,
        ...(hasIdentifier
          ? { onFile: { identifier: 'A number is on file. Leave the field empty to keep it.' } }
          : {}),
        submitLabel: 'Continue',
        async submit(values: Json) {
          const body = { customerType: customer.customerType, ...values };
          const answer = await ask('PATCH', 'customer', body);
          if (!answer.refused) {
            await stage.next();
            return undefined;
          }
          const { errors, reason } = answer;
          return errors.length ? errors : [{ field: '', message: reason }];
        },
      });
      if (of.lead) stage.root.append(h('p', {}, of.lead));
      stage.root.append(form.root);
      const findings = remarks(state, fields);
      if (findings.length) form.complain(findings);
    },
  };
}
