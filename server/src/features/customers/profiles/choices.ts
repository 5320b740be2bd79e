// The values of fields that take one of a list, read out of the schemas of the API.
import type { TSchema } from '@sinclair/typebox';
import { firmDetails, individualFields, PERSONAL_ID_TYPES } from './fields.ts';
import { BeneficialOwnerCreateRequest } from './owner.ts';

type Choices = Record<string, string[]>;

function choicesIn(properties: Readonly<Record<string, TSchema>>, prefix = ''): Choices {
  const found: Choices = {};
  for (const [name, schema] of Object.entries(properties)) {
    const words = (schema.enum ?? (schema.items as TSchema | undefined)?.enum) as string[];
    if (words) found[prefix + name] = [...words];
  }
  return found;
}

const owner = BeneficialOwnerCreateRequest.properties;

const CHOICES: Readonly<Record<'INDIVIDUAL' | 'BUSINESS', Choices>> = {
  INDIVIDUAL: { ...choicesIn(individualFields), idType: [...PERSONAL_ID_TYPES] },
  BUSINESS: {
    ...choicesIn(firmDetails, 'businessInfo.'),
    ...choicesIn(owner),
    ...choicesIn(owner.personalInfo.properties, 'personalInfo.'),
  },
};

/** Values by the name of the field, for a form. */
export const choicesFor = (type: 'INDIVIDUAL' | 'BUSINESS'): Choices => CHOICES[type];
