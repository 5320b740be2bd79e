// The default theme with the design tokens of the hosted pages.
import DefaultTheme from 'vitepress/theme-without-fonts';
import '../../../server/src/http/pages/page/tokens.css';
import './theme.css';

export default { extends: DefaultTheme };
