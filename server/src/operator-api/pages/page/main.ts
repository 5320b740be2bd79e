// Entry of the script of the pages for operators. The address selects the page.
import { openAccount } from './account.ts';
import { openEnroll } from './enroll.ts';
import { openSignIn } from './sign-in.ts';
import { openFrame } from './view.ts';

const openPage = location.pathname.endsWith('/enroll')
  ? openEnroll
  : location.pathname.endsWith('/sign-in')
    ? openSignIn
    : () => openAccount();

openFrame();
void openPage();
