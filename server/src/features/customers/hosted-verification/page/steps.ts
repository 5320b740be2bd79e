// Views for the fields of the customer: the fields of each view, and the fields that are requested
// now. A view shows the missing fields, and all of its fields when answers are changed.
import { callServer } from './api.ts';
import { h } from './dom.ts';
import {
  activityFields,
  addressFields,
  businessFields,
  diligenceFields,
  type Field,
  identifierFields,
  personFields,
  valueAt,
} from './fields.ts';
import { createForm } from './form.ts';
import type { Gap, Json, Stage, State, Step } from './types.ts';

interface FieldsStep {
  key: string;
  title: string;
  lead?: string;
  /** Documents and data that the applicant needs for this step, shown on the start view. */
  needs: string;
  fields: Field[];
  /** Whether one missing field requests all fields of the view. */
  showsAllFields: boolean;
}

const INDIVIDUAL_STEPS: FieldsStep[] = [
  {
    key: 'person',
    title: 'About you',
    needs: 'Your name, date of birth and nationality',
    fields: personFields,
    showsAllFields: false,
  },
  {
    key: 'address',
    title: 'Where you live',
    needs: 'Your home address',
    fields: addressFields('', true),
    showsAllFields: true,
  },
  {
    key: 'number',
    title: 'Your identification number',
    lead: 'The number is stored encrypted and is not shown again.',
    needs: 'Your tax or social security number',
    fields: identifierFields,
    showsAllFields: true,
  },
  {
    key: 'questions',
    title: 'How you use the account',
    needs: 'Answers about your income and how you use the account',
    fields: diligenceFields,
    showsAllFields: false,
  },
];

const BUSINESS_STEPS: FieldsStep[] = [
  {
    key: 'business',
    title: 'About the business',
    needs: 'The registration details of the business',
    fields: businessFields,
    showsAllFields: false,
  },
  {
    key: 'address',
    title: 'Address of the business',
    needs: 'The address of the business',
    fields: addressFields(''),
    showsAllFields: true,
  },
  {
    key: 'activity',
    title: 'What the business does',
    needs: 'Where the business is active and what its payments are for',
    fields: activityFields,
    showsAllFields: false,
  },
];

export const fieldsStepsOf = ({ customer }: State): FieldsStep[] =>
  customer.customerType === 'INDIVIDUAL' ? INDIVIDUAL_STEPS : BUSINESS_STEPS;

/** Request field of a gap. */
const fieldName = ({ field = '' }: Gap) => field.replace(/^customer\./, '');

/** Fields of the customer that are missing or invalid. */
const requestedNames = ({ gaps, customer }: State): string[] =>
  gaps.filter((gap) => gap.field && gap.resourceId === customer.id).map(fieldName);

const isRequested = (names: readonly string[], { name }: Field) =>
  names.some((each) => name === each || name.startsWith(`${each}.`));

export const needsFields = (state: State, { fields }: FieldsStep): boolean =>
  fields.some((field) => isRequested(requestedNames(state), field));

function requestedFields(state: State, { fields, showsAllFields }: FieldsStep): Field[] {
  const names = requestedNames(state);
  const fieldsWithGaps = fields.filter((field) => isRequested(names, field));
  if (showsAllFields || !fieldsWithGaps.length) return fields;
  return fields.filter(
    (field) =>
      fieldsWithGaps.includes(field) ||
      fieldsWithGaps.some((each) => each.name === field.condition?.field),
  );
}

/** Findings about fields of this view, other than missing fields. */
const findingErrors = ({ gaps, customer }: State, fields: readonly Field[]) =>
  gaps
    .filter((gap) => gap.resourceId === customer.id && gap.type === 'INVALID_FIELD')
    .filter((gap) => fields.some(({ name }) => name === fieldName(gap)))
    .map((gap) => ({ field: fieldName(gap), message: gap.reason }));

/** Country of issuance to preselect, except the US: the stored country, otherwise the residence. */
function issuerOf(customer: Json): unknown {
  const countries = [customer.countryOfIssuance, valueAt(customer, 'address.country')];
  return countries.find((country) => country && country !== 'US');
}

export function fieldsStep(definition: FieldsStep): Step {
  return {
    key: definition.key,
    title: definition.title,
    render(stage: Stage) {
      const { state } = stage;
      const { customer, choices, hasIdentifier } = state;
      const fields = requestedFields(state, definition);
      const form = createForm({
        fields,
        storedValues: { ...customer, countryOfIssuance: issuerOf(customer) },
        choices,
        ...(hasIdentifier
          ? { onFile: { identifier: 'A number is on file. Leave the field empty to keep it.' } }
          : {}),
        submitLabel: 'Continue',
        async submit(values: Json) {
          const body = { customerType: customer.customerType, ...values };
          const reply = await callServer('PATCH', 'customer', body);
          if (!reply.rejected) {
            await stage.next();
            return undefined;
          }
          const { errors, reason } = reply;
          return errors.length ? errors : [{ field: '', message: reason }];
        },
      });
      if (definition.lead) stage.root.append(h('p', {}, definition.lead));
      stage.root.append(form.root);
      const findings = findingErrors(state, fields);
      if (findings.length) form.showErrors(findings);
    },
  };
}
