// Schemas of fields that are common to several parts of the provider protocol, and the form of its
// calls.

import { type TSchema, Type } from '@sinclair/typebox';
import { text } from '../../../kernel/schema.ts';

const MAX_TEXT = 255;

export const shortText = (description: string) =>
  text(description, { minLength: 1, maxLength: MAX_TEXT });

export const seconds = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 2_592_000, description });

export const CurrencyText = text('Currency code, such as `EUR`.', { minLength: 3, maxLength: 10 });

/** A call that a provider serves. */
export interface ProviderCall {
  operationId: string;
  summary: string;
  input: TSchema;
  output: TSchema;
}
