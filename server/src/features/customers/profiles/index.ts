// Public interface of customer and owner profiles: schemas, and the rules that schemas cannot
// express. All exports are pure.
export { choicesFor } from './choices.ts';
export { Customer, CustomerSummary } from './customer.ts';
export { detailsAfter } from './details.ts';
export { type CustomerDetails, CustomerType, type TermsConsent } from './fields.ts';
export {
  BeneficialOwner,
  BeneficialOwnerCreateRequest,
  BeneficialOwnerUpdateRequest,
  type OwnerPersonal,
} from './owner.ts';
export { ownerBodyErrors, ownerErrors } from './owner-rules.ts';
export { CustomerCreateRequest, CustomerUpdateRequest } from './requests.ts';
export { checkDigitErrors, customerErrors, updateErrors } from './rules.ts';
