// Schemas of users, sessions and sign-in methods.
import { Type } from '@sinclair/typebox';
import { ROLE_NAMES } from '../../features/staff/roles/index.ts';
import { MAX_PASSWORD, MIN_PASSWORD } from '../../features/staff/users/index.ts';
import { OPERATOR_PERMISSION_NAMES } from '../../kernel/contract/operator-permissions.ts';
import { Email, named, nullable, oneOf, text, time } from '../../kernel/schema.ts';

export const Role = named(
  'OperatorRole',
  oneOf(ROLE_NAMES, {
    description: 'Role of an operator. `listOperatorRoles` returns the permissions of each role.',
  }),
);

export const PermissionName = named(
  'OperatorPermission',
  oneOf(OPERATOR_PERMISSION_NAMES, {
    description:
      'Permission of an operator. `listOperatorRoles` returns a description of each permission.',
  }),
);

export const Roles = Type.Array(Role, {
  minItems: 1,
  maxItems: 10,
  description: 'Roles. The permissions of all roles apply.',
});

export const Platforms = Type.Array(Type.String(), { minItems: 1, maxItems: 100 });

export const UserName = text('Name of the user.', { minLength: 1, maxLength: 255 });

const USER = {
  id: text('ID of the user.'),
  name: text('Name of the user.'),
  email: Type.Optional(
    text(
      'E-mail address, which is also the user name of a sign-in with a password. Absent if there is ' +
        'none.',
    ),
  ),
  roles: Type.Array(Role, { description: 'Roles of the user.' }),
  platformIds: nullable(
    Type.Array(Type.String(), {
      description: 'Platforms that the user may access, or null for all.',
    }),
  ),
  status: oneOf(['INVITED', 'ACTIVE', 'DISABLED'], {
    description:
      'INVITED: no sign-in method is registered yet. ACTIVE: can sign in. DISABLED: cannot sign in.',
  }),
  hasPassword: Type.Boolean({ description: 'Whether the user has a password.' }),
  usesIdentityProvider: Type.Boolean({
    description: 'Whether the user signs in at the identity provider.',
  }),
  createdBy: text('ID of the operator who created the user.'),
  createdAt: time('Time at which the user was created.'),
  updatedAt: time('Time of the last change.'),
};

export const OperatorUser = named(
  'OperatorUser',
  Type.Object(USER, { description: 'A person who operates the installation.' }),
);

/** A user with the enrollment link, which is shown once. */
export const InvitedUser = Type.Object({
  ...USER,
  link: Type.Optional(
    Type.Object(
      {
        secret: text('Secret of the link. The link is `/operator/enroll#SECRET`.'),
        kind: oneOf(['ENROLLMENT', 'RECOVERY'], {
          description:
            'ENROLLMENT: registers the first sign-in method. RECOVERY: the new sign-in method replaces ' +
            'all others.',
        }),
        expiresAt: time('Time at which the link expires, 24 hours after its creation.'),
      },
      { description: 'Single-use link. Absent when the reply is replayed.' },
    ),
  ),
});

export const OperatorSession = named(
  'OperatorSession',
  Type.Object(
    {
      id: text('ID of the session.'),
      operatorUserId: text('ID of the user.'),
      method: oneOf(['PASSKEY', 'PASSWORD', 'IDENTITY_PROVIDER'], {
        description: 'Sign-in method.',
      }),
      status: oneOf(['ACTIVE', 'EXPIRED', 'ENDED'], {
        description:
          'ACTIVE: valid. EXPIRED: expired 30 minutes after the last request, or 12 hours after the ' +
          'sign-in. ENDED: closed before its expiry, such as by signing out.',
      }),
      address: Type.Optional(text('IP address of the sign-in. Absent if unknown.')),
      createdAt: time('Time of the sign-in.'),
      usedAt: time('Time of the last request, accurate to one minute.'),
      expiresAt: time('Latest time at which the session expires.'),
    },
    { description: 'A session of a user.' },
  ),
);

export const CsrfToken = text(
  'Token for the header `X-CSRF-Token` of each request other than `GET`.',
);

export const SignedIn = named(
  'OperatorSignIn',
  Type.Object(
    { session: OperatorSession, user: OperatorUser, csrfToken: CsrfToken },
    { description: 'A completed sign-in. The cookies of the reply identify the session.' },
  ),
);

const Base64Url = { minLength: 1, maxLength: 65_536 };

/** Members of `PublicKeyCredential.toJSON()` that are not used are allowed. */
export const RegisteredCredential = Type.Object(
  {
    id: text('ID of the credential, base64url.', Base64Url),
    response: Type.Object(
      {
        clientDataJSON: text('Client data, base64url.', Base64Url),
        attestationObject: text('Attestation object, base64url.', Base64Url),
        transports: Type.Optional(
          Type.Array(Type.String({ maxLength: 20 }), {
            maxItems: 10,
            description: 'Transports of the authenticator, such as `internal` or `usb`.',
          }),
        ),
      },
      { description: 'Response of the authenticator.' },
    ),
  },
  { description: 'Result of `navigator.credentials.create`, from its `toJSON`.' },
);

export const AssertedCredential = Type.Object(
  {
    id: text('ID of the credential, base64url.', Base64Url),
    response: Type.Object(
      {
        clientDataJSON: text('Client data, base64url.', Base64Url),
        authenticatorData: text('Authenticator data, base64url.', Base64Url),
        signature: text('Signature, base64url.', Base64Url),
      },
      { description: 'Response of the authenticator.' },
    ),
  },
  { description: 'Result of `navigator.credentials.get`, from its `toJSON`.' },
);

export const State = text(
  'State of the sign-in, registration or change of password. The request that begins it returns the ' +
    'value, and the request that completes it must contain the value. A state expires after ten ' +
    'minutes and can be used once.',
  {
    minLength: 1,
    maxLength: 4_096,
  },
);

export const PasskeyOptions = Type.Object({
  state: State,
  publicKey: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'Options in JSON, for `PublicKeyCredential.parseCreationOptionsFromJSON` or ' +
      '`parseRequestOptionsFromJSON`.',
  }),
});

export const TotpEnrollment = Type.Object({
  state: State,
  secret: text('Secret for the authenticator app, Base32.'),
  uri: text('The secret as an `otpauth` URI, for a QR code.'),
});

export const Password = text(
  `Password of ${MIN_PASSWORD} to ${MAX_PASSWORD} characters. A password that is easy to guess is rejected.`,
  { minLength: MIN_PASSWORD, maxLength: MAX_PASSWORD },
);

export const Code = text('Six-digit code of the authenticator app.', { pattern: '^[0-9]{6}$' });

export const PasskeyName = text('Name of the passkey, such as the name of the device.', {
  minLength: 1,
  maxLength: 100,
});

/** Name and address of the first administrator, whose user is created without them. */
export const Identity = {
  name: Type.Optional({
    ...UserName,
    description:
      'Name of the first administrator. Defaults to the stored name. Ignored for other users.',
  }),
  email: Type.Optional({
    ...Email,
    description: 'E-mail address. Required for the first administrator. Ignored for other users.',
  }),
};
