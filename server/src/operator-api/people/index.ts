// Operations of people: sign-in, sessions, users, tokens and roles.
import { enrollmentOperations } from './enrollment.ts';
import { sessionOperations } from './session.ts';
import { signInOperations } from './sign-in.ts';
import { staffOperations } from './staff.ts';
import { userOperations } from './users.ts';

export const peopleGroup = [
  ...signInOperations,
  ...enrollmentOperations,
  ...sessionOperations,
  ...userOperations,
  ...staffOperations,
];
