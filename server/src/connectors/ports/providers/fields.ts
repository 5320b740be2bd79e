// Schemas of fields that several parts of the protocol for providers share.

import { Type } from '@sinclair/typebox';
import { text } from '../../../kernel/schema.ts';

const MAX_TEXT = 255;

export const shortText = (description: string) =>
  text(description, { minLength: 1, maxLength: MAX_TEXT });

export const seconds = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 2_592_000, description });

export const CurrencyText = text('Currency code, such as `EUR`.', { minLength: 3, maxLength: 10 });
