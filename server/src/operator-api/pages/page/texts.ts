// Texts of the pages for operators.
const minutes = (seconds: number): string => {
  const count = Math.max(1, Math.ceil(seconds / 60));
  return count === 1 ? 'a minute' : `${count} minutes`;
};

export const TEXTS = {
  product: 'Railhead',
  errorPrefix: 'Error: ',
  problem: 'There is a problem',
  back: 'Back',
  retry: 'Try again',
  copy: 'Copy',
  copied: 'Copied',
  requestId: (id: string) => `Request ID: ${id}`,
  or: 'or',

  unreachable: 'The connection was lost. Check your connection, then try again.',
  failed: 'The server could not complete the request. Try again in a few minutes.',
  rateLimited: (seconds: number) => `Too many attempts. Try again in ${minutes(seconds)}.`,
  loadFailed: 'The page could not be loaded',

  wrongAddress: {
    title: 'Open this page at another address',
    openLocal: (url: string) => `Open at ${url}`,
  },

  fields: {
    name: { label: 'Your name', empty: 'Enter your name' },
    email: {
      label: 'E-mail address',
      empty: 'Enter your e-mail address',
      invalid: 'Enter an e-mail address such as name@example.com',
    },
    passkeyName: {
      label: 'Name of this device',
      hint: 'Identifies the passkey in your list.',
      empty: 'Enter a name for this device',
    },
    password: { label: 'Password', empty: 'Enter your password' },
    newPassword: {
      label: 'New password',
      hint: 'At least 12 characters. Several unrelated words are easy to remember.',
      empty: 'Enter a new password',
      invalid: 'The password must have 12 to 128 characters',
    },
    code: {
      label: 'Code',
      hint: 'The six digits that your authenticator app shows.',
      empty: 'Enter the code of your authenticator app',
      invalid: 'Enter the six digits of the code',
    },
    showPassword: 'Show password',
  },

  passkey: {
    create: 'Create a passkey',
    about:
      'You sign in with the fingerprint, face or PIN of your device, or with a security key. ' +
      'You need no password.',
    unsupported: 'This browser does not support passkeys. Use another browser, or a password.',
    canceled: 'No passkey was used, because the request was canceled or timed out. Try again.',
    exists: 'This device already has a passkey for you. Use another device or a security key.',
    notRegistered: 'The passkey could not be verified. Try again, or use another device.',
  },

  totp: {
    use: 'Use a password and an authenticator app',
    title: 'Set a password',
    scan: 'Scan this code with your authenticator app',
    qr: 'QR code for the authenticator app',
    manual: 'Or enter the secret in the app:',
    secret: 'Secret',
    uri: 'Setup address',
    submit: 'Set password',
    sameApp:
      'A password is used together with an authenticator app, which shows a new code every 30 ' +
      'seconds.',
  },

  enroll: {
    title: 'Set up your sign-in',
    recovery: 'Restore your access',
    for: (name: string, email?: string) => (email ? `For ${name} (${email}).` : `For ${name}.`),
    until: (time: string) => `The link works once, until ${time}.`,
    replaces: 'The new sign-in method replaces all earlier ones and ends all of your sessions.',
    ended: 'This link no longer works',
    endedText: 'The link was already used, has expired, or is incomplete.',
    endedNext: [
      'Ask another administrator for a new link.',
      'If there is no other administrator, run this on the server:',
    ],
    recoverCommand: 'railhead-server operator-user recover',
    firstNext: 'If no user has enrolled yet, restart the server. It prints a new link.',
    toSignIn: 'Sign in',
  },

  signIn: {
    title: 'Sign in',
    withPasskey: 'Sign in with a passkey',
    withCompany: 'Sign in with your company account',
    withPassword: 'Use a password and a code',
    passwordTitle: 'Sign in with a password',
    submit: 'Sign in',
    passkeyRejected: 'This passkey was not accepted. Use another passkey, or ask for a new link.',
    passwordRejected:
      'The e-mail address, the password or the code is wrong. A code can be used once. Wait for the ' +
      'next code and try again.',
    companyRejected: 'The sign-in with your company account was not completed. Try again.',
    companyWaiting: 'Signing in',
    help: 'No access?',
    helpText: 'Ask an administrator for a new link, or run this on the server:',
  },

  account: {
    title: 'Your account',
    signOut: 'Sign out',
    profile: 'Profile',
    name: 'Name',
    email: 'E-mail address',
    roles: 'Roles',
    platforms: 'Platforms',
    allPlatforms: 'All',
    session: 'Session',
    sessionText: (method: string, until: string) => `${method}, until ${until} at the latest`,
    methods: {
      PASSKEY: 'Signed in with a passkey',
      PASSWORD: 'Signed in with a password',
      IDENTITY_PROVIDER: 'Signed in with a company account',
    },
    passkeys: 'Passkeys',
    noPasskeys: 'You have no passkey. A passkey is the most secure way to sign in.',
    added: 'Added',
    used: 'last used',
    neverUsed: 'never used',
    add: 'Add a passkey',
    addedPasskey: (name: string) => `The passkey “${name}” was added.`,
    remove: 'Remove',
    removeLabel: (name: string) => `Remove the passkey “${name}”`,
    confirmRemoval: (name: string) =>
      `After the removal, you cannot sign in with “${name}”. Also delete the passkey on the device.`,
    removePasskey: 'Remove passkey',
    keep: 'Keep',
    removed: (name: string) => `The passkey “${name}” was removed.`,
    password: 'Password',
    hasPassword: 'You can sign in with a password and a code of your authenticator app.',
    noPassword: 'You have no password. Set one to sign in with a password and a code.',
    setPassword: 'Set a password',
    changePassword: 'Change password',
    passwordSet: 'The password was set.',
    cancel: 'Cancel',
    sessions: 'Other sessions',
    sessionsText: 'Ends your sessions in all other browsers and on all other devices.',
    endOthers: 'End other sessions',
    endedOthers: 'All other sessions were ended.',
    signInAgain: 'Sign in again',
  },
} as const;
