// Public interface of the roles of operators.
export { permissionsOf, ROLE_NAMES, ROLES, type RoleName } from './roles.ts';
