// Allowed values of enumerated fields, derived from the API schemas.
import type { TSchema } from '@sinclair/typebox';
import { businessDetails, individualFields, PERSONAL_ID_TYPES } from './fields.ts';
import { BeneficialOwnerCreateRequest } from './owner.ts';

type Choices = Record<string, string[]>;

function choicesIn(properties: Readonly<Record<string, TSchema>>, prefix = ''): Choices {
  const choices: Choices = {};
  for (const [name, schema] of Object.entries(properties)) {
    const values = (schema.enum ?? (schema.items as TSchema | undefined)?.enum) as string[];
    if (values) choices[prefix + name] = [...values];
  }
  return choices;
}

const owner = BeneficialOwnerCreateRequest.properties;

const CHOICES: Readonly<Record<'INDIVIDUAL' | 'BUSINESS', Choices>> = {
  INDIVIDUAL: { ...choicesIn(individualFields), idType: [...PERSONAL_ID_TYPES] },
  BUSINESS: {
    ...choicesIn(businessDetails, 'businessInfo.'),
    ...choicesIn(owner),
    ...choicesIn(owner.personalInfo.properties, 'personalInfo.'),
  },
};

/** Allowed values by field name, for a form. */
export const choicesFor = (type: 'INDIVIDUAL' | 'BUSINESS'): Choices => CHOICES[type];
